package releases

import (
	"encoding/base64"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// The marks that Helm puts on every object of a release (helm pkg/action/validate.go).
const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	releaseAnnotation   = "meta.helm.sh/release-name"
	namespaceAnnotation = "meta.helm.sh/release-namespace"
)

// bare returns an object without what no manifest decides: status, and of the
// metadata all but name, namespace, labels and annotations. Nulls are left out.
func bare(o Object) Object {
	out := withNulls(o)
	for k, v := range out {
		if k == "metadata" {
			continue
		}
		if out[k] = withoutNulls(v); v == nil {
			delete(out, k)
		}
	}
	return out
}

// withNulls returns what bare does, with the nulls of what is not metadata. A label or annotation that is null
// is empty (Helm's GetLabels, NestedNullCoercingStringMap of apimachinery v0.36).
func withNulls(o Object) Object {
	out := Object{}
	for k, v := range o {
		if k != "status" && k != "metadata" {
			out[k] = v
		}
	}
	m := Object{}
	for _, k := range []string{"name", "namespace", "labels", "annotations"} {
		v := at(o, "metadata", k)
		if v == nil {
			continue
		}
		m[k] = v
		if marks, ok := v.(Object); ok && hasNulls(marks) {
			marks = maps.Clone(marks)
			for name, e := range marks {
				if e == nil {
					marks[name] = ""
				}
			}
			m[k] = marks
		}
	}
	out["metadata"] = m
	return out
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutNulls(e)
		}
		return out
	}
	return v
}

// marked adds what Helm adds to every object.
func marked(o Object, release, namespace string) {
	m := o["metadata"].(Object)
	for _, add := range [][3]string{
		{"labels", managedByLabel, "Helm"}, {"annotations", releaseAnnotation, release}, {"annotations", namespaceAnnotation, namespace},
	} {
		known, _ := m[add[0]].(Object)
		known = maps.Clone(known)
		if known == nil {
			known = Object{}
		}
		known[add[1]] = add[2]
		m[add[0]] = known
	}
}

// folded puts stringData of a Secret into data, as the API server does.
func folded(o Object) {
	plain, _ := o["stringData"].(Object)
	delete(o, "stringData")
	if len(plain) == 0 {
		return
	}
	data, _ := o["data"].(Object)
	if data = maps.Clone(data); data == nil {
		data = Object{}
	}
	for k, v := range plain {
		if s, ok := v.(string); ok {
			data[k] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	o["data"] = data
}

// typedForm returns an object as Kubernetes' own type writes it: quantities are
// canonical, zero values and unknown fields are gone.
func typedForm(o Object, k kind) (Object, error) {
	to := k.new()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o, to); err != nil {
		return nil, err
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(to)
	if err != nil {
		return nil, err
	}
	for _, claim := range list(out, "spec", "volumeClaimTemplates") {
		delete(claim.(Object), "status") // the server's
	}
	return trimmed(out), nil
}

// trimmed returns what bare does, of an object that nobody else has.
func trimmed(o Object) Object {
	delete(o, "status")
	if m, ok := o["metadata"].(Object); ok {
		for k := range m {
			if k != "name" && k != "namespace" && k != "labels" && k != "annotations" {
				delete(m, k)
			}
		}
	}
	dropNulls(o)
	return o
}

func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				dropNulls(e)
			}
		}
	case []any:
		for _, e := range v {
			dropNulls(e)
		}
	}
}

// canonical returns an object of a built-in kind as the API server writes it.
func canonical(o Object, t typed.ParseableType, k kind) (Object, error) {
	if k.new != nil {
		return typedForm(o, k)
	}
	known, _ := pruned(o, t.TypeRef, t.Schema, false).(Object)
	out, _ := withoutZeros(known, func(field string, v any) bool {
		return isZero(v) && !optional[field] && !optional[k.resource+" "+field] || plainMaps[field] && empty(v)
	}).(Object)
	fixed, _ := at(out, "overhead", "podFixed").(Object) // of a RuntimeClass
	for name, v := range fixed {
		if q, err := resource.ParseQuantity(fmt.Sprint(v)); err == nil {
			fixed[name] = q.String()
		}
	}
	return out, nil
}

// fromYAML returns a default as JSON decodes it; those of the built-in kinds come out of YAML.
func fromYAML(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := Object{}
		for k, e := range v {
			out[fmt.Sprint(k)] = fromYAML(e)
		}
		return out
	case int:
		return int64(v)
	}
	return v
}

// pruned returns a custom object without the fields that its schema does not know,
// and with its defaults inside of lists and maps that are replaced as a whole.
func pruned(v any, t schema.TypeRef, s *schema.Schema, atomic bool) any {
	a, ok := s.Resolve(t)
	if !ok {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if a.Map == nil {
			return v
		}
		atomic = atomic || a.Map.ElementRelationship == schema.Atomic
		open := a.Map.ElementType.NamedType != nil || a.Map.ElementType.Inlined != (schema.Atom{})
		out := make(map[string]any, len(v))
		for k, e := range v {
			if f, known := a.Map.FindField(k); known {
				out[k] = pruned(e, f.Type, s, atomic)
			} else if open {
				out[k] = pruned(e, a.Map.ElementType, s, atomic)
			}
		}
		for _, f := range a.Map.Fields {
			if _, has := out[f.Name]; f.Default != nil && atomic && !has {
				out[f.Name] = pruned(fromYAML(f.Default), f.Type, s, atomic) // which may have defaults inside
			}
		}
		return out
	case []any:
		if a.List == nil {
			return v
		}
		atomic = atomic || a.List.ElementRelationship == schema.Atomic
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = pruned(e, a.List.ElementType, s, atomic)
		}
		return out
	}
	return v
}
