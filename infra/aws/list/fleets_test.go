package list

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	groups "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// outcomeWith lists and decides on instances of the one region of a backup.
func outcomeWith(t *testing.T, b awstest.Backup, instances ...lab.EC2Instance) (outcome, detector.Result) {
	t.Helper()
	b.Keys()
	return seen(t, b, lab.EC2Options{Backup: awstest.Save(t, b)}, instances...)
}

func (o outcome) wantGhost(t *testing.T, id, namespace string, strength code.Strength) {
	t.Helper()
	g, ok := o.ghosts[id]
	if !ok || g.Status != code.Ghost || g.Namespace != namespace || g.Evidence[0].Strength != strength {
		t.Errorf("%s is %+v, want a Ghost of %s, %s; those that need a person are %v", id, g, namespace, strength, o.unattributed)
	}
}

func (o outcome) wantUnattributed(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if _, ok := o.unattributed[id]; !ok {
			t.Errorf("%s does not need a person: %+v", id, o.ghosts[id])
		}
	}
	if len(o.unattributed) != len(ids) {
		t.Errorf("%d instances need a person, want %d", len(o.unattributed), len(ids))
	}
}

// Two clusters of one name in two namespaces, and another team's of the same
// name in the account, are distinguished; what cannot be is nobody's Ghost.
func TestClustersOfOneName(t *testing.T) {
	b := awstest.NewBackup().
		Cluster("red", "prod", awstest.Region, "vpc-shared").Set("red", "prod", "prod-md-bcdfg", 0).Set("red", "prod", "prod-x-bbbbb", 0).
		Cluster("blue", "prod", awstest.Region, "vpc-shared").Set("blue", "prod", "prod-md-xwvtz", 0).Set("blue", "prod", "prod-x-bbbbb", 0)
	o, _ := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(1), "vpc-shared", "prod", awstest.RoleNode, "red/prod-x-bbbbb-bbbbb", "prod-x-bbbbb-bbbbb"),
		capaInstance(awstest.InstanceID(2), "vpc-shared", "prod", awstest.RoleNode, "blue/prod-x-bbbbb-bbbbb", "prod-x-bbbbb-bbbbb"),
		capaInstance(awstest.InstanceID(3), "vpc-shared", "prod", awstest.RoleNode, "", "prod-md-bcdfg-ccccc"),
		capaInstance(awstest.InstanceID(4), "vpc-shared", "prod", awstest.RoleNode, "", "prod-md-xwvtz-ccccc"),
		capaInstance(awstest.InstanceID(5), "vpc-shared", "prod", awstest.RoleNode, "", "by-hand"),
		capaInstance(awstest.InstanceID(6), "vpc-shared", "prod", awstest.RoleNode, "green/prod-md-bcdfg-ddddd", "prod-md-bcdfg-ddddd"),
		capaInstance(awstest.InstanceID(7), "vpc-theirs", "prod", awstest.RoleNode, "red/prod-md-bcdfg-fffff", "prod-md-bcdfg-fffff"),
		capaInstance(awstest.InstanceID(8), "vpc-theirs", "prod", awstest.RoleNode, "", "prod-md-bcdfg-ggggg"),
	)
	o.wantGhost(t, awstest.InstanceID(1), "red", code.Strong)
	o.wantGhost(t, awstest.InstanceID(2), "blue", code.Strong)
	o.wantGhost(t, awstest.InstanceID(3), "red", code.Medium)
	o.wantGhost(t, awstest.InstanceID(4), "blue", code.Medium)
	o.wantUnattributed(t, awstest.InstanceID(5), awstest.InstanceID(6), awstest.InstanceID(7), awstest.InstanceID(8))
	if len(o.ghosts) != 4 {
		t.Errorf("there are %d Ghosts, want 4", len(o.ghosts))
	}
}

// What is in the cluster's VPC without being a machine of it.
func TestNeighbours(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").Set("ns", "prod", "prod-md-bcdfg", 0)
	two := capaInstance(awstest.InstanceID(4), "vpc-1", "prod", awstest.RoleNode, "", "prod-md-bcdfg-ccccc")
	two.Tags = append(two.Tags, lab.EC2Tag{Key: capa.TagOwner + "other", Value: capa.Owned})
	shared := capaInstance(awstest.InstanceID(5), "vpc-1", "prod", awstest.RoleNode, "", "prod-md-bcdfg-ddddd")
	shared.Tags[1].Value = "shared"
	ended := capaInstance(awstest.InstanceID(8), "vpc-1", "prod", awstest.RoleNode, "", "prod-md-bcdfg-fffff")
	ended.State = lab.EC2State{Code: 32, Name: "shutting-down"}
	capaMarked := capaInstance(awstest.InstanceID(12), "vpc-1", "other", awstest.RoleNode, "", "other-md-bcdfg-ccccc")
	capaMarked.Tags = append(capaMarked.Tags, lab.EC2Tag{Key: awstest.TagKarpenter, Value: "default"})
	o, r := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", "bastion", "", "prod-bastion"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "prod", "common", "", "prod-nat"),
		capaInstance(awstest.InstanceID(3), "vpc-1", "other", awstest.RoleNode, "", "other-md-bcdfg-bbbbb"),
		two, shared,
		instanceWith(awstest.InstanceID(6), "vpc-1", lab.EC2Tag{Key: awstest.TagRole, Value: "bastion"}),
		capaInstance(awstest.InstanceID(7), "vpc-1", "prod", "ingress", "", "prod-md-bcdfg-ggggg"),
		ended,
		instanceWith(awstest.InstanceID(9), "vpc-elsewhere"),
		capaInstance(awstest.InstanceID(10), "vpc-1", "prod", awstest.RoleNode, "without namespace", "prod-md-bcdfg-hhhhh"),
		instanceWith(awstest.InstanceID(11), "vpc-1", lab.EC2Tag{Key: awstest.TagKarpenter, Value: "default"}, lab.EC2Tag{Key: capa.TagCloud + "prod", Value: capa.Owned}),
		capaMarked,
	)
	o.wantUnattributed(t, awstest.InstanceID(3), awstest.InstanceID(4), awstest.InstanceID(5), awstest.InstanceID(6), awstest.InstanceID(7), awstest.InstanceID(10), awstest.InstanceID(12))
	if len(o.ghosts) > 0 {
		t.Errorf("the Ghosts are %v", o.ghosts)
	}
	if r.Excluded[capa.Bastion] != 1 || r.Excluded["NAT"] != 1 || r.Excluded["terminated"] != 1 || r.Excluded["Karpenter"] != 1 || r.OutOfScope != 1 {
		t.Errorf("excluded are %v, out of scope %d", r.Excluded, r.OutOfScope)
	}
}

// A MachineSet that the backup does not hold completely makes no Ghosts.
func TestIncompleteOwners(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").
		Set("ns", "prod", "prod-md-bcdfg", 1).Set("ns", "prod", "prod-md-xwvtz", 0)
	o, _ := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-bcdfg-ccccc", "prod-md-bcdfg-ccccc"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "prod", awstest.RoleNode, "ns/prod-md-xwvtz-ccccc", "prod-md-xwvtz-ccccc"),
	)
	if g := o.ghosts[awstest.InstanceID(1)]; g.Status != code.Unknown || g.Reason != code.MachineNotInBackup {
		t.Errorf("it is %s %s", g.Status, g.Reason)
	}
	o.wantGhost(t, awstest.InstanceID(2), "ns", code.Strong)
}

// Machines whose instance id the backup does not record are found by their
// tags, as CAPA finds them.
func TestMachinesWithoutInstanceID(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").
		Machine("ns", "prod", "by-tag", "").Machine("ns", "prod", "by-name", "").Machine("ns", "prod", "none", "").
		Machine("ns", "prod", "namesake", "").Machine("ns", "prod", "changed", awstest.InstanceID(90))
	o, _ := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "ns/by-tag", "another name"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "prod", awstest.RoleNode, "", "by-name"),
		capaInstance(awstest.InstanceID(3), "vpc-2", "prod", awstest.RoleNode, "", "namesake"),
		capaInstance(awstest.InstanceID(4), "vpc-1", "prod", awstest.RoleNode, "ns/changed", "changed"),
	)
	for name, want := range map[string]struct {
		status code.Status
		reason string
	}{
		"by-tag": {code.Unknown, "NotFoundByName"}, "by-name": {code.Healthy, ""},
		"none": {code.Stale, "NotProvisioned"}, "namesake": {code.Unknown, "AmbiguousMatch"}, "changed": {code.Unknown, "IdentityChanged"},
	} {
		if v := o.machines["ns/"+name]; v.Status != want.status || string(v.Reason) != want.reason {
			t.Errorf("%s is %s %s, want %s %s", name, v.Status, v.Reason, want.status, want.reason)
		}
	}
	if len(o.ghosts) > 0 {
		t.Errorf("the Ghosts are %v", o.ghosts)
	}
}

// An EKS cluster: no machines of the control plane, a node group as a pool, and
// the name of its own in the tags.
func TestEKS(t *testing.T) {
	b := awstest.NewBackup()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "eks", "eks", map[string]any{
		"controlPlaneRef":   map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "eks-cp"},
		"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ManagedClusterKind, "name": "eks"},
	}))
	plane := awstest.Object(awstest.PlaneKind, "ns", "eks-cp", "eks", map[string]any{
		"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}},
	})
	plane["apiVersion"] = awstest.PlaneGroup + "/v1beta2"
	b.Add("awsmanagedcontrolplanes."+awstest.PlaneGroup, plane)
	pool := awstest.CAPIObject("MachinePool", "ns", "mp", "eks", map[string]any{
		"clusterName": "eks", "replicas": 2,
		"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ManagedPoolKind, "name": "mmp"}}},
	})
	pool["metadata"].(map[string]any)["annotations"] = map[string]any{"cluster.x-k8s.io/replicas-managed-by": "external-autoscaler"}
	b.Add("machinepools.cluster.x-k8s.io", pool)
	b.Add("awsmanagedmachinepools."+awstest.Group, awstest.Object(awstest.ManagedPoolKind, "ns", "mmp", "eks", map[string]any{
		"eksNodegroupName": "ng", "providerIDList": []any{"aws:///us-east-1a/" + awstest.InstanceID(1)},
	}))
	b.Set("ns", "eks", "eks-md-bcdfg", 0)
	s, secrets := load(t, b.Keys().Bytes())
	c := New().Expected(s)
	if len(c.Pools) != 1 || c.Pools[0].ManagedBy != "external-autoscaler" || c.Pools[0].Desired != (backup.Number{N: 2, Known: true}) ||
		!slices.Equal(c.Pools[0].Members, []infra.Key{{Kind: infra.KeyKindOf("instanceID"), Value: awstest.InstanceID(1)}}) {
		t.Fatalf("the pools are %+v", c.Pools)
	}
	serve(t, lab.EC2Options{}, nil,
		instanceWith(awstest.InstanceID(1), "vpc-1", lab.EC2Tag{Key: awstest.TagGroup, Value: "eks-ng-1234"}, lab.EC2Tag{Key: awstest.TagEKSCluster, Value: "ns_eks-cp"}, lab.EC2Tag{Key: awstest.TagNodegroup, Value: "ng"}),
		instanceWith(awstest.InstanceID(3), "vpc-1", lab.EC2Tag{Key: awstest.TagGroup, Value: "eks-ng-5678"}, lab.EC2Tag{Key: awstest.TagEKSCluster, Value: "another"}, lab.EC2Tag{Key: awstest.TagNodegroup, Value: "ng"}),
		capaInstance(awstest.InstanceID(2), "vpc-1", "ns_eks-cp", awstest.RoleNode, "ns/eks-md-bcdfg-ccccc", "x"),
	)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	l := inv.Listings[0]
	if len(l.Instances) != 3 || !l.Instances[0].HasKey(c.Pools[0].Key) || l.Instances[1].HasKey(c.Pools[0].Key) || l.Instances[2].HasKey(c.Pools[0].Key) {
		t.Errorf("the instances are %+v", l.Instances)
	}
	if !slices.Contains(l.ProbesFound, c.Pools[0].Probe) {
		t.Error("the node group was not found")
	}
	r := decide(t, s, inv)
	outcomeOf(r).wantGhost(t, awstest.InstanceID(2), "ns", code.Strong)
	if r.Clusters[0].Applicable || r.Clusters[0].Provider != capa.Name {
		t.Errorf("the cluster is %+v", r.Clusters[0])
	}
}

// What AWSCluster names beside machines is looked for, each by itself.
func TestResources(t *testing.T) {
	b := awstest.NewBackup().Keys().Cluster("ns", "plain", awstest.Region, "vpc-1")
	full := awstest.Object(awstest.ClusterKind, "ns", "full", "full", map[string]any{
		"region": awstest.Region,
		"network": map[string]any{"vpc": map[string]any{"id": "vpc-2"}, "subnets": []any{
			map[string]any{"id": "subnet-a", "natGatewayId": "nat-a"},
			map[string]any{"id": "placeholder", "resourceID": "subnet-b"},
			map[string]any{"id": "not made yet"},
		}},
	})
	full["status"] = map[string]any{
		"bastion": map[string]any{"id": awstest.InstanceID(7)},
		"networkStatus": map[string]any{
			"apiServerElb":   map[string]any{"name": "lb", "loadBalancerType": "nlb"},
			"securityGroups": map[string]any{"node": map[string]any{"id": "sg-node"}, "lb": map[string]any{"id": "sg-lb"}},
		},
	}
	b.Add("awsclusters."+awstest.Group, full)
	s, secrets := load(t, b.Bytes())
	c := New().Expected(s)
	var named []string
	for _, r := range c.Resources {
		named = append(named, r.Cluster.Name+" "+r.Kind+" "+r.Name)
	}
	want := []string{
		"full bastion " + awstest.InstanceID(7), "full load balancer lb", "full NAT gateway nat-a", "full security group sg-lb", "full security group sg-node",
		"full subnet subnet-a", "full subnet subnet-b", "full VPC vpc-2", "plain bastion plain-bastion", "plain VPC vpc-1",
	}
	if !slices.Equal(named, want) {
		t.Errorf("the resources are %q, want %q", named, want)
	}
	if len(c.Exclude) != 1 || c.Exclude[0].Key.Value != awstest.InstanceID(7) || c.Exclude[0].Cause != capa.Bastion {
		t.Errorf("excluded are %v", c.Exclude)
	}
	serve(t, lab.EC2Options{Backup: awstest.Save(t, b), Absent: []string{"subnet-b", "sg-lb", "lb"}}, nil)
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	var found []string
	for _, k := range l.ProbesFound {
		found = append(found, k.Value)
	}
	if want := []string{"nat-a", "subnet-a", "sg-node", "vpc-1/plain", "vpc-2/full", "sg-node", "subnet-a", "vpc-1", "vpc-2"}; !slices.Equal(found, want) || len(l.Unread) > 0 || l.State != code.ScopeComplete {
		t.Errorf("found are %q, want %q; unread %v, %s", found, want, l.Unread, l.State)
	}
}

// A load balancer that is gone is absent, not unread, though AWS calls it an error.
func TestAbsentLoadBalancer(t *testing.T) {
	s, secrets := load(t, fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken)))
	k := infra.Key{Kind: capa.KeyClassicLB, Value: infra.Join("vpc-0a1b2c3d4e5f60718", "aws-prod-apiserver")}
	for _, absent := range []bool{false, true} {
		o := fleetEC2()
		if absent {
			o.Absent = []string{"aws-prod-apiserver"}
		}
		serve(t, o, nil)
		l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
		if l.State != code.ScopeComplete || len(l.Unread) > 0 || len(l.Warnings) > 0 || slices.Contains(l.ProbesFound, k) == absent {
			t.Errorf("absent %t: it is %s, found %v, unread %v, %q", absent, l.State, l.ProbesFound, l.Unread, l.Warnings)
		}
	}
}

// A stopped and started instance has a new LaunchTime, its disk does not.
func TestCreatedIsTheFirstTime(t *testing.T) {
	first, later := time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC()
	i := sdkInstance(later, first)
	if got := created(&i); !got.Equal(first) {
		t.Errorf("it was created at %s, want %s", got, first)
	}
	i = sdkInstance(first, later)
	if got := created(&i); !got.Equal(first) {
		t.Errorf("it was created at %s, want %s", got, first)
	}
}

// A member that has lost its tags is said by the group that lists it, and a
// Machine of a pool by its label. The group is that of the pool's name, whatever ARN it records.
func TestPoolMembers(t *testing.T) {
	b := awstest.NewBackup().Keys().Cluster("ns", "prod", awstest.Region, "vpc-1")
	b.Add("machinepools.cluster.x-k8s.io", awstest.CAPIObject("MachinePool", "ns", "mp", "prod", map[string]any{
		"clusterName": "prod",
		"template":    map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.PoolKind, "name": "amp"}}},
	}))
	b.Add("awsmachinepools."+awstest.Group, awstest.Object(awstest.PoolKind, "ns", "amp", "prod", map[string]any{
		"providerID": "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:u:autoScalingGroupName/another",
	}))
	m := awstest.Object(awstest.MachineKind, "ns", "m", "prod", map[string]any{"instanceID": awstest.InstanceID(1)})
	m["metadata"].(map[string]any)["labels"].(map[string]any)["cluster.x-k8s.io/pool-name"] = "mp"
	b.Add("awsmachines."+awstest.Group, m)
	s, secrets := load(t, b.Bytes())
	c := New().Expected(s)
	want := infra.Key{Kind: capa.KeyASG, Value: fleetTarget + "/amp"}
	if len(c.Pools) != 1 || c.Pools[0].Key != want || len(c.Machines) != 1 || c.Machines[0].Pool != want {
		t.Fatalf("the pools are %+v, the machines %+v", c.Pools, c.Machines)
	}
	target := New().Targets(s, secrets, infra.Access{})[0]
	l := listing{
		Listing: &infra.Listing{Instances: []infra.Instance{{ID: awstest.InstanceID(1)}, {ID: awstest.InstanceID(2)}}}, target: target,
		marks: map[infra.Key]bool{want: true}, members: map[string][]infra.Key{},
	}
	for _, n := range []int{3, 4} {
		l.Unrelated.Add(infra.Instance{ID: awstest.InstanceID(n)})
	}
	name, member, unrelated := "amp", awstest.InstanceID(1), awstest.InstanceID(3)
	l.takeGroup(&groups.AutoScalingGroup{AutoScalingGroupName: &name, Instances: []groups.Instance{{InstanceId: &member}, {InstanceId: &unrelated}}})
	l.addGroupKeys()
	if len(l.Instances) != 3 || l.Instances[2].ID != unrelated || !l.Instances[2].HasKey(want) || l.Unrelated.Len() != 1 {
		t.Errorf("the instances are %+v, unrelated VMs %d", l.Instances, l.Unrelated.Len())
	}
	if !l.Instances[0].HasKey(want) || l.Instances[1].HasKey(want) || !slices.Contains(l.ProbesFound, want) {
		t.Errorf("the instances are %+v", l.Instances)
	}
}

// What an autoscaling group made heals itself: of a group that the backup does not
// know no instance is a Ghost, it is to be confirmed.
func TestMembersOfAGroupThatTheBackupLacks(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1").Set("ns", "prod", "prod-md-bcdfg", 0)
	var all []lab.EC2Instance
	for i, tag := range []string{awstest.TagGroup, awstest.TagNodegroup, "other"} {
		one := capaInstance(awstest.InstanceID(i+1), "vpc-1", "prod", awstest.RoleNode, "", "prod-md-bcdfg-ccccc")
		one.Tags = append(one.Tags, lab.EC2Tag{Key: tag, Value: "prod-md-bcdfg-ccccc"})
		all = append(all, one)
	}
	o, _ := outcomeWith(t, b, all...)
	o.wantUnattributed(t, awstest.InstanceID(1), awstest.InstanceID(2))
	o.wantGhost(t, awstest.InstanceID(3), "ns", code.Medium)
}

// A Machine of a pool is a member, though the backup lacks the pool: that its
// instance is gone proves nothing, and it is never Stale.
func TestMembersOfAPoolThatTheBackupLacks(t *testing.T) {
	labels := map[string]any{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/pool-name": "mp"}
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1")
	for i, name := range []string{"mp-a", "mp-b", "mp-c"} {
		spec := map[string]any{}
		if i < 2 {
			spec["instanceID"] = awstest.InstanceID(i + 1)
		}
		own := awstest.Object(awstest.MachineKind, "ns", name, "prod", spec)
		machine := awstest.CAPIObject("Machine", "ns", name, "prod", map[string]any{
			"clusterName": "prod", "infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.MachineKind, "name": name},
		})
		own["metadata"].(map[string]any)["labels"], machine["metadata"].(map[string]any)["labels"] = labels, labels
		b.Add("awsmachines."+awstest.Group, own)
		b.Add("machines.cluster.x-k8s.io", machine)
	}
	mine := capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "", "mp")
	mine.Tags = append(mine.Tags, lab.EC2Tag{Key: awstest.TagGroup, Value: "mp"})
	o, _ := outcomeWith(t, b, mine)
	if v := o.machines["ns/mp-a"]; v.Status != code.Healthy {
		t.Errorf("mp-a is %s %s", v.Status, v.Reason)
	}
	for _, name := range []string{"mp-b", "mp-c"} {
		if v := o.machines["ns/"+name]; v.Status != code.Unknown || v.Reason != code.PoolMember {
			t.Errorf("%s is %s %s, want Unknown PoolMember", name, v.Status, v.Reason)
		}
	}
}

// Where the backup does not name the VPC of a cluster, tags alone tell the
// instance of a machine without a recorded id: it is never said that none was
// made. Clusters of one name are distinguished by the namespace.
func TestMachinesWithoutVPC(t *testing.T) {
	b := awstest.NewBackup()
	for n, ns := range []string{"red", "blue"} {
		b.Cluster(ns, "prod", awstest.Region, "").
			Machine(ns, "prod", ns+"-recorded", awstest.InstanceID(10+n)).Machine(ns, "prod", "by-tag", "").Machine(ns, "prod", ns+"-by-name", "").
			Machine(ns, "prod", "by-name-of-two", "").Machine(ns, "prod", "twice", "").Machine(ns, "prod", "none", "").Machine(ns, "prod", "changed", awstest.InstanceID(90+n))
	}
	o, _ := outcomeWith(t, b,
		capaInstance(awstest.InstanceID(10), "vpc-1", "prod", awstest.RoleNode, "", ""), capaInstance(awstest.InstanceID(11), "vpc-2", "prod", awstest.RoleNode, "", ""),
		capaInstance(awstest.InstanceID(1), "vpc-1", "prod", awstest.RoleNode, "red/by-tag", "another name"),
		capaInstance(awstest.InstanceID(2), "vpc-2", "prod", awstest.RoleNode, "", "red-by-name"),
		capaInstance(awstest.InstanceID(3), "vpc-2", "prod", awstest.RoleNode, "", "by-name-of-two"),
		capaInstance(awstest.InstanceID(4), "vpc-1", "prod", awstest.RoleNode, "red/twice", "x"), capaInstance(awstest.InstanceID(5), "vpc-2", "prod", awstest.RoleNode, "red/twice", "x"),
		capaInstance(awstest.InstanceID(6), "vpc-1", "prod", awstest.RoleNode, "green/none", "x"), capaInstance(awstest.InstanceID(7), "vpc-1", "other", awstest.RoleNode, "red/none", "x"),
		capaInstance(awstest.InstanceID(8), "vpc-1", "prod", awstest.RoleNode, "red/changed", "changed"),
	)
	want := map[string]string{
		"red/red-recorded": "Healthy ", "blue/blue-recorded": "Healthy ",
		"red/by-tag": "Unknown NotFoundByName", "blue/by-tag": "Stale NotProvisioned",
		"red/red-by-name": "Healthy ", "blue/blue-by-name": "Stale NotProvisioned",
		"red/by-name-of-two": "Unknown AmbiguousMatch", "blue/by-name-of-two": "Unknown AmbiguousMatch",
		"red/twice": "Unknown AmbiguousMatch", "blue/twice": "Stale NotProvisioned",
		"red/none": "Stale NotProvisioned", "blue/none": "Stale NotProvisioned",
		"red/changed": "Unknown IdentityChanged", "blue/changed": "Stale InstanceNotFound",
	}
	for name, verdict := range want {
		if v := o.machines[name]; string(v.Status)+" "+string(v.Reason) != verdict {
			t.Errorf("%s is %s %s, want %s", name, v.Status, v.Reason, verdict)
		}
	}
	for _, name := range []string{"by-tag", "red-by-name"} {
		if v := o.machines["red/"+name]; len(v.Evidence) == 0 || v.Evidence[0].Strength != code.Medium {
			t.Errorf("the evidence for %s is %+v, want medium", name, v.Evidence)
		}
	}
	if len(o.ghosts) > 0 {
		t.Errorf("the Ghosts are %v", o.ghosts)
	}
}

// Without AWSManagedControlPlane nothing says the name of an EKS cluster in
// tags: the machine's own name in them has to do.
func TestMachinesWithoutTheObjectOfTheirCluster(t *testing.T) {
	b := awstest.NewBackup()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "eks", "eks", map[string]any{
		"controlPlaneRef": map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "eks-cp"},
	}))
	b.Machine("ns", "eks", "recorded", awstest.InstanceID(1)).Machine("ns", "eks", "made", "").Machine("ns", "eks", "none", "")
	s, _ := load(t, b.Bytes())
	serve(t, lab.EC2Options{}, nil,
		capaInstance(awstest.InstanceID(1), "vpc-1", "own-name", awstest.RoleNode, "ns/recorded", "x"), capaInstance(awstest.InstanceID(2), "vpc-1", "own-name", awstest.RoleNode, "ns/made", "x"))
	inv := listAll(t, New(), s, nil, ambientAccess(t))
	if l := inv.Listings[0]; l.State != code.ScopeComplete {
		t.Fatalf("the listing is %s: %+v", l.State, l.Fault)
	}
	o := outcomeOf(decide(t, s, inv))
	for name, want := range map[string]code.Status{"recorded": code.Healthy, "made": code.Unknown, "none": code.Stale} {
		if v := o.machines["ns/"+name]; v.Status != want || want == code.Unknown && v.Reason != code.NotFoundByName {
			t.Errorf("%s is %s %s, want %s", name, v.Status, v.Reason, want)
		}
	}
}

func TestPathEndsInTheInstance(t *testing.T) {
	i := &types.Instance{InstanceId: aws.String("i-1"), VpcId: aws.String("vpc-1"), Placement: &types.Placement{AvailabilityZone: aws.String("eu-west-1a")}}
	if got := pathOf(i); got != "eu-west-1a/vpc-1/i-1" {
		t.Errorf("the path is %q", got)
	}
}
