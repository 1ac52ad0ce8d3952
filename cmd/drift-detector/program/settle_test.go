package program

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
)

// Scenes of what controllers do beside what the lab shows: each differs from a restore
// that is well in one thing.

const awsOne, awsPoolName = "aws-prod-md-1a-f7mmd-8gn59", "aws-prod-mp-0"

// ownedByTopology gives the clusters of a namespace the label with which a topology knows what is
// its own: infrastructure cluster, control plane and all templates.
func (w *world) ownedByTopology(namespace string) {
	w.t.Helper()
	w.change("labels", func(r, _ string, o object) bool {
		made := strings.HasSuffix(r, "clusters") && r != "clusters" || strings.HasSuffix(r, "templates") || r == "kubeadmcontrolplanes" || r == "awsmachinepools"
		if made && in(o, "metadata")["namespace"] == namespace {
			in(o, "metadata", "labels")["topology.cluster.x-k8s.io/owned"] = ""
		}
		return true
	})
}

// topologyOfPools has the topology of aws-prod own its MachinePool under the name p.
func (w *world) topologyOfPools(version string, pools ...object) {
	w.t.Helper()
	w.set("clusters", "aws-prod", object{"classRef": object{"name": "c"}, "version": version, "workers": object{"machinePools": pools}}, "spec", "topology")
	w.ownedByTopology("tenant-aws")
	w.set("machinepools", awsPoolName, "", "metadata", "labels", "topology.cluster.x-k8s.io/owned")
	w.set("machinepools", awsPoolName, "p", "metadata", "labels", "topology.cluster.x-k8s.io/pool-name")
	w.added("class", func(b *backuptest.Tarball) {
		b.Add("clusterclasses.cluster.x-k8s.io", object{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "ClusterClass", "metadata": object{"namespace": "tenant-aws", "name": "c"},
		})
	})
}

// A topology deletes MachinePools that it does not name, makes those that it lacks, and
// sets their version, as it does with MachineDeployments.
func TestTopologyOwnsMachinePools(t *testing.T) {
	for _, c := range []struct {
		name, safe, codes, version string
		pools                      []object
	}{
		{"as it is", "yes", "", "", []object{{"name": "p", "class": "w"}}},
		{"not this one", "no", "MachinesDeleted", "", []object{}},
		{"one more", "withWork", "MachinesMade", "", []object{{"name": "p", "class": "w"}, {"name": "q", "class": "w", "replicas": 3}}},
		{"another version", "no", "RolloutDue", "v1.35.0", []object{{"name": "p", "class": "w"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := wellAWS(t)
			w.topologyOfPools(c.version, c.pools...)
			w.answer().demand(t, c.safe, c.codes)
		})
	}
}

// Whoever sets the replicas of a pool, its controller sets the limits of the group to
// those of the backup, and AWS puts the number between them.
func TestPoolIsKeptBetweenItsLimits(t *testing.T) {
	for limit, want := range map[string][2]string{"maxSize": {"no", "PoolScaledBack ChangesUndone"}, "minSize": {"withWork", "PoolGrown ChangesUndone"}} {
		w, _ := wellAWS(t)
		w.set("machinepools", awsPoolName, "", "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
		w.set("awsmachinepools", awsPoolName, map[string]int{"maxSize": 1, "minSize": 5}[limit], "spec", limit)
		w.answer().demand(t, want[0], want[1])
	}
}

// Each MachineHealthCheck that covers a machine acts by itself.
func TestSeveralHealthChecks(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		w, ec2 := wellAWS(t)
		for i, checks := range []object{{"nodeStartupTimeoutSeconds": 0}, notReady()} {
			w.added("checks-"+names[i], func(b *backuptest.Tarball) {
				b.Add("machinehealthchecks.cluster.x-k8s.io", object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck", "metadata": object{"namespace": "tenant-aws", "name": names[i]},
					"spec": object{"clusterName": "aws-prod", "selector": object{}, "checks": checks},
				})
			})
		}
		ec2.Change(func(i *lab.EC2Instance) bool {
			if name, _ := i.Tag("Name"); name == awsOne {
				i.State = lab.EC2State{Code: 80, Name: "stopped"}
			}
			return true
		})
		a := w.answer()
		a.demand(t, "no", "LivingReplaced")
		a.foretells(t, awsOne, "ReplacedByMachineHealthCheck", "MachineHealthCheck "+names[1])
	}
}

// A Node that is not Ready shows in the conditions of its Machine, too.
func TestHealthChecksOfConditionsThatFollowTheNode(t *testing.T) {
	for kind, safe := range map[string]string{"NodeReady": "no", "Ready": "no", "BootstrapConfigReady": "withWork"} {
		w := wellWithNodes(t, testdata+"nodes") // which lacks Nodes of machines that run
		w.healthCheck("tenant-alpha", "alpha-prod", object{
			"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []object{{"type": kind, "status": "False", "timeoutSeconds": 60}},
		})
		if a := w.answer(); a.Safe != safe {
			t.Errorf("%s: %q for %q", kind, a.Safe, a.codes())
		}
	}
}

// The annotation on a Cluster stops its own controller alone, for which all others wait;
// that on an EKS control plane, which says that its cluster is there, likewise.
func TestPausedByTheAnnotation(t *testing.T) {
	const paused = "cluster.x-k8s.io/paused"
	w := well(t)
	w.set("clusters", "alpha-prod", "", "metadata", "annotations", paused)
	a := w.answer()
	a.demand(t, "no", "ClusterHalted")
	if plan := w.plan(a.o); !strings.Contains(plan, "Before it is unpaused: No controller acts on the cluster until Cluster tenant-alpha/alpha-prod is without it") {
		t.Error(plan)
	}
	w = wellEKS(t)
	w.drop("secrets", "aws-prod-kubeconfig")
	w.set("awsmanagedcontrolplanes", "aws-prod", "", "metadata", "annotations", paused)
	if a := w.answer(); a.about("ClusterHalted") != "Cluster tenant-aws/aws-prod" {
		t.Errorf("EKS: %q for %q", a.Safe, a.codes())
	}
}

// The plan lets no cluster go before it says what the answer says of it.
func TestPlanSettlesTheAnswerFirst(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*testing.T) *world
		says []string
	}{
		"rollout": {changed(func(w *world) { w.set("kubeadmcontrolplanes", prodKCP, "v1.35.0", "spec", "version") }), []string{"A rollout is due", planeOne}},
		"rollout of a paused cluster": {changed(func(w *world) {
			w.set("kubeadmcontrolplanes", prodKCP, "v1.35.0", "spec", "version")
			w.set("clusters", "alpha-prod", true, "spec", "paused")
		}), []string{"A rollout is due", planeOne}},
		"scaled down": {changed(func(w *world) { w.set("machinedeployments", prodMD, 3, "spec", "replicas") }), []string{"deletes 1 machine"}},
		"annotation": {changed(func(w *world) {
			w.healthCheck("tenant-alpha", "alpha-prod", object{})
			w.set("machines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
		}), []string{prodOne + " --overwrite cluster.x-k8s.io/skip-remediation=yes"}},
		"second VM": {changed(func(w *world) {
			w.drop("vspherevms", prodOne)
			w.ensure(w.vcenter.Rename(prodOne, "zz"))
		}), []string{"A second instance is created", prodOne}},
		"halted": {changed(func(w *world) {
			w.set("vspheremachines", prodOne, "", "metadata", "annotations", "cluster.x-k8s.io/paused")
		}), []string{"does nothing for these machines", prodOne}},
		"pool that nobody names": {func(t *testing.T) *world { w, _ := wellAWS(t); w.topologyOfPools(""); return w }, []string{"it is deleted with its pool"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.make(t)
			a := w.answer()
			lines := strings.Split(wholeLines(w.plan(a.o)), "\n")
			let := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `{"spec":{"paused":false}}`) })
			if let < 0 {
				t.Fatal("nothing is unpaused")
			}
			before := strings.Join(lines[:let], "\n")
			for _, want := range append(c.says, "Before it is unpaused: ") {
				if !strings.Contains(before, want) {
					t.Errorf("nothing says %q before it is unpaused", want)
				}
			}
		})
	}
}
