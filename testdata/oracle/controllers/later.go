package oracle

import (
	"context"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// later returns the objects after a time in which nothing happened: all times in metadata
// and status are earlier by that, and so are those of the Nodes.
func (e *Engine) later(by time.Duration) []client.Object {
	all := crds()
	objs := e.all()
	for _, l := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.NamespaceList{}} {
		if err := e.client.List(e.ctx, l); err != nil {
			panic(err)
		}
		items, err := meta.ExtractList(l)
		if err != nil {
			panic(err)
		}
		for _, o := range items {
			objs = append(objs, o.(client.Object))
		}
	}
	for _, o := range objs {
		u := untyped(o)
		for _, part := range []string{"metadata", "status"} {
			if u.Object[part] == nil {
				continue
			}
			var m map[string]any
			if err := json.Unmarshal(earlier(asJSON(u.Object[part]), by), &m); err != nil {
				panic(err)
			}
			u.Object[part] = m
		}
		u.SetResourceVersion("")
		u.SetManagedFields(nil)
		all = append(all, typed(u))
	}
	e.world.ageNodes(by)
	return all
}

func untyped(o client.Object) *unstructured.Unstructured {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		panic(err)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetGroupVersionKind(gvk)
	return u
}

var quotedTime = regexp.MustCompile(`"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)"`)

func earlier(data []byte, by time.Duration) []byte {
	return quotedTime.ReplaceAllFunc(data, func(b []byte) []byte {
		t, err := time.Parse(time.RFC3339Nano, strings.Trim(string(b), `"`))
		if err != nil {
			return b
		}
		return []byte(`"` + t.Add(-by).UTC().Format(time.RFC3339) + `"`)
	})
}

func (w *World) ageNodes(by time.Duration) {
	nodes := w.nodes()
	for i := range nodes {
		for j := range nodes[i].Status.Conditions {
			c := &nodes[i].Status.Conditions[j]
			c.LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Add(-by))
		}
		if err := w.workload.client.Status().Update(context.Background(), &nodes[i]); err != nil {
			panic(err)
		}
	}
}

// unpause unpauses Clusters: what the product says of a paused one holds after that.
func unpause(objs []client.Object) {
	for _, o := range objs {
		if c, is := o.(*clusterv1.Cluster); is {
			c.Spec.Paused = nil
		}
	}
}
