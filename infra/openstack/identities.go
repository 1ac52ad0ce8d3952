package openstack

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// forbidden says why a namespace may not use an OpenStackClusterIdentity; it is empty
// where it may, or where the backup lacks the identity. undecided reports that the backup
// does not say: without a selector every namespace may, and CAPO compares the labels of
// the Namespace otherwise (pkg/scope/provider.go v0.14.7).
func (objs *objects) forbidden(n int, name, namespace string) (why string, undecided bool) {
	object := objs.identities[capi.Object{Backup: n, Name: name}]
	if object == nil || object.Data.Selector == "" || object.Data.Selector == "null" {
		return "", false
	}
	what := identityKind + " " + name
	var parsed metav1.LabelSelector
	if err := json.Unmarshal([]byte(object.Data.Selector), &parsed); err != nil {
		return "namespaceSelector of " + what + " holds no label selector", false
	}
	selector, err := metav1.LabelSelectorAsSelector(&parsed)
	if err != nil {
		return "namespaceSelector of " + what + " is not valid", false
	}
	var of *backup.Labels
	if ns := objs.namespaces[capi.Object{Backup: n, Name: namespace}]; ns != nil {
		of = (*backup.Labels)(&ns.Data.Labels)
	}
	switch selected, decided := infra.SelectsNamespace(selector, namespace, of); {
	case selector.Empty(), decided && selected:
		return "", false
	case !decided:
		return fmt.Sprintf("%s is for namespaces with certain labels, and Namespace %s is not in the backup", what, namespace), true
	default:
		return fmt.Sprintf("namespaceSelector of %s does not select Namespace %s", what, namespace), false
	}
}

// halts are the clusters that CAPO leaves alone, or may, because they may not use the
// identity that they name, and those with a machine of which the same is not known. What a
// machine is known not to may use is in its Restore.
func (objs *objects) halts() []infra.Halt {
	type use struct {
		by backup.ClusterID
		of string
	}
	var list []infra.Halt
	seen := map[use]bool{}
	add := func(id backup.ClusterID, h home, decided bool) {
		if h.kind != identityKind || seen[use{id, h.name}] {
			return
		}
		seen[use{id, h.name}] = true
		if why, undecided := objs.forbidden(id.Backup, h.name, id.Namespace); why != "" && (undecided || decided) {
			list = append(list, infra.Halt{Cluster: id, Object: identityKind + " " + h.name, Message: why, Undecided: undecided})
		}
	}
	for _, id := range objs.order() {
		add(id, objs.homeOf(id, nil, objs.locations[id]), true)
	}
	for i := range objs.members {
		m := &objs.members[i]
		add(m.cluster, objs.homeOf(m.cluster, m, objs.locations[m.cluster]), false)
	}
	return list
}

// absent lists the identities that objects refer to and the backup lacks, each once.
func (objs *objects) absent() []backup.Absence {
	var m capi.Missing
	note := func(id backup.ClusterID, h home, by string) {
		at := capi.Object{Backup: id.Backup, Name: h.name}
		if h.kind != identityKind || objs.identities[at] != nil {
			return
		}
		m.Refer(identityKind, at, by)
		m.Concern(identityKind, at, id)
	}
	for _, id := range objs.order() {
		if l := objs.locations[id]; l.record != nil {
			note(id, objs.homeOf(id, nil, l), fmt.Sprintf("%s %s/%s", clusterKind, l.record.Namespace, l.record.Name))
		}
	}
	list := m.List()
	for i := range list {
		list[i].Why, list[i].Halts = capi.WhyHalted, list[i].Clusters
	}
	return list
}
