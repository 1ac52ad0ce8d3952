package faults_test

import (
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
)

// wholeAWS returns the well cluster of AWS with all that CAPA asks for beside instances: subnets with
// their routes and gateways, a network load balancer, and beside it a control plane of EKS with
// a node group and a Fargate profile, in a role of its own.
func wholeAWS(t *testing.T) (*runs.World, *lab.EC2) {
	t.Helper()
	const vpc, role = "vpc-0a1b2c3d4e5f60718", "arn:aws:iam::" + lab.EC2Account + ":role/plane"
	w, _ := runs.WellAWS(t)
	host := "aws-prod-apiserver-1234567890.us-east-1.elb.amazonaws.com"
	w.Change("network", func(resource, _ string, o runs.Object) bool {
		if resource == "awsmachinepools" {
			runs.In(o, "spec")["availabilityZones"] = []string{"us-east-1a"}
		}
		if resource != "awsclusters" {
			return true
		}
		spec, state := runs.In(o, "spec"), runs.In(o, "status", "networkStatus", "apiServerElb")
		runs.In(spec, "controlPlaneEndpoint")["host"] = host
		runs.In(spec, "controlPlaneLoadBalancer")["loadBalancerType"] = "nlb"
		state["arn"], state["loadBalancerType"] = "arn:lb/aws-prod-apiserver", "nlb"
		runs.In(spec, "network", "vpc")["tags"] = runs.Object{"sigs.k8s.io/cluster-api-provider-aws/cluster/aws-prod": "owned"}
		runs.In(spec, "network")["subnets"] = []runs.Object{
			{"id": "aws-prod-a", "resourceID": "subnet-0a", "availabilityZone": "us-east-1a", "cidrBlock": "10.0.0.0/24", "routeTableId": "rtb-0a", "natGatewayId": "nat-0a", "isPublic": true},
			{"id": "aws-prod-b", "resourceID": "subnet-0b", "availabilityZone": "us-east-1a", "cidrBlock": "10.0.1.0/24", "routeTableId": "rtb-0b", "isPublic": false},
		}
		return true
	})
	const capi, capa, planes = "cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"
	w.Added("plane", func(b *backuptest.Tarball) {
		add := func(group, resource, kind, name string, spec runs.Object) {
			meta := runs.Object{"namespace": "tenant-aws", "name": name, "labels": runs.Object{"cluster.x-k8s.io/cluster-name": "managed"}}
			if kind == "AWSClusterRoleIdentity" {
				meta = runs.Object{"name": name}
			}
			b.Add(resource+"."+group, runs.Object{"apiVersion": group + "/v1beta2", "kind": kind, "metadata": meta, "spec": spec})
		}
		ref := func(group, kind, name string) runs.Object {
			return runs.Object{"apiGroup": group, "kind": kind, "name": name}
		}
		add(capi, "clusters", "Cluster", "managed", runs.Object{"controlPlaneRef": ref(planes, "AWSManagedControlPlane", "managed"), "infrastructureRef": ref(capa, "AWSManagedCluster", "managed")})
		add(capa, "awsmanagedclusters", "AWSManagedCluster", "managed", runs.Object{})
		add(capa, "awsclusterroleidentities", "AWSClusterRoleIdentity", "plane", runs.Object{
			"roleARN": role, "allowedNamespaces": runs.Object{}, "sourceIdentityRef": runs.Object{"kind": "AWSClusterControllerIdentity", "name": "default"},
		})
		add(planes, "awsmanagedcontrolplanes", "AWSManagedControlPlane", "managed", runs.Object{
			"region": "us-east-1", "eksClusterName": "managed", "roleName": "plane", "version": "v1.34", "network": runs.Object{"vpc": runs.Object{"id": vpc}},
			"identityRef":                runs.Object{"kind": "AWSClusterRoleIdentity", "name": "plane"},
			"controlPlaneEndpoint":       runs.Object{"host": "https://managed.gr7.us-east-1.eks.amazonaws.com", "port": 443},
			"oidcIdentityProviderConfig": runs.Object{"identityProviderConfigName": "corp", "issuerUrl": "https://issuer.example.com", "clientId": "k8s"},
			"accessConfig":               runs.Object{"authenticationMode": "api"},
			"addons":                     []runs.Object{{"name": "vpc-cni", "version": "v1.18", "configuration": "{}"}},
			"accessEntries": []runs.Object{{"principalARN": "arn:aws:iam::1:role/ops", "type": "standard", "kubernetesGroups": []string{"ops"}, "accessPolicies": []runs.Object{
				{"policyARN": "arn:view", "accessScope": runs.Object{"type": "namespace", "namespaces": []string{"a"}}},
			}}},
		})
		add(capa, "awsfargateprofiles", "AWSFargateProfile", "f", runs.Object{"clusterName": "managed", "profileName": "f", "roleName": "fargate"})
		add(capi, "machinepools", "MachinePool", "n", runs.Object{"clusterName": "managed", "replicas": 1, "template": runs.Object{"spec": runs.Object{
			"clusterName": "managed", "version": "v1.34.0", "bootstrap": runs.Object{"dataSecretName": "n"}, "infrastructureRef": ref(capa, "AWSManagedMachinePool", "n"),
		}}})
		add(capa, "awsmanagedmachinepools", "AWSManagedMachinePool", "n", runs.Object{
			"eksNodegroupName": "n", "roleName": "nodes", "scaling": runs.Object{"minSize": 1, "maxSize": 3}, "providerIDList": []string{"aws:///us-east-1a/i-0aaaaaaaaaaaaaaa9"},
		})
	})
	_, ec2 := runs.WellAWS(t, func(o *lab.EC2Options) {
		o.Backup, o.Roles, o.PageSize, o.Secure = w.Backups[0], []lab.EC2Role{{ARN: role}}, 3, true
	})
	one := 1
	ec2.SetGroup(lab.EC2Group{Name: "eks-n", Desired: &one, Tags: []lab.EC2Tag{{Key: "eks:cluster-name", Value: "managed"}, {Key: "eks:nodegroup-name", Value: "n"}}})
	ec2.Add(runs.Tagged("i-0aaaaaaaaaaaaaaa9", vpc, "aws:autoscaling:groupName=eks-n", "eks:cluster-name=managed", "eks:nodegroup-name=n", "kubernetes.io/cluster/managed=owned"))
	return w, ec2
}

// wholeOpenStack returns the well cluster of OpenStack with all that CAPO asks for: a network, a
// router and security groups of its own, a load balancer with a floating IP, and servers with
// trunks, a key pair, a server group and an image that is given by its id.
func wholeOpenStack(t *testing.T) (*runs.World, *lab.EC2) {
	t.Helper()
	w, cloud := runs.ManagedOpenStack(t, openstacklab.Options{PageSize: 2})
	const (
		id, name, vip = "11111111-2222-4333-8444-555555555555", "k8s-clusterapi-cluster-tenant-os-b-data-kubeapi", "11111111-2222-4333-8444-666666666666"
		external, ip  = "10092081-2db9-4143-8229-1bc59416eec5", "203.0.113.77"
		group, image  = "22222222-3333-4444-8555-666666666666", "60c55fb5-9684-4c4e-894f-94655d0d0c01"
		project       = "project_id"
	)
	w.Change("whole", func(resource, machine string, o runs.Object) bool {
		switch resource {
		case "openstackclusters":
			spec := runs.In(o, "spec")
			delete(spec, "disableAPIServerFloatingIP")
			spec["apiServerLoadBalancer"], spec["apiServerFloatingIP"] = runs.Object{"enabled": true}, ip
			spec["controlPlaneEndpoint"] = runs.Object{"host": ip, "port": 38102}
			runs.In(o, "status")["apiServerLoadBalancer"] = runs.Object{"id": id, "name": name}
			runs.In(o, "status")["externalNetwork"] = runs.Object{"id": external, "name": "public-ext"}
		case "openstackservers", "openstackmachines":
			spec := runs.In(o, "spec")
			spec["trunk"], spec["sshKeyName"], spec["serverGroup"] = true, "mine", runs.Object{"filter": runs.Object{"name": "anti"}}
			if machine == "data-control-plane-cjtfx" { // the others' images are given by their name
				spec["image"] = runs.Object{"id": image}
			}
		}
		return true
	})
	of := func(o openstacklab.Object) openstacklab.Object {
		o[project], o["tenant_id"] = openstacklab.Recorded.ProjectID, openstacklab.Recorded.ProjectID
		return o
	}
	cloud.Endpoint("load-balancer", cloud.Network)
	cloud.Add("loadbalancers", of(openstacklab.Object{"id": id, "name": name, "provisioning_status": "ACTIVE", "vip_port_id": vip, "vip_address": "10.20.0.9"}))
	cloud.Edit("floatingips", func(openstacklab.Object) bool { return false })
	cloud.Add("floatingips", of(openstacklab.Object{"id": "55555555-aaaa-4555-8555-555555555555", "floating_ip_address": ip, "port_id": vip}))
	cloud.Add("server_groups", openstacklab.Object{"id": group, "name": "anti", "policies": []any{"anti-affinity"}})
	cloud.Add("keypairs", openstacklab.Object{"name": "mine"})
	for _, p := range cloud.Objects("ports") {
		if strings.HasPrefix(p["name"].(string), "data-control-plane-") {
			cloud.Add("trunks", of(openstacklab.Object{"id": "7" + p["id"].(string)[1:], "name": p["name"], "port_id": p["id"]}))
		}
	}
	w.Cloud = cloud
	w.WithOpenStackNodes()
	return w, nil
}
