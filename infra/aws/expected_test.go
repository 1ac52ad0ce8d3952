package aws

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	groups "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// outcomeWith lists and decides on instances of the one region of a backup.
func outcomeWith(t *testing.T, b made, instances ...lab.EC2Instance) (outcome, detector.Result) {
	t.Helper()
	b.keys()
	return seen(t, b, lab.EC2Options{Backup: saved(t, b)}, instances...)
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
	b := newMade().
		cluster("red", "prod", fleetRegion, "vpc-shared").set("red", "prod", "prod-md-bcdfg", 0).set("red", "prod", "prod-x-bbbbb", 0).
		cluster("blue", "prod", fleetRegion, "vpc-shared").set("blue", "prod", "prod-md-xwvtz", 0).set("blue", "prod", "prod-x-bbbbb", 0)
	o, _ := outcomeWith(t, b,
		capaInstance(idOf(1), "vpc-shared", "prod", roleNode, "red/prod-x-bbbbb-bbbbb", "prod-x-bbbbb-bbbbb"),
		capaInstance(idOf(2), "vpc-shared", "prod", roleNode, "blue/prod-x-bbbbb-bbbbb", "prod-x-bbbbb-bbbbb"),
		capaInstance(idOf(3), "vpc-shared", "prod", roleNode, "", "prod-md-bcdfg-ccccc"),
		capaInstance(idOf(4), "vpc-shared", "prod", roleNode, "", "prod-md-xwvtz-ccccc"),
		capaInstance(idOf(5), "vpc-shared", "prod", roleNode, "", "by-hand"),
		capaInstance(idOf(6), "vpc-shared", "prod", roleNode, "green/prod-md-bcdfg-ddddd", "prod-md-bcdfg-ddddd"),
		capaInstance(idOf(7), "vpc-theirs", "prod", roleNode, "red/prod-md-bcdfg-fffff", "prod-md-bcdfg-fffff"),
		capaInstance(idOf(8), "vpc-theirs", "prod", roleNode, "", "prod-md-bcdfg-ggggg"),
	)
	o.wantGhost(t, idOf(1), "red", code.Strong)
	o.wantGhost(t, idOf(2), "blue", code.Strong)
	o.wantGhost(t, idOf(3), "red", code.Medium)
	o.wantGhost(t, idOf(4), "blue", code.Medium)
	o.wantUnattributed(t, idOf(5), idOf(6), idOf(7), idOf(8))
	if len(o.ghosts) != 4 {
		t.Errorf("there are %d Ghosts, want 4", len(o.ghosts))
	}
}

// What is in the cluster's VPC without being a machine of it.
func TestNeighbours(t *testing.T) {
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").set("ns", "prod", "prod-md-bcdfg", 0)
	two := capaInstance(idOf(4), "vpc-1", "prod", roleNode, "", "prod-md-bcdfg-ccccc")
	two.Tags = append(two.Tags, lab.EC2Tag{Key: tagOwner + "other", Value: owned})
	shared := capaInstance(idOf(5), "vpc-1", "prod", roleNode, "", "prod-md-bcdfg-ddddd")
	shared.Tags[1].Value = "shared"
	ended := capaInstance(idOf(8), "vpc-1", "prod", roleNode, "", "prod-md-bcdfg-fffff")
	ended.State = lab.EC2State{Code: 32, Name: "shutting-down"}
	capaMarked := capaInstance(idOf(12), "vpc-1", "other", roleNode, "", "other-md-bcdfg-ccccc")
	capaMarked.Tags = append(capaMarked.Tags, lab.EC2Tag{Key: tagKarpenter, Value: "default"})
	o, r := outcomeWith(t, b,
		capaInstance(idOf(1), "vpc-1", "prod", "bastion", "", "prod-bastion"),
		capaInstance(idOf(2), "vpc-1", "prod", "common", "", "prod-nat"),
		capaInstance(idOf(3), "vpc-1", "other", roleNode, "", "other-md-bcdfg-bbbbb"),
		two, shared,
		instanceWith(idOf(6), "vpc-1", lab.EC2Tag{Key: tagRole, Value: "bastion"}),
		capaInstance(idOf(7), "vpc-1", "prod", "ingress", "", "prod-md-bcdfg-ggggg"),
		ended,
		instanceWith(idOf(9), "vpc-elsewhere"),
		capaInstance(idOf(10), "vpc-1", "prod", roleNode, "without namespace", "prod-md-bcdfg-hhhhh"),
		instanceWith(idOf(11), "vpc-1", lab.EC2Tag{Key: tagKarpenter, Value: "default"}, lab.EC2Tag{Key: tagCloud + "prod", Value: owned}),
		capaMarked,
	)
	o.wantUnattributed(t, idOf(3), idOf(4), idOf(5), idOf(6), idOf(7), idOf(10), idOf(12))
	if len(o.ghosts) > 0 {
		t.Errorf("the Ghosts are %v", o.ghosts)
	}
	if r.Excluded[bastion] != 1 || r.Excluded["NAT"] != 1 || r.Excluded["terminated"] != 1 || r.Excluded[karpenter] != 1 || r.OutOfScope != 1 {
		t.Errorf("excluded are %v, out of scope %d", r.Excluded, r.OutOfScope)
	}
}

// A MachineSet that the backup does not hold completely makes no Ghosts.
func TestIncompleteOwners(t *testing.T) {
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").
		set("ns", "prod", "prod-md-bcdfg", 1).set("ns", "prod", "prod-md-xwvtz", 0)
	o, _ := outcomeWith(t, b,
		capaInstance(idOf(1), "vpc-1", "prod", roleNode, "ns/prod-md-bcdfg-ccccc", "prod-md-bcdfg-ccccc"),
		capaInstance(idOf(2), "vpc-1", "prod", roleNode, "ns/prod-md-xwvtz-ccccc", "prod-md-xwvtz-ccccc"),
	)
	if g := o.ghosts[idOf(1)]; g.Status != code.Unknown || g.Reason != code.MachineNotInBackup {
		t.Errorf("it is %s %s", g.Status, g.Reason)
	}
	o.wantGhost(t, idOf(2), "ns", code.Strong)
}

// Machines whose instance id the backup does not record are found by their
// tags, as CAPA finds them.
func TestMachinesWithoutInstanceID(t *testing.T) {
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").
		machine("ns", "prod", "by-tag", "").machine("ns", "prod", "by-name", "").machine("ns", "prod", "none", "").
		machine("ns", "prod", "namesake", "").machine("ns", "prod", "changed", idOf(90))
	o, _ := outcomeWith(t, b,
		capaInstance(idOf(1), "vpc-1", "prod", roleNode, "ns/by-tag", "another name"),
		capaInstance(idOf(2), "vpc-1", "prod", roleNode, "", "by-name"),
		capaInstance(idOf(3), "vpc-2", "prod", roleNode, "", "namesake"),
		capaInstance(idOf(4), "vpc-1", "prod", roleNode, "ns/changed", "changed"),
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

func TestStrongKeys(t *testing.T) {
	for id, want := range map[string]string{
		"aws:///us-east-1a/i-0123456789abcdef0":      "i-0123456789abcdef0",
		"aws:////i-0123456789abcdef0":                "i-0123456789abcdef0",
		" AWS:///us-east-1a/I-0123456789ABCDEF0 ":    "i-0123456789abcdef0",
		"aws:///us-east-1a/i-12345678":               "i-12345678",
		"aws:///us-east-1a/fargate-ip-10-0-0-1":      "",
		"vsphere://422f5bd1-0000-0000-0000-00000000": "",
		"aws://": "", "": "", "aws:///us-east-1a/i-": "",
	} {
		got := ""
		if keys := providerIDKeys(id); keys != nil {
			got = keys[0].Value
		}
		if got != want {
			t.Errorf("%q gives %q, want %q", id, got, want)
		}
	}
}

func TestConflictingIDs(t *testing.T) {
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1")
	b.Add("awsmachines."+group, infraObject(machineKind, "ns", "m", "prod", map[string]any{
		"instanceID": idOf(1), "providerID": "aws:///us-east-1a/" + idOf(2),
	}))
	s, _ := load(t, b.Bytes())
	c := New().Expected(s)
	if len(c.Machines) != 1 || c.Machines[0].Orphan == nil || !strings.Contains(c.Machines[0].Conflict, idOf(2)) {
		t.Errorf("the claims are %+v", c.Machines)
	}
}

// An EKS cluster: no machines of the control plane, a node group as a pool, and
// the name of its own in the tags.
func TestEKS(t *testing.T) {
	b := newMade()
	b.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", "ns", "eks", "eks", map[string]any{
		"controlPlaneRef":   map[string]any{"apiGroup": planeGroup, "kind": planeKind, "name": "eks-cp"},
		"infrastructureRef": map[string]any{"apiGroup": group, "kind": managedClusterKind, "name": "eks"},
	}))
	plane := infraObject(planeKind, "ns", "eks-cp", "eks", map[string]any{
		"region": fleetRegion, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}},
	})
	plane["apiVersion"] = planeGroup + "/v1beta2"
	b.Add("awsmanagedcontrolplanes."+planeGroup, plane)
	pool := capiObject("MachinePool", "ns", "mp", "eks", map[string]any{
		"clusterName": "eks", "replicas": 2,
		"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": group, "kind": managedPoolKind, "name": "mmp"}}},
	})
	pool["metadata"].(map[string]any)["annotations"] = map[string]any{"cluster.x-k8s.io/replicas-managed-by": "external-autoscaler"}
	b.Add("machinepools.cluster.x-k8s.io", pool)
	b.Add("awsmanagedmachinepools."+group, infraObject(managedPoolKind, "ns", "mmp", "eks", map[string]any{
		"eksNodegroupName": "ng", "providerIDList": []any{"aws:///us-east-1a/" + idOf(1)},
	}))
	b.set("ns", "eks", "eks-md-bcdfg", 0)
	s, secrets := load(t, b.keys().Bytes())
	c := New().Expected(s)
	if len(c.Pools) != 1 || c.Pools[0].ManagedBy != "external-autoscaler" || c.Pools[0].Desired != (backup.Number{N: 2, Known: true}) ||
		!slices.Equal(c.Pools[0].Members, []infra.Key{{Kind: keyInstance, Value: idOf(1)}}) {
		t.Fatalf("the pools are %+v", c.Pools)
	}
	serve(t, lab.EC2Options{}, nil,
		instanceWith(idOf(1), "vpc-1", lab.EC2Tag{Key: tagGroup, Value: "eks-ng-1234"}, lab.EC2Tag{Key: tagEKSCluster, Value: "ns_eks-cp"}, lab.EC2Tag{Key: tagNodegroup, Value: "ng"}),
		instanceWith(idOf(3), "vpc-1", lab.EC2Tag{Key: tagGroup, Value: "eks-ng-5678"}, lab.EC2Tag{Key: tagEKSCluster, Value: "another"}, lab.EC2Tag{Key: tagNodegroup, Value: "ng"}),
		capaInstance(idOf(2), "vpc-1", "ns_eks-cp", roleNode, "ns/eks-md-bcdfg-ccccc", "x"),
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
	outcomeOf(r).wantGhost(t, idOf(2), "ns", code.Strong)
	if r.Clusters[0].Applicable || r.Clusters[0].Provider != Name {
		t.Errorf("the cluster is %+v", r.Clusters[0])
	}
}

// What AWSCluster names beside machines is looked for, each by itself.
func TestResources(t *testing.T) {
	b := newMade().keys().cluster("ns", "plain", fleetRegion, "vpc-1")
	full := infraObject(clusterKind, "ns", "full", "full", map[string]any{
		"region": fleetRegion,
		"network": map[string]any{"vpc": map[string]any{"id": "vpc-2"}, "subnets": []any{
			map[string]any{"id": "subnet-a", "natGatewayId": "nat-a"},
			map[string]any{"id": "placeholder", "resourceID": "subnet-b"},
			map[string]any{"id": "not made yet"},
		}},
	})
	full["status"] = map[string]any{
		"bastion": map[string]any{"id": idOf(7)},
		"networkStatus": map[string]any{
			"apiServerElb":   map[string]any{"name": "lb", "loadBalancerType": "nlb"},
			"securityGroups": map[string]any{"node": map[string]any{"id": "sg-node"}, "lb": map[string]any{"id": "sg-lb"}},
		},
	}
	b.Add("awsclusters."+group, full)
	s, secrets := load(t, b.Bytes())
	c := New().Expected(s)
	var named []string
	for _, r := range c.Resources {
		named = append(named, r.Cluster.Name+" "+r.Kind+" "+r.Name)
	}
	want := []string{
		"full bastion " + idOf(7), "full load balancer lb", "full NAT gateway nat-a", "full security group sg-lb", "full security group sg-node",
		"full subnet subnet-a", "full subnet subnet-b", "full VPC vpc-2", "plain bastion plain-bastion", "plain VPC vpc-1",
	}
	if !slices.Equal(named, want) {
		t.Errorf("the resources are %q, want %q", named, want)
	}
	if len(c.Exclude) != 1 || c.Exclude[0].Key.Value != idOf(7) || c.Exclude[0].Cause != bastion {
		t.Errorf("excluded are %v", c.Exclude)
	}
	serve(t, lab.EC2Options{Backup: saved(t, b), Absent: []string{"subnet-b", "sg-lb", "lb"}}, nil)
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
	s, secrets := load(t, fleet(t, profileOf(labKey, labSecret, labToken)))
	k := lbKey(keyClassicLB, "vpc-0a1b2c3d4e5f60718", "aws-prod-apiserver")
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

// The region of a cluster whose own object is missing is that of its machines.
func TestRegionFromZones(t *testing.T) {
	for _, c := range []struct {
		zones []string
		want  string
	}{
		{[]string{"us-east-1a", "us-east-1b", ""}, "us-east-1"},
		{[]string{"us-east-1a", "eu-west-1a"}, ""},
		{[]string{"us-gov-west-1a"}, "us-gov-west-1"},
		{[]string{"us-west-2-lax-1a", "us-west-2-wl1-las-wlz-1", "us-west-2b"}, "us-west-2"},
		{[]string{"us-west-2-lax-1a", "us-east-1-bos-1a"}, ""},
		{[]string{"x.evil.example/a"}, ""},
		{nil, ""},
	} {
		if got := regionOfZones(c.zones); got != c.want {
			t.Errorf("%q give %q, want %q", c.zones, got, c.want)
		}
	}
}

// A member that has lost its tags is said by the group that lists it, and a
// Machine of a pool by its label.
func TestPoolMembers(t *testing.T) {
	b := newMade().keys().cluster("ns", "prod", fleetRegion, "vpc-1")
	b.Add("machinepools.cluster.x-k8s.io", capiObject("MachinePool", "ns", "mp", "prod", map[string]any{
		"clusterName": "prod",
		"template":    map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": group, "kind": poolKind, "name": "amp"}}},
	}))
	b.Add("awsmachinepools."+group, infraObject(poolKind, "ns", "amp", "prod", map[string]any{
		"providerID": "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:u:autoScalingGroupName/own-name",
	}))
	m := infraObject(machineKind, "ns", "m", "prod", map[string]any{"instanceID": idOf(1)})
	m["metadata"].(map[string]any)["labels"].(map[string]any)["cluster.x-k8s.io/pool-name"] = "mp"
	b.Add("awsmachines."+group, m)
	s, secrets := load(t, b.Bytes())
	c := New().Expected(s)
	want := infra.Key{Kind: keyASG, Value: fleetTarget + "/own-name"}
	if len(c.Pools) != 1 || c.Pools[0].Key != want || len(c.Machines) != 1 || c.Machines[0].Pool != want {
		t.Fatalf("the pools are %+v, the machines %+v", c.Pools, c.Machines)
	}
	target := New().Targets(s, secrets, infra.Access{})[0]
	l := listing{
		Listing: &infra.Listing{Instances: []infra.Instance{{ID: idOf(1)}, {ID: idOf(2)}}}, target: target,
		marks: map[infra.Key]bool{want: true}, members: map[string][]infra.Key{},
	}
	for _, n := range []int{3, 4} {
		l.Unrelated.Add(infra.Instance{ID: idOf(n)})
	}
	name, member, unrelated := "own-name", idOf(1), idOf(3)
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
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1").set("ns", "prod", "prod-md-bcdfg", 0)
	var all []lab.EC2Instance
	for i, tag := range []string{tagGroup, tagNodegroup, "other"} {
		one := capaInstance(idOf(i+1), "vpc-1", "prod", roleNode, "", "prod-md-bcdfg-ccccc")
		one.Tags = append(one.Tags, lab.EC2Tag{Key: tag, Value: "prod-md-bcdfg-ccccc"})
		all = append(all, one)
	}
	o, _ := outcomeWith(t, b, all...)
	o.wantUnattributed(t, idOf(1), idOf(2))
	o.wantGhost(t, idOf(3), "ns", code.Medium)
}

// A Machine of a pool is a member, though the backup lacks the pool: that its
// instance is gone proves nothing, and it is never Stale.
func TestMembersOfAPoolThatTheBackupLacks(t *testing.T) {
	labels := map[string]any{"cluster.x-k8s.io/cluster-name": "prod", "cluster.x-k8s.io/pool-name": "mp"}
	b := newMade().cluster("ns", "prod", fleetRegion, "vpc-1")
	for i, name := range []string{"mp-a", "mp-b", "mp-c"} {
		spec := map[string]any{}
		if i < 2 {
			spec["instanceID"] = idOf(i + 1)
		}
		own := infraObject(machineKind, "ns", name, "prod", spec)
		machine := capiObject("Machine", "ns", name, "prod", map[string]any{
			"clusterName": "prod", "infrastructureRef": map[string]any{"apiGroup": group, "kind": machineKind, "name": name},
		})
		own["metadata"].(map[string]any)["labels"], machine["metadata"].(map[string]any)["labels"] = labels, labels
		b.Add("awsmachines."+group, own)
		b.Add("machines.cluster.x-k8s.io", machine)
	}
	mine := capaInstance(idOf(1), "vpc-1", "prod", roleNode, "", "mp")
	mine.Tags = append(mine.Tags, lab.EC2Tag{Key: tagGroup, Value: "mp"})
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
	b := newMade()
	for n, ns := range []string{"red", "blue"} {
		b.cluster(ns, "prod", fleetRegion, "").
			machine(ns, "prod", ns+"-recorded", idOf(10+n)).machine(ns, "prod", "by-tag", "").machine(ns, "prod", ns+"-by-name", "").
			machine(ns, "prod", "by-name-of-two", "").machine(ns, "prod", "twice", "").machine(ns, "prod", "none", "").machine(ns, "prod", "changed", idOf(90+n))
	}
	o, _ := outcomeWith(t, b,
		capaInstance(idOf(10), "vpc-1", "prod", roleNode, "", ""), capaInstance(idOf(11), "vpc-2", "prod", roleNode, "", ""),
		capaInstance(idOf(1), "vpc-1", "prod", roleNode, "red/by-tag", "another name"),
		capaInstance(idOf(2), "vpc-2", "prod", roleNode, "", "red-by-name"),
		capaInstance(idOf(3), "vpc-2", "prod", roleNode, "", "by-name-of-two"),
		capaInstance(idOf(4), "vpc-1", "prod", roleNode, "red/twice", "x"), capaInstance(idOf(5), "vpc-2", "prod", roleNode, "red/twice", "x"),
		capaInstance(idOf(6), "vpc-1", "prod", roleNode, "green/none", "x"), capaInstance(idOf(7), "vpc-1", "other", roleNode, "red/none", "x"),
		capaInstance(idOf(8), "vpc-1", "prod", roleNode, "red/changed", "changed"),
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
	b := newMade()
	b.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", "ns", "eks", "eks", map[string]any{
		"controlPlaneRef": map[string]any{"apiGroup": planeGroup, "kind": planeKind, "name": "eks-cp"},
	}))
	b.machine("ns", "eks", "recorded", idOf(1)).machine("ns", "eks", "made", "").machine("ns", "eks", "none", "")
	s, _ := load(t, b.Bytes())
	serve(t, lab.EC2Options{}, nil,
		capaInstance(idOf(1), "vpc-1", "own-name", roleNode, "ns/recorded", "x"), capaInstance(idOf(2), "vpc-1", "own-name", roleNode, "ns/made", "x"))
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
