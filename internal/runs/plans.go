package runs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
)

// FourFleets are runs of detect on the fleets of the lab, and of each other provider.
var FourFleets = map[string]func(*testing.T) Outcome{
	"lab":      func(t *testing.T) Outcome { return Fleet(t).Detect() },
	"restored": func(t *testing.T) Outcome { return Restored(t).Detect() },
	"CAPA":     func(t *testing.T) Outcome { w, _ := CAPAFleet(t); return w.DetectAWS() },
	"CAPO":     func(t *testing.T) Outcome { w, _ := OpenStackFleet(t, openstacklab.Options{}); return w.Detect() },
}

// Plan returns the runbook that the program prints for a run.
func (w *World) Plan(o Outcome) string {
	w.T.Helper()
	file := filepath.Join(w.Dir, "planned.json")
	if err := os.WriteFile(file, o.JSON, 0o600); err != nil {
		w.T.Fatal(err)
	}
	return Run(w.T, "plan", file).Stdout
}

// further is the break before a further row of a command.
var further = regexp.MustCompile(` \\\n *|\n +(\d+\)|\*\))|\n {8,}|\n {4}\b`)

// WholeLines returns a runbook with each command in one line.
func WholeLines(plan string) string { return further.ReplaceAllString(plan, " $1") }

// ClusterOf returns a cluster of a report by its name.
func ClusterOf(t *testing.T, r *report.Report, name string) *report.Cluster {
	t.Helper()
	for i := range r.Clusters {
		if r.Clusters[i].Name == name {
			return &r.Clusters[i]
		}
	}
	t.Fatalf("no cluster %s", name)
	return nil
}
