package forecasts_test

import (
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// A VM that became a template is found, and cannot be run.
func TestTemplateIsStuck(t *testing.T) {
	t.Parallel()
	w := runs.Well(t)
	for _, e := range w.VCenter.Service.Context.Map.All("VirtualMachine") {
		if vm := e.(*simulator.VirtualMachine); vm.Name == runs.ProdOne {
			vm.Config.Template, vm.Summary.Config.Template = true, true
		}
	}
	a := w.Answer()
	a.Foretells(t, runs.ProdOne, "Stuck", "is a template now")
	if a.Safe == "yes" || a.Safe == "" {
		t.Errorf("the answer is %q", a.Safe)
	}
}

// CAPA reads AWSMachine.spec.providerID alone, and else searches by name.
func TestSecondInstanceOnAWS(t *testing.T) {
	const one = "aws-prod-md-1a-f7mmd-8gn59"
	w, ec2 := runs.WellAWS(t)
	w.Change("no-provider-id", func(resource, name string, o runs.Object) bool {
		if resource == "awsmachines" && name == one {
			delete(runs.In(o, "spec"), "providerID")
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
	a := w.Answer()
	a.Foretells(t, one, "NewInstanceCreated", "searches by name", "second one")
	if a.Safe != "no" || !strings.Contains(a.About("SecondInstance"), one) {
		t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
	}
}

// Without its load balancer, or its VPC, CAPA does nothing for a cluster; NAT gateways
// and security groups it makes again.
func TestClusterStandsStill(t *testing.T) {
	for _, id := range []string{"aws-prod-apiserver", "vpc-0a1b2c3d4e5f60718"} {
		w, _ := runs.WellAWS(t, gone(id))
		a := w.Answer()
		a.Demand(t, "no", "ClusterHalted")
		a.Foretells(t, "aws-prod-md-1a-f7mmd-8gn59", "Adopted", "only once", id, "is not reconciled")
	}
}

// CAPA sets a pool to the replicas of the backup, whatever it is set to now.
func TestPoolsAreSetBack(t *testing.T) {
	w, ec2 := runs.WellAWS(t)
	runs.GrowPool(ec2)
	a := w.Answer()
	a.Demand(t, "no", "PoolScaledBack")
	if !strings.Contains(a.O.Stdout, "1 running instance is terminated") {
		t.Errorf("nobody says so:\n%s", a.O.Stdout)
	}
	ec2.Change(func(i *lab.EC2Instance) bool {
		return i.InstanceID != "i-057bcd5c18f3f244e" && i.InstanceID != "i-002e263aadef727c1"
	})
	w.Answer().Demand(t, "withWork", "PoolGrown")
}

// A rollout that is due replaces machines that live.
func TestRolloutsThatAreDue(t *testing.T) {
	t.Parallel()
	t.Run("version of the control plane", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("kubeadmcontrolplanes", runs.ProdKCP, "v1.35.0", "spec", "version")
		a := w.Answer()
		a.Demand(t, "no", "RolloutDue")
		a.Foretells(t, runs.PlaneOne, "RolledByOwner", "v1.34.0", "v1.35.0")
		a.Foretells(t, runs.ProdOne, "Adopted")
	})
	t.Run("template of the control plane", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("kubeadmcontrolplanes", runs.ProdKCP, runs.ProdMD, "spec", "machineTemplate", "spec", "infrastructureRef", "name")
		a := w.Answer()
		a.Demand(t, "no", "RolloutDue")
		a.Foretells(t, runs.PlaneOne, "RolledByOwner", "VSphereMachineTemplate alpha-prod")
	})
	t.Run("what the control plane itself said", func(t *testing.T) {
		w := runs.Well(t)
		w.Change("outdated", func(resource, name string, o runs.Object) bool {
			if resource == "machines" && name == runs.PlaneOne {
				for _, c := range runs.In(o, "status")["conditions"].([]any) {
					if c := c.(runs.Object); c["type"] == "UpToDate" {
						c["status"], c["reason"], c["message"] = "False", "NotUpToDate", "* KubeadmConfig is not up-to-date"
					}
				}
			}
			return true
		})
		a := w.Answer()
		a.Demand(t, "no", "RolloutDue")
		a.Foretells(t, runs.PlaneOne, "RolledByOwner", "KubeadmConfig is not up-to-date")
		a.Foretells(t, "alpha-prod-nnxbq", "Adopted")
	})
	t.Run("certificates", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("kubeadmcontrolplanes", runs.ProdKCP, 3650, "spec", "rollout", "before", "certificatesExpiryDays")
		a := w.Answer()
		a.Demand(t, "no", "RolloutDue")
		a.Foretells(t, runs.PlaneOne, "RolledByOwner", "certificates expire on 2027-11-21")
	})
	t.Run("half-way: one MachineSet old, one new", func(t *testing.T) {
		w := runs.Well(t)
		w.Halfway()
		a := w.Answer()
		a.Demand(t, "no", "RolloutDue")
		a.Foretells(t, runs.ProdOne, "RolledByOwner", "v1.34.0", "v1.35.0")
		a.Foretells(t, "alpha-prod-md-0-cjzhw-zk8zm", "Adopted")
	})
	t.Run("a time that is to come", func(t *testing.T) {
		w := runs.Well(t)
		w.Set("kubeadmcontrolplanes", runs.ProdKCP, "2999-01-01T00:00:00Z", "spec", "rollout", "after")
		w.Answer().Demand(t, "withWork", "RolloutScheduled")
	})
}

// A MachineHealthCheck obeys the annotation at once.
func TestRemediateAnnotation(t *testing.T) {
	t.Parallel()
	w := runs.Well(t)
	w.HealthCheck("tenant-alpha", "alpha-prod", runs.Object{})
	w.Set("machines", runs.ProdOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
	a := w.Answer()
	a.Demand(t, "no", "LivingReplaced")
	a.Foretells(t, runs.ProdOne, "ReplacedByMachineHealthCheck", "remediate-machine")
}

// Conditions of the Machine count, and a stopped instance has a Node that is not Ready.
func TestConditionsOfAMachineCountInHealthChecks(t *testing.T) {
	t.Run("unhealthyMachineConditions", func(t *testing.T) {
		w := runs.Well(t)
		w.HealthCheck("tenant-alpha", "alpha-prod", runs.Object{
			"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []runs.Object{{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 300}},
		})
		w.Ensure(w.VCenter.Remove(runs.ProdOne))
		a := w.Answer()
		a.Demand(t, "withWork", "StaleReplaced")
		a.Foretells(t, runs.ProdOne, "ReplacedByMachineHealthCheck", "InfrastructureReady")
	})
	t.Run("stopped on AWS", func(t *testing.T) {
		const one = "aws-prod-md-1a-f7mmd-8gn59"
		w, ec2 := runs.WellAWS(t)
		w.HealthCheck("tenant-aws", "aws-prod", notReady())
		ec2.Change(func(i *lab.EC2Instance) bool {
			if name, _ := i.Tag("Name"); name == one {
				i.State = lab.EC2State{Code: 80, Name: "stopped"}
			}
			return true
		})
		a := w.Answer()
		a.Demand(t, "no", "LivingReplaced")
		a.Foretells(t, one, "ReplacedByMachineHealthCheck", "not Ready")
	})
}

// Without its VSphereVM CAPV goes by folder and name.
func TestVSphereVMMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		machine       string
		make          func(*runs.World)
		outcome, says string
		safe, code    string
	}{
		"gone":                    {runs.ProdOne, func(w *runs.World) { w.Ensure(w.VCenter.Remove(runs.ProdOne)) }, "NewInstanceCreated", "creates a new one", "withWork", "MachinesMade"},
		"renamed":                 {runs.ProdOne, func(w *runs.World) { w.Ensure(w.VCenter.Rename(runs.ProdOne, "zz")) }, "NewInstanceCreated", "second one", "no", "SecondInstance"},
		"in place":                {runs.ProdOne, func(*runs.World) {}, "AdoptedByName", "found by its name", "withWork", "FoundByNameOnly"},
		"of the control plane":    {runs.PlaneOne, func(*runs.World) {}, "AdoptedByName", "a new cluster", "withWork", "FoundByNameOnly"},
		"gone, and so its Secret": {runs.ProdOne, func(w *runs.World) { w.Ensure(w.VCenter.Remove(runs.ProdOne)); w.Drop("secrets", runs.ProdOne) }, "Stuck", "bootstrap data is not in the backup", "withWork", "MachinesBroken"},
	} {
		t.Run(name, func(t *testing.T) {
			w := runs.Well(t)
			w.Drop("vspherevms", c.machine)
			c.make(w)
			a := w.Answer()
			a.Foretells(t, c.machine, c.outcome, c.says)
			if a.Safe != c.safe || !strings.Contains(a.About(c.code), c.machine) {
				t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
			}
		})
	}
}

// What a cluster, or the VM of a machine, cannot be without halts it.
func TestHaltsByWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := runs.Well(t)
	w.Drop("vsphereclusters", "alpha-prod")
	a := w.Answer()
	if a.Safe != "no" || a.About("ClusterHalted") != "Cluster tenant-alpha/alpha-prod" {
		t.Errorf("the answer is %q for %q", a.Safe, a.Codes())
	}
	w = runs.Well(t)
	w.Unprovision(runs.ProdOne)
	w.Drop("secrets", runs.ProdOne)
	w.Answer().Foretells(t, runs.ProdOne, "Stuck", "bootstrap data is not in the backup")
}
