package rehearsal

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// addressRows are those of the controller of IPAddressClaims of the in-cluster IPAM
// provider (internal/controllers, pkg/ipamutil), asked for each machine that has claims.
var addressRows = []row[*machine]{
	{walk.Row{
		ID: "core.P1", Of: "IPAddressClaim",
		Asks:    "the Cluster that the claim names: one without a name is served before its IPAddress is restored",
		Differs: walk.Waits.Says("the claim gets the first free address, the restored IPAddress is in its way, and the machine waits or gets an address that another one has"),
		Source:  "Reconcile: pkg/ipamutil/reconciler.go v1.0.0 to v1.1.0-rc.2; CAPV writes the label from v1.7 on",
	}, claimNamesCluster},
	{walk.Row{
		ID: "core.P2", Of: "IPAddressClaim",
		Asks:      "its pool, which must not be paused",
		None:      walk.Waits.Says("the claim gets no address, and the controller of the machine waits for it"),
		Differs:   walk.Waits.Says("nothing is done for claims of a paused pool, and the controller of the machine waits for the address"),
		Condition: code.ForeignPools,
		Source:    "FetchPool, Reconcile: pkg/ipamutil/reconciler.go v1.0.0 to v1.1.0-rc.2",
	}, claimHasPool},
}

// claimOf is a claim and the object that it is for.
type claimOf struct {
	*claim
	namespace, name string
	backup          int
}

// claimsOf returns the claims of a machine: those that its infrastructure objects own, by
// the names that ownerReferences had, which a restore takes away.
func (w *world) claimsOf(m *machine) []claimOf {
	if w.claims == nil {
		w.claims = map[owned][]claimOf{}
		for r := range claims.In(w.in.Snapshot).All() {
			for _, o := range r.Owners {
				at := owned{r.Backup, r.Namespace, o.Name}
				w.claims[at] = append(w.claims[at], claimOf{&r.Data, r.Namespace, r.Name, r.Backup})
			}
		}
	}
	if len(w.claims) == 0 {
		return nil
	}
	all := slices.Clone(w.claims[owned{m.Backup, m.Namespace, m.Infrastructure.Name}])
	if m.Name != m.Infrastructure.Name {
		all = append(all, w.claims[owned{m.Backup, m.Namespace, m.Name}]...)
	}
	return all
}

// owned names an object that has claims.
type owned struct {
	backup          int
	namespace, name string
}

// claimNamesCluster asks core.P1.
func claimNamesCluster(m *machine) walk.Answer {
	all := m.cluster.world.claimsOf(m)
	if all == nil {
		return notAsked
	}
	for _, c := range all {
		if c.Cluster == "" {
			title := named("IPAddressClaim", c.namespace, c.name)
			return differs(title+" names no Cluster", title+" has label cluster.x-k8s.io/cluster-name", title)
		}
	}
	return passed
}

// claimHasPool asks core.P2.
func claimHasPool(m *machine) walk.Answer {
	all := m.cluster.world.claimsOf(m)
	if all == nil {
		return notAsked
	}
	answer := passed
	for _, c := range all {
		group := cmp.Or(c.PoolGroup, strings.Split(c.PoolAPI, "/")[0])
		known, paused, there := m.cluster.world.pool(c, group)
		if known && there && !paused {
			continue
		}
		title := c.PoolKind + " " + c.namespace + "/" + c.Pool
		if c.PoolKind == globalPoolKind {
			title = c.PoolKind + " " + c.Pool
		}
		switch {
		case !known:
			answer = unseen(c.PoolKind + "." + group + " " + c.Pool)
		case !there:
			return none(title+" is not in the backup", title+" exists", title)
		default:
			return differs(title+" has the annotation cluster.x-k8s.io/paused", title+" is unpaused", title)
		}
	}
	return answer
}

// pool looks the pool of a claim up; known is false for pools of other IPAM providers.
func (w *world) pool(c claimOf, group string) (known, paused, there bool) {
	find := func(k *backup.Kind[struct{}], namespace string) {
		if r := k.In(w.in.Snapshot).Named(c.backup, namespace, c.Pool); r != nil {
			paused, there = r.Paused, true
		}
	}
	switch {
	case group != poolGroup:
		return false, false, false
	case c.PoolKind == poolKind:
		find(pools, c.namespace)
	case c.PoolKind == globalPoolKind:
		find(globalPools, "")
	default:
		return false, false, false
	}
	return true, paused, there
}
