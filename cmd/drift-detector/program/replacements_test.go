package program

import (
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// Clusters that are back before their machines terminate every running worker: the first
// condition of every answer, whatever the provider.
func TestClustersFirst(t *testing.T) {
	aws, _ := wellAWS(t)
	for name, w := range map[string]*world{"vsphere": well(t), "aws": aws} {
		a := w.answer()
		if len(a.Conditions) == 0 || a.Conditions[0].Code != "RestoreOrder" || !strings.Contains(a.Conditions[0].Message, "terminate every running worker") {
			t.Errorf("%s: conditions %+v", name, a.Conditions)
		}
	}
	for priorities, safe := range map[string]string{
		"namespaces,clusters.cluster.x-k8s.io":                             "no",
		"namespaces,secrets,-,clusterresourcesets.addons.cluster.x-k8s.io": "no", // Clusters among the others, by their names
		"namespaces,secrets": "yes", // without low priorities of its own Velero's stay
		"machinesets.cluster.x-k8s.io,machines.cluster.x-k8s.io,clusters.cluster.x-k8s.io": "yes",
		"namespaces,-,clusters.cluster.x-k8s.io":                                           "yes",
	} {
		w := well(t)
		w.velero("--restore-resource-priorities=" + priorities)
		if a := w.answer(); a.Safe != safe {
			t.Errorf("%s: %q for %q, want %q", priorities, a.Safe, a.codes(), safe)
		}
	}
}

// The AWSMachine says why it got no instance, however young it is.
func TestNeverProvisionedOnAWS(t *testing.T) {
	const one = "aws-prod-md-1a-f7mmd-8gn59"
	w, ec2 := wellAWS(t)
	w.change("failed", func(resource, name string, o object) bool {
		switch {
		case name != one:
		case resource == "awsmachines":
			delete(in(o, "spec"), "providerID")
			delete(in(o, "spec"), "instanceID")
			in(o, "status")["conditions"] = []object{{"type": "InstanceReady", "status": "False", "severity": "Error", "reason": "InstanceProvisionFailed", "message": "no AMI ami-1 in us-east-1"}}
		case resource == "machines":
			delete(in(o, "spec"), "providerID")
			in(o, "metadata")["creationTimestamp"] = "2026-11-21T04:05:00Z"
			in(o, "status")["conditions"] = []object{{"type": "InfrastructureReady", "status": "False", "reason": "InstanceProvisionFailed", "message": "0 of 2 completed"}}
		}
		return true
	})
	ec2.Change(func(i *lab.EC2Instance) bool { name, _ := i.Tag("Name"); return name != one })
	a := w.answer()
	a.foretells(t, one, "Stuck", "no AMI ami-1", "until the cause is gone")
}

// Without CAPA's defaults new instances hang.
func TestWebhooksOfCAPA(t *testing.T) {
	w, _ := wellAWS(t)
	for _, c := range w.answer().Conditions {
		if c.Code == "WebhooksDuringRestore" && strings.Contains(c.Message, "CAPA must answer again before any controller creates machines") {
			return
		}
	}
	t.Error("no condition says it")
}

// What a group deletes or makes is part of the answer.
func TestWhatAGroupDoesIsPartOfTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resource, object string
		replicas         int
		safe, code       string
	}{
		"MachineDeployment specifies one less": {"machinedeployments", prodMD, 3, "no", "MachinesDeleted"},
		"MachineDeployment specifies one more": {"machinedeployments", prodMD, 5, "withWork", "MachinesMade"},
		"MachineSet specifies one less":        {"machinesets", prodSet, 3, "no", "MachinesDeleted MachinesMade"},
		"control plane wants more":             {"kubeadmcontrolplanes", prodKCP, 5, "withWork", "MachinesMade"},
		"control plane wants fewer":            {"kubeadmcontrolplanes", prodKCP, 1, "no", "MachinesDeleted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.set(c.resource, c.object, c.replicas, "spec", "replicas")
			a := w.answer()
			a.demand(t, c.safe, c.code)
			if a.status != "Healthy" {
				t.Errorf("status %s", a.status)
			}
		})
	}
}

// Cluster API takes every value of replicas-managed-by but "false" for yes.
func TestEveryValueButFalseManagesReplicas(t *testing.T) {
	for value, safe := range map[string]string{"": "yes", "true": "yes", "karpenter": "yes", "false": "no"} {
		w, ec2 := wellAWS(t)
		growPool(ec2)
		w.set("machinepools", "aws-prod-mp-0", value, "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
		if a := w.answer(); a.Safe != safe {
			t.Errorf("%q: %q for %q, want %q", value, a.Safe, a.codes(), safe)
		}
	}
}

// What a halt depends on and nobody could look up leaves the answer open.
func TestLoadBalancersDenied(t *testing.T) {
	w, ec2 := wellAWS(t)
	ec2.Bend(lab.EC2Faults{DenyActions: []string{"elasticloadbalancing:DescribeLoadBalancers"}})
	w.answer().demand(t, "unknown", "ResourceUndecided")
}

// CAPA starts nothing, and without its control plane a cluster is not there.
func TestControlPlaneStoppedOnAWS(t *testing.T) {
	w, ec2 := wellAWS(t)
	ec2.Change(func(i *lab.EC2Instance) bool {
		if name, _ := i.Tag("Name"); strings.Contains(name, "control-plane") {
			i.State = lab.EC2State{Code: 80, Name: "stopped"}
		}
		return true
	})
	w.answer().demand(t, "no", "ControlPlaneDown InstancesStopped")
}

// A recorded placement needs every object from which it is derived, and must not differ
// from what they say.
func TestPlacementHalts(t *testing.T) {
	t.Parallel()
	t.Run("zone not in the backup", func(t *testing.T) {
		w := well(t)
		w.set("machines", prodOne, "zone-a", "spec", "failureDomain")
		a := w.answer()
		a.foretells(t, prodOne, "Halted", "VSphereDeploymentZone zone-a")
		if a.Safe == "yes" || a.about("MachinesHalted") != "Machine tenant-alpha/"+prodOne {
			t.Errorf("the answer is %q for %q", a.Safe, a.codes())
		}
	})
	t.Run("failure domain not in the backup", func(t *testing.T) {
		w := well(t)
		w.set("machines", prodOne, "zone-a", "spec", "failureDomain")
		w.added("zone", func(b *backuptest.Tarball) {
			b.Add("vspheredeploymentzones.infrastructure.cluster.x-k8s.io", object{
				"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "VSphereDeploymentZone", "metadata": object{"name": "zone-a"},
				"spec": object{"server": w.vcenter.Named, "failureDomain": "domain-a"},
			})
		})
		w.answer().foretells(t, prodOne, "Halted", "VSphereFailureDomain domain-a")
	})
	t.Run("VSphereVM differs from its VSphereMachine", func(t *testing.T) {
		w := well(t)
		w.set("vspherevms", prodOne, "/DC0/datastore/other", "spec", "datastore")
		a := w.answer()
		a.foretells(t, prodOne, "Halted", "spec.datastore", "refuses to change it")
	})
}

// Starting a VM is something that a controller does.
func TestPoweredOn(t *testing.T) {
	t.Parallel()
	w := well(t)
	w.ensure(w.vcenter.SetPower(prodOne, false))
	a := w.answer()
	a.demand(t, "withWork", "InstancesStarted")
	if strings.Contains(a.o.stdout, "restore? YES") {
		t.Error("the screen says YES")
	}
}

// No replacement is promised that cannot be made.
func TestReplacementsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*world){
		"template object":                  func(w *world) { w.drop("vspheremachinetemplates", prodMD) },
		"template of the bootstrap config": func(w *world) { w.drop("kubeadmconfigtemplates", prodMD) },
		"VM that the template is cloned from": func(w *world) {
			for _, vm := range w.vcenter.VMs() {
				if vm.Template {
					w.ensure(w.vcenter.Remove(vm.Path))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.healthCheck("tenant-alpha", "alpha-prod", notReady())
			w.ensure(w.vcenter.Remove(prodOne))
			w.unregister("alpha-prod", prodOne)
			take(w)
			a := w.answer()
			a.foretells(t, prodOne, "DeletedByMachineHealthCheck", "can create no other")
			a.demand(t, "withWork", "CannotReplace MachinesBroken")
		})
	}
}
