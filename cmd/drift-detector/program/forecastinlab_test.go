package program

import (
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// Each test is one defect that was found, by its number: a restore that differs from one
// that is well in that alone.

// foretells demands the outcome of a machine and words of what is said of it.
func (a safety) foretells(t *testing.T, machine, outcome string, words ...string) {
	t.Helper()
	got, condition, message := a.outcome(machine)
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
func TestTemplateIsStuck(t *testing.T) {
	t.Parallel()
	w := well(t)
	for _, e := range w.vcenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == prodOne {
			vm.Config.Template, vm.Summary.Config.Template = true, true
		}
	}
	a := w.answer()
	a.foretells(t, prodOne, "Stuck", "is a template now")
	if a.Safe == "yes" || a.Safe == "" {
		t.Errorf("the answer is %q", a.Safe)
	}
}

// CAPA reads AWSMachine.spec.providerID alone, and else searches by name.
func TestSecondInstanceOnAWS(t *testing.T) {
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
	a := w.answer()
	a.foretells(t, one, "NewInstanceCreated", "searches by name", "second one")
	if a.Safe != "no" || !strings.Contains(a.about("SecondInstance"), one) {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
}

// Without its load balancer, or its VPC, CAPA does nothing for a cluster; NAT gateways
// and security groups it makes again.
func TestClusterStandsStill(t *testing.T) {
	for _, id := range []string{"aws-prod-apiserver", "vpc-0a1b2c3d4e5f60718"} {
		w, _ := wellAWS(t, gone(id))
		a := w.answer()
		a.demand(t, "no", "ClusterHalted")
		a.foretells(t, "aws-prod-md-1a-f7mmd-8gn59", "Adopted", "only once", id, "is not reconciled")
	}
}

// CAPA sets a pool to the replicas of the backup, whatever it is set to now.
func TestPoolsAreSetBack(t *testing.T) {
	w, ec2 := wellAWS(t)
	growPool(ec2)
	a := w.answer()
	a.demand(t, "no", "PoolScaledBack")
	if !strings.Contains(a.o.stdout, "1 running instance is terminated") {
		t.Errorf("nobody says so:\n%s", a.o.stdout)
	}
	ec2.Change(func(i *lab.EC2Instance) bool {
		return i.InstanceID != "i-057bcd5c18f3f244e" && i.InstanceID != "i-002e263aadef727c1"
	})
	w.answer().demand(t, "withWork", "PoolGrown")
}

// A rollout that is due replaces machines that live.
func TestRolloutsThatAreDue(t *testing.T) {
	t.Parallel()
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

// halfway makes a backup in the middle of an upgrade of alpha-prod-md-0: one of its four machines is
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
func TestRemediateAnnotation(t *testing.T) {
	t.Parallel()
	w := well(t)
	w.healthCheck("tenant-alpha", "alpha-prod", object{})
	w.set("machines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
	a := w.answer()
	a.demand(t, "no", "LivingReplaced")
	a.foretells(t, prodOne, "ReplacedByMachineHealthCheck", "remediate-machine")
}

// Conditions of the Machine count, and a stopped instance has a Node that is not Ready.
func TestConditionsOfAMachineCountInHealthChecks(t *testing.T) {
	t.Run("unhealthyMachineConditions", func(t *testing.T) {
		w := well(t)
		w.healthCheck("tenant-alpha", "alpha-prod", object{
			"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []object{{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 300}},
		})
		w.ensure(w.vcenter.Remove(prodOne))
		a := w.answer()
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
		a := w.answer()
		a.demand(t, "no", "LivingReplaced")
		a.foretells(t, one, "ReplacedByMachineHealthCheck", "not Ready")
	})
}

// Without its VSphereVM CAPV goes by folder and name.
func TestVSphereVMMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		machine       string
		make          func(*world)
		outcome, says string
		safe, code    string
	}{
		"gone":                    {prodOne, func(w *world) { w.ensure(w.vcenter.Remove(prodOne)) }, "NewInstanceCreated", "creates a new one", "withWork", "MachinesMade"},
		"renamed":                 {prodOne, func(w *world) { w.ensure(w.vcenter.Rename(prodOne, "zz")) }, "NewInstanceCreated", "second one", "no", "SecondInstance"},
		"in place":                {prodOne, func(*world) {}, "AdoptedByName", "found by its name", "withWork", "FoundByNameOnly"},
		"of the control plane":    {planeOne, func(*world) {}, "AdoptedByName", "a new cluster", "withWork", "FoundByNameOnly"},
		"gone, and so its Secret": {prodOne, func(w *world) { w.ensure(w.vcenter.Remove(prodOne)); w.drop("secrets", prodOne) }, "Stuck", "bootstrap data is not in the backup", "withWork", "MachinesBroken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			w.drop("vspherevms", c.machine)
			c.make(w)
			a := w.answer()
			a.foretells(t, c.machine, c.outcome, c.says)
			if a.Safe != c.safe || !strings.Contains(a.about(c.code), c.machine) {
				t.Errorf("the answer is %q for %q", a.Safe, a.codes())
			}
		})
	}
}

// What a cluster, or the VM of a machine, cannot be without halts it.
func TestHaltsByWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := well(t)
	w.drop("vsphereclusters", "alpha-prod")
	a := w.answer()
	if a.Safe != "no" || a.about("ClusterHalted") != "Cluster tenant-alpha/alpha-prod" {
		t.Errorf("the answer is %q for %q", a.Safe, a.codes())
	}
	w = well(t)
	w.unprovision(prodOne)
	w.drop("secrets", prodOne)
	w.answer().foretells(t, prodOne, "Stuck", "bootstrap data is not in the backup")
}
