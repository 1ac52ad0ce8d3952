package forecasts_test

import (
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// wellEKS returns the well cluster of AWS with a control plane that AWS runs.
func wellEKS(t *testing.T) *runs.World {
	t.Helper()
	w, ec2 := runs.WellAWS(t)
	const plane, controlPlanes = "aws-prod-control-plane", "controlplane.cluster.x-k8s.io"
	w.Change("eks", func(resource, name string, o runs.Object) bool {
		if strings.HasPrefix(name, plane) || resource == "awsclusters" {
			return false
		}
		if resource == "clusters" {
			runs.In(o, "spec")["controlPlaneRef"] = runs.Object{"apiGroup": controlPlanes, "kind": "AWSManagedControlPlane", "name": plane}
			runs.In(o, "spec", "infrastructureRef")["kind"] = "AWSManagedCluster"
		}
		return true
	})
	w.Added("eks-objects", func(b *backuptest.Tarball) {
		meta := func(name string) runs.Object {
			return runs.Object{"namespace": "tenant-aws", "name": name, "labels": runs.Object{"cluster.x-k8s.io/cluster-name": "aws-prod"}}
		}
		b.Add("awsmanagedclusters.infrastructure.cluster.x-k8s.io", runs.Object{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedCluster", "metadata": meta("aws-prod"), "spec": runs.Object{},
		})
		b.Add("awsmanagedcontrolplanes."+controlPlanes, runs.Object{
			"apiVersion": controlPlanes + "/v1beta2", "kind": "AWSManagedControlPlane", "metadata": meta(plane),
			"spec": runs.Object{"region": "us-east-1", "eksClusterName": "aws-prod", "network": runs.Object{"vpc": runs.Object{"id": "vpc-0a1b2c3d4e5f60718"}}},
		})
	})
	ec2.Change(func(i *lab.EC2Instance) bool {
		name, _ := i.Tag("Name")
		return !strings.HasPrefix(name, plane)
	})
	return w
}

// CAPA updates only a kubeconfig Secret that its control plane owns, and a restore takes
// the owner away. It makes one where there is none.
func TestKubeconfigOfEKS(t *testing.T) {
	w := wellEKS(t)
	a := w.Answer()
	if a.Safe != "no" || a.About("ClusterHalted") != "Cluster tenant-aws/aws-prod" {
		t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
	}
	a.Foretells(t, "aws-prod-md-1a-f7mmd-8gn59", "Adopted", "only once Secret tenant-aws/aws-prod-kubeconfig", "is deleted")
	w.Drop("secrets", "aws-prod-kubeconfig")
	if a := w.Answer(); a.About("ClusterHalted") != "" {
		t.Errorf("without the Secret: %+v", a.Reasons)
	}
}

// Without its control plane's object nothing of an EKS cluster is done.
func TestObjectOfTheEKSControlPlane(t *testing.T) {
	w := wellEKS(t)
	w.Drop("secrets", "aws-prod-kubeconfig")
	w.Drop("awsmanagedcontrolplanes", "aws-prod-control-plane")
	a := w.Answer()
	if a.Safe != "no" || !strings.Contains(a.About("ClusterHalted"), "Cluster tenant-aws/aws-prod") {
		t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
	}
}

// A member that left its pool loses its Machine alone, and the others are taken over.
func TestMemberOfAPoolGone(t *testing.T) {
	w, _ := runs.WellAWS(t)
	members := map[string]string{"mp-0-lives": "i-002e263aadef727c1", "mp-0-gone": "i-0cccccccccccccccc"}
	w.Added("members", func(b *backuptest.Tarball) {
		for name, id := range members {
			meta := runs.Object{"namespace": "tenant-aws", "name": name, "uid": "uid-" + name, "labels": runs.Object{
				"cluster.x-k8s.io/cluster-name": "aws-prod", "cluster.x-k8s.io/pool-name": "aws-prod-mp-0",
			}}
			spec := runs.Object{"providerID": "aws:///us-east-1b/" + id, "instanceID": id, "instanceType": "m5.large"}
			b.Add("awsmachines.infrastructure.cluster.x-k8s.io", runs.Object{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachine", "metadata": meta, "spec": spec})
			b.Add("machines.cluster.x-k8s.io", runs.Object{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": meta, "spec": runs.Object{
				"clusterName": "aws-prod", "providerID": spec["providerID"], "bootstrap": runs.Object{"dataSecretName": "aws-prod-worker-bootstrap"},
				"infrastructureRef": runs.Object{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachine", "name": name},
			}})
		}
	})
	a := w.Answer()
	a.Foretells(t, "mp-0-lives", "Adopted")
	a.Foretells(t, "mp-0-gone", "MemberGone", "CAPA deletes its Machine")
	if got := a.About("PoolMachinesDeleted"); got != "Machine tenant-aws/mp-0-gone" || a.Safe == "yes" {
		t.Errorf("%q: the answer is %q for %q", got, a.Safe, a.Codes())
	}
}

// The topology of a Cluster wants a number of its MachineDeployments, and those of their
// MachineSets: each difference makes or deletes machines.
func TestTopologyWantsAnotherNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, safe, codes, says string
		topology                runs.Object
	}{
		{"as many", "yes", "", "", runs.Object{"name": "x", "class": "w", "replicas": 4}},
		{"fewer", "no", "MachinesDeleted", "deletes 3 machines with their instances", runs.Object{"name": "x", "class": "w", "replicas": 1}},
		{"more", "withWork", "MachinesMade", "creates 2 machines", runs.Object{"name": "x", "class": "w", "replicas": 6}},
		{"not this one", "no", "MachinesDeleted MachinesMade", "it is created again, with 4 machines", runs.Object{"name": "y", "class": "w", "replicas": 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := runs.Well(t)
			w.Set("clusters", "alpha-prod", runs.Object{
				"classRef": runs.Object{"name": "c"}, "version": "v1.34.0",
				"workers": runs.Object{"machineDeployments": []runs.Object{c.topology}},
			}, "spec", "topology")
			w.OwnedByTopology("tenant-alpha")
			for _, label := range []string{"topology.cluster.x-k8s.io/owned", "topology.cluster.x-k8s.io/deployment-name"} {
				value := ""
				if strings.HasSuffix(label, "name") {
					value = "x"
				}
				w.Set("machinedeployments", runs.ProdMD, value, "metadata", "labels", label)
			}
			w.Added("class", func(b *backuptest.Tarball) {
				b.Add("clusterclasses.cluster.x-k8s.io", runs.Object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": runs.Object{"namespace": "tenant-alpha", "name": "c"},
				})
			})
			a := w.Answer()
			a.Demand(t, c.safe, c.codes)
			if text := strings.Join(strings.Fields(a.O.Stdout), " "); !strings.Contains(text, c.says) {
				t.Errorf("no %q in\n%s", c.says, a.O.Stdout)
			}
			if c.name == "not this one" {
				a.Foretells(t, runs.ProdOne, "DeletedByOwner", "is not in the topology of its Cluster")
			}
		})
	}
}
