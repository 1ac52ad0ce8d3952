package program

import (
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// wellEKS returns the well cluster of AWS with a control plane that AWS runs.
func wellEKS(t *testing.T) *world {
	t.Helper()
	w, ec2 := wellAWS(t)
	const plane, controlPlanes = "aws-prod-control-plane", "controlplane.cluster.x-k8s.io"
	w.change("eks", func(resource, name string, o object) bool {
		if strings.HasPrefix(name, plane) || resource == "awsclusters" {
			return false
		}
		if resource == "clusters" {
			in(o, "spec")["controlPlaneRef"] = object{"apiGroup": controlPlanes, "kind": "AWSManagedControlPlane", "name": plane}
			in(o, "spec", "infrastructureRef")["kind"] = "AWSManagedCluster"
		}
		return true
	})
	w.added("eks-objects", func(b *backuptest.Tarball) {
		meta := func(name string) object {
			return object{"namespace": "tenant-aws", "name": name, "labels": object{"cluster.x-k8s.io/cluster-name": "aws-prod"}}
		}
		b.Add("awsmanagedclusters.infrastructure.cluster.x-k8s.io", object{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSManagedCluster", "metadata": meta("aws-prod"), "spec": object{},
		})
		b.Add("awsmanagedcontrolplanes."+controlPlanes, object{
			"apiVersion": controlPlanes + "/v1beta2", "kind": "AWSManagedControlPlane", "metadata": meta(plane),
			"spec": object{"region": "us-east-1", "eksClusterName": "aws-prod", "network": object{"vpc": object{"id": "vpc-0a1b2c3d4e5f60718"}}},
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
	a := w.answer()
	if a.Safe != "no" || a.about("ClusterHalted") != "Cluster tenant-aws/aws-prod" {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
	a.foretells(t, "aws-prod-md-1a-f7mmd-8gn59", "Adopted", "only once Secret tenant-aws/aws-prod-kubeconfig", "is deleted")
	w.drop("secrets", "aws-prod-kubeconfig")
	if a := w.answer(); a.about("ClusterHalted") != "" {
		t.Errorf("without the Secret: %+v", a.Reasons)
	}
}

// Without its control plane's object nothing of an EKS cluster is done.
func TestObjectOfTheEKSControlPlane(t *testing.T) {
	w := wellEKS(t)
	w.drop("secrets", "aws-prod-kubeconfig")
	w.drop("awsmanagedcontrolplanes", "aws-prod-control-plane")
	a := w.answer()
	if a.Safe != "no" || !strings.Contains(a.about("ClusterHalted"), "Cluster tenant-aws/aws-prod") {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
}

// A member that left its pool loses its Machine alone, and the others are taken over.
func TestMemberOfAPoolGone(t *testing.T) {
	w, _ := wellAWS(t)
	members := map[string]string{"mp-0-lives": "i-002e263aadef727c1", "mp-0-gone": "i-0cccccccccccccccc"}
	w.added("members", func(b *backuptest.Tarball) {
		for name, id := range members {
			meta := object{"namespace": "tenant-aws", "name": name, "uid": "uid-" + name, "labels": object{
				"cluster.x-k8s.io/cluster-name": "aws-prod", "cluster.x-k8s.io/pool-name": "aws-prod-mp-0",
			}}
			spec := object{"providerID": "aws:///us-east-1b/" + id, "instanceID": id, "instanceType": "m5.large"}
			b.Add("awsmachines.infrastructure.cluster.x-k8s.io", object{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSMachine", "metadata": meta, "spec": spec})
			b.Add("machines.cluster.x-k8s.io", object{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": meta, "spec": object{
				"clusterName": "aws-prod", "providerID": spec["providerID"], "bootstrap": object{"dataSecretName": "aws-prod-worker-bootstrap"},
				"infrastructureRef": object{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSMachine", "name": name},
			}})
		}
	})
	a := w.answer()
	a.foretells(t, "mp-0-lives", "Adopted")
	a.foretells(t, "mp-0-gone", "MemberGone", "CAPA deletes its Machine")
	if got := a.about("PoolMachinesDeleted"); got != "Machine tenant-aws/mp-0-gone" || a.Safe == "yes" {
		t.Errorf("%q: the answer is %q for %q", got, a.Safe, a.codes())
	}
}

// The topology of a Cluster wants a number of its MachineDeployments, and those of their
// MachineSets: each difference makes or deletes machines.
func TestTopologyWantsAnotherNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, safe, codes, says string
		topology                object
	}{
		{"as many", "yes", "", "", object{"name": "x", "class": "w", "replicas": 4}},
		{"fewer", "no", "MachinesDeleted", "deletes 3 machines with their instances", object{"name": "x", "class": "w", "replicas": 1}},
		{"more", "withWork", "MachinesMade", "creates 2 machines", object{"name": "x", "class": "w", "replicas": 6}},
		{"not this one", "no", "MachinesDeleted MachinesMade", "it is created again, with 4 machines", object{"name": "y", "class": "w", "replicas": 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := well(t)
			w.set("clusters", "alpha-prod", object{
				"classRef": object{"name": "c"}, "version": "v1.34.0",
				"workers": object{"machineDeployments": []object{c.topology}},
			}, "spec", "topology")
			w.ownedByTopology("tenant-alpha")
			for _, label := range []string{"topology.cluster.x-k8s.io/owned", "topology.cluster.x-k8s.io/deployment-name"} {
				value := ""
				if strings.HasSuffix(label, "name") {
					value = "x"
				}
				w.set("machinedeployments", prodMD, value, "metadata", "labels", label)
			}
			w.added("class", func(b *backuptest.Tarball) {
				b.Add("clusterclasses.cluster.x-k8s.io", object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": object{"namespace": "tenant-alpha", "name": "c"},
				})
			})
			a := w.answer()
			a.demand(t, c.safe, c.codes)
			if text := strings.Join(strings.Fields(a.o.stdout), " "); !strings.Contains(text, c.says) {
				t.Errorf("no %q in\n%s", c.says, a.o.stdout)
			}
			if c.name == "not this one" {
				a.foretells(t, prodOne, "DeletedByOwner", "is not in the topology of its Cluster")
			}
		})
	}
}
