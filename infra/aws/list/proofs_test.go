package list

import (
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

const otherAccount = "999999999999"

// seen decides on what the lab shows, and says whether that is complete.
func seen(t *testing.T, b awstest.Backup, o lab.EC2Options, instances ...lab.EC2Instance) (outcome, detector.Result) {
	t.Helper()
	s, secrets := load(t, b.Bytes())
	serve(t, o, nil, instances...)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	for _, l := range inv.Listings {
		if l.State != code.ScopeComplete {
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
	gone := capaInstance(awstest.InstanceID(1), shared, "a", awstest.RoleNode, "ns/a-1", "a-1")
	gone.State = lab.EC2State{Code: 48, Name: "terminated"}
	here := capaInstance(awstest.InstanceID(1), shared, "a", awstest.RoleNode, "ns/a-1", "a-1")
	for name, c := range map[string]struct {
		region   string // of b
		identity []string
		caller   string // account of the controller's credential
		instance lab.EC2Instance
		want     code.Status // of the machine of b, whose instance is nowhere
	}{
		"one identity, one region":                    {awstest.Region, nil, "", here, code.Stale},
		"the instance that is seen has ended":         {awstest.Region, nil, "", gone, code.Stale},
		"another region":                              {"eu-west-1", nil, "", here, code.Unknown},
		"another identity, of another account":        {awstest.Region, []string{awstest.StaticIdentity, "other"}, "", here, code.Unknown},
		"the credential is of another account":        {awstest.Region, nil, otherAccount, here, code.Unknown},
		"an instance that the backup does not record": {awstest.Region, nil, "", capaInstance(awstest.InstanceID(3), shared, "a", awstest.RoleNode, "ns/a-2", "a-2"), code.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Keys().Cluster("ns", "a", awstest.Region, shared).Machine("ns", "a", "a-1", awstest.InstanceID(1)).
				Cluster("ns", "b", c.region, shared, c.identity...).Machine("ns", "b", "b-1", awstest.InstanceID(2)).
				Identity(awstest.StaticIdentity, "other", map[string]any{"secretRef": "creds", "allowedNamespaces": map[string]any{}})
			b.Add("secrets", awstest.Secret(awstest.ManagerSpace, "creds", map[string]string{awstest.AccessKey: otherKey, awstest.SecretKey: awstest.LabSecret}))
			keys := []lab.EC2Key{{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken, Account: c.caller}, {ID: otherKey, Secret: awstest.LabSecret, Account: otherAccount}}
			o, r := seen(t, b, lab.EC2Options{Backup: awstest.Save(t, b), SharedVPCs: map[string]string{shared: lab.EC2Account}, Keys: keys}, c.instance)
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
	b := awstest.NewBackup().Keys().Cluster("ns", "a", awstest.Region, own).Cluster("ns", "b", awstest.Region, shared).Machine("ns", "b", "b-1", awstest.InstanceID(2))
	o, r := seen(t, b, lab.EC2Options{Backup: awstest.Save(t, b), SharedVPCs: map[string]string{shared: otherAccount}})
	if v := o.machines["ns/b-1"]; v.Status != code.Stale || !r.Complete {
		t.Errorf("b-1 is %s %s, complete %t", v.Status, v.Reason, r.Complete)
	}
}

// A group without members proves the account that it is in, when it is no
// namesake's in another account: an autoscaling group by its ARN, a node group by
// its subnet. What is gone beside it is gone.
func TestAPoolOfNoMembersProvesItsAccount(t *testing.T) {
	const vpc, arn = "vpc-1", "arn:aws:autoscaling:us-east-1:" + lab.EC2Account + ":autoScalingGroup:6f0f:autoScalingGroupName/mp"
	pool := func(b awstest.Backup, kind string) {
		b.Add("machinepools.cluster.x-k8s.io", awstest.CAPIObject("MachinePool", "ns", "mp", "c", map[string]any{
			"clusterName": "c", "replicas": 0,
			"template": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": kind, "name": "mp"}}},
		}))
	}
	eks := func(subnets, own []any) awstest.Backup {
		b := awstest.NewBackup().Keys()
		b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "c", "c", map[string]any{
			"controlPlaneRef":   map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "cp"},
			"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ManagedClusterKind, "name": "c"},
		}))
		plane := awstest.Object(awstest.PlaneKind, "ns", "cp", "c", map[string]any{
			"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": vpc}, "subnets": subnets},
		})
		plane["apiVersion"] = awstest.PlaneGroup + "/v1beta2"
		b.Add("awsmanagedcontrolplanes."+awstest.PlaneGroup, plane)
		pool(b, awstest.ManagedPoolKind)
		b.Add("awsmanagedmachinepools."+awstest.Group, awstest.Object(awstest.ManagedPoolKind, "ns", "mp", "c", map[string]any{"eksNodegroupName": "ng", "subnetIDs": own}))
		return b.Machine("ns", "c", "gone", awstest.InstanceID(1))
	}
	asg := func(arn string) awstest.Backup {
		b := awstest.NewBackup().Keys().Cluster("ns", "c", awstest.Region, vpc)
		pool(b, awstest.PoolKind)
		b.Add("awsmachinepools."+awstest.Group, awstest.Object(awstest.PoolKind, "ns", "mp", "c", map[string]any{"providerID": arn}))
		return b.Machine("ns", "c", "gone", awstest.InstanceID(1))
	}
	named := func(id string) []any { return []any{map[string]any{"id": id}} }
	nodegroup := lab.EC2Group{Name: "eks-ng-1", Subnets: []string{"subnet-a", "subnet-b"}, Tags: []lab.EC2Tag{{Key: awstest.TagEKSCluster, Value: "ns_cp"}, {Key: awstest.TagNodegroup, Value: "ng"}}}
	another := nodegroup
	another.Tags = []lab.EC2Tag{{Key: awstest.TagEKSCluster, Value: "ns_other"}, {Key: awstest.TagNodegroup, Value: "ng"}}
	theirs := nodegroup
	theirs.Account = otherAccount
	for name, c := range map[string]struct {
		backup awstest.Backup
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
