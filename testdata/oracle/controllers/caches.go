package oracle

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/internal"
)

// cached is a client that reads through the cache of a controller: of some kinds that
// holds only objects with a label, or not the whole of them.
type cached struct {
	client.Client
	holds map[string]cache.ByObject // by kind
}

// throughCache reads through a cache of these options. Secrets are in it for the one
// client that main functions make for that (CreateSecretCachingClient), and for no other.
func (e *Engine) throughCache(options map[client.Object]cache.ByObject, secrets bool) client.Client {
	c := cached{e.client, map[string]cache.ByObject{}}
	for o, by := range options {
		if _, is := o.(*corev1.Secret); is && !secrets {
			continue
		}
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			panic(err)
		}
		c.holds[gvk.Kind] = by
	}
	return c
}

// secretsOfClusters returns what the caches of all main functions hold of Secrets.
func secretsOfClusters() map[client.Object]cache.ByObject {
	named, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		panic(err)
	}
	return map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: labels.NewSelector().Add(*named)}}
}

func (c cached) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, o, opts...); err != nil {
		return err
	}
	if !c.seen(o) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: named(o)}, key.Name)
	}
	return nil
}

func (c cached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return err
	}
	all, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	seen := []runtime.Object{}
	for _, o := range all {
		if c.seen(o.(client.Object)) {
			seen = append(seen, o)
		}
	}
	return meta.SetList(list, seen)
}

// seen reports whether the cache holds an object, and leaves of it what it holds.
func (c cached) seen(o client.Object) bool {
	gvk, err := apiutil.GVKForObject(o, scheme)
	if err != nil {
		panic(err)
	}
	by := c.holds[gvk.Kind]
	if by.Label != nil && !by.Label.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	if by.Transform != nil {
		if _, err := by.Transform(o); err != nil {
			panic(err)
		}
	}
	return true
}

// clientCerts keeps the certificates with which KubeadmControlPlane goes to etcd.
type clientCerts map[string]internal.ClientCertEntry

func (c clientCerts) Add(e internal.ClientCertEntry) { c[e.Key()] = e }
func (c clientCerts) Len() int                       { return len(c) }
func (c clientCerts) DeleteAll()                     { clear(c) }

func (c clientCerts) Has(key string) (internal.ClientCertEntry, bool) {
	e, has := c[key]
	return e, has
}
