package rehearsal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Every level that wants another number than the one below makes or deletes machines.
func TestEveryLevelThatWantsAnotherNumberActs(t *testing.T) {
	three := func(s *story) {
		for _, name := range []string{"a", "b", "c"} {
			s.worker(name, found)
		}
	}
	managed := func(topology fields) func(*story) {
		return func(s *story) {
			three(s)
			topology["class"] = "c"
			s.topology(topology)
			s.snapshot.Groups[0].Labels = `{"topology.cluster.x-k8s.io/owned":"","topology.cluster.x-k8s.io/deployment-name":"x"}`
		}
	}
	x := func(more fields) fields {
		more["name"] = "x"
		return fields{"workers": fields{"machineDeployments": []any{more}}}
	}
	play(t, map[string]scene{
		"MachineDeployment wants fewer": {nil, func(s *story) { three(s); s.snapshot.Groups[0].Desired = number(2) }, string(code.MachinesDeleted), []string{"MachineDeployment ns/md deletes 1 machine with its instance"}},
		"MachineDeployment wants more":  {nil, func(s *story) { three(s); s.snapshot.Groups[0].Desired = number(5) }, string(code.MachinesMade), []string{"creates 2 machines"}},
		"MachineSet wants fewer":        {nil, func(s *story) { three(s); s.snapshot.Groups[1].Desired = number(2) }, string(code.MachinesDeleted) + " " + string(code.MachinesMade), nil},
		"MachineSet wants more":         {nil, func(s *story) { three(s); want(s, 4) }, string(code.MachinesMade), []string{"creates 1 machine,"}},
		"MachineSet is paused":          {nil, func(s *story) { three(s); want(s, 4); s.snapshot.Groups[1].Paused = true }, "", nil},
		"MachineDeployment is paused":   {nil, func(s *story) { three(s); s.snapshot.Groups[0].Desired = number(5); s.snapshot.Groups[0].Paused = true }, "", nil},
		"MachineSet may create none":    {nil, func(s *story) { three(s); want(s, 4); s.snapshot.Groups[1].NoCreate = true }, string(code.MachinesMade), []string{"creates 1 machine,"}},
		"MachineSet may create none, nobody else either": {nil, func(s *story) {
			three(s)
			want(s, 4)
			s.snapshot.Groups[0].Paused, s.snapshot.Groups[1].NoCreate = true, true
		}, "", nil},
		"control plane wants more": {nil, func(s *story) { s.plane("p", found); s.snapshot.ControlPlanes[0].Desired = number(3) }, string(code.MachinesMade), []string{"KubeadmControlPlane ns/cp creates 2 machines"}},
		"control plane wants fewer": {nil, func(s *story) {
			s.plane("p", found)
			s.plane("q", found)
			s.snapshot.ControlPlanes[0].Desired = number(1)
		}, string(code.MachinesDeleted), nil},
		"topology wants as many": {nil, managed(x(fields{"replicas": 3})), "", nil},
		"topology wants fewer":   {nil, managed(x(fields{"replicas": 1})), string(code.MachinesDeleted), []string{"deletes 2 machines with their instances"}},
		"topology leaves it":     {nil, managed(x(fields{})), "", nil},
		"topology wants more of the control plane": {nil, func(s *story) {
			s.plane("p", found)
			s.topology(fields{"class": "c", "controlPlane": fields{"replicas": 3}})
		}, string(code.MachinesMade), nil},
		"topology lacks the MachineDeployment": {nil, managed(fields{"workers": fields{"machineDeployments": []any{}}}), string(code.MachinesDeleted), []string{"Running machines are deleted"}},
		"topology has one that the backup lacks": {nil, managed(fields{"workers": fields{"machineDeployments": []any{
			fields{"name": "x"}, fields{"name": "y", "replicas": 2},
		}}}), string(code.MachinesMade), []string{"MachineDeployment y of the topology is not in the backup: it is created again, with 2 machines"}},
		"topology wants another version": {nil, func(s *story) {
			managed(fields{"version": "v2", "workers": fields{"machineDeployments": []any{fields{"name": "x"}}}})(s)
			s.snapshot.Groups[0].Version, s.snapshot.Groups[1].Version = "v1", "v1"
		}, string(code.RolloutDue), []string{"A rollout is due"}},
		"topology wants another version, and defers it": {nil, func(s *story) {
			managed(fields{"version": "v2", "workers": fields{"machineDeployments": []any{
				fields{"name": "x", "metadata": fields{"annotations": fields{"topology.cluster.x-k8s.io/defer-upgrade": ""}}},
			}}})(s)
			s.snapshot.Groups[0].Version, s.snapshot.Groups[1].Version = "v1", "v1"
		}, "", nil},
		"its class is not in the backup": {nil, func(s *story) { managed(x(fields{"replicas": 1}))(s); topologyClassOf(s, "other") }, "", nil}, // core.C1 halts it
		"a template of its class is not in the backup": {nil, func(s *story) {
			managed(x(fields{"replicas": 3}))(s)
			s.snapshot.Absent = []backup.Absence{{Kind: "XTemplate", Namespace: "ns", Name: "t", Clusters: []backup.ClusterID{prod}, HaltsTopology: true}}
		}, string(code.OwnerHalted), []string{"until XTemplate ns/t of ClusterClass ns/", " exists, which the backup lacks"}},
		"an extension of its class is not in the backup": {nil, func(s *story) {
			managed(x(fields{"replicas": 3}))(s)
			s.snapshot.Absent = []backup.Absence{{Kind: "ExtensionConfig", Name: "e", Clusters: []backup.ClusterID{prod}, HaltsTopology: true}}
		}, string(code.OwnerHalted), []string{"until ExtensionConfig e of ClusterClass ns/"}},
		"another template is not in the backup": {nil, func(s *story) {
			managed(x(fields{"replicas": 1}))(s)
			s.snapshot.Absent = []backup.Absence{{Kind: "XTemplate", Namespace: "ns", Name: "t", Clusters: []backup.ClusterID{prod}}}
		}, string(code.MachinesDeleted), nil},
		"the topology was not reconciled": {nil, func(s *story) {
			managed(x(fields{"replicas": 3}))(s)
			s.unreconciled("the patch failed")
		}, string(code.SpecUnseen), []string{"the patch failed"}},
	})
}

// topologyClassOf makes the topology follow another class.
func topologyClassOf(s *story, class string) {
	own := s.snapshot
	s.topology(fields{"class": class, "workers": fields{"machineDeployments": []any{fields{"name": "x", "replicas": 1}}}})
	s.snapshot.Groups = own.Groups
}

// unreconciled makes the Cluster say that its topology was not reconciled.
func (s *story) unreconciled(why string) {
	for r := range clusterKinds.In(s.snapshot).All() {
		r.Data.Unreconciled = backup.Condition{Status: "False", Message: why}
	}
}

// The pool of a topology, and pools that nobody may set back.
func TestPoolsOfEveryKind(t *testing.T) {
	pool := func(state code.Presence, wants, now int64, change func(*story)) func(*story) {
		return func(s *story) {
			s.cluster.Provider = aws
			s.snapshot.Groups = append(s.snapshot.Groups, backup.Group{Meta: meta("mp"), Kind: "MachinePool", Cluster: prod, Desired: number(wants)})
			s.cluster.WorkerGroups = append(s.cluster.WorkerGroups, detector.Set{
				Kind: "MachinePool", Name: "mp", Pool: &detector.PoolState{State: state, Desired: number(wants), DesiredNow: number(now)},
			})
			if change != nil {
				change(s)
			}
		}
	}
	last := func(s *story) *backup.Group { return &s.snapshot.Groups[len(s.snapshot.Groups)-1] }
	play(t, map[string]scene{
		"as wanted":        {nil, pool(code.Present, 3, 3, nil), "", nil},
		"has grown":        {nil, pool(code.Present, 2, 3, nil), string(code.PoolScaledBack), []string{"1 running instance is terminated, as soon as CAPA acts. Set its replicas to 3 before that"}},
		"has shrunk":       {nil, pool(code.Present, 5, 3, nil), string(code.PoolGrown), []string{"2 instances are created"}},
		"is gone":          {nil, pool(code.Absent, 3, 0, nil), string(code.MachinesMade), []string{"The pool of MachinePool ns/mp is gone"}},
		"not decided":      {nil, pool(code.Undecided, 3, 0, nil), string(code.PoolNotDecided), nil},
		"managed":          {nil, pool(code.Present, 2, 3, func(s *story) { last(s).ReplicasManagedBy = "karpenter" }), "", nil},
		"autoscaler":       {nil, pool(code.Present, 2, 3, func(s *story) { last(s).Autoscaled = true }), string(code.PoolScaledBack), nil},
		"paused":           {nil, pool(code.Present, 2, 3, func(s *story) { last(s).Paused = true }), "", nil},
		"paused, and gone": {nil, pool(code.Absent, 3, 0, func(s *story) { last(s).Paused = true }), string(code.OwnerHalted), []string{"until MachinePool mp is unpaused"}},
		"its object is paused": {nil, pool(code.Present, 2, 3, func(s *story) {
			s.expected.Pools = []infra.Pool{{Cluster: prod, Kind: machinePool, Name: "mp", Paused: "AWSMachinePool mp"}}
		}), "", nil},
		"its topology specifies what it has": {nil, pool(code.Present, 2, 3, func(s *story) {
			s.topology(fields{"class": "c", "workers": fields{"machinePools": []any{fields{"name": "x", "replicas": 3}}}})
			last(s).Labels = `{"topology.cluster.x-k8s.io/owned":"","topology.cluster.x-k8s.io/pool-name":"x"}`
		}), "", nil},
	})
}

// Rollouts of control planes that their objects tell, and what keeps them away.
func TestWhatMakesARolloutOfAControlPlaneDue(t *testing.T) {
	three := func(change func(*backup.ControlPlane, *backup.Machine, *story)) func(*story) {
		return func(s *story) {
			m := s.plane("m", found)
			s.plane("n", found).machine.Version = "v2"
			s.plane("o", found).machine.Version = "v2"
			s.snapshot.ControlPlanes[0].Replicas = number(3)
			change(&s.snapshot.ControlPlanes[0], m.machine, s)
		}
	}
	play(t, map[string]scene{
		"version":    {nil, three(func(p *backup.ControlPlane, m *backup.Machine, _ *story) { p.Version, m.Version = "v2", "v1" }), string(code.RolloutDue), []string{"(Machine ns/m)"}},
		"no version": {nil, three(func(p *backup.ControlPlane, _ *backup.Machine, _ *story) { p.Version = "v2" }), string(code.RolloutDue), []string{"(Machine ns/m)"}},
		"template": {nil, three(func(p *backup.ControlPlane, m *backup.Machine, s *story) {
			p.Infrastructure = backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "new"}
			s.expect(member{s.verdictOf("m"), m}, infra.Restore{Template: "old"})
		}), string(code.RolloutDue), []string{"(Machine ns/m)"}},
		"certificates": {nil, three(func(p *backup.ControlPlane, m *backup.Machine, s *story) {
			p.CertificateDays, m.CertificatesExpire = number(21), s.now.Add(20*24*time.Hour)
		}), string(code.RolloutDue), []string{"(Machine ns/m)"}},
		"certificates that last": {nil, three(func(p *backup.ControlPlane, m *backup.Machine, s *story) {
			p.CertificateDays, m.CertificatesExpire = number(21), s.now.Add(22*24*time.Hour)
		}), "", nil},
		"what the Machine said": {nil, three(func(_ *backup.ControlPlane, m *backup.Machine, _ *story) {
			m.Outdated = "* KubeadmConfig is not up-to-date"
		}), string(code.RolloutDue), nil},
		"what the Machine said of a time in the past": {nil, three(func(_ *backup.ControlPlane, m *backup.Machine, _ *story) { m.Outdated = "* spec.rolloutAfter expired" }), "", nil},
		"fewer of them up to date than it has":        {nil, three(func(p *backup.ControlPlane, _ *backup.Machine, _ *story) { p.Updated = number(2) }), string(code.RolloutDue), []string{"of 3 machines it called 2 up to date", "(KubeadmControlPlane ns/cp)"}},
		"a time in the past, which a restore makes void": {nil, three(func(p *backup.ControlPlane, _ *backup.Machine, s *story) {
			p.RolloutAfter, p.Updated = s.now.Add(-time.Hour), number(2)
		}), "", nil},
		"a time to come": {nil, three(func(p *backup.ControlPlane, _ *backup.Machine, s *story) { p.RolloutAfter = s.now.Add(time.Hour) }), string(code.RolloutScheduled), []string{"KubeadmControlPlane ns/cp replaces all its machines at"}},
		"a change that its controller had not seen": {nil, three(func(p *backup.ControlPlane, _ *backup.Machine, _ *story) { p.Unseen = true }), string(code.SpecUnseen), nil},
		"paused": {nil, three(func(p *backup.ControlPlane, m *backup.Machine, _ *story) {
			p.Version, m.Version, p.Paused = "v2", "v1", true
		}), "", nil},
		"no template": {nil, three(func(p *backup.ControlPlane, m *backup.Machine, s *story) {
			p.Version, m.Version = "v2", "v1"
			p.Infrastructure = backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "new"}
			s.lacks(p.Infrastructure)
		}), string(code.OwnerHalted), []string{"does nothing for its machines and their etcd until its template exists again"}},
		"MachineDeployment, half-way": {nil, func(s *story) {
			s.worker("a", found)
			s.worker("b", found).machine.Set = "md-new"
			s.snapshot.Machines[1].Owner.Name = "md-new"
			s.snapshot.Groups[1].Desired = number(1)
			s.snapshot.Groups = append(s.snapshot.Groups, backup.Group{Meta: meta("md-new"), Kind: "MachineSet", Deployment: "md", Cluster: prod, Desired: number(1), Version: "v2"})
			s.snapshot.Groups[0].Version, s.snapshot.Groups[1].Version = "v2", "v1"
		}, string(code.RolloutDue), []string{"(Machine ns/a)"}},
		"MachineDeployment that is halted": {nil, func(s *story) { s.worker("a", found); s.newTemplate(); s.snapshot.Groups[0].Halted = true }, "", nil},
	})
}

// What nobody manages, because who did is not in the backup.
func TestOwnersThatAreNotThere(t *testing.T) {
	play(t, map[string]scene{
		"control plane":     {nil, func(s *story) { s.worker("a", found); s.lacks(s.snapshot.Clusters[0].ControlPlane) }, string(code.OwnerHalted), []string{"Nobody manages the control plane until KubeadmControlPlane ns/cp exists"}},
		"MachineDeployment": {nil, func(s *story) { s.worker("a", found); s.snapshot.Groups = s.snapshot.Groups[1:] }, string(code.OwnerHalted), []string{"Nobody manages the machines of MachineDeployment ns/md"}},
		"MachineSet":        {nil, func(s *story) { s.worker("a", found); s.snapshot.Groups = s.snapshot.Groups[:1] }, string(code.MachinesMade) + " " + string(code.OwnerHalted), []string{"because their MachineSet is not in the backup (Machine ns/a)"}},
	})
}

// No replacement is promised that cannot be made.
func TestNothingIsMadeOfNothing(t *testing.T) {
	bad := func(change func(*story)) func(*story) {
		return func(s *story) {
			s.plane("a", found)
			s.node("a", true)
			change(s)
			s.worker("m", gone)
		}
	}
	play(t, map[string]scene{
		"template object": {coveredBy(workers), bad((*story).noTemplate), string(code.CannotReplace) + " " + string(code.MachinesBroken), []string{"VSphereMachineTemplate md is not in the backup"}},
		"bootstrap template": {coveredBy(workers), bad(func(s *story) {
			ref := backup.Ref{Kind: "KubeadmConfigTemplate", Namespace: "ns", Name: "k"}
			s.snapshot.Groups[0].Bootstrap, s.snapshot.Groups[1].Bootstrap = ref, ref
			s.lacks(ref)
		}), string(code.CannotReplace) + " " + string(code.MachinesBroken), []string{"KubeadmConfigTemplate k is not in the backup"}},
		"template VM": {coveredBy(workers), bad(func(s *story) {
			ref := backup.Ref{Kind: "VSphereMachineTemplate", Namespace: "ns", Name: "t"}
			s.snapshot.Groups[0].Infrastructure, s.snapshot.Groups[1].Infrastructure = ref, ref
			s.resource("VM template", "ubuntu", code.Absent, "")
			s.expected.Recipes = []infra.Recipe{{Cluster: prod, Machine: -1, Object: "VSphereMachineTemplate ns/t", Needs: []infra.Need{{Kind: "VM template", Name: "ubuntu"}}}}
		}), string(code.CannotReplace) + " " + string(code.MachinesBroken), []string{"VM template ubuntu is gone"}},
		"bootstrap object of the control plane": {coveredBy(workers), func(s *story) {
			s.plane("a", found)
			ref := backup.Ref{Kind: "KubeadmConfig", Namespace: "ns", Name: "a"}
			s.snapshot.Machines[0].Bootstrap = ref
			s.lacks(ref)
			s.worker("m", gone)
		}, string(code.MachinesBroken) + " " + string(code.OwnerHalted), []string{"KubeadmControlPlane ns/cp does nothing for its machines and their etcd until KubeadmConfig ns/a exists"}},
		"all there": {coveredBy(workers), bad(func(*story) {}), string(code.StaleReplaced), nil},
	})
}

// After a restore nobody owns anything: a MachineSet has what its selector fits, and a
// MachineDeployment the MachineSets that its own fits.
func TestOwnersTakeWhatTheySelect(t *testing.T) {
	const label = `{"matchLabels":{"group":"MachineSet"}}`
	const stray = "Nobody manages these machines, because their MachineSet does not select them"
	for name, c := range map[string]struct {
		arrange          func(*story)
		strays           string
		created, deleted int
	}{
		"all are selected":           {func(s *story) { s.snapshot.Groups[1].Selector = label }, "", 0, 0},
		"a selector that is absent":  {func(*story) {}, "", 0, 0},
		"a selector that is no JSON": {func(s *story) { s.snapshot.Groups[1].Selector = "x" }, "", 0, 0},
		"one that was set apart": {func(s *story) {
			s.snapshot.Groups[1].Selector = label
			s.snapshot.Machines[1].Labels = `{}`
		}, "Machine ns/b", 1, 0},
		"one that was set apart, and replaced": {func(s *story) {
			s.snapshot.Groups[1].Selector = label
			s.snapshot.Machines[1].Labels = `{}`
			s.snapshot.Groups[0].Desired, s.snapshot.Groups[1].Desired = number(1), number(1)
		}, "Machine ns/b", 0, 0},
		"none is selected": {func(s *story) { s.snapshot.Groups[1].Selector = `{"matchLabels":{"group":"other"}}` }, "Machine ns/a Machine ns/b", 2, 0},
		"a MachineSet that its MachineDeployment does not select": {func(s *story) { s.snapshot.Groups[0].Selector = label }, "", 2, 0},
	} {
		s := newStory(t)
		s.worker("a", found)
		s.worker("b", found)
		c.arrange(s)
		f := s.end().Clusters[0]
		var strays []string
		for _, e := range f.Effects {
			if e.Code == code.OwnerHalted && strings.HasPrefix(e.Message, stray) {
				strays = append(strays, e.Objects...)
			}
		}
		if r := f.Groups[0].Replicas; strings.Join(strays, " ") != c.strays || r.Created != c.created || r.Deleted != c.deleted {
			t.Errorf("%s: strays %q, %+v", name, strays, r)
		}
	}
}

// A Machine that its MachineSet does not select is replaced by nobody.
func TestNobodyReplacesAStray(t *testing.T) {
	s := newStory(t, with(checkSpec(workers), "selector", fields{}))
	s.plane("a", found)
	s.worker("m", gone)
	s.snapshot.Groups[1].Selector = `{"matchLabels":{"group":"other"}}`
	if m := s.outcome(s.end(), "m"); m.Outcome != code.Stuck || !strings.Contains(m.Message, "no MachineSet owns it") {
		t.Errorf("%+v", m)
	}
}

// An upgrade is deferred for one entry, or held from one on.
func TestDeferredUpgrades(t *testing.T) {
	const hold, deferOne = `{"topology.cluster.x-k8s.io/hold-upgrade-sequence":""}`, `{"topology.cluster.x-k8s.io/defer-upgrade":"true"}`
	for want, lists := range map[string][][]string{
		"false": {nil, {""}, {`{"other":""}`}, {"", "", hold}, {deferOne, ""}, {deferOne}, {"x", ""}},
		"true":  {{"", deferOne}, {"", hold}, {hold, ""}, {hold}, {deferOne, deferOne}},
	} {
		for _, list := range lists {
			if got := deferred(list, 2)[1]; fmt.Sprint(got) != want {
				t.Errorf("%q: %v", list, got)
			}
		}
	}
}
