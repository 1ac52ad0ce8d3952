package list

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/infra/walk"
	"drift-detector/internal/lab"
)

// walkedBackup returns a cluster with all that rows ask AWS for.
func walkedBackup(t *testing.T) awstest.Backup {
	t.Helper()
	b := awstest.NewBackup().Keys()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "c", "c", map[string]any{"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ClusterKind, "name": "c"}}))
	o := awstest.Object(awstest.ClusterKind, "ns", "c", "c", map[string]any{
		"region": awstest.Region, "controlPlaneEndpoint": map[string]any{"host": "c-apiserver-1." + awstest.Region + ".elb.amazonaws.com", "port": 6443},
		"controlPlaneLoadBalancer": map[string]any{"scheme": "internet-facing"},
		"eksClusterName":           "c", // so that the lab calls the cluster of its node group as the provider does
		"network": map[string]any{
			"vpc":     map[string]any{"id": "vpc-1", "tags": map[string]any{capa.TagOwner + "c": capa.Owned}},
			"subnets": []any{map[string]any{"id": "c-a", "resourceID": "subnet-1", "cidrBlock": "10.0.0.0/24", "availabilityZone": "us-east-1a", "routeTableId": "rtb-1", "natGatewayId": "nat-1", "isPublic": true}, map[string]any{"id": "c-b", "resourceID": "subnet-2", "cidrBlock": "10.0.1.0/24", "availabilityZone": "us-east-1a", "routeTableId": "rtb-2", "isPublic": false}},
		},
	})
	groups := map[string]any{}
	for _, role := range []string{"node", "lb", "controlplane", "apiserver-lb"} {
		groups[role] = map[string]any{"id": "sg-" + role, "name": "c-" + role}
	}
	o["status"] = map[string]any{"networkStatus": map[string]any{"securityGroups": groups, "apiServerElb": map[string]any{"name": "c-apiserver", "dnsName": "c-apiserver-1." + awstest.Region + ".elb.amazonaws.com"}}}
	b.Add("awsclusters."+awstest.Group, o)
	b.Machine("ns", "c", "m", awstest.InstanceID(1))
	for _, kind := range []string{awstest.PoolKind, awstest.ManagedPoolKind} {
		name := map[string]string{awstest.PoolKind: "p", awstest.ManagedPoolKind: "n"}[kind]
		b.Add("machinepools.cluster.x-k8s.io", awstest.CAPIObject(awstest.MachinePoolKind, "ns", name, "c", map[string]any{"clusterName": "c", "replicas": 1, "template": map[string]any{"spec": map[string]any{
			"version": "v1.34.0", "bootstrap": map[string]any{"dataSecretName": "p", "configRef": map[string]any{"kind": "KubeadmConfig", "name": "p"}},
			"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": kind, "name": name},
		}}}))
	}
	b.Add("awsmachinepools."+awstest.Group, awstest.Object(awstest.PoolKind, "ns", "p", "c", map[string]any{
		"minSize": 1, "maxSize": 3, "awsLaunchTemplate": map[string]any{"instanceType": "m5.large", "ami": map[string]any{"id": "ami-1"}, "instanceMetadataOptions": map[string]any{"httpTokens": "required"}},
	}))
	b.Add("awsmanagedmachinepools."+awstest.Group, awstest.Object(awstest.ManagedPoolKind, "ns", "n", "c", map[string]any{
		"eksNodegroupName": "n", "roleName": "nodes", "taints": []any{map[string]any{"effect": "no-schedule", "key": "b"}, map[string]any{"effect": "prefer-no-schedule", "key": "a", "value": "c"}},
	}))
	return b
}

// openSteps returns the steps that a listing does not pass, by row.
func openSteps(t *testing.T, s *backup.Snapshot, inv infra.Inventory) map[string]walk.Found {
	t.Helper()
	out := map[string]walk.Found{}
	for _, step := range New().Expected(s).Steps {
		if step.Look == nil {
			continue
		}
		if a := step.Look(&inv); a.Found != walk.Passed && a.Found != "" {
			out[step.Row.ID] = a.Found
		}
	}
	return out
}

// What CAPA made passes over the wire, row by row, and a call that is refused leaves the rows
// unread that need it, and no others.
func TestWalkOverTheWire(t *testing.T) {
	b := walkedBackup(t)
	s, secrets := load(t, b.Bytes())
	one, desired := 1, 1
	member := instanceWith(awstest.InstanceID(2), "vpc-1", lab.EC2Tag{Key: awstest.TagGroup, Value: "p"})
	o := lab.EC2Options{Backup: awstest.Save(t, b), Groups: []lab.EC2Group{{Name: "p", Desired: &one, Subnets: []string{"subnet-2"}}, {Name: "eks-n", Desired: &desired, Tags: []lab.EC2Tag{{Key: awstest.TagEKSCluster, Value: "c"}, {Key: awstest.TagNodegroup, Value: "n"}}}}}
	instances := []lab.EC2Instance{capaInstance(awstest.InstanceID(1), "vpc-1", "c", awstest.RoleNode, "", "m"), member}
	serve(t, o, nil, instances...)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	if got := openSteps(t, s, inv); len(got) > 0 {
		text, _ := json.Marshal(inv.Listings[0].Facts)
		t.Errorf("open are %v of %s", got, text)
	}
	for action, rows := range map[string][]string{
		"ec2:DescribeRouteTables":            {"aws.A9", "aws.A10", "aws.A13"},
		"ec2:DescribeSecurityGroups":         {"aws.A17"},
		"ec2:DescribeLaunchTemplateVersions": {"aws.P5"},
		"eks:DescribeNodegroup":              {"aws.G4"},
		"ec2:DescribeSubnets":                {"aws.A6"},
		"ec2:DescribeNatGateways":            {"aws.A11"},
		"autoscaling:DescribeLifecycleHooks": {"aws.P12"},
		"iam:GetRole":                        {"aws.G3"},
	} {
		o.Faults.DenyActions = []string{action}
		serve(t, o, nil, instances...)
		got := openSteps(t, s, listAll(t, New(), s, secrets, infra.Access{}))
		for _, row := range rows {
			if got[row] != walk.Unread {
				t.Errorf("without %s open are %v", action, got)
			}
			delete(got, row)
		}
		delete(got, "aws.P7") // it needs the groups, too
		if len(got) > 0 {
			t.Errorf("without %s open are %v, too", action, got)
		}
	}
}

// planeBackup returns a control plane of EKS with all that CAPA asks of one.
func planeBackup() awstest.Backup {
	b := awstest.NewBackup().Keys()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "e", "e", map[string]any{"controlPlaneRef": map[string]any{"apiGroup": awstest.PlaneGroup, "kind": awstest.PlaneKind, "name": "e"}}))
	plane := awstest.Object(awstest.PlaneKind, "ns", "e", "e", map[string]any{
		"region": awstest.Region, "eksClusterName": "e", "roleName": "plane", "version": "v1.34",
		"oidcIdentityProviderConfig": map[string]any{"identityProviderConfigName": "corp", "issuerUrl": "https://issuer.example.com", "clientId": "k8s"},
		"accessConfig":               map[string]any{"authenticationMode": "api"},
		"controlPlaneEndpoint":       map[string]any{"host": "https://e.gr7." + awstest.Region + ".eks.amazonaws.com", "port": 443},
		"addons":                     []any{map[string]any{"name": "vpc-cni", "version": "v1.18", "configuration": "{}"}},
		"accessEntries": []any{map[string]any{"principalARN": "arn:aws:iam::1:role/a/b", "type": "standard", "kubernetesGroups": []any{"ops"}, "accessPolicies": []any{
			map[string]any{"policyARN": "arn:view", "accessScope": map[string]any{"type": "namespace", "namespaces": []any{"b", "a"}}},
		}}},
	})
	plane["apiVersion"] = awstest.PlaneGroup + "/v1beta2"
	b.Add("awsmanagedcontrolplanes."+awstest.PlaneGroup, plane)
	b.Add("awsfargateprofiles."+awstest.Group, awstest.Object(awstest.FargateKind, "ns", "f", "e", map[string]any{"clusterName": "e", "profileName": "f", "roleName": "fargate"}))
	return b
}

// What a control plane has passes over the wire, and a call that is refused leaves its row unread.
func TestPlanesOverTheWire(t *testing.T) {
	b := planeBackup()
	s, secrets := load(t, b.Bytes())
	o := lab.EC2Options{Backup: awstest.Save(t, b)}
	serve(t, o, nil)
	inv := listAll(t, New(), s, secrets, infra.Access{})
	if got := openSteps(t, s, inv); len(got) > 0 || len(inv.Listings[0].Warnings) > 0 {
		t.Errorf("open are %v of %v, %v", got, inv.Listings[0].Facts, inv.Listings[0].Warnings)
	}
	for _, row := range []string{"aws.E3", "aws.E14", "aws.E18", "aws.E19", "aws.F1", "aws.F2"} {
		if !passes(s, inv, row) {
			t.Errorf("%s does not pass", row)
		}
	}
	for action, row := range map[string]string{
		"eks:ListAddons": "aws.E18", "eks:DescribeAddon": "aws.E18", "eks:ListAccessEntries": "aws.E14", "eks:DescribeAccessEntry": "aws.E14",
		"eks:ListAssociatedAccessPolicies": "aws.E14", "eks:DescribeFargateProfile": "aws.F2",
		"eks:ListIdentityProviderConfigs": "aws.E19", "eks:DescribeIdentityProviderConfig": "aws.E19",
	} {
		o.Faults.DenyActions = []string{action}
		serve(t, o, nil)
		inv := listAll(t, New(), s, secrets, infra.Access{})
		if got := openSteps(t, s, inv); got[row] != walk.Unread || len(got) != 1 {
			t.Errorf("without %s open are %v", action, got)
		}
		if text := strings.Join(inv.Listings[0].Warnings, " "); !strings.Contains(text, action) {
			t.Errorf("the warnings do not name %s: %s", action, text)
		}
	}
}

// A refusal of IAM roles leaves all rows of roles unread.
func TestRolesOverTheWire(t *testing.T) {
	b := planeBackup()
	s, secrets := load(t, b.Bytes())
	serve(t, lab.EC2Options{Backup: awstest.Save(t, b), Faults: lab.EC2Faults{DenyActions: []string{"iam:GetRole"}}}, nil)
	if got := openSteps(t, s, listAll(t, New(), s, secrets, infra.Access{})); got["aws.E3"] != walk.Unread || got["aws.F1"] != walk.Unread || len(got) != 2 {
		t.Errorf("open are %v", got)
	}
	serve(t, lab.EC2Options{Backup: awstest.Save(t, b), Absent: []string{"plane"}}, nil)
	if got := openSteps(t, s, listAll(t, New(), s, secrets, infra.Access{})); got["aws.E3"] != walk.None || len(got) != 1 {
		t.Errorf("open are %v", got)
	}
}

// passes reports whether a listing passes a step of a row.
func passes(s *backup.Snapshot, inv infra.Inventory, row string) bool {
	return slices.ContainsFunc(New().Expected(s).Steps, func(step infra.Step) bool {
		return step.Row.ID == row && step.Look != nil && step.Look(&inv).Found == walk.Passed
	})
}

// The controller's own key in the backup is tried where an operator's lists, and an
// operator's beside a key that AWS refuses does not hide that.
func TestOwnKeysAreTried(t *testing.T) {
	static := awstest.NewBackup().Cluster("ns", "c", awstest.Region, "vpc-1", awstest.StaticIdentity, "s").Static("capa-system", "x", "s")
	controllers := awstest.NewBackup().Cluster("ns", "c", awstest.Region, "vpc-1").Keys()
	theirs, mine := lab.EC2Key{ID: awstest.LabKey, Secret: awstest.LabSecret, Token: awstest.LabToken}, lab.EC2Key{ID: "AKIAOPERATOROPERATOR", Secret: "of the operator"}
	for name, c := range map[string]struct {
		backup   awstest.Backup
		keys     []lab.EC2Key
		operator bool
		by, own  string
	}{
		"the backup's":                          {static, []lab.EC2Key{theirs}, false, infra.OfBackup, infra.OwnAccepted},
		"the backup's is refused":               {static, []lab.EC2Key{mine}, false, infra.OfBackup, infra.OwnRefused},
		"refused, and the operator's lists":     {static, []lab.EC2Key{mine}, true, infra.OfBackup, infra.OwnRefused},
		"the controller's, the operator lists":  {controllers, []lab.EC2Key{theirs, mine}, true, infra.OfOperator, infra.OwnAccepted},
		"refused, the operator lists":           {controllers, []lab.EC2Key{mine}, true, infra.OfOperator, infra.OwnRefused},
		"none is in it, and the operator lists": {awstest.NewBackup().Cluster("ns", "c", awstest.Region, "vpc-1"), []lab.EC2Key{mine}, true, infra.OfOperator, infra.OwnAbsent},
	} {
		s, secrets := load(t, c.backup.Bytes())
		serve(t, lab.EC2Options{Backup: awstest.Save(t, c.backup), Keys: c.keys}, nil)
		access := infra.Access{}
		if c.operator {
			access = ambientAccess(t)
			t.Setenv("AWS_ACCESS_KEY_ID", mine.ID)
			t.Setenv("AWS_SECRET_ACCESS_KEY", mine.Secret)
			t.Setenv("AWS_SESSION_TOKEN", "")
		}
		l := listAll(t, New(), s, secrets, access).Listings[0]
		by, own := l.AccessFact(infra.FactCredential, l.IDs[0]), l.AccessFact(infra.FactOwn, l.IDs[0])
		if by != c.by || own != c.own {
			t.Errorf("%s: listed by %q, and the backup's is %q; want %q, %q; %s %+v", name, by, own, c.by, c.own, l.State, l.Fault)
		}
	}
}

// What is behind a load balancer passes over the wire, and a call that is refused leaves its row
// unread.
func TestTargetsOverTheWire(t *testing.T) {
	b := awstest.NewBackup().Keys()
	b.Add("clusters.cluster.x-k8s.io", awstest.CAPIObject("Cluster", "ns", "c", "c", map[string]any{"infrastructureRef": map[string]any{"apiGroup": awstest.Group, "kind": awstest.ClusterKind, "name": "c"}}))
	host := "c-apiserver-1." + awstest.Region + ".elb.amazonaws.com"
	o := awstest.Object(awstest.ClusterKind, "ns", "c", "c", map[string]any{
		"region": awstest.Region, "controlPlaneEndpoint": map[string]any{"host": host, "port": 6443},
		"controlPlaneLoadBalancer": map[string]any{"scheme": "internet-facing", "loadBalancerType": "nlb"},
		"network":                  map[string]any{"vpc": map[string]any{"id": "vpc-1", "tags": map[string]any{capa.TagOwner + "c": capa.Owned}}},
	})
	o["status"] = map[string]any{"networkStatus": map[string]any{"apiServerElb": map[string]any{"name": "c-apiserver", "dnsName": host, "arn": "arn:lb/c-apiserver", "loadBalancerType": "nlb"}}}
	b.Add("awsclusters."+awstest.Group, o)
	s, secrets := load(t, b.Bytes())
	options := lab.EC2Options{Backup: awstest.Save(t, b)}
	serve(t, options, nil, capaInstance(awstest.InstanceID(1), "vpc-1", "c", "control-plane", "", "m"))
	inv := listAll(t, New(), s, secrets, infra.Access{})
	if !passes(s, inv, "aws.A26") || len(inv.Listings[0].Warnings) > 0 {
		t.Errorf("A26 does not pass with %v, %v", inv.Listings[0].Facts, inv.Listings[0].Warnings)
	}
	var f capa.TargetsFact
	text, _ := inv.Listings[0].Facts.Get(capa.FactTargets + ":v2/c-apiserver")
	if err := json.Unmarshal([]byte(text), &f); err != nil || !slices.Equal(f.Members, []string{awstest.InstanceID(1)}) {
		t.Errorf("its targets are %v: %v", f.Members, err)
	}
	for _, action := range []string{"DescribeTags", "DescribeTargetGroups", "DescribeListeners", "DescribeTargetHealth"} {
		options.Faults.DenyActions = []string{"elasticloadbalancing:" + action}
		serve(t, options, nil)
		inv := listAll(t, New(), s, secrets, infra.Access{})
		if got := openSteps(t, s, inv); got["aws.A26"] != walk.Unread {
			t.Errorf("without %s open are %v", action, got)
		}
		if text := strings.Join(inv.Listings[0].Warnings, " "); !strings.Contains(text, action) {
			t.Errorf("the warnings do not name %s: %s", action, text)
		}
	}
}
