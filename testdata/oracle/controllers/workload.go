package oracle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
)

// workload is one workload cluster: its API server and the members of its etcd.
type workload struct {
	client  client.WithWatch
	members map[string]bool // by name
	calls   int
	writes  int  // that changed something
	failing bool // every third call fails
	cut     bool // it runs, and the management cluster does not reach it
	api     *authority
	etcd    *authority
	admits  map[string]error // whether its API server admits a kubeconfig, by its text
}

func newWorkload() *workload {
	wl := &workload{members: map[string]bool{}, admits: map[string]error{}}
	fails := func() error {
		if wl.calls++; wl.failing && wl.calls%3 == 0 {
			return errors.New("etcdserver: request timed out")
		}
		return nil
	}
	wl.client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&corev1.Node{}).
		WithIndex(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if err := fails(); err != nil {
					return err
				}
				return c.Get(ctx, k, o, opts...)
			},
			List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				if err := fails(); err != nil {
					return err
				}
				return c.List(ctx, l, opts...)
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return wl.write(ctx, c, o, func() error { return c.Create(ctx, o, opts...) })
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				return wl.write(ctx, c, o, func() error { return c.Update(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return wl.write(ctx, c, o, func() error { return c.Patch(ctx, o, p, opts...) })
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return wl.write(ctx, c, o, func() error { return c.Delete(ctx, o, opts...) })
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
				return wl.write(ctx, c, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				return wl.write(ctx, c, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
			},
		}).Build()
	return wl
}

// write writes an object, and counts that if it changed.
func (wl *workload) write(ctx context.Context, c client.Client, o client.Object, write func() error) error {
	before := raw(ctx, c, o)
	err := write()
	if !same(before, raw(ctx, c, o)) {
		wl.writes++
	}
	return err
}

func (w *World) memberUp(node string) bool {
	v := w.vm(node)
	return w.workload.members[node] && v != nil && v.On
}

func (w *World) membersUp() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(w.workload.members)), func(m string) bool { return !w.memberUp(m) })
}

// quorum reports whether etcd answers, and the API server with it.
func (w *World) quorum() bool { return len(w.membersUp()) >= len(w.workload.members)/2+1 }

// leader returns the first of the members that run.
func (w *World) leader() string {
	if up := w.membersUp(); len(up) > 0 {
		return up[0]
	}
	return ""
}

// clusterCache connects to the workload cluster while its control plane answers and the
// management cluster has its kubeconfig.
type clusterCache struct{ e *Engine }

var _ clustercache.ClusterCache = &clusterCache{}

func (c *clusterCache) workload(ctx context.Context, key client.ObjectKey) (*workload, error) {
	w := c.e.world
	c.e.memory.read(outside)
	if key != w.Cluster || !w.quorum() || w.workload.cut {
		return nil, fmt.Errorf("%w: no API server", clustercache.ErrClusterNotConnected)
	}
	cluster := &clusterv1.Cluster{}
	if err := c.e.client.Get(ctx, key, cluster); err != nil || !yes(cluster.Status.Initialization.InfrastructureProvisioned) {
		return nil, clustercache.ErrClusterNotConnected
	}
	value, err := kubeconfig.FromSecret(ctx, c.e.throughCache(secretsOfClusters(), true), key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", clustercache.ErrClusterNotConnected, err)
	}
	if err := w.workload.admit(value); err != nil {
		return nil, fmt.Errorf("%w: %w", clustercache.ErrClusterNotConnected, err)
	}
	return w.workload, nil
}

func yes(b *bool) bool { return b != nil && *b }

func (c *clusterCache) GetClient(ctx context.Context, key client.ObjectKey) (client.Client, error) {
	wl, err := c.workload(ctx, key)
	if err != nil {
		return nil, err
	}
	return wl.client, nil
}

func (c *clusterCache) GetReader(ctx context.Context, key client.ObjectKey) (client.Reader, error) {
	return c.GetClient(ctx, key)
}

func (c *clusterCache) GetUncachedClient(ctx context.Context, key client.ObjectKey) (client.Client, error) {
	return c.GetClient(ctx, key)
}

func (c *clusterCache) GetRESTConfig(ctx context.Context, key client.ObjectKey) (*rest.Config, error) {
	if _, err := c.workload(ctx, key); err != nil {
		return nil, err
	}
	return &rest.Config{Host: "http://127.0.0.1:1"}, nil
}

func (c *clusterCache) Watch(ctx context.Context, key client.ObjectKey, _ clustercache.Watcher) error {
	_, err := c.workload(ctx, key)
	return err
}

// GetHealthCheckingState returns that of a cache that has just started, in the first phase.
func (c *clusterCache) GetHealthCheckingState(ctx context.Context, key client.ObjectKey) clustercache.HealthCheckingState {
	now := time.Now()
	_, err := c.workload(ctx, key)
	switch {
	case err == nil:
		return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: now}
	case c.e.world.phase == 0:
		return clustercache.HealthCheckingState{LastProbeTime: now}
	}
	return clustercache.HealthCheckingState{LastProbeTime: now, LastProbeSuccessTime: now.Add(-2 * time.Hour), ConsecutiveFailures: 9}
}

func (c *clusterCache) GetClusterSource(string, func(context.Context, client.Object) []ctrl.Request, ...clustercache.GetClusterSourceOption) source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request]) error { return nil })
}

// nodeOfEndpoint returns the Node of the static Pod by which a member of etcd is dialled.
func nodeOfEndpoint(endpoint string) string { return strings.TrimPrefix(endpoint, "etcd-") }
