package azure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/internal/sorting"
)

// home is where CAPZ looks for VMs: a subscription of a cloud, under an identity. It is the
// reference to the identity and never what that leads to, so that ids made of it need no
// Secrets.
type home struct {
	backup       int
	cloud        string // as azureEnvironment names it
	namespace    string // of the AzureClusterIdentity
	name         string
	subscription string // empty: no object says it
	reason       string // why there is no reference that can be followed; empty: there is one
	forbidden    string // namespace of clusters that may not use it; empty: they may
}

// Reasons of homes without an identity.
const (
	unknownIdentity = "unknown"     // the object that would say is not in the backup
	noIdentity      = "no identity" // none is named
	asoIdentity     = "ASO"         // a pool of Azure Service Operator's own, with a credential of its own
)

// id returns that of the target: "azure/AzurePublicCloud/team-a/sp/8a1f3c52-…".
func (h home) id() string {
	parts := []string{Name, h.cloud, h.namespace, h.name, cmp.Or(h.subscription, "-")}
	if h.reason != "" {
		parts = append(parts, h.reason)
	}
	if h.forbidden != "" {
		parts = append(parts, "forbidden", h.forbidden)
	}
	return capi.Numbered(infra.Join(parts...), h.backup)
}

// within returns a value of something in a resource group, whose id is of a fixed form.
func within(group string, parts ...string) string { return group + "/" + infra.Join(parts...) }

// homeOf returns where CAPZ looks for the machines of a cluster. An identity without a namespace
// is in the cluster's (NewAzureCredentialsProvider in azure/scope/identity.go v1.26.0).
func (objs *objects) homeOf(id backup.ClusterID, l *location) home {
	h := home{backup: id.Backup, cloud: publicCloud, namespace: id.Namespace, name: id.Name, subscription: l.subscription}
	switch {
	case l.record == nil && (l.kind == asoPlaneKind || l.kind == asoClusterKind):
		h.reason = asoIdentity
		return h
	case l.record == nil:
		h.reason = unknownIdentity
		return h
	}
	d := &l.record.Data
	h.cloud = cmp.Or(strings.TrimSpace(d.Cloud), publicCloud)
	if d.IdentityName == "" {
		h.reason = noIdentity
		return h
	}
	h.namespace, h.name = cmp.Or(d.IdentityNamespace, id.Namespace), d.IdentityName
	if why, undecided := objs.forbidden(h, id.Namespace); why != "" && !undecided {
		h.forbidden = id.Namespace
	}
	return h
}

// what names the identity for people.
func (h home) what() string {
	switch h.reason {
	case "":
		return fmt.Sprintf("%s %s/%s", identityKind, h.namespace, h.name)
	case asoIdentity:
		return "Azure Service Operator"
	}
	return fmt.Sprintf("the identity of cluster %s/%s", h.namespace, h.name)
}

// homeScope is one home and what is looked for there.
type homeScope struct {
	home
	clusters []backup.ClusterID // sorted, each once
	probes   map[infra.Key]bool
	seek     Seek
}

// Seek is what the backup records of one subscription. It holds no secret.
type Seek struct {
	Groups map[string]bool      // ids of the clusters' resource groups
	VMs    map[string]time.Time // ids of VMs that are recorded or whose names CAPZ would take, with when the backup that says so was written
	Sets   map[string]bool      // ids of scale sets
	Marks  map[string]bool      // names of clusters, as tags have them
}

func newSeek() Seek {
	return Seek{map[string]bool{}, map[string]time.Time{}, map[string]bool{}, map[string]bool{}}
}

// add joins what another target of the subscription seeks.
func (s *Seek) add(o *Seek) {
	maps.Copy(s.Groups, o.Groups)
	maps.Copy(s.Sets, o.Sets)
	maps.Copy(s.Marks, o.Marks)
	for vm, at := range o.VMs {
		s.note(vm, at)
	}
}

// note keeps the latest time that a VM was recorded at: it was there then.
func (s *Seek) note(vm string, at time.Time) {
	if old, known := s.VMs[vm]; !known || old.Before(at) {
		s.VMs[vm] = at
	}
}

// homeScopes returns all homes of the backup's clusters, in the order of their ids.
func (objs *objects) homeScopes() []*homeScope {
	byID := map[string]*homeScope{}
	groups := objs.groupsOf()
	for _, id := range objs.order() {
		l := objs.locations[id]
		s := byID[l.target]
		if s == nil {
			s = &homeScope{home: l.home, probes: map[infra.Key]bool{}, seek: newSeek()}
			byID[l.target] = s
		}
		s.clusters = append(s.clusters, id)
		s.seek.Marks[strings.ToLower(id.Name)] = true
		for _, g := range groups[id] {
			s.seek.Groups[g] = true
			s.probes[Answered(g)] = true
		}
	}
	for i := range objs.members {
		m := &objs.members[i]
		l := objs.locations[m.cluster]
		s := byID[l.target]
		written := objs.written(m.cluster.Backup)
		if key, _, _, _ := objs.arm(m); key != "" {
			if id, _ := ParseID(key); id.Subscription == l.subscription {
				s.seek.note(key, written)
			}
		} else if name := m.vmName(); name != "" && l.groupID() != "" {
			s.seek.note(l.groupID()+"/providers/"+KindVM+"/"+name, time.Time{})
		}
	}
	for i := range objs.pools {
		p := &objs.pools[i]
		l := objs.locations[p.cluster]
		if key := objs.poolKey(p); key.Kind == KeyPool && key.Value != "" {
			byID[l.target].probes[key] = true
			byID[l.target].seek.Sets[key.Value] = true
		}
	}
	for _, r := range objs.resources() {
		for _, k := range r.Keys {
			byID[r.Target].probes[k] = true
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

// written returns when a backup was written to its end; zero where nobody knows.
func (objs *objects) written(n int) time.Time {
	if n < len(objs.snapshot.Backups) && !objs.snapshot.Backups[n].Undated {
		return objs.snapshot.Backups[n].WrittenTo
	}
	return time.Time{}
}

// groupID returns the id of the resource group that a cluster's machines are in, or "".
func (l *location) groupID() string {
	if l.group == "" || !uuidForm.MatchString(l.subscription) || !isGroup(l.group) {
		return ""
	}
	return groupID(l.subscription, l.group)
}

// made reports whether CAPZ made the virtual network of a cluster: by the tags that it recorded of
// it, and where it recorded none, by the resource group (IsVnetManaged in azure/scope/cluster.go).
func (l *location) made(n *network, cluster string) bool {
	if len(n.VNet.Tags) > 0 {
		return n.VNet.Tags[tagCluster+cluster] == owned
	}
	return l.networkGroup(n) == l.groupID()
}

// networkGroup returns the id of the resource group of a cluster's virtual network.
func (l *location) networkGroup(n *network) string {
	return groupID(l.subscription, cmp.Or(trimmed(n.VNet.ResourceGroup), l.group))
}
