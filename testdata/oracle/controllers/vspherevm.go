package oracle

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
)

// newVSphereVM returns what CAPV makes for a VSphereMachine without one.
func newVSphereVM(o *unstructured.Unstructured, m *clusterv1.Machine, c *clusterv1.Cluster) *unstructured.Unstructured {
	vm := infraObject("VSphereVM")
	vm.SetNamespace(o.GetNamespace())
	vm.SetName(vmName(o, m))
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for _, f := range []string{"providerID", "failureDomain", "naming"} {
		delete(spec, f)
	}
	vm.Object["spec"] = spec
	l := map[string]string{clusterv1.ClusterNameLabel: c.Name}
	if util.IsControlPlaneMachine(m) {
		l[clusterv1.MachineControlPlaneLabel] = ""
	}
	vm.SetLabels(l)
	vm.SetFinalizers([]string{vmFinalizer})
	vm.SetOwnerReferences(ownedBy(o))
	return vm
}

// vsphereVM does what CAPV does for a VSphereVM. With a biosUUID it is the VM with that
// id, or none at all (NotFoundByBIOSUUID: stuck). Without one it is the VM with its name
// in its folder, or else a new VM. What is off is powered on. Deleting it deletes the VM
// that it finds in the same way.
func (s *infraStandIn) vsphereVM(o *unstructured.Unstructured) {
	c := s.cluster(o)
	if c == nil {
		return
	}
	w := s.e.world
	id := text(o, "spec", "biosUUID")
	vm := w.byUUID(id)
	if id == "" {
		vm = w.byName(text(o, "spec", "folder"), o.GetName())
	}
	if !o.GetDeletionTimestamp().IsZero() {
		if vm != nil {
			s.e.trace("VM %s was destroyed", vm.Name)
			vm.Gone = true
		}
		s.release(o)
		return
	}
	owner := s.ownerOfVM(o)
	if owner == nil {
		return
	}
	switch {
	case vm == nil && id != "":
		s.status(o, map[string]any{"ready": false, "conditions": []any{ready("False", "NotFoundByBIOSUUID")}})
		return
	case vm == nil:
		if vm = s.clone(o, owner); vm == nil {
			return
		}
	}
	if id == "" {
		set(o, strings.ToLower(vm.UUID), "spec", "biosUUID")
		s.update(o)
		return
	}
	if !vm.On {
		vm.On, vm.boots = true, s.e.rand.Intn(16)
		s.e.trace("VM %s was powered on", vm.Name)
		w.poweredOn = append(w.poweredOn, vm.Name)
	}
	s.status(o, map[string]any{"ready": true, "vmRef": vm.Ref, "conditions": []any{ready("True", "Ready")}})
}

// goneTemplate is a template of the lab's backup that its vCenter does not have.
const goneTemplate = "/DC0/vm/no-such-template"

// clone makes the VM. It needs the bootstrap data and the template for that.
func (s *infraStandIn) clone(o, owner *unstructured.Unstructured) *VM {
	m := s.ownerMachine(owner)
	if m == nil || m.Spec.Bootstrap.DataSecretName == nil {
		return nil
	}
	if err := s.e.client.Get(s.e.ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: *m.Spec.Bootstrap.DataSecretName}, &corev1.Secret{}); err != nil {
		s.e.errs["infrastructure "+o.GetName()] = "bootstrap Secret: " + err.Error()
		return nil
	}
	if template := text(o, "spec", "template"); template == goneTemplate {
		s.status(o, map[string]any{"ready": false, "conditions": []any{ready("False", "CloningFailed")}})
		return nil
	}
	vm := s.e.world.createVM(o.GetName(), text(o, "spec", "folder"), util.IsControlPlaneMachine(m))
	s.e.trace("VM %s was created", vm.Name)
	s.e.world.boot(vm, m.Spec.Version)
	return vm
}

func (s *infraStandIn) ownerOfVM(o *unstructured.Unstructured) *unstructured.Unstructured {
	for _, r := range o.GetOwnerReferences() {
		owner := infraObject("VSphereMachine")
		if r.Kind == "VSphereMachine" && s.e.client.Get(s.e.ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: r.Name}, owner) == nil {
			return owner
		}
	}
	return nil
}
