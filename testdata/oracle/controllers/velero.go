package oracle

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// served are the kinds of a backup that controllers read.
var served = map[string]bool{
	"Cluster": true, "ClusterClass": true, "Machine": true, "MachineSet": true, "MachineDeployment": true, "MachinePool": true, "MachineHealthCheck": true,
	"KubeadmControlPlane": true, "KubeadmControlPlaneTemplate": true, "KubeadmConfig": true, "KubeadmConfigTemplate": true, "Secret": true, "ConfigMap": true,
	"VSphereCluster": true, "VSphereMachine": true, "VSphereVM": true, "VSphereMachineTemplate": true, "VSphereClusterTemplate": true, "Namespace": true,
}

// What Velero resets (velero v1.18.1 pkg/restore/restore.go resetMetadata, resetStatus).
var resetFields = []string{
	"generateName", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"ownerReferences", "managedFields",
}

// restored returns the objects as Velero creates them. All are there before a controller acts.
func (w *World) restored() []client.Object {
	all := crds()
	now := metav1.NewTime(time.Now().Add(-time.Second).Truncate(time.Second))
	for _, p := range slices.Sorted(maps.Keys(w.Objects)) {
		o := w.Objects[p]
		if !served[o.GetKind()] || o.GetDeletionTimestamp() != nil {
			continue
		}
		o = o.DeepCopy()
		for _, f := range resetFields {
			unset(o, "metadata", f)
		}
		delete(o.Object, "status")
		o.SetUID(uuid.NewUUID())
		o.SetCreationTimestamp(now)
		o.SetGeneration(1)
		label(o, "velero.io/backup-name", "mgmt")
		label(o, "velero.io/restore-name", "mgmt-1")
		defaulted(o, nil)
		if why := invalid(o); why != "" {
			w.What = append(w.What, "("+o.GetKind()+" "+o.GetName()+" is refused: "+why+")")
			continue
		}
		all = append(all, typed(o))
	}
	return all
}

// live returns the objects as they are, with status, owners and all.
func (w *World) live() []client.Object {
	all := crds()
	for _, p := range slices.Sorted(maps.Keys(w.Objects)) {
		o := w.Objects[p]
		if !served[o.GetKind()] || o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
			continue
		}
		o = o.DeepCopy()
		o.SetResourceVersion("")
		if o.GetUID() == "" {
			o.SetUID(types.UID(uuid.NewUUID()))
		}
		all = append(all, typed(o))
	}
	return all
}

// leaveOutDeleting leaves out what Velero does not restore, or backs up.
func (w *World) leaveOutDeleting() {
	for _, p := range slices.Sorted(maps.Keys(w.Objects)) {
		if o := w.Objects[p]; o.GetDeletionTimestamp() != nil {
			w.What = append(w.What, "("+o.GetKind()+" "+o.GetName()+" was being deleted: not in the backup)")
			delete(w.Objects, p)
		}
	}
}
