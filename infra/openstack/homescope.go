package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// home is where CAPO looks for servers: the cloud that an identityRef leads to. It is
// the reference and never what it leads to, so that ids made of it need no Secrets.
type home struct {
	backup    int
	kind      string // secretKind, identityKind, or why there is no reference
	namespace string // of the Secret, or of who may not use the identity
	name      string
	cloud     string // entry of clouds.yaml
	region    string // empty: clouds.yaml says it
	forbidden bool   // the namespace may not use the identity
}

// Kinds of homes without a reference that can be followed.
const (
	unknownIdentity = "unknown"     // the object that would say is not in the backup
	noIdentity      = "no identity" // CAPO's own clouds.yaml, up to release 0.9
)

// id returns that of the target: "openstack/Secret/team-a/cloud-config/openstack/RegionOne".
func (h home) id() string {
	parts := []string{Name, h.kind, h.namespace, h.name, h.cloud, cmp.Or(h.region, "-")}
	if h.forbidden {
		parts = append(parts, "forbidden")
	}
	return capi.Numbered(infra.Join(parts...), h.backup)
}

// homeOf returns where CAPO looks for a machine, or with a nil machine for what is the
// cluster's own. The OpenStackServer decides, and where it is missing the machine and
// then the cluster, from which CAPO makes it (controllers/openstackmachine_controller.go
// v0.14.7).
func (objs *objects) homeOf(id backup.ClusterID, m *member, l *location) home {
	switch {
	case m != nil && m.server != nil && m.server.Data.Identity.Name != "":
		return objs.homeBy(id, &m.server.Data.Identity)
	case m != nil && m.machine != nil && m.machine.Data.Identity.Name != "":
		return objs.homeBy(id, &m.machine.Data.Identity)
	case l.record != nil:
		return objs.homeBy(id, &l.record.Data.Identity)
	}
	return home{backup: id.Backup, kind: unknownIdentity, namespace: id.Namespace, name: id.Name}
}

// homeBy returns where a reference in the namespace of a cluster leads.
func (objs *objects) homeBy(id backup.ClusterID, ref *identityRef) home {
	h := home{backup: id.Backup, namespace: id.Namespace, name: ref.Name, cloud: ref.Cloud, region: ref.Region}
	switch {
	case ref.Name == "":
		h.kind, h.name = noIdentity, id.Name
	case ref.Type == "ClusterIdentity":
		h.kind, h.namespace = identityKind, ""
		if why, undecided := objs.forbidden(id.Backup, ref.Name, id.Namespace); why != "" && !undecided {
			h.forbidden, h.namespace = true, id.Namespace
		}
	case ref.Type == "" || ref.Type == secretKind:
		h.kind = secretKind
	default:
		h.kind = "identityRef of type " + ref.Type
	}
	return h
}

// homeScope is one home and what is looked for there.
type homeScope struct {
	home
	clusters []backup.ClusterID // sorted, each once
	probes   map[infra.Key]bool
	servers  map[string]bool // ids of servers that the backup records
}

// homeScopes returns all homes of the backup's clusters and machines, in the order of their ids.
func (objs *objects) homeScopes() []*homeScope {
	byID := map[string]*homeScope{}
	visit := func(id backup.ClusterID, h home) *homeScope {
		s := byID[h.id()]
		if s == nil {
			s = &homeScope{home: h, probes: map[infra.Key]bool{}, servers: map[string]bool{}}
			byID[h.id()] = s
		}
		s.clusters = append(s.clusters, id)
		return s
	}
	for _, id := range objs.order() {
		s := visit(id, objs.homeOf(id, nil, objs.locations[id]))
		for _, k := range objs.locations[id].probes(id) {
			s.probes[k] = true
		}
		for _, k := range append(append(objs.locations[id].landmarks(), objs.locations[id].behind(id)...), objs.locations[id].bastionHad()) {
			s.probes[k] = true
		}
	}
	for i := range objs.members {
		m := &objs.members[i]
		for _, u := range objs.logins(m) {
			visit(m.cluster, u.home) // whether it is accepted
		}
		if h, k, _ := objs.poolNetwork(m); !k.IsZero() && h.kind != unknownIdentity {
			at := visit(m.cluster, h)
			at.probes[k] = true
			at.probes[infra.Key{Kind: KeyExternal, Value: SeveralExternal}] = k.Kind == KeyExternal
		}
		if a := objs.orcImage(m); a.row != nil {
			visit(m.cluster, a.home).probes[a.key] = true
		}
		s := visit(m.cluster, objs.homeOf(m.cluster, m, objs.locations[m.cluster]))
		if key, _, _, _ := objs.strong(m); !key.IsZero() {
			s.servers[key.Value] = true
		}
		for _, k := range append(m.ports(), m.ownGroup()) {
			s.probes[k] = true
		}
		s.probes[m.twinImages()] = true
		for _, k := range objs.trunks(m) {
			s.probes[k], s.probes[trunkExtension] = true, true
		}
		for _, k := range objs.twinPorts(m) {
			s.probes[infra.Key{Kind: KeyHeld, Value: k.Value}] = true
		}
		for _, t := range objs.tagged(m) {
			s.probes[t.probe] = true
		}
		for _, b := range append(objs.portBlockers(m), objs.floatingLost(m)...) {
			s.probes[b.Key] = true
		}
	}
	for _, d := range objs.dependencies() {
		for _, k := range d.keys {
			byID[d.target].probes[k] = true
		}
	}
	list := slices.SortedFunc(maps.Values(byID), func(a, b *homeScope) int { return cmp.Compare(a.id(), b.id()) })
	for _, s := range list {
		delete(s.probes, infra.Key{})
		sorting.By(s.clusters, capi.CompareClusters)
		s.clusters = slices.Compact(s.clusters)
	}
	return list
}

// what names the reference for people.
func (h home) what() string {
	switch h.kind {
	case secretKind:
		return fmt.Sprintf("Secret %s/%s", h.namespace, h.name)
	case identityKind:
		return identityKind + " " + h.name
	default:
		return h.kind
	}
}

// referenceFields are where mistakes of references are.
const referenceFields = "type and cloudName in identityRef of the objects that name it"

// mistake returns why CAPO has no credential by way of the reference, whatever Secrets there
// are: "" where it may have one (pkg/scope/provider.go v0.14.7).
func (h home) mistake() string {
	switch h.kind {
	case unknownIdentity, noIdentity:
		return ""
	case secretKind, identityKind:
		if h.cloud == "" {
			return "identityRef to " + h.what() + " names no cloud of its " + cloudsKey
		}
		return ""
	}
	return h.kind + " is unknown"
}

// LackingOwn returns the Facts of a place that nobody lists, because the backup lacks its credential.
// CAPO's own clouds.yaml, which clusters without an identity go by, is in no backup.
func LackingOwn(t *infra.Target) infra.Facts {
	kind, known := homeKind(t)
	switch {
	case t.Refused == nil || t.Refused.Reason != code.NoCredential || !known || kind == unknownIdentity:
		return nil
	case kind == noIdentity:
		return infra.Facts{{Name: infra.FactOwn, Value: infra.OwnUntried}}
	}
	return infra.Facts{{Name: infra.FactOwn, Value: infra.OwnAbsent}}
}

// NamesNoIdentity reports whether a target is of clusters that name no identity.
func NamesNoIdentity(t *infra.Target) bool {
	kind, _ := homeKind(t)
	return kind == noIdentity
}

// homeKind returns the kind of the home that a target is of.
func homeKind(t *infra.Target) (kind string, known bool) {
	if len(t.IDs) == 0 {
		return "", false
	}
	parts := strings.Split(t.IDs[0], "/")
	if len(parts) < 2 {
		return "", false
	}
	return parts[1], true
}
