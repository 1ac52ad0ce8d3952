package detector

import (
	"reflect"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// shape returns the statuses of a result: control plane, its reason, workers,
// cluster, the whole.
func shape(r Result) string {
	c := r.Clusters[0]
	var groups []string
	for _, g := range c.WorkerGroups {
		groups = append(groups, g.Kind+"/"+g.Name+" "+string(g.Status)+" "+string(g.Reason))
	}
	return strings.Join([]string{
		"cp " + string(c.ControlPlane.Status) + " " + string(c.ControlPlane.Reason),
		"groups " + strings.Join(groups, ","), "workers " + string(c.Workers), "cluster " + string(c.Status), "all " + string(r.Status),
	}, "; ")
}

func healthyPlane(s *scene, names ...string) {
	for _, n := range names {
		s.machine(prod, n, true)
		s.vmOf(n)
	}
}

func TestRollUp(t *testing.T) {
	const md = "MachineDeployment/md "
	for _, tc := range []struct {
		name    string
		arrange func(*scene)
		want    string
	}{
		{"all is well", func(s *scene) {
			healthyPlane(s, "a")
			s.worker("m")
			s.vmOf("m")
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},

		{"a worker that nobody owns", func(s *scene) {
			one := &s.snap.Machines[s.machine(prod, "alone", false).Machine]
			one.Owner, one.Set, one.Deployment = backup.Owner{}, "", ""
			s.group(prod, "md").Replicas.N, s.group(prod, "md-bcdfg").Replicas.N = 0, 0
			s.vmOf("alone")
		}, "cp Healthy ; groups / Healthy ," + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},

		{"a stale worker", func(s *scene) {
			s.worker("m")
		}, "cp Healthy ; groups " + md + "ManualRemediationNotRequired ; workers ManualRemediationNotRequired; cluster ManualRemediationNotRequired; all ManualRemediationNotRequired"},

		{"an unattributed instance weighs more than a stale worker, on the whole only", func(s *scene) {
			s.worker("m")
			s.vm("x", named("m"))
		}, "cp Healthy ; groups " + md + "ManualRemediationNotRequired ; workers ManualRemediationNotRequired; cluster ManualRemediationNotRequired; all NeedFurtherConfirmationInfraMachines"},

		{"an unknown worker weighs more than that", func(s *scene) {
			s.worker("m").Provider = ""
			s.vm("x")
			byFolder(s)
			s.vm("y", key("folder", "f"))
		}, "cp Healthy ; groups " + md + "NeedFurtherConfirmation ; workers NeedFurtherConfirmation; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"a ghost weighs most", func(s *scene) {
			s.worker("m").Provider = ""
			byStem(s)
			s.vm("x", key("stem", "md-bcdfg"))
		}, "cp Healthy ; groups " + md + "ManualRemediationRequired ; workers ManualRemediationRequired; cluster ManualRemediationRequired; all ManualRemediationRequired"},

		{"a warning that needs a person", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.vm("copy", bios("b-m"))
		}, "cp Healthy ; groups " + md + "NeedFurtherConfirmation ; workers NeedFurtherConfirmation; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"a warning that needs none", func(s *scene) {
			s.worker("m")
			s.vmOf("m").Warnings = []code.Reason{"PoweredOff"}
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},

		{"one of three control-plane machines lost", func(s *scene) {
			healthyPlane(s, "a", "b")
			s.machine(prod, "c", true)
		}, "cp ManualRemediationNotRequired ; groups " + md + "Healthy ; workers Healthy; cluster ManualRemediationNotRequired; all ManualRemediationNotRequired"},

		{"two of three lost: no etcd majority", func(s *scene) {
			healthyPlane(s, "a")
			s.machine(prod, "b", true)
			s.machine(prod, "c", true)
		}, "cp NeedFurtherConfirmation ControlPlaneLost; groups " + md + "Healthy ; workers Healthy; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"two of four lost: half is no majority", func(s *scene) {
			healthyPlane(s, "a", "b")
			s.machine(prod, "c", true)
			s.machine(prod, "d", true)
		}, "cp NeedFurtherConfirmation ControlPlaneLost; groups " + md + "Healthy ; workers Healthy; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"unknown control-plane machines are not lost", func(s *scene) {
			s.machine(prod, "a", true).Provider = ""
		}, "cp NeedFurtherConfirmation ; groups " + md + "Healthy ; workers Healthy; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"fewer control-plane machines than counted", func(s *scene) {
			healthyPlane(s, "a")
			s.plane(prod).Replicas = known(3)
		}, "cp NeedFurtherConfirmation MachinesNotInBackup; groups " + md + "Healthy ; workers Healthy; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"fewer workers than counted", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.group(prod, "md").Replicas = known(2)
		}, "cp Healthy ; groups " + md + "NeedFurtherConfirmation MachinesNotInBackup; workers NeedFurtherConfirmation; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"more workers than counted is a rollout, no drift", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.group(prod, "md").Replicas = known(0)
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},

		{"a pool that no provider reads", func(s *scene) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Namespace: "tenant", Name: "pool"}, Kind: machinePool, Cluster: prod, Replicas: known(4)})
		}, "cp Healthy ; groups " + md + "Healthy ,MachinePool/pool NeedFurtherConfirmation PoolUndecided; workers NeedFurtherConfirmation; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"a hosted control plane went down with the management cluster", func(s *scene) {
			s.snap.Clusters[0].ControlPlane = backup.Ref{Kind: "K0smotronControlPlane", Name: "cp"}
			s.plane(prod).Kind = "K0smotronControlPlane"
			s.plane(prod).Replicas = known(3)
		}, "cp NeedFurtherConfirmation HostedInManagementCluster; groups " + md + "Healthy ; workers Healthy; cluster NeedFurtherConfirmation; all NeedFurtherConfirmation"},

		{"a managed control plane has no machines", func(s *scene) {
			s.snap.Clusters[0].ControlPlane = backup.Ref{Kind: "AWSManagedControlPlane", Name: "cp"}
			s.plane(prod).Kind = "AWSManagedControlPlane"
			s.plane(prod).Replicas = known(3)
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},

		{"the management cluster itself is shown and not counted", func(s *scene) {
			s.snap.Clusters[0].Self = true
			s.worker("m")
		}, "cp Healthy ; groups " + md + "ManualRemediationNotRequired ; workers ManualRemediationNotRequired; cluster ManualRemediationNotRequired; all Healthy"},

		{"an item that could not be read", func(s *scene) {
			s.snap.Problems = []backup.Problem{{Item: "resources/x", Reason: "invalid JSON"}}
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all NeedFurtherConfirmation"},

		{"a scope that is not complete", func(s *scene) {
			s.listings[0].State = code.ScopeFailed
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all NeedFurtherConfirmation"},

		{"a scope that is complete and not proven", func(s *scene) {
			s.worker("m")
			s.vmOf("m")
			s.expected.Proofs = nil
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all NeedFurtherConfirmation"},

		{"a Node list that could not be read changes nothing", func(s *scene) {
			s.node(prod, bios("x"), "")
			s.listings[1].State, s.listings[1].NodeState = code.ScopeFailed, "unreachable"
			s.listings[1].Fault = &infra.Fault{Reason: "Unreachable", Message: "timeout"}
		}, "cp Healthy ; groups " + md + "Healthy ; workers Healthy; cluster Healthy; all Healthy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.arrange(s)
			if got := shape(s.detect()); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestHeaderOfAControlPlane(t *testing.T) {
	for _, tc := range []struct {
		name       string
		arrange    func(*scene)
		kind       string
		applicable bool
		desired    backup.Number
	}{
		{"as the cluster says", func(s *scene) { s.plane(prod).Desired = known(3) }, plane, true, known(3)},
		{"its object is absent", func(s *scene) { s.snap.ControlPlanes = nil }, plane, true, backup.Number{}},
		{"managed", func(s *scene) {
			s.snap.Clusters[0].ControlPlane.Kind = "AWSManagedControlPlane"
		}, "AWSManagedControlPlane", false, backup.Number{}},
		{"nothing known", func(s *scene) {
			s.snap.Clusters[0].ControlPlane, s.snap.ControlPlanes = backup.Ref{}, nil
		}, "", false, backup.Number{}},
		{"known by its machines only", func(s *scene) {
			s.machine(prod, "a", true)
			s.snap.Clusters[0].ControlPlane, s.snap.ControlPlanes = backup.Ref{}, nil
		}, plane, true, backup.Number{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			tc.arrange(s)
			c := s.detect().Clusters[0]
			if c.ControlPlane.Kind != tc.kind || c.Applicable != tc.applicable || c.ControlPlane.Desired != tc.desired {
				t.Errorf("got %q applicable %v desired %v", c.ControlPlane.Kind, c.Applicable, c.ControlPlane.Desired)
			}
		})
	}
}

func TestClusterHeader(t *testing.T) {
	s := newScene()
	s.snap.Clusters[0].Paused, s.snap.Clusters[0].Derived, s.snap.Clusters[0].Endpoint = true, true, "10.0.0.1:6443"
	s.expected.Providers = map[backup.ClusterID]string{prod: "vsphere"}
	s.node(prod, bios("x"), "")
	s.node(prod, bios("y"), "")
	lost := s.machine(prod, "m", false)
	s.snap.Machines[lost.Machine].Cluster = backup.ClusterID{Namespace: "tenant", Name: "nameless"}
	r := s.detect()
	want := Cluster{ID: prod, Provider: "vsphere", Paused: true, Derived: true, Endpoint: "10.0.0.1:6443", Nodes: report.Nodes{State: "read", Count: 2}}
	got := r.Clusters[1]
	got.ControlPlane, got.WorkerGroups, got.Workers, got.Status, got.Applicable = Set{}, nil, "", "", false
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c := r.Clusters[0]; c.ID.Name != "nameless" || !c.Derived || c.Nodes.State != "skipped" || len(verdictsOf(c)) != 1 {
		t.Errorf("the machine of a cluster that is not in the backup: %+v", c)
	}
}

func TestErrors(t *testing.T) {
	s := newScene()
	s.snap.Problems = []backup.Problem{{Item: "z", Reason: "bad"}, {Item: "a", Reason: "worse"}}
	if !s.detect().Complete {
		t.Error("an item on which no verdict rests made the result incomplete")
	}
	s.snap.Problems[1].Decisive = true
	if s.detect().Complete {
		t.Error("the result is complete without an item on which verdicts rest")
	}
	s.listings[0].State, s.listings[0].Fault = code.ScopeFailed, &infra.Fault{Reason: "Unreachable", Message: "no route", Hint: "open the firewall"}
	want := []Error{{Object: "a", Message: "worse", Hint: "nothing is concluded from what could not be read; take another backup, or see what that object is", Unread: true}, {Object: "z", Message: "bad"}, {Scope: "vsphere vc/user", Message: "no route", Hint: "open the firewall"}}
	if got := s.detect().Errors; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// One listing can be the unproven home of several clusters.
func TestUnprovenScopeNamesItsClusters(t *testing.T) {
	s := newScene()
	s.cluster(backup.ClusterID{Namespace: "tenant", Name: "alpha"})
	s.worker("m")
	s.machine(backup.ClusterID{Namespace: "tenant", Name: "alpha"}, "n", false)
	s.expected.Proofs[0].Hint, s.expected.Proofs[1].Hint = "look here", "look here"
	s.listings[0].ProbesFound = nil
	sc := s.detect().Scopes[0]
	want := &infra.Fault{Reason: code.VisibilityUnproven, Message: "vc/user was listed, but nothing shows that it is where the machines of tenant/alpha, tenant/prod are", Hint: "look here"}
	if sc.State != code.ScopePartial || !reflect.DeepEqual(sc.Error, want) {
		t.Errorf("got %s %+v", sc.State, sc.Error)
	}
	if s.listings[0].State != code.ScopeComplete || s.listings[0].Fault != nil {
		t.Error("the input was changed")
	}
}
