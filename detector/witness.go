package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// This file is the second and the sixth law: a living name is a witness, and
// Healthy means that the one that runs is the one that the controller will take.

// nameFacts finds what has the machine's name and is nobody else's.
func (ix *index) nameFacts(c *expectedMachine, f *factsOfMachine) {
	var own []infra.Key // of a machine without a recorded id, the instance of its Node is a namesake, too
	if c.Strong.IsZero() {
		own = ix.nodeKeys(c)
	}
	ix.names = append(append(append(ix.names[:0], c.Names...), c.Hosts...), c.Witness...)
	f.namesakes = ix.named(c, f, nil, ix.names, own)
	f.witness = ix.named(c, f, &c.Home, c.Witness, nil)
}

// hasNoOtherOwner reports whether nothing shows that an instance is that of another
// machine, or of none.
func (ix *index) hasNoOtherOwner(c *expectedMachine, v *vm) bool {
	if v.byStrong.others(c) || v.byIdentity.others(c) || v.Exclude != "" && !v.mayBeOurs() {
		return false
	}
	return !slices.ContainsFunc(ix.nodes.on(v), func(n *node) bool {
		return n.agrees() && (n.Cluster != c.of.Cluster || n.Machine != c.of.Name || n.ClusterNamespace != c.of.Namespace)
	})
}

// mayBeOurs reports whether an instance is excluded for a cause that does not show
// whose it is: any VM can be made a template, or be managed by an extension that
// replicates or restores it.
func (v *vm) mayBeOurs() bool {
	return v.Exclude == infra.Template || v.Exclude == infra.Managed
}

// secondKeys counts how often the second keys of machines that were found by their
// recorded id are those that the backup says. A management cluster that was moved
// has given its VSphereVMs new uids, and a vCenter that was built again its VMs new
// managed object ids: a key that nothing confirms any more says nothing.
type secondKeys struct {
	clusters map[backup.ClusterID]*secondCount
	targets  map[string]*secondCount
}

type secondCount struct{ identity, ref, refOther int }

func (ix *index) countSecondKeys() *secondKeys {
	s := &secondKeys{map[backup.ClusterID]*secondCount{}, map[string]*secondCount{}}
	for _, c := range ix.expected {
		for _, v := range c.byID {
			identity, ref, refOther := v.has(c.Identity), v.has(c.Ref), v.hasOther(c.Ref)
			for _, n := range [...]*secondCount{at(s.clusters, c.of.Cluster), at(s.targets, c.Home.Target)} {
				n.identity += one(identity)
				n.ref += one(ref)
				n.refOther += one(refOther)
			}
		}
	}
	return s
}

// at returns the count of a place, a new one where there is none.
func at[K comparable](counts map[K]*secondCount, where K) *secondCount {
	n := counts[where]
	if n == nil {
		n = &secondCount{}
		counts[where] = n
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// reidentified reports whether both second keys of an instance are others than the
// backup says, and one of them means anything: the identity where any machine of
// the cluster confirms it, the reference where more confirm it than not, of the
// cluster or, for a lone machine, of the place. Where there is no other machine to
// compare with, both do.
func (ix *index) reidentified(c *expectedMachine, v *vm) bool {
	if !v.hasOther(c.Identity) || !v.hasOther(c.Ref) {
		return false
	}
	if ix.second == nil {
		ix.second = ix.countSecondKeys()
	}
	n := at(ix.second.clusters, c.of.Cluster)
	if n.identity > 0 {
		return true
	}
	if n.ref+n.refOther < 2 {
		n = at(ix.second.targets, c.Home.Target)
	}
	return n.ref > n.refOther || n.ref+n.refOther < 2
}
