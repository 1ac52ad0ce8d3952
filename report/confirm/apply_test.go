package confirm

import (
	"slices"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

var today = time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)

// asked is a report of two vCenters with VMs to confirm, and a cluster that is gone.
func asked(vms ...report.InfraMachine) *report.Report {
	r := &report.Report{InfraMachines: vms}
	for _, name := range []string{"vc1", "vc2"} {
		r.Scopes = append(r.Scopes, report.Scope{Provider: "vsphere", Endpoint: name, Identity: "id-" + name, State: code.ScopeComplete})
	}
	gone := report.Cluster{Namespace: "t", Name: "dev", Counts: report.MachineCounts{Total: 1, Stale: 1}}
	gone.ControlPlane = report.ControlPlane{Kind: "KubeadmControlPlane", Name: "dev", Applicable: true, Counts: report.MachineCounts{Total: 1, Stale: 1}}
	r.Clusters = []report.Cluster{gone}
	r.Summary.Status = code.NeedFurtherConfirmationInfraMachines
	reason := report.AnswerReason{Code: code.InstancesToConfirm}
	for i := range vms {
		reason.Objects = append(reason.Objects, vms[i].Instance.Object())
	}
	slices.Sort(reason.Objects)
	reason.Objects = slices.Compact(reason.Objects)
	r.Summary.Answer = &report.SafeAnswer{Safe: code.Unclear, Reasons: []report.AnswerReason{reason}}
	r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: code.No, Reasons: []report.AnswerReason{reason, {Code: code.ControlPlaneDown, Objects: []string{"KubeadmControlPlane t/dev"}}}}
	return r
}

func vm(scope, name, id string, reason code.Reason) report.InfraMachine {
	return report.InfraMachine{Instance: report.Instance{Provider: "vsphere", Scope: "vsphere " + scope, ID: id, Name: name, Path: "/DC/vm/f/" + name}, Reason: reason}
}

func of(name, id string) Confirmation {
	return Confirmation{VM: name, ID: id, Provider: "vsphere", Place: "id-vc1", As: NotAMachine, By: "x", On: "2026-11-25"}
}

// A word is about one VM: one of the same path elsewhere, of the same id, or in the folder for
// a better reason than its place, is still to be confirmed.
func TestAWordIsAboutOneThing(t *testing.T) {
	folder := of("", "")
	folder.Folder = "/DC/vm/f"
	for name, c := range map[string]struct {
		vms  []report.InfraMachine
		say  Confirmation
		want code.Safe
		open int
	}{
		"that one":               {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder)}, of("a", "1"), code.Yes, 0},
		"same path elsewhere":    {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder), vm("vc2", "a", "2", code.InClusterFolder)}, of("a", "1"), code.Unclear, 1},
		"a copy with its id":     {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder), vm("vc1", "b", "1", code.InClusterFolder)}, of("a", "1"), code.Unclear, 1},
		"two of one name and id": {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder), vm("vc1", "a", "1", code.InClusterFolder)}, of("a", "1"), code.Unclear, 2},
		"a folder":               {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder), vm("vc1", "b", "2", code.InClusterFolder)}, folder, code.Yes, 0},
		"a namesake in a folder": {[]report.InfraMachine{vm("vc1", "a", "1", code.InClusterFolder), vm("vc1", "b", "2", code.SameName)}, folder, code.Unclear, 1},
	} {
		r := asked(c.vms...)
		if _, err := Apply(r, []Confirmation{c.say}, today); err != nil {
			t.Fatal(err)
		}
		if got := r.Summary.Answer.Safe; got != c.want || r.ToConfirm() != c.open {
			t.Errorf("%s: %s, %d open, %+v", name, got, r.ToConfirm(), r.Confirmations)
		}
		is := func(a report.AnswerReason) bool { return a.Code == code.InstancesToConfirm }
		if slices.ContainsFunc(r.Summary.AnswerByPlan.Reasons, is) != (c.open > 0) || slices.ContainsFunc(r.Summary.Answer.Reasons, is) != (c.open > 0) {
			t.Errorf("%s: %+v, by the plan %+v", name, r.Summary.Answer.Reasons, r.Summary.AnswerByPlan.Reasons)
		}
	}
}

// A cluster is given up only where all of that name are gone, whole.
func TestOnlyWhatIsGoneIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		taken  bool
	}{
		"gone": {func(*report.Report) {}, true},
		"one of that name in another backup lives": {func(r *report.Report) {
			r.Clusters = append(r.Clusters, report.Cluster{Namespace: "t", Name: "dev", Backup: 1, Counts: report.MachineCounts{Total: 3, Healthy: 3}})
		}, false},
		"a managed control plane": {func(r *report.Report) { r.Clusters[0].ControlPlane.Applicable = false }, false},
		"no machines":             {func(r *report.Report) { r.Clusters[0].ControlPlane.Counts = report.MachineCounts{} }, false},
		"a pool": {func(r *report.Report) {
			r.Clusters[0].Workers.Groups = []report.Group{{Kind: "MachinePool", Pool: &report.Pool{State: code.Undecided}}}
		}, false},
	} {
		r := asked()
		c.change(r)
		if _, err := Apply(r, []Confirmation{{Cluster: "t/dev", As: GivenUp, By: "x", On: "2026-11-25"}}, today); err != nil {
			t.Fatal(err)
		}
		down := slices.ContainsFunc(r.Summary.AnswerByPlan.Reasons, func(a report.AnswerReason) bool { return a.Code == code.ControlPlaneDown })
		if taken := r.Confirmations[0].State == report.ConfirmationTaken; taken != c.taken || down == taken {
			t.Errorf("%s: %+v, by the plan %+v", name, r.Confirmations[0], r.Summary.AnswerByPlan.Reasons)
		}
	}
}

// What else is not well keeps the answer from yes.
func TestAWordDoesNotHideAStatus(t *testing.T) {
	r := asked(vm("vc1", "a", "1", code.InClusterFolder))
	r.Summary.Status = code.NeedFurtherConfirmation
	if _, err := Apply(r, []Confirmation{of("a", "1")}, today); err != nil || r.Summary.Answer.Safe == code.Yes {
		t.Errorf("%v, %+v", err, r.Summary.Answer)
	}
}

// Whoever says that a VM stays off is not taken at their word where a controller powers it on.
func TestWhatAControllerStartsDoesNotStayOff(t *testing.T) {
	for name, c := range map[string]struct {
		started func(*report.Report, report.AnswerReason)
		taken   bool
	}{
		"nobody starts it": {func(*report.Report, report.AnswerReason) {}, true},
		"now": {func(r *report.Report, on report.AnswerReason) {
			r.Summary.Answer.Reasons = append(r.Summary.Answer.Reasons, on)
		}, false},
		"by the plan": {func(r *report.Report, on report.AnswerReason) {
			r.Summary.AnswerByPlan.Reasons = append(r.Summary.AnswerByPlan.Reasons, on)
		}, false},
		"by the plan, decided": {func(r *report.Report, on report.AnswerReason) {
			r.Summary.AnswerByPlan.Resolved = append(r.Summary.AnswerByPlan.Resolved, on)
		}, false},
	} {
		r := asked()
		r.Clusters[0].ControlPlane.Machines = []report.Machine{{
			Name: "a", Namespace: "t", Status: code.Healthy, Instance: &report.Instance{ID: "1", State: "poweredOff"}, Warnings: []report.Warning{{Reason: code.PoweredOff}},
		}}
		c.started(r, report.AnswerReason{Code: code.InstancesStarted, Objects: []string{"Machine t/a"}})
		if _, err := Apply(r, []Confirmation{{Machine: "t/a", ID: "1", As: StaysOff, By: "x", On: "2026-11-25"}}, today); err != nil {
			t.Fatal(err)
		}
		if taken := r.Confirmations[0].State == report.ConfirmationTaken; taken != c.taken {
			t.Errorf("%s: %+v", name, r.Confirmations[0])
		}
	}
}
