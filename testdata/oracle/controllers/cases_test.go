package oracle

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// line is one of a case.txt: "want answer: ^no$". With "(open)" it is known that the
// program does not say so yet.
type line struct {
	of, text string
	open     bool
}

func readCase(file string) ([]line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var all []line
	for s := bufio.NewScanner(f); s.Scan(); {
		of, text, ok := strings.Cut(s.Text(), ": ")
		if !ok {
			return nil, fmt.Errorf("%s: no colon in %q", file, s.Text())
		}
		key := strings.TrimSuffix(of, " (open)")
		all = append(all, line{key, text, key != of})
	}
	return all, nil
}

// unpack puts a case into a folder, as detect reads it.
func unpack(name, dir string) error {
	f, err := os.Open(filepath.Join("cases", name, "inventory.json.gz"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	inventory, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	backup, err := os.ReadFile(filepath.Join("cases", name, "backup.tar.gz"))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "inventory.json"), inventory, 0o600), os.WriteFile(filepath.Join(dir, "backup.tar.gz"), backup, 0o600))
}

// The program says of each case what is right, apart from what is open, and the
// controllers do what the case says.
func TestCases(t *testing.T) {
	folders, err := os.ReadDir("cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			lines, err := readCase(filepath.Join("cases", f.Name(), "case.txt"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := unpack(f.Name(), dir); err != nil {
				t.Fatal(err)
			}
			forecast, err := forecast(*program, dir)
			if err != nil {
				t.Fatal(err)
			}
			says := map[string]string{"answer": forecast.Safe, "check": check(t, dir)}
			for code, message := range forecast.Reasons {
				says["reasons"] += code + ": " + message + "\n"
			}
			for machine, outcome := range forecast.Outcomes {
				says["outcomes"] += machine + ": " + outcome + "\n"
			}
			t.Logf("%s: %s The program says: %s %v", f.Name(), textOf(lines, "right"), forecast.Safe, codes(forecast))
			for _, l := range lines {
				l.hold(t, says)
			}
			if happens := textOf(lines, "controllers"); happens != "" {
				rehearseCase(t, dir, forecast, happens, textOf(lines, "known"))
			}
		})
	}
}

func textOf(lines []line, of string) string {
	for _, l := range lines {
		if l.of == of {
			return l.text
		}
	}
	return ""
}

// hold holds a line that begins with want against what the program says.
func (l line) hold(t *testing.T, says map[string]string) {
	t.Helper()
	of, ok := strings.CutPrefix(l.of, "want ")
	if !ok {
		return
	}
	of, not := strings.CutPrefix(of, "no ")
	text, ok := says[strings.TrimPrefix(of, "no ")]
	if !ok && of != "reasons" && of != "outcomes" {
		t.Fatalf("%s: nothing is called so", l.of)
	}
	switch right := regexp.MustCompile("(?s)"+l.text).MatchString(text) != not; {
	case right && l.open:
		t.Logf("%s: %s is so now: take (open) away", l.of, l.text)
	case !right && !l.open:
		t.Errorf("%s: %s, and the program says %q", l.of, l.text, text)
	}
}

// check returns what the program says of the backup alone. It fails where something is wrong.
func check(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command(*program, "check", "--backup", filepath.Join(dir, "backup.tar.gz")).CombinedOutput()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return string(out)
}

// rehearseCase restores a case with the real controllers.
func rehearseCase(t *testing.T, dir string, f *Forecast, happens, known string) {
	t.Helper()
	b, err := readBackup(filepath.Join(dir, "backup.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := readListings(filepath.Join(dir, "inventory.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := recordedWorld(b, l, clusterOf(l.vcenter()))
	res, err := w.restore()
	if err != nil {
		t.Fatal(err)
	}
	if got := res.happened(); got != happens {
		t.Errorf("the controllers: %s; want %s\n%s", got, happens, strings.Join(res.Log, "\n"))
	}
	res.Forecast = f
	res.Disagreements = res.disagreements()
	res.explain(w)
	if len(res.Disagreements) == 0 {
		t.Logf("%s is mended here", known)
	}
	for _, d := range res.Disagreements {
		if !slices.Contains(strings.Fields(known), d.Expected) {
			t.Errorf("%s %s: %s, explained by %q; want %s", d.Kind, d.Machine, d.Text, d.Expected, known)
		}
	}
}

// happened returns what became of a world, in one line. Which of several machines an owner
// deletes is chance.
func (res *Result) happened() string {
	return fmt.Sprintf("%d VMs destroyed, %d VMs made again, %d Machines deleted, %d made",
		res.count(func(f *Fate) bool { return f.After == "destroyed" }), res.count(func(f *Fate) bool { return f.After == "made" || f.After == "second" }),
		res.count(func(f *Fate) bool { return f.Object != "kept" }), len(res.Made))
}
