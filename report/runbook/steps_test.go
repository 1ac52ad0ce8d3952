package runbook

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
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

func stepsOf(t *testing.T, r *report.Report, status, role string) []report.Step {
	t.Helper()
	Fill(r)
	return find(t, r, status, role).Remediation
}

func TestGhostWorkerIsDrainedBeforeItsDisksAreSavedBeforeItIsDeleted(t *testing.T) {
	r := sample("alpha")
	group(r).Counts, group(r).Desired = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}, number(4)
	inOrder(t, commands(stepsOf(t, r, report.Ghost, "worker")),
		"scale machinedeployments.cluster.x-k8s.io/alpha --replicas=6", "drain node/alpha", "get volumeattachments", "device.info", "device.remove -vm VirtualMachine:vm-3 -keep",
		"delete node/alpha", "|| { echo 'stop", "vm.power -off", "|| { echo 'stop", "vm.destroy VirtualMachine:vm-3")
}

func TestOwnerThatWantsWhatRunsIsNotScaled(t *testing.T) {
	r := sample("alpha")
	group(r).Counts, group(r).Desired = report.MachineCounts{Total: 4, Healthy: 3, Ghost: 1}, number(4)
	if text := strings.Join(commands(stepsOf(t, r, report.Ghost, "worker")), "\n"); strings.Contains(text, " scale ") {
		t.Errorf("%s", text)
	}
}

func TestGhostControlPlaneLeavesEtcdBetweenTwoLooksAtTheQuorum(t *testing.T) {
	steps := stepsOf(t, sample("alpha"), report.Ghost, "control-plane")
	inOrder(t, commands(steps),
		"snapshot save", "member list", "endpoint health", "MEMBER_ID=''", `member remove "${MEMBER_ID:?}"`, "member list", "endpoint health",
		"drain node/alpha", "device.remove", "delete node/alpha", "vm.power -off", "vm.destroy", "member list", "endpoint health")
	if i := slices.IndexFunc(steps, func(s report.Step) bool { return strings.Contains(s.Text, "load balancer") }); i < 0 || !slices.ContainsFunc(steps[i:], func(s report.Step) bool { return strings.Contains(s.Text, "Drain") }) {
		t.Error("it is not taken out of the load balancer before it is drained")
	}
	if steps[0].When != report.BeforeRestore || steps[1].When != report.AfterRestore {
		t.Error("the snapshot is not taken before the restore, or the rest not after it")
	}
}

func TestGhostControlPlaneOfAWSLeavesItsLoadBalancer(t *testing.T) {
	r := sample("alpha")
	c := &r.Clusters[1]
	m := c.Workers.Groups[0].Machines[0]
	m.Role = "control-plane"
	c.ControlPlane = report.ControlPlane{Kind: "KubeadmControlPlane", Name: "alpha", Applicable: true, Counts: report.MachineCounts{Total: 1, Ghost: 1}, Machines: []report.Machine{m}}
	c.Workers.Groups = nil
	Fill(r)
	inOrder(t, commands(c.ControlPlane.Machines[0].Remediation),
		`pod/"${ETCD_POD:?}"`, "member remove", "elb describe-load-balancers", "elb deregister-instances-from-load-balancer", "NODE=''", `drain "node/${NODE:?}"`,
		"describe-volumes", "detach-volume", `delete "node/${NODE:?}"`, "describe-auto-scaling-instances", "stop-instances", "terminate-instances")
}

func TestEtcdIsAskedOnALivingNodeAlone(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	slices.Reverse(p.Machines) // the Stale one first
	find(t, r, report.Healthy, "control-plane").Node = "living"
	for _, c := range commands(stepsOf(t, r, report.Stale, "control-plane")) {
		if strings.Contains(c, "etcdctl") && !strings.Contains(c, "exec pod/etcd-living -- ") {
			t.Errorf("%s", c)
		}
	}
	p.Machines = p.Machines[:2] // as with --ignore-healthy-resources
	inOrder(t, commands(stepsOf(t, r, report.Stale, "control-plane")), `exec pod/"${ETCD_POD:?}" -- etcdctl`)
}

func TestExternalEtcdIsLeftAlone(t *testing.T) {
	r := sample("alpha")
	r.Clusters[0].ControlPlane.Forecast = &report.ControlPlaneForecast{Etcd: &report.Etcd{Quorum: "NotApplicable"}}
	for _, status := range []string{report.Ghost, report.Stale} {
		if text := strings.Join(commands(stepsOf(t, r, status, "control-plane")), "\n"); strings.Contains(text, "etcdctl") || text == "" {
			t.Errorf("%s: %s", status, text)
		}
	}
}

func TestStaleControlPlaneIsDeletedBetweenTwoLooksAtTheQuorum(t *testing.T) {
	inOrder(t, commands(stepsOf(t, sample("alpha"), report.Stale, "control-plane")),
		"snapshot save", "member list", "endpoint health", "find / -type m -config.uuid "+copyID, "delete machines.cluster.x-k8s.io/alpha", "member list", "endpoint health")
}

func TestStaleControlPlaneWithoutAnyLivingOneIsNotDeleted(t *testing.T) {
	r := sample("alpha")
	p := &r.Clusters[0].ControlPlane
	p.Machines, p.Counts = p.Machines[2:], report.MachineCounts{Total: 1, Stale: 1}
	Fill(r)
	for _, m := range []*report.Machine{&p.Machines[0], find(t, r, report.Stale, "worker")} {
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
		"CannotKnow":                   {report.Operator, false},
		"Stuck":                        {report.Operator, true},
		"StuckNodeLeft":                {report.Operator, true},
		"UntouchedPaused":              {report.Operator, true},
		"":                             {report.Operator, true},
	} {
		r := sample("alpha")
		find(t, r, report.Stale, "worker").Forecast = &report.MachineForecast{Outcome: outcome}
		steps := stepsOf(t, r, report.Stale, "worker")
		if steps[0].Who != want.who {
			t.Errorf("%q: %s, want %s", outcome, steps[0].Who, want.who)
		}
		if got := strings.Contains(strings.Join(commands(steps), "\n"), " delete machines."); got != want.delete {
			t.Errorf("%q: deletes the Machine: %v, want %v", outcome, got, want.delete)
		}
	}
}

func TestGroupThatWasScaledDownIsScaledOneByOneAndMarkedFirst(t *testing.T) {
	r := sample("alpha")
	g := group(r)
	stale := *find(t, r, report.Stale, "worker")
	second := stale
	second.Name = "beta"
	g.Machines, g.Counts, g.Desired = []report.Machine{stale, second}, report.MachineCounts{Total: 3, Healthy: 1, Stale: 2}, number(3)
	Fill(r)
	inOrder(t, commands(g.Machines[0].Remediation), "annotate machines.cluster.x-k8s.io/alpha cluster.x-k8s.io/delete-machine=yes", "--replicas=2", "delete machines")
	inOrder(t, commands(g.Machines[1].Remediation), "annotate machines.cluster.x-k8s.io/beta cluster.x-k8s.io/delete-machine=yes", "--replicas=1", "delete machines")
	g.Counts.Ghost = 2
	Fill(r)
	if text := strings.Join(commands(g.Machines[0].Remediation), "\n"); strings.Contains(text, "scale") {
		t.Errorf("a group whose machines were replaced is scaled down: %s", text)
	}
}

func TestReplicasOfAnAutoscalerAreNotScaled(t *testing.T) {
	r := sample("alpha")
	g := group(r)
	g.Counts, g.Desired = report.MachineCounts{Total: 6, Healthy: 4, Ghost: 2}, number(4)
	g.Forecast = &report.GroupForecast{ManagedBy: "an autoscaler"}
	steps := stepsOf(t, r, report.Ghost, "worker")
	if !strings.Contains(steps[0].Text, "an autoscaler") || strings.Contains(strings.Join(commands(steps), "\n"), " scale ") {
		t.Errorf("%+v", steps[0])
	}
}

func TestDuplicateIDWarnsBeforeTheRestoreAndAfterIt(t *testing.T) {
	r := sample("alpha")
	m := find(t, r, report.Healthy, "control-plane")
	m.Warnings, m.Others = []report.Warning{{Reason: "DuplicateID"}}, []report.Instance{*vsphereVM("copy", livingID, 9)}
	steps := stepsOf(t, r, report.Healthy, "control-plane")
	if len(steps) != 2 || steps[0].When != report.BeforeRestore || steps[1].When != report.AfterRestore {
		t.Fatalf("%+v", steps)
	}
	inOrder(t, steps[0].Commands, "object.collect VirtualMachine:vm-1 ", "object.collect VirtualMachine:vm-9 ")
}

func TestEveryReasonHasWordsOfItsOwn(t *testing.T) {
	for reason := range unknowns {
		r := sample("alpha")
		find(t, r, report.Unknown, "worker").Reason = reason
		if s := stepsOf(t, r, report.Unknown, "worker"); len(s) != 1 || s[0].Text != unknowns[reason] || s[0].When != report.BeforeRestore {
			t.Errorf("%s: %+v", reason, s)
		}
	}
	r := sample("alpha")
	find(t, r, report.Unknown, "worker").Reason = "OfALaterRelease"
	if s := stepsOf(t, r, report.Unknown, "worker"); len(s) != 1 || !strings.Contains(s[0].Text, "could not be decided") {
		t.Errorf("an unknown reason: %+v", s)
	}
}

func TestWarningsOfHealthyMachines(t *testing.T) {
	for _, tt := range []struct{ reason, provider, outcome, want, who string }{
		{"Reidentified", "vsphere", "", "both second ids differ", report.Operator},
		{"MachineMissing", "vsphere", "OrphanedAndReplaced", "makes a new one", report.Controller},
		{"MachineMissing", "vsphere", "GhostKeepsRunning", "was being deleted", report.Operator},
		{"PoweredOff", "vsphere", "AdoptedPoweredOn", "powers its VM on", report.Controller},
		{"PoweredOff", "aws", "Adopted", "Start it", report.Operator},
	} {
		r := sample("alpha")
		r.Clusters[0].Provider = tt.provider
		m := find(t, r, report.Healthy, "control-plane")
		m.Warnings, m.Forecast = []report.Warning{{Reason: tt.reason}}, &report.MachineForecast{Outcome: tt.outcome}
		s := stepsOf(t, r, report.Healthy, "control-plane")
		if len(s) == 0 || !strings.Contains(s[0].Text, tt.want) || s[0].Who != tt.who {
			t.Errorf("%s of %s: %+v", tt.reason, tt.provider, s)
		}
	}
	if s := stepsOf(t, sample("alpha"), report.Healthy, "control-plane"); len(s) > 0 {
		t.Errorf("steps for a healthy machine: %+v", s)
	}
}
