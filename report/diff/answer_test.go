package diff

import (
	"reflect"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// What was resolved, what is new and what is left comes first, with both answers; each object
// counts for itself.
func TestTheAnswerComesFirst(t *testing.T) {
	old, new := fleet(), fleet()
	old.Summary.Answer, old.Summary.AnswerByPlan = &report.SafeAnswer{Safe: code.No}, &report.PlanAnswer{Safe: code.Unclear}
	new.Summary.Answer, new.Summary.AnswerByPlan = &report.SafeAnswer{Safe: code.No, Conditions: []report.Note{{Code: code.NewestBackup, Message: "none"}}}, &report.PlanAnswer{Safe: code.Yes}
	todo := func(word, reason code.Reason, objects ...string) report.ToDo {
		return report.ToDo{Phase: code.Before, Safe: code.No, Code: word, Reason: reason, Objects: objects}
	}
	old.ToDo = []report.ToDo{
		todo(code.DuplicateID, code.CopiedID, "Machine a/x"), todo(code.OldManagementCluster, ""),
		todo(code.MachinesBroken, "", "Machine a/1", "Machine a/2"), todo(code.IdentityAbsent, code.BackupError, "Identity i"),
	}
	new.ToDo = []report.ToDo{
		todo(code.OldManagementCluster, ""), todo(code.IdentityAbsent, code.BackupError, "Identity i"),
		todo(code.MachinesBroken, "", "Machine a/2", "Machine a/3", "Machine a/4"), todo(code.ResourceUndecided, "", "Cluster a/b"),
	}
	d := compareOK(t, old, new)
	if want := (Answer{
		Old: Answers{code.No, code.Unclear}, New: Answers{code.No, code.Yes},
		NotSeen: []Reason{}, NotInBackup: []Reason{}, Conditions: []report.Note{{Code: code.NewestBackup, Message: "none"}},
		Resolved: []Reason{{code.DuplicateID, []string{"Machine a/x"}}, {code.MachinesBroken, []string{"Machine a/1"}}},
		Added:    []Reason{{code.MachinesBroken, []string{"Machine a/3", "Machine a/4"}}, {code.ResourceUndecided, []string{"Cluster a/b"}}},
		Left:     []Reason{{code.IdentityAbsent, []string{"Identity i"}}, {code.MachinesBroken, []string{"Machine a/2"}}},
	}); !reflect.DeepEqual(d.Answer, want) {
		t.Errorf("got %+v", d.Answer)
	}
	const text = `Answer: NO -> NO; by the plan: NOT CLEAR YET -> YES
  resolved: DuplicateID (Machine a/x), MachinesBroken (Machine a/1)
  new: MachinesBroken (Machine a/3, Machine a/4), ResourceUndecided (Cluster
    a/b)
  left: IdentityAbsent, MachinesBroken
  only while: NewestBackup: none.
Only the answer differs.
`
	if got := write(t, plain, d); !strings.HasPrefix(got, text) {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	if got := write(t, Markdown, d); !strings.HasPrefix(got, "**Answer:** NO → NO; by the plan: NOT CLEAR YET → YES\n\n- resolved: `DuplicateID` (`Machine a/x`), ") {
		t.Errorf("got\n%s", got)
	}
	if d.Worse || !d.Different {
		t.Errorf("worse %t, different %t", d.Worse, d.Different)
	}
}

// An answer that got worse makes the whole worse, each of both, in the order of danger; one that
// is not there says nothing.
func TestAnAnswerThatGotWorse(t *testing.T) {
	order := []code.Safe{code.Yes, code.WithWork, code.Unclear, code.No}
	for i, before := range append(order, "") {
		for j, after := range append(order, "") {
			for _, byPlan := range []bool{false, true} {
				old, new := fleet(), fleet()
				for r, safe := range map[*report.Report]code.Safe{old: before, new: after} {
					switch {
					case safe == "":
					case byPlan:
						r.Summary.AnswerByPlan = &report.PlanAnswer{Safe: safe}
					default:
						r.Summary.Answer = &report.SafeAnswer{Safe: safe}
					}
				}
				d := compareOK(t, old, new)
				if want := before != "" && after != "" && j > i; d.Worse != want || d.Different != (before != after) {
					t.Errorf("%q to %q (by the plan: %t): worse %t, different %t", before, after, byPlan, d.Worse, d.Different)
				}
				if matched, _ := d.Fails([]string{"worse"}); (len(matched) > 0) != d.Worse {
					t.Errorf("--fail-on worse: %q", matched)
				}
			}
		}
	}
}

// What a report that did not look at all does not have is not resolved, and VMs of places that it
// did not list whole are not gone: nothing says that it is better, and --fail-on worse says so.
func TestWhatIsNotSeenIsNotResolved(t *testing.T) {
	ghost := machine("g", "", code.Ghost, vm("1", "vm-1", "g"))
	stale := machine("s", "u", code.Stale, nil)
	for name, c := range map[string]struct {
		change            func(old, new *report.Report)
		resolved, notSeen int
		gone, unseen      int
		worse             bool
	}{
		"it looked at all": {func(_, _ *report.Report) {}, 1, 0, 1, 0, false},
		"a place was not listed": {func(_, new *report.Report) {
			new.Summary.Complete, new.Scopes[0].State = false, code.ScopeFailed
		}, 0, 1, 0, 1, true},
		"another place was not": {func(_, new *report.Report) {
			new.Summary.Complete, new.Scopes = false, append(new.Scopes, report.Scope{Provider: "aws", Endpoint: "e", State: code.ScopeFailed})
		}, 0, 1, 1, 0, true},
		"nor was it before": {func(old, new *report.Report) {
			for _, r := range []*report.Report{old, new} {
				r.Summary.Complete, r.Scopes[0].State = false, code.ScopePartial
			}
		}, 0, 1, 0, 1, false},
		"the Nodes were not read": {func(_, new *report.Report) { new.Options.SkipNodes = true }, 0, 1, 1, 0, false},
		"the place is none of it": {func(_, new *report.Report) { new.Summary.Complete, new.Scopes = false, nil }, 0, 1, 0, 1, true},
	} {
		old, new := fleet(ghost, stale), fleet(stale)
		old.Summary.Answer, new.Summary.Answer = &report.SafeAnswer{Safe: code.No}, &report.SafeAnswer{Safe: code.Unclear}
		old.ToDo = []report.ToDo{{Phase: code.Before, Safe: code.No, Code: code.DuplicateID, Reason: code.CopiedID, Objects: []string{"Machine a/x"}}}
		c.change(old, new)
		d := compareOK(t, old, new)
		text, markdown := write(t, plain, d), write(t, Markdown, d)
		if len(d.Answer.Resolved) != c.resolved || len(d.Answer.NotSeen) != c.notSeen || len(d.Machines.Gone) != c.gone || len(d.Machines.NotSeen) != c.unseen || d.Worse != c.worse {
			t.Errorf("%s: %+v, worse %t\n%s", name, d.Answer, d.Worse, text)
		}
		for _, s := range []string{text, markdown} {
			s = strings.Join(strings.Fields(s), " ")
			if strings.Contains(s, "resolved: ") != (c.resolved > 0) || strings.Contains(s, "not seen in the newer report: ") != (c.notSeen > 0) || strings.Contains(s, ", which says nothing: "+notLooked) != (c.notSeen > 0) ||
				strings.Contains(strings.ToLower(s), "machines not seen in the newer") != (c.unseen > 0) {
				t.Errorf("%s:\n%s", name, s)
			}
		}
	}
}

// What went out of the backup together with its cluster is not resolved: nobody looked at it.
func TestWhatLeftWithItsClusterIsNotResolved(t *testing.T) {
	old, new := fleet(), fleet()
	gone := report.Cluster{Namespace: "t", Name: "gone"}
	gone.ControlPlane.Machines = []report.Machine{{Namespace: "t", Name: "m"}}
	old.Clusters = append(old.Clusters, gone)
	own := old.Clusters[0].Title()
	maybe := func(name string, of ...string) report.InfraMachine {
		return report.InfraMachine{Instance: report.Instance{Name: name, Path: "/DC/vm/" + name}, Candidates: of}
	}
	old.InfraMachines = append(old.InfraMachines, maybe("a", "t/gone"), maybe("b", "t/gone", own))
	old.Scopes = append(old.Scopes, report.Scope{Provider: "aws", Endpoint: "e", State: code.ScopeFailed})
	place := []string{old.Scopes[len(old.Scopes)-1].Title()}
	old.Checks = append(old.Checks,
		report.Check{Code: code.IdentityAbsent, Severity: code.CheckError, Object: "Identity i", Clusters: []string{"t/gone"}},
		report.Check{Code: code.IdentityAbsent, Severity: code.CheckError, Object: "Identity j", Clusters: []string{own}})
	broken, halted := []string{"Machine t/m"}, []string{"Cluster t/gone"}
	vms, identities := []string{"instance /DC/vm/a", "instance /DC/vm/b"}, []string{"Identity i", "Identity j"}
	old.Summary.Answer = &report.SafeAnswer{Safe: code.No, Reasons: []report.AnswerReason{
		{Code: code.MachinesBroken, Objects: broken}, {Code: code.ClusterHalted, Objects: halted}, {Code: code.InstancesToConfirm, Objects: vms}, {Code: code.BackupError, Objects: identities}, {Code: code.Incomplete, Objects: place},
	}}
	new.Summary.Answer = &report.SafeAnswer{Safe: code.Yes}
	old.ToDo = []report.ToDo{
		{Code: code.MachinesBroken, Objects: broken},
		{Code: code.ClusterHalted, Objects: halted},
		{Code: code.InstancesToConfirm, Objects: vms},
		{Code: code.OldManagementCluster},
		{Code: code.IdentityAbsent, Reason: code.BackupError, Objects: identities},
		{Code: code.Incomplete, Objects: place},
	}
	d := compareOK(t, old, new)
	if want := []Reason{{code.MachinesBroken, broken}, {code.ClusterHalted, halted}, {code.InstancesToConfirm, vms[:1]}, {code.IdentityAbsent, identities[:1]}, {code.Incomplete, place}}; !reflect.DeepEqual(d.Answer.NotInBackup, want) {
		t.Errorf("not in the backup: %+v", d.Answer.NotInBackup)
	}
	if want := []Reason{{code.InstancesToConfirm, vms[1:]}, {code.IdentityAbsent, identities[1:]}}; !reflect.DeepEqual(d.Answer.Resolved, want) {
		t.Errorf("resolved: %+v", d.Answer.Resolved)
	}
	if matched, _ := d.Fails([]string{"worse"}); !d.Worse || len(matched) != 1 {
		t.Errorf("worse %t, %q", d.Worse, matched)
	}
	for _, f := range []string{write(t, plain, d), write(t, Markdown, d)} {
		if text := strings.Join(strings.Fields(f), " "); !strings.Contains(text, "no longer in the backup: ") {
			t.Error(f)
		}
	}
}

// A cluster that the newer backup lacks is worse, though nothing was to be done about it.
func TestALostClusterIsWorse(t *testing.T) {
	old, new := fleet(), fleet()
	old.Clusters = append(old.Clusters, report.Cluster{Namespace: "t", Name: "lost", Status: code.Healthy})
	d := compareOK(t, old, new)
	if matched, _ := d.Fails([]string{"worse"}); !d.Worse || len(matched) != 1 {
		t.Errorf("worse %t, %q", d.Worse, matched)
	}
	if d = compareOK(t, new, old); d.Worse {
		t.Error("a cluster that is new makes it worse")
	}
}
