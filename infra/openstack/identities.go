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
		return fmt.Sprintf("%s is for namespaces with certain labels, and Namespace %s %s", what, namespace, objs.snapshot.Lacks(n, "Namespace")), true
	default:
		return fmt.Sprintf("namespaceSelector of %s does not select Namespace %s", what, namespace), false
	}
}

// halts returns the clusters that CAPO leaves alone, or may, because they may not use the
// identity that they name, or nobody may, and those with a machine of which it is not known
// whether it may. What a machine is known not to may use is in its Restore.
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
		h := objs.homeOf(id, nil, objs.locations[id])
		if why := h.mistake(); why != "" {
			list = append(list, infra.Halt{Cluster: id, Object: "identity " + h.name, Message: why})
		}
		add(id, h, true)
	}
	for i := range objs.members {
		m := &objs.members[i]
		add(m.cluster, objs.homeOf(m.cluster, m, objs.locations[m.cluster]), false)
	}
	return list
}

// absent lists the identities that objects refer to and the backup lacks, each once for
// clusters and once for machines that name another one than their cluster.
func (objs *objects) absent() []backup.Absence {
	var byClusters, byMachines capi.Missing
	note := func(to *capi.Missing, id backup.ClusterID, h home, by string, of *backup.Meta) {
		if !objs.lacks(h) {
			return
		}
		at := capi.Object{Backup: id.Backup, Name: h.name}
		to.Refer(identityKind, at, fmt.Sprintf("%s %s/%s", by, of.Namespace, of.Name))
		to.Concern(identityKind, at, id)
	}
	for _, id := range objs.order() {
		if l := objs.locations[id]; l.record != nil {
			note(&byClusters, id, objs.homeOf(id, nil, l), clusterKind, &l.record.Meta)
		}
	}
	for i := range objs.members {
		m := &objs.members[i]
		l := objs.locations[m.cluster]
		if h, theirs := objs.homeOf(m.cluster, m, l), objs.homeOf(m.cluster, nil, l); m.meta() != nil && (h.name != theirs.name || !objs.lacks(theirs)) {
			note(&byMachines, m.cluster, h, machineKind, m.meta())
		}
	}
	list, machines := byClusters.List(), byMachines.List()
	for i := range list {
		list[i].Why, list[i].Halts = capi.WhyHalted, list[i].Clusters
	}
	for i := range machines {
		machines[i].Why, machines[i].HaltsMachines = whyMachinesHalted, true
	}
	return append(list, machines...)
}

const whyMachinesHalted = capi.WhyClusterScoped + "after a restore CAPO does nothing for the machines that name it until it is created again"

// lacks reports whether the backup lacks the identity that a reference names.
func (objs *objects) lacks(h home) bool {
	return h.kind == identityKind && objs.identities[capi.Object{Backup: h.backup, Name: h.name}] == nil
}
