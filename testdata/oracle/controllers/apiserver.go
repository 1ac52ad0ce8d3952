package oracle

import (
	"context"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/api/core/v1beta2/index"
)

// newClient returns the API server of the management cluster: controller-runtime's fake
// client, and what that lacks: uid, creationTimestamp and generation. It has no schemas
// of CRDs.
func (e *Engine) newClient(objs []client.Object) client.WithWatch {
	status := []client.Object{
		&clusterv1.Cluster{}, &clusterv1.Machine{}, &clusterv1.MachineSet{}, &clusterv1.MachineDeployment{}, &clusterv1.MachinePool{},
		&clusterv1.MachineHealthCheck{}, &clusterv1.ClusterClass{}, &bootstrapv1.KubeadmConfig{}, &controlplanev1.KubeadmControlPlane{},
		&addonsv1.ClusterResourceSet{},
	}
	for _, k := range infraKinds {
		status = append(status, infraObject(k))
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithStatusSubresource(status...).WithObjects(objs...).WithReturnManagedFields().
		WithIndex(&clusterv1.Machine{}, index.MachineNodeNameField, index.MachineByNodeName).
		WithIndex(&clusterv1.Machine{}, index.MachineProviderIDField, machineByProviderID).
		WithIndex(&clusterv1.MachinePool{}, index.MachinePoolNodeNameField, index.MachinePoolByNodeName).
		WithIndex(&clusterv1.MachinePool{}, index.MachinePoolProviderIDField, machinePoolByProviderID).
		WithIndex(&clusterv1.Cluster{}, index.ClusterClassRefPath, index.ClusterByClusterClassRef).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: e.get, List: e.list, Create: e.create, Update: e.update, Patch: e.patch, Apply: e.apply, Delete: e.delete,
			SubResourceUpdate: e.updateStatus, SubResourcePatch: e.patchStatus,
		}).Build()
}

func machineByProviderID(o client.Object) []string {
	if m := o.(*clusterv1.Machine); m.Spec.ProviderID != "" {
		return []string{m.Spec.ProviderID}
	}
	return nil
}

func machinePoolByProviderID(o client.Object) []string {
	return o.(*clusterv1.MachinePool).Spec.ProviderIDList
}

func (e *Engine) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	return e.write(ctx, "create", o, func(before *unstructured.Unstructured) error {
		if err := c.Create(ctx, o, opts...); err != nil {
			return err
		}
		e.note("create", o)
		return e.stamp(ctx, c, o, nil)
	})
}

func (e *Engine) update(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
	return e.write(ctx, "update", o, func(before *unstructured.Unstructured) error {
		if err := c.Update(ctx, o, opts...); err != nil {
			return err
		}
		return e.stamp(ctx, c, o, before)
	})
}

func (e *Engine) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return e.write(ctx, "patch", o, func(before *unstructured.Unstructured) error {
		if dryRun(opts) {
			really := client.PatchOptions{}
			really.ApplyOptions(opts)
			really.DryRun = nil
			return elsewhere(before).Patch(ctx, o, p, &really)
		}
		if err := c.Patch(ctx, o, p, opts...); err != nil {
			return err
		}
		if before == nil {
			e.note("create", o)
		}
		return e.stamp(ctx, c, o, before)
	})
}

func dryRun(opts []client.PatchOption) bool {
	o := client.PatchOptions{}
	o.ApplyOptions(opts)
	return len(o.DryRun) > 0
}

func (e *Engine) apply(ctx context.Context, c client.WithWatch, a runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := unwrapped(a)
	return e.write(ctx, "apply", o, func(before *unstructured.Unstructured) error {
		applied := client.ApplyOptions{}
		applied.ApplyOptions(opts)
		if len(applied.DryRun) > 0 {
			applied.DryRun = nil
			return elsewhere(before).Apply(ctx, a, &applied)
		}
		if err := c.Apply(ctx, a, opts...); err != nil {
			return err
		}
		if before == nil {
			e.note("create", o)
		}
		return e.stamp(ctx, c, o, before)
	})
}

// elsewhere returns an API server with this object alone, nil for none. The fake client writes
// what is applied as a dry run, so that has to be done elsewhere.
func elsewhere(o *unstructured.Unstructured) client.Client {
	b := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithReturnManagedFields()
	if o != nil {
		b = b.WithObjects(o)
	}
	return b.Build()
}

// unwrapped returns the object in what client.ApplyConfigurationFromUnstructured returns,
// which is all that Cluster API applies.
func unwrapped(a runtime.ApplyConfiguration) *unstructured.Unstructured {
	v := reflect.Indirect(reflect.ValueOf(a))
	for i := range v.NumField() {
		if u, is := v.Field(i).Interface().(*unstructured.Unstructured); is {
			return u
		}
	}
	panic("an apply of something typed")
}

func (e *Engine) delete(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	return e.write(ctx, "delete", o, func(*unstructured.Unstructured) error {
		e.note("delete", o)
		return c.Delete(ctx, o, opts...)
	})
}

func (e *Engine) updateStatus(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
	return e.write(ctx, "update", o, func(*unstructured.Unstructured) error { return c.SubResource(sub).Update(ctx, o, opts...) })
}

func (e *Engine) patchStatus(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return e.write(ctx, "patch", o, func(*unstructured.Unstructured) error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
}

// write writes an object, which was like this before, and remembers whether it changed.
func (e *Engine) write(ctx context.Context, verb string, o client.Object, write func(before *unstructured.Unstructured) error) error {
	if err := e.refused(verb, o); err != nil {
		return err
	}
	before := raw(ctx, e.client, o)
	err := write(before)
	kind := kindOf(o)
	key := kind + " " + client.ObjectKeyFromObject(o).String()
	delete(e.answers, kind)
	delete(e.answers, key)
	if !same(before, raw(ctx, e.client, o)) {
		e.memory.changed(kind, key)
	}
	return err
}

// stamp gives an object that was written what an API server gives it. before is the
// object as it was, nil where there was none.
func (e *Engine) stamp(ctx context.Context, c client.WithWatch, o client.Object, before *unstructured.Unstructured) error {
	now := raw(ctx, c, o)
	if now == nil { // its last finalizer went
		return nil
	}
	was := now.DeepCopy()
	edited := before == nil || !reflect.DeepEqual(before.Object["spec"], now.Object["spec"])
	if edited {
		defaulted(now, before)
	}
	if now.GetUID() == "" {
		now.SetUID(uuid.NewUUID())
	}
	if t := now.GetCreationTimestamp(); t.IsZero() {
		now.SetCreationTimestamp(metav1.Now())
	}
	switch {
	case before == nil:
		now.SetGeneration(max(1, now.GetGeneration()))
	case edited:
		now.SetGeneration(before.GetGeneration() + 1)
	default:
		now.SetGeneration(before.GetGeneration())
	}
	if reflect.DeepEqual(was.Object, now.Object) {
		return nil
	}
	if err := c.Update(ctx, now); err != nil {
		return err
	}
	if u, is := o.(*unstructured.Unstructured); is {
		u.Object = now.Object
		return nil
	}
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(typed(now)).Elem())
	return nil
}

// raw returns the object as it is stored, nil where there is none.
func raw(ctx context.Context, c client.Reader, o client.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvkOf(o))
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), u); err != nil {
		return nil
	}
	return u
}

// note logs what was made or deleted.
func (e *Engine) note(verb string, o client.Object) {
	k := named(o)
	switch kind, _, _ := strings.Cut(k, " "); kind {
	case "Machine", "MachineSet", "KubeadmConfig", "VSphereMachine", "VSphereVM", "MachineDeployment", "KubeadmControlPlane":
		e.trace("%s %s", verb, k)
	}
}
