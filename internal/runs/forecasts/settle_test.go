package forecasts_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
)

// A topology deletes MachinePools that it does not name, makes those that it lacks, and
// sets their version, as it does with MachineDeployments.
func TestTopologyOwnsMachinePools(t *testing.T) {
	for _, c := range []struct {
		name, safe, codes, version string
		pools                      []runs.Object
	}{
		{"as it is", "yes", "", "", []runs.Object{{"name": "p", "class": "w"}}},
		{"not this one", "no", "MachinesDeleted", "", []runs.Object{}},
		{"one more", "withWork", "MachinesMade", "", []runs.Object{{"name": "p", "class": "w"}, {"name": "q", "class": "w", "replicas": 3}}},
		{"another version", "no", "RolloutDue", "v1.35.0", []runs.Object{{"name": "p", "class": "w"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := runs.WellAWS(t)
			w.TopologyOfPools(c.version, c.pools...)
			w.Answer().Demand(t, c.safe, c.codes)
		})
	}
}

// Whoever sets the replicas of a pool, its controller sets the limits of the group to
// those of the backup, and AWS puts the number between them.
func TestPoolIsKeptBetweenItsLimits(t *testing.T) {
	for limit, want := range map[string][2]string{"maxSize": {"no", "PoolScaledBack ChangesUndone"}, "minSize": {"withWork", "PoolGrown ChangesUndone"}} {
		w, _ := runs.WellAWS(t)
		w.Set("machinepools", runs.AWSPoolName, "", "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
		w.Set("awsmachinepools", runs.AWSPoolName, map[string]int{"maxSize": 1, "minSize": 5}[limit], "spec", limit)
		w.Answer().Demand(t, want[0], want[1])
	}
}

// Each MachineHealthCheck that covers a machine acts by itself.
func TestSeveralHealthChecks(t *testing.T) {
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		w, ec2 := runs.WellAWS(t)
		for i, checks := range []runs.Object{{"nodeStartupTimeoutSeconds": 0}, notReady()} {
			w.Added("checks-"+names[i], func(b *backuptest.Tarball) {
				b.Add("machinehealthchecks.cluster.x-k8s.io", runs.Object{
					"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck", "metadata": runs.Object{"namespace": "tenant-aws", "name": names[i]},
					"spec": runs.Object{"clusterName": "aws-prod", "selector": runs.Object{}, "checks": checks},
				})
			})
		}
		ec2.Change(func(i *lab.EC2Instance) bool {
			if name, _ := i.Tag("Name"); name == runs.AWSOne {
				i.State = lab.EC2State{Code: 80, Name: "stopped"}
			}
			return true
		})
		a := w.Answer()
		a.Demand(t, "no", "LivingReplaced")
		a.Foretells(t, runs.AWSOne, "ReplacedByMachineHealthCheck", "MachineHealthCheck "+names[1])
	}
}

// A Node that is not Ready shows in the conditions of its Machine, too.
func TestHealthChecksOfConditionsThatFollowTheNode(t *testing.T) {
	for kind, safe := range map[string]string{"NodeReady": "no", "Ready": "no", "BootstrapConfigReady": "withWork"} {
		w := runs.WellWithNodes(t, runs.Testdata+"nodes") // which lacks Nodes of machines that run
		w.HealthCheck("tenant-alpha", "alpha-prod", runs.Object{
			"nodeStartupTimeoutSeconds": 0, "unhealthyMachineConditions": []runs.Object{{"type": kind, "status": "False", "timeoutSeconds": 60}},
		})
		if a := w.Answer(); a.Safe != safe {
			t.Errorf("%s: %q for %q", kind, a.Safe, a.Codes())
		}
	}
}

// The annotation on a Cluster stops its own controller alone, for which all others wait;
// that on an EKS control plane, which says that its cluster is there, likewise.
func TestPausedByTheAnnotation(t *testing.T) {
	const paused = "cluster.x-k8s.io/paused"
	w := runs.Well(t)
	w.Set("clusters", "alpha-prod", "", "metadata", "annotations", paused)
	a := w.Answer()
	a.Demand(t, "no", "ClusterHalted")
	if plan := w.Plan(a.O); !strings.Contains(plan, "Before it is unpaused: No controller acts on the cluster until Cluster tenant-alpha/alpha-prod is without it") {
		t.Error(plan)
	}
	w = wellEKS(t)
	w.Drop("secrets", "aws-prod-kubeconfig")
	w.Set("awsmanagedcontrolplanes", "aws-prod", "", "metadata", "annotations", paused)
	if a := w.Answer(); a.About("ClusterHalted") != "Cluster tenant-aws/aws-prod" {
		t.Errorf("EKS: %q for %q", a.Safe, a.Codes())
	}
}

// The plan lets no cluster go before it says what the answer says of it.
func TestPlanSettlesTheAnswerFirst(t *testing.T) {
	for name, c := range map[string]struct {
		make func(*testing.T) *runs.World
		says []string
	}{
		"rollout": {changed(func(w *runs.World) { w.Set("kubeadmcontrolplanes", runs.ProdKCP, "v1.35.0", "spec", "version") }), []string{"A rollout is due", runs.PlaneOne}},
		"rollout of a paused cluster": {changed(func(w *runs.World) {
			w.Set("kubeadmcontrolplanes", runs.ProdKCP, "v1.35.0", "spec", "version")
			w.Set("clusters", "alpha-prod", true, "spec", "paused")
		}), []string{"A rollout is due", runs.PlaneOne}},
		"scaled down": {changed(func(w *runs.World) { w.Set("machinedeployments", runs.ProdMD, 3, "spec", "replicas") }), []string{"deletes 1 machine"}},
		"annotation": {changed(func(w *runs.World) {
			w.HealthCheck("tenant-alpha", "alpha-prod", runs.Object{})
			w.Set("machines", runs.ProdOne, "", "metadata", "annotations", "cluster.x-k8s.io/remediate-machine")
		}), []string{runs.ProdOne + " --overwrite cluster.x-k8s.io/skip-remediation=yes"}},
		"second VM": {changed(func(w *runs.World) {
			w.Drop("vspherevms", runs.ProdOne)
			w.Ensure(w.VCenter.Rename(runs.ProdOne, "zz"))
		}), []string{"A second instance is created", runs.ProdOne}},
		"halted": {changed(func(w *runs.World) {
			w.Set("vspheremachines", runs.ProdOne, "", "metadata", "annotations", "cluster.x-k8s.io/paused")
		}), []string{"does nothing for these machines", runs.ProdOne}},
		"pool that nobody names": {func(t *testing.T) *runs.World { w, _ := runs.WellAWS(t); w.TopologyOfPools(""); return w }, []string{"it is deleted with its pool"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.make(t)
			a := w.Answer()
			lines := strings.Split(runs.WholeLines(w.Plan(a.O)), "\n")
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
