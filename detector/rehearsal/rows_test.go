package rehearsal

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// rowStory is a story in which a row decides on machine "m".
type rowStory struct {
	row     string // its name
	checks  []fields
	arrange func(*story)
	outcome code.Outcome
}

func coveredBy(kind string) []fields { return []fields{checkSpec(kind)} }

// rowStories has the plainest story of every row first; those after it also fit
// the next row, so that the order of the rows shows.
var rowStories = []rowStory{
	{"ghost worker, or of unknown role", nil, func(s *story) { s.ghostWorker("m") }, code.GhostKeepsRunning},
	{"ghost control plane, etcd elsewhere", nil, func(s *story) {
		s.plane("a", found)
		s.ghostPlane("m")
		s.snapshot.ControlPlanes[0].ExternalEtcd = true
	}, code.GhostKeepsRunning},
	{"ghost of another kind of control plane", nil, func(s *story) { otherPlane(s); s.plane("a", found); s.ghostPlane("m") }, code.CannotKnow},
	{"ghost control plane, paused", nil, func(s *story) { s.cluster.Paused = true; s.plane("a", found); s.ghostPlane("m") }, code.GhostEtcdMemberKept},
	{"ghost control plane beside one without a Node", nil, func(s *story) { s.plane("a", gone); s.ghostPlane("m") }, code.GhostEtcdMemberKept},
	{"ghost control plane beside one that cannot be forecast", nil, func(s *story) { s.plane("a", unknown(code.AmbiguousMatch)); s.ghostPlane("m") }, code.CannotKnow},
	{"ghost control plane beside one that cannot be forecast", nil, func(s *story) { s.plane("a", found); s.plane("b", never); s.ghostPlane("m") }, code.CannotKnow},
	{"ghost control plane", nil, func(s *story) { s.plane("a", found); s.ghostPlane("m") }, code.GhostEtcdMemberRemoved},
	{"paused in part, by clusterctl", nil, func(s *story) {
		s.snapshot.Backups[0].Mode = archive.ByClusterctl
		s.worker("m", found).machine.Paused = true
	}, code.CannotKnow},
	{"paused in part, by clusterctl", nil, func(s *story) {
		s.snapshot.Backups[0].Mode = archive.ByClusterctl
		s.expect(s.worker("m", found), infra.Restore{Paused: "VSphereMachine ns/m"})
	}, code.CannotKnow},
	{"paused", nil, func(s *story) { s.cluster.Paused = true; s.worker("m", gone) }, code.UntouchedPaused},
	{"paused", nil, func(s *story) { s.worker("m", found).machine.Paused = true }, code.UntouchedPaused},
	{"infrastructure without Machine, owner short of machines", nil, func(s *story) { s.snapshot.Groups[1].Desired.N = 1; s.orphan("m") }, code.OrphanedAndReplaced},
	{"infrastructure without Machine", nil, func(s *story) { s.orphan("m") }, code.GhostKeepsRunning},
	{"of a controller that is not known", nil, func(s *story) { s.cluster.Provider = "other"; s.worker("m", found) }, code.CannotKnow},
	{"of a controller that is not known", nil, func(s *story) { s.cluster.Provider = "other"; s.worker("m", left).machine.Pool = "p" }, code.CannotKnow},
	{"member of a pool that is paused", nil, func(s *story) { s.worker("m", left).machine.Pool = "p"; s.pausePool() }, code.Halted},
	{"member that left its pool", nil, func(s *story) { s.worker("m", unknown(code.PoolMember)).machine.Pool = "p" }, code.MemberGone},
	{"member that left its pool", nil, func(s *story) { s.worker("m", left).machine.Pool = "p" }, code.MemberGone},
	{"lives, and left its pool", nil, func(s *story) { s.worker("m", unknown(code.LeftPool)).machine.Pool = "p" }, code.DeletedByOwner},
	{"member of a pool that is not there, or stopped", nil, func(s *story) { s.worker("m", gone).machine.Pool = "p" }, code.CannotKnow}, // of a kind that no provider reads
	{"member of a pool that is not there, or stopped", nil, func(s *story) { s.worker("m", unknown(code.ScopeIncomplete)).machine.Pool = "p" }, code.CannotKnow},
	{"member of a pool that is not there, or stopped", nil, func(s *story) { s.cluster.Provider = aws; s.worker("m", halted(found)).machine.Pool = "p" }, code.CannotKnow},
	{"its owner goes", nil, func(s *story) { s.removed(); s.worker("m", found) }, code.DeletedByOwner},
	{"several owners select it", nil, func(s *story) { s.contested(s.worker("m", found)) }, code.CannotKnow},
	{"its controller does nothing for it", nil, func(s *story) {
		s.expect(s.worker("m", found), infra.Restore{Lacks: []string{"VSphereDeploymentZone a"}})
	}, code.Halted},
	{"its controller does nothing for it", nil, func(s *story) { s.expect(s.worker("m", gone), infra.Restore{Refused: "it refuses"}) }, code.Halted},
	{"its owner specifies another one", nil, func(s *story) { s.worker("m", found); s.newTemplate() }, code.RolledByOwner},
	{"its owner specifies another one", nil, func(s *story) { s.worker("m", gone); s.newTemplate() }, code.RolledByOwner},
	{"asked to be replaced", coveredBy(workers), func(s *story) { s.worker("m", warned(found, "PoweredOff")).machine.Remediate = true }, code.ReplacedByMachineHealthCheck},
	{"healthy, a template", nil, func(s *story) { s.worker("m", warned(found, "Template")) }, code.Stuck},
	{"its controller searches by name and takes another one, or any of several", nil, func(s *story) { s.worker("m", finding(found, detector.FindsSeveral)) }, code.CannotKnow},
	{"its controller searches by name, finds none, and cannot create one", nil, func(s *story) {
		m := s.worker("m", finding(gone, detector.FindsNothing))
		s.secrets.Missing = map[string]string{m.machine.UID: "ns/m"}
	}, code.Stuck},
	{"its controller searches by name, creates one, and cannot record its id", nil, func(s *story) {
		s.cluster.Provider = capo14
		s.worker("m", finding(gone, detector.FindsNothing))
	}, code.NewInstanceNeverJoins},
	{"its controller searches by name and finds none", nil, func(s *story) { s.worker("m", finding(gone, detector.FindsNothing)) }, code.NewInstanceCreated},
	{"its controller searches by name and finds none", nil, func(s *story) {
		s.worker("m", finding(unknown("NotFoundByName"), detector.FindsNothing))
	}, code.NewInstanceCreated},
	{"powered off, and a health check may not wait for it", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", warned(found, "PoweredOff")) }, code.CannotKnow},
	{"healthy, powered off", nil, func(s *story) { s.worker("m", warned(found, "PoweredOff")) }, code.AdoptedPoweredOn},
	{"its controller searches by name and finds none", nil, func(s *story) { s.worker("m", finding(warned(byName, "Renamed"), detector.FindsNothing)) }, code.NewInstanceCreated},
	{"its controller searches by name and finds none", nil, func(s *story) {
		s.cluster.Provider = aws
		s.worker("m", finding(halted(byName), detector.FindsNothing))
	}, code.NewInstanceCreated},
	{"what its controller finds is not known", nil, func(s *story) { s.worker("m", finding(byName, detector.FindsUnknown)) }, code.CannotKnow},
	{"its controller searches by name and takes another one", coveredBy(workers), func(s *story) {
		s.cluster.Provider = capo14
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", finding(found, detector.FindsOther)).machine.ProviderID = ""
	}, code.OtherInstanceTaken},
	{"healthy, found by name", nil, func(s *story) { s.worker("m", asleep(byName)) }, code.AdoptedByName},
	{"healthy, found by name", nil, func(s *story) { s.worker("m", byName) }, code.AdoptedByName},
	{"healthy, found by name", nil, func(s *story) { s.worker("m", finding(found, detector.FindsByName)) }, code.AdoptedByName},
	{"a health check deletes it, and none can be created", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", gone)
		s.noTemplate()
	}, code.DeletedByMachineHealthCheck},
	{"healthy, its Node is bad for a health check", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", found); s.node("m", false); s.node("a", true) }, code.ReplacedByMachineHealthCheck},
	{"its instance is in its controller's way", nil, func(s *story) {
		s.cluster.Provider = capo14
		s.worker("m", finding(warned(found, "Renamed"), detector.FindsNothing))
	}, code.Halted},
	{"its controller searches by name and takes another one", nil, func(s *story) {
		s.cluster.Provider = capo14
		s.worker("m", finding(gone, detector.FindsOther))
	}, code.OtherInstanceTaken},
	{"healthy, stopped", nil, func(s *story) { s.cluster.Provider = aws; s.worker("m", halted(found)) }, code.Stuck},
	{"healthy, stopped", coveredBy(workers), func(s *story) {
		s.cluster.Provider = aws
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", halted(found)).machine.ProviderID = ""
	}, code.Stuck},
	{"healthy, its Node may not come, and a health check waits for it", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", found).machine.ProviderID = ""
	}, code.CannotKnow},
	{"healthy, its Node may not come, and a health check waits for it", []fields{waits("NodeReady", "False"), checkSpec(workers)}, func(s *story) {
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", found).machine.ProviderID = ""
	}, code.CannotKnow},
	{"healthy, its Node may not come, and a health check waits for it", []fields{external(checkSpec(workers))}, func(s *story) {
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", found).machine.ProviderID = ""
	}, code.CannotKnow},
	{"healthy, its Node may not come, and a health check waits for it", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.node("a", true)
		s.worker("m", byName).machine.ProviderID = ""
	}, code.CannotKnow},
	{"healthy", nil, func(s *story) { s.worker("m", found) }, code.Adopted},
	{"not provisioned, replaced", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", never).machine.InfraMessage = "no template" }, code.ReplacedByMachineHealthCheck},
	{"not provisioned, and could not be", nil, func(s *story) { s.worker("m", never).machine.InfraMessage = "no template" }, code.Stuck},
	{"not provisioned, and could not be", nil, func(s *story) { s.expect(s.worker("m", never), infra.Restore{Failure: "no such AMI"}) }, code.Stuck},
	{"not provisioned, and cannot be", nil, func(s *story) {
		m := s.worker("m", never)
		s.secrets.Missing = map[string]string{m.machine.UID: "ns/m"}
	}, code.Stuck},
	{"not provisioned", nil, func(s *story) { s.worker("m", never) }, code.NewInstanceCreated},
	{"stale, replaced", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", gone) }, code.ReplacedByMachineHealthCheck},
	{"stale, Node left", nil, func(s *story) { s.worker("m", gone); s.node("m", true) }, code.StuckNodeLeft},
	{"stale", nil, func(s *story) { s.worker("m", gone) }, code.Stuck},
	{"instance where its controller does not look", nil, func(s *story) { s.worker("m", unknown(code.FoundElsewhere)); s.node("m", true) }, code.StuckNodeLeft},
	{"ghost control plane", nil, func(s *story) { // the one without a Node is one too many, and goes first
		s.plane("a", found)
		s.plane("b", gone)
		s.ghostPlane("m")
		s.snapshot.ControlPlanes[0].Desired = number(1)
	}, code.GhostEtcdMemberRemoved},
	{"instance where its controller does not look, no Node", nil, func(s *story) { s.worker("m", unknown(code.IdentityChanged)) }, code.Stuck},
	{"unknown", nil, func(s *story) { s.worker("m", unknown(code.ScopeIncomplete)) }, code.CannotKnow},

	{"ghost control plane, etcd elsewhere", nil, func(s *story) { otherPlane(s); s.ghostPlane("m"); s.snapshot.ControlPlanes[0].ExternalEtcd = true }, code.GhostKeepsRunning},
	{"ghost of another kind of control plane", nil, func(s *story) { otherPlane(s); s.cluster.Paused = true; s.ghostPlane("m") }, code.CannotKnow},
	{"ghost control plane, paused", nil, func(s *story) { s.cluster.Paused = true; s.plane("a", gone); s.ghostPlane("m") }, code.GhostEtcdMemberKept},
	{"ghost control plane beside one without a Node", nil, func(s *story) { s.plane("a", gone); s.plane("b", unknown(code.NodeAlive)); s.ghostPlane("m") }, code.GhostEtcdMemberKept},
	{"its controller searches by name and finds none", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", finding(warned(byName, "Moved"), detector.FindsNothing))
		s.node("m", false)
	}, code.NewInstanceCreated},
	{"of a controller that is not known", nil, func(s *story) {
		s.cluster.Provider = "other"
		s.worker("m", left).machine.Pool = "p"
		s.pausePool()
	}, code.CannotKnow},
	{"member that left its pool", nil, func(s *story) { s.removed(); s.worker("m", left).machine.Pool = "p" }, code.MemberGone},
	{"its owner goes", nil, func(s *story) {
		s.removed()
		s.expect(s.worker("m", found), infra.Restore{Refused: "it refuses"})
	}, code.DeletedByOwner},
	{"its owner goes", nil, func(s *story) { s.removed(); s.contested(s.worker("m", found)) }, code.DeletedByOwner},
	{"several owners select it", nil, func(s *story) {
		m := s.worker("m", found)
		s.contested(m)
		s.expect(m, infra.Restore{Refused: "it refuses"})
	}, code.CannotKnow},
	{"its controller does nothing for it", nil, func(s *story) {
		s.expect(s.worker("m", found), infra.Restore{Refused: "it refuses"})
		s.newTemplate()
	}, code.Halted},
	{"its owner specifies another one", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", found).machine.Remediate = true
		s.newTemplate()
	}, code.RolledByOwner},
	{"asked to be replaced", coveredBy(workers), func(s *story) { s.worker("m", warned(found, "Template")).machine.Remediate = true }, code.ReplacedByMachineHealthCheck},
	{"healthy, a template", nil, func(s *story) { s.worker("m", finding(warned(found, "Template"), detector.FindsOther)) }, code.Stuck},
	{"its controller searches by name, finds none, and cannot create one", nil, func(s *story) {
		m := s.worker("m", finding(found, detector.FindsNothing))
		s.secrets.Missing = map[string]string{m.machine.UID: "ns/m"}
	}, code.Stuck},
	{"a health check deletes it, and none can be created", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", byName)
		s.node("m", false)
		s.noTemplate()
	}, code.DeletedByMachineHealthCheck},
	{"a health check deletes it, and none can be created", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", found)
		s.node("m", false)
		s.noTemplate()
	}, code.DeletedByMachineHealthCheck},
	{"not provisioned, and could not be", nil, func(s *story) {
		m := s.worker("m", never)
		s.expect(m, infra.Restore{Failure: "no such AMI"})
		s.secrets.Missing = map[string]string{m.machine.UID: "ns/m"}
	}, code.Stuck},
	{"healthy, its Node is bad for a health check", coveredBy(workers), func(s *story) {
		s.plane("a", found)
		s.worker("m", asleep(found))
		s.node("m", false)
		s.node("a", true)
	}, code.ReplacedByMachineHealthCheck},
	{"healthy, its Node is bad for a health check", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", byName); s.node("m", false) }, code.ReplacedByMachineHealthCheck},
	{"of a controller that is not known", nil, func(s *story) { s.cluster.Provider = "unplaced"; s.worker("m", found) }, code.CannotKnow},
	{"its controller searches by name, finds none, and cannot create one", nil, func(s *story) {
		s.cluster.Provider = capo14
		m := s.worker("m", finding(gone, detector.FindsNothing))
		s.secrets.Missing = map[string]string{m.machine.UID: "ns/m"}
	}, code.Stuck},
	{"healthy, its Node is bad for a health check", coveredBy(workers), func(s *story) {
		s.cluster.Provider = capo14
		s.plane("a", found)
		s.worker("m", finding(warned(found, "ErrorState"), detector.FindsByName))
		s.node("m", false)
		s.node("a", true)
	}, code.ReplacedByMachineHealthCheck},
	{"its controller searches by name and takes another one", nil, func(s *story) {
		s.cluster.Provider = capo14
		s.worker("m", finding(halted(found), detector.FindsOther))
	}, code.OtherInstanceTaken},
	{"not provisioned", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", never) }, code.NewInstanceCreated},
	{"stale, replaced", coveredBy(workers), func(s *story) { s.plane("a", found); s.worker("m", gone); s.node("m", false) }, code.ReplacedByMachineHealthCheck},
}

// otherPlane makes the control plane one whose ways with etcd are not known.
func otherPlane(s *story) {
	s.snapshot.ControlPlanes[0].Kind, s.cluster.ControlPlane.Kind = "RKE2ControlPlane", "RKE2ControlPlane"
	s.snapshot.ControlPlanes[0].Updated = backup.Number{N: 3, Known: true} // it has seen its Machines
}

// removed takes the MachineDeployment out of the topology of its Cluster.
func (s *story) removed() {
	s.topology(fields{"class": "c", "version": "v1"})
	s.snapshot.Groups[0].Labels = `{"topology.cluster.x-k8s.io/owned":"","topology.cluster.x-k8s.io/deployment-name":"x"}`
}

// pausePool makes a MachinePool of the workers, whose infrastructure object is paused.
func (s *story) pausePool() {
	s.cluster.WorkerGroups[0].Kind = machinePool
	s.expected.Pools = []infra.Pool{{Cluster: prod, Kind: machinePool, Name: "md", Paused: "AWSMachinePool md"}}
}

// newTemplate makes the MachineDeployment want other machines than its MachineSet makes.
func (s *story) newTemplate() {
	s.snapshot.Groups[0].Infrastructure = backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "new"}
}

// noTemplate leaves the template of the MachineDeployment out of the backup.
func (s *story) noTemplate() {
	ref := backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "md"}
	s.snapshot.Groups[0].Infrastructure, s.snapshot.Groups[1].Infrastructure = ref, ref
	s.absent = append(s.absent, backup.Absence{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name})
}

// disjointRows are rows that never fit one machine together with the next row.
var disjointRows = map[string]string{
	"ghost worker, or of unknown role":               "the next wants a control plane",
	"ghost control plane":                            "the next wants a machine of the backup",
	"paused":                                         "owners of a paused cluster are never short of machines",
	"infrastructure without Machine":                 "the next wants a Machine",
	"member that left its pool":                      "the next wants one that lives",
	"member of a pool that is not there, or stopped": "the next wants a decided one of an owner that goes, and pools have none",
	"its controller searches by name and takes another one, or any of several": "the next finds none",
	"its controller searches by name, creates one, and cannot record its id":   "the next records it",
	"its controller searches by name and finds none":                           "with an id in the next",
	"its instance is in its controller's way":                                  "the next takes another one",
	"healthy, powered off":                   "with an id here, without in the next",
	"what its controller finds is not known": "known in the next",
	"healthy":                                "the next wants it Stale",
	"stale":                                  "the next wants it Unknown",
}

// arranged returns the stories of all rowStories, in their order.
func arranged(t *testing.T) []*story {
	t.Helper()
	out := make([]*story, len(rowStories))
	for i, r := range rowStories {
		out[i] = newStory(t, r.checks...)
		r.arrange(out[i])
	}
	return out
}

// by returns the forecast of machine "m" by a table.
func (s *story) by(table []outcomeRow) Machine {
	s.t.Helper()
	return s.outcome(s.forecast(table), "m")
}

func TestEveryRowDecides(t *testing.T) {
	stories := arranged(t)
	for n, r := range rowStories {
		i := slices.IndexFunc(outcomeRows, func(row outcomeRow) bool { return row.Name == r.row })
		if i < 0 {
			t.Fatalf("no row is called %q", r.row)
		}
		got := stories[n].by(outcomeRows)
		if got.Outcome != r.outcome || got.Message == "" {
			t.Errorf("%s: %+v, want %s", r.row, got, r.outcome)
		}
		if without := stories[n].by(slices.Delete(slices.Clone(outcomeRows), i, i+1)); without == got {
			t.Errorf("%s: nothing changes when the row is taken out", r.row)
		}
	}
}

func TestTheOrderOfRowsMatters(t *testing.T) {
	stories := arranged(t)
	for i := range len(outcomeRows) - 1 {
		swapped := slices.Clone(outcomeRows)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		changed := slices.ContainsFunc(stories, func(s *story) bool { return s.by(outcomeRows) != s.by(swapped) })
		if disjoint := disjointRows[outcomeRows[i].Name] != ""; changed == disjoint {
			t.Errorf("%q and the next row: swapping them changes something: %v, they are disjoint: %v", outcomeRows[i].Name, changed, disjoint)
		}
	}
}

// Every condition is said of the machine that it is for, and of no other.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		checks  []fields
		arrange func(*story)
		want    string // in the condition; empty: there is none
	}{
		"identity absent":        {nil, func(s *story) { s.worker("m", found); halt(s) }, "only once VSphereClusterIdentity shared"},
		"identity absent, ghost": {nil, func(s *story) { s.ghostWorker("m"); halt(s) }, ""},
		"Cluster object absent":  {nil, func(s *story) { s.worker("m", found); s.cluster.Derived = true }, "only once its Cluster object"},
		"stale":                  {nil, func(s *story) { s.worker("m", gone) }, "if first, CAPV clones a new VM under the old name"},
		"stale elsewhere":        {nil, func(s *story) { s.worker("m", gone); s.cluster.Provider = "aws" }, ""},
		"renamed":                {nil, func(s *story) { s.worker("m", warned(found, "Renamed")) }, "clones a second VM beside it"},
		"healthy":                {nil, func(s *story) { s.worker("m", found) }, ""},
		"duplicate":              {nil, func(s *story) { s.worker("m", warned(found, code.DuplicateID)) }, "destroy every VM of its datacenter with that id"},
		"duplicate elsewhere":    {nil, func(s *story) { s.cluster.Provider = aws; s.worker("m", warned(found, code.DuplicateID)) }, "deletes both is not known here"},
		"reidentified":           {nil, func(s *story) { s.worker("m", warned(found, code.Reidentified)) }, "both second keys differ"},
		"surplus":                {nil, func(s *story) { s.worker("m", found); s.worker("n", found); s.snapshot.Groups[1].Desired.N = 1 }, "the Machine that its owner deletes at once"},
		"powered off, and its Node was still Ready": {coveredBy(workers), func(s *story) {
			s.plane("a", found)
			s.worker("m", warned(found, "PoweredOff"))
			s.node("m", true)
		}, "MachineHealthCheck check-0 allows"},
		"held by a limit": {[]fields{{
			"clusterName": "prod", "selector": fields{"matchLabels": fields{"group": workers}}, "checks": checkSpec(workers)["checks"],
			"remediation": fields{"triggerIf": fields{"unhealthyLessThanOrEqualTo": 1}},
		}}, func(s *story) {
			s.plane("a", found)
			s.worker("m", found)
			s.node("m", false)
			s.worker("n", found)
			s.node("n", false)
		}, "unless fewer machines are unhealthy than now"},
		"stopped elsewhere":                  {nil, func(s *story) { s.cluster.Provider = aws; s.worker("m", halted(found)) }, ""},
		"suspended, under a health check":    {coveredBy("other"), func(s *story) { s.worker("m", asleep(found)) }, ""},
		"stopped with its control plane":     {coveredBy(workers), func(s *story) { s.cluster.Provider = aws; s.plane("a", halted(found)); s.worker("m", halted(found)) }, ""},
		"stopped, of a control plane of one": {coveredBy(planes), func(s *story) { s.plane("m", asleep(found)); s.ghostPlane("g") }, ""},
		"powered off":                        {nil, func(s *story) { s.worker("m", warned(found, "PoweredOff")) }, ""},
		"replaced, Nodes unread":             {coveredBy(workers), func(s *story) { s.cluster.Provider = "aws"; s.plane("a", found); s.worker("m", gone) }, "the Node list was not read"},
		"replaced, Nodes read": {coveredBy(workers), func(s *story) {
			s.cluster.Provider = "aws"
			s.worker("m", gone)
			s.plane("a", found)
			s.node("a", true)
		}, ""},
		"new instance":                      {nil, func(s *story) { s.worker("m", never) }, "the bootstrap token"},
		"could not be provisioned":          {nil, func(s *story) { s.worker("m", never).machine.InfraMessage = "x" }, "until the cause is gone"},
		"ghost of unknown role":             {nil, func(s *story) { s.ghostWorker("m").RoleKnown = false }, "if it is a worker"},
		"ghost":                             {nil, func(s *story) { s.ghostWorker("m") }, ""},
		"paused, stale":                     {nil, func(s *story) { s.cluster.Paused = true; s.worker("m", gone) }, "until it is unpaused, and then broken until you act"},
		"paused, healthy":                   {nil, func(s *story) { s.cluster.Paused = true; s.worker("m", found) }, "until it is unpaused, and then adopted"},
		"paused ghost of the control plane": {nil, func(s *story) { s.cluster.Paused = true; halt(s); s.plane("a", found); s.ghostPlane("m") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, c.checks...)
			c.arrange(s)
			got := s.outcome(s.end(), "m").Condition
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func halt(s *story) {
	s.absent = append(s.absent, backup.Absence{Kind: "VSphereClusterIdentity", Name: "shared", Halts: []backup.ClusterID{prod}})
}

// Every outcome of a machine has the phrase that pausing needs.
func TestEveryOutcomeOfAMachineHasAPhrase(t *testing.T) {
	for _, row := range outcomeRows {
		if _, ok := phrases[row.Outcome]; !ok && row.Outcome != code.UntouchedPaused && !strings.HasPrefix(string(row.Outcome), "GhostEtcd") {
			t.Errorf("%s has none", row.Outcome)
		}
	}
}

// A cluster without a Cluster object may have machines in several backups, and
// is then called after the newest.
func TestMachineOfAnotherBackupThanItsCluster(t *testing.T) {
	s := newStory(t)
	s.snapshot.Backups = append(s.snapshot.Backups, s.snapshot.Backups[0])
	s.worker("m", found).machine.Backup = 1
	s.worker("n", never).machine.Backup = 1
	f := s.end()
	if a, b := s.outcome(f, "m").Outcome, s.outcome(f, "n").Outcome; a != code.Adopted || b != code.NewInstanceCreated {
		t.Errorf("%s, %s", a, b)
	}
}
