package program

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report/code"
	"drift-detector/report/diff"
)

// labTruth is testdata/truth.json: what really happened.
type labTruth struct {
	Machines []struct{ Namespace, Cluster, Machine, Expected, Edge string }
	VMs      []struct {
		Name, Path, BIOSUUID, Namespace, Cluster, Expected string
		ClusterInBackup, Template                          bool
	}
}

// warningOf is what drift-detector calls what happened to a VM that exists.
var warningOf = map[string]string{
	"powered-off": "PoweredOff", "renamed": "Renamed", "moved": "Moved", "duplicate-bios-uuid": "DuplicateID",
	"name-reuse": "SameNameElsewhere",
}

// TestDiffOfTheLab compares the backup against the vCenter before the drift and
// after it, and demands exactly what really happened to machines and VMs.
func TestDiffOfTheLab(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	after := w.Detect("--skip-access-apiserver")
	after.Demand(t, cli.ExitOK)
	runs.Undrift(t, w.VCenter)
	before := w.Detect("--skip-access-apiserver")
	before.Demand(t, cli.ExitOK)
	d, err := diff.New(before.Report, after.Report)
	if err != nil {
		t.Fatal(err)
	}
	var truth labTruth
	runs.ReadJSON(t, runs.Testdata+"truth.json", &truth)
	wantMachines, wantVMs, wantClusters := truth.differences(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))

	equal(t, "machines", linesOf(d.Machines), wantMachines)
	equal(t, "VMs", linesOf(d.InfraMachines), wantVMs)
	var clusters []string
	for _, c := range d.Clusters.Changed {
		clusters = append(clusters, c.New.Namespace+"/"+c.New.Name)
	}
	equal(t, "clusters", clusters, wantClusters)
	// aws-prod has Ghosts in both, so that the whole cannot get worse.
	if len(d.Clusters.New)+len(d.Clusters.Gone)+len(d.Scopes.New)+len(d.Scopes.Gone)+len(d.Scopes.Changed) > 0 || !d.Complete || d.Worse {
		t.Errorf("clusters %+v, scopes %+v, complete %t, worse %t", d.Clusters, d.Scopes, d.Complete, d.Worse)
	}
	matched, err := d.Fails(diff.Kinds())
	if want := []string{"new-ghost", "new-stale", "new-unattributed", "new-leaked", "new-lost", "changed"}; err != nil || !slices.Equal(matched, want) {
		t.Errorf("--fail-on finds %q, %v; want %q", matched, err, want)
	}
}

// differences returns the lines that the truth makes of machines, of VMs to confirm,
// and of clusters.
func (truth labTruth) differences(t *testing.T, o runs.Oracle) (machines, vms, clusters []string) {
	t.Helper()
	touched := map[string]bool{}
	for _, m := range truth.Machines {
		line := "changed " + m.Namespace + "/" + m.Cluster + " " + m.Machine + ":"
		if m.Expected == "Stale" {
			line += " status Healthy Stale"
		}
		if m.Edge != "" {
			line += " warning " + warningOf[m.Edge]
		}
		if strings.HasSuffix(line, ":") {
			continue // as it was
		}
		machines = append(machines, line)
		if m.Expected == "Stale" || m.Edge == "duplicate-bios-uuid" {
			touched[m.Namespace+"/"+m.Cluster] = true
		}
	}
	then := map[string]bool{}
	var saved []runs.SavedVM
	runs.ReadJSON(t, runs.Testdata+"vcenter-inventory-before.json", &saved)
	for _, s := range saved {
		then[s.Path+s.BIOSUUID] = true
	}
	placement := map[string][]string{}
	for _, v := range o.VMs {
		placement[v.Path] = v.Placement
	}
	for _, v := range truth.VMs {
		at := v.Namespace + "/" + v.Cluster
		switch {
		case v.Expected == "Healthy" || then[v.Path+v.BIOSUUID]:
		case v.Expected == "Ghost" && v.ClusterInBackup:
			machines = append(machines, "new "+at+" "+v.Name+" Ghost")
			touched[at] = true
		case slices.Equal(placement[v.Path], []string{"infraMachines"}):
			vms = append(vms, "new "+v.Name+" "+v.BIOSUUID)
		case !v.Template && !slices.Contains(placement[v.Path], "outOfScope"):
			t.Fatalf("where is %s? %q", v.Path, placement[v.Path])
		}
	}
	return machines, vms, slices.Sorted(maps.Keys(touched))
}

// linesOf says of each difference what the truth can say of it.
func linesOf(l diff.Lists[diff.Item]) []string {
	var out []string
	for _, i := range l.New {
		if i.Status == code.Unattributed {
			out = append(out, "new "+i.Name+" "+i.Instance.ID)
		} else {
			out = append(out, "new "+i.Cluster+" "+i.Name+" "+string(i.Status))
		}
	}
	for _, i := range l.Gone {
		out = append(out, "gone "+i.Name)
	}
	for _, c := range l.Changed {
		line := "changed " + c.New.Cluster + " " + c.New.Name + ":"
		for _, f := range c.Fields {
			switch f.Name {
			case "status":
				line += " status " + f.Old + " " + f.New
			case "warning":
				line += " warning " + f.Old + f.New
			}
		}
		out = append(out, line)
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 {
		t.Errorf("the truth names no difference of %s", what)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
