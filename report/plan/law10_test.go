package plan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// changing are the words of calls that change something.
var changing = []string{" delete ", " drain ", " patch ", " scale ", "member remove", "vm.power", "vm.destroy", "vm.change", "device.remove", "terminate-", "stop-", "start-", "detach-", "deregister-", "restore create"}

// anyPlan is a report of which every machine has become something else by chance.
func anyPlan(seed uint64) *report.Report {
	dice := rand.New(rand.NewPCG(seed, 10))
	pick := func(all ...string) string { return all[dice.IntN(len(all))] }
	r := sample("alpha")
	change := func(m *report.Machine) {
		m.Forecast = &report.MachineForecast{Outcome: code.Outcome(pick("Adopted", "Stuck", "StuckNodeLeft", "NewInstanceCreated", "ReplacedByMachineHealthCheck", "UntouchedPaused", "CannotKnow", "Halted", "RolledByOwner"))}
		if m.Instance != nil && dice.IntN(3) == 0 {
			other := *m.Instance
			other.Name, other.Path = "copy", "/DC/vm/copy"
			m.Warnings, m.Others = []report.Warning{{Reason: code.Reason(pick("DuplicateID", "PoweredOff", "SameNameElsewhere", "Moved"))}}, []report.Instance{other}
		}
		if m.Status == code.Unknown {
			m.Reason = code.Reason(pick("FoundElsewhere", "AmbiguousMatch", "IdentityChanged", "NodeListUnread", "InfraObjectMissing", "NotFoundByName"))
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.Nodes.State, c.Paused = pick("read", "read", "unreachable", "skipped"), dice.IntN(5) == 0
		for j := range c.ControlPlane.Machines {
			change(&c.ControlPlane.Machines[j])
		}
		for j := range c.Workers.Groups {
			g := &c.Workers.Groups[j]
			g.Desired = number(int64(dice.IntN(5)))
			for k := range g.Machines {
				change(&g.Machines[k])
			}
		}
	}
	return r
}

// stops is drift-detector recheck where it lets nothing go on, or not what has a piece.
func stops(piece string) string { return `"drift-detector recheck "*"` + piece + `"*) exit 1 ;;` }

// wrongPlace are answers at another place and of another cluster.
var wrongPlace = []string{stops(""), `*" get clusters"*go-template*) echo "n/c "; exit ;;`}

// At the wrong place no line of any plan changes anything, whichever it is, but for the
// pausing of Clusters, which the operator names himself.
func TestLaw10NothingIsChangedAtTheWrongPlace(t *testing.T) {
	changes := func(o outcomeOf) bool {
		return slices.ContainsFunc(o.calls, func(call string) bool {
			return !strings.Contains(call, `{"spec":{"paused":true}}`) && !strings.Contains(call, "delete pod/") &&
				slices.ContainsFunc(changing, func(w string) bool { return strings.Contains(call, w) })
		})
	}
	r := sample("alpha")
	m := find(t, r, code.Healthy, "control-plane")
	m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*vsphereVM("copy", livingID, 9)}
	r.Clusters[0].Workers.Groups[0].Counts = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}
	all := []*report.Report{r}
	for seed := range uint64(200) {
		all = append(all, anyPlan(seed))
	}
	var every []string
	for _, r := range all {
		Fill(r, providerTools)
		every = append(every, planLines(r)...)
	}
	slices.Sort(every)
	every = slices.Compact(every)
	changed := 0
	for _, line := range every {
		if changes(try(t, line)) {
			changed++
		}
		if o := try(t, line, wrongPlace...); changes(o) {
			t.Errorf("%q of %s", o.calls, line)
		}
		if o := try(t, line, "*) exit 1 ;;"); changes(o) && len(o.calls) > 1 {
			t.Errorf("it goes on behind a failure: %q of %s", o.calls, line)
		}
		if strings.Count(line, " | ") != strings.Count(line, ` | drift-detector recheck "${REPORT:?}" `) {
			t.Errorf("a pipe hides a failure: %s", line)
		}
	}
	if changed < 30 {
		t.Errorf("%d of %d lines change something", changed, len(every))
	}
}
