package releases

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// immutable are the fields that the API server changes for nobody, by kind. The
// third word of a row is what is exempt below it.
var immutable = []struct{ kind, path, except string }{
	{"Deployment", "/spec/selector", ""},
	{"ReplicaSet", "/spec/selector", ""},
	{"DaemonSet", "/spec/selector", ""},
	{"StatefulSet", "/spec/", "replicas template updateStrategy persistentVolumeClaimRetentionPolicy minReadySeconds ordinals revisionHistoryLimit"},
	{"Job", "/spec/selector", ""},
	{"Job", "/spec/template", ""},
	{"Job", "/spec/completionMode", ""},
	{"Job", "/spec/podFailurePolicy", ""},
	{"PersistentVolumeClaim", "/spec/", "resources volumeAttributesClassName"},
	{"PriorityClass", "/value", ""},
	{"PriorityClass", "/preemptionPolicy", ""},
	{"StorageClass", "/provisioner", ""},
	{"StorageClass", "/parameters", ""},
	{"StorageClass", "/reclaimPolicy", ""},
	{"StorageClass", "/volumeBindingMode", ""},
	{"RoleBinding", "/roleRef", ""},
	{"ClusterRoleBinding", "/roleRef", ""},
	{"IngressClass", "/spec/controller", ""},
	{"Secret", "/type", ""},
	{"Service", "/spec/clusterIP", ""},
}

// handlers are fields of which one object may have one.
var handlers = []struct {
	in   []string
	of   []string
	what string
}{
	{[]string{"livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"}, []string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"}, "handlers"},
}

// refusal says why the API server would not accept the merge of desired into
// live, or returns "". Helm's three-way merge replaces the fields that exclude each other
// where Kubernetes' types have the strategy retainKeys.
func refusal(kind string, live, merged Object, patch []Change, retains bool) string {
	if kind == "ConfigMap" || kind == "Secret" {
		if at(live, "immutable") == true && slices.ContainsFunc(patch, func(c Change) bool {
			return strings.HasPrefix(c.Pointer, "/data") || strings.HasPrefix(c.Pointer, "/binaryData") || c.Pointer == "/immutable"
		}) {
			return "the live object is immutable"
		}
	}
	for _, c := range patch {
		for _, row := range immutable {
			rest, below := strings.CutPrefix(c.Pointer, row.path)
			if row.kind != kind || !below || rest != "" && rest[0] != '/' && !strings.HasSuffix(row.path, "/") {
				continue
			}
			name, _, _ := strings.Cut(rest, "/")
			if row.except == "" || !slices.Contains(strings.Fields(row.except), name) {
				return readable(c.Pointer, live, merged) + " is immutable"
			}
		}
	}
	if kind == "PersistentVolumeClaim" && shrinks(live, merged) {
		return "spec.resources.requests.storage can't shrink"
	}
	if kind == "Service" {
		if why := twice(list(merged, "spec", "ports"), "ports"); why != "" {
			return why
		}
	}
	if !retains && kind == "Deployment" && at(merged, "spec", "strategy", "type") == "Recreate" && at(merged, "spec", "strategy", "rollingUpdate") != nil {
		return "strategy Recreate with rollingUpdate"
	}
	return refusedPods(merged, retains)
}

// shrinks reports whether a claim is to be smaller than it is.
func shrinks(live, merged Object) bool {
	size := func(o Object) (resource.Quantity, error) {
		return resource.ParseQuantity(text(o, "spec", "resources", "requests", "storage"))
	}
	is, err := size(live)
	to, fault := size(merged)
	return err == nil && fault == nil && to.Cmp(is) < 0
}

// refusedPods looks for what no container may have, wherever pods are in an object.
func refusedPods(v any, retains bool) string {
	switch v := v.(type) {
	case map[string]any:
		for _, containers := range []string{"containers", "initContainers"} {
			for _, c := range list(v, containers) {
				if why := refusedContainer(c); why != "" {
					return why
				}
			}
		}
		for _, volume := range list(v, "volumes") {
			if m, ok := volume.(map[string]any); ok && !retains && len(m) > 2 && at(v, "containers") != nil {
				return fmt.Sprintf("volume %v has two sources", m["name"])
			}
		}
		for _, name := range []string{"spec", "template", "jobTemplate"} {
			if why := refusedPods(v[name], retains); why != "" {
				return why
			}
		}
	}
	return ""
}

func refusedContainer(c any) string {
	if why := twice(list(c, "ports"), "ports"); why != "" {
		return why
	}
	for _, e := range list(c, "env") {
		if v, _ := at(e, "value").(string); v != "" && at(e, "valueFrom") != nil {
			return fmt.Sprintf("env %v has value and valueFrom", at(e, "name"))
		}
	}
	for _, row := range handlers {
		for _, in := range row.in {
			n := 0
			for _, of := range row.of {
				if at(c, in, of) != nil || at(c, "lifecycle", in, of) != nil {
					n++
				}
			}
			if n > 1 {
				return fmt.Sprintf("two %s in %s of container %v", row.what, in, at(c, "name"))
			}
		}
	}
	return ""
}

// twice says which name two items of a list have.
func twice(items []any, what string) string {
	seen := map[string]bool{}
	for _, item := range items {
		name, _ := at(item, "name").(string)
		if name != "" && seen[name] {
			return fmt.Sprintf("two %s named %s", what, name)
		}
		seen[name] = true
	}
	return ""
}
