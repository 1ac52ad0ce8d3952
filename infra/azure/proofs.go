package azure

import (
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Answered returns the probe of a resource group: it is found where Azure said that the group
// exists, or, to an account that may read the subscription, that it does not. A subscription
// is told by its id, which the backup records, so that either answer is about the right
// place. A refusal is no answer.
func Answered(group string) infra.Key { return infra.Key{Kind: keyAnswered, Value: group} }

const hintProof = "the account may not read this resource group, so that nothing is known of what is missing there: give it Reader on the group or the subscription; `drift-detector permissions azure` says what it must be allowed"

// groupsOf returns the resource groups that have to answer before absence may be concluded for a
// cluster: its own, and, where no object names that, those of its scale sets.
func (objs *objects) groupsOf() map[backup.ClusterID][]string {
	sets := map[backup.ClusterID]map[string]bool{}
	for id, l := range objs.locations {
		sets[id] = map[string]bool{}
		if g := l.groupID(); g != "" {
			sets[id][g] = true
		}
	}
	for i := range objs.pools {
		p := &objs.pools[i]
		if id, ok := ParseID(objs.poolKey(p).Value); ok && id.Subscription == objs.locations[p.cluster].subscription {
			sets[p.cluster][id.GroupID()] = true
		}
	}
	out := map[backup.ClusterID][]string{}
	for id, groups := range sets {
		out[id] = sortedNames(groups)
	}
	return out
}

// proofs returns what a listing must show before absence may be concluded from it.
func (objs *objects) proofs() []infra.VisibilityProof {
	var list []infra.VisibilityProof
	groups := objs.groupsOf()
	for _, id := range objs.order() {
		p := infra.VisibilityProof{Cluster: id, Target: objs.locations[id].target, Hint: hintProof}
		for _, g := range groups[id] {
			p.All = append(p.All, Answered(g))
		}
		list = append(list, p)
	}
	return list
}

// inGroup reports whether an id is in a resource group.
func inGroup(id, group string) bool { return strings.HasPrefix(id, group+"/") }
