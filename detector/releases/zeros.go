package releases

import (
	"maps"
	"slices"
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

// withZeros is the typed form of an object with the zero values that its author
// declared, and whether there are any. Flux does not see them, Helm does.
func withZeros(raw, form any) (any, bool) {
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
				if isZero(v) {
					set(k, v)
				}
			} else if e, more := withZeros(v, known); more {
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
			if e, more := withZeros(r[i], t[i]); more {
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
