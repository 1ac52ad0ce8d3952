package azure

import (
	"fmt"
	"strings"

	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Tags that CAPZ gives to a VM (api/v1beta1/tags.go, azure/scope/machine.go v1.26.0). The
// first names the Cluster without its namespace.
const (
	tagCluster = "sigs.k8s.io_cluster-api-provider-azure_cluster_"
	tagRole    = "sigs.k8s.io_cluster-api-provider-azure_role"
	owned      = "owned"

	roleControlPlane = "control-plane"
	roleNode         = "node"
)

// ownerTag returns the cluster that tags of a VM in a resource group name.
func ownerTag(group, cluster string) infra.Key {
	return infra.Key{Kind: infra.OwnerTag, Value: strings.ToLower(cluster) + " in " + group}
}

// ownershipHints returns what connects VMs that no machine explains with the clusters of the
// backup: the tags that CAPZ gives, in the cluster's own resource group. The tags name the
// cluster without its namespace, so that clusters of one name are told apart by their
// groups, and those in one group not at all. In another group they are a name.
func (objs *objects) ownershipHints() []infra.OwnershipHint {
	owners := capi.OwnersOf(objs.snapshot, objs.locations)
	var hints []infra.OwnershipHint
	for _, id := range objs.order() {
		l, whole := objs.locations[id], &infra.OwnerID{Cluster: id}
		name := strings.ToLower(id.Name)
		hints = append(hints, infra.OwnershipHint{
			Grade: infra.NameOnly, Key: infra.Key{Kind: keyMark, Value: name}, Owner: whole, ByName: true,
			Detail: "its tags name a cluster " + id.Name,
		})
		g := l.groupID()
		for _, o := range owners[id] {
			hints = append(hints, hintsOf(name, g, o)...)
		}
		if g == "" {
			continue
		}
		plane := capi.ControlPlane(objs.controlPlanes, id, "")
		for _, role := range []string{roleControlPlane, roleNode} {
			owner := whole
			if role == roleControlPlane {
				owner = &plane
			}
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.Strong, Owner: owner, ControlPlane: role == roleControlPlane,
				Key:    infra.Key{Kind: keyRole, Value: within(g, name, role)},
				Detail: fmt.Sprintf("CAPZ's tags on it name cluster %s and role %s, and it is in the cluster's resource group", id.Name, role),
			})
		}
	}
	return hints
}

// hintsOf returns those for one control plane, MachineSet or MachineDeployment of a cluster.
func hintsOf(cluster, g string, o *infra.OwnerID) []infra.OwnershipHint {
	plane := o.Kind != "MachineSet" && o.Kind != "MachineDeployment"
	stem, two := naming.Stem(o.Name), o.Kind == "MachineDeployment"
	if two {
		stem = o.Name
	}
	pick := func(one, other infra.KeyKind) infra.KeyKind {
		if two {
			return other
		}
		return one
	}
	base := infra.OwnershipHint{Owner: o, ControlPlane: plane, Specificity: min(len(o.Name), len(stem))}
	is := fmt.Sprintf("its name is one that %s %s gives", o.Kind, o.Name)
	var hints []infra.OwnershipHint
	add := func(grade infra.Grade, byName bool, kind infra.KeyKind, detail string, parts ...string) {
		h := base
		h.Grade, h.ByName, h.Detail = grade, byName, detail
		h.Key = infra.Key{Kind: kind, Value: joined(parts...)}
		hints = append(hints, h)
	}
	if g != "" {
		add(infra.Strong, false, pick(keyStem1, keyStem2), "CAPZ's tags on it name its cluster and a role, it is in the cluster's resource group, and "+is, g, cluster, stem)
		// Tags can be taken away, and others may use the group.
		add(infra.Medium, true, pick(keyNear1, keyNear2), "it is in the resource group of its cluster, and "+is, g, stem)
	}
	add(infra.NameOnly, true, pick(keyLike1, keyLike2), is, stem)
	return hints
}

// ownerKeys returns those that a VM has for its tags, its group and its name: the other side of
// ownershipHints.
func ownerKeys(g, name string, tags map[string]string) (keys []infra.Key) {
	add := func(kind infra.KeyKind, parts ...string) {
		keys = append(keys, infra.Key{Kind: kind, Value: joined(parts...)})
	}
	name = strings.ToLower(name)
	one, two := naming.Stems(name)
	role := tagValue(tags, tagRole)
	for _, cluster := range ClustersIn(tags) {
		add(keyMark, cluster)
		keys = append(keys, ownerTag(g, cluster))
		add(keyMade, g, cluster, name)
		if role != roleControlPlane && role != roleNode {
			continue
		}
		add(keyRole, g, cluster, role)
		if one != "" {
			add(keyStem1, g, cluster, one)
		}
		if two != "" {
			add(keyStem2, g, cluster, two)
		}
	}
	if one != "" {
		add(keyNear1, g, one)
		add(keyLike1, one)
	}
	if two != "" {
		add(keyNear2, g, two)
		add(keyLike2, two)
	}
	return keys
}

// joined returns one value of a resource group and names, or of names alone.
func joined(parts ...string) string {
	if _, ok := ParseID(parts[0]); ok {
		return within(parts[0], parts[1:]...)
	}
	return infra.Join(parts...)
}

// tagValue reads a tag by its name, which Azure takes in any case.
func tagValue(tags map[string]string, name string) string {
	for k, v := range tags {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// ClustersIn returns the clusters that tags name as owners, sorted.
func ClustersIn(tags map[string]string) (all []string) {
	for _, k := range sortedNames(tags) {
		if len(k) > len(tagCluster) && strings.EqualFold(k[:len(tagCluster)], tagCluster) && strings.EqualFold(tags[k], owned) {
			all = append(all, strings.ToLower(k[len(tagCluster):]))
		}
	}
	return all
}
