package vsphere_test

import (
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// others returns the clusters of a report outside one namespace.
func others(r *report.Report, namespace string) []report.Cluster {
	var out []report.Cluster
	for _, c := range r.Clusters {
		if c.Namespace != namespace {
			out = append(out, c)
		}
	}
	return out
}

// verdictsOf returns the machines of clusters by cluster and name, without the Ghosts.
func verdictsOf(all []report.Cluster) (machines, ghosts map[string]report.Machine) {
	machines, ghosts = map[string]report.Machine{}, map[string]report.Machine{}
	for _, c := range all {
		for _, m := range runs.MachinesOf(c) {
			if m.Status == "Ghost" {
				ghosts[m.Instance.Path] = m
			} else {
				machines[c.Name+"/"+m.Name] = m
			}
		}
	}
	return machines, ghosts
}

// honest holds that what a second vCenter says changes verdicts on machines that
// are elsewhere into Unknown at most, and hides no VM.
func honest(t *testing.T, before, after *report.Report, namespace string) {
	t.Helper()
	was, wasGhost := verdictsOf(others(before, namespace))
	is, isGhost := verdictsOf(others(after, namespace))
	for name, m := range was {
		if now := is[name]; now.Status != m.Status && now.Status != "Unknown" {
			t.Errorf("%s was %s and is %q (%s: %s)", name, m.Status, now.Status, now.Reason, now.Message)
		}
	}
	unattributed := runs.PlacementsOf(after).Infra
	for path := range wasGhost {
		_, ghost := isGhost[path]
		if _, listed := unattributed[path]; !ghost && !listed {
			t.Errorf("the Ghost %s is listed nowhere any more", path)
		}
	}
	for path := range isGhost {
		if _, ghost := wasGhost[path]; !ghost {
			t.Errorf("%s became a Ghost", path)
		}
	}
	if len(was) == 0 || len(wasGhost) == 0 {
		t.Fatal("there is nothing to compare")
	}
}

// A tenant's own vCenter repeats the id of the shared one and says of other
// tenants' VMs that they are templates, and of others that they are machines
// that are gone.
func TestVCenterThatPassesForAnother(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	hostile, args := w.SecondVCenter("tenant-gamma")
	var gone []string // BIOS UUIDs of Stale machines
	for _, m := range runs.ByStatus(before.Report, "Stale") {
		if id := strings.TrimPrefix(m.ProviderID, "vsphere://"); id != m.ProviderID {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		t.Fatal("no machine is Stale")
	}
	for _, v := range hostile.VMs() {
		switch {
		case strings.Contains(v.Path, "tenant-gamma"):
		case v.Template && len(gone) > 0:
			if err := hostile.SetUUIDs(v.Path, gone[0], ""); err != nil {
				t.Fatal(err)
			}
			gone = gone[1:]
		default:
			for _, e := range hostile.Service.Context.Map.All("VirtualMachine") {
				if m := e.(*simulator.VirtualMachine); m.Self.Value == v.Ref && m.Config != nil {
					m.Config.Template, m.Summary.Config.Template = true, true
				}
			}
		}
	}
	o := w.Detect(args...)
	o.Demand(t, cli.ExitOK)
	honest(t, before.Report, o.Report, "tenant-gamma")
}

// One vCenter behind two certificates looks like two that hold copies of each
// other: nothing is merged, and nothing is concluded from that.
func TestOneVCenterBehindTwoCertificates(t *testing.T) {
	t.Parallel()
	w := runs.Fleet(t)
	before := w.Detect()
	_, args := w.SecondVCenter("tenant-gamma")
	o := w.Detect(args...)
	o.Demand(t, cli.ExitOK)
	honest(t, before.Report, o.Report, "tenant-gamma")
	honest(t, before.Report, o.Report, "")
	if o.Report.Summary.Status == "Healthy" {
		t.Errorf("the summary is %s", o.Report.Summary.Status)
	}
	again := w.Detect(args...)
	if a, b := o.WithoutTime(t), again.WithoutTime(t); a != b {
		t.Errorf("two runs differ: %s", runs.FirstDifference(a, b))
	}
}
