package rehearsal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/infra/walk"
	"drift-detector/report"
	"drift-detector/report/code"
)

// A story is a small fleet with verdicts that tests arrange: cluster ns/prod
// with the control plane "cp" and the MachineDeployment "md", whose MachineSet
// is "md-old".
type story struct {
	t         *testing.T
	snapshot  *backup.Snapshot
	inventory infra.Inventory
	absent    []backup.Absence
	expected  infra.Expected
	secrets   Secrets
	now       time.Time
	checks    []fields // specs of its health checks
	cluster   detector.Cluster
	trace     Trace
	partial   bool // not everything could be looked at
}

var prod = backup.ClusterID{Namespace: "ns", Name: "prod"}

type fields = map[string]any

// checkSpec returns a health check of v1beta2 that covers what has the label.
func checkSpec(label string) fields {
	return fields{
		"clusterName": "prod", "selector": fields{"matchLabels": fields{"group": label}},
		"checks": fields{"nodeStartupTimeoutSeconds": 120, "unhealthyNodeConditions": []any{fields{"type": "Ready", "status": "Unknown", "timeoutSeconds": 60}}},
	}
}

// topology gives the story's Cluster a topology, with its ClusterClass "c". What was
// arranged in the Snapshot before stays.
func (s *story) topology(topology fields) {
	s.t.Helper()
	if class, ok := topology["class"]; ok {
		delete(topology, "class")
		topology["classRef"] = fields{"name": class}
	}
	with := newTarball(fields{"topology": topology}, s.checks).Add("clusterclasses.cluster.x-k8s.io", fields{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": fields{"namespace": "ns", "name": "c"},
	})
	snapshot := load(s.t, with)
	snapshot.ControlPlanes, snapshot.Groups, snapshot.Machines = s.snapshot.ControlPlanes, s.snapshot.Groups, s.snapshot.Machines
	s.snapshot = snapshot
}

// newTarball returns a backup of the Cluster with more in its spec, and of health checks.
func newTarball(more fields, checks []fields) *backuptest.Tarball {
	spec := fields{"controlPlaneRef": fields{"apiGroup": "controlplane.cluster.x-k8s.io", "kind": kubeadm, "name": "cp"}}
	maps.Copy(spec, more)
	b := backuptest.New().Add("clusters.cluster.x-k8s.io", fields{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": fields{"namespace": "ns", "name": "prod"}, "spec": spec,
	})
	for i, spec := range checks {
		b.Add("machinehealthchecks.cluster.x-k8s.io", fields{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck",
			"metadata": fields{"namespace": "ns", "name": fmt.Sprintf("check-%d", i)}, "spec": spec,
		})
	}
	return b
}

func load(t *testing.T, b *backuptest.Tarball) *backup.Snapshot {
	t.Helper()
	s, _, err := backup.Load(context.Background(), []backup.Source{backuptest.Source("b", b.Bytes())}, Want())
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	s.Absent = nil // the control plane is added by hand
	return s
}

// newStory has the health checks of those specs.
func newStory(t *testing.T, checks ...fields) *story {
	t.Helper()
	s := load(t, newTarball(nil, checks))
	out := &story{t: t, snapshot: s, checks: checks, now: backuptest.Written.Add(time.Hour), cluster: detector.Cluster{
		ID: prod, Provider: vsphere, Applicable: true,
		ControlPlane: detector.Set{Kind: kubeadm, Name: "cp", Desired: number(0)},
		WorkerGroups: []detector.Set{{Kind: "MachineDeployment", Name: "md", Desired: number(0)}},
	}}
	s.ControlPlanes = []backup.ControlPlane{{Meta: meta("cp"), Kind: kubeadm, Cluster: prod, Desired: number(0)}}
	s.Groups = []backup.Group{
		{Meta: meta("md"), Kind: "MachineDeployment", Cluster: prod, Desired: number(0)},
		{Meta: meta("md-old"), Kind: "MachineSet", Deployment: "md", Cluster: prod, Desired: number(0)},
	}
	return out
}

func number(n int64) backup.Number { return backup.Number{N: n, Known: true} }

func meta(name string) backup.Meta {
	return backup.Meta{Namespace: "ns", Name: name, UID: "uid-" + name}
}

// member is one machine of a story, to be bent.
type member struct {
	verdict *detector.Verdict
	machine *backup.Machine
}

// The names of the providers, and what they say of their controllers.
const (
	vsphere = "vsphere"
	aws     = "aws"
)

var controllers = withSynthetic(all.Registry().Controllers())

var (
	found  = detector.Verdict{Status: code.Healthy, Instance: &infra.Instance{ID: "1"}, ByID: true, Finds: detector.FindsByID}
	byName = detector.Verdict{Status: code.Healthy, Instance: &infra.Instance{ID: "1"}, Finds: detector.FindsByName}
	gone   = detector.Verdict{Status: code.Stale, Reason: code.InstanceNotFound, Finds: detector.FindsByID}
	left   = detector.Verdict{Status: code.Stale, Reason: code.PoolMember, Finds: detector.FindsByID}
	never  = detector.Verdict{Status: code.Stale, Reason: code.NotProvisioned}
	alien  = detector.Verdict{Status: code.Ghost, RoleKnown: true, Instance: &infra.Instance{ID: "2"}}
)

func unknown(reason code.Reason) detector.Verdict {
	return detector.Verdict{Status: code.Unknown, Reason: reason}
}

// halted returns an instance that exists and does not run.
func halted(v detector.Verdict) detector.Verdict {
	i := *v.Instance
	i.Warnings = []code.Reason{code.PoweredOff}
	v.Instance = &i
	if v.Status == code.Healthy {
		v = warned(v, code.PoweredOff)
	}
	return v
}

// asleep returns a VM that CAPV does not power on.
func asleep(v detector.Verdict) detector.Verdict {
	v = halted(v)
	v.Instance.State = suspended
	return v
}

func warned(v detector.Verdict, reasons ...code.Reason) detector.Verdict {
	v.Warnings = nil
	for _, r := range reasons {
		v.Warnings = append(v.Warnings, report.Warning{Reason: r})
	}
	return v
}

// worker adds a Machine of md-old with a verdict, and wants it.
func (s *story) worker(name string, v detector.Verdict) member {
	s.snapshot.Groups[0].Desired.N++
	s.snapshot.Groups[1].Desired.N++
	s.cluster.WorkerGroups[0].Desired.N++
	m := s.machine(name, backup.Owner{Kind: "MachineSet", Name: "md-old"})
	m.Set, m.Deployment = "md-old", "md"
	return member{s.verdict(&s.cluster.WorkerGroups[0], name, m.UID, v), m}
}

// plane adds a Machine of the control plane; more than one are wanted.
func (s *story) plane(name string, v detector.Verdict) member {
	m := s.machine(name, backup.Owner{Kind: s.cluster.ControlPlane.Kind, Name: "cp"})
	m.ControlPlane = true
	v.ControlPlane = true
	at := s.verdict(&s.cluster.ControlPlane, name, m.UID, v)
	n := int64(len(s.cluster.ControlPlane.Machines))
	s.snapshot.ControlPlanes[0].Desired.N, s.cluster.ControlPlane.Desired.N = n, n
	return member{at, m}
}

func (s *story) machine(name string, owner backup.Owner) *backup.Machine {
	if cap(s.snapshot.Machines) == 0 {
		s.snapshot.Machines = make([]backup.Machine, 0, 100) // so that members stay where they are
	}
	s.snapshot.Machines = append(s.snapshot.Machines, backup.Machine{
		Meta: meta(name), Created: backuptest.Written.Add(-time.Hour), Cluster: prod, Owner: owner, ProviderID: "vsphere://" + name, Labels: `{"group":"` + backup.Labels(owner.Kind) + `"}`,
	})
	return &s.snapshot.Machines[len(s.snapshot.Machines)-1]
}

// expect makes the story's provider say something of a Machine.
func (s *story) expect(m member, r infra.Restore) {
	for i := range s.snapshot.Machines {
		if &s.snapshot.Machines[i] == m.machine {
			s.expected.Machines = append(s.expected.Machines, infra.ExpectedMachine{Machine: i, Provider: s.cluster.Provider, Restore: &r})
		}
	}
}

// finding returns a verdict on a machine whose controller takes that for its instance.
func finding(v detector.Verdict, f detector.Finds) detector.Verdict {
	v.Finds = f
	return v
}

// ghostWorker and ghostPlane add instances without a Machine, orphan one whose
// Machine alone is missing.
func (s *story) ghostWorker(name string) *detector.Verdict {
	return s.verdict(&s.cluster.WorkerGroups[0], name, "", alien)
}

func (s *story) ghostPlane(name string) *detector.Verdict {
	v := alien
	v.ControlPlane = true
	return s.verdict(&s.cluster.ControlPlane, name, "", v)
}

func (s *story) orphan(name string) *detector.Verdict {
	return s.verdict(&s.cluster.WorkerGroups[0], name, "infra-"+name, warned(found, code.MachineMissing))
}

func (s *story) verdict(to *detector.Set, name, uid string, v detector.Verdict) *detector.Verdict {
	v.Namespace, v.Name, v.UID = "ns", name, uid
	to.Machines = append(to.Machines, &v)
	return &v
}

// node registers a Node of that machine, and says that the Node list was read.
func (s *story) node(machine string, ready bool) {
	s.inventory.Listings = append(s.inventory.Listings, infra.Listing{
		NodeState: "read", Clusters: []backup.ClusterID{prod},
		Nodes: []infra.Node{{Cluster: prod, Name: "node-" + machine, ProviderID: "vsphere://" + machine, Ready: ready}},
	})
}

// contested makes several owners select a machine.
func (s *story) contested(m member) {
	s.trace.Steps = append(s.trace.Steps, walk.Step{
		Row: &walk.Row{ID: "core.S2", Several: walk.Deletes.Says("one too many is deleted")}, Cluster: prod, Subject: "Machine ns/" + m.machine.Name,
		Machine: slices.IndexFunc(s.snapshot.Machines, func(one backup.Machine) bool { return one.UID == m.machine.UID }),
		Answer:  walk.Answer{Found: walk.Several, Why: "two select it"},
	})
}

func (s *story) result() detector.Result {
	return detector.Result{Complete: !s.partial, Clusters: []detector.Cluster{s.cluster}}
}

// inputs returns what the story is forecast from.
func (s *story) inputs() Inputs {
	expected := s.expected
	expected.Absent = s.absent
	return Inputs{Snapshot: s.snapshot, Expected: expected, Inventory: s.inventory, Result: s.result(), Controllers: controllers, Secrets: s.secrets, Now: s.now}
}

// end forecasts the story.
func (s *story) end() Forecast { return s.forecast(outcomeRows) }

// forecast reads the story's own trace by a table.
func (s *story) forecast(table []outcomeRow) Forecast {
	in := s.inputs()
	w := newWorld(&in)
	w.trace.Steps = slices.Clone(s.trace.Steps)
	w.readTrace()
	return *rules{table, conditionRows}.of(w)
}

// fate is the forecast of one machine by its name.
func (s *story) outcome(f Forecast, name string) Machine {
	s.t.Helper()
	c := &f.Clusters[0]
	for i, v := range s.cluster.ControlPlane.Machines {
		if v.Name == name {
			return c.ControlPlane.Machines[i]
		}
	}
	for i, v := range s.cluster.WorkerGroups[0].Machines {
		if v.Name == name {
			return c.Groups[0].Machines[i]
		}
	}
	s.t.Fatalf("no machine %s", name)
	return Machine{}
}

const (
	workers = "MachineSet"
	planes  = kubeadm
)
