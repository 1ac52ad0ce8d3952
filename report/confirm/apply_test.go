package confirm

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

var today = time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)

// asked returns a report of two vCenters with VMs to confirm, and a cluster that is gone.
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
	folder.Folder, folder.IDs = "/DC/vm/f", []string{"1", "2"}
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
		Apply(r, []Confirmation{c.say}, today)
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
		Apply(r, []Confirmation{{Cluster: "t/dev", As: GivenUp, By: "x", On: "2026-11-25"}}, today)
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
	if Apply(r, []Confirmation{of("a", "1")}, today); r.Summary.Answer.Safe == code.Yes {
		t.Errorf("%+v", r.Summary.Answer)
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
		Apply(r, []Confirmation{{Machine: "t/a", ID: "1", As: StaysOff, By: "x", On: "2026-11-25"}}, today)
		if taken := r.Confirmations[0].State == report.ConfirmationTaken; taken != c.taken {
			t.Errorf("%s: %+v", name, r.Confirmations[0])
		}
	}
}

// A machine whose Machine the backup lacks is left on the word of its owner, where its VM just
// keeps running: that the owner creates another machine stays a reason of its own.
func TestAMachineThatTheBackupLacksIsLeft(t *testing.T) {
	missing := report.AnswerReason{Code: code.MachinesMissing, Objects: []string{"Machine t/a"}}
	for name, c := range map[string]struct {
		change func(*report.Report, *report.Machine)
		as     As
		taken  bool
	}{
		"left":                 {func(*report.Report, *report.Machine) {}, Leave, true},
		"off":                  {func(_ *report.Report, m *report.Machine) { m.Instance.State = "poweredOff" }, Leave, true},
		"its Machine is there": {func(_ *report.Report, m *report.Machine) { m.Warnings = nil }, Leave, false},
		"another VM":           {func(_ *report.Report, m *report.Machine) { m.Instance.ID = "2" }, Leave, false},
		"no VM":                {func(_ *report.Report, m *report.Machine) { m.Instance = nil }, Leave, false},
		"of a control plane":   {func(_ *report.Report, m *report.Machine) { m.Role = report.RoleControlPlane }, Leave, false},
		"etcd loses its member": {func(r *report.Report, _ *report.Machine) {
			r.Summary.Answer.Reasons[1].Code, r.Summary.AnswerByPlan.Reasons[0].Code = code.EtcdMembersRemoved, code.EtcdMembersRemoved
		}, Leave, false},
		"that is not what it says": {func(*report.Report, *report.Machine) {}, StaysOff, false},
	} {
		r := asked()
		group := report.Group{Kind: "MachineDeployment", Name: "md", Machines: []report.Machine{{
			Name: "a", Namespace: "t", Status: code.Healthy, Instance: &report.Instance{ID: "1", State: "poweredOn"}, Warnings: []report.Warning{{Reason: code.MachineMissing}},
		}}}
		r.Clusters[0].Workers.Groups = []report.Group{group}
		made := report.AnswerReason{Code: code.MachinesMade, Objects: []string{"MachineDeployment t/md"}}
		r.Summary.Answer.Reasons = []report.AnswerReason{made, missing}
		r.Summary.AnswerByPlan.Reasons = []report.AnswerReason{missing}
		c.change(r, &r.Clusters[0].Workers.Groups[0].Machines[0])
		Apply(r, []Confirmation{{Machine: "t/a", ID: "1", As: c.as, By: "x", On: "2026-11-25"}}, today)
		now, by := r.Summary.Answer, r.Summary.AnswerByPlan
		if taken := r.Confirmations[0].State == report.ConfirmationTaken; taken != c.taken || (by.Safe == code.Yes) != taken || now.Safe == code.Yes || (len(now.Reasons) == 1) != taken {
			t.Errorf("%s: %+v, %+v, by the plan %+v", name, r.Confirmations[0], now.Reasons, by)
		}
	}
}

// Of two who say different things of one VM neither is right because it was read last: both are
// listed, and the VM is to be confirmed still. Two who say the same are two conditions.
func TestContradictionsAreNotTaken(t *testing.T) {
	says := func(by string, as As, folder, expires string) Confirmation {
		c := of("a", "1")
		c.By, c.As, c.Expires = by, as, expires
		if folder != "" {
			c.VM, c.ID, c.Folder, c.IDs = "", "", folder, []string{"1", "2"}
		}
		return c
	}
	for name, c := range map[string]struct {
		all    []Confirmation
		states string
		open   int
		words  int // conditions
	}{
		"two say the same":              {[]Confirmation{says("x", Leave, "", ""), says("y", Leave, "", "")}, "taken taken", 1, 2},
		"two contradict":                {[]Confirmation{says("x", Leave, "", ""), says("y", NotAMachine, "", "")}, "contradicted contradicted", 2, 0},
		"one of three contradicts":      {[]Confirmation{says("x", Leave, "", ""), says("y", NotAMachine, "", ""), says("z", Leave, "", "")}, "contradicted contradicted contradicted", 2, 0},
		"a folder contradicts a VM":     {[]Confirmation{says("x", Leave, "/DC/vm/f", ""), says("y", NotAMachine, "", "")}, "taken contradicted", 1, 1},
		"one says more of a VM":         {[]Confirmation{says("x", Leave, "/DC/vm/f", ""), says("x", NotAMachine, "", "")}, "taken taken", 0, 2},
		"what has expired says nothing": {[]Confirmation{says("x", Leave, "", "2020-01-01"), says("y", NotAMachine, "", "")}, "expired taken", 1, 1},
	} {
		r := asked(vm("vc1", "a", "1", code.InClusterFolder), vm("vc1", "b", "2", code.InClusterFolder))
		warnings := Apply(r, c.all, today)
		var states []string
		for _, o := range r.Confirmations {
			states = append(states, string(o.State))
		}
		open, words := r.ToConfirm(), 0
		for _, n := range r.Summary.Answer.Conditions {
			if n.Code == code.OnTheWordOf {
				words++
			}
		}
		if got := strings.Join(states, " "); got != c.states || open != c.open || words != c.words || (len(warnings) > 0) != (got != "taken taken") {
			t.Errorf("%s: %s, %d open, %d conditions, %q", name, got, open, words, warnings)
		}
		if strings.Contains(c.states, "contradicted") && !strings.Contains(strings.Join(warnings, "\n"), "y says notAMachine of VM a") {
			t.Errorf("%s: %q", name, warnings)
		}
	}
}

// What somebody said is replaced by what the same one says now, which is returned; what others
// said stays.
func TestMergeKeepsWhatOthersSay(t *testing.T) {
	c := func(by string, as As) Confirmation {
		c := of("a", "1")
		c.By, c.As = by, as
		return c
	}
	all, replaced := Merge([]Confirmation{c("x", Leave), c("y", Leave)}, []Confirmation{c("y", NotAMachine)})
	if len(all) != 2 || !reflect.DeepEqual(all, []Confirmation{c("x", Leave), c("y", NotAMachine)}) || !reflect.DeepEqual(replaced, []Confirmation{c("y", Leave)}) {
		t.Errorf("%+v, %+v", all, replaced)
	}
	if said := Contradictions(all, []Confirmation{c("y", NotAMachine)}); len(said) != 1 || !strings.Contains(said[0], "y says notAMachine of VM a, and neither is taken: x says leave") {
		t.Errorf("%q", said)
	}
	if _, replaced := Merge(all, []Confirmation{c("y", NotAMachine)}); replaced != nil {
		t.Errorf("the same again replaces %+v", replaced)
	}
}

// One spelling is written; what commands took before is read all the same.
func TestAWordHasOneSpelling(t *testing.T) {
	for word, want := range map[string]As{"givenUp": GivenUp, "given-up": GivenUp, "not-a-machine": NotAMachine, "notAMachine": NotAMachine, "leave": Leave, "stays-off": StaysOff, "mine": "", "": ""} {
		if as, known := Named(word); known != (want != "") || known && as != want {
			t.Errorf("%s: %s, %v", word, as, known)
		}
	}
	all, err := Read("said.yaml", strings.NewReader("confirmations:\n- cluster: a/b\n  as: given-up\n  by: OPS-1\n  on: \"2026-11-25\"\n"))
	if err != nil || all[0].As != GivenUp {
		t.Errorf("%v %+v", err, all)
	}
}

// A day that no calendar has is refused where it stands.
func TestADayIsOfTheCalendar(t *testing.T) {
	const first = "confirmations:\n- cluster: a/b\n  as: givenUp\n  by: OPS-1\n  on: 2026-11-25\n\n- cluster: a/c\n  as: givenUp\n  by: OPS-1\n  on: 2026-11-25\n  expires: "
	for day, says := range map[string]string{"2026-12-31": "", "2026-02-30": `said.yaml: line 7: confirmation 2 (Cluster a/c): expires: "2026-02-30" is no day`, "2027-13-01": "line 7", "soon": "line 7"} {
		_, err := Read("said.yaml", strings.NewReader(first+day+"\n"))
		if (err != nil) != (says != "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", day, err)
		}
	}
}

// What detect would not take of a report is said when it is written down, and what it means.
func TestWhatIsNotTakenIsSaid(t *testing.T) {
	given := Confirmation{Cluster: "t/dev", As: GivenUp, By: "x", On: "2026-11-25"}
	for name, c := range map[string]struct {
		change func(*report.Cluster)
		says   string
	}{
		"it is gone":              {func(*report.Cluster) {}, ""},
		"its API server answers":  {func(c *report.Cluster) { c.Nodes = report.Nodes{State: report.NodesRead, Count: 3} }, "its API server answers, with 3 Nodes; a cluster that is given up is left out of the restore"},
		"VMs of it run":           {func(c *report.Cluster) { c.Counts.Healthy = 2 }, "2 VMs of it exist"},
		"it may have some":        {func(c *report.Cluster) { c.Counts.Unknown = 1 }, "1 VM of it exist"},
		"its control plane lives": {func(c *report.Cluster) { c.ControlPlane.Counts.Stale = 0 }, "whether its control plane is gone"},
	} {
		r := asked()
		c.change(&r.Clusters[0])
		if got := NotTaken(r, &given, today); !strings.Contains(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: %q", name, got)
		}
		Apply(r, []Confirmation{given}, today)
		if taken := r.Clusters[0].Confirmed != nil; taken != (c.says == "") {
			t.Errorf("%s: taken %v", name, taken)
		}
	}
}

// A word on a folder is about what that held when it was said: a later VM is named, and so is a
// copy that has the id of one by now. The condition names the folder.
func TestAFolderIsWhatItHeld(t *testing.T) {
	held := func() []report.InfraMachine {
		return []report.InfraMachine{vm("vc1", "a", "A1", code.InClusterFolder), vm("vc1", "b", "2", code.InClusterFolder), vm("vc1", "named", "3", code.SameName), vm("vc2", "c", "4", code.InClusterFolder)}
	}
	r := asked(held()...)
	r.InfraMachines = r.InfraMachines[:3]
	c, err := Of(r, "/DC/vm/f", Leave, "x", "2026-11-25", "")
	if err != nil || !reflect.DeepEqual(c.IDs, []string{"A1", "2"}) {
		t.Fatalf("%+v, %v", c, err)
	}
	for name, now := range map[string]struct {
		vms   []report.InfraMachine
		state report.ConfirmationState
		open  int
		later string
	}{
		"the same":       {held(), report.ConfirmationTaken, 2, ""},
		"one less":       {held()[1:], report.ConfirmationTaken, 2, ""},
		"a later one":    {append(held(), vm("vc1", "new-vm", "9", code.InClusterFolder)), report.ConfirmationTaken, 3, "new-vm"},
		"a copy":         {append(held(), vm("vc1", "copy", "a1", code.InClusterFolder)), report.ConfirmationTaken, 4, "a, copy"},
		"others alone":   {[]report.InfraMachine{vm("vc1", "new-vm", "9", code.InClusterFolder), vm("vc1", "no-id", "", code.InClusterFolder)}, report.ConfirmationChanged, 2, "new-vm, no-id"},
		"more than that": {[]report.InfraMachine{vm("vc1", "a", "A1", code.SameName)}, report.ConfirmationUnused, 1, ""},
	} {
		r := asked(now.vms...)
		warnings := strings.Join(Apply(r, []Confirmation{c}, today), "\n")
		own := r.Confirmations[0]
		if own.State != now.state || r.ToConfirm() != now.open || now.later != "" && (!strings.HasSuffix(own.Message, now.later) || !strings.HasSuffix(warnings, now.later)) || !slices.Equal(own.IDs, c.IDs) {
			t.Errorf("%s: %+v, %d open, %q", name, own, r.ToConfirm(), warnings)
		}
		if all := r.Summary.Answer.Conditions; own.State == report.ConfirmationTaken && (len(all) != 1 || !strings.Contains(all[0].Message, " in folder /DC/vm/f ") || !strings.Contains(all[0].Message, "on the word of x")) {
			t.Errorf("%s: %+v", name, all)
		}
	}
	for name, c := range map[string]Confirmation{
		"a folder of no VMs": {Folder: "/f", Provider: "vsphere", Place: "p", As: Leave, By: "x", On: "2026-11-25"},
		"a VM with several":  {VM: "a", ID: "1", IDs: []string{"1"}, Provider: "vsphere", Place: "p", As: Leave, By: "x", On: "2026-11-25"},
	} {
		if c.problem() == "" {
			t.Errorf("%s is taken", name)
		}
	}
}

// A cluster that no selector tells from another is not left out: the condition says that it stays
// paused.
func TestWhatIsGivenUpAndRestored(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Report)
		want   string
	}{
		"alone":                {func(*report.Report) {}, "1 Cluster is given up, and left out of the restore, on"},
		"a namesake":           {func(r *report.Report) { r.Clusters = append(r.Clusters, report.Cluster{Namespace: "u", Name: "dev"}) }, "1 Cluster is given up, and left paused after the restore (no"},
		"a report of some":     {func(r *report.Report) { r.Options.Filter = &report.Filter{Clusters: []string{"dev"}} }, "1 Cluster is given up, and left paused after the restore (no"},
		"the name is no label": {func(r *report.Report) { r.Clusters[0].Name = "dev." }, "1 Cluster is given up, and left paused after the restore (no"},
	} {
		r := asked()
		c.change(r)
		Apply(r, []Confirmation{{Cluster: r.Clusters[0].Title(), As: GivenUp, By: "x", On: "2026-11-25"}}, today)
		if all := r.Summary.Answer.Conditions; len(all) != 1 || !strings.HasPrefix(all[0].Message, c.want) {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// One of a kind is said in the singular, all of the sentence.
func TestOneIsSaidInTheSingular(t *testing.T) {
	for as, want := range map[As]string{
		Leave: "1 VM is known, and stays as it is, on", NotAMachine: "1 VM belongs to no", GivenUp: "1 Cluster is given up, and left out", StaysOff: "1 machine stays off, on",
	} {
		if got := (word{as: as, by: "OPS-1"}).says(1); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", as, got)
		}
	}
}
