package rehearsal_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/scene"
)

// casesFolder has backups of whole fleets with what is right of each, in lines such as "want
// answer: ^no$". The controllers themselves play some of them there.
const casesFolder = "../../testdata/oracle/controllers/cases"

// What is said of each case is what is right, but for the lines that are marked as open.
func TestCases(t *testing.T) {
	folders, err := os.ReadDir(casesFolder)
	if err != nil || len(folders) < 15 {
		t.Fatalf("%d cases, %v", len(folders), err)
	}
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			says := detectCase(t, filepath.Join(casesFolder, f.Name()))
			text, err := os.ReadFile(filepath.Join(casesFolder, f.Name(), "case.txt"))
			if err != nil {
				t.Fatal(err)
			}
			wants := 0
			for line := range strings.Lines(string(text)) {
				of, right, _ := strings.Cut(strings.TrimSpace(line), ": ")
				want, is := strings.CutPrefix(of, "want ")
				if !is || strings.HasSuffix(want, "(open)") {
					continue
				}
				wants++
				of, not := strings.CutPrefix(want, "no ")
				if got := says(of); regexp.MustCompile("(?s)"+right).MatchString(got) == not {
					t.Errorf("%s; got %q", line, got)
				}
			}
			if wants == 0 && !strings.Contains(string(text), "(open)") {
				t.Error("nothing is wanted")
			}
		})
	}
}

// detectCase returns what is said of a case, by the words of its lines.
func detectCase(t *testing.T, folder string) func(of string) string {
	t.Helper()
	tarball, err := os.ReadFile(filepath.Join(folder, "backup.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open(filepath.Join(folder, "inventory.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := infra.ReadInventory(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := scene.Detect(all.Registry(), backuptest.Source("backup.tar.gz", tarball), inv)
	if err != nil {
		t.Fatal(err)
	}
	return func(of string) string {
		var b strings.Builder
		switch of {
		case "answer":
			return string(p.Report.Summary.Answer.Safe)
		case "reasons":
			for _, r := range p.Report.Summary.Answer.Reasons {
				fmt.Fprintf(&b, "%s: %s\n", r.Code, r.Message)
			}
		case "check":
			for _, c := range p.Report.Checks {
				fmt.Fprintf(&b, "%s %s: %s\n", c.Code, c.Object, c.Message)
			}
		case "outcomes":
			for i := range p.Report.Clusters {
				for _, set := range p.Report.Clusters[i].Sets() {
					for _, m := range set.Machines {
						if m.Forecast != nil {
							fmt.Fprintf(&b, "%s: %s\n", m.Name, m.Forecast.Outcome)
						}
					}
				}
			}
		default:
			t.Fatalf("nothing is called %q", of)
		}
		return b.String()
	}
}
