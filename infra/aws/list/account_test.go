package list

import (
	"strings"
	"testing"

	"drift-detector/detector"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// In a VPC that was there before, with every recorded instance gone, ids that only the
// cluster's own account has show that it is the one; names do not, nor do ids that
// another account may see or have.
func TestWhatProvesTheAccount(t *testing.T) {
	const shared = "vpc-shared"
	status := func(network map[string]any) map[string]any { return map[string]any{"networkStatus": network} }
	lb := func(arn, dns string) map[string]any {
		return status(map[string]any{"apiServerElb": map[string]any{"name": "c-apiserver", "arn": arn, "dnsName": dns}})
	}
	groups := status(map[string]any{"securityGroups": map[string]any{"node": map[string]any{"id": "sg-1"}}})
	const dns = "C-apiserver-1234.us-east-1.elb.amazonaws.com"
	arn := "arn:aws:elasticloadbalancing:us-east-1:" + lab.EC2Account + ":loadbalancer/net/c-apiserver/1"
	for name, c := range map[string]struct {
		status   map[string]any
		spec     map[string]any
		absent   string
		caller   string
		instance *lab.EC2Instance
		proven   bool
	}{
		"nothing":                             {},
		"ARN of the load balancer":            {status: lb(arn, ""), proven: true},
		"ARN, the load balancer is gone":      {status: lb(arn, ""), absent: "c-apiserver", proven: true},
		"ARN of another account":              {status: lb(strings.Replace(arn, lab.EC2Account, otherAccount, 1), "")},
		"ARN, the caller is of another":       {status: lb(arn, ""), caller: otherAccount},
		"name of AWS for the load balancer":   {status: lb("", dns), proven: true},
		"that name, of one that is gone":      {status: lb("", dns), absent: "c-apiserver"},
		"that name as the endpoint":           {status: lb("", dns), spec: map[string]any{"controlPlaneEndpoint": map[string]any{"host": strings.ToLower(dns)}}, proven: true},
		"another name in the recorded status": {status: lb("", ""), spec: map[string]any{"controlPlaneEndpoint": map[string]any{"host": "api.example.com"}}},
		"security group of CAPA":              {status: groups, proven: true},
		"security group that is gone":         {status: groups, absent: "sg-1"},
		"security group that was there before": {status: groups, spec: map[string]any{"network": map[string]any{
			"vpc": map[string]any{"id": shared}, "securityGroupOverrides": map[string]any{"node": "sg-1"},
		}}},
		"an instance of its name": {instance: pointer(capaInstance(awstest.InstanceID(2), shared, "c", awstest.RoleNode, "ns/c-md-bcdfg-ccccc", "c-md-bcdfg-ccccc"))},
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Keys()
			spec := map[string]any{"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": shared}}}
			for k, v := range c.spec {
				spec[k] = v
			}
			o := awstest.Object(awstest.ClusterKind, "ns", "c", "c", spec)
			o["status"] = c.status
			b.Add("awsclusters."+awstest.Group, o)
			b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "c", "c", map[string]any{
				"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ClusterKind, "name": "c"},
			}))
			b.Machine("ns", "c", "gone", awstest.InstanceID(1)).Set("ns", "c", "c-md-bcdfg", 0)
			options := lab.EC2Options{
				Backup: awstest.Save(t, b), SharedVPCs: map[string]string{shared: lab.EC2Account}, Absent: []string{c.absent},
				Keys: []lab.EC2Key{{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken, Account: c.caller}},
			}
			var instances []lab.EC2Instance
			if c.instance != nil {
				instances = append(instances, *c.instance)
			}
			out, r := seen(t, b, options, instances...)
			want := code.Unknown
			if c.proven {
				want = code.Stale
			}
			if v := out.machines["ns/gone"]; v.Status != want || r.Complete != c.proven {
				t.Errorf("the machine is %s %s, want %s; complete is %t", v.Status, v.Reason, want, r.Complete)
			}
		})
	}
}

func pointer[T any](v T) *T { return &v }

// The endpoint that EKS gave a control plane is nobody else's.
func TestAnEndpointOfEKSProvesTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		host   string
		absent string
		proven bool
	}{
		"the same":           {"https://ABCD.gr7.us-east-1.eks.amazonaws.com", "", true},
		"written otherwise":  {"abcd.gr7.us-east-1.eks.amazonaws.com/", "", true},
		"of another cluster": {"https://EFGH.gr7.us-east-1.eks.amazonaws.com", "", false},
		"gone":               {"https://ABCD.gr7.us-east-1.eks.amazonaws.com", "ns_c", false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := func(host string) awstest.Backup {
				b := awstest.NewBackup().Keys().EKS("ns", "c", "c", map[string]any{
					"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-shared"}}, "controlPlaneEndpoint": map[string]any{"host": host},
				})
				return b.Machine("ns", "c", "gone", awstest.InstanceID(1))
			}
			out, _ := seen(t, cluster(c.host), lab.EC2Options{
				Backup:     awstest.Save(t, cluster("https://ABCD.gr7.us-east-1.eks.amazonaws.com")),
				SharedVPCs: map[string]string{"vpc-shared": lab.EC2Account}, Absent: []string{c.absent},
			})
			want := code.Unknown
			if c.proven {
				want = code.Stale
			}
			if v := out.machines["ns/gone"]; v.Status != want {
				t.Errorf("the machine is %s %s, want %s", v.Status, v.Reason, want)
			}
		})
	}
}

// CAPA searches by the name of the Cluster, and instances of EKS are tagged with the
// name that EKS has for it: none is found, whatever they are called.
func TestInstancesOfEKSAreNotFoundByName(t *testing.T) {
	b := awstest.NewBackup().Keys().EKS("ns", "c", "cp", map[string]any{"region": awstest.Region, "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}}})
	b.Machine("ns", "c", "recorded", awstest.InstanceID(1)).Machine("ns", "c", "searched", "")
	out, _ := seen(t, b, lab.EC2Options{Backup: awstest.Save(t, b)},
		capaInstance(awstest.InstanceID(1), "vpc-1", "ns_cp", awstest.RoleNode, "ns/recorded", "recorded"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "ns_cp", awstest.RoleNode, "ns/searched", "searched"))
	if v := out.machines["ns/recorded"]; v.Status != code.Healthy || v.Finds != detector.FindsByID {
		t.Errorf("the recorded one is %s %s, found by %q", v.Status, v.Reason, v.Finds)
	}
	if v := out.machines["ns/searched"]; v.Status != code.Unknown || v.Reason != code.NotFoundByName || v.Finds != detector.FindsNothing {
		t.Errorf("the other is %s %s, found by %q", v.Status, v.Reason, v.Finds)
	}
}

// The name that an AWSManagedControlPlane asks EKS for is the one in tags.
func TestEKSClusterUnderAnotherName(t *testing.T) {
	b := awstest.NewBackup().Keys().EKS("ns", "c", "cp", map[string]any{
		"region": awstest.Region, "eksClusterName": "production", "network": map[string]any{"vpc": map[string]any{"id": "vpc-1"}},
	})
	b.Machine("ns", "c", "recorded", awstest.InstanceID(1)).Set("ns", "c", "c-md-bcdfg", 0)
	const name = "c-md-bcdfg-ccccc"
	out, _ := seen(t, b, lab.EC2Options{Backup: awstest.Save(t, b)},
		capaInstance(awstest.InstanceID(1), "vpc-1", "production", awstest.RoleNode, "ns/recorded", "recorded"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "production", awstest.RoleNode, "ns/"+name, name),
		capaInstance(awstest.InstanceID(3), "vpc-1", "ns_cp", awstest.RoleNode, "ns/"+name, name))
	out.wantGhost(t, awstest.InstanceID(2), "ns", code.Strong)
	out.wantUnattributed(t, awstest.InstanceID(3))
}

// Of an EKS cluster whose AWSManagedControlPlane the backup lacks nobody knows the name
// in tags, nor the VPC: a Ghost is what CAPA tagged as it tagged the recorded machine
// beside it.
func TestEKSWithoutItsObject(t *testing.T) {
	b := awstest.NewBackup()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "c", "c", map[string]any{
		"controlPlaneRef": map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "cp"},
	}))
	b.Machine("ns", "c", "recorded", awstest.InstanceID(1)).Set("ns", "c", "c-md-bcdfg", 0)
	const name = "c-md-bcdfg-ccccc"
	s, _ := load(t, b.Bytes())
	serve(t, lab.EC2Options{}, nil,
		capaInstance(awstest.InstanceID(1), "vpc-1", "own", awstest.RoleNode, "ns/recorded", "recorded"),
		capaInstance(awstest.InstanceID(2), "vpc-1", "own", awstest.RoleNode, "ns/"+name, name),
		capaInstance(awstest.InstanceID(3), "vpc-1", "other", awstest.RoleNode, "ns/"+name, name),
		capaInstance(awstest.InstanceID(4), "vpc-2", "own", awstest.RoleNode, "ns/"+name, name),
		capaInstance(awstest.InstanceID(5), "vpc-1", "own", awstest.RoleControlPlane, "ns/"+name, name),
		capaInstance(awstest.InstanceID(6), "vpc-1", "own", awstest.RoleNode, "other-ns/"+name, name),
	)
	inv := listAll(t, New(), s, nil, ambientAccess(t))
	o := outcomeOf(decide(t, s, inv))
	o.wantGhost(t, awstest.InstanceID(2), "ns", code.Strong)
	o.wantUnattributed(t, awstest.InstanceID(3), awstest.InstanceID(4), awstest.InstanceID(5), awstest.InstanceID(6))
}
