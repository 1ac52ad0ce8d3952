package oracle

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/uuid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// edits are the names of what a user does to a running management cluster, before the
// backup or after it.
var edits = append([]string{
	"msReplicas", "clusterPaused", "mdPaused", "msPaused", "machinePaused", "kcpPaused", "vsphereMachinePaused", "mdTemplate", "mdInPlace",
	"mdRolloutAfter", "mdOnDelete", "mdSurge", "msDeletionOrder", "kcpVersion", "kcpTemplate", "kcpInPlace", "deleteMachineAnnotation",
	"remediateMachine", "skipRemediation", "hook", "unlabel", "relabel", "msRelabel", "controlPlaneLabelOnWorker", "setLabelsOnControlPlane",
	"msUnlabel", "deleteMD", "deleteMS", "deleteCluster", "skipPreflight", "vmOff", "nodeGone", "nodeNotReady", "conditionCheck",
}, repeated(2, "mdReplicas", "kcpReplicas", "mdVersion", "kcpConfig", "healthCheck", "healthCheck", "deleteMachine", "vmGone")...)

// ownerEdits change Clusters, KubeadmControlPlanes, MachineDeployments and MachineSets.
var ownerEdits = map[string]mutation{
	"mdReplicas":    replicas("MachineDeployment", -2, -1, 1, 2),
	"msReplicas":    replicas("MachineSet", -1, 1),
	"kcpReplicas":   setting("KubeadmControlPlane", []any{int64(1), int64(3), int64(5)}, "spec", "replicas"),
	"clusterPaused": setting("Cluster", []any{true}, "spec", "paused"),
	"mdPaused":      annotating("MachineDeployment", clusterv1.PausedAnnotation, ""),
	"msPaused":      annotating("MachineSet", clusterv1.PausedAnnotation, ""),
	"kcpPaused":     annotating("KubeadmControlPlane", clusterv1.PausedAnnotation, ""),
	"mdVersion":     setting("MachineDeployment", []any{"v1.34.1"}, "spec", "template", "spec", "version"),
	"mdTemplate":    otherTemplate("MachineDeployment", "spec", "template", "spec", "infrastructureRef", "name"),
	"mdInPlace": on("MachineDeployment", func(o *obj, _ *World, r *rand.Rand) string {
		switch r.Intn(3) {
		case 0:
			set(o, int64(120), "spec", "template", "spec", "deletion", "nodeDrainTimeoutSeconds")
			return "nodeDrainTimeoutSeconds 120"
		case 1:
			set(o, "x", "spec", "template", "metadata", "labels", "example.com/new")
			return "a new label in its template"
		}
		set(o, int64(30), "spec", "template", "spec", "minReadySeconds")
		return "minReadySeconds 30"
	}),
	"mdFailureDomain": setting("MachineDeployment", []any{"zone-b"}, "spec", "template", "spec", "failureDomain"),
	"mdRolloutAfter":  setting("MachineDeployment", []any{at(-5 * 24), at(-12), at(24 * 200)}, "spec", "rollout", "after"),
	"mdOnDelete":      setting("MachineDeployment", []any{map[string]any{"type": "OnDelete"}}, "spec", "rollout", "strategy"),
	"msDeletionOrder": setting("MachineDeployment", []any{"Newest", "Oldest", "Random"}, "spec", "deletion", "order"),
	"mdSurge": on("MachineDeployment", func(o *obj, _ *World, r *rand.Rand) string {
		surge, unavailable := pick(r, []any{int64(0), int64(1), "50%"}), pick(r, []any{int64(1), "50%", "100%"})
		set(o, map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": surge, "maxUnavailable": unavailable}}, "spec", "rollout", "strategy")
		return fmt.Sprintf("maxSurge %v, maxUnavailable %v", surge, unavailable)
	}),
	"msRelabel": on("MachineSet", func(o *obj, w *World, r *rand.Rand) string {
		md := one(r, w.of("MachineDeployment"))
		labelsOf(o, md)
		return "labels that MachineDeployment " + md.GetName() + " selects"
	}),
	"msUnlabel":     unlabelling("MachineSet"),
	"skipPreflight": annotating("MachineSet", clusterv1.MachineSetSkipPreflightChecksAnnotation, "All"),
	"kcpVersion":    setting("KubeadmControlPlane", []any{"v1.35.3"}, "spec", "version"),
	"kcpTemplate":   otherTemplate("KubeadmControlPlane", "spec", "machineTemplate", "spec", "infrastructureRef", "name"),
	"kcpConfig": on("KubeadmControlPlane", func(o *obj, _ *World, r *rand.Rand) string {
		switch r.Intn(4) {
		case 0:
			set(o, []any{"echo new"}, "spec", "kubeadmConfigSpec", "preKubeadmCommands")
			return "new preKubeadmCommands"
		case 1:
			set(o, int64(4), "spec", "kubeadmConfigSpec", "verbosity")
			return "new verbosity"
		case 2:
			set(o, "registry.example.com", "spec", "kubeadmConfigSpec", "clusterConfiguration", "imageRepository")
			return "new imageRepository"
		}
		set(o, at(-24), "spec", "rollout", "after")
		return "rollout.after in the past"
	}),
	"kcpInPlace": on("KubeadmControlPlane", func(o *obj, _ *World, r *rand.Rand) string {
		if r.Intn(2) == 0 {
			set(o, int64(99), "spec", "machineTemplate", "spec", "deletion", "nodeDrainTimeoutSeconds")
			return "nodeDrainTimeoutSeconds 99"
		}
		set(o, "x", "spec", "machineTemplate", "metadata", "labels", "example.com/new")
		return "a new label in its template"
	}),
	"deleteCluster":  deleting("Cluster"),
	"deleteMD":       deleting("MachineDeployment"),
	"deleteMS":       deleting("MachineSet"),
	"healthCheck":    healthCheck,
	"conditionCheck": conditionCheck,
}

func replicas(kind string, by ...int64) mutation {
	return on(kind, func(o *obj, _ *World, r *rand.Rand) string {
		n := number(o, "spec", "replicas")
		to := max(0, n+pick(r, by))
		set(o, to, "spec", "replicas")
		return fmt.Sprintf("replicas %d, were %d", to, n)
	})
}

func otherTemplate(kind string, at ...string) mutation {
	return on(kind, func(o *obj, w *World, r *rand.Rand) string {
		have, t := text(o, at...), one(r, w.of("VSphereMachineTemplate"))
		if t == nil || have == "" || t.GetName() == have {
			return ""
		}
		set(o, t.GetName(), at...)
		return "template " + t.GetName() + ", was " + have
	})
}

// minded are conditions for which a health check has a machine replaced beside Ready of its Node: of the
// Node, and of the Machine.
var (
	mindedOfNodes    = []string{"MemoryPressure=True", "MemoryPressure=Unknown"}
	mindedOfMachines = []string{
		"NodeHealthy=False", "NodeHealthy=Unknown", "NodeReady=False", "NodeReady=Unknown", "InfrastructureReady=False", "BootstrapConfigReady=False",
		"EtcdPodHealthy=Unknown", "EtcdMemberHealthy=Unknown", "APIServerPodHealthy=Unknown", "EtcdPodHealthy=False", "UpToDate=False",
	}
)

// healthCheck adds a MachineHealthCheck that minds Nodes that are not Ready.
func healthCheck(w *World, r *rand.Rand) string {
	return addHealthCheck(w, r, "Ready=Unknown", "Ready=False")
}

// conditionCheck adds one that minds something else.
func conditionCheck(w *World, r *rand.Rand) string {
	return addHealthCheck(w, r, pick(r, append(slices.Clone(mindedOfNodes), mindedOfMachines...)))
}

// addHealthCheck adds a MachineHealthCheck for some of the cluster's machines.
func addHealthCheck(w *World, r *rand.Rand, minded ...string) string {
	if len(w.of("Cluster")) == 0 {
		return ""
	}
	selector, what := map[string]any{clusterv1.ClusterNameLabel: w.Cluster.Name}, "all machines"
	switch md := one(r, w.of("MachineDeployment")); {
	case r.Intn(3) == 0 && md != nil:
		selector, what = map[string]any{clusterv1.MachineDeploymentNameLabel: md.GetName()}, md.GetName()
	case r.Intn(2) == 0:
		selector, what = map[string]any{clusterv1.MachineControlPlaneLabel: ""}, "the control plane"
	}
	unhealthy, startup := pick(r, []any{"100%", "40%", int64(1), int64(0)}), pick(r, []int64{0, 600})
	name := "mhc-" + suffix(r)
	checks := map[string]any{"nodeStartupTimeoutSeconds": startup}
	for _, one := range minded {
		kind, status, _ := strings.Cut(one, "=")
		of, condition := "unhealthyNodeConditions", map[string]any{"type": kind, "status": status, "timeoutSeconds": int64(300)}
		if slices.Contains(mindedOfMachines, one) {
			of = "unhealthyMachineConditions"
		}
		all, _ := checks[of].([]any)
		checks[of] = append(all, condition)
	}
	w.Objects["resources/machinehealthchecks.cluster.x-k8s.io/namespaces/"+w.Cluster.Namespace+"/"+name+".json"] = &obj{Object: map[string]any{
		"apiVersion": clusterv1.GroupVersion.String(), "kind": "MachineHealthCheck",
		"metadata": map[string]any{
			"name": name, "namespace": w.Cluster.Namespace, "uid": string(uuid.NewUUID()), "generation": int64(1), "resourceVersion": "7",
			"creationTimestamp": at(-100), "labels": map[string]any{clusterv1.ClusterNameLabel: w.Cluster.Name},
		},
		"spec": map[string]any{
			"clusterName": w.Cluster.Name, "selector": map[string]any{"matchLabels": selector},
			"checks":      checks,
			"remediation": map[string]any{"triggerIf": map[string]any{"unhealthyLessThanOrEqualTo": unhealthy}},
		},
	}}
	return fmt.Sprintf("MachineHealthCheck %s for %s, of %s, unhealthyLessThanOrEqualTo %v, nodeStartupTimeoutSeconds %d", name, what, strings.Join(minded, " and "), unhealthy, startup)
}
