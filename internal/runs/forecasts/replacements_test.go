package forecasts_test

import (
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// Clusters that are back before their machines terminate every running worker: the first
// condition of every answer, whatever the provider.
func TestClustersFirst(t *testing.T) {
	aws, _ := runs.WellAWS(t)
	for name, w := range map[string]*runs.World{"vsphere": runs.Well(t), "aws": aws} {
		a := w.Answer()
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
		w := runs.Well(t)
		w.Velero("--restore-resource-priorities=" + priorities)
		if a := w.Answer(); a.Safe != safe {
			t.Errorf("%s: %q for %q, want %q", priorities, a.Safe, a.Codes(), safe)
		}
	}
}

// The AWSMachine says why it got no instance, however young it is.
func TestNeverProvisionedOnAWS(t *testing.T) {
	const one = "aws-prod-md-1a-f7mmd-8gn59"
	w, ec2 := runs.WellAWS(t)
	w.Change("failed", func(resource, name string, o runs.Object) bool {
		switch {
		case name != one:
		case resource == "awsmachines":
			delete(runs.In(o, "spec"), "providerID")
			delete(runs.In(o, "spec"), "instanceID")
			runs.In(o, "status")["conditions"] = []runs.Object{{"type": "InstanceReady", "status": "False", "severity": "Error", "reason": "InstanceProvisionFailed", "message": "no AMI ami-1 in us-east-1"}}
		case resource == "machines":
			delete(runs.In(o, "spec"), "providerID")
			runs.In(o, "metadata")["creationTimestamp"] = "2026-11-21T04:05:00Z"
			runs.In(o, "status")["conditions"] = []runs.Object{{"type": "InfrastructureReady", "status": "False", "reason": "InstanceProvisionFailed", "message": "0 of 2 completed"}}
		}
		return true
	})
	ec2.Change(func(i *lab.EC2Instance) bool { name, _ := i.Tag("Name"); return name != one })
	a := w.Answer()
	a.Foretells(t, one, "Stuck", "no AMI ami-1", "until the cause is gone")
}

// Without CAPA's defaults new instances hang.
func TestWebhooksOfCAPA(t *testing.T) {
	w, _ := runs.WellAWS(t)
	for _, c := range w.Answer().Conditions {
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
		"MachineDeployment specifies one less": {"machinedeployments", runs.ProdMD, 3, "no", "MachinesDeleted"},
		"MachineDeployment specifies one more": {"machinedeployments", runs.ProdMD, 5, "withWork", "MachinesMade"},
		"MachineSet specifies one less":        {"machinesets", runs.ProdSet, 3, "no", "MachinesDeleted MachinesMade"},
		"control plane wants more":             {"kubeadmcontrolplanes", runs.ProdKCP, 5, "withWork", "MachinesMade"},
		"control plane wants fewer":            {"kubeadmcontrolplanes", runs.ProdKCP, 1, "no", "MachinesDeleted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Well(t)
			w.Set(c.resource, c.object, c.replicas, "spec", "replicas")
			a := w.Answer()
			a.Demand(t, c.safe, c.code)
			if a.Status != "Healthy" {
				t.Errorf("status %s", a.Status)
			}
		})
	}
}

// Cluster API takes every value of replicas-managed-by but "false" for yes.
func TestEveryValueButFalseManagesReplicas(t *testing.T) {
	for value, safe := range map[string]string{"": "yes", "true": "yes", "karpenter": "yes", "false": "no"} {
		w, ec2 := runs.WellAWS(t)
		runs.GrowPool(ec2)
		w.Set("machinepools", "aws-prod-mp-0", value, "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
		if a := w.Answer(); a.Safe != safe {
			t.Errorf("%q: %q for %q, want %q", value, a.Safe, a.Codes(), safe)
		}
	}
}

// What a halt depends on and nobody could look up leaves the answer open.
func TestLoadBalancersDenied(t *testing.T) {
	w, ec2 := runs.WellAWS(t)
	ec2.Bend(lab.EC2Faults{DenyActions: []string{"elasticloadbalancing:DescribeLoadBalancers"}})
	w.Answer().Demand(t, "unknown", "ResourceUndecided")
}

// CAPA starts nothing, and without its control plane a cluster is not there.
func TestControlPlaneStoppedOnAWS(t *testing.T) {
	w, ec2 := runs.WellAWS(t)
	ec2.Change(func(i *lab.EC2Instance) bool {
		if name, _ := i.Tag("Name"); strings.Contains(name, "control-plane") {
			i.State = lab.EC2State{Code: 80, Name: "stopped"}
		}
		return true
	})
	w.Answer().Demand(t, "no", "ControlPlaneDown InstancesStopped")
}

// A recorded placement needs every object from which it is derived, and must not differ
// from what they say.
func TestPlacementHalts(t *testing.T) {
	t.Parallel()
	t.Run("zone not in the backup", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("machines", runs.ProdOne, "zone-a", "spec", "failureDomain")
		a := w.Answer()
		a.Foretells(t, runs.ProdOne, "Halted", "VSphereDeploymentZone zone-a")
		if a.Safe == "yes" || a.About("MachinesHalted") != "Machine tenant-alpha/"+runs.ProdOne {
			t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
		}
	})
	t.Run("failure domain not in the backup", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("machines", runs.ProdOne, "zone-a", "spec", "failureDomain")
		w.Added("zone", func(b *backuptest.Tarball) {
			b.Add("vspheredeploymentzones.infrastructure.cluster.x-k8s.io", runs.Object{
				"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "VSphereDeploymentZone", "metadata": runs.Object{"name": "zone-a"},
				"spec": runs.Object{"server": w.VCenter.Named, "failureDomain": "domain-a"},
			})
		})
		w.Answer().Foretells(t, runs.ProdOne, "Halted", "VSphereFailureDomain domain-a")
	})
	t.Run("VSphereVM differs from its VSphereMachine", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("vspherevms", runs.ProdOne, "/DC0/datastore/other", "spec", "datastore")
		a := w.Answer()
		a.Foretells(t, runs.ProdOne, "Halted", "spec.datastore", "refuses to change it")
	})
}

// Starting a VM is something that a controller does.
func TestPoweredOn(t *testing.T) {
	t.Parallel()
	w := runs.Well(t)
	w.Ensure(w.VCenter.SetPower(runs.ProdOne, false))
	a := w.Answer()
	a.Demand(t, "withWork", "InstancesStarted")
	if strings.Contains(a.O.Stdout, "restore? YES") {
		t.Error("the screen says YES")
	}
}

// No replacement is promised that cannot be made.
func TestReplacementsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*runs.World){
		"template object":                  func(w *runs.World) { w.Drop("vspheremachinetemplates", runs.ProdMD) },
		"template of the bootstrap config": func(w *runs.World) { w.Drop("kubeadmconfigtemplates", runs.ProdMD) },
		"VM that the template is cloned from": func(w *runs.World) {
			for _, vm := range w.VCenter.VMs() {
				if vm.Template {
					w.Ensure(w.VCenter.Remove(vm.Path))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Well(t)
			w.HealthCheck("tenant-alpha", "alpha-prod", notReady())
			w.Ensure(w.VCenter.Remove(runs.ProdOne))
			w.Unregister("alpha-prod", runs.ProdOne)
			take(w)
			a := w.Answer()
			a.Foretells(t, runs.ProdOne, "DeletedByMachineHealthCheck", "can create no other")
			a.Demand(t, "withWork", "CannotReplace MachinesBroken")
		})
	}
}
