package backup

import (
	"cmp"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/internal/sorting"
)

// infraCluster is the infrastructure cluster of some provider.
type infraCluster struct {
	Meta
	ref       Ref
	endpoint  string
	leftAlone string
}

func (a *assembly) readInfraClusters() {
	for _, k := range a.load.infraClusters {
		group, t := groupOfResource(k.resource), k.In(a.snapshot)
		a.infra = slices.Grow(a.infra, t.Len())
		for r := range t.All() {
			a.infra = append(a.infra, infraCluster{
				Meta:     r.Meta,
				ref:      Ref{Group: group, Kind: r.Data.Kind, Namespace: r.Namespace, Name: r.Name},
				endpoint: r.Data.Endpoint.hostPort(), leftAlone: leftAlone(&r.Meta, r.Data.Managed),
			})
		}
		delete(a.snapshot.tables, k)
	}
	sorting.By(a.infra, func(x, y infraCluster) int {
		return cmp.Or(compareNames(&x.Meta, &y.Meta), strings.Compare(x.ref.Kind, y.ref.Kind))
	})
}

// derive makes a cluster of every cluster name that objects carry and that has
// no Cluster object: k0rdent leaves Clusters out of its backups
// (k0rdent/kcm internal/controller/backup/collect.go v1.11.4).
func (a *assembly) derive() {
	s := a.snapshot
	for i := range a.infra {
		a.deriveFrom(namesakeOf(&a.infra[i].Meta))
	}
	for i := range s.ControlPlanes {
		a.deriveFrom(s.ControlPlanes[i].Cluster)
	}
	for i := range s.Groups {
		a.deriveFrom(s.Groups[i].Cluster)
	}
	for i := range s.Machines {
		a.deriveFrom(s.Machines[i].Cluster)
	}
	a.fillFromInfra()
	a.fillControlPlanes()
	sorting.By(s.Clusters, func(x, y Cluster) int { return compareNames(&x.Meta, &y.Meta) })
	for i := range s.Clusters {
		a.clusters[s.Clusters[i].ID()] = i
	}
}

func (a *assembly) deriveFrom(id ClusterID) {
	if _, ok := a.clusters[id]; ok {
		return
	}
	a.clusters[id] = len(a.snapshot.Clusters)
	a.snapshot.Clusters = append(a.snapshot.Clusters, Cluster{
		Meta:    Meta{Backup: id.Backup, Namespace: id.Namespace, Name: id.Name, ClusterName: id.Name},
		Derived: true,
	})
}

// fillFromInfra takes from infrastructure clusters what derived clusters lack,
// and an endpoint that a Cluster has not got yet.
func (a *assembly) fillFromInfra() {
	for i := range a.infra {
		in := &a.infra[i]
		c := &a.snapshot.Clusters[a.clusters[namesakeOf(&in.Meta)]]
		if c.Derived && c.Infrastructure.IsZero() {
			c.Infrastructure = in.ref
		}
		if c.Infrastructure == in.ref {
			c.Endpoint, c.LeftAlone = cmp.Or(c.Endpoint, in.endpoint), in.leftAlone
		}
	}
}

// leftAlone returns the annotation for which no controller touches an object.
func leftAlone(m *Meta, managed bool) string {
	switch {
	case managed:
		return clusterv1.ManagedByAnnotation
	case m.Paused:
		return clusterv1.PausedAnnotation
	}
	return ""
}

// fillControlPlanes refers derived clusters to their control planes: the object
// when the backup has it, else the owner that control plane machines name.
func (a *assembly) fillControlPlanes() {
	s := a.snapshot
	refer := func(id ClusterID, kind, name string) {
		c := &s.Clusters[a.clusters[id]]
		if c.Derived && c.ControlPlane.IsZero() && name != "" {
			c.ControlPlane = Ref{Group: controlPlaneGroup, Kind: kind, Namespace: id.Namespace, Name: name}
		}
	}
	for i := range s.ControlPlanes {
		c := &s.ControlPlanes[i]
		refer(c.Cluster, c.Kind, c.Name)
	}
	for i := range s.Machines {
		if m := &s.Machines[i]; m.ControlPlane {
			refer(m.Cluster, m.Owner.Kind, m.Owner.Name)
		}
	}
}
