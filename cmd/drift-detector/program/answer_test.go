package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// answerTest is a restore with one thing changed, and what must be said of it.
type answerTest struct {
	name   string
	make   func(*testing.T) *world
	safe   string
	codes  string // of the reasons, the most dangerous first
	object string // that the first reason names
}

// changed returns a well cluster of vSphere with something changed. The test runs beside
// others, which those of AWS can't: its SDK takes the endpoint from the environment.
func changed(change func(*world)) func(*testing.T) *world {
	return func(t *testing.T) *world {
		t.Parallel()
		w := well(t)
		change(w)
		return w
	}
}

// changedAWS returns a well cluster of AWS, likewise.
func changedAWS(change func(*world, *lab.EC2), options ...func(*lab.EC2Options)) func(*testing.T) *world {
	return func(t *testing.T) *world {
		w, ec2 := wellAWS(t, options...)
		change(w, ec2)
		return w
	}
}

func gone(id string) func(*lab.EC2Options) {
	return func(o *lab.EC2Options) { o.Absent = append(o.Absent, id) }
}

const (
	prodMD   = "alpha-prod-md-0"
	prodSet  = "alpha-prod-md-0-cjzhw"
	prodOne  = "alpha-prod-md-0-cjzhw-dm6x8"
	prodKCP  = "alpha-prod"
	planeOne = "alpha-prod-kcn2q"
)

// Ten and more cases in which the controllers take over what lives, and do nothing else.
func TestAnswerIsYes(t *testing.T) {
	for _, c := range []struct {
		name      string
		make      func(*testing.T) *world
		condition string // that must be among those of the answer
		args      []string
	}{
		{"all well", well, "RestoreOrder", nil},
		{"all well on AWS", changedAWS(func(*world, *lab.EC2) {}), "WebhooksDuringRestore", nil},
		{"only warnings: a VM renamed, a VM in another folder", changed(func(w *world) {
			w.ensure(w.vcenter.Rename(prodOne, "zz-renamed"))
		}), "RestoreOrder", nil},
		{"paused: nothing happens until it is unpaused, and then nothing either", changed(func(w *world) {
			w.set("clusters", "alpha-prod", true, "spec", "paused")
		}), "ClustersPaused", nil},
		{"rollout time in the past, which a restore makes void", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, "2026-11-01T00:00:00Z", "spec", "rollout", "after")
			w.set("machinedeployments", prodMD, "2026-11-01T00:00:00Z", "spec", "rollout", "after")
		}), "RestoreOrder", nil},
		{"certificates that are good for a year", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, 30, "spec", "rollout", "before", "certificatesExpiryDays")
		}), "NewestBackup", nil},
		{"pool that an autoscaler outside Cluster API has grown", changedAWS(func(w *world, ec2 *lab.EC2) {
			w.set("machinepools", "aws-prod-mp-0", "", "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
			growPool(ec2)
		}), "ReplicasManaged", nil},
		{"health check over machines that are all well", changed(func(w *world) {
			w.healthCheck("tenant-alpha", "alpha-prod", notReady())
		}), "RestoreOrder", nil},
		{"health check over conditions that no Node has", changed(func(w *world) {
			w.healthCheck("tenant-alpha", "alpha-prod", object{"unhealthyNodeConditions": []object{{"type": "DiskPressure", "status": "True", "timeoutSeconds": 60}}})
		}), "RestoreOrder", nil},
		{"MachineSet of an older revision, without machines", changed(func(w *world) {
			w.added("old-revision", func(b *backuptest.Tarball) {
				b.Add("machinesets.cluster.x-k8s.io", object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet",
					"metadata": object{"namespace": "tenant-alpha", "name": prodMD + "-zzzzz", "labels": object{"cluster.x-k8s.io/deployment-name": prodMD, "cluster.x-k8s.io/cluster-name": "alpha-prod", "machine-template-hash": "zzzzz"}},
					"spec": object{"clusterName": "alpha-prod", "replicas": 0, "template": object{"spec": object{
						"clusterName": "alpha-prod", "version": "v1.33.0",
						"infrastructureRef": object{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "VSphereMachineTemplate", "name": prodMD},
					}}},
				})
			})
		}), "RestoreOrder", nil},
		{"strategy OnDelete, and no upgrade", changed(func(w *world) {
			w.set("machinedeployments", prodMD, "OnDelete", "spec", "rollout", "strategy", "type")
		}), "RestoreOrder", nil},
		{"members whose names differ in case from those of the API, which drops them", changed(func(w *world) {
			w.set("machinedeployments", prodMD, object{"not": "there"}, "spec", "selector", "MatchLabels")
		}), "RestoreOrder", nil},
		{"VM template gone, and no machine to make", changed(func(w *world) {
			for _, vm := range w.vcenter.VMs() {
				if vm.Template {
					w.ensure(w.vcenter.Remove(vm.Path))
				}
			}
		}), "NothingToReplace", nil},
		{"Velero that restores Clusters last", changed(func(w *world) { w.velero("--features=EnableCSI") }), "RestoreOrder", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.make(t)
			a := w.answer(c.args...)
			a.demand(t, "yes", "")
			if a.status != "Healthy" || !a.complete || !a.condition(c.condition) || len(a.Conditions) == 0 || a.Conditions[0].Code != "RestoreOrder" {
				t.Errorf("status %s, complete %t, conditions %+v", a.status, a.complete, a.Conditions)
			}
			if !strings.HasPrefix(a.o.stdout, "Safe to restore?  YES  as Velero restores by default\nBy the plan:      YES  after ") {
				t.Errorf("the screen says\n%s", a.o.stdout[:200])
			}
		})
	}
}

// growPool gives the pool a member that the backup does not record.
func growPool(ec2 *lab.EC2) {
	var more []lab.EC2Instance
	ec2.Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == "i-002e263aadef727c1" {
			one := *i
			one.InstanceID = "i-057bcd5c18f3f244e"
			more = append(more, one)
		}
		return true
	})
	ec2.Add(more...)
}

// velero adds the Deployment of a Velero that is started with these arguments.
func (w *world) velero(args ...string) {
	w.t.Helper()
	w.added("velero", func(b *backuptest.Tarball) {
		b.Add("deployments.apps", object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"namespace": "velero", "name": "velero"},
			"spec": object{"template": object{"spec": object{"containers": []object{{"name": "velero", "args": append([]string{"server"}, args...)}}}}},
		})
	})
}

// Ten and more cases in which they do more than that, or in which nobody knows.
func TestAnswerIsNotYes(t *testing.T) {
	for _, c := range []answerTest{
		{"load balancer of the API gone: its cluster is not reconciled", changedAWS(func(*world, *lab.EC2) {}, gone("aws-prod-apiserver")), "no", "ClusterHalted", "Cluster tenant-aws/aws-prod"},
		{"VPC gone: its cluster is not reconciled", changedAWS(func(*world, *lab.EC2) {}, gone("vpc-0a1b2c3d4e5f60718")), "no", "ClusterHalted", "Cluster tenant-aws/aws-prod"},
		{"pool that has grown since: a running member ends", changedAWS(func(_ *world, ec2 *lab.EC2) { growPool(ec2) }), "no", "PoolScaledBack", "MachinePool tenant-aws/aws-prod-mp-0"},
		{"pool that has shrunk since: a member is created", changedAWS(func(_ *world, ec2 *lab.EC2) {
			ec2.Change(func(i *lab.EC2Instance) bool { return i.InstanceID != "i-002e263aadef727c1" })
		}), "withWork", "PoolGrown", "MachinePool tenant-aws/aws-prod-mp-0"},
		{"upgrade half-way: the control plane wants another version", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, "v1.35.0", "spec", "version")
		}), "no", "RolloutDue", "Machine tenant-alpha/alpha-prod-jzxnt"},
		{"certificate rollout: they expire within the days that are asked for", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, 3650, "spec", "rollout", "before", "certificatesExpiryDays")
		}), "no", "RolloutDue", "Machine tenant-alpha/alpha-prod-jzxnt"},
		{"upgrade that waits until machines are deleted, and a restore makes the controllers forget them", changed(func(w *world) {
			w.set("machinedeployments", prodMD, "v1.35.0", "spec", "template", "spec", "version")
			w.set("machinedeployments", prodMD, "OnDelete", "spec", "rollout", "strategy", "type")
		}), "no", "RolloutDue", "MachineDeployment tenant-alpha/" + prodMD},
		{"VSphereVM missing: its VM is found by name", changed(func(w *world) { w.drop("vspherevms", prodOne) }), "withWork", "FoundByNameOnly", "Machine tenant-alpha/" + prodOne},
		{"bootstrap Secret missing of a machine that has no VM yet", changed(func(w *world) {
			w.unprovision(prodOne)
			w.drop("secrets", prodOne)
		}), "no", "BackupError MachinesBroken", "Secret tenant-alpha/" + prodOne},
		{"powered off: CAPV starts it", changed(func(w *world) { w.ensure(w.vcenter.SetPower(prodOne, false)) }), "withWork", "InstancesStarted", "Machine tenant-alpha/" + prodOne},
		{"MachineDeployment wants fewer: a running machine ends", changed(func(w *world) {
			w.set("machinedeployments", prodMD, 3, "spec", "replicas")
		}), "no", "MachinesDeleted", "MachineDeployment tenant-alpha/" + prodMD},
		{"control plane that says no number, which a webhook makes 1", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, nil, "spec", "replicas")
		}), "no", "MachinesDeleted", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"MachineDeployment that says no number, which a webhook creates the autoscaler's least", changed(func(w *world) {
			w.set("machinedeployments", prodMD, nil, "spec", "replicas")
			w.set("machinedeployments", prodMD, "5", "metadata", "annotations", "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size")
		}), "withWork", "MachinesMade", "MachineDeployment tenant-alpha/" + prodMD},
		{"control plane wants more: a machine is created", changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, 5, "spec", "replicas")
		}), "withWork", "MachinesMade", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"infrastructure cluster missing: the cluster is not reconciled", changed(func(w *world) { w.drop("vsphereclusters", "alpha-prod") }), "no", "ClusterHalted BackupError Incomplete MachinesUnknown", "Cluster tenant-alpha/alpha-prod"},
		{"annotation that asks for a machine to be replaced", changed(func(w *world) {
			w.healthCheck("tenant-alpha", "alpha-prod", notReady())
			w.set("machines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
		}), "no", "LivingReplaced", "Machine tenant-alpha/" + prodOne},
		{"Velero that restores Clusters before their machines", changed(func(w *world) {
			w.velero("--restore-resource-priorities=namespaces,secrets,clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io")
		}), "no", "ClustersFirst", "Deployment velero"},
		{"NAT gateway gone: CAPA creates it again", changedAWS(func(w *world, _ *lab.EC2) {
			w.set("awsclusters", "aws-prod", []object{{"id": "aws-prod-subnet-public-us-east-1c", "natGatewayId": "nat-0bbbbbbbbbbbbbbbb"}}, "spec", "network", "subnets")
			w.set("awsclusters", "aws-prod", "owned", "spec", "network", "vpc", "tags", "sigs.k8s.io/cluster-api-provider-aws/cluster/aws-prod")
		}), "withWork", "ResourceMade", "Cluster tenant-aws/aws-prod"},
		{"load balancers that nobody may list", changedAWS(func(_ *world, ec2 *lab.EC2) {
			ec2.Bend(lab.EC2Faults{DenyActions: []string{"elasticloadbalancing:DescribeLoadBalancers"}})
		}), "unknown", "ResourceUndecided", "Cluster tenant-aws/aws-prod"},
		{"the whole control plane stopped on AWS: nobody starts it", changedAWS(func(_ *world, ec2 *lab.EC2) {
			ec2.Change(func(i *lab.EC2Instance) bool {
				if i.InstanceID == "i-0189badd56bb10537" {
					i.State = lab.EC2State{Code: 80, Name: "stopped"}
				}
				return true
			})
		}), "no", "ControlPlaneDown InstancesStopped", "KubeadmControlPlane tenant-aws/aws-prod-control-plane"},
		{"Stale machine without a health check", changed(func(w *world) { w.ensure(w.vcenter.Remove(prodOne)) }), "withWork", "MachinesBroken", "Machine tenant-alpha/" + prodOne},
		{"VSphereMachine that its controller may not touch: it is paused by itself", changed(func(w *world) {
			w.set("vspheremachines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/paused")
		}), "withWork", "MachinesHalted", "Machine tenant-alpha/" + prodOne},
		{"infrastructure cluster that somebody else manages: nobody marks it as ready", changed(func(w *world) {
			w.set("vsphereclusters", "alpha-prod", "", "metadata", "annotations", "cluster.x-k8s.io/managed-by")
		}), "no", "ClusterHalted", "Cluster tenant-alpha/alpha-prod"},
		{"control plane of which only the copy of an API version is there: Velero restores none", changed(func(w *world) {
			w.edited("no-classic", func(item string, body []byte) ([]byte, bool) {
				return body, item != "resources/kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/namespaces/tenant-alpha/alpha-prod.json"
			})
		}), "no", "BackupError Incomplete ErrorsOccurred OwnerHalted", "KubeadmControlPlane tenant-alpha/alpha-prod"},
		{"authority without a certificate: the control plane is not reconciled", changed(func(w *world) {
			w.set("secrets", "alpha-prod-ca", nil, "data")
		}), "no", "BackupError", "Secret tenant-alpha/alpha-prod-ca"},
		{"MachineDeployment missing: nobody manages its machines", changed(func(w *world) { w.drop("machinedeployments", prodMD) }), "no", "BackupError OwnerHalted", "MachineDeployment tenant-alpha/" + prodMD},
		{"machine that its MachineSet does not select: another is created, and nobody has it", changed(func(w *world) {
			w.set("machines", prodOne, "quarantine", "metadata", "labels", "machine-template-hash")
		}), "withWork", "OwnerHalted MachinesMade", "Machine tenant-alpha/" + prodOne},
		{"template of the control plane missing on AWS: it does nothing for its machines", changedAWS(func(w *world, _ *lab.EC2) {
			w.drop("awsmachinetemplates", "aws-prod-control-plane")
		}), "withWork", "OwnerHalted", "KubeadmControlPlane tenant-aws/aws-prod-control-plane"},
		{"Ghost worker: made after the backup, and left", changed(func(w *world) { w.made(prodOne, prodSet+"-xwvtz") }), "withWork", "GhostsLeft", "instance " + prodSet + "-xwvtz"},
		{"Ghost of the control plane: its etcd member is cut", changed(func(w *world) { w.made(planeOne, "alpha-prod-xwvtz") }), "no", "EtcdMembersRemoved", "instance alpha-prod-xwvtz"},
		{"the same while the Cluster is paused: it is cut once it is unpaused", changed(func(w *world) {
			w.made(planeOne, "alpha-prod-xwvtz")
			w.set("clusters", "alpha-prod", true, "spec", "paused")
		}), "no", "EtcdMembersRemoved", "instance alpha-prod-xwvtz"},
		{"vCenter that shows nothing of the clusters", changed(func(w *world) { w.ensure(w.vcenter.HideVMs("/DC0/vm/capi/tenant-alpha")) }), "unknown", "Incomplete MachinesUnknown", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := c.make(t)
			a := w.answer()
			a.demand(t, c.safe, c.codes)
			if len(a.Reasons) > 0 && c.object != "" && (len(a.Reasons[0].Objects) == 0 || a.Reasons[0].Objects[0] != c.object) {
				t.Errorf("the first reason is about %q, want %q", a.Reasons[0].Objects, c.object)
			}
			if strings.Contains(a.o.stdout, "Safe to restore?  YES") {
				t.Error("the screen says YES")
			}
		})
	}
}

// made adds a VM like another one of alpha-prod, which was made after the backup, with its Node.
func (w *world) made(like, name string) {
	w.t.Helper()
	vm, err := w.vcenter.Clone(like, lab.CloneSpec{Name: name, Created: time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)})
	w.ensure(err)
	w.withNode("alpha-prod", like, name, vm.BIOSUUID)
}

// unprovision takes away every id of a machine that the backup records.
func (w *world) unprovision(name string) {
	w.t.Helper()
	w.change("unprovisioned", func(resource, n string, o object) bool {
		if n == name && (resource == "machines" || resource == "vspheremachines") {
			delete(in(o, "spec"), "providerID")
		}
		if n == name && resource == "vspherevms" {
			delete(in(o, "spec"), "biosUUID")
			delete(in(o, "status"), "vmRef")
		}
		return true
	})
	w.ensure(w.vcenter.Remove(name))
}

// Rules that set findings aside make the status better, and no restore any safer.
func TestAnswerIsNotChangedByIgnoreRules(t *testing.T) {
	t.Parallel()
	w := well(t)
	w.ensure(w.vcenter.Remove(prodOne))
	rules := filepath.Join(t.TempDir(), "ignore.yaml")
	w.ensure(os.WriteFile(rules, []byte("rules:\n- match: {name: \""+prodOne+"\"}\n  reason: known\n"), 0o600))
	a := w.answer("--ignore-file", rules)
	a.demand(t, "withWork", "MachinesBroken")
	if a.status != "Healthy" || strings.Contains(a.o.stdout, "Safe to restore?  YES") {
		t.Errorf("status %s\n%s", a.status, a.o.stdout[:200])
	}
}

// Without Node lists nobody knows whether API servers let the controllers in, nor what health checks
// will see.
func TestAnswerWithoutNodeLists(t *testing.T) {
	t.Parallel()
	for condition, checks := range map[string]object{
		"NodesUnread":          notReady(),
		"NodeConditionsUnread": {"unhealthyNodeConditions": []object{{"type": "DiskPressure", "status": "True", "timeoutSeconds": 60}}},
	} {
		w := well(t)
		w.healthCheck("tenant-alpha", "alpha-prod", checks)
		a := w.answer("--skip-access-apiserver")
		a.demand(t, "unknown", "OutcomeUnknown")
		if !a.condition(condition) || a.about("OutcomeUnknown") != "Cluster tenant-alpha/alpha-prod KubeadmControlPlane tenant-alpha/alpha-prod" {
			t.Errorf("%s: about %s, with %+v", condition, a.about("OutcomeUnknown"), a.Conditions)
		}
	}
}

// Of some clusters only the answer is for those, and says so.
func TestAnswerOfSomeClusters(t *testing.T) {
	t.Parallel()
	a := well(t).answer("--cluster", "alpha-prod")
	a.demand(t, "yes", "")
	if n := len(a.Conditions); n == 0 || a.Conditions[n-1].Code != "Narrowed" || !strings.Contains(a.Conditions[n-1].Message, "alpha-prod") {
		t.Errorf("%+v", a.Conditions)
	}
}
