package aws

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// pool adds a MachinePool of one member, with its reference to an infrastructure pool.
func (m made) pool(cluster, name, kind, infraName string) made {
	m.Add("machinepools.cluster.x-k8s.io", capiObject("MachinePool", "ns", name, cluster, map[string]any{
		"clusterName": cluster, "replicas": 1, "providerIDList": []any{"aws:///us-east-1a/" + idOf(1)},
		"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": group, "kind": kind, "name": infraName}}},
	}))
	return m
}

// A Machine without a recorded id is not taken for an instance of its name that says
// itself that it is another's, nor is it said that none was made.
func TestANameThatSomethingContradicts(t *testing.T) {
	twoOwners := capaInstance(idOf(1), "vpc-1", "prod", roleNode, "red/m", "x")
	twoOwners.Tags = append(twoOwners.Tags, lab.EC2Tag{Key: tagOwner + "other", Value: owned})
	inGroup := capaInstance(idOf(1), "vpc-1", "prod", roleNode, "", "m")
	inGroup.Tags = append(inGroup.Tags, lab.EC2Tag{Key: tagGroup, Value: "mp"})
	for name, one := range map[string]lab.EC2Instance{
		"MachineName of another namespace": capaInstance(idOf(1), "vpc-1", "prod", roleNode, "blue/m", "m"),
		"MachineName of another machine":   capaInstance(idOf(1), "vpc-1", "prod", roleNode, "red/prod-md-bcdfg-ccccc", "m"),
		"MachineName of nobody's form":     capaInstance(idOf(1), "vpc-1", "prod", roleNode, "whatever", "m"),
		"made by a group":                  inGroup,
		"its MachineName in another VPC":   capaInstance(idOf(1), "vpc-2", "prod", roleNode, "red/m", "x"),
		"its MachineName and two owners":   twoOwners,
		"its MachineName and no owner":     instanceWith(idOf(1), "vpc-1", lab.EC2Tag{Key: tagMachineName, Value: "red/m"}),
	} {
		t.Run(name, func(t *testing.T) {
			b := newMade().cluster("red", "prod", fleetRegion, "vpc-1").machine("red", "prod", "m", "")
			o, _ := outcomeWith(t, b, one)
			if v := o.machines["red/m"]; v.Status != code.Unknown || v.Reason != code.AmbiguousMatch {
				t.Errorf("it is %s %s, want Unknown AmbiguousMatch", v.Status, v.Reason)
			}
			o.wantUnattributed(t, idOf(1))
		})
	}
}

// Where two sources record different ids, the instance of either may be the machine.
func TestTheInstanceOfASecondIDIsNoGhost(t *testing.T) {
	const name = "prod-md-bcdfg-ccccc"
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").set("ns", "prod", "prod-md-bcdfg", 1)
	labels := map[string]any{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/set-name": "prod-md-bcdfg"}
	own := infraObject(machineKind, "ns", name, "prod", map[string]any{"instanceID": idOf(1)})
	machine := capiObject("Machine", "ns", name, "prod", map[string]any{
		"clusterName": "prod", "providerID": "aws:///us-east-1a/" + idOf(2),
		"infrastructureRef": map[string]any{"apiGroup": group, "kind": machineKind, "name": name},
	})
	own["metadata"].(map[string]any)["labels"], machine["metadata"].(map[string]any)["labels"] = labels, labels
	b.Add("awsmachines."+group, own)
	b.Add("machines.cluster.x-k8s.io", machine)
	o, _ := outcomeWith(t, b,
		capaInstance(idOf(1), "vpc-1", "prod", roleNode, "ns/"+name, name),
		capaInstance(idOf(2), "vpc-1", "prod", roleNode, "ns/prod-md-bcdfg-ddddd", "prod-md-bcdfg-ddddd"))
	if v := o.machines["ns/"+name]; v.Reason != code.ConflictingIDs || len(v.Others) != 2 {
		t.Errorf("it is %s %s and names %d instances", v.Status, v.Reason, len(v.Others))
	}
	o.wantUnattributed(t, idOf(1), idOf(2))
}

// Without its AWSMachine no controller ties a Machine to its instance, by whichever
// key that is found.
func TestMachinesWithoutAWSMachine(t *testing.T) {
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1")
	for _, name := range []string{"by-tag", "by-name"} {
		b.Add("machines.cluster.x-k8s.io", capiObject("Machine", "ns", name, "prod", map[string]any{
			"clusterName": "prod", "infrastructureRef": map[string]any{"apiGroup": group, "kind": machineKind, "name": name},
		}))
	}
	o, _ := outcomeWith(t, b, capaInstance(idOf(1), "vpc-1", "prod", roleNode, "ns/by-tag", "x"), capaInstance(idOf(2), "vpc-1", "prod", roleNode, "", "by-name"))
	for _, name := range []string{"ns/by-tag", "ns/by-name"} {
		if v := o.machines[name]; v.Status != code.Unknown || v.Reason != code.InfraObjectMissing || v.Instance == nil {
			t.Errorf("%s is %s %s", name, v.Status, v.Reason)
		}
	}
}

// A pool is missing only where the backup says what it is called; of a kind that
// nobody reads it is not said that nothing changed.
func TestPoolsThatCannotBeTold(t *testing.T) {
	eks := func(plane bool) made {
		b := newMade()
		b.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", "ns", "prod", "prod", map[string]any{
			"controlPlaneRef":   map[string]any{"apiGroup": planeGroup, "kind": planeKind, "name": "cp"},
			"infrastructureRef": map[string]any{"apiGroup": group, "kind": clusterKind, "name": "prod"},
		}))
		if plane {
			o := infraObject(planeKind, "ns", "cp", "prod", map[string]any{"region": fleetRegion, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}})
			o["apiVersion"] = planeGroup + "/v1beta2"
			b.Add("awsmanagedcontrolplanes."+planeGroup, o)
			return b
		}
		b.Add("awsclusters."+group, infraObject(clusterKind, "ns", "prod", "prod", map[string]any{"region": fleetRegion, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}}))
		return b
	}
	nodegroup := func(b made) made {
		b.Add("awsmanagedmachinepools."+group, infraObject(managedPoolKind, "ns", "own", "prod", map[string]any{"eksNodegroupName": "ng"}))
		return b
	}
	member := instanceWith(idOf(1), "vpc-1", lab.EC2Tag{Key: tagGroup, Value: "eks-ng-1"}, lab.EC2Tag{Key: tagEKSCluster, Value: "ns_cp"}, lab.EC2Tag{Key: tagNodegroup, Value: "ng"})
	for name, c := range map[string]struct {
		b      made
		reason code.Reason
		now    int
	}{
		"all there":                {nodegroup(eks(true)).pool("prod", "mp", managedPoolKind, "own"), "", 1},
		"no managed pool":          {eks(true).pool("prod", "mp", managedPoolKind, "own"), code.PoolUndecided, 1},
		"no control plane":         {nodegroup(eks(false)).pool("prod", "mp", managedPoolKind, "own"), code.PoolUndecided, 1},
		"no AWSMachinePool":        {eks(false).pool("prod", "mp", poolKind, "own"), code.PoolUndecided, 1},
		"a kind that nobody reads": {eks(true).pool("prod", "mp", "ROSAMachinePool", "own"), code.PoolUndecided, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := outcomeWith(t, c.b, member)
			g := groupNamed(r, backup.ClusterID{Namespace: "ns", Name: "prod"}, "mp")
			if g == nil || g.Pool == nil || g.Reason != c.reason || len(g.Pool.Now) != c.now {
				t.Fatalf("the pool is %+v", g)
			}
			if g.Reason != "" && g.Status != code.NeedFurtherConfirmation {
				t.Errorf("the roll-up is %s", g.Status)
			}
		})
	}
}

// Members that the backup lists of a pool whose kind nobody reads are that pool's, unless
// something says more surely whose they are.
func TestMembersOfAPoolThatNobodyReads(t *testing.T) {
	for _, kind := range []string{"ROSAMachinePool", "KarpenterMachinePool"} {
		for name, c := range map[string]struct {
			tags []lab.EC2Tag
			ours bool
		}{
			"no tags":                   {nil, true},
			"the cluster's mark":        {[]lab.EC2Tag{{Key: tagCloud + "prod", Value: owned}}, true},
			"tags of a MachineSet":      {capaInstance(idOf(1), "vpc-1", "prod", roleNode, "ns/prod-md-bcdfg-ccccc", "").Tags, false},
			"tags of a role elsewhere":  {capaInstance(idOf(1), "vpc-1", "twin", roleNode, "", "").Tags, false},
			"tags of a cluster unknown": {capaInstance(idOf(1), "vpc-1", "alien", roleNode, "", "").Tags, false},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").cluster("ns", "twin", fleetRegion, "vpc-1").
					set("ns", "prod", "prod-md-bcdfg", 0).pool("prod", "mp", kind, "own")
				o, r := outcomeWith(t, b, instanceWith(idOf(1), "vpc-1", c.tags...), instanceWith(idOf(2), "vpc-1"))
				_, stranger := o.unattributed[idOf(1)]
				_, ghost := o.ghosts[idOf(1)]
				if (stranger || ghost) == c.ours {
					t.Errorf("the member is %+v %+v", o.unattributed[idOf(1)], o.ghosts[idOf(1)])
				}
				if v := o.unattributed[idOf(2)]; v.Reason != code.InClusterFolder {
					t.Errorf("the instance beside it is %+v", v)
				}
				g := groupNamed(r, backup.ClusterID{Namespace: "ns", Name: "prod"}, "mp")
				if g == nil || g.Reason != code.PoolUndecided || len(g.Pool.Then) != 1 || (len(g.Pool.Now) == 1) != c.ours {
					t.Errorf("the pool is %+v", g)
				}
			})
		}
	}
}

func groupNamed(r detector.Result, id backup.ClusterID, name string) *detector.Set {
	for i := range r.Clusters {
		for j := range r.Clusters[i].WorkerGroups {
			if g := &r.Clusters[i].WorkerGroups[j]; r.Clusters[i].ID == id && g.Name == name {
				return g
			}
		}
	}
	return nil
}
