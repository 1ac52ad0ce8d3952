package aws

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

// identity is how a cluster says which credential CAPA is to use. It is the
// reference, never the credential, so that ids made of it need no Secrets.
type identity struct {
	Kind, Name string
}

// unknownIdentity stands for a cluster whose object is not in the backup.
const unknownIdentity = "unknown"

// identityOf returns the identity that a cluster names, else the controller's own
// (CAPA api/v1beta2/defaults.go v2.11.1).
func identityOf(id backup.ClusterID, s *clusterLocation) identity {
	switch {
	case s.record == nil:
		return identity{unknownIdentity, id.Namespace + "/" + id.Name}
	case s.record.Data.IdentityKind == "" && s.record.Data.IdentityName == "":
		return identity{controllerIdentity, defaultIdentity}
	default:
		return identity{s.record.Data.IdentityKind, s.record.Data.IdentityName}
	}
}

func (i identity) String() string { return i.Kind + "/" + i.Name }

// targetID returns an id that is made of the backup without its Secrets:
// "aws/us-east-1/AWSClusterControllerIdentity/default".
func (objs *objects) targetID(id backup.ClusterID, s *clusterLocation) string {
	t := fmt.Sprintf("%s/%s/%s", Name, regionName(s.region), identityOf(id, s))
	if s.forbidden != "" {
		t += "/not for " + id.Namespace
	}
	return capi.Numbered(t, id.Backup)
}

// regionName returns the region as ids and messages show it.
func regionName(raw string) string {
	const longest = 64
	switch {
	case raw == "":
		return "no region"
	case regionForm.MatchString(raw):
		return raw
	default:
		return "invalid:" + strings.ToValidUTF8(raw[:min(len(raw), longest)], "")
	}
}

// homeScope is one region under one identity: what a target id stands for.
type homeScope struct {
	id        string
	region    string
	backup    int
	identity  identity
	forbidden string             // why its clusters may not use it
	clusters  []backup.ClusterID // sorted
	probes    map[infra.Key]bool
	ids       map[string]bool     // instance ids that the backup records
	groups    map[string][]string // names of security groups, by VPC
	// templates and nodegroups are those of pools, as AWS calls them.
	templates  []string
	nodegroups []NodegroupName
	// access are the control planes of which the backup has access entries, oidc those of
	// which it has an identity provider; profiles are its Fargate profiles, roles its IAM roles.
	access, oidc, roles []string
	profiles            []NodegroupName
}

// homeScopes returns all places where the instances of the backup's clusters are, in the
// order of their ids.
func (objs *objects) homeScopes() []*homeScope {
	byID := map[string]*homeScope{}
	for id, s := range objs.locations {
		h := byID[s.target]
		if h == nil {
			h = &homeScope{
				id: s.target, region: s.region, backup: id.Backup, identity: identityOf(id, s),
				probes: map[infra.Key]bool{}, ids: map[string]bool{}, groups: map[string][]string{},
			}
			if s.forbidden != "" {
				h.forbidden = s.refusal(id)
			}
			byID[s.target] = h
		}
		h.clusters = append(h.clusters, id)
		for _, p := range s.parts(id) {
			h.probes[p.key], h.probes[p.also] = true, true
		}
		for _, k := range slices.Concat(objs.accountOf(id), s.natsIn(id)) {
			h.probes[k] = true
		}
		if s.record != nil && s.kind == planeKind && s.admits() {
			h.access = append(h.access, s.tag)
		}
		if s.record != nil && s.kind == planeKind && s.identified() {
			h.oidc = append(h.oidc, s.tag)
		}
		if s.record != nil && s.record.Data.EKS.Role != "" {
			h.roles = append(h.roles, s.record.Data.EKS.Role)
		}
		if s.record != nil && s.vpc != "" {
			for _, g := range s.groupNames(id) {
				h.groups[s.vpc] = append(h.groups[s.vpc], g.name)
			}
		}
	}
	for i := range objs.members {
		m := &objs.members[i]
		key, _, _, _ := objs.strong(m)
		byID[objs.locations[m.cluster].target].expect(key.Value)
	}
	for i := range objs.pools {
		p := &objs.pools[i]
		h := byID[objs.locations[p.cluster].target]
		h.probes[objs.poolKey(p)] = true
		if p.record != nil && p.record.Data.Template != "" {
			h.templates = append(h.templates, objs.templateName(p))
		}
		if p.kind == managedPoolKind {
			h.nodegroups = append(h.nodegroups, objs.nodegroupName(p))
		}
		if p.record != nil && p.record.Data.Role != "" {
			h.roles = append(h.roles, p.record.Data.Role)
		}
		for _, k := range objs.ownPool(p) {
			h.probes[k] = true
		}
		for _, id := range p.memberIDs() {
			h.expect(id)
		}
	}
	for _, f := range objs.fargateProfiles() {
		h := byID[objs.locations[f.cluster].target]
		h.profiles = append(h.profiles, f.name)
		if f.role != "" {
			h.roles = append(h.roles, f.role)
		}
	}
	for _, h := range byID {
		delete(h.probes, infra.Key{})
	}
	list := slices.SortedFunc(maps.Values(byID), func(a, b *homeScope) int { return cmp.Compare(a.id, b.id) })
	for _, h := range list {
		sorting.By(h.clusters, capi.CompareClusters)
	}
	return list
}

func (h *homeScope) expect(instanceID string) {
	if instanceID != "" {
		h.ids[instanceID] = true
	}
}
