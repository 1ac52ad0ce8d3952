package azure

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// forbidden says why a namespace may not use an AzureClusterIdentity; it is empty where it
// may, or where the backup lacks the identity. undecided reports that the backup does not
// say. Without allowedNamespaces none may, not even that of the identity itself; empty ones
// allow all, and an empty selector selects none (IsClusterNamespaceAllowed in
// azure/scope/identity.go v1.26.0).
func (objs *objects) forbidden(h home, namespace string) (why string, undecided bool) {
	object := objs.identities[h.object()]
	if object == nil {
		return "", false
	}
	what, raw := h.what(), object.Data.Allowed
	if raw == "" || raw == "null" {
		return "allowedNamespaces of " + what + " is not set, so that no namespace may use it", false
	}
	var allowed struct {
		List     []string
		Selector *metav1.LabelSelector
	}
	if err := json.Unmarshal([]byte(raw), &allowed); err != nil {
		return "allowedNamespaces of " + what + " cannot be read", false
	}
	if allowed.List == nil && allowed.Selector == nil || slices.Contains(allowed.List, namespace) {
		return "", false
	}
	no := fmt.Sprintf("allowedNamespaces of %s does not allow Namespace %s", what, namespace)
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if err != nil || selector.Empty() {
		return no, false
	}
	var of *backup.Labels
	if ns := objs.namespaces[capi.Object{Backup: h.backup, Name: namespace}]; ns != nil {
		of = (*backup.Labels)(&ns.Data.Labels)
	}
	switch selected, decided := infra.SelectsNamespace(selector, namespace, of); {
	case decided && selected:
		return "", false
	case !decided:
		return fmt.Sprintf("%s is for namespaces with certain labels, and Namespace %s %s", what, namespace, objs.snapshot.Lacks(h.backup, "Namespace")), true
	}
	return no, false
}

// halts returns the clusters that CAPZ leaves alone, or may, because they may not use the
// identity that they name, or nobody can.
func (objs *objects) halts() []infra.Halt {
	var list []infra.Halt
	for _, id := range objs.order() {
		h := objs.locations[id].home
		if h.reason != "" {
			continue
		}
		object := identityKind + " " + h.name
		if why := objs.mistake(h); why != "" {
			list = append(list, infra.Halt{Cluster: id, Object: object, Message: why})
		}
		if why, undecided := objs.forbidden(h, id.Namespace); why != "" {
			list = append(list, infra.Halt{Cluster: id, Object: object, Message: why, Undecided: undecided})
		}
	}
	return list
}

const whyHalted = "CAPZ does nothing for the clusters that name it until it is created again"

// absent lists the identities that clusters refer to and the backup lacks.
func (objs *objects) absent() []backup.Absence {
	var missing capi.Missing
	for _, id := range objs.order() {
		l := objs.locations[id]
		h := l.home
		if h.reason != "" || objs.identities[h.object()] != nil {
			continue
		}
		at := h.object()
		missing.Refer(identityKind, at, fmt.Sprintf("%s %s/%s", l.kind, l.record.Namespace, l.record.Name))
		missing.Concern(identityKind, at, id)
	}
	list := missing.List()
	for i := range list {
		list[i].Why, list[i].Halts = whyHalted, list[i].Clusters
	}
	return list
}
