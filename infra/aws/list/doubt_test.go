package list

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// A Machine without a recorded id is not taken for an instance of its name that says
// itself that it is another's, nor is it said that none was made.
func TestANameThatSomethingContradicts(t *testing.T) {
	twoOwners := capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "red/m", "x")
	twoOwners.Tags = append(twoOwners.Tags, lab.EC2Tag{Key: capa.TagOwner + "other", Value: capa.Owned})
	inGroup := capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "", "m")
	inGroup.Tags = append(inGroup.Tags, lab.EC2Tag{Key: awstest.TagGroup, Value: "mp"})
	for name, one := range map[string]lab.EC2Instance{
		"MachineName of another namespace": capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "blue/m", "m"),
		"MachineName of another machine":   capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "red/prod-md-bcdfg-ccccc", "m"),
		"MachineName of nobody's form":     capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "whatever", "m"),
		"made by a group":                  inGroup,
		"its MachineName in another VPC":   capaInstance(awstest.InstanceID(1), "vpc-2", "prod", awstest.RoleNode, "red/m", "x"),
		"its MachineName and two owners":   twoOwners,
		"its MachineName and no owner":     instanceWith(awstest.InstanceID(1), "vpc-1", lab.EC2Tag{Key: awstest.TagMachineName, Value: "red/m"}),
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Cluster("red", "prod", awstest.Region, "vpc-1").Machine("red", "prod", "m", "")
			o, _ := outcomeWith(t, b, one)
			if v := o.machines["red/m"]; v.Status != code.Unknown || v.Reason != code.AmbiguousMatch {
				t.Errorf("it is %s %s, want Unknown AmbiguousMatch", v.Status, v.Reason)
			}
			o.wantUnattributed(t, awstest.InstanceID(1))
		})
	}
}

// Where two sources record different ids, the instance of either may be the machine.
func TestTheInstanceOfASecondIDIsNoGhost(t *testing.T) {
	const name = "prod-md-bcdfg-ccccc"
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").Set("ns", "prod", "prod-md-bcdfg", 1)
	labels := map[string]any{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/set-name": "prod-md-bcdfg"}
	own := awstest.Object(awstest.MachineKind, "ns", name, "prod", map[string]any{"instanceID": awstest.InstanceID(1)})
	machine := awstest.CAPIObject("Machine", "ns", name, "prod", map[string]any{
		"clusterName": "prod", "providerID": "aws:///us-east-1a/" + awstest.InstanceID(2),
		"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.MachineKind, "name": name},
	})
	own["metadata"].(map[string]any)["labels"], machine["metadata"].(map[string]any)["labels"] = labels, labels
	b.Add("awsmachines."+awstest.Group, own)
	b.Add("machines.cluster.x-k8s.io", machine)
	o, _ := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/"+name, name),
		capaInstance(awstest.InstanceID(2), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-bcdfg-ddddd", "prod-md-bcdfg-ddddd"))
	if v := o.machines["ns/"+name]; v.Reason != code.ConflictingIDs || len(v.Others) != 2 {
		t.Errorf("it is %s %s and names %d instances", v.Status, v.Reason, len(v.Others))
	}
	o.wantUnattributed(t, awstest.InstanceID(1), awstest.InstanceID(2))
}

// Without its AWSMachine no controller ties a Machine to its instance, by whichever
// key that is found.
func TestMachinesWithoutAWSMachine(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1")
	for _, name := range []string{"by-tag", "by-name"} {
		b.Add("machines.cluster.x-k8s.io", awstest.CAPIObject("Machine", "ns", name, "prod", map[string]any{
			"clusterName": "prod", "infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.MachineKind, "name": name},
		}))
	}
	o, _ := outcomeWith(t, b, capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/by-tag", "x"), capaInstance(awstest.InstanceID(2), "vpc-1", "prod", awstest.RoleNode, "", "by-name"))
	for _, name := range []string{"ns/by-tag", "ns/by-name"} {
		if v := o.machines[name]; v.Status != code.Unknown || v.Reason != code.InfraObjectMissing || v.Instance == nil {
			t.Errorf("%s is %s %s", name, v.Status, v.Reason)
		}
	}
}

// A pool is missing only where the backup says what it is called; of a kind that
// nobody reads it is not said that nothing changed.
func TestPoolsThatCannotBeTold(t *testing.T) {
	eks := func(plane bool) awstest.Backup {
		b := awstest.NewBackup()
		b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "prod", "prod", map[string]any{
			"controlPlaneRef":   map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "cp"},
			"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ClusterKind, "name": "prod"},
		}))
		if plane {
			o := awstest.Object(awstest.PlaneKind, "ns", "cp", "prod", map[string]any{"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}})
			o["apiVersion"] = awstest.PlaneGroup + "/v1beta2"
			b.Add("awsmanagedcontrolplanes."+awstest.PlaneGroup, o)
			return b
		}
		b.Add("awsclusters."+awstest.Group, awstest.Object(awstest.ClusterKind, "ns", "prod", "prod", map[string]any{"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}}))
		return b
	}
	nodegroup := func(b awstest.Backup) awstest.Backup {
		b.Add("awsmanagedmachinepools."+awstest.Group, awstest.Object(awstest.ManagedPoolKind, "ns", "own", "prod", map[string]any{"eksNodegroupName": "ng"}))
		return b
	}
	member := instanceWith(awstest.InstanceID(1), "vpc-1", lab.EC2Tag{Key: awstest.TagGroup, Value: "eks-ng-1"}, lab.EC2Tag{Key: awstest.TagEKSCluster, Value: "ns_cp"}, lab.EC2Tag{Key: awstest.TagNodegroup, Value: "ng"})
	for name, c := range map[string]struct {
		b      awstest.Backup
		reason code.Reason
		now    int
	}{
		"all there":                {nodegroup(eks(true)).Pool("prod", "mp", awstest.ManagedPoolKind, "own"), "", 1},
		"no managed pool":          {eks(true).Pool("prod", "mp", awstest.ManagedPoolKind, "own"), code.PoolUndecided, 1},
		"no control plane":         {nodegroup(eks(false)).Pool("prod", "mp", awstest.ManagedPoolKind, "own"), code.PoolUndecided, 1},
		"no AWSMachinePool":        {eks(false).Pool("prod", "mp", awstest.PoolKind, "own"), code.PoolUndecided, 1},
		"a kind that nobody reads": {eks(true).Pool("prod", "mp", "ROSAMachinePool", "own"), code.PoolUndecided, 1},
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
			"the cluster's mark":        {[]lab.EC2Tag{{Key: capa.TagCloud + "prod", Value: capa.Owned}}, true},
			"tags of a MachineSet":      {capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-bcdfg-ccccc", "").Tags, false},
			"tags of a role elsewhere":  {capaInstance(awstest.InstanceID(1), "vpc-1", "twin", awstest.RoleNode, "", "").Tags, false},
			"tags of a cluster unknown": {capaInstance(awstest.InstanceID(1), "vpc-1", "alien", awstest.RoleNode, "", "").Tags, false},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").Cluster("ns", "twin", awstest.Region, "vpc-1").
					Set("ns", "prod", "prod-md-bcdfg", 0).Pool("prod", "mp", kind, "own")
				o, r := outcomeWith(t, b, instanceWith(awstest.InstanceID(1), "vpc-1", c.tags...), instanceWith(awstest.InstanceID(2), "vpc-1"))
				_, stranger := o.unattributed[awstest.InstanceID(1)]
				_, ghost := o.ghosts[awstest.InstanceID(1)]
				if (stranger || ghost) == c.ours {
					t.Errorf("the member is %+v %+v", o.unattributed[awstest.InstanceID(1)], o.ghosts[awstest.InstanceID(1)])
				}
				if v := o.unattributed[awstest.InstanceID(2)]; v.Reason != code.InClusterFolder {
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
