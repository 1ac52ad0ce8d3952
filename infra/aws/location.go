package aws

import (
	"cmp"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/capi"
	"drift-detector/internal/lazyregexp"
)

// clusterLocation is where a cluster is, as far as the backup says it.
type clusterLocation struct {
	record *backup.Record[awsCluster] // AWSCluster or AWSManagedControlPlane, or nil
	kind   string                     // of record
	region string                     // as the backup writes it; not checked
	vpc    string
	tag    string // the name in CAPA's ownership tag
	eks    bool   // its control plane is one of EKS, whether or not the backup holds it
	built  bool   // CAPA has made its network or was given one: it has machines or an endpoint, and is not managed externally
	target string // id of the home target
	// forbidden is why CAPA does not let the cluster use forbidder, an identity in the
	// chain of its own; empty if nothing forbids it.
	forbidden string
	forbidder identity
}

// findClusters visits the clusters that are CAPA's: by their references, or because
// machines or pools of them are.
func (objs *objects) findClusters() {
	for id, c := range objs.known {
		ref, plane := c.Infrastructure, c.ControlPlane
		switch {
		case ref.Group == group && (ref.Kind == clusterKind || ref.Kind == managedClusterKind),
			ref.Group == planeGroup && ref.Kind == planeKind,
			plane.Group == planeGroup && plane.Kind == planeKind:
			objs.locations[id] = nil
		}
	}
	zones := map[backup.ClusterID][]string{}
	for i := range objs.members {
		m := &objs.members[i]
		objs.locations[m.cluster] = nil
		for _, p := range objs.providerIDs(m) {
			zones[m.cluster] = append(zones[m.cluster], zoneOf(p))
		}
	}
	for i := range objs.pools {
		p := &objs.pools[i]
		objs.locations[p.cluster] = nil
		for _, id := range p.providerIDs {
			zones[p.cluster] = append(zones[p.cluster], zoneOf(id))
		}
	}
	for id := range objs.locations {
		objs.locations[id] = objs.locate(id, zones[id])
	}
}

func (objs *objects) locate(id backup.ClusterID, zones []string) *clusterLocation {
	s := &clusterLocation{tag: id.Name}
	if c := objs.known[id]; c != nil {
		s.eks = c.ControlPlane.Kind == planeKind || c.Infrastructure.Kind == planeKind || c.Infrastructure.Kind == managedClusterKind
	}
	s.record, s.kind = objs.recordOf(id)
	if s.record != nil {
		d := &s.record.Data
		s.region, s.vpc = strings.TrimSpace(d.Region), d.VPC
		c := objs.known[id]
		s.built = (d.Endpoint != "" || len(zones) > 0) && (c == nil || c.LeftAlone != clusterv1.ManagedByAnnotation)
		if s.kind == planeKind {
			s.tag = cmp.Or(d.EKSName, eksName(s.record.Namespace, s.record.Name))
		}
	}
	if s.region == "" {
		s.region = regionOfZones(zones)
	}
	s.forbidder, s.forbidden = objs.forbidden(id, s)
	s.target = objs.targetID(id, s)
	return s
}

// recordOf finds the object that says where a cluster is.
func (objs *objects) recordOf(id backup.ClusterID) (*backup.Record[awsCluster], string) {
	at := func(ref backup.Ref) capi.Object {
		return capi.Referred(id.Backup, id.Namespace, ref)
	}
	if c := objs.known[id]; c != nil {
		for _, ref := range []backup.Ref{c.ControlPlane, c.Infrastructure} {
			if ref.Kind == planeKind && objs.planes[at(ref)] != nil {
				return objs.planes[at(ref)], planeKind
			}
		}
		if c.Infrastructure.Kind == clusterKind && objs.clusters[at(c.Infrastructure)] != nil {
			return objs.clusters[at(c.Infrastructure)], clusterKind
		}
	}
	if r := objs.planeOf[id]; r != nil {
		return r, planeKind
	}
	if r := objs.clusters[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: id.Name}]; r != nil {
		return r, clusterKind
	}
	return nil, clusterKind
}

// eksName returns the name that CAPA gives EKS resources when none is asked for. Names
// of a hundred characters and more are hashed, which is not followed here: they
// only make hints, and a hint that matches nothing changes nothing (pkg/eks/eks.go v2.11.1).
func eksName(namespace, name string) string {
	return namespace + "_" + strings.ReplaceAll(name, ".", "_")
}

// regionForm is what may become part of a host name. Regions of the partitions
// are us-east-1, us-gov-west-1, cn-north-1, us-isob-east-1, eusc-de-east-1.
var regionForm = lazyregexp.New(`^[a-z]{2,4}(-[a-z]+)+-\d$`)

// zoneForm parts a zone into its region and the rest: us-west-2a is a zone of the
// region itself, us-west-2-lax-1a a local zone, us-east-1-wl1-bos-wlz-1 one of
// Wavelength (EC2 user guide, "Regions and Zones").
var zoneForm = lazyregexp.New(`^([a-z]{2,4}(?:-[a-z]+)+-\d)(?:[a-z]|-[a-z][a-z0-9-]*)$`)

// regionOfZones returns the region that all zones lie in, for clusters whose own
// object does not name one; empty when they do not agree.
func regionOfZones(zones []string) string {
	region := ""
	for _, z := range zones {
		if z == "" {
			continue
		}
		m := zoneForm.FindStringSubmatch(z)
		if m == nil || region != "" && m[1] != region {
			return ""
		}
		region = m[1]
	}
	return region
}
