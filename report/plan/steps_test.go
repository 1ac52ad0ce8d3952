package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// inOrder demands that lines holding these pieces come one after the other.
func inOrder(t *testing.T, lines []string, pieces ...string) {
	t.Helper()
	at := 0
	for _, p := range pieces {
		i := slices.IndexFunc(lines[at:], func(l string) bool { return strings.Contains(l, p) })
		if i < 0 {
			t.Errorf("%q is missing after line %d of\n%s", p, at, strings.Join(lines, "\n"))
			return
		}
		at += i + 1
	}
}

func stepsOf(t *testing.T, r *report.Report, status code.Status, role report.Role) []report.Step {
	t.Helper()
	Fill(r, providerTools)
	return plantest.Find(t, r, status, role).Remediation
}

func TestGhostWorkerIsDrainedBeforeItsDisksAreSavedBeforeItIsDeleted(t *testing.T) {
	r := sample("alpha")
	plantest.Group(r).Counts, plantest.Group(r).Desired = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}, plantest.Number(4)
	inOrder(t, commands(stepsOf(t, r, code.Ghost, "worker")),
		"scale machinedeployments.cluster.x-k8s.io/alpha --current-replicas=4 --replicas=6", "drain node/alpha", "get volumeattachments", "device.info", "device.remove -vm VirtualMachine:vm-3 -keep",
		"delete node/alpha", "vm.power -off", "vm.destroy VirtualMachine:vm-3")
}

func TestOwnerThatWantsWhatRunsIsNotScaled(t *testing.T) {
	r := sample("alpha")
	plantest.Group(r).Counts, plantest.Group(r).Desired = report.MachineCounts{Total: 4, Healthy: 3, Ghost: 1}, plantest.Number(4)
	if text := strings.Join(commands(stepsOf(t, r, code.Ghost, "worker")), "\n"); strings.Contains(text, " scale ") {
		t.Errorf("%s", text)
	}
}

func TestGhostControlPlaneLeavesEtcdBetweenTwoLooksAtTheQuorum(t *testing.T) {
	steps := stepsOf(t, sample("alpha"), code.Ghost, "control-plane")
	inOrder(t, commands(steps),
		"snapshot save", "member list", "endpoint health", "MEMBER_ID=''", `member remove "${MEMBER_ID:?}"`, "member list", "endpoint health",
		"drain node/alpha-cp", "device.remove", "delete node/alpha-cp", "vm.power -off", "vm.destroy", "member list", "endpoint health")
	if i := slices.IndexFunc(steps, func(s report.Step) bool { return strings.Contains(s.Text, "load balancer") }); i < 0 || !slices.ContainsFunc(steps[i:], func(s report.Step) bool { return strings.Contains(s.Text, "Drain") }) {
		t.Error("it is not taken out of the load balancer before it is drained")
	}
	if steps[1].When != report.BeforeRestore || !strings.Contains(fmt.Sprint(steps[1].Commands), "snapshot save") || steps[2].When != report.BeforeRestore || steps[3].When != report.AfterRestore {
		t.Error("the snapshot is not taken before the restore, or the rest not after it")
	}
}

func TestGhostControlPlaneOfAWSLeavesItsLoadBalancer(t *testing.T) {
	r := sample("alpha")
	c := &r.Clusters[1]
	m := c.Workers.Groups[0].Machines[0]
	m.Role = "control-plane"
	living := c.Workers.Groups[0].Machines[2]
	living.Role, living.Node = "control-plane", ""
	c.ControlPlane = report.ControlPlane{Kind: "KubeadmControlPlane", Name: "alpha", Applicable: true, Counts: report.MachineCounts{Total: 2, Healthy: 1, Ghost: 1}, Machines: []report.Machine{m, living}}
	c.APILoadBalancers = []report.LoadBalancer{{Name: "alpha-apiserver"}}
	c.Workers.Groups = nil
	Fill(r, providerTools)
	inOrder(t, commands(c.ControlPlane.Machines[0].Remediation),
		`pod/"${ETCD_POD:?}"`, "NODE=''", "member remove", "elb deregister-instances-from-load-balancer", `drain "node/${NODE:?}"`,
		"describe-volumes", "detach-volume", `delete "node/${NODE:?}"`, "describe-auto-scaling-instances", "stop-instances", "terminate-instances")
}

func TestEtcdIsAskedOnALivingNodeAlone(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	slices.Reverse(p.Machines) // the one whose Node is not known first, then the Stale one
	p.Machines[3].Node = "living"
	for _, c := range commands(stepsOf(t, r, code.Stale, "control-plane")) {
		if strings.Contains(c, "etcdctl") && !strings.Contains(c, "exec pod/etcd-living -- ") {
			t.Errorf("%s", c)
		}
	}
	p.Machines = p.Machines[1:3] // as with --ignore-healthy-resources
	steps := stepsOf(t, r, code.Stale, "control-plane")
	inOrder(t, commands(steps), `exec pod/"${ETCD_POD:?}" -- etcdctl`)
	if text := steps[0].Text; !strings.Contains(text, "leaves out 2 control-plane machines that it counts as Healthy: ETCD_POD has to name") || strings.Contains(text, "known to run") {
		t.Error(text)
	}
	// By what is left out the cluster could be known.
	steps = stepsOf(t, r, code.Ghost, "control-plane")
	if slices.ContainsFunc(commands(steps), plantest.Destroys) || !strings.Contains(steps[0].Text, "without --ignore-healthy-resources") {
		t.Errorf("%+v", steps)
	}
	p.Counts.Healthy = 0
	if text := stepsOf(t, r, code.Stale, "control-plane")[0].Text; !strings.Contains(text, "No control-plane machine of the backup is known to run") {
		t.Error(text)
	}
}

// On a Node that is powered off runs no etcd.
func TestEtcdIsNotAskedOnANodeThatIsOff(t *testing.T) {
	off := []report.Warning{{Reason: "PoweredOff"}}
	for _, status := range []code.Status{code.Stale, code.Ghost} {
		r := sample("alpha")
		p := &r.Clusters[0].ControlPlane
		first := plantest.Find(t, r, code.Healthy, "control-plane")
		first.Warnings, first.Node = off, "off"
		p.Machines[3].Node = "living"
		p.Machines, p.Counts.Healthy = append(p.Machines, p.Machines[3], p.Machines[3]), 4
		steps := stepsOf(t, r, status, "control-plane")
		if text := fmt.Sprint(steps); strings.Contains(text, "etcd-off") || !strings.Contains(text, "exec pod/etcd-living -- ") || strings.Contains(text, "does not run") {
			t.Errorf("%s: %s", status, text)
		}
		p.Machines, p.Counts.Healthy = p.Machines[:3], 1
		steps = stepsOf(t, r, status, "control-plane")
		if text := fmt.Sprint(steps); strings.Contains(text, "etcd-off") || slices.ContainsFunc(commands(steps), func(c string) bool { return plantest.Destroys(c) || deletesMachine(c) }) {
			t.Errorf("%s, none runs: %s", status, text)
		}
		if text := fmt.Sprint(New(r, providerTools).Sections[2].Chapters[0].Steps); !strings.Contains(text, "Machine alpha does not run, and no other of the backup is known to: ETCD_POD has to name") {
			t.Errorf("it is not said before the cluster is unpaused: %s", text)
		}
	}
}

func TestExternalEtcdIsLeftAlone(t *testing.T) {
	r := sample("alpha")
	r.Clusters[0].ControlPlane.Forecast = &report.ControlPlaneForecast{Etcd: &report.Etcd{Quorum: "NotApplicable"}}
	for _, status := range []code.Status{code.Ghost, code.Stale} {
		if text := strings.Join(commands(stepsOf(t, r, status, "control-plane")), "\n"); strings.Contains(text, "etcdctl") || text == "" {
			t.Errorf("%s: %s", status, text)
		}
	}
}

func TestStaleControlPlaneIsDeletedBetweenTwoLooksAtTheQuorum(t *testing.T) {
	inOrder(t, commands(stepsOf(t, sample("alpha"), code.Stale, "control-plane")),
		"snapshot save", "member list", "endpoint health", "delete machines.cluster.x-k8s.io/alpha-cp", "member list", "endpoint health")
}

func TestStaleControlPlaneWithoutAnyLivingOneIsNotDeleted(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	p.Machines, p.Counts = p.Machines[2:3], report.MachineCounts{Total: 1, Stale: 1}
	Fill(r, providerTools)
	for _, m := range []*report.Machine{&p.Machines[0], plantest.Find(t, r, code.Stale, "worker")} {
		if c := commands(m.Remediation); len(c) > 0 {
			t.Errorf("commands for a dead cluster: %q", c)
		}
		if m.Remediation[0].When != report.BeforeRestore {
			t.Error("what becomes of a dead cluster is not decided before the restore")
		}
	}
}

func TestWhoReplacesAStaleWorkerIsTheForecastsWord(t *testing.T) {
	for outcome, want := range map[string]struct {
		who    string
		delete bool
	}{
		"ReplacedByMachineHealthCheck": {report.Controller, false},
		"NewInstanceCreated":           {report.Controller, false},
		"NewInstanceNeverJoins":        {report.Controller, true},
		"OtherInstanceTaken":           {report.Operator, false},
		"CannotKnow":                   {report.Operator, false},
		"Stuck":                        {report.Operator, true},
		"StuckNodeLeft":                {report.Operator, true},
		"UntouchedPaused":              {report.Operator, true},
		"":                             {report.Operator, true},
	} {
		r := sample("alpha")
		plantest.Find(t, r, code.Stale, "worker").Forecast = &report.MachineForecast{Outcome: code.Outcome(outcome)}
		steps := stepsOf(t, r, code.Stale, "worker")
		if steps[0].Who != want.who {
			t.Errorf("%q: %s, want %s", outcome, steps[0].Who, want.who)
		}
		if got := strings.Contains(strings.Join(commands(steps), "\n"), " delete machines."); got != want.delete {
			t.Errorf("%q: deletes the Machine: %v, want %v", outcome, got, want.delete)
		}
	}
}

// scaledDown returns a report with a group of which so many are Healthy and Stale.
func scaledDown(t *testing.T, healthy, stale int, desired int64) (*report.Report, *report.Group) {
	t.Helper()
	r := sample("alpha")
	g := plantest.Group(r)
	one := *plantest.Find(t, r, code.Stale, "worker")
	g.Machines, g.Desired = nil, plantest.Number(desired)
	g.Counts = report.MachineCounts{Total: healthy + stale, Healthy: healthy, Stale: stale}
	for i := range stale {
		m := one
		m.Name = fmt.Sprintf("stale-%d", i+1)
		g.Machines = append(g.Machines, m)
	}
	return r, g
}

// scaling returns the line that scales a Stale machine away, "" without one.
func scaling(m *report.Machine) string {
	for _, c := range commands(m.Remediation) {
		if fewer.MatchString(c) {
			return c
		}
	}
	return ""
}

func TestGroupThatWasScaledDownIsScaledOneByOneAndMarkedFirst(t *testing.T) {
	r, g := scaledDown(t, 1, 2, 3)
	Fill(r, providerTools)
	for i, want := range []string{"--current-replicas=3 --replicas=2", "--current-replicas=2 --replicas=1"} {
		m := &g.Machines[i]
		line := scaling(m)
		if looked := fmt.Sprintf(`--output=jsonpath={.spec.replicas}')" = %d `, 3-i); !strings.Contains(strings.ReplaceAll(line, "'", ""), strings.ReplaceAll(looked, "'", "")) || strings.Index(line, "spec.replicas") > strings.Index(line, "delete-machine=yes") {
			t.Errorf("the replicas are not looked at before the mark: %s", line)
		}
		pieces := strings.Split(line, " && ")
		last := len(pieces) - 1
		if last != 5 || unproven(line) != "" || !strings.Contains(pieces[last-1], "annotate machines.cluster.x-k8s.io/"+m.Name+" --overwrite cluster.x-k8s.io/delete-machine=yes") ||
			!strings.Contains(pieces[last-3], " restored machinedeployments.cluster.x-k8s.io/") || !strings.Contains(pieces[last], want) {
			t.Errorf("search, mark and scale are not one command: %s", line)
		}
		inOrder(t, commands(m.Remediation), want, "delete machines")
	}
}

// Living machines are never scaled away, nor is what others have replaced, or
// what may still be found.
func TestOnlyStaleMachinesAreScaledAway(t *testing.T) {
	for name, tt := range map[string]struct {
		healthy, stale int
		desired        int64
		change         func(*report.Group)
		want           string // of the last machine
	}{
		"the last replica":       {1, 2, 3, func(*report.Group) {}, "--replicas=1"},
		"more Stale than wanted": {2, 3, 4, func(*report.Group) {}, ""},
		"as many run as wanted":  {3, 1, 3, func(*report.Group) {}, ""},
		"nothing runs":           {0, 2, 2, func(*report.Group) {}, ""},
		"a Ghost in its place":   {1, 1, 2, func(g *report.Group) { g.Counts.Ghost = 1 }, ""},
		"one is Unknown":         {1, 1, 2, func(g *report.Group) { g.Counts.Unknown = 1 }, ""},
		"no number is known":     {1, 1, 2, func(g *report.Group) { g.Desired = nil }, ""},
		"an autoscaler":          {1, 1, 2, func(g *report.Group) { g.Forecast = &report.GroupForecast{ManagedBy: "an autoscaler"} }, ""},
		"another kind":           {1, 1, 2, func(g *report.Group) { g.Kind = "Other" }, ""},
		"its id is not known":    {1, 1, 2, func(g *report.Group) { g.Machines[0].ProviderID = "" }, ""},
		"one before is ignored":  {1, 2, 3, func(g *report.Group) { g.Machines[0].Ignored = &report.Ignored{} }, "--current-replicas=3 --replicas=2"},
		"one before is replaced": {1, 2, 3, func(g *report.Group) {
			g.Machines[0].Forecast = &report.MachineForecast{Outcome: "ReplacedByMachineHealthCheck"}
		}, "--current-replicas=3 --replicas=2"},
	} {
		r, g := scaledDown(t, tt.healthy, tt.stale, tt.desired)
		tt.change(g)
		Fill(r, providerTools)
		line := scaling(&g.Machines[tt.stale-1])
		if !strings.Contains(line, tt.want) || (line == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, line, tt.want)
		}
	}
}

// The topology controller takes a change of a MachineDeployment back.
func TestGroupOfAClusterClassIsScaledAtItsCluster(t *testing.T) {
	const test = `{"op":"test","path":"/spec/topology/workers/machineDeployments/'"${INDEX:?}"'/`
	down, g := scaledDown(t, 1, 1, 2)
	g.Topology = "md-0"
	Fill(down, providerTools)
	up := sample("alpha")
	h := plantest.Group(up)
	h.Topology, h.Counts, h.Desired = "md-0", report.MachineCounts{Total: 3, Healthy: 1, Ghost: 2}, plantest.Number(2)
	Fill(up, providerTools)
	for want, steps := range map[int][]report.Step{1: g.Machines[0].Remediation, 3: plantest.Find(t, up, code.Ghost, "worker").Remediation} {
		lines := commands(steps)
		inOrder(t, lines, "get clusters.cluster.x-k8s.io/alpha", "INDEX='' # the number before md-0",
			"patch clusters.cluster.x-k8s.io/alpha --type=json --patch='["+test+`name","value":"md-0"},`+test+`replicas","value":2},`+
				`{"op":"replace","path":"/spec/topology/workers/machineDeployments/'"${INDEX:?}"'/replicas","value":`+fmt.Sprint(want)+`}]'`)
		if strings.Contains(strings.Join(lines, "\n"), " scale ") {
			t.Errorf("the MachineDeployment itself is scaled: %q", lines)
		}
		if want == 1 && !strings.Contains(strings.Join(lines, "\n"), ` gone machine/`) {
			t.Errorf("nothing looks for its VM first: %q", lines)
		}
	}
}

// A shell makes of the patch what the API server reads.
func TestTopologyPatchIsJSON(t *testing.T) {
	for _, name := range shelltest.Hostile {
		line := shell.Line("printf", "%s", topologyPatch(name, 3, 2))
		if line.Refused() != "" {
			t.Errorf("%q is refused", name)
			continue
		}
		out, err := exec.Command("sh", "-c", "INDEX=7; "+line.Text()).Output()
		if err != nil {
			t.Fatal(err)
		}
		var ops []struct {
			Op, Path string
			Value    any
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(out), "--patch=")), &ops); err != nil {
			t.Errorf("%q: %v in %s", name, err, out)
			continue
		}
		const at = "/spec/topology/workers/machineDeployments/7/"
		if len(ops) != 3 || ops[0].Value != name || ops[0].Op+ops[0].Path != "test"+at+"name" || ops[1].Op+ops[1].Path != "test"+at+"replicas" ||
			ops[1].Value != 3.0 || ops[2].Op+ops[2].Path != "replace"+at+"replicas" || ops[2].Value != 2.0 {
			t.Errorf("%q: %+v", name, ops)
		}
	}
}

// A majority that is not there is no majority: with as many gone as alive, nothing
// is deleted before etcd was looked at as a whole.
func TestControlPlaneWithoutAMajorityIsRecoveredFirst(t *testing.T) {
	for _, tt := range []struct {
		healthy, stale int
		recover        bool
	}{{2, 1, false}, {1, 1, true}, {1, 2, true}} {
		r := sample("alpha")
		r.Clusters[0].ControlPlane.Counts = report.MachineCounts{Total: tt.healthy + tt.stale, Healthy: tt.healthy, Stale: tt.stale}
		text := fmt.Sprint(stepsOf(t, r, code.Stale, "control-plane"))
		if got := strings.Contains(text, "Delete nothing before etcd has a majority"); got != tt.recover {
			t.Errorf("%d exist, %d are gone: says to recover: %v", tt.healthy, tt.stale, got)
		}
	}
}

// What is powered off exists, and does not run.
func TestCapacityCountsWhatExists(t *testing.T) {
	r := sample("alpha")
	plantest.Group(r).Counts, plantest.Group(r).Desired = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}, plantest.Number(4)
	if text := stepsOf(t, r, code.Ghost, "worker")[0].Text; text != capacityFirst+atTheTopology(&set{}) {
		t.Error(text)
	}
}

func TestReplicasOfAnAutoscalerAreNotScaled(t *testing.T) {
	r := sample("alpha")
	g := plantest.Group(r)
	g.Counts, g.Desired = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}, plantest.Number(4)
	g.Forecast = &report.GroupForecast{ManagedBy: "an autoscaler"}
	steps := stepsOf(t, r, code.Ghost, "worker")
	if !strings.Contains(steps[0].Text, "an autoscaler") || strings.Contains(strings.Join(commands(steps), "\n"), " scale ") {
		t.Errorf("%+v", steps[0])
	}
}

func TestDuplicateIDWarnsBeforeTheRestoreAndAfterIt(t *testing.T) {
	r := sample("alpha")
	m := plantest.Find(t, r, code.Healthy, "control-plane")
	m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*plantest.VSphereVM("copy", plantest.LivingID, 9)}
	steps := stepsOf(t, r, code.Healthy, "control-plane")
	if len(steps) != 3 || steps[0].When != report.BeforeRestore || steps[2].When != report.AfterRestore {
		t.Fatalf("%+v", steps)
	}
	inOrder(t, steps[0].Commands, "object.collect VirtualMachine:vm-1 ", "object.collect VirtualMachine:vm-9 ")
}

// changes returns the only line that gives a VM another id, "" without one.
func changes(t *testing.T, steps []report.Step) string {
	t.Helper()
	line := ""
	for _, c := range commands(steps) {
		if strings.Contains(c, "vm.change") {
			if line != "" {
				t.Errorf("two lines change an id: %s\n%s", line, c)
			}
			line = c
		}
	}
	return line
}

// The copy gets another id, never the machine itself, and never while it runs.
func TestCopyGetsAnotherID(t *testing.T) {
	is := func(id, ref, state string) string {
		return `drift-detector recheck "${REPORT:?}" vm ` + id + ` ` + ref + ` --state=` + state + ` --at "${VCENTER_1:?}"`
	}
	want := func(ref, id, become string) string {
		return is(id, ref, "off") + ` && GOVC_URL="${VCENTER_1:?}" govc vm.change -vm VirtualMachine:` + ref + ` -uuid ` + become
	}
	r := sample("alpha")
	m := plantest.Find(t, r, code.Healthy, "control-plane")
	m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*plantest.VSphereVM("copy", plantest.LivingID, 9)}
	Fill(r, providerTools)
	if got := changes(t, m.Remediation); got != is(plantest.LivingID, "vm-1", "on")+` && `+want("vm-9", plantest.LivingID, `"${NEW_UUID:?}"`) {
		t.Errorf("%s", got)
	}

	changed := *plantest.Find(t, r, code.Unknown, "worker")
	other := changed.Instance.ID
	for name, tt := range map[string]struct {
		change func(m *report.Machine)
		want   string
	}{
		"alone":          {func(*report.Machine) {}, `drift-detector recheck "${REPORT:?}" free ` + plantest.StaleID + ` --at "${VCENTER_1:?}" && ` + want("vm-4", other, plantest.StaleID)},
		"id is taken":    {func(m *report.Machine) { m.ProviderID = "vsphere://" + plantest.LivingID }, ""},
		"id is no id":    {func(m *report.Machine) { m.ProviderID = "vsphere://x" }, ""},
		"two candidates": {func(m *report.Machine) { m.Others = append(m.Others, m.Others[0]) }, ""},
		"another reason": {func(m *report.Machine) { m.Reason = "AmbiguousMatch" }, ""},
	} {
		r := sample("alpha")
		m := plantest.Find(t, r, code.Unknown, "worker")
		m.Reason, m.ProviderID, m.Others, m.Instance = "IdentityChanged", "vsphere://"+plantest.StaleID, []report.Instance{*m.Instance}, nil
		tt.change(m)
		Fill(r, providerTools)
		if got := changes(t, m.Remediation); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// What to do about a copy is said with the machine, unless that has no steps or
// does not name the copy.
func TestCopyIsDealtWithOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Machine)
		there  bool
	}{
		"named":         {func(*report.Machine) {}, true},
		"another VM":    {func(m *report.Machine) { m.Others[0].Ref = "vm-10" }, false},
		"another place": {func(m *report.Machine) { m.Others[0].Scope = "vsphere elsewhere.example" }, false},
		"ignored":       {func(m *report.Machine) { m.Ignored = &report.Ignored{} }, false},
		"no warning":    {func(m *report.Machine) { m.Warnings = nil }, false},
	} {
		r := sample("alpha")
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*plantest.VSphereVM("copy", plantest.LivingID, 9)}
		infra := &r.InfraMachines[0]
		infra.Instance, infra.Reason = m.Others[0], "DuplicateID"
		tt.change(m)
		Fill(r, providerTools)
		want := 3 // a look, and what its owner says
		if tt.there {
			want = 0
		}
		if got := commands(infra.Remediation); len(got) != want {
			t.Errorf("%s: %q", name, got)
		}
		if got := infra.Remediation[0].Text; strings.Contains(got, "machine alpha of cluster alpha/alpha. See there") != tt.there {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Which of two VMs is the machine is only known where a second key tells.
func TestNoIDIsChangedWhereItIsNotKnownWhichIsTheCopy(t *testing.T) {
	r := sample("alpha")
	m := plantest.Find(t, r, code.Unknown, "worker")
	m.Reason, m.Warnings = "AmbiguousMatch", []report.Warning{{Reason: "DuplicateID"}}
	m.Others = []report.Instance{*plantest.VSphereVM("copy", m.Instance.ID, 9)}
	if got := changes(t, stepsOf(t, r, code.Unknown, "worker")); got != "" {
		t.Error(got)
	}
}

func TestSnapshotLeavesItsNodeWhole(t *testing.T) {
	for _, status := range []code.Status{code.Stale, code.Ghost} {
		r := sample("alpha")
		inOrder(t, commands(stepsOf(t, r, status, "control-plane")), "snapshot save /var/lib/etcd/before-restore.db", "debug node/alpha --image=busybox -- sleep 3600", "DEBUG_POD=''",
			`COPY=etcd-ALPHA_ALPHA"$(date`, `exec "pod/${DEBUG_POD:?}" -- cat /host/var/lib/etcd/before-restore.db >"${COPY:?}")`, `= "$(cksum <"${COPY:?}")" || { echo 'stop: the copy is partial.`, `delete "pod/${DEBUG_POD:?}"`)
		plantest.Find(t, r, code.Healthy, "control-plane").Node = ""
		inOrder(t, commands(stepsOf(t, r, status, "control-plane")), `exec pod/"${ETCD_POD:?}" -- etcdctl`, `debug "node/${ETCD_POD#etcd-}"`)
	}
}

// It holds every Secret of the cluster: nobody else may read the copy, and both
// files are to go.
func TestSnapshotIsReadByNobodyElse(t *testing.T) {
	r := sample("alpha")
	copied := 0
	for _, s := range stepsOf(t, r, code.Stale, "control-plane") {
		for _, c := range s.Commands {
			if !strings.Contains(c, `>"${COPY:?}"`) {
				continue
			}
			copied++
			if !strings.Contains(s.Text, "It holds the cluster's Secrets") || !strings.Contains(s.Text, "remove it, and /var/lib/etcd/before-restore.db on the Node") {
				t.Error(s.Text)
			}
			bin := plantest.Install(t, "#!/bin/sh\necho secret\n")
			cmd := exec.Command("sh", "-c", "umask 022; COPY=copy.db; CTX_ALPHA_ALPHA=x; DEBUG_POD=x; "+c+"; umask")
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "0022" {
				t.Errorf("%v: %s", err, out)
			}
			info, err := os.Stat(filepath.Join(cmd.Dir, "copy.db"))
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
				t.Errorf("%v: %v", err, info)
			}
		}
	}
	if copied != 1 {
		t.Errorf("%d lines copy it", copied)
	}
}

func TestInstanceLeavesItsAutoScalingGroup(t *testing.T) {
	r := sample("alpha")
	Fill(r, providerTools)
	inOrder(t, commands(r.Clusters[1].Workers.Groups[0].Machines[0].Remediation), "autoscaling describe-auto-scaling-instances", "GROUP=''",
		"vm "+plantest.EC2ID+" --at \"${AWS_1:?}\" --region=us-east-1 && aws --profile \"${AWS_1:?}\" --region=us-east-1 autoscaling detach-instances --instance-ids="+plantest.EC2ID+" --auto-scaling-group-name \"${GROUP:?}\" --should-decrement-desired-capacity", "stop-instances")
}

// foretold gives a machine a forecast, if any, and its VM a state.
func forecastOf(outcome, state string) func(*report.Report, *report.Machine) {
	return func(_ *report.Report, m *report.Machine) {
		m.Instance.State = state
		if outcome != "" {
			m.Forecast = &report.MachineForecast{Outcome: code.Outcome(outcome)}
		}
	}
}

// What CAPV does not start, or not in time, has a line that does.
func TestPoweredOffIsStarted(t *testing.T) {
	start := func(c string) bool {
		return strings.Contains(c, "vm.power -on VirtualMachine:vm-1") || strings.Contains(c, "ec2 start-instances --instance-ids="+plantest.EC2ID)
	}
	for name, tt := range map[string]struct {
		change func(*report.Report, *report.Machine)
		starts string // when, "" for never
	}{
		"by CAPV":         {func(*report.Report, *report.Machine) {}, ""},
		"of a paused one": {func(r *report.Report, _ *report.Machine) { r.Clusters[0].Paused = true }, report.AfterRestore},
		"two have its id": {func(r *report.Report, m *report.Machine) {
			r.Clusters[0].Paused = true
			r.InfraMachines[0].Instance.ID = m.Instance.ID
		}, ""},
		"the last of etcd": {func(r *report.Report, _ *report.Machine) {
			p := &r.Clusters[0].ControlPlane
			p.Machines, p.Counts.Healthy = p.Machines[:3], 1
		}, report.BeforeRestore},
		"others are left out": {func(r *report.Report, _ *report.Machine) {
			p := &r.Clusters[0].ControlPlane
			p.Machines, p.Counts.Healthy = p.Machines[:3], 3
		}, ""},
		"as foreseen":                   {forecastOf("AdoptedPoweredOn", "poweredOff"), ""},
		"paused alone":                  {forecastOf("UntouchedPaused", "poweredOff"), report.AfterRestore},
		"suspended":                     {forecastOf("Stuck", "suspended"), report.AfterRestore},
		"suspended, without a forecast": {forecastOf("", "suspended"), report.AfterRestore},
		"an orphan":                     {forecastOf("GhostKeepsRunning", "poweredOff"), report.AfterRestore},
		"to be replaced":                {forecastOf("ReplacedByMachineHealthCheck", "suspended"), report.BeforeRestore},
		"of AWS": {func(r *report.Report, m *report.Machine) {
			r.Clusters[0].Provider, m.Instance = "aws", r.Clusters[1].Workers.Groups[0].Machines[0].Instance
			r.Clusters[1].Workers.Groups[0].Machines = nil
		}, report.BeforeRestore},
	} {
		r := sample("alpha")
		p := &r.Clusters[0].ControlPlane
		second := *plantest.Find(t, r, code.Healthy, "control-plane")
		second.Instance = plantest.VSphereVM("second", plantest.CopyID, 9)
		p.Machines = append(p.Machines, second)
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings = []report.Warning{{Reason: "PoweredOff"}}
		tt.change(r, m)
		Fill(r, providerTools)
		got := ""
		for _, s := range m.Remediation {
			if i := slices.IndexFunc(s.Commands, start); i >= 0 {
				got = s.When
				if !strings.Contains(s.Commands[i], `recheck "${REPORT:?}" vm `) {
					t.Errorf("%s: it does not compare the id first: %s", name, s.Commands[i])
				}
			}
		}
		if got != tt.starts {
			t.Errorf("%s: started %q, want %q", name, got, tt.starts)
		}
	}
}

// That the controllers power a VM on is said where the forecast says it, and
// counted where it is said.
func TestPowerOnIsLeftToControllersOnlyAsForeseen(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report, *report.Machine)
		who    string // acts
	}{
		"as foreseen":                      {forecastOf("AdoptedPoweredOn", "poweredOff"), "controllers"},
		"without a forecast":               {forecastOf("", "poweredOff"), "controllers"},
		"suspended":                        {forecastOf("Stuck", "suspended"), "you, after"},
		"suspended, without a forecast":    {forecastOf("", "suspended"), "you, after"},
		"paused by itself":                 {forecastOf("UntouchedPaused", "poweredOff"), "you, after"},
		"nobody knows":                     {forecastOf("CannotKnow", "poweredOff"), "you, before"},
		"not adopted":                      {forecastOf("GhostKeepsRunning", "poweredOff"), "you, after"},
		"in a paused one without forecast": {func(r *report.Report, _ *report.Machine) { r.Clusters[0].Paused = true }, "you, after"},
	} {
		r := sample("alpha")
		c := &r.Clusters[0]
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings = []report.Warning{{Reason: "PoweredOff"}}
		tt.change(r, m)
		c.ControlPlane.Kind, c.ControlPlane.Machines, c.Workers.Groups = "", []report.Machine{*m}, nil
		r.Clusters, r.InfraMachines = r.Clusters[:1], nil
		text := planText(New(r, providerTools))
		if left := tt.who == "controllers"; strings.Contains(text, "powers its VM on as soon as it is adopted") != left {
			t.Errorf("%s: says that CAPV powers it on: %v", name, !left)
		}
		want := map[string]string{
			"you, before": "1 finding needs you before the restore, 0 after; controllers fix 0",
			"you, after":  "0 findings need you before the restore, 1 after; controllers fix 0",
			"controllers": "0 findings need you before the restore, 0 after; controllers fix 1",
		}[tt.who]
		if !strings.Contains(text, want) {
			t.Errorf("%s: it does not say %q", name, want)
		}
	}
}

func TestEveryReasonHasWordsOfItsOwn(t *testing.T) {
	for _, row := range code.Table {
		reason := row.Code
		if !row.Is(code.OfUnknown) || row.Plan == "" {
			continue
		}
		r := sample("alpha")
		plantest.Find(t, r, code.Unknown, "worker").Reason = reason
		s := stepsOf(t, r, code.Unknown, "worker")
		want := cmp.Or(newPlanner(r, providerTools).remedy("vsphere", reason), row.Plan)
		if len(s) != 1 || s[0].Text != want || s[0].When != report.BeforeRestore {
			t.Errorf("%s: %+v", reason, s)
		}
	}
	r := sample("alpha")
	plantest.Find(t, r, code.Unknown, "worker").Reason = "OfALaterRelease"
	if s := stepsOf(t, r, code.Unknown, "worker"); len(s) != 1 || !strings.Contains(s[0].Text, "could not be decided") {
		t.Errorf("an unknown reason: %+v", s)
	}
}

// What can be done to a VM of vSphere alone is not said of an instance of AWS, nor in the
// words for all providers.
func TestWordsOfVSphereAreSaidOfVSphereAlone(t *testing.T) {
	pl := newPlanner(sample("alpha"), providerTools)
	foreign := func(text string) bool {
		return slices.ContainsFunc([]string{"BIOS", "vCenter", "datacenter", "datastore", "power the", "inventory"}, func(word string) bool { return strings.Contains(text, word) })
	}
	if !foreign(pl.remedy("vsphere", code.AmbiguousMatch)) {
		t.Error("vSphere has no words of its own")
	}
	for _, row := range code.Table {
		if reason, text := row.Code, row.Plan+row.Confirm; foreign(text) || foreign(pl.remedy("aws", reason)) {
			t.Errorf("%s: %s %s", reason, text, pl.remedy("aws", reason))
		}
	}
	for _, reason := range []code.Reason{code.DuplicateID, code.IdentityChanged, code.FoundElsewhere, code.AmbiguousMatch, code.InstanceUnreadable} {
		if pl.remedy("aws", reason) == "" || foreign(code.Of(reason).Confirm) {
			t.Errorf("%s: %s", reason, code.Of(reason).Confirm)
		}
	}
}

func TestWarningsOfHealthyMachines(t *testing.T) {
	for _, tt := range []struct{ reason, provider, outcome, want, who string }{
		{"Reidentified", "vsphere", "", "both second ids differ", report.Operator},
		{"MachineMissing", "vsphere", "OrphanedAndReplaced", "creates a new one", report.Controller},
		{"MachineMissing", "vsphere", "GhostKeepsRunning", "may be a member of etcd", report.Operator},
		{"PoweredOff", "vsphere", "AdoptedPoweredOn", "powers its VM on", report.Controller},
		{"PoweredOff", "vsphere", "CannotKnow", "Start it before the restore", report.Operator},
		{"PoweredOff", "aws", "Adopted", "Start it", report.Operator},
	} {
		r := sample("alpha")
		r.Clusters[0].Provider = tt.provider
		second := *plantest.Find(t, r, code.Healthy, "control-plane")
		r.Clusters[0].ControlPlane.Machines = append(r.Clusters[0].ControlPlane.Machines, second)
		m := plantest.Find(t, r, code.Healthy, "control-plane")
		m.Warnings, m.Forecast = []report.Warning{{Reason: code.Reason(tt.reason)}}, &report.MachineForecast{Outcome: code.Outcome(tt.outcome)}
		s := stepsOf(t, r, code.Healthy, "control-plane")
		if len(s) == 0 || !strings.Contains(s[0].Text, tt.want) || s[0].Who != tt.who {
			t.Errorf("%s of %s: %+v", tt.reason, tt.provider, s)
		}
	}
	for as, want := range map[string]string{"": "--as leave --by", "leave": "do not delete what was restored of it"} { // of a worker whose Machine is missing
		r := sample("alpha")
		g := plantest.Group(r)
		g.Machines = append(g.Machines, report.Machine{
			Namespace: "alpha", Name: "w-9", Status: code.Healthy, Instance: plantest.VSphereVM("w-9", "42", 9),
			Warnings: []report.Warning{{Reason: code.MachineMissing}}, Forecast: &report.MachineForecast{Outcome: code.OrphanedAndReplaced},
		})
		if as != "" {
			g.Machines[len(g.Machines)-1].Confirmed = &report.Confirmed{As: as, By: "x", On: "2026-11-25"}
		}
		pl := newPlanner(r, providerTools)
		pl.plan()
		s := plain(pl.steps[&g.Machines[len(g.Machines)-1]])
		if len(s) == 0 || !strings.Contains(s[0].Text+strings.Join(s[0].Commands, " "), want) || as != "" && len(s) > 1 {
			t.Errorf("left %q: %+v", as, s)
		}
	}
	if s := stepsOf(t, sample("alpha"), code.Healthy, "control-plane"); len(s) > 0 {
		t.Errorf("steps for a healthy machine: %+v", s)
	}
}
