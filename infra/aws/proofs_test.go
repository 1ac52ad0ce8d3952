package aws

import (
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

const otherAccount = "999999999999"

// seen decides on what the lab shows, and says whether that is complete.
func seen(t *testing.T, b made, o lab.EC2Options, instances ...lab.EC2Instance) (outcome, detector.Result) {
	t.Helper()
	s, secrets := load(t, b.Bytes())
	serve(t, o, nil, instances...)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	for _, l := range inv.Listings {
		if l.State != infra.Complete {
			t.Fatalf("the listing is %s: %+v", l.State, l.Fault)
		}
	}
	r := decide(t, s, inv)
	return outcomeOf(r), r
}

// Clusters under one identity are in one account: what shows it for one of them
// shows it for all that are in the region. Their VPC was there before and may be
// shared, so it shows nothing.
func TestAnInstanceProvesTheAccountOfItsIdentity(t *testing.T) {
	const shared, otherKey = "vpc-shared", "AKIALABLABLABLABLAB2"
	gone := capaInstance(idOf(1), shared, "a", roleNode, "ns/a-1", "a-1")
	gone.State = lab.EC2State{Code: 48, Name: "terminated"}
	here := capaInstance(idOf(1), shared, "a", roleNode, "ns/a-1", "a-1")
	for name, c := range map[string]struct {
		region   string // of b
		identity []string
		caller   string // account of the controller's credential
		instance lab.EC2Instance
		want     code.Status // of the machine of b, whose instance is nowhere
	}{
		"one identity, one region":                    {fleetRegion, nil, "", here, code.Stale},
		"the instance that is seen has ended":         {fleetRegion, nil, "", gone, code.Stale},
		"another region":                              {"eu-west-1", nil, "", here, code.Unknown},
		"another identity, of another account":        {fleetRegion, []string{staticIdentity, "other"}, "", here, code.Unknown},
		"the credential is of another account":        {fleetRegion, nil, otherAccount, here, code.Unknown},
		"an instance that the backup does not record": {fleetRegion, nil, "", capaInstance(idOf(3), shared, "a", roleNode, "ns/a-2", "a-2"), code.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			b := newMade().keys().cluster("ns", "a", fleetRegion, shared).machine("ns", "a", "a-1", idOf(1)).
				cluster("ns", "b", c.region, shared, c.identity...).machine("ns", "b", "b-1", idOf(2)).
				identity(staticIdentity, "other", map[string]any{"secretRef": "creds", "allowedNamespaces": map[string]any{}})
			b.Add("secrets", secretObject(managerSpace, "creds", map[string]string{accessKey: otherKey, secretKey: labSecret}))
			keys := []lab.EC2Key{{ID: labKey, Secret: labSecret, Token: labToken, Account: c.caller}, {ID: otherKey, Secret: labSecret, Account: otherAccount}}
			o, r := seen(t, b, lab.EC2Options{Backup: saved(t, b), SharedVPCs: map[string]string{shared: lab.EC2Account}, Keys: keys}, c.instance)
			if v := o.machines["ns/b-1"]; v.Status != c.want {
				t.Errorf("b-1 is %s %s (%s), want %s", v.Status, v.Reason, v.Message, c.want)
			}
			if r.Complete != (c.want == code.Stale) {
				t.Errorf("complete is %t", r.Complete)
			}
		})
	}
}

// The VPC that CAPA made for one cluster is in the account of its neighbours.
func TestAVPCProvesTheAccountOfItsIdentity(t *testing.T) {
	const shared, own = "vpc-shared", "vpc-own"
	b := newMade().keys().cluster("ns", "a", fleetRegion, own).cluster("ns", "b", fleetRegion, shared).machine("ns", "b", "b-1", idOf(2))
	o, r := seen(t, b, lab.EC2Options{Backup: saved(t, b), SharedVPCs: map[string]string{shared: otherAccount}})
	if v := o.machines["ns/b-1"]; v.Status != code.Stale || !r.Complete {
		t.Errorf("b-1 is %s %s, complete %t", v.Status, v.Reason, r.Complete)
	}
}

// A group without members proves the account that it is in, when it is no
// namesake's in another account: an autoscaling group by its ARN, a node group by
// its subnet. What is gone beside it is gone.
func TestAPoolOfNoMembersProvesItsAccount(t *testing.T) {
	const vpc, arn = "vpc-1", "arn:aws:autoscaling:us-east-1:" + lab.EC2Account + ":autoScalingGroup:6f0f:autoScalingGroupName/mp"
	pool := func(b made, kind string) {
		b.Add("machinepools.cluster.x-k8s.io", capiObject("MachinePool", "ns", "mp", "c", map[string]any{
			"clusterName": "c", "replicas": 0,
			"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": group, "kind": kind, "name": "mp"}}},
		}))
	}
	eks := func(subnets, own []any) made {
		b := newMade().keys()
		b.Add("clusters.cluster.x-k8s.io", capiObject("Cluster", "ns", "c", "c", map[string]any{
			"controlPlaneRef":   map[string]any{"apiGroup": planeGroup, "kind": planeKind, "name": "cp"},
			"infrastructureRef": map[string]any{"apiGroup": group, "kind": managedClusterKind, "name": "c"},
		}))
		plane := infraObject(planeKind, "ns", "cp", "c", map[string]any{
			"region": fleetRegion, "network": map[string]any{"vpc": map[string]any{"id": vpc}, "subnets": subnets},
		})
		plane["apiVersion"] = planeGroup + "/v1beta2"
		b.Add("awsmanagedcontrolplanes."+planeGroup, plane)
		pool(b, managedPoolKind)
		b.Add("awsmanagedmachinepools."+group, infraObject(managedPoolKind, "ns", "mp", "c", map[string]any{"eksNodegroupName": "ng", "subnetIDs": own}))
		return b.machine("ns", "c", "gone", idOf(1))
	}
	asg := func(arn string) made {
		b := newMade().keys().cluster("ns", "c", fleetRegion, vpc)
		pool(b, poolKind)
		b.Add("awsmachinepools."+group, infraObject(poolKind, "ns", "mp", "c", map[string]any{"providerID": arn}))
		return b.machine("ns", "c", "gone", idOf(1))
	}
	named := func(id string) []any { return []any{map[string]any{"id": id}} }
	nodegroup := lab.EC2Group{Name: "eks-ng-1", Subnets: []string{"subnet-a", "subnet-b"}, Tags: []lab.EC2Tag{{Key: tagEKSCluster, Value: "ns_cp"}, {Key: tagNodegroup, Value: "ng"}}}
	another := nodegroup
	another.Tags = []lab.EC2Tag{{Key: tagEKSCluster, Value: "ns_other"}, {Key: tagNodegroup, Value: "ng"}}
	theirs := nodegroup
	theirs.Account = otherAccount
	for name, c := range map[string]struct {
		backup made
		group  lab.EC2Group
		proven bool
	}{
		"node group in a subnet of the cluster":       {eks(named("subnet-b"), nil), nodegroup, true},
		"node group in a subnet of its own":           {eks(named("subnet-z"), []any{"subnet-b"}), nodegroup, true},
		"node group of the name, in no known subnet":  {eks(named("subnet-z"), nil), nodegroup, false},
		"node group of another EKS cluster":           {eks(named("subnet-b"), nil), another, false},
		"node group that the account does not see":    {eks(named("subnet-b"), nil), theirs, false},
		"autoscaling group":                           {asg(arn), lab.EC2Group{Name: "mp", ARN: arn}, true},
		"autoscaling group of the name, of other ARN": {asg(strings.Replace(arn, lab.EC2Account, otherAccount, 1)), lab.EC2Group{Name: "mp", ARN: arn}, false},
		"autoscaling group of the name, without ARN":  {asg(""), lab.EC2Group{Name: "mp", ARN: arn}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, r := seen(t, c.backup, lab.EC2Options{Groups: []lab.EC2Group{c.group}})
			want := code.Unknown
			if c.proven {
				want = code.Stale
			}
			if v := o.machines["ns/gone"]; v.Status != want || r.Complete != c.proven {
				t.Errorf("the machine is %s %s, want %s; complete is %t", v.Status, v.Reason, want, r.Complete)
			}
		})
	}
}
