package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
)

// infraStandIn does what CAPV does, as far as Cluster API's own controllers can see:
//
//   - VSphereCluster: provisioned once it has its Cluster as owner;
//   - VSphereMachine: waits for its Machine, the Cluster's infrastructure and bootstrap
//     data; makes its VSphereVM; has the provider id of its VSphereVM; deletes the
//     VSphereVM first while it is deleted;
//   - VSphereVM: see vsphereVM.
//
// It is the part of this oracle that is not real: no failure domains, identities,
// IP pools.
type infraStandIn struct{ e *Engine }

const (
	machineFinalizer = "vspheremachine.infrastructure.cluster.x-k8s.io"
	vmFinalizer      = "vspherevm.infrastructure.cluster.x-k8s.io"
)

func (s *infraStandIn) round() {
	for _, c := range []struct {
		kind      string
		reconcile func(*unstructured.Unstructured)
	}{{"VSphereCluster", s.vsphereCluster}, {"VSphereMachine", s.vsphereMachine}, {"VSphereVM", s.vsphereVM}} {
		l := infraList(c.kind)
		if err := s.e.client.List(s.e.ctx, l); err != nil {
			panic(err)
		}
		for i := range l.Items {
			c.reconcile(&l.Items[i])
		}
	}
	s.e.world.kubelets()
}

// cluster returns that of an object, nil where it is gone or either is paused.
func (s *infraStandIn) cluster(o *unstructured.Unstructured) *clusterv1.Cluster {
	c := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetLabels()[clusterv1.ClusterNameLabel]}
	if err := s.e.client.Get(s.e.ctx, key, c); err != nil || annotations.IsPaused(c, o) {
		return nil
	}
	return c
}

func (s *infraStandIn) write(o *unstructured.Unstructured, write func(*unstructured.Unstructured) error) {
	if err := write(o); err != nil {
		s.e.errs["infrastructure "+o.GetName()] = err.Error()
	}
}

func (s *infraStandIn) update(o *unstructured.Unstructured) {
	s.write(o, func(o *unstructured.Unstructured) error { return s.e.client.Update(s.e.ctx, o) })
}

func (s *infraStandIn) create(o *unstructured.Unstructured) {
	s.write(o, func(o *unstructured.Unstructured) error { return s.e.client.Create(s.e.ctx, o) })
}

func (s *infraStandIn) vsphereCluster(o *unstructured.Unstructured) {
	if !o.GetDeletionTimestamp().IsZero() {
		s.release(o)
		return
	}
	c, err := util.GetOwnerCluster(s.e.ctx, s.e.client, metav1.ObjectMeta{Namespace: o.GetNamespace(), OwnerReferences: o.GetOwnerReferences()})
	if err != nil || c == nil || annotations.IsPaused(c, o) {
		return
	}
	s.status(o, provisioned())
}

// release lets an object go that is deleted.
func (s *infraStandIn) release(o *unstructured.Unstructured) {
	if len(o.GetFinalizers()) > 0 {
		o.SetFinalizers(nil)
		s.update(o)
	}
}

func (s *infraStandIn) ownerMachine(o *unstructured.Unstructured) *clusterv1.Machine {
	m, err := util.GetOwnerMachine(s.e.ctx, s.e.client, metav1.ObjectMeta{Namespace: o.GetNamespace(), OwnerReferences: o.GetOwnerReferences()})
	if err != nil {
		return nil
	}
	return m
}

func (s *infraStandIn) vsphereMachine(o *unstructured.Unstructured) {
	m, c := s.ownerMachine(o), s.cluster(o)
	if m == nil || c == nil {
		return
	}
	vm := s.vmOf(o, m)
	if !o.GetDeletionTimestamp().IsZero() {
		s.deleteMachine(o, vm)
		return
	}
	if !slices.Contains(o.GetFinalizers(), machineFinalizer) {
		o.SetFinalizers(append(o.GetFinalizers(), machineFinalizer))
		s.update(o)
	}
	if !yes(c.Status.Initialization.InfrastructureProvisioned) || m.Spec.Bootstrap.DataSecretName == nil {
		s.status(o, waiting("Waiting"))
		return
	}
	if vm == nil {
		s.create(newVSphereVM(o, m, c))
		return
	}
	if len(vm.GetOwnerReferences()) == 0 {
		vm.SetOwnerReferences(ownedBy(o))
		s.update(vm)
	}
	if ok, _, _ := unstructured.NestedBool(vm.Object, "status", "ready"); !ok {
		s.status(o, waiting("WaitingForVSphereVM"))
		return
	}
	if text(o, "spec", "providerID") == "" {
		set(o, "vsphere://"+text(vm, "spec", "biosUUID"), "spec", "providerID")
		s.update(o)
		return
	}
	done := provisioned()
	done["addresses"] = []any{map[string]any{"type": "InternalIP", "address": "192.0.2.100"}}
	s.status(o, done)
}

func (s *infraStandIn) deleteMachine(o, vm *unstructured.Unstructured) {
	switch {
	case vm == nil:
		s.release(o)
	case vm.GetDeletionTimestamp().IsZero():
		s.write(vm, func(vm *unstructured.Unstructured) error { return s.e.client.Delete(s.e.ctx, vm) })
	}
}

// vmName returns the name by which CAPV looks for the VSphereVM of a machine
// (cluster-api-provider-vsphere v1.16.0 pkg/services/vimmachine.go generateVMObjectName).
func vmName(o *unstructured.Unstructured, m *clusterv1.Machine) string {
	name := m.Name
	if t := text(o, "spec", "naming", "template"); t != "" {
		parsed, err := template.New("").Funcs(sprig.TxtFuncMap()).Parse(t)
		if err != nil {
			panic(err)
		}
		var b strings.Builder
		if err := parsed.Execute(&b, map[string]any{"machine": map[string]any{"name": m.Name}}); err != nil {
			panic(err)
		}
		return b.String()
	}
	if text(o, "spec", "os") == "Windows" && len(name) > 15 {
		return name[:9] + "-" + name[len(name)-5:]
	}
	return name
}

func (s *infraStandIn) vmOf(o *unstructured.Unstructured, m *clusterv1.Machine) *unstructured.Unstructured {
	vm := infraObject("VSphereVM")
	if err := s.e.client.Get(s.e.ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: vmName(o, m)}, vm); err != nil {
		return nil
	}
	return vm
}

func ownedBy(o *unstructured.Unstructured) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID()}}
}

func provisioned() map[string]any {
	return map[string]any{"initialization": map[string]any{"provisioned": true}, "ready": true, "conditions": []any{ready("True", "Provisioned")}}
}

func waiting(reason string) map[string]any {
	return map[string]any{"conditions": []any{ready("False", reason)}}
}

// noTime stands for the time of the last change: Cluster API copies it to its own
// conditions, so that one that never changes would be wrong.
const noTime = "-"

func ready(status, reason string) map[string]any {
	return map[string]any{"type": "Ready", "status": status, "reason": reason, "message": "", "lastTransitionTime": noTime}
}

var times = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)

// status writes these fields of the status, if one of them changed.
func (s *infraStandIn) status(o *unstructured.Unstructured, fields map[string]any) {
	have, _, _ := unstructured.NestedMap(o.Object, "status")
	if have == nil {
		have = map[string]any{}
	}
	same := true
	for k, v := range fields {
		same = same && times.ReplaceAllString(fmt.Sprint(have[k]), noTime) == fmt.Sprint(v)
	}
	if same {
		return
	}
	for k, v := range fields {
		if l, ok := v.([]any); ok && k == "conditions" {
			l[0].(map[string]any)["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
		}
		have[k] = v
	}
	o.Object["status"] = have
	s.write(o, func(o *unstructured.Unstructured) error { return s.e.client.Status().Update(s.e.ctx, o) })
}
