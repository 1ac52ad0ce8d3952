package program

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report"
)

// secondVCenter serves the lab's vCenter once more, with the same id of its own
// and the same managed object ids, but another certificate. The objects of one
// namespace name it, under a name of its own. It returns the flag to reach it.
func (w *world) secondVCenter(namespace string) (*lab.VCenter, []string) {
	w.t.Helper()
	const name = "second.example"
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: testdata + "vcenter-after.tar.gz"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(v.Close)
	w.edited("second", func(item string, body []byte) ([]byte, bool) {
		if strings.Contains(item, "/"+namespace+"/") && strings.HasPrefix(item, "resources/vsphere") {
			body = bytes.ReplaceAll(body, []byte("https://"+v.Named), []byte("https://"+name))
			body = bytes.ReplaceAll(body, []byte(`"server":"`+v.Named), []byte(`"server":"`+name))
			body = bytes.ReplaceAll(body, []byte(w.vcenter.Thumbprint), []byte(v.Thumbprint))
		}
		return body, true
	})
	return v, []string{"--endpoint", name + "=" + v.Addr}
}

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
		for _, m := range machinesOf(c) {
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
	unattributed := placementsOf(after).infra
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
	w := fleet(t)
	before := w.detect()
	hostile, args := w.secondVCenter("tenant-gamma")
	var gone []string // BIOS UUIDs of Stale machines
	for _, m := range byStatus(before.report, "Stale") {
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
	o := w.detect(args...)
	o.demand(t, cli.ExitOK)
	honest(t, before.report, o.report, "tenant-gamma")
}

// One vCenter behind two certificates looks like two that hold copies of each
// other: nothing is merged, and nothing is concluded from that.
func TestOneVCenterBehindTwoCertificates(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	before := w.detect()
	_, args := w.secondVCenter("tenant-gamma")
	o := w.detect(args...)
	o.demand(t, cli.ExitOK)
	honest(t, before.report, o.report, "tenant-gamma")
	honest(t, before.report, o.report, "")
	if o.report.Summary.Status == "Healthy" {
		t.Errorf("the summary is %s", o.report.Summary.Status)
	}
	again := w.detect(args...)
	if a, b := o.withoutTime(t), again.withoutTime(t); a != b {
		t.Errorf("two runs differ: %s", firstDifference(a, b))
	}
}
