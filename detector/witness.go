package detector

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is the second and the sixth law: a living name is a witness, and
// Healthy means that the one that runs is the one that the controller will take.

// nameFacts finds what has the machine's name and is nobody else's.
func (ix *index) nameFacts(c *expectedMachine, f *machineFacts) {
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
	if v.byStrong.others(c) || v.byIdentity.others(c) || v.Exclude != "" && !mayBeOurs(v) {
		return false
	}
	return !slices.ContainsFunc(ix.nodes.on(v), func(n *node) bool {
		return n.agrees() && (n.Cluster != c.of.Cluster || n.Machine != c.of.Name || n.ClusterNamespace != c.of.Namespace)
	})
}

// mayBeOurs reports whether an instance is excluded for a cause that does not show
// whose it is: any VM can be made a template, or be managed by an extension that
// replicates or restores it.
func mayBeOurs(v *vm) bool {
	return v.Exclude == infra.Template || v.Exclude == infra.Managed
}

// decideWitness returns the verdict on a machine whose id was not found, while an
// instance in its place has its name.
func decideWitness(f *machineFacts) Verdict {
	v := f.witness[0]
	too := ""
	if hasKey(v, f.expected.Ref) {
		too = ", and the recorded " + f.label(f.expected.Ref.Kind) + " too"
	}
	return f.naming(unknown(code.IdentityChanged, fmt.Sprintf("%s has its place and its name%s, but the id %s instead of the recorded %s; its Node, or an administrator of the infrastructure, can say whether it is the machine",
		nameOf(v), too, cmp.Or(valueOf(v, f.expected.Strong.Kind), "of none"), f.expected.Strong.Value)), f.witness)
}

// displaced reports what runs in the place of an instance that is off. Whoever
// starts that one makes a second machine of the name.
func (f *machineFacts) displaced(found *vm) (v Verdict, displaced bool) {
	if runs(found) {
		return v, false
	}
	running := keep(f.without(found, f.home, f.copies, f.identity, f.namesakes, f.witness), runs)
	switch {
	case f.node != nil:
		v = unknown(code.NodeAlive, fmt.Sprintf("%s does not run, but Node %s reports that it is %s: another instance runs in its place, and powering this one on creates a second", nameOf(found), f.node.Name, condition(f.node)))
	case len(running) > 0:
		v = unknown(code.AmbiguousMatch, fmt.Sprintf("%s does not run, and %s, which has its id or its name, does: powering on creates a second one", nameOf(found), nameOf(running[0])))
	case !f.scope.complete:
		v = unknown(code.ScopeIncomplete, fmt.Sprintf("%s does not run, and what may run in its place is not known: %s", nameOf(found), f.scope.fault.Message))
	case f.unlisted != "":
		v = unknown(code.NodeListUnread, fmt.Sprintf("%s does not run, and whether its Node does is not known: %s", nameOf(found), f.unlisted))
	default:
		return v, false
	}
	return f.others(f.with(v, found, code.Strong), f.without(found, f.home, f.copies, running)), true
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
			identity, ref, refOther := hasKey(v, c.Identity), hasKey(v, c.Ref), hasOtherKey(v, c.Ref)
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
	if !hasOtherKey(v, c.Identity) || !hasOtherKey(v, c.Ref) {
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
