package releases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"drift-detector/internal/lazyregexp"
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
	{"Job", "/spec/successPolicy", ""},
	{"Job", "/spec/backoffLimitPerIndex", ""},
	{"Job", "/spec/managedBy", ""},
	{"Job", "/spec/completions", ""},
	{"PersistentVolume", "/spec/", "capacity accessModes persistentVolumeReclaimPolicy storageClassName mountOptions claimRef nodeAffinity volumeAttributesClassName"},
	{"ResourceQuota", "/spec/scopes", ""},
	{"RuntimeClass", "/handler", ""},
	{"CSIDriver", "/spec/attachRequired", ""},
	{"CSIDriver", "/spec/volumeLifecycleModes", ""},
	{"EndpointSlice", "/addressType", ""},
	{"VolumeAttributesClass", "/driverName", ""},
	{"VolumeAttributesClass", "/parameters", ""},
	{"CustomResourceDefinition", "/spec/group", ""},
	{"CustomResourceDefinition", "/spec/scope", ""},
	{"CustomResourceDefinition", "/spec/names/kind", ""},
	{"CustomResourceDefinition", "/spec/names/plural", ""},
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
	patch = finer(patch)
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
			if kind == "Job" && row.path == "/spec/completions" && isElastic(merged) {
				continue
			}
			if row.except == "" || !slices.Contains(strings.Fields(row.except), name) {
				return readable(c.Pointer, live, merged) + " is immutable"
			}
		}
	}
	if kind == "Pod" {
		if why := refusedPod(live, merged, patch); why != "" {
			return why
		}
	}
	if kind == "PersistentVolumeClaim" && shrinks(live, merged) {
		return "spec.resources.requests.storage can't shrink"
	}
	if kind == "Service" {
		if why := cmp.Or(twice(list(merged, "spec", "ports"), "ports"), refusedService(live, merged)); why != "" {
			return why
		}
	}
	if !retains && kind == "Deployment" && at(merged, "spec", "strategy", "type") == "Recreate" && at(merged, "spec", "strategy", "rollingUpdate") != nil {
		return "strategy Recreate with rollingUpdate"
	}
	if why := exclusive(kind, merged); why != "" {
		return why
	}
	return refusedPods(merged, retains)
}

// isElastic reports whether the completions of a Job may change: those of an Indexed one, in
// tandem with its parallelism (pkg/apis/batch/validation:validateCompletions v1.35.4; servers
// before 1.27, without gate ElasticIndexedJob, let none change, which is not looked at).
func isElastic(job Object) bool {
	completions, parallelism := at(job, "spec", "completions"), at(job, "spec", "parallelism")
	return at(job, "spec", "completionMode") == "Indexed" && completions != nil && equal(completions, parallelism)
}

// refusedService says what of a Service may not change once it is set: the class of one that is
// and stays a LoadBalancer, and, unless it is headless, the first of the IP families
// (pkg/apis/core/validation:validateLoadBalancerClassField, validateUpgradeDowngradeIPFamilies
// v1.35.4).
func refusedService(live, merged Object) string {
	is, to := at(live, "spec", "type"), at(merged, "spec", "type")
	if is == "LoadBalancer" && to == "LoadBalancer" && !equal(at(live, "spec", "loadBalancerClass"), at(merged, "spec", "loadBalancerClass")) {
		return "spec.loadBalancerClass is immutable"
	}
	had, has := list(live, "spec", "ipFamilies"), list(merged, "spec", "ipFamilies")
	headless := at(live, "spec", "clusterIP") == "None" || at(merged, "spec", "clusterIP") == "None"
	if is != "ExternalName" && to != "ExternalName" && !headless && len(had) > 0 && len(has) > 0 && !equal(had[0], has[0]) {
		return "spec.ipFamilies[0] is immutable"
	}
	return ""
}

// escaped makes a key a part of a JSON pointer.
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// finer returns a patch without replacements of whole maps, which hide what they change.
func finer(patch []Change) []Change {
	var out []Change
	for _, c := range patch {
		is, ok := c.Live.(map[string]any)
		to, too := c.Desired.(map[string]any)
		if !ok || !too {
			out = append(out, c)
			continue
		}
		all := maps.Clone(is)
		maps.Copy(all, to)
		for _, k := range sortedKeys(all) {
			if v, has := to[k]; !has || !equal(v, is[k]) {
				out = append(out, finer([]Change{{Op: c.Op, Pointer: c.Pointer + "/" + escaped.Replace(k), Live: is[k], Desired: v}})...)
			}
		}
	}
	return out
}

// ofPods are the fields of a Pod that may change (ValidatePodUpdate of
// pkg/apis/core/validation v1.35); of the tolerations none may go.
var ofPods = lazyregexp.New(`^/(metadata/.*|spec/(activeDeadlineSeconds|(containers|initContainers)/[0-9]+/image))$`)

// refusedPod says which field of a Pod can't change.
func refusedPod(live, merged Object, patch []Change) string {
	fixed := func(o Object) Object {
		spec, _ := o["spec"].(Object)
		out := maps.Clone(spec)
		delete(out, "activeDeadlineSeconds")
		delete(out, "tolerations")
		for _, of := range []string{"containers", "initContainers"} {
			var containers []any
			for _, c := range list(spec, of) {
				one, _ := c.(Object)
				one = maps.Clone(one)
				delete(one, "image")
				containers = append(containers, one)
			}
			out[of] = containers
		}
		return out
	}
	lost := slices.ContainsFunc(list(live, "spec", "tolerations"), func(t any) bool {
		return !slices.ContainsFunc(list(merged, "spec", "tolerations"), func(m any) bool { return equal(t, m) })
	})
	if spec, _ := merged["spec"].(Object); spec == nil || !lost && equal(fixed(live), fixed(merged)) {
		return ""
	}
	for _, c := range patch {
		if !ofPods.MatchString(c.Pointer) && (lost || !strings.HasPrefix(c.Pointer, "/spec/tolerations")) {
			return readable(c.Pointer, live, merged) + " of a Pod is immutable"
		}
	}
	return ""
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
		if v["containers"] != nil {
			if why := profiled(v["securityContext"]); why != "" {
				return why
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
	if why := cmp.Or(twice(list(c, "ports"), "ports"), profiled(at(c, "securityContext"))); why != "" {
		return why
	}
	for _, e := range list(c, "env") {
		if v, _ := at(e, "value").(string); v != "" && at(e, "valueFrom") != nil {
			return fmt.Sprintf("env %v has value and valueFrom", at(e, "name"))
		}
		if why := both(at(e, "valueFrom"), fmt.Sprintf("env %v", at(e, "name")), "fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"); why != "" {
			return why
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
