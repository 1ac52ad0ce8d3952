package rehearsal

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// pauses are what may be paused of a story: "C" the Cluster, "M" the Machine, "I" its
// VSphereMachine, AWSMachine or OpenStackMachine, "V" its VSphereVM or OpenStackServer,
// "S" its MachineSet, "D" its MachineDeployment, "K" the control plane.
func (s *story) pause(m member, what string) {
	has := func(c string) bool { return strings.Contains(what, c) }
	s.cluster.Paused = has("C")
	m.machine.Paused = has("M")
	s.snapshot.ControlPlanes[0].Paused, s.snapshot.Groups[0].Paused, s.snapshot.Groups[1].Paused = has("K"), has("D"), has("S")
	below, capo := infra.Restore{}, s.cluster.Provider == capo14
	switch {
	case has("I"):
		below.Paused = "InfraMachine m"
	case has("V"):
		below.Paused = "Server m"
	}
	if capo && !has("V") {
		below.Independent = "Server m"
	}
	s.expect(m, below)
}

// TestWhatAPauseKeeps holds the table of what becomes of a worker after a restore when
// something is paused. The sources:
//   - each controller looks at spec.paused of the Cluster and the annotation of its own
//     object: EnsurePausedCondition in Cluster API util/paused/paused.go v1.9.0 and v1.13.1;
//     called in CAPV controllers/vspheremachine_controller.go and vspherevm_controller.go
//     v1.16.1 (IsPaused in v1.10.0), CAPA controllers/awsmachine_controller.go v2.8.1 and
//     v2.11.1; IsPaused in CAPO controllers/openstackmachine_controller.go and
//     openstackserver_controller.go v0.12.0 and v0.14.0.
//   - a restore drops ownerReferences: resetMetadata in Velero pkg/restore/restore.go
//     v1.9.6 and v1.18.1. "Waiting for Machine controller to set OwnerRef on
//     VSphereMachine", "Waiting for VSphereMachine controller to set OwnerRef on VSphereVM"
//     (CAPV, same files), "Machine Controller has not yet set OwnerRef" (CAPA and CAPO, same
//     files); it is set in ensureExternalOwnershipAndWatch of Cluster API
//     internal/controllers/machine/machine_controller_phases.go v1.13.1, which a paused
//     Machine does not reach. The controller of OpenStackServers asks for no owner.
//   - a paused MachineSet makes, deletes and remediates nothing (its Reconcile in
//     internal/controllers/machineset/machineset_controller.go v1.13.1); a health check
//     leaves paused Machines out (shouldSkipRemediation in machinehealthcheck_targets.go
//     v1.9.0 and v1.13.1), and deletes none itself.
//   - a paused KubeadmControlPlane does not write again that it is initialised (Reconcile in
//     its controller.go v1.6.0 to v1.14.0), and until it says so health checks spare workers
//     (needsRemediation in machinehealthcheck_targets.go, same versions).
func TestWhatAPauseKeeps(t *testing.T) {
	const (
		no, on, off = code.Adopted, code.AdoptedPoweredOn, code.Stuck
		paused      = code.UntouchedPaused
	)
	states := map[string]struct {
		verdict func(provider string) detector.Verdict
		checked bool // a health check covers it
	}{
		"running": {func(p string) detector.Verdict { return recorded(p, found) }, false},
		"off":     {func(p string) detector.Verdict { return recorded(p, halted(found)) }, false},
		"gone":    {func(p string) detector.Verdict { return lost(p, gone) }, false},
		"healed":  {func(p string) detector.Verdict { return lost(p, gone) }, true},
		"renamed": {func(p string) detector.Verdict { return lost(p, warned(found, code.Reason(infra.Renamed))) }, false},
		"unmade":  {func(string) detector.Verdict { return never }, false},
	}
	replaced := code.ReplacedByMachineHealthCheck
	made, halt := code.NewInstanceCreated, code.Halted
	for provider, rows := range map[string]map[string]map[string]code.Outcome{
		vsphere: {
			"":   {"running": no, "off": on, "gone": code.Stuck, "healed": replaced, "renamed": no, "unmade": made},
			"C":  {"running": paused, "off": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"M":  {"running": paused, "off": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"I":  {"running": halt, "off": halt, "gone": halt, "healed": halt, "renamed": halt, "unmade": halt},
			"V":  {"running": halt, "off": halt, "gone": halt, "healed": halt, "renamed": halt, "unmade": halt},
			"MI": {"running": paused, "off": paused, "gone": paused, "unmade": paused},
			"CV": {"running": paused, "off": paused, "gone": paused, "unmade": paused},
			"S":  {"running": no, "off": on, "gone": code.Stuck, "healed": code.Stuck, "renamed": no, "unmade": made},
			"D":  {"running": no, "off": on, "gone": code.Stuck, "healed": replaced, "unmade": made},
			"K":  {"running": no, "off": on, "gone": code.Stuck, "healed": code.Stuck, "unmade": made},
		},
		aws: {
			"":  {"running": no, "off": off, "gone": code.Stuck, "healed": replaced, "renamed": no, "unmade": made},
			"C": {"running": paused, "off": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"M": {"running": paused, "off": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"I": {"running": halt, "off": halt, "gone": halt, "healed": halt, "renamed": halt, "unmade": halt},
			"S": {"running": no, "off": off, "gone": code.Stuck, "healed": code.Stuck, "renamed": no, "unmade": made},
		},
		capo14: {
			"":    {"running": no, "gone": code.NewInstanceNeverJoins, "healed": replaced, "renamed": halt, "unmade": made},
			"C":   {"running": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"CI":  {"running": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"M":   {"running": paused, "gone": code.NewInstanceNeverJoins, "healed": code.NewInstanceNeverJoins, "renamed": paused, "unmade": made},
			"MI":  {"running": paused, "gone": code.NewInstanceNeverJoins, "unmade": made},
			"I":   {"running": halt, "gone": code.NewInstanceNeverJoins, "renamed": halt, "unmade": made},
			"V":   {"running": halt, "gone": halt, "renamed": halt, "unmade": halt},
			"MIV": {"running": paused, "gone": paused, "healed": paused, "renamed": paused, "unmade": paused},
			"S":   {"running": no, "gone": code.NewInstanceNeverJoins, "healed": code.NewInstanceNeverJoins, "renamed": halt, "unmade": made},
		},
	} {
		for what, row := range rows {
			for state, want := range row {
				t.Run(strings.Join([]string{provider, what, state}, " "), func(t *testing.T) {
					var checks []fields
					if states[state].checked {
						checks = coveredBy(workers)
					}
					s := newStory(t, checks...)
					s.cluster.Provider = provider
					s.plane("a", recorded(provider, found))
					s.pause(s.worker("m", states[state].verdict(provider)), what)
					got := s.outcome(s.end(), "m")
					if got.Outcome != want {
						t.Errorf("%s (%s), want %s", got.Outcome, got.Message, want)
					}
					if mentions := strings.Contains(got.Message, "although"); mentions != (provider == capo14 && strings.ContainsAny(what, "MI") && !strings.Contains(what, "V") && (got.Outcome == code.NewInstanceNeverJoins || got.Outcome == made)) {
						t.Errorf("%s: %q", got.Outcome, got.Message)
					}
				})
			}
		}
	}
}

// recorded returns a verdict on an instance that exists, as the controller of a provider finds
// it after a restore.
func recorded(provider string, v detector.Verdict) detector.Verdict {
	if provider == capo14 {
		return finding(v, detector.FindsByName)
	}
	return v
}

// lost returns one on an instance that only its id leads to, if anything.
func lost(provider string, v detector.Verdict) detector.Verdict {
	if provider == capo14 {
		return finding(v, detector.FindsNothing)
	}
	return v
}

// TestWhatAPauseKeepsOfAControlPlane: KubeadmControlPlane neither replaces a machine nor
// removes the etcd member of a ghost while it is paused (Cluster API
// controlplane/kubeadm/internal/controllers/controller.go Reconcile v1.9.0 and v1.13.1), and
// not while a Machine names no Node, as a paused one after a restore (reconcileEtcdMembers
// there, and HasHealthyMachineStillProvisioning in remediation.go v1.13.1).
func TestWhatAPauseKeepsOfAControlPlane(t *testing.T) {
	for what, c := range map[string]struct {
		stale, ghost, after code.Outcome
		why                 string
	}{
		"":  {code.ReplacedByMachineHealthCheck, code.GhostEtcdMemberRemoved, code.GhostEtcdMemberRemoved, "covers its machines"},
		"C": {code.UntouchedPaused, code.GhostEtcdMemberKept, code.GhostEtcdMemberRemoved, "its cluster is paused"},
		"K": {code.Stuck, code.GhostEtcdMemberKept, code.GhostEtcdMemberKept, "KubeadmControlPlane cp is paused"},
		"M": {code.Stuck, code.GhostEtcdMemberKept, code.GhostEtcdMemberRemoved, "Machine b is paused"},
		"I": {code.ReplacedByMachineHealthCheck, code.GhostEtcdMemberRemoved, code.GhostEtcdMemberRemoved, "covers its machines"},
		"S": {code.ReplacedByMachineHealthCheck, code.GhostEtcdMemberRemoved, code.GhostEtcdMemberRemoved, "covers its machines"},
	} {
		s := newStory(t, coveredBy(planes)...)
		s.plane("a", found)
		s.pause(s.plane("b", found), what)
		s.plane("c", found)
		s.plane("m", gone)
		f := s.end()
		if got := s.outcome(f, "m"); got.Outcome != c.stale && (got.Outcome != code.StuckNodeLeft || c.stale != code.Stuck) {
			t.Errorf("%q: %+v", what, got)
		}
		if got := f.Clusters[0].ControlPlane; got.Remediates != (c.stale == code.ReplacedByMachineHealthCheck) || !strings.Contains(got.Why, c.why) {
			t.Errorf("%q: %v, %s", what, got.Remediates, got.Why)
		}

		s = newStory(t)
		s.plane("a", found)
		s.ghostPlane("m") // in front of what is paused
		s.pause(s.plane("b", found), what)
		f = s.end()
		if got := s.outcome(f, "m"); got.Outcome != c.ghost || got.After != c.after || c.ghost == code.GhostEtcdMemberKept && !strings.Contains(got.Message, strings.TrimPrefix(c.why, "its ")) {
			t.Errorf("%q: ghost %+v", what, got)
		}
	}
}

// A ClusterClass that is paused keeps its topologies from all that they want, and a health
// check of one that is paused stays so (Cluster API
// internal/controllers/clusterclass/clusterclass_controller.go, topology/cluster/cluster_controller.go
// and machinehealthcheck/machinehealthcheck_controller.go v1.9.0 and v1.13.1).
func TestWhatAPausedTopologyDoes(t *testing.T) {
	story := func(more ...fields) *story {
		s := newStory(t, more...)
		s.plane("a", found)
		m := s.worker("m", gone)
		m.machine.Labels = `{"topology.cluster.x-k8s.io/owned":"","topology.cluster.x-k8s.io/deployment-name":"md"}`
		s.topology(fields{"class": "c", "version": "v1.30.0", "workers": fields{"machineDeployments": []any{fields{
			"class": "w", "name": "md", "replicas": 5, "healthCheck": fields{"enabled": true, "checks": fields{"nodeStartupTimeoutSeconds": 120}},
		}}}})
		return s
	}
	s := story()
	if got := s.outcome(s.end(), "m"); got.Outcome != code.ReplacedByMachineHealthCheck {
		t.Errorf("%+v", got)
	}
	s = story()
	for r := range classKinds.In(s.snapshot).All() {
		r.Paused = true
	}
	f := s.end()
	if got := s.outcome(f, "m"); got.Outcome != code.Stuck {
		t.Errorf("the class is paused: %+v", got)
	}
	if i := slices.IndexFunc(f.Conditions, func(n report.Note) bool { return n.Code == code.OwnersPaused }); i < 0 || !strings.Contains(f.Conditions[i].Message, "ClusterClass ns/c") {
		t.Errorf("%+v", f.Conditions)
	}

	own := checkSpec("")
	own["selector"] = fields{"matchLabels": fields{"topology.cluster.x-k8s.io/owned": "", "topology.cluster.x-k8s.io/deployment-name": "md"}}
	s = story(own)
	for r := range healthChecks.In(s.snapshot).All() {
		r.Paused = true
	}
	if got := s.outcome(s.end(), "m"); got.Outcome != code.Stuck {
		t.Errorf("the health check is paused: %+v", got)
	}
}
