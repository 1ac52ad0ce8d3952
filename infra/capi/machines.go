package capi

import (
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Labels are the labels by which an infrastructure machine names its owners. Cluster
// API copies them from the Machine (core/reconcilers/machineset v1.14.0).
type Labels struct {
	ControlPlane                            bool
	ControlPlaneName, Set, Deployment, Pool string
}

// LabelFields returns the fields of a Kind that read the labels into what of points to.
func LabelFields[T any](of func(*T) *Labels) []backup.Field[T] {
	return []backup.Field[T]{
		backup.Present(func(t *T) *bool { return &of(t).ControlPlane }, "label:"+clusterv1.MachineControlPlaneLabel),
		backup.Text(func(t *T) *string { return &of(t).ControlPlaneName }, "label:"+clusterv1.MachineControlPlaneNameLabel),
		backup.Text(func(t *T) *string { return &of(t).Set }, "label:"+clusterv1.MachineSetNameLabel),
		backup.Text(func(t *T) *string { return &of(t).Deployment }, "label:"+clusterv1.MachineDeploymentNameLabel),
		backup.Text(func(t *T) *string { return &of(t).Pool }, "label:"+clusterv1.MachinePoolNameLabel),
	}
}

// EachMachine visits every Machine whose infrastructure is of a kind, with its index
// into Snapshot.Machines, the name of its infrastructure machine and that itself. at is
// zero where the reference leads away, and r is nil where the backup lacks the object.
// Then it visits the infrastructure machines that are left over, with index -1, unless
// they name no cluster.
func EachMachine[T any](s *backup.Snapshot, of infra.GroupKind, table *backup.Table[T], visit func(index int, cluster backup.ClusterID, at Object, r *backup.Record[T])) {
	records := slices.AppendSeq(make([]*backup.Record[T], 0, table.Len()), table.All())
	used := make([]bool, len(records))
	// Machines and records are in one order and mostly have one name: a record is looked
	// for where the last one was found, and then everywhere.
	next := 0
	find := func(at Object) (int, bool) {
		if next < len(records) && ObjectOf(&records[next].Meta) == at {
			return next, true
		}
		return slices.BinarySearchFunc(records, at, func(r *backup.Record[T], at Object) int { return CompareObjects(ObjectOf(&r.Meta), at) })
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		if ref := &m.Infrastructure; ref.Kind != of.Kind || ref.Group != of.Group {
			continue
		}
		at := Referred(m.Backup, m.Namespace, m.Infrastructure)
		var r *backup.Record[T]
		if n, found := find(at); found {
			r, used[n], next = records[n], true, n+1
		}
		visit(i, m.Cluster, at, r)
	}
	for n, r := range records {
		if !used[n] && r.ClusterName != "" {
			visit(-1, ClusterOf(&r.Meta), ObjectOf(&r.Meta), r)
		}
	}
}

// Orphan describes an infrastructure machine without a Machine by its labels.
func Orphan(kind string, m *backup.Meta, l *Labels, planes backup.ControlPlanes) *infra.Orphan {
	id := ClusterOf(m)
	o := &infra.Orphan{
		Kind: kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID, Cluster: id,
		ControlPlane: l.ControlPlane, Owner: infra.OwnerID{Cluster: id},
	}
	switch {
	case l.ControlPlane || l.ControlPlaneName != "":
		o.Owner = ControlPlane(planes, id, l.ControlPlaneName)
	case l.Set != "":
		o.Owner.Kind, o.Owner.Name = "MachineSet", l.Set
	case l.Deployment != "":
		o.Owner.Kind, o.Owner.Name = "MachineDeployment", l.Deployment
	case l.Pool != "":
		o.Owner.Kind, o.Owner.Name = "MachinePool", l.Pool
	}
	return o
}

// Orphans returns the expected machines that have no Machine, with what of returns for each
// member of a provider; it is nil for a member that has one.
func Orphans[T any](members []T, of func(*T) *infra.Orphan) (all []infra.ExpectedMachine) {
	for i := range members {
		if o := of(&members[i]); o != nil {
			all = append(all, infra.ExpectedMachine{Machine: -1, Orphan: o})
		}
	}
	return all
}

// OwnersOf returns what creates machines one by one, by cluster, for clusters of places alone.
func OwnersOf[T any](s *backup.Snapshot, places map[backup.ClusterID]T) map[backup.ClusterID][]*infra.OwnerID {
	all := make(map[backup.ClusterID][]*infra.OwnerID, len(places))
	add := func(id backup.ClusterID, kind, name string) {
		if _, is := places[id]; is {
			all[id] = append(all[id], &infra.OwnerID{Cluster: id, Kind: kind, Name: name})
		}
	}
	if len(places) == 0 {
		return all
	}
	for i := range s.ControlPlanes {
		add(s.ControlPlanes[i].Cluster, s.ControlPlanes[i].Kind, s.ControlPlanes[i].Name)
	}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Kind != "MachinePool" {
			add(g.Cluster, g.Kind, g.Name)
		}
	}
	return all
}

// ControlPlane returns the control plane of a cluster that a label means, see
// [backup.ControlPlanes.Named], or only the cluster where none is meant.
func ControlPlane(planes backup.ControlPlanes, id backup.ClusterID, label string) infra.OwnerID {
	if c := planes.Named(id, "", label); c != nil {
		return infra.OwnerID{Cluster: id, Kind: c.Kind, Name: c.Name}
	}
	return infra.OwnerID{Cluster: id}
}
