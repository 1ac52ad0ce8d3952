package oracle

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// damages are the names of what a backup may lack, or have wrong. Secrets may have much wrong.
var damages = append(slices.Sorted(maps.Keys(damage)), repeated(4, slices.Sorted(maps.Keys(secretDamage))...)...)

var damage = map[string]mutation{
	"noMachine":           lacking("Machine"),
	"noVSphereMachine":    lacking("VSphereMachine"),
	"noVSphereVM":         lacking("VSphereVM"),
	"noKubeadmConfig":     lacking("KubeadmConfig"),
	"noMachineSet":        lacking("MachineSet"),
	"noMachineDeployment": lacking("MachineDeployment"),
	"noKCP":               lacking("KubeadmControlPlane"),
	"noMachineTemplate":   lacking("VSphereMachineTemplate"),
	"noConfigTemplate":    lacking("KubeadmConfigTemplate"),
	"noVSphereCluster":    lacking("VSphereCluster"),
	"noCluster":           lacking("Cluster"),
	"noSecret": func(w *World, r *rand.Rand) string {
		o := w.get("Secret", w.Cluster.Name+pick(r, []string{"-ca", "-etcd", "-kubeconfig", "-sa", "-proxy"}))
		return w.without(o)
	},
	"noBootstrapSecret": func(w *World, r *rand.Rand) string {
		m := one(r, w.of("Machine"))
		if m == nil {
			return ""
		}
		return w.without(w.get("Secret", text(m, "spec", "bootstrap", "dataSecretName")))
	},
	"noProviderID": func(w *World, r *rand.Rand) string {
		kind, field := pick(r, []string{"Machine", "VSphereMachine", "VSphereVM"}), "providerID"
		o := one(r, w.of(kind))
		if o == nil {
			return ""
		}
		if kind == "VSphereVM" {
			field = "biosUUID"
		}
		unset(o, "spec", field)
		return kind + " " + o.GetName() + " without " + field
	},
	"noDataSecretName": on("Machine", func(o *obj, _ *World, _ *rand.Rand) string {
		unset(o, "spec", "bootstrap", "dataSecretName")
		return "without dataSecretName"
	}),
	"noClusterLabel": on("Machine", func(o *obj, _ *World, _ *rand.Rand) string {
		if isControlPlane(o) || !unlabel(o, clusterv1.ClusterNameLabel) {
			return ""
		}
		return "without label cluster-name"
	}),
	"machineUnlabel": unlabelling("Machine"),
	"setUnlabel":     unlabelling("MachineSet"),
	"mdLabels": on("MachineDeployment", func(o *obj, _ *World, _ *rand.Rand) string {
		if !unlabel(o, clusterv1.ClusterNameLabel) {
			return ""
		}
		return "without label cluster-name"
	}),
	"msSelector":     selectingAll("MachineSet"),
	"mdSelector":     selectingAll("MachineDeployment"),
	"machineVersion": setting("Machine", []any{"v1.33.9"}, "spec", "version"),
	"secondSet":      on("MachineSet", secondSet),
}

func (w *World) without(o *obj) string {
	if o == nil {
		return ""
	}
	w.drop(o)
	return "the backup lacks " + o.GetKind() + " " + o.GetName()
}

func selectingAll(kind string) mutation {
	return on(kind, func(o *obj, w *World, _ *rand.Rand) string {
		set(o, map[string]any{clusterv1.ClusterNameLabel: w.Cluster.Name}, "spec", "selector", "matchLabels")
		return "selects all of the cluster"
	})
}

// secondSet adds a MachineSet beside one, with the same template or an older one.
func secondSet(o *obj, w *World, r *rand.Rand) string {
	c := o.DeepCopy()
	name := o.GetName()
	if i := strings.LastIndex(name, "-"); i > 0 {
		name = name[:i]
	}
	c.SetName(name + "-" + suffix(r))
	c.SetUID(uuid.NewUUID())
	same := r.Intn(2) == 0
	if !same {
		for _, at := range [][]string{{"metadata", "labels"}, {"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
			if m := stringMap(c, at...); m[clusterv1.MachineDeploymentUniqueLabel] != "" {
				m[clusterv1.MachineDeploymentUniqueLabel] = "1234567890-zzzzz"
				if err := unstructured.SetNestedStringMap(c.Object, m, at...); err != nil {
					panic(err)
				}
			}
		}
		set(c, "v1.33.9", "spec", "template", "spec", "version")
	}
	set(c, int64(r.Intn(2)), "spec", "replicas")
	w.addBeside(c, o)
	return fmt.Sprintf("a second MachineSet %s beside it, of the same template: %v", c.GetName(), same)
}
