package releases

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

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

// bare is an object without what no manifest decides: status, and of the
// metadata all but name, namespace, labels and annotations. Nulls are left out.
func bare(o Object) Object {
	out := Object{}
	for k, v := range o {
		if k != "status" && k != "metadata" && v != nil {
			out[k] = withoutNulls(v)
		}
	}
	m := Object{}
	for _, k := range []string{"name", "namespace", "labels", "annotations"} {
		if v := at(o, "metadata", k); v != nil {
			m[k] = withoutNulls(v)
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

// typedForm is an object as Kubernetes' own type writes it: quantities are
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

// trimmed is bare of an object that nobody else has.
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

// canonical is an object of a built-in kind as the API server writes it.
func canonical(o Object, t typed.ParseableType, k kind) (Object, error) {
	if k.new != nil {
		return typedForm(o, k)
	}
	known, _ := pruned(o, t.TypeRef, t.Schema, false).(Object)
	out, _ := withoutZeros(known).(Object)
	fixed, _ := at(out, "overhead", "podFixed").(Object) // of a RuntimeClass
	for name, v := range fixed {
		if q, err := resource.ParseQuantity(fmt.Sprint(v)); err == nil {
			fixed[name] = q.String()
		}
	}
	return out, nil
}

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

// withoutUnwritten is a CustomResourceDefinition or APIService as the API server writes it.
func withoutUnwritten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if !unwritten[k] || !isZero(e) {
				out[k] = withoutUnwritten(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutUnwritten(e)
		}
		return out
	}
	return v
}

// withoutZeros is a value without the fields that the API server leaves out.
func withoutZeros(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if optional[k] || !isZero(e) {
				out[k] = withoutZeros(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutZeros(e)
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
	case "Endpoints":
		for _, s := range list(o, "subsets") {
			setAll(list(s, "ports"), "protocol", "TCP")
		}
	}
	defaultedPods(o)
}

// defaultedPods is about the parts of pods, wherever they are in an object.
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
	if m, ok := v.(map[string]any); ok && m[name] == nil {
		m[name] = value
	}
}

func setAll(items []any, name string, value any) {
	for _, item := range items {
		set(item, name, value)
	}
}

// fromYAML is a default as JSON decodes it; those of the built-in kinds come out of YAML.
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

// pruned is a custom object without the fields that its schema does not know,
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
			if f.Default != nil && atomic && out[f.Name] == nil {
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
