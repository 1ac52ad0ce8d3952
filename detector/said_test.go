package detector

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
)

const saidFile = "testdata/said.golden"

// What is said of each machine and instance in the scenes of the rows: testdata/said.golden has it
// as a person reads it, so that a change of words, or of what they rest on, shows.
func TestWhatIsSaidInScenes(t *testing.T) {
	var b strings.Builder
	for _, rs := range slices.Concat(machineScenes, instanceScenes) {
		fmt.Fprintf(&b, "# %s\n", rs.row)
		r := arranged(rs).detect()
		for _, c := range r.Clusters {
			for _, v := range verdictsOf(c) {
				fmt.Fprintf(&b, "%s: %s %s: %s\n", v.Name, v.Status, v.Reason, v.Message)
				if v.Deleting != nil {
					fmt.Fprintf(&b, "  deleting since %s\n", v.Deleting.UTC())
				}
				if v.Blocked != "" || v.Unmakeable != "" {
					fmt.Fprintf(&b, "  blocked: %s; unmakeable: %s\n", v.Blocked, v.Unmakeable)
				}
				for i := range v.Others {
					fmt.Fprintf(&b, "  other %s\n", v.Others[i].Name)
				}
				for _, w := range v.Warnings {
					fmt.Fprintf(&b, "  warning %s: %s\n", w.Reason, w.Message)
				}
				writeEvidence(&b, v.Evidence)
			}
		}
		for i := range r.Unattributed {
			u := &r.Unattributed[i]
			fmt.Fprintf(&b, "%s of %v%s: %s: %s\n", u.Instance.Name, u.Clusters, u.Foreign, u.Reason, u.Message)
			writeEvidence(&b, u.Evidence)
		}
	}
	if *update {
		if err := os.WriteFile(saidFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(saidFile)
	if err != nil {
		t.Fatal(err)
	}
	said, held := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(said), len(held)) {
		if said[i] != held[i] {
			t.Fatalf("%s:%d: it is said now: %s\nand was: %s\n(make update writes what is said)", saidFile, i+1, said[i], held[i])
		}
	}
	if len(said) != len(held) {
		t.Errorf("%s has %d lines, and %d are said: make update", saidFile, len(held), len(said))
	}
}

func writeEvidence(b *strings.Builder, all []report.Evidence) {
	for _, e := range all {
		fmt.Fprintf(b, "  %s %s: %s\n", e.Kind, e.Strength, e.Detail)
	}
}
