package releases

import (
	"maps"
	"slices"
)

// defaulted gives what the API server would add to parts of an object that are
// replaced as a whole: in the others its defaults come from the live object.
func defaulted(kind string, o any) {
	switch kind {
	case "StatefulSet":
		for _, claim := range list(o, "spec", "volumeClaimTemplates") {
			set(claim, "apiVersion", "v1")
			set(claim, "kind", "PersistentVolumeClaim")
			set(at(claim, "spec"), "volumeMode", "Filesystem")
		}
	case "NetworkPolicy":
		for _, direction := range []string{"ingress", "egress"} {
			for _, rule := range list(o, "spec", direction) {
				setAll(list(rule, "ports"), "protocol", "TCP")
			}
		}
	case "RoleBinding", "ClusterRoleBinding":
		set(at(o, "roleRef"), "apiGroup", "rbac.authorization.k8s.io")
		for _, s := range list(o, "subjects") {
			switch at(s, "kind") {
			case "User", "Group":
				set(s, "apiGroup", "rbac.authorization.k8s.io")
			}
		}
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		for _, w := range list(o, "webhooks") {
			setAll(list(w, "rules"), "scope", "*")
		}
	case "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding":
		for _, of := range []string{"matchConstraints", "matchResources"} {
			set(at(o, "spec", of), "matchPolicy", "Equivalent")
			set(at(o, "spec", of), "namespaceSelector", Object{})
			set(at(o, "spec", of), "objectSelector", Object{})
			setAll(list(o, "spec", of, "resourceRules"), "scope", "*")
			setAll(list(o, "spec", of, "excludeResourceRules"), "scope", "*")
		}
	case "LimitRange":
		for _, limit := range list(o, "spec", "limits") {
			if m, ok := limit.(map[string]any); ok && m["type"] == "Container" {
				inherit(m, "default", "max")
				inherit(m, "defaultRequest", "default")
				inherit(m, "defaultRequest", "min")
			}
		}
	case "EndpointSlice":
		setAll(list(o, "ports"), "name", "")
		setAll(list(o, "ports"), "protocol", "TCP")
	case "Job", "CronJob":
		for _, rule := range append(list(o, "spec", "podFailurePolicy", "rules"), list(o, "spec", "jobTemplate", "spec", "podFailurePolicy", "rules")...) {
			setAll(list(rule, "onPodConditions"), "status", "True")
		}
	case "Service":
		targeted(o)
	case "Endpoints":
		for _, s := range list(o, "subsets") {
			setAll(list(s, "ports"), "protocol", "TCP")
		}
	}
	defaultedPods(o)
}

// targeted gives a Service's ports a target: Kubernetes' type writes 0 where nothing is declared.
func targeted(o any) {
	for _, p := range list(o, "spec", "ports") {
		if m, ok := p.(map[string]any); ok && isZero(m["targetPort"]) {
			m["targetPort"] = m["port"]
		}
	}
}

// defaultedPods returns about the parts of pods, wherever they are in an object.
func defaultedPods(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			switch k {
			case "fieldRef":
				set(e, "apiVersion", "v1")
			case "resourceFieldRef":
				set(e, "divisor", "0")
			case "serviceAccountToken":
				set(e, "expirationSeconds", int64(3600))
			case "ports":
				for _, p := range list(v, "ports") {
					if at(p, "containerPort") != nil || at(p, "port") != nil && at(v, "selector") != nil {
						set(p, "protocol", "TCP")
					}
				}
			}
			defaultedPods(e)
		}
	case []any:
		for _, e := range v {
			defaultedPods(e)
		}
	}
}

// tolerating gives a Pod that declares tolerations those that admission adds to all
// (DefaultTolerationSeconds), if it lives with them.
func tolerating(o, live Object) {
	declared := list(o, "spec", "tolerations")
	if len(declared) == 0 {
		return
	}
	for _, t := range list(live, "spec", "tolerations") {
		key, _ := at(t, "key").(string)
		if (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") && at(t, "effect") == "NoExecute" && at(t, "tolerationSeconds") != nil &&
			!slices.ContainsFunc(declared, func(d any) bool { return at(d, "key") == key || at(d, "key") == nil }) {
			declared = append(declared, t)
		}
	}
	o["spec"].(Object)["tolerations"] = declared
}

// defaultedBeside sets what is defaulted by what lives, too.
func defaultedBeside(kind string, o, live Object) {
	switch kind {
	case "Pod":
		tolerating(o, live)
	case "Service":
		unbound(o, live)
	}
}

// unbound takes the configuration of client affinity out of a Service that has none, as the API
// server does.
func unbound(o, live Object) {
	if spec, ok := o["spec"].(Object); ok && spec["sessionAffinity"] != "ClientIP" && (spec["sessionAffinity"] != nil || at(live, "spec", "sessionAffinity") != "ClientIP") {
		delete(spec, "sessionAffinityConfig")
	}
}

// inherit gives one map what it lacks of another.
func inherit(m map[string]any, to, from string) {
	source, _ := m[from].(map[string]any)
	known, _ := m[to].(map[string]any)
	if len(source) == 0 {
		return
	}
	out := maps.Clone(source)
	maps.Copy(out, known)
	m[to] = out
}

func set(v any, name string, value any) {
	if m, ok := v.(map[string]any); ok && (m[name] == nil || m[name] == "") { // Go's types write some as ""
		m[name] = value
	}
}

func setAll(items []any, name string, value any) {
	for _, item := range items {
		set(item, name, value)
	}
}
