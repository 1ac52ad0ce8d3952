package oracle

import (
	"encoding/base64"
	"maps"
	"math/rand"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

type obj = unstructured.Unstructured

func text(o *obj, at ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, at...)
	return s
}

func number(o *obj, at ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, at...)
	return n
}

func stringMap(o *obj, at ...string) map[string]string {
	m, _, _ := unstructured.NestedStringMap(o.Object, at...)
	return m
}

func set(o *obj, v any, at ...string) {
	if err := unstructured.SetNestedField(o.Object, v, at...); err != nil {
		panic(err)
	}
}

// secretValue returns a value of a Secret, nil where that lacks the key.
func secretValue(s *obj, key string) []byte {
	encoded, has, _ := unstructured.NestedString(s.Object, "data", key)
	if !has {
		return nil
	}
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	return value
}

func setSecretValue(s *obj, key string, value []byte) {
	set(s, base64.StdEncoding.EncodeToString(value), "data", key)
}

func unset(o *obj, at ...string) { unstructured.RemoveNestedField(o.Object, at...) }

func isControlPlane(o *obj) bool {
	_, is := o.GetLabels()[clusterv1.MachineControlPlaneLabel]
	return is
}

func annotate(o *obj, key, value string) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[key] = value
	o.SetAnnotations(a)
}

func label(o *obj, key, value string) {
	l := o.GetLabels()
	if l == nil {
		l = map[string]string{}
	}
	l[key] = value
	o.SetLabels(l)
}

// unlabel takes a label off, and reports whether there was one.
func unlabel(o *obj, key string) bool {
	l := o.GetLabels()
	_, had := l[key]
	delete(l, key)
	o.SetLabels(l)
	return had
}

func pick[T any](r *rand.Rand, l []T) T { return l[r.Intn(len(l))] }

// one of some objects, nil of none.
func one(r *rand.Rand, l []*obj) *obj {
	if len(l) == 0 {
		return nil
	}
	return pick(r, l)
}

func aLabel(r *rand.Rand, o *obj) string {
	l := slices.Sorted(maps.Keys(o.GetLabels()))
	if len(l) == 0 {
		return ""
	}
	return pick(r, l)
}

// suffix returns what Kubernetes appends to names that it makes.
func suffix(r *rand.Rand) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, 5)
	for i := range b {
		b[i] = letters[r.Intn(len(letters))]
	}
	return string(b)
}

// unmarshal keeps whole numbers whole, as Kubernetes does.
func unmarshal(data []byte, into *map[string]any) error { return json.Unmarshal(data, into) }
