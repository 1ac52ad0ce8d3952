package main

import (
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/backup/backuptest"
	"drift-detector/infra/lab"
)

// Each test is one defect that was found, by its number: an estate that differs from one
// that is well in that alone.

// foretells demands the outcome of a machine and words of what is said of it.
func (a safety) foretells(t *testing.T, machine, outcome string, words ...string) {
	t.Helper()
	got, condition, message := a.fate(machine)
	if got != outcome {
		t.Errorf("%s: %q (%s; %s), want %s", machine, got, message, condition, outcome)
	}
	for _, w := range words {
		if !strings.Contains(message+"; "+condition, w) {
			t.Errorf("%s: %q lacks %q", machine, message+"; "+condition, w)
		}
	}
}

// A VM that became a template is found, and cannot be run.
func TestPoint11TemplateIsStuck(t *testing.T) {
	w := well(t)
	for _, e := range w.vcenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == prodOne {
			vm.Config.Template, vm.Summary.Config.Template = true, true
		}
	}
	a := w.answer("--skip-access-apiserver")
	a.foretells(t, prodOne, "Stuck", "is a template now")
	if a.Safe == "yes" || a.Safe == "" {
		t.Errorf("the answer is %q", a.Safe)
	}
}

// CAPA reads AWSMachine.spec.providerID alone, and else searches by name.
func TestPoint12SecondInstanceOnAWS(t *testing.T) {
	const one = "aws-prod-md-1a-f7mmd-8gn59"
	w, ec2 := wellAWS(t)
	w.change("no-provider-id", func(resource, name string, o object) bool {
		if resource == "awsmachines" && name == one {
			delete(in(o, "spec"), "providerID")
		}
		return true
	})
	ec2.Change(func(i *lab.EC2Instance) bool {
		for n := range i.Tags {
			if i.Tags[n].Key == "Name" && i.Tags[n].Value == one {
				i.Tags[n].Value = "renamed"
			}
		}
		return true
	})
	a := w.answer("--skip-access-apiserver")
	a.foretells(t, one, "NewInstanceCreated", "searches by name", "second one")
	if a.Safe != "no" || !strings.Contains(a.about("SecondInstance"), one) {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
}

// Without its load balancer, or its VPC, CAPA does nothing for a cluster; NAT gateways
// and security groups it makes again.
func TestPoint18ClusterStandsStill(t *testing.T) {
	for _, id := range []string{"aws-prod-apiserver", "vpc-0a1b2c3d4e5f60718"} {
		w, _ := wellAWS(t, gone(id))
		a := w.answer("--skip-access-apiserver")
		a.demand(t, "no", "ClusterHalted")
		a.foretells(t, "aws-prod-md-1a-f7mmd-8gn59", "Adopted", "only once", id, "stands still")
	}
}

// CAPA sets a pool to the replicas of the backup, whatever it is set to now.
func TestPoint19And32PoolsAreSetBack(t *testing.T) {
	w, ec2 := wellAWS(t)
	growPool(ec2)
	a := w.answer("--skip-access-apiserver")
	a.demand(t, "no", "PoolScaledBack")
	if !strings.Contains(a.o.stdout, "1 living instance ends, undrained") {
		t.Errorf("nobody is told:\n%s", a.o.stdout)
	}
	ec2.Change(func(i *lab.EC2Instance) bool {
		return i.InstanceID != "i-057bcd5c18f3f244e" && i.InstanceID != "i-002e263aadef727c1"
	})
	w.answer("--skip-access-apiserver").demand(t, "withWork", "PoolGrown")
}

// A rollout that is due replaces machines that live.
func TestPoint20RolloutsThatAreDue(t *testing.T) {
	t.Run("version of the control plane", func(t *testing.T) {
		w := well(t)
		w.set("kubeadmcontrolplanes", prodKCP, "v1.35.0", "spec", "version")
		a := w.answer()
		a.demand(t, "no", "RolloutDue")
		a.foretells(t, planeOne, "RolledByOwner", "v1.34.0", "v1.35.0")
		a.foretells(t, prodOne, "Adopted")
	})
	t.Run("template of the control plane", func(t *testing.T) {
		w := well(t)
		w.set("kubeadmcontrolplanes", prodKCP, prodMD, "spec", "machineTemplate", "spec", "infrastructureRef", "name")
		a := w.answer()
		a.demand(t, "no", "RolloutDue")
		a.foretells(t, planeOne, "RolledByOwner", "VSphereMachineTemplate alpha-prod")
	})
	t.Run("what the control plane itself said", func(t *testing.T) {
		w := well(t)
		w.change("outdated", func(resource, name string, o object) bool {
			if resource == "machines" && name == planeOne {
				for _, c := range in(o, "status")["conditions"].([]any) {
					if c := c.(object); c["type"] == "UpToDate" {
						c["status"], c["reason"], c["message"] = "False", "NotUpToDate", "* KubeadmConfig is not up-to-date"
					}
				}
			}
			return true
		})
		a := w.answer()
		a.demand(t, "no", "RolloutDue")
		a.foretells(t, planeOne, "RolledByOwner", "KubeadmConfig is not up-to-date")
		a.foretells(t, "alpha-prod-nnxbq", "Adopted")
	})
	t.Run("certificates", func(t *testing.T) {
		w := well(t)
		w.set("kubeadmcontrolplanes", prodKCP, 3650, "spec", "rollout", "before", "certificatesExpiryDays")
		a := w.answer()
		a.demand(t, "no", "RolloutDue")
		a.foretells(t, planeOne, "RolledByOwner", "certificates expire on 2027-11-21")
	})
	t.Run("half-way: one MachineSet old, one new", func(t *testing.T) {
		w := well(t)
		w.halfway()
		a := w.answer()
		a.demand(t, "no", "RolloutDue")
		a.foretells(t, prodOne, "RolledByOwner", "v1.34.0", "v1.35.0")
		a.foretells(t, "alpha-prod-md-0-cjzhw-zk8zm", "Adopted")
	})
	t.Run("a time that is to come", func(t *testing.T) {
		w := well(t)
		w.set("kubeadmcontrolplanes", prodKCP, "2999-01-01T00:00:00Z", "spec", "rollout", "after")
		w.answer().demand(t, "withWork", "RolloutScheduled")
	})
}

// halfway is in the middle of an upgrade of alpha-prod-md-0: one of its four machines is
// of a new MachineSet.
func (w *world) halfway() {
	w.t.Helper()
	const fresh, moved = prodMD + "-zzzzz", "alpha-prod-md-0-cjzhw-zk8zm"
	var set object
	w.change("halfway", func(resource, name string, o object) bool {
		switch {
		case resource == "machinedeployments" && name == prodMD:
			in(o, "spec", "template", "spec")["version"] = "v1.35.0"
		case resource == "machinesets" && name == prodSet:
			in(o, "spec")["replicas"], in(o, "status")["replicas"] = 3, 3
			set = o
		case resource == "machines" && name == moved:
			in(o, "metadata", "labels")["cluster.x-k8s.io/set-name"] = fresh
			in(o, "metadata", "labels")["machine-template-hash"] = "fresh"
			in(o, "spec")["version"] = "v1.35.0"
			for _, owner := range in(o, "metadata")["ownerReferences"].([]any) {
				owner.(object)["name"], owner.(object)["uid"] = fresh, "fresh"
			}
		}
		return true
	})
	w.added("new-set", func(b *backuptest.Tarball) {
		spec := in(set, "spec")
		in(set, "metadata", "labels")["machine-template-hash"] = "fresh"
		in(spec, "selector", "matchLabels")["machine-template-hash"] = "fresh"
		b.Add("machinesets.cluster.x-k8s.io", object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "status": object{"replicas": 1},
			"metadata": object{"namespace": "tenant-alpha", "name": fresh, "uid": "fresh", "labels": in(set, "metadata")["labels"], "ownerReferences": in(set, "metadata")["ownerReferences"]},
			"spec": object{"clusterName": "alpha-prod", "replicas": 1, "selector": spec["selector"], "template": object{"spec": object{
				"clusterName": "alpha-prod", "version": "v1.35.0",
				"bootstrap": in(spec, "template", "spec")["bootstrap"], "infrastructureRef": in(spec, "template", "spec")["infrastructureRef"],
			}}},
		})
	})
}

// A MachineHealthCheck obeys the annotation at once.
func TestPoint21RemediateAnnotation(t *testing.T) {
	w := well(t)
	w.healthCheck("tenant-alpha", "alpha-prod", object{})
	w.set("machines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
	a := w.answer("--skip-access-apiserver")
	a.demand(t, "no", "LivingReplaced")
	a.foretells(t, prodOne, "ReplacedByMachineHealthCheck", "remediate-machine")
}

// Conditions of the Machine count, and a stopped instance has a Node that is not Ready.
func TestPoint22HealthChecks(t *testing.T) {
	t.Run("unhealthyMachineConditions", func(t *testing.T) {
		w := well(t)
		w.healthCheck("tenant-alpha", "alpha-prod", object{
			"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []object{{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 60}},
		})
		w.must(w.vcenter.Remove(prodOne))
		a := w.answer("--skip-access-apiserver")
		a.demand(t, "withWork", "StaleReplaced")
		a.foretells(t, prodOne, "ReplacedByMachineHealthCheck", "InfrastructureReady")
	})
	t.Run("stopped on AWS", func(t *testing.T) {
		const one = "aws-prod-md-1a-f7mmd-8gn59"
		w, ec2 := wellAWS(t)
		w.healthCheck("tenant-aws", "aws-prod", notReady())
		ec2.Change(func(i *lab.EC2Instance) bool {
			if name, _ := i.Tag("Name"); name == one {
				i.State = lab.EC2State{Code: 80, Name: "stopped"}
			}
			return true
		})
		a := w.answer("--skip-access-apiserver")
		a.demand(t, "no", "LivingReplaced")
		a.foretells(t, one, "ReplacedByMachineHealthCheck", "does not run")
	})
}

// Without its VSphereVM CAPV goes by folder and name.
func TestPoint23VSphereVMMissing(t *testing.T) {
	for name, c := range map[string]struct {
		machine       string
		make          func(*world)
		outcome, says string
		safe, code    string
	}{
		"gone":                    {prodOne, func(w *world) { w.must(w.vcenter.Remove(prodOne)) }, "NewInstanceCreated", "makes a new one", "withWork", "MachinesMade"},
		"renamed":                 {prodOne, func(w *world) { w.must(w.vcenter.Rename(prodOne, "zz")) }, "NewInstanceCreated", "second one", "no", "SecondInstance"},
		"in place":                {prodOne, func(*world) {}, "AdoptedByName", "found by its name", "withWork", "FoundByNameOnly"},
		"of the control plane":    {planeOne, func(*world) {}, "AdoptedByName", "a new cluster", "withWork", "FoundByNameOnly"},
		"gone, and so its Secret": {prodOne, func(w *world) { w.must(w.vcenter.Remove(prodOne)); w.drop("secrets", prodOne) }, "Stuck", "bootstrap data is not in the backup", "withWork", "MachinesBroken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.drop("vspherevms", c.machine)
			c.make(w)
			a := w.answer("--skip-access-apiserver")
			a.foretells(t, c.machine, c.outcome, c.says)
			if a.Safe != c.safe || !strings.Contains(a.about(c.code), c.machine) {
				t.Errorf("the answer is %q for %q", a.Safe, a.codes())
			}
		})
	}
}

// What a cluster, or the VM of a machine, cannot be without halts it.
func TestPoint24HaltsByWhatIsMissing(t *testing.T) {
	w := well(t)
	w.drop("vsphereclusters", "alpha-prod")
	a := w.answer("--skip-access-apiserver")
	if a.Safe != "no" || a.about("ClusterHalted") != "Cluster tenant-alpha/alpha-prod" {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
	w = well(t)
	w.unprovision(prodOne)
	w.drop("secrets", prodOne)
	w.answer("--skip-access-apiserver").foretells(t, prodOne, "Stuck", "bootstrap data is not in the backup")
}

// Clusters that are back before their machines end every living worker: the first
// condition of every answer, whatever the provider.
func TestPoint31ClustersFirst(t *testing.T) {
	aws, _ := wellAWS(t)
	for name, w := range map[string]*world{"vsphere": well(t), "aws": aws} {
		a := w.answer("--skip-access-apiserver")
		if len(a.Conditions) == 0 || a.Conditions[0].Code != "RestoreOrder" || !strings.Contains(a.Conditions[0].Message, "end every living worker") {
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
		if a := w.answer("--skip-access-apiserver"); a.Safe != safe {
			t.Errorf("%s: %q for %q, want %q", priorities, a.Safe, a.codes(), safe)
		}
	}
}

// The AWSMachine says why it got no instance, however young it is.
func TestPoint35NeverProvisionedOnAWS(t *testing.T) {
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
	a := w.answer("--skip-access-apiserver")
	a.foretells(t, one, "Stuck", "no AMI ami-1", "until the cause is gone")
}

// Without CAPA's defaults new instances hang.
func TestPoint37WebhooksOfCAPA(t *testing.T) {
	w, _ := wellAWS(t)
	for _, c := range w.answer("--skip-access-apiserver").Conditions {
		if c.Code == "WebhooksDuringRestore" && strings.Contains(c.Message, "CAPA must answer again before any controller makes machines") {
			return
		}
	}
	t.Error("no condition says it")
}

// What a group deletes or makes is part of the answer.
func TestPoint40GroupsCount(t *testing.T) {
	for name, c := range map[string]struct {
		resource, object string
		replicas         int
		safe, code       string
	}{
		"MachineDeployment wants one less": {"machinedeployments", prodMD, 3, "no", "MachinesDeleted"},
		"MachineDeployment wants one more": {"machinedeployments", prodMD, 5, "withWork", "MachinesMade"},
		"MachineSet wants one less":        {"machinesets", prodSet, 3, "no", "MachinesDeleted MachinesMade"},
		"control plane wants more":         {"kubeadmcontrolplanes", prodKCP, 5, "withWork", "MachinesMade"},
		"control plane wants fewer":        {"kubeadmcontrolplanes", prodKCP, 1, "no", "MachinesDeleted"},
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
func TestPoint42ReplicasManagedBy(t *testing.T) {
	for value, safe := range map[string]string{"": "yes", "true": "yes", "karpenter": "yes", "false": "no"} {
		w, ec2 := wellAWS(t)
		growPool(ec2)
		w.set("machinepools", "aws-prod-mp-0", value, "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
		if a := w.answer("--skip-access-apiserver"); a.Safe != safe {
			t.Errorf("%q: %q for %q, want %q", value, a.Safe, a.codes(), safe)
		}
	}
}

// What a halt depends on and nobody could look up leaves the answer open.
func TestPoint43LoadBalancersDenied(t *testing.T) {
	w, ec2 := wellAWS(t)
	ec2.Bend(lab.EC2Faults{DenyActions: []string{"elasticloadbalancing:DescribeLoadBalancers"}})
	w.answer("--skip-access-apiserver").demand(t, "unknown", "ResourceUndecided")
}

// CAPA starts nothing, and without its control plane a cluster is not there.
func TestPoint45ControlPlaneStoppedOnAWS(t *testing.T) {
	w, ec2 := wellAWS(t)
	ec2.Change(func(i *lab.EC2Instance) bool {
		if name, _ := i.Tag("Name"); strings.Contains(name, "control-plane") {
			i.State = lab.EC2State{Code: 80, Name: "stopped"}
		}
		return true
	})
	w.answer("--skip-access-apiserver").demand(t, "no", "ControlPlaneDown InstancesStopped")
}

// A recorded placement needs every object from which it is derived, and must not differ
// from what they say.
func TestPoint47PlacementHalts(t *testing.T) {
	t.Run("zone not in the backup", func(t *testing.T) {
		w := well(t)
		w.set("machines", prodOne, "zone-a", "spec", "failureDomain")
		a := w.answer("--skip-access-apiserver")
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
		w.answer("--skip-access-apiserver").foretells(t, prodOne, "Halted", "VSphereFailureDomain domain-a")
	})
	t.Run("VSphereVM differs from its VSphereMachine", func(t *testing.T) {
		w := well(t)
		w.set("vspherevms", prodOne, "/DC0/datastore/other", "spec", "datastore")
		a := w.answer("--skip-access-apiserver")
		a.foretells(t, prodOne, "Halted", "spec.datastore", "refuses to change it")
	})
}

// Starting a VM is something that a controller does.
func TestPoint48PoweredOn(t *testing.T) {
	w := well(t)
	w.must(w.vcenter.SetPower(prodOne, false))
	a := w.answer("--skip-access-apiserver")
	a.demand(t, "withWork", "InstancesStarted")
	if strings.Contains(a.o.stdout, "restore? YES") {
		t.Error("the screen says YES")
	}
}

// No replacement is promised that cannot be made.
func TestPoint49ReplacementsThatCannotBeMade(t *testing.T) {
	for name, take := range map[string]func(*world){
		"template object":                  func(w *world) { w.drop("vspheremachinetemplates", prodMD) },
		"template of the bootstrap config": func(w *world) { w.drop("kubeadmconfigtemplates", prodMD) },
		"VM that the template is cloned from": func(w *world) {
			for _, vm := range w.vcenter.VMs() {
				if vm.Template {
					w.must(w.vcenter.Remove(vm.Path))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.healthCheck("tenant-alpha", "alpha-prod", notReady())
			w.must(w.vcenter.Remove(prodOne))
			take(w)
			a := w.answer("--skip-access-apiserver")
			a.foretells(t, prodOne, "DeletedByMachineHealthCheck", "can make no other")
			a.demand(t, "withWork", "CannotReplace MachinesBroken")
		})
	}
}
