package match

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/infra"
)

// MachineFacts collects everything that decides about a machine.
func (ix *Index) MachineFacts(c *Machine) MachineFacts {
	f := MachineFacts{Machine: c, Place: c.home, sharedLists: &ix.sharedLists}
	f.AtHome, f.Copies = ix.home(c)
	if len(c.Conflicting) == 0 {
		f.Single = singledOut(c, f.AtHome)
	}
	f.Doubted = ix.withKeys(c.Doubted...)
	f.Elsewhere = f.Copies
	switch {
	case len(f.AtHome) == 0:
		f.Blind = ix.unread(c)
	case !slices.ContainsFunc(f.AtHome, func(v *VM) bool { return !v.Unreadable }):
		// Its keys are what the infrastructure stored: whether the instance still
		// exists is not known.
		f.Blind = f.AtHome
	}
	f.Reidentified = len(f.AtHome) == 1 && ix.reidentified(c, f.AtHome[0])
	ix.secondFacts(c, &f)
	f.Pool = ix.poolState[clusterKey{c.Of.Cluster, c.Pool}]
	f.Dropped = len(f.AtHome) == 1 && ix.dropped(c, f.AtHome[0])
	if len(f.AtHome) == 1 && f.AtHome[0].Gone {
		f.Remade = ix.remade(c, &f)
	}
	if f.SearchesByName() {
		f.Searched = ix.find(&ix.byKey, "searched", &c.Home, c.Searches, func(v *VM) bool { return alive(v) && ix.atHome(c, v) })
		f.Hidden = len(f.Searched) == 0 && (len(f.Blind) > 0 || ix.hides(c))
	}
	ix.nodeFacts(c, &f)
	if !slices.ContainsFunc(f.AtHome, runs) {
		ix.nameFacts(c, &f)
	}
	f.Unlisted, f.Unasked = ix.unlisted(c.Of.Cluster)
	f.Unlisted = cmp.Or(f.Unlisted, f.unclear)
	f.Unvisited = ix.unvisited[c.Provider]
	f.Unread = ix.kindsUnread[infra.Reading{Backup: c.Of.Cluster.Backup, Provider: c.Provider}]
	return f
}

// secondFacts fills in what the keys beside the strong one find.
func (ix *Index) secondFacts(c *Machine, f *MachineFacts) {
	atHome, away := ix.folderHome(c, keep(c.byIdentity, alive))
	if !c.Strong.IsZero() {
		f.Identity = slices.Concat(atHome, away)
		return
	}
	f.Identity = atHome
	if len(atHome) == 0 {
		f.Elsewhere = away
	}
	f.Weak = ix.find(&ix.byKey, "weak", &c.Home, c.Weak, func(v *VM) bool { return alive(v) && v.Exclude == "" && ix.atHome(c, v) })
	switch {
	case len(f.Identity) == 1:
		v := f.Identity[0]
		f.Contested = v.byStrong.others(c) || v.byIdentity.others(c)
	case len(f.Weak) == 1:
		v := f.Weak[0]
		f.Contested = v.byStrong.others(c) || v.byIdentity.others(c) || v.byWeak.others(c)
	}
}

// home parts the instances that have the machine's recorded id like folderHome.
func (ix *Index) home(c *Machine) (home, away []*VM) {
	if len(c.byID) <= Many {
		return ix.folderHome(c, c.byID)
	}
	id := []infra.Key{c.Strong}
	home = ix.find(&ix.byKey, "home", &c.Home, id, func(v *VM) bool { return alive(v) && ix.atHome(c, v) })
	if len(home) == 0 {
		home = ix.find(&ix.byKey, "ended", &c.Home, id, func(v *VM) bool { return v.Gone && ix.atHome(c, v) })
	}
	return home, ix.find(&ix.byKey, "away", &c.Home, id, func(v *VM) bool { return alive(v) && !ix.atHome(c, v) })
}

// folderHome parts instances into those at the machine's home and the living ones
// elsewhere. Ended ones at home count only when none lives there.
func (ix *Index) folderHome(c *Machine, all []*VM) (home, away []*VM) {
	var ended []*VM
	for _, v := range all {
		switch {
		case !ix.atHome(c, v):
			if alive(v) {
				away = append(away, v)
			}
		case v.Gone:
			ended = append(ended, v)
		default:
			home = append(home, v)
		}
	}
	if len(home) == 0 {
		home = ended
	}
	return home, away
}

// remade returns the living instances that have the place of an ended one: they have the
// machine's second key, or its name in its place, and are nobody else's.
func (ix *Index) remade(c *Machine, f *MachineFacts) []*VM {
	named := keep(ix.notOfOthers(c, c.Witness...), func(v *VM) bool {
		return alive(v) && v.Exclude == "" && ix.atHome(c, v) && !v.byIdentity.others(c)
	})
	return f.Without(f.AtHome[0], f.Identity, named)
}

// singledOut returns the only one of several candidates that has a second key of the
// machine, or nil.
func singledOut(c *Machine, candidates []*VM) *VM {
	second := keep(candidates, func(v *VM) bool { return v.Has(c.Identity) || v.Has(c.Ref) })
	if len(second) != 1 {
		return nil
	}
	return second[0]
}

// nodeFacts adds what the Nodes say that are the machine, of each the first that says it.
func (ix *Index) nodeFacts(c *Machine, f *MachineFacts) {
	for one := range ix.nodes.ofMachine(c) {
		if one.fresh {
			f.Node = cmp.Or(f.Node, one.Node)
		}
		if one.mute && f.unclear == "" {
			f.unclear = fmt.Sprintf("the Node list of cluster %s/%s does not say whether Node %s is ready, or since when", c.Of.Cluster.Namespace, c.Of.Cluster.Name, one.Name)
		}
		if (one.Ready || one.Unready) && one.Heartbeat.IsZero() && !one.mute {
			f.Undated = cmp.Or(f.Undated, one.Name)
		}
	}
}
