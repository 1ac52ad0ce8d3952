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

// No line removes a Ghost of a control plane while fewer of the recorded machines are
// known to run than a majority.
func TestGhostsOfAControlPlaneStayWithoutAKnownMajority(t *testing.T) {
	seen := map[bool]int{}
	for _, kind := range []string{"KubeadmControlPlane", "RKE2ControlPlane"} {
		for running := range 4 {
			for off := range 3 {
				for stale := range 3 {
					for unknown := range 3 {
						r := sample("alpha")
						p := &r.Clusters[0].ControlPlane
						living, ghost, gone := p.Machines[0], p.Machines[1], p.Machines[2]
						p.Kind, p.Machines, p.Desired = kind, []report.Machine{ghost}, nil
						p.Counts = report.MachineCounts{Total: running + off + stale + unknown + 1, Healthy: running + off, Stale: stale, Unknown: unknown, Ghost: 1}
						add := func(n int, m report.Machine, change func(*report.Machine)) {
							for i := range n {
								one := m
								one.Name = fmt.Sprintf("m-%d-%d", len(p.Machines), i)
								change(&one)
								p.Machines = append(p.Machines, one)
							}
						}
						add(running, living, func(*report.Machine) {})
						add(off, living, func(m *report.Machine) { m.Warnings = []report.Warning{{Reason: "PoweredOff"}} })
						add(stale, gone, func(*report.Machine) {})
						add(unknown, gone, func(m *report.Machine) { m.Status = code.Unknown })
						Fill(r, providerTools)
						recorded := running + off + stale + unknown
						want := running > 0 && running >= recorded/2+1
						lines := commands(plantest.Find(t, r, code.Ghost, "control-plane").Remediation)
						changesIt := slices.ContainsFunc(lines, func(c string) bool {
							return plantest.Destroys(c) || strings.Contains(c, "member remove") || strings.Contains(c, " drain ") || strings.Contains(c, " delete node")
						})
						if changesIt != want {
							t.Errorf("%s: %d run, %d off, %d Stale, %d Unknown: removed %v, want %v", kind, running, off, stale, unknown, changesIt, want)
						}
						seen[want]++
					}
				}
			}
		}
	}
	if seen[true] < 10 || seen[false] < 10 {
		t.Errorf("%v", seen)
	}
}

// Lines that remove a member, or a VM that may be one, look at etcd themselves.
func TestLinesLookAtEtcdThemselves(t *testing.T) {
	r := sample("alpha")
	Fill(r, providerTools)
	m := plantest.Find(t, r, code.Ghost, "control-plane")
	line := func(piece string) string {
		for _, c := range commands(m.Remediation) {
			if strings.Contains(c, piece) {
				return c
			}
		}
		t.Fatalf("no %s", piece)
		return ""
	}
	silent := `*"endpoint health"*) exit 1 ;;`
	another := plantest.Stops(" runs-on ") + "\n" + plantest.Stops(" is ") + "\n" + plantest.Stops(" not-ready ")
	for _, tt := range []struct {
		name, piece, does string
		cases             []string
		want              bool
	}{
		{"the member goes", "member remove", "member remove filled", nil, true},
		{"a member is silent", "member remove", "member remove", []string{silent}, false},
		{"another cluster", "member remove", "member remove", []string{another}, false},
		{"another member", "member remove", "member remove", []string{plantest.Stops(" member node/alpha-cp filled")}, false},
		{"it has left", "vm.power -off", "vm.power", nil, true},
		{"it is still a member", "vm.power -off", "vm.power", []string{plantest.Stops(" no-member node/alpha-cp")}, false},
		{"a member that stays is silent", "vm.power -off", "vm.power", []string{silent}, false},
		{"the list of another cluster", "vm.power -off", "vm.power", []string{another}, false},
		{"the Node goes", " delete node", "delete node/alpha-cp", nil, true},
		{"the Node of another cluster", " delete node", "delete node", []string{another}, false},
		{"its Node is drained", " drain ", "drain node/alpha-cp", nil, true},
		{"the Node of another cluster is not", " drain ", "drain", []string{another}, false},
	} {
		if o := plantest.Try(t, line(tt.piece), tt.cases...); o.Did(tt.does) != tt.want {
			t.Errorf("%s: %q\n%s", tt.name, o.Calls, o.Printed)
		}
	}
	// The Machine of a Stale one is deleted only while etcd decides.
	m = plantest.Find(t, r, code.Stale, "control-plane")
	for name, c := range map[string]string{"no majority": silent, "etcd of another cluster": another} {
		if o := plantest.Try(t, line(" delete machines."), c); o.Did("delete machines.") {
			t.Errorf("%s: %q", name, o.Calls)
		}
	}
}

// A machine runs whether or not the backup names its Node.
func TestWhatRunsWithoutANodeIsKnownToRun(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	off, second, third := p.Machines[0], p.Machines[3], p.Machines[3]
	off.Warnings, off.Node, third.Node = []report.Warning{{Reason: "PoweredOff"}}, "", ""
	third.Instance = plantest.VSphereVM("third", plantest.StaleID, 11)
	p.Machines, p.Counts = []report.Machine{off, second, third, p.Machines[1]}, report.MachineCounts{Total: 4, Healthy: 3, Ghost: 1}
	if text := planText(New(r, providerTools)); strings.Contains(text, "No machine of its control plane is known to run") || strings.Contains(text, "none of the backup is known to run") || strings.Contains(text, "No control-plane") {
		t.Error("2 of 3 run, and it says that none does")
	}
	Fill(r, providerTools)
	text := fmt.Sprint(plantest.Find(t, r, code.Ghost, "control-plane").Remediation)
	if !strings.Contains(text, "Machine alpha runs, and the backup does not name its Node: ETCD_POD has to name") || !strings.Contains(text, "vm.destroy") {
		t.Error(text)
	}
}

// While no machine of a control plane is known to run, none of its Machines is
// deleted: the members that would go with it may be the only ones alive.
func TestStaleMachinesStayWhileNoneIsKnownToRun(t *testing.T) {
	r := sample("alpha")
	g := plantest.Group(r)
	worker := *plantest.Find(t, r, code.Healthy, "control-plane")
	worker.Role, worker.Instance = "worker", plantest.VSphereVM("worker", "66666666-6666-6666-6666-666666666666", 12)
	g.Machines = append(g.Machines, worker)
	p := &r.Clusters[0].ControlPlane
	for i := range p.Machines {
		if p.Machines[i].Status == code.Healthy {
			p.Machines[i].Warnings = []report.Warning{{Reason: "PoweredOff"}}
		}
	}
	steps := stepsOf(t, r, code.Stale, "control-plane")
	if text := fmt.Sprint(steps); slices.ContainsFunc(commands(steps), deletesMachine) || !strings.Contains(text, "Delete none of its Machines") {
		t.Error(text)
	}
}
