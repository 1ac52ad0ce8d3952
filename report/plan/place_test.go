package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// A line that deletes a Machine looks first whether its VM is gone, in the place where it would
// be, and at the Nodes of the cluster.
func TestMachinesAreDeletedOnlyWhereTheirVMWouldBeSeen(t *testing.T) {
	seen := map[string]int{}
	for _, line := range linesWith(sample("alpha"), " delete machines.") {
		kind := "vsphere"
		if strings.Contains(line, `--at "${AWS_1:?}" --region=us-east-1 `) {
			kind = "aws"
		}
		seen[kind]++
		if o := plantest.Try(t, line); !o.OK || !o.Did("delete machines.") {
			t.Errorf("%s: it is not deleted where all is as it has to be: %s%s", kind, o.Printed, line)
		}
		for _, check := range []string{" gone machine/alpha/", " not-ready machine/alpha/"} {
			if o := plantest.Try(t, line, plantest.Stops(check)); o.OK || o.Did(" delete ") {
				t.Errorf("%s, %s: it goes on: %q", kind, check, o.Calls)
			}
		}
	}
	if seen["vsphere"] != 2 || seen["aws"] != 1 {
		t.Errorf("%v lines delete Machines", seen)
	}
}

// unhealthy makes Unknown of what is Healthy in a cluster.
func unhealthy(c *report.Cluster) {
	for _, s := range sets(c) {
		for i := range s.machines {
			if s.machines[i].Status == code.Healthy {
				s.machines[i].Status, s.machines[i].Reason = code.Unknown, "ScopeIncomplete"
			}
		}
	}
	for i := range c.Workers.Groups {
		c.Workers.Groups[i].Counts.Healthy = 0
	}
	c.ControlPlane.Counts.Healthy = 0
}

// Where nothing proves the place, a person decides, and sees what to look at.
func TestWithoutAProofNoLineDeletes(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report)
		says   string
		worker bool // the Stale worker of vSphere is asked about, else that of AWS
	}{
		"nothing is Healthy": {func(r *report.Report) { unhealthy(&r.Clusters[0]) }, "no machine of its cluster is Healthy in vsphere vc.example", true},
		"healthy ones left out": {func(r *report.Report) {
			c := &r.Clusters[0].ControlPlane
			c.Machines = slices.DeleteFunc(c.Machines, func(m report.Machine) bool { return m.Status == code.Healthy })
		}, "is Healthy in", true},
		"vCenter not known":    {func(r *report.Report) { r.Scopes[0].Identity = "" }, "does not say which vCenter", true},
		"vCenter is no UUID":   {func(r *report.Report) { r.Scopes[0].Identity = "$(touch x)" }, "does not say which vCenter", true},
		"account not known":    {func(r *report.Report) { r.Scopes[1].Identity = "" }, "does not say which AWS account", false},
		"nothing lives on AWS": {func(r *report.Report) { unhealthy(&r.Clusters[1]) }, "is Healthy in aws", false},
		"VPC alone, Nodes not read": {func(r *report.Report) {
			unhealthy(&r.Clusters[1])
			r.Clusters[1].Resources = []report.Resource{{Kind: "VPC", Name: "vpc-0a1b2c3d4e5f60718", State: code.Present}}
		}, "Node list of its cluster was not read", false},
	} {
		r := sample("alpha")
		tt.change(r)
		Fill(r, providerTools)
		var m *report.Machine
		if tt.worker {
			m = plantest.Find(t, r, code.Stale, "worker")
		} else {
			m = &r.Clusters[1].Workers.Groups[0].Machines[1]
		}
		text := fmt.Sprint(m.Remediation)
		if slices.ContainsFunc(commands(m.Remediation), deletesMachine) || !strings.Contains(text, tt.says) || !strings.Contains(text, "Decide by hand") || !strings.Contains(text, "describe") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// On AWS the VPC shows the region, where no machine does.
func TestAVPCShowsTheRegion(t *testing.T) {
	for name, want := range map[string]int{"vpc-0a1b2c3d4e5f60718": 1, "another": 0} {
		r := sample("alpha")
		unhealthy(&r.Clusters[1])
		r.Clusters[1].Nodes.State = "read"
		r.Clusters[1].Resources = []report.Resource{{Kind: "VPC", Name: name, State: code.Present}}
		lines := slices.DeleteFunc(linesWith(r, " delete machines."), func(l string) bool { return !strings.Contains(l, "AWS_1") })
		if len(lines) != want {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// Without a Node list no Machine is deleted before one was read.
func TestNodesAreReadBeforeAMachineIsDeleted(t *testing.T) {
	for _, state := range []string{"skipped", "unreachable", "denied", "noKubeconfig", ""} {
		r := sample("alpha")
		for i := range r.Clusters {
			r.Clusters[i].Nodes.State = state
		}
		r.Clusters[0].ControlPlane.Machines[2].Status = code.Unknown // workers alone
		lines := linesWith(r, " delete machines.")
		if len(lines) != 2 {
			t.Fatalf("%s: %q", state, lines)
		}
		for _, line := range lines {
			for _, c := range []string{plantest.Stops(" not-ready machine/alpha/"), `*" get nodes "*) exit 1 ;;` + "\n" + plantest.Stops(" not-ready ")} {
				if o := plantest.Try(t, line, c); o.Did("delete machines.") {
					t.Errorf("%s, %s: %q\n%s", state, c, o.Calls, o.Printed)
				}
			}
			if o := plantest.Try(t, line); !o.Did("delete machines.") {
				t.Errorf("%s: %s", state, o.Printed)
			}
		}
		if text := planText(New(r, providerTools)); !strings.Contains(text, "no Node of it is Ready, the Machine is of the restore and records the id of the report") {
			t.Errorf("%s: the step does not say so", state)
		}
	}
	// With its whole control plane gone an API server can't be asked, and nothing is deleted.
	r := deleted()
	r.Clusters[0].Nodes.State = "unreachable"
	if got := linesWith(r, "delete machines.cluster.x-k8s.io/alpha-cp"); len(got) > 0 {
		t.Errorf("%q", got)
	}
	r = sample("alpha")
	m := plantest.Find(t, r, code.Unknown, "worker")
	m.Reason, m.Instance = "NodeListUnread", nil
	Fill(r, providerTools)
	if text := fmt.Sprint(m.Remediation); !strings.Contains(text, "--skip-access-apiserver") || strings.Contains(text, "could not be decided") || slices.ContainsFunc(commands(m.Remediation), deletesMachine) {
		t.Error(text)
	}
}

// Where the report does not say which place it was made from, nothing of a Ghost is
// touched, nor is a VM given another id.
func TestGhostsOfAnUnknownPlaceStay(t *testing.T) {
	r := sample("alpha")
	r.Scopes[0].Identity, r.Scopes[1].Identity = "", ""
	m := plantest.Find(t, r, code.Unknown, "worker")
	m.Reason, m.ProviderID, m.Others, m.Instance = "IdentityChanged", "vsphere://"+plantest.StaleID, []report.Instance{*m.Instance}, nil
	Fill(r, providerTools)
	if text := fmt.Sprint(m.Remediation); len(m.Remediation) != 1 || strings.Contains(text, "recheck") {
		t.Error(text)
	}
	ghosts := 0
	for i := range r.Clusters {
		for _, s := range sets(&r.Clusters[i]) {
			for _, m := range s.machines {
				if m.Status != code.Ghost {
					continue
				}
				ghosts++
				if text := fmt.Sprint(m.Remediation); len(m.Remediation) != 1 || !strings.Contains(text, "run detect again") || strings.Contains(text, " drain ") {
					t.Error(text)
				}
			}
		}
	}
	if ghosts != 3 {
		t.Errorf("%d Ghosts", ghosts)
	}
}
