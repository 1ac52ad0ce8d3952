package plans_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// What the plan mends in the lab's fleet, and what it leaves to be looked up.
func TestAnswerByPlanOfTheLab(t *testing.T) {
	r := runs.Fleet(t).Detect().Report
	by := r.Summary.AnswerByPlan
	codes := func(all []report.AnswerReason) string {
		var out []string
		for i := range all {
			out = append(out, string(all[i].Code))
		}
		return strings.Join(slices.Compact(out), " ")
	}
	if got := codes(by.Reasons); strings.Contains(got, "ClusterHalted") || strings.Contains(got, "BackupError") || by.Safe != code.Unclear {
		t.Errorf("left: %s, %s", by.Safe, got)
	}
	if got := codes(by.Resolved); !strings.Contains(got, "ControlPlaneDown ClusterHalted BackupError") {
		t.Errorf("resolved: %s", got)
	}
}

// The plan of a report that was edited, and a difference with it, say so.
func TestPlanAndDiffWarnOfAnEditedReport(t *testing.T) {
	o := runs.Fleet(t).Detect()
	whole, edited := filepath.Join(t.TempDir(), "report.json"), filepath.Join(t.TempDir(), "edited.json")
	for path, text := range map[string][]byte{whole: o.JSON, edited: bytes.Replace(o.JSON, []byte(`"gamma-edge"`), []byte(`"gamma-edgy"`), 1)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const warning = "is not as detect wrote it: "
	for _, args := range [][]string{{"plan", edited}, {"diff", edited, whole}, {"diff", whole, edited}} {
		if got := runs.Run(t, args...).Stderr; !strings.Contains(got, "edited.json "+warning) || strings.Contains(got, "report.json "+warning) {
			t.Errorf("%s: %s", args[0], got)
		}
	}
	if got := runs.Run(t, "plan", whole).Stderr; strings.Contains(got, warning) {
		t.Error(got)
	}
}

// Whatever is called resolved has steps: the plan says of each object what to do.
func TestTheResolvedHasSteps(t *testing.T) {
	for name, w := range map[string]*runs.World{"lab": runs.Fleet(t), "restored": runs.Restored(t)} {
		o := w.Detect()
		path := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(path, o.JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		text := runs.Run(t, "plan", path, "--format", "shell").Stdout
		for _, reason := range o.Report.Summary.AnswerByPlan.Resolved {
			if len(code.Of(reason.Code).Phases) == 0 {
				continue // controllers do it, and nothing that lives is concerned
			}
			for _, object := range reason.Objects {
				if at := object[strings.LastIndexAny(object, " /")+1:]; !strings.Contains(text, at) {
					t.Errorf("%s: the plan does not name %s of %s", name, object, reason.Code)
				}
			}
		}
	}
}
