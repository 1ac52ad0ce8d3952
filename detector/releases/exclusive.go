package releases

import (
	"fmt"
	"strings"
)

// exclusive names fields of which an object has one at most: a merge keeps both, and the
// API server refuses that (pkg/apis/*/validation v1.35).
func exclusive(kind string, o Object) string {
	switch kind {
	case "PodDisruptionBudget":
		return both(at(o, "spec"), "spec", "minAvailable", "maxUnavailable")
	case "Ingress":
		return both(at(o, "spec", "defaultBackend"), "spec.defaultBackend", "service", "resource")
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		for _, w := range list(o, "webhooks") {
			if why := both(at(w, "clientConfig"), fmt.Sprintf("clientConfig of webhook %v", at(w, "name")), "url", "service"); why != "" {
				return why
			}
		}
	case "Deployment":
		if at(o, "spec", "strategy", "type") != "Recreate" {
			return steps(at(o, "spec", "strategy", "rollingUpdate"), false)
		}
	case "DaemonSet":
		return steps(at(o, "spec", "updateStrategy", "rollingUpdate"), true)
	}
	return ""
}

// both says which two of some fields are set.
func both(v any, where string, fields ...string) string {
	first := ""
	for _, f := range fields {
		switch {
		case at(v, f) == nil:
		case first != "":
			return fmt.Sprintf("%s has %s and %s", where, first, f)
		default:
			first = f
		}
	}
	return ""
}

// steps checks a rolling update that makes no step, or, of a DaemonSet, two of them.
func steps(v any, one bool) string {
	surge, unavailable := at(v, "maxSurge"), at(v, "maxUnavailable")
	if surge == nil || unavailable == nil {
		return ""
	}
	switch none, neither := noStep(surge), noStep(unavailable); {
	case none && neither:
		return "maxSurge and maxUnavailable are both 0"
	case one && !none && !neither:
		return "maxSurge and maxUnavailable are both set"
	}
	return ""
}

func noStep(v any) bool { s := strings.TrimSuffix(fmt.Sprint(v), "%"); return s == "0" }

// profiled says which profile of a pod or container has a file that its type has not.
func profiled(securityContext any) string {
	for _, of := range []string{"seccompProfile", "appArmorProfile"} {
		if p := at(securityContext, of); at(p, "localhostProfile") != nil && at(p, "type") != "Localhost" {
			return fmt.Sprintf("%s has type %v and localhostProfile", of, at(p, "type"))
		}
	}
	return ""
}
