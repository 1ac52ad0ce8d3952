package vsphere

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra"
)

// halts are the clusters that CAPV leaves alone, or may, because they may not use the identity
// that they name, or because a cluster-scoped object that they share is paused: CAPV waits for
// its status.ready, a restore drops that, and the controller of a paused object does not
// set it again (GetCredentials in pkg/identity/identity.go and reconcileDeploymentZones in
// controllers/vspherecluster_reconciler.go v1.10.0 to v1.16.1).
func (objs *objects) halts() []infra.Halt {
	var list []infra.Halt
	for i := range objs.snapshot.Clusters {
		id := objs.snapshot.Clusters[i].ID()
		c := objs.vsphereCluster(id)
		if c == nil {
			continue
		}
		paused := func(object string) {
			list = append(list, infra.Halt{
				Cluster: id, Object: object,
				Message: "it has the annotation " + clusterv1.PausedAnnotation + ", so that its status does not say after a restore that it is ready; CAPV does nothing for the cluster",
			})
		}
		if at := objs.identityOf(id); mistake(at.Kind) != "" {
			list = append(list, infra.Halt{Cluster: id, Object: at.Kind + " " + at.Name, Message: mistake(at.Kind)})
		}
		if shared := objs.sharedIdentity(c); shared != nil {
			if shared.Paused {
				paused(identityKind + " " + shared.Name)
			}
			if why, decided := objs.excluded(c, shared); why != "" {
				list = append(list, infra.Halt{Cluster: id, Object: identityKind + " " + shared.Name, Message: why, Undecided: !decided})
			}
		}
		for z := range zones.In(objs.snapshot).All() {
			if z.Paused && z.Backup == c.Backup && z.Data.Server == c.Data.Server && selectsZone(c.Data.Zones, z.Data.Labels) {
				paused(zoneKind + " " + z.Name)
			}
		}
	}
	return list
}

// selectsZone reports whether a selector in JSON selects labels in JSON. Without one CAPV
// asks for no zone; one that cannot be read selects any.
func selectsZone(selector, of string) bool {
	if selector == "" {
		return false
	}
	var s metav1.LabelSelector
	if err := json.Unmarshal([]byte(selector), &s); err != nil {
		return true
	}
	selects, err := metav1.LabelSelectorAsSelector(&s)
	return err != nil || selects.Matches(labels.Set(backup.Labels(of).Map()))
}
