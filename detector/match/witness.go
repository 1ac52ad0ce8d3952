package match

import (
	"slices"

	"drift-detector/infra"
)

// This file is the second law: the name of an instance that runs is a witness.

// nameFacts finds what has the machine's name and is nobody else's.
func (ix *Index) nameFacts(c *Machine, f *MachineFacts) {
	var own []infra.Key // of a machine without a recorded id, the instance of its Node is a namesake, too
	if c.Strong.IsZero() {
		own = ix.nodeKeys(c)
	}
	ix.names = append(append(append(ix.names[:0], c.Names...), c.Hosts...), c.Witness...)
	f.Namesakes = ix.named(c, f, nil, ix.names, own)
	f.Witness = ix.named(c, f, &c.Home, c.Witness, nil)
}

// hasNoOtherOwner reports whether nothing shows that an instance is that of another
// machine, or of none.
func (ix *Index) hasNoOtherOwner(c *Machine, v *VM) bool {
	if v.byStrong.others(c) || v.byIdentity.others(c) || v.Exclude != "" && !v.MayBeOurs() {
		return false
	}
	return !slices.ContainsFunc(ix.nodes.on(v), func(n *Node) bool {
		return n.Agrees() && (n.Cluster != c.Of.Cluster || n.Machine != c.Of.Name || n.ClusterNamespace != c.Of.Namespace)
	})
}

// reidentified reports whether both second keys of an instance are others than the
// backup says, and one of them means anything: the identity where any machine of
// the cluster confirms it, the reference where more confirm it than not, of the
// cluster or, for a lone machine, of the place. Where there is no other machine to
// compare with, both do.
func (ix *Index) reidentified(c *Machine, v *VM) bool {
	if !v.HasOther(c.Identity) || !v.HasOther(c.Ref) {
		return false
	}
	if ix.second == nil {
		ix.second = countSecondKeys(ix.Machines)
	}
	n := at(ix.second.clusters, c.Of.Cluster)
	if n.identity > 0 {
		return true
	}
	if n.ref+n.refOther < 2 {
		n = at(ix.second.targets, c.Home.Target)
	}
	return n.ref > n.refOther || n.ref+n.refOther < 2
}

// named returns the living instances with any of the keys that are nobody else's, those of
// which only the machine's own Node or second id shows that first. The keys of its Nodes
// are in own where an instance is a namesake by such a key alone.
func (ix *Index) named(c *Machine, f *MachineFacts, home *infra.HomeScope, keys, own []infra.Key) []*VM {
	here := func(v *VM) bool { return alive(v) && (home == nil || ix.atHome(c, v)) }
	ours := func(v *VM) bool {
		return here(v) && !slices.Contains(f.AtHome, v) && !slices.Contains(f.Copies, v) && ix.hasNoOtherOwner(c, v)
	}
	if _, all := ix.unclaimed.first(Many, keys); all {
		return keep(ix.notOfOthers(c, append(keys[:len(keys):len(keys)], own...)...), ours)
	}
	hers := append(ix.nodeKeys(c), c.Identity)
	special := keep(ix.unclaimed.with(hers...), func(v *VM) bool {
		return !ix.isFree(v) && ours(v) && (slices.ContainsFunc(keys, v.HasKey) || slices.ContainsFunc(own, v.HasKey))
	})
	free := ix.find(&ix.unclaimed, "free", home, keys, func(v *VM) bool { return here(v) && ix.isFree(v) })
	if len(special) == 0 {
		return free
	}
	return slices.Concat(special, free)
}

// isFree reports whether nothing shows that an instance is that of any machine.
func (ix *Index) isFree(v *VM) bool {
	return !v.byStrong.any() && !v.byIdentity.any() && (v.Exclude == "" || v.MayBeOurs()) && !slices.ContainsFunc(ix.nodes.on(v), (*Node).Agrees)
}

// nodeKeys returns the keys of the Nodes that say they are the machine.
func (ix *Index) nodeKeys(c *Machine) (keys []infra.Key) {
	for _, n := range c.nodes {
		if n.Agrees() {
			keys = append(keys, n.Keys...)
		}
	}
	return keys
}
