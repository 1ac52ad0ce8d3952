package releases

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// optional are the fields of kinds without a Go type here that the API server
// writes with a zero value, too; those of one kind have its resource before them.
var optional = map[string]bool{
	"allowVolumeExpansion": true, "attachRequired": true, "podInfoOnMount": true, "storageCapacity": true,
	"requiresRepublish": true, "seLinuxMount": true, "priorityclasses.scheduling.k8s.io value": true, "timeoutSeconds": true,
	"audience": true, "leaseTransitions": true, "holderIdentity": true, "ready": true, "serving": true, "terminating": true,
	"endpointslices.discovery.k8s.io name": true, "serviceAccountTokenInSecrets": true, "nominalConcurrencyShares": true,
	"minAvailable": true, "maxUnavailable": true, "minReplicas": true, "maxReplicas": true, "ingressClassName": true,
	"lendablePercent": true, "borrowingLimitPercent": true,
}

// unwritten are the fields of the kinds that no type or schema is known of, and that the
// API server leaves out with a zero value.
var unwritten = map[string]bool{
	"preserveUnknownFields": true, "insecureSkipTLSVerify": true, "nullable": true, "uniqueItems": true, "deprecated": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
	"required": true, "shortNames": true, "categories": true, "additionalPrinterColumns": true, "description": true, "format": true,
	"title": true, "type": true, "priority": true, "caBundle": true, "pattern": true, "message": true, "enum": true, "url": true,
	"oneOf": true, "anyOf": true, "allOf": true, "selectableFields": true, "x-kubernetes-validations": true, "singular": true, "listKind": true,
}

// plainMaps are the maps of the kinds without a Go type, which the API server leaves out when
// they are empty; it writes structs.
var plainMaps = map[string]bool{"matchLabels": true, "parameters": true, "podFixed": true, "nodeSelector": true}

// withoutZeros returns a value without the fields that the API server leaves out, by their values.
func withoutZeros(v any, leftOut func(field string, v any) bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if !leftOut(k, e) {
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

// withZeros returns the typed form of an object with the values that its author declared and the
// form has not: zero values, and what the API server makes of a null. It also reports whether
// there are any. Flux does not see them, Helm does. Around is the field that the value is of.
func (m *merger) withZeros(raw, form any, of schema.TypeRef, around string) (any, bool) {
	a, ok := m.t.Schema.Resolve(of)
	if !ok {
		return form, false
	}
	switch t := form.(type) {
	case map[string]any:
		r, ok := raw.(map[string]any)
		if !ok || a.Map == nil {
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
			next := a.Map.ElementType
			if f, known := a.Map.FindField(k); known {
				next = f.Type
			} else if next == (schema.TypeRef{}) {
				continue // no server knows it
			}
			known, has := t[k]
			has = has && (v != nil || !hollow(known)) // of a null the type writes an empty struct
			if inner, ok := v.(map[string]any); ok && !has && len(inner) > 0 {
				known, has = Object{}, true // the type wrote nothing of it
			}
			if has {
				if e, more := m.withZeros(v, known, next, k); more {
					set(k, e)
				}
			} else if zero := m.declaredZero(v, around, k, t); zero != nil {
				set(k, zero)
			}
		}
		if out == nil {
			return form, false
		}
		return out, true
	case []any:
		r, ok := raw.([]any)
		if !ok || a.List == nil || len(r) != len(t) {
			return form, false
		}
		out, any := slices.Clone(t), false
		for i := range t {
			if e, more := m.withZeros(r[i], t[i], a.List.ElementType, around); more {
				out[i], any = e, true
			}
		}
		return out, any
	}
	return form, false
}

// lacks reports whether a form lacks something of what is declared.
func lacks(raw, form any) bool {
	switch r := raw.(type) {
	case map[string]any:
		f, ok := form.(map[string]any)
		if !ok {
			return true
		}
		for k, v := range r {
			if e, has := f[k]; !has || v == nil || lacks(v, e) {
				return true
			}
		}
	case []any:
		f, _ := form.([]any)
		for i := range min(len(r), len(f)) {
			if lacks(r[i], f[i]) {
				return true
			}
		}
	}
	return false
}

// declaredZero returns what the API server makes of a declared zero value or null, or nil if it is
// nothing, or what the server has chosen.
func (m *merger) declaredZero(v any, around, field string, beside map[string]any) any {
	if v != nil && !isZero(v) {
		return nil
	}
	means, keeps := unset(m.kind, around, field, beside)
	if means == nil && !keeps {
		return v
	}
	if keeps {
		return nil
	}
	return means
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
