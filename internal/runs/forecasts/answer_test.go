package forecasts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// answerTest is a restore with one thing changed, and what must be said of it.
type answerTest struct {
	name   string
	make   func(*testing.T) *runs.World
	safe   string
	codes  string // of the reasons, the most dangerous first
	object string // that the first reason names
}

// changed returns a well cluster of vSphere with something changed. The test runs beside
// others, which those of AWS can't: its SDK takes the endpoint from the environment.
func changed(change func(*runs.World)) func(*testing.T) *runs.World {
	return func(t *testing.T) *runs.World {
		t.Parallel()
		w := runs.Well(t)
		change(w)
		return w
	}
}

func gone(id string) func(*lab.EC2Options) {
	return func(o *lab.EC2Options) { o.Absent = append(o.Absent, id) }
}

// Ten and more cases in which the controllers take over what lives, and do nothing else.
func TestAnswerIsYes(t *testing.T) {
	for _, c := range []struct {
		name      string
		make      func(*testing.T) *runs.World
		condition string // that must be among those of the answer
		args      []string
	}{
		{"all well", runs.Well, "RestoreOrder", nil},
		{"all well on AWS", runs.ChangedAWS(func(*runs.World, *lab.EC2) {}), "WebhooksDuringRestore", nil},
		{"only warnings: a VM renamed, a VM in another folder", changed(func(w *runs.World) {
			w.Ensure(w.VCenter.Rename(runs.ProdOne, "zz-renamed"))
		}), "RestoreOrder", nil},
		{"paused: nothing happens until it is unpaused, and then nothing either", changed(func(w *runs.World) {
			w.Set("clusters", "alpha-prod", true, "spec", "paused")
		}), "ClustersPaused", nil},
		{"rollout time in the past, which a restore makes void", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, "2026-11-01T00:00:00Z", "spec", "rollout", "after")
			w.Set("machinedeployments", runs.ProdMD, "2026-11-01T00:00:00Z", "spec", "rollout", "after")
		}), "RestoreOrder", nil},
		{"certificates that are good for a year", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, 30, "spec", "rollout", "before", "certificatesExpiryDays")
		}), "NewestBackup", nil},
		{"pool that an autoscaler outside Cluster API has grown", runs.ChangedAWS(func(w *runs.World, ec2 *lab.EC2) {
			w.Set("machinepools", "aws-prod-mp-0", "", "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
			runs.GrowPool(ec2)
		}), "ReplicasManaged", nil},
		{"health check over machines that are all well", changed(func(w *runs.World) {
			w.HealthCheck("tenant-alpha", "alpha-prod", notReady())
		}), "RestoreOrder", nil},
		{"health check over conditions that no Node has", changed(func(w *runs.World) {
			w.HealthCheck("tenant-alpha", "alpha-prod", runs.Object{"unhealthyNodeConditions": []runs.Object{{"type": "DiskPressure", "status": "True", "timeoutSeconds": 60}}})
		}), "RestoreOrder", nil},
		{"MachineSet of an older revision, without machines", changed(func(w *runs.World) {
			w.Added("old-revision", func(b *backuptest.Tarball) {
				b.Add("machinesets.cluster.x-k8s.io", runs.Object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet",
					"metadata": runs.Object{"namespace": "tenant-alpha", "name": runs.ProdMD + "-zzzzz", "labels": runs.Object{"cluster.x-k8s.io/deployment-name": runs.ProdMD, "cluster.x-k8s.io/cluster-name": "alpha-prod", "machine-template-hash": "zzzzz"}},
					"spec": runs.Object{"clusterName": "alpha-prod", "replicas": 0, "template": runs.Object{"spec": runs.Object{
						"clusterName": "alpha-prod", "version": "v1.33.0",
						"infrastructureRef": runs.Object{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "VSphereMachineTemplate", "name": runs.ProdMD},
					}}},
				})
			})
		}), "RestoreOrder", nil},
		{"strategy OnDelete, and no upgrade", changed(func(w *runs.World) {
			w.Set("machinedeployments", runs.ProdMD, "OnDelete", "spec", "rollout", "strategy", "type")
		}), "RestoreOrder", nil},
		{"members whose names differ in case from those of the API, which drops them", changed(func(w *runs.World) {
			w.Set("machinedeployments", runs.ProdMD, runs.Object{"not": "there"}, "spec", "selector", "MatchLabels")
		}), "RestoreOrder", nil},
		{"VM template gone, and no machine to make", changed(func(w *runs.World) {
			for _, vm := range w.VCenter.VMs() {
				if vm.Template {
					w.Ensure(w.VCenter.Remove(vm.Path))
				}
			}
		}), "NothingToReplace", nil},
		{"Velero that restores Clusters last", changed(func(w *runs.World) { w.Velero("--features=EnableCSI") }), "RestoreOrder", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.make(t)
			a := w.Answer(c.args...)
			a.Demand(t, "yes", "")
			if a.Status != "Healthy" || !a.Complete || !a.Condition(c.condition) || len(a.Conditions) == 0 || a.Conditions[0].Code != "RestoreOrder" {
				t.Errorf("status %s, complete %t, conditions %+v", a.Status, a.Complete, a.Conditions)
			}
			if !strings.HasPrefix(a.O.Stdout, "Safe to restore?  YES  as Velero restores by default\nBy the plan:      YES  after ") {
				t.Errorf("the screen says\n%s", a.O.Stdout[:200])
			}
		})
	}
}

// Ten and more cases in which they do more than that, or in which nobody knows.
func TestAnswerIsNotYes(t *testing.T) {
	for _, c := range []answerTest{
		{"load balancer of the API gone: its cluster is not reconciled", runs.ChangedAWS(func(*runs.World, *lab.EC2) {}, gone("aws-prod-apiserver")), "no", "ClusterHalted", "Cluster tenant-aws/aws-prod"},
		{"VPC gone: its cluster is not reconciled", runs.ChangedAWS(func(*runs.World, *lab.EC2) {}, gone("vpc-0a1b2c3d4e5f60718")), "no", "ClusterHalted", "Cluster tenant-aws/aws-prod"},
		{"pool that has grown since: a running member ends", runs.ChangedAWS(func(_ *runs.World, ec2 *lab.EC2) { runs.GrowPool(ec2) }), "no", "PoolScaledBack", "MachinePool tenant-aws/aws-prod-mp-0"},
		{"pool that has shrunk since: a member is created", runs.ChangedAWS(func(_ *runs.World, ec2 *lab.EC2) {
			ec2.Change(func(i *lab.EC2Instance) bool { return i.InstanceID != "i-002e263aadef727c1" })
		}), "withWork", "PoolGrown", "MachinePool tenant-aws/aws-prod-mp-0"},
		{"upgrade half-way: the control plane wants another version", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, "v1.35.0", "spec", "version")
		}), "no", "RolloutDue", "Machine tenant-alpha/alpha-prod-jzxnt"},
		{"certificate rollout: they expire within the days that are asked for", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, 3650, "spec", "rollout", "before", "certificatesExpiryDays")
		}), "no", "RolloutDue", "Machine tenant-alpha/alpha-prod-jzxnt"},
		{"upgrade that waits until machines are deleted, and a restore makes the controllers forget them", changed(func(w *runs.World) {
			w.Set("machinedeployments", runs.ProdMD, "v1.35.0", "spec", "template", "spec", "version")
			w.Set("machinedeployments", runs.ProdMD, "OnDelete", "spec", "rollout", "strategy", "type")
		}), "no", "RolloutDue", "MachineDeployment tenant-alpha/" + runs.ProdMD},
		{"VSphereVM missing: its VM is found by name", changed(func(w *runs.World) { w.Drop("vspherevms", runs.ProdOne) }), "withWork", "FoundByNameOnly", "Machine tenant-alpha/" + runs.ProdOne},
		{"bootstrap Secret missing of a machine that has no VM yet", changed(func(w *runs.World) {
			w.Unprovision(runs.ProdOne)
			w.Drop("secrets", runs.ProdOne)
		}), "no", "BackupError MachinesBroken", "Secret tenant-alpha/" + runs.ProdOne},
		{"powered off: CAPV starts it", changed(func(w *runs.World) { w.Ensure(w.VCenter.SetPower(runs.ProdOne, false)) }), "withWork", "InstancesStarted", "Machine tenant-alpha/" + runs.ProdOne},
		{"MachineDeployment wants fewer: a running machine ends", changed(func(w *runs.World) {
			w.Set("machinedeployments", runs.ProdMD, 3, "spec", "replicas")
		}), "no", "MachinesDeleted", "MachineDeployment tenant-alpha/" + runs.ProdMD},
		{"control plane that says no number, which a webhook makes 1", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, nil, "spec", "replicas")
		}), "no", "MachinesDeleted", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"MachineDeployment that says no number, which a webhook creates the autoscaler's least", changed(func(w *runs.World) {
			w.Set("machinedeployments", runs.ProdMD, nil, "spec", "replicas")
			w.Set("machinedeployments", runs.ProdMD, "5", "metadata", "annotations", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size")
		}), "withWork", "MachinesMade", "MachineDeployment tenant-alpha/" + runs.ProdMD},
		{"control plane wants more: a machine is created", changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, 5, "spec", "replicas")
		}), "withWork", "MachinesMade", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"infrastructure cluster missing: the cluster is not reconciled", changed(func(w *runs.World) { w.Drop("vsphereclusters", "alpha-prod") }), "no", "ClusterHalted BackupError Incomplete MachinesUnknown", "Cluster tenant-alpha/alpha-prod"},
		{"annotation that asks for a machine to be replaced", changed(func(w *runs.World) {
			w.HealthCheck("tenant-alpha", "alpha-prod", notReady())
			w.Set("machines", runs.ProdOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
		}), "no", "LivingReplaced", "Machine tenant-alpha/" + runs.ProdOne},
		{"Velero that restores Clusters before their machines", changed(func(w *runs.World) {
			w.Velero("--restore-resource-priorities=namespaces,secrets,clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io")
		}), "no", "ClustersFirst", "Deployment velero"},
		{"NAT gateway gone: CAPA creates it again", runs.ChangedAWS(func(w *runs.World, _ *lab.EC2) {
			w.Set("awsclusters", "aws-prod", []runs.Object{{"id": "aws-prod-subnet-public-us-east-1c", "natGatewayId": "nat-0bbbbbbbbbbbbbbbb"}}, "spec", "network", "subnets")
			w.Set("awsclusters", "aws-prod", "owned", "spec", "network", "vpc", "tags", "sigs.k8s.io/cluster-api-provider-aws/cluster/aws-prod")
		}), "withWork", "ResourceMade", "Cluster tenant-aws/aws-prod"},
		{"load balancers that nobody may list", runs.ChangedAWS(func(_ *runs.World, ec2 *lab.EC2) {
			ec2.Bend(lab.EC2Faults{DenyActions: []string{"elasticloadbalancing:DescribeLoadBalancers"}})
		}), "unknown", "ResourceUndecided", "Cluster tenant-aws/aws-prod"},
		{"the whole control plane stopped on AWS: nobody starts it", runs.ChangedAWS(func(_ *runs.World, ec2 *lab.EC2) {
			ec2.Change(func(i *lab.EC2Instance) bool {
				if i.InstanceID == "i-0189badd56bb10537" {
					i.State = lab.EC2State{Code: 80, Name: "stopped"}
				}
				return true
			})
		}), "no", "ControlPlaneDown InstancesStopped", "KubeadmControlPlane tenant-aws/aws-prod-control-plane"},
		{"Stale machine without a health check", changed(func(w *runs.World) { w.Ensure(w.VCenter.Remove(runs.ProdOne)) }), "withWork", "MachinesBroken", "Machine tenant-alpha/" + runs.ProdOne},
		{"VSphereMachine that its controller may not touch: it is paused by itself", changed(func(w *runs.World) {
			w.Set("vspheremachines", runs.ProdOne, "", "metadata", "annotations", "cluster.x-k8s.io/paused")
		}), "withWork", "MachinesHalted", "Machine tenant-alpha/" + runs.ProdOne},
		{"infrastructure cluster that is managed externally: nobody marks it as ready", changed(func(w *runs.World) {
			w.Set("vsphereclusters", "alpha-prod", "", "metadata", "annotations", "cluster.x-k8s.io/managed-by")
		}), "no", "ClusterHalted", "Cluster tenant-alpha/alpha-prod"},
		{"control plane of which only the copy of an API version is there: Velero restores none", changed(func(w *runs.World) {
			w.Edited("no-classic", func(item string, body []byte) ([]byte, bool) {
				return body, item != "resources/kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/namespaces/tenant-alpha/alpha-prod.json"
			})
		}), "no", "BackupError Incomplete ErrorsOccurred OwnerHalted", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"authority without a certificate: the control plane is not reconciled", changed(func(w *runs.World) {
			w.Set("secrets", "alpha-prod-ca", nil, "data")
		}), "no", "BackupError", "Secret tenant-alpha/alpha-prod-ca"},
		{"MachineDeployment missing: nobody manages its machines", changed(func(w *runs.World) { w.Drop("machinedeployments", runs.ProdMD) }), "no", "BackupError OwnerHalted", "MachineDeployment tenant-alpha/" + runs.ProdMD},
		{"machine that its MachineSet does not select: another is created, and nobody has it", changed(func(w *runs.World) {
			w.Set("machines", runs.ProdOne, "quarantine", "metadata", "labels", "machine-template-hash")
		}), "withWork", "OwnerHalted MachinesMade", "Machine tenant-alpha/" + runs.ProdOne},
		{"template of the control plane missing on AWS: it does nothing for its machines", runs.ChangedAWS(func(w *runs.World, _ *lab.EC2) {
			w.Drop("awsmachinetemplates", "aws-prod-control-plane")
		}), "withWork", "OwnerHalted", "KubeadmControlPlane tenant-aws/aws-prod-control-plane"},
		{"Ghost worker: made after the backup, and left", changed(func(w *runs.World) { w.Made(runs.ProdOne, runs.ProdSet+"-xwvtz") }), "withWork", "GhostsLeft", "instance " + runs.ProdSet + "-xwvtz"},
		{"Ghost of the control plane: its etcd member is cut", changed(func(w *runs.World) { w.Made(runs.PlaneOne, "alpha-prod-xwvtz") }), "no", "EtcdMembersRemoved", "instance alpha-prod-xwvtz"},
		{"the same while the Cluster is paused: it is cut once it is unpaused", changed(func(w *runs.World) {
			w.Made(runs.PlaneOne, "alpha-prod-xwvtz")
			w.Set("clusters", "alpha-prod", true, "spec", "paused")
		}), "no", "EtcdMembersRemoved", "instance alpha-prod-xwvtz"},
		{"vCenter that shows nothing of the clusters", changed(func(w *runs.World) { w.Ensure(w.VCenter.HideVMs("/DC0/vm/capi/tenant-alpha")) }), "unknown", "Incomplete MachinesUnknown", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.make(t)
			a := w.Answer()
			a.Demand(t, c.safe, c.codes)
			if len(a.Reasons) > 0 && c.object != "" && (len(a.Reasons[0].Objects) == 0 || a.Reasons[0].Objects[0] != c.object) {
				t.Errorf("the first reason is about %q, want %q", a.Reasons[0].Objects, c.object)
			}
			if strings.Contains(a.O.Stdout, "Safe to restore?  YES") {
				t.Error("the screen says YES")
			}
		})
	}
}

// Rules that set findings aside make the status better, and no restore any safer.
func TestAnswerIsNotChangedByIgnoreRules(t *testing.T) {
	t.Parallel()
	w := runs.Well(t)
	w.Ensure(w.VCenter.Remove(runs.ProdOne))
	rules := filepath.Join(t.TempDir(), "ignore.yaml")
	w.Ensure(os.WriteFile(rules, []byte("rules:\n- match: {name: \""+runs.ProdOne+"\"}\n  reason: known\n"), 0o600))
	a := w.Answer("--ignore-file", rules)
	a.Demand(t, "withWork", "MachinesBroken")
	if a.Status != "Healthy" || strings.Contains(a.O.Stdout, "Safe to restore?  YES") {
		t.Errorf("status %s\n%s", a.Status, a.O.Stdout[:200])
	}
}

// Without Node lists nobody knows whether API servers let the controllers in, nor what health checks
// will see.
func TestAnswerWithoutNodeLists(t *testing.T) {
	t.Parallel()
	for condition, checks := range map[string]runs.Object{
		"NodesUnread":          notReady(),
		"NodeConditionsUnread": {"unhealthyNodeConditions": []runs.Object{{"type": "DiskPressure", "status": "True", "timeoutSeconds": 60}}},
	} {
		w := runs.Well(t)
		w.HealthCheck("tenant-alpha", "alpha-prod", checks)
		a := w.Answer("--skip-access-apiserver")
		a.Demand(t, "unknown", "OutcomeUnknown")
		if !a.Condition(condition) || a.About("OutcomeUnknown") != "Cluster tenant-alpha/alpha-prod KubeadmControlPlane tenant-alpha/alpha-prod" {
			t.Errorf("%s: about %s, with %+v", condition, a.About("OutcomeUnknown"), a.Conditions)
		}
	}
}

// Of some clusters only the answer is for those, and says so.
func TestAnswerOfSomeClusters(t *testing.T) {
	t.Parallel()
	a := runs.Well(t).Answer("--cluster", "alpha-prod")
	a.Demand(t, "yes", "")
	if n := len(a.Conditions); n == 0 || a.Conditions[n-1].Code != "Narrowed" || !strings.Contains(a.Conditions[n-1].Message, "alpha-prod") {
		t.Errorf("%+v", a.Conditions)
	}
}
