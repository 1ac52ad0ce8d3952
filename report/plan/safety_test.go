package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"drift-detector/infra/shell/shelltest"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
	"drift-detector/report/reporttest"
)

// Over all combinations of what decides: a line ends a VM only for a Ghost with
// strong evidence, a known role, ids of the right form and nobody else who has
// its id; and the line before it reads the VM by its id and compares that id.
func TestOnlyProvenGhostsAreEverDestroyed(t *testing.T) {
	seen := map[bool]int{}
	for _, status := range []code.Status{code.Healthy, code.Stale, code.Ghost, code.Unknown} {
		for _, strength := range []code.Strength{"", "weak", "medium", "strong"} {
			for _, role := range []report.Role{"", "worker", "control-plane"} {
				for _, doubt := range []string{"", "DuplicateID", "others", "borne elsewhere", "bad id", "bad ref", "no place", "no instance", "self"} {
					for _, outcome := range []string{"", "Stuck", "GhostKeepsRunning", "UntouchedPaused", "CannotKnow"} {
						r, m := doubtful(status, strength, role, doubt, outcome)
						want := status == code.Ghost && strength == "strong" && role != "" && doubt == ""
						Fill(r, providerTools)
						lines := commands(m.Remediation)
						if got := slices.ContainsFunc(lines, plantest.Destroys); got != want {
							t.Errorf("%s, evidence %q, role %q, doubt %q, outcome %q: destroys %v, want %v", status, strength, role, doubt, outcome, got, want)
						}
						guarded(t, lines)
						seen[want]++
					}
				}
			}
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("the walk saw %v", seen)
	}
}

// doubtful returns a report with one machine of which something may be in doubt.
func doubtful(status code.Status, strength code.Strength, role report.Role, doubt, outcome string) (*report.Report, *report.Machine) {
	r := sample("alpha-prod")
	g := plantest.Group(r)
	g.Machines = g.Machines[:1]
	m := &g.Machines[0]
	m.Status, m.Role, m.Evidence, m.ProviderID = status, role, nil, "vsphere://"+plantest.GhostID
	if strength != "" {
		m.Evidence = []report.Evidence{{Kind: "tie", Strength: "weak"}, {Kind: "tie", Strength: strength}}
	}
	m.Forecast = &report.MachineForecast{Outcome: code.Outcome(outcome)}
	switch doubt {
	case "DuplicateID":
		m.Warnings = []report.Warning{{Reason: "DuplicateID"}}
	case "others":
		m.Others = []report.Instance{*plantest.VSphereVM("other", "66666666-6666-6666-6666-666666666666", 6)}
	case "borne elsewhere":
		r.InfraMachines[0].Instance.ID = strings.ToUpper(plantest.GhostID)
	case "bad id":
		m.Instance.ID = "$(touch x)"
	case "bad ref":
		m.Instance.Ref = "-rf"
	case "no place":
		m.Instance.Scope = "vsphere elsewhere.example"
	case "no instance":
		m.Instance = nil
	case "self":
		r.Clusters[0].Self = true
	}
	return r, m
}

// guarded demands that each line that destroys sees first that it is at the place of
// the report, and compares the id there.
func guarded(t *testing.T, lines []string) {
	t.Helper()
	for _, l := range lines {
		if !plantest.Destroys(l) {
			continue
		}
		looks, rest, _ := strings.Cut(l, ` --at "${`)
		if !guard.MatchString(looks) || plantest.Destroys(looks) || !strings.Contains(rest, ` && `) || !plantest.Destroys(rest) {
			t.Errorf("it does not look at the VM first: %s", l)
		}
		if !strings.Contains(l, "off -force") && !strings.Contains(l, "stop-instances") && !strings.Contains(looks, " --state=off") {
			t.Errorf("it does not see that the VM is off: %s", l)
		}
	}
}

var guard = regexp.MustCompile(`(^|&& )drift-detector recheck "\$\{REPORT:\?\}" vm (` + plantest.EC2ID + `|[0-9a-f-]{36} vm-\d+)( --state=off)?$`)

func TestInstancesOfAWSAreGuardedByAccountAndID(t *testing.T) {
	r := sample("alpha-prod")
	Fill(r, providerTools)
	lines := commands(r.Clusters[1].Workers.Groups[0].Machines[0].Remediation)
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "terminate-instances --instance-ids="+plantest.EC2ID) }) {
		t.Errorf("nothing terminates the proven Ghost: %q", lines)
	}
	guarded(t, lines)
}

var fewer = regexp.MustCompile(`--current-replicas=(\d+) --replicas=(\d+)|replicas","value":(\d+)\},.*replicas","value":(\d+)\}`)

// deletesMachine says that a command deletes a Machine: by name, by marking it, or
// by wanting fewer of its like.
func deletesMachine(command string) bool {
	if strings.Contains(command, " delete machines.") || strings.Contains(command, "delete-machine=") {
		return true
	}
	found := fewer.FindStringSubmatch(command)
	if found == nil {
		return strings.Contains(command, " scale ")
	}
	from, _ := strconv.Atoi(found[1] + found[3])
	to, _ := strconv.Atoi(found[2] + found[4])
	return to < from
}

// unproven returns what a line that deletes a Machine does not look at first, in the order
// in which it has to.
func unproven(line string) string {
	for _, want := range []string{" get nodes ", " not-ready machine/", " get machines.", " gone machine/", " --at "} {
		at := strings.Index(line, want)
		if at < 0 {
			return "it lacks " + want + ", or that comes too late"
		}
		line = line[at:]
	}
	return ""
}

// A Machine is never deleted, in whatever way, without a search for its id in the
// same line, at the right place and by somebody who sees the cluster.
func TestMachinesAreDeletedOnlyWhereTheirIDIsGone(t *testing.T) {
	whole := sample("alpha-prod")
	Fill(whole, providerTools)
	smaller, _ := scaledDown(t, 1, 2, 3)
	Fill(smaller, providerTools)
	topology, g := scaledDown(t, 1, 2, 3)
	g.Topology = "md-0"
	Fill(topology, providerTools)
	for i, want := range []int{3, 6, 6} {
		deleted := 0
		for _, l := range commands(plantest.AllSteps([]*report.Report{whole, smaller, topology}[i])) {
			if !deletesMachine(l) {
				continue
			}
			deleted++
			if why := unproven(l); why != "" {
				t.Errorf("%s: %s", why, l)
			}
		}
		if deleted != want {
			t.Errorf("report %d: %d lines delete Machines, want %d", i, deleted, want)
		}
	}
}

// With two places where the VM may be, both are searched.
func TestEveryPlaceOfAClusterIsSearched(t *testing.T) {
	r := sample("alpha-prod")
	r.Scopes[2] = report.Scope{Provider: "vsphere", Endpoint: "vc2.example", State: "complete"}
	r.Scopes[2].Identity = "0a0a0a0a-bd88-4ef6-b594-21283e1c677f"
	plantest.Find(t, r, code.Healthy, "control-plane").Instance.Scope = "vsphere vc2.example"
	Fill(r, providerTools)
	lines := commands(plantest.Find(t, r, code.Stale, "worker").Remediation)
	last := lines[len(lines)-1]
	if strings.Count(last, " gone machine/alpha-prod/alpha-prod --at ") != 2 || !strings.Contains(last, "VCENTER_1") || !strings.Contains(last, "VCENTER_2") {
		t.Errorf("one place is not searched: %s", last)
	}
}

// Once a name is refused nothing of that finding has commands any more: a VM is
// not deleted whose Node could not be drained.
func TestNothingFollowsARefusedCommand(t *testing.T) {
	for _, name := range shelltest.Unprintable {
		r := sample("alpha-prod")
		m := plantest.Find(t, r, code.Ghost, "worker")
		m.Node = name
		Fill(r, providerTools)
		refused := 0
		for _, s := range m.Remediation {
			refused += strings.Count(s.Text, "No command is made from here on")
			if refused > 0 && len(s.Commands) > 0 {
				t.Errorf("%q: %q follows", name, s.Commands)
			}
			if strings.Contains(strings.Join(s.Commands, "\n"), name) {
				t.Errorf("%q is in %q", name, s.Commands)
			}
		}
		if refused != 1 {
			t.Errorf("%q: that no command is made is shown %d times", name, refused)
		}
	}
}

func TestNoCommandHoldsWhatATerminalWouldNotShow(t *testing.T) {
	for _, name := range shelltest.Unprintable {
		r := sample(name)
		Fill(r, providerTools)
		for _, c := range commands(plantest.AllSteps(r)) {
			if terminal.Escape(c) != c {
				t.Errorf("%q: %q", name, c)
			}
		}
	}
}

// Clusters whose names differ in what a variable can't hold have variables of their own.
func TestContextsOfClustersAreNeverShared(t *testing.T) {
	r := &report.Report{}
	for _, name := range []string{"a-b", "a.b", "a_b", strings.Repeat("x", 100), strings.Repeat("x", 101), "", "ü"} {
		r.Clusters = append(r.Clusters, report.Cluster{Namespace: "n", Name: name})
	}
	got := map[string]bool{}
	for _, v := range newPlanner(r, providerTools).contexts {
		got[v] = true
	}
	if len(got) != len(r.Clusters) {
		t.Errorf("%d variables for %d clusters: %v", len(got), len(r.Clusters), got)
	}
}

// What a report says about its own remediation is not believed.
func TestStepsOfTheReportAreMadeAnew(t *testing.T) {
	r := sample("alpha-prod")
	evil := []report.Step{{When: report.BeforeRestore, Who: report.Operator, Text: "trust me", Commands: []string{"rm -rf /"}}}
	for _, m := range []*report.Machine{plantest.Find(t, r, code.Ghost, "worker"), plantest.Find(t, r, code.Healthy, "control-plane")} {
		m.Remediation = evil
	}
	r.InfraMachines[0].Remediation = evil
	if text := planText(New(r, providerTools)); strings.Contains(text, "rm -rf") || strings.Contains(text, "trust me") {
		t.Error("the plan repeats them")
	}
	Fill(r, providerTools)
	if text := fmt.Sprint(plantest.AllSteps(r)); strings.Contains(text, "rm -rf") {
		t.Error("Fill keeps them")
	}
}

// Whatever a report holds, a plan is made of it, and lacks no proof that a line needs.
func TestAnyReportHasAPlan(t *testing.T) {
	for seed := range uint64(300) {
		New(reporttest.Random(seed), providerTools)
	}
	New(reporttest.HostileReport(), providerTools)
	for r := range plantest.Lacking(func() *report.Report { return sample("alpha") }) {
		New(r, providerTools)
	}
}
