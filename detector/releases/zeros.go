package releases

import (
	"maps"
	"slices"
	"strings"
)

// optional are the fields of kinds without a Go type here that the API server
// writes with a zero value, too.
var optional = map[string]bool{
	"allowVolumeExpansion": true, "attachRequired": true, "podInfoOnMount": true, "storageCapacity": true,
	"requiresRepublish": true, "seLinuxMount": true, "value": true, "timeoutSeconds": true,
	"audience": true, "leaseTransitions": true, "holderIdentity": true, "ready": true, "serving": true, "terminating": true,
	"name": true, "serviceAccountTokenInSecrets": true, "matchingPrecedence": true, "nominalConcurrencyShares": true,
	"minAvailable": true, "maxUnavailable": true, "minReplicas": true, "maxReplicas": true, "ingressClassName": true,
	"lendablePercent": true, "borrowingLimitPercent": true,
}

// unwritten are the fields of the kinds that no type or schema is known of, and that the
// API server leaves out with a zero value.
var unwritten = map[string]bool{
	"preserveUnknownFields": true, "insecureSkipTLSVerify": true, "nullable": true, "uniqueItems": true, "deprecated": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
	"required": true, "shortNames": true, "categories": true, "additionalPrinterColumns": true, "description": true, "format": true,
	"title": true, "type": true, "priority": true, "caBundle": true,
}

// withoutZeros is a value without the fields that the API server leaves out with a zero value.
func withoutZeros(v any, leftOut func(field string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if !isZero(e) || !leftOut(k) {
				out[k] = withoutZeros(e, leftOut)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutZeros(e, leftOut)
		}
		return out
	}
	return v
}

// zeroMeans is what the API server makes of a declared zero value, by the field and the one
// around it; nil is what it chose before.
var zeroMeans = map[string]any{
	"spec.clusterIP": nil, "spec.clusterIPs": nil, "ports.nodePort": nil, "spec.healthCheckNodePort": nil,
	"containers.imagePullPolicy": nil, "initContainers.imagePullPolicy": nil, "spec.externalTrafficPolicy": nil,
	"ports.targetPort": nil, "spec.sessionAffinity": "None", "spec.dnsPolicy": "ClusterFirst", "spec.restartPolicy": "Always", "spec.schedulerName": "default-scheduler",
	"spec.podManagementPolicy": "OrderedReady", "spec.concurrencyPolicy": "Allow", "strategy.type": "RollingUpdate", "updateStrategy.type": "RollingUpdate",
	"containers.terminationMessagePath": "/dev/termination-log", "containers.terminationMessagePolicy": "File",
	"initContainers.terminationMessagePath": "/dev/termination-log", "initContainers.terminationMessagePolicy": "File",
	"httpGet.scheme": "HTTP", "httpGet.path": "/", "fieldRef.apiVersion": "v1", "ports.protocol": "TCP", ".type": "Opaque",
}

// probes have defaults for zero numbers, too.
var probes = map[string]int64{"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}

// declaredZero is what the API server makes of a declared zero value, and whether that is
// known before it sees the object.
func declaredZero(v any, around, field string) (any, bool) {
	if means, known := zeroMeans[around+"."+field]; known {
		return means, means != nil
	}
	if n, known := probes[field]; known && strings.HasSuffix(around, "Probe") {
		return n, true
	}
	return v, true
}

// withZeros is the typed form of an object with the zero values that its author
// declared, and whether there are any. Flux does not see them, Helm does. Around is the
// field that the value is of.
func withZeros(raw, form any, around string) (any, bool) {
	switch t := form.(type) {
	case map[string]any:
		r, ok := raw.(map[string]any)
		if !ok {
			return form, false
		}
		var out map[string]any
		set := func(k string, v any) {
			if out == nil {
				out = maps.Clone(t)
			}
			out[k] = v
		}
		for k, v := range r {
			known, has := t[k]
			if !has {
				if zero, sent := declaredZero(v, around, k); isZero(v) && sent {
					set(k, zero)
				}
			} else if e, more := withZeros(v, known, k); more {
				set(k, e)
			}
		}
		if out == nil {
			return form, false
		}
		return out, true
	case []any:
		r, ok := raw.([]any)
		if !ok || len(r) != len(t) {
			return form, false
		}
		out, any := slices.Clone(t), false
		for i := range t {
			if e, more := withZeros(r[i], t[i], around); more {
				out[i], any = e, true
			}
		}
		return out, any
	}
	return form, false
}

func isZero(v any) bool {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v == ""
	case float64:
		return v == 0
	case int64:
		return v == 0
	case []any:
		return len(v) == 0
	}
	return false
}
