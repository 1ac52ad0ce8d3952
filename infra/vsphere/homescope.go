package vsphere

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
)

// identity is how a cluster says which credential CAPV is to use. It is the
// reference, never the credential, so that ids made of it need no Secrets. A
// VSphereClusterIdentity has a Namespace when that may not use it.
type identity struct {
	Kind, Namespace, Name string
}

const (
	managerIdentity = "manager" // CAPV's own credential, when the cluster names none
	unknownIdentity = "unknown" // the VSphereCluster is not in the backup
)

func (objs *objects) identityOf(id backup.ClusterID) identity {
	c := objs.vsphereCluster(id)
	switch {
	case c == nil:
		return identity{unknownIdentity, id.Namespace, id.Name}
	case c.Data.IdentityKind == "" && c.Data.IdentityName == "":
		return identity{Kind: managerIdentity}
	case c.Data.IdentityKind == identityKind && objs.forbidden(id, c) != "":
		// A place of its own: what this cluster names must not get the
		// credential by way of clusters that may use it.
		return identity{identityKind, c.Namespace, c.Data.IdentityName}
	case c.Data.IdentityKind == identityKind:
		return identity{Kind: identityKind, Name: c.Data.IdentityName}
	default:
		return identity{c.Data.IdentityKind, c.Namespace, c.Data.IdentityName}
	}
}

func (i identity) String() string {
	parts := []string{i.Kind, i.Namespace, i.Name}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}

// targetID returns an id that is made of the backup without its Secrets:
// "vsphere/vc1.example:443/Secret/prod/prod-1".
func (objs *objects) targetID(cluster backup.ClusterID, server string) string {
	k := clusterServer{cluster, server}
	if id, ok := objs.targets[k]; ok {
		return id
	}
	id := capi.Numbered(fmt.Sprintf("%s/%s/%s", Name, server, objs.identityOf(cluster)), cluster.Backup)
	objs.targets[k] = id
	return id
}

// homeScope is one vCenter under one identity: what a target id stands for.
type homeScope struct {
	id          string
	server      string // normalised, see serverOf
	raw         string // as the backup writes it
	backup      int
	identity    identity
	clusters    []backup.ClusterID // sorted
	thumbprints []string           // the VSphereClusters' own first
	folders     []string           // folders, sorted
	needed      []infra.Key        // what machines need in addition
	ignored     []string           // settings that are not followed, for the operator
	unplaced    bool               // machines whose place is not known are looked for here
}

// addFolder adds one, which is mostly the one before.
func (h *homeScope) addFolder(folder string) {
	if n := len(h.folders); n == 0 || h.folders[n-1] != folder {
		h.folders = append(h.folders, folder)
	}
}

// ids returns those of the target for a home.
func (h *homeScope) ids() []string {
	if h.unplaced {
		return []string{h.id, h.id + unplacedSuffix}
	}
	return []string{h.id}
}

// homeScopes returns all places where the VMs of the backup's clusters are or may come
// to be: where its machines are, and where templates and clusters point.
func (objs *objects) homeScopes() []*homeScope {
	l := homeScopeList{objects: objs, byID: map[string]*homeScope{}}
	l.addClusters()
	for _, p := range objs.places {
		h := l.at(p.cluster, p.spec)
		h.addFolder(p.at.Folder)
		h.unplaced = h.unplaced || p.unplaced != ""
	}
	for _, o := range objs.owners() {
		for _, t := range o.templates {
			spec := objs.merge(o.infra, o.id.Cluster.Backup, "", t.Data.Spec)
			l.at(o.id.Cluster, spec).addFolder(objs.locationOf(spec).Folder)
		}
	}
	return l.sorted()
}

// addNeeded adds to places what the clusters need there beside VMs.
func (objs *objects) addNeeded(homes []*homeScope) {
	byID := make(map[string]*homeScope, len(homes))
	for _, h := range homes {
		byID[h.id] = h
	}
	needed, _ := objs.needed()
	for _, r := range needed {
		if h := byID[r.Target]; h != nil {
			h.needed = append(h.needed, r.Keys...)
		}
	}
}

// homeScopeList gathers homes by their ids.
type homeScopeList struct {
	objects *objects
	byID    map[string]*homeScope
}

// at returns the home of what a cluster wants to be at a server, with the cluster and
// the thumbprint noted.
func (l *homeScopeList) at(cluster backup.ClusterID, spec cloneSpec) *homeScope {
	server := l.objects.server(spec.Server)
	id := l.objects.targetID(cluster, server)
	h := l.byID[id]
	if h == nil {
		h = &homeScope{id: id, server: server, raw: spec.Server, backup: cluster.Backup, identity: l.objects.identityOf(cluster)}
		l.byID[id] = h
		if strings.Contains(spec.Server, "@") {
			h.ignored = append(h.ignored, "the user info in the server "+server+" of "+l.objects.snapshot.Subject().The()+" is ignored")
		}
	}
	if n := len(h.clusters); n == 0 || h.clusters[n-1] != cluster {
		h.clusters = append(h.clusters, cluster)
	}
	if spec.Thumbprint != "" && !slices.Contains(h.thumbprints, spec.Thumbprint) {
		h.thumbprints = append(h.thumbprints, spec.Thumbprint)
	}
	return h
}

// addClusters comes first, so that the VSphereClusters' own thumbprints do.
func (l *homeScopeList) addClusters() {
	objs := l.objects
	for _, id := range objs.clusterIDs() {
		c := objs.vsphereCluster(id)
		if c == nil {
			continue
		}
		h := l.at(id, cloneSpec{Server: c.Data.Server, Thumbprint: c.Data.Thumbprint})
		if c.Data.Insecure {
			h.ignored = append(h.ignored, fmt.Sprintf("VSphereCluster %s/%s says insecure: that is ignored, the certificate is verified", c.Namespace, c.Name))
		}
	}
}

func (l *homeScopeList) sorted() []*homeScope {
	all := slices.SortedFunc(maps.Values(l.byID), func(a, b *homeScope) int { return cmp.Compare(a.id, b.id) })
	for _, h := range all {
		sorting.By(h.clusters, capi.CompareClusters)
		h.clusters = slices.Compact(h.clusters)
		slices.Sort(h.folders)
		h.folders = slices.Compact(h.folders)
	}
	return all
}
