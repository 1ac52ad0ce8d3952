package backup

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup/scan"
)

// Slots of the metadata that every plan starts with.
const (
	slotAPIVersion = iota
	slotKind
	slotNamespace
	slotName
	slotUID
	slotCreated
	slotClusterName
	slotPaused
	slotDeleting
	slotRestored
	slotOwnerKind
	slotOwnerName
	slotOwnerUID
	slotOwnerController
)

// metaPaths are the paths of those slots, in their order.
var metaPaths = [...]string{
	slotAPIVersion:      "apiVersion",
	slotKind:            "kind",
	slotNamespace:       "metadata.namespace",
	slotName:            "metadata.name",
	slotUID:             "metadata.uid",
	slotCreated:         "metadata.creationTimestamp",
	slotClusterName:     "label:" + clusterv1.ClusterNameLabel,
	slotPaused:          "annotation:" + clusterv1.PausedAnnotation,
	slotDeleting:        "metadata.deletionTimestamp",
	slotRestored:        "annotation:velero.io/restore-status",
	slotOwnerKind:       "metadata.ownerReferences[].kind",
	slotOwnerName:       "metadata.ownerReferences[].name",
	slotOwnerUID:        "metadata.ownerReferences[].uid",
	slotOwnerController: "metadata.ownerReferences[].controller",
}

// newPlan returns a plan that wants the metadata of an object.
func newPlan() *scan.Plan {
	p := scan.NewPlan()
	for _, path := range metaPaths {
		if _, err := p.Add(splitPath(path)...); err != nil {
			panic(path + ": " + err.Error())
		}
	}
	return p
}

// splitPath turns a path as Field documents it into its members. An array is
// its member followed by "[]".
func splitPath(path string) []string {
	if key, ok := strings.CutPrefix(path, "label:"); ok {
		return []string{"metadata", "labels", key}
	}
	if key, ok := strings.CutPrefix(path, "annotation:"); ok {
		return []string{"metadata", "annotations", key}
	}
	var members []string
	for m := range strings.SplitSeq(path, ".") {
		name, isArray := strings.CutSuffix(m, "[]")
		members = append(members, name)
		if isArray {
			members = append(members, "[]")
		}
	}
	return members
}
