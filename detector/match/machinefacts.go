package match

import (
	"slices"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// MachineFacts are what decides about a machine.
type MachineFacts struct {
	Machine *Machine
	Place   *Place // where its controller looks
	// Blind are unreadable instances that may be the machine: those at home that
	// have the strong key, when none of them can be read, or, when it was not found
	// at home, those that have a key which unreadable instances keep, or its name
	// anywhere.
	Blind []*VM
	// AtHome are the instances at home with the strong key: the living
	// ones, or, when none of them lives, the ended ones.
	AtHome       []*VM
	Single       *VM           // the one of several at home that a second key singles out
	Copies       []*VM         // elsewhere, with the same strong key
	Doubted      []*VM         // have another id that the backup records for it
	Elsewhere    []*VM         // the copies; without a strong key, those that have its second key
	Identity     []*VM         // have the second key that finds by itself
	Weak         []*VM         // at home, by the weaker keys of a machine without a strong one
	Contested    bool          // the keys of another machine find the one in Identity or Weak, too
	Reidentified bool          // both second keys of the one at home are others than the backup says
	Node         *infra.Node   // alive, and says that it is this machine
	Pool         code.Presence // whether the pool that it is a member of exists; empty when the backup lacks it
	Dropped      bool          // the pool was read, and its instance is none of its members
	Remade       []*VM         // have its second key, or its name in its place, when its own instance has ended
	Searched     []*VM         // what its controller finds at home where it searches by name
	Hidden       bool          // it finds nothing, and something at home that cannot be read may have the name
	// What has its name, and is nobody else's, when none that has its strong key
	// runs at home: anywhere, and in its own place under another id.
	Namesakes, Witness []*VM
	Unlisted           string // why its cluster's Node list, which was asked for, was not read; empty: it was, or nobody expects an answer
	Unasked            bool   // nobody asked for the Node list
	Undated            string // name of its Node that reports, and not when, as all of the list
	Unread             string // which objects of the backup that decide could not be read; empty: none
	Unvisited          string // another place of its provider that was not listed: a narrowed run, or one that failed

	unclear     string // why the list does not say whether its Node is alive
	sharedLists *sharedLists
}

// SearchesByName reports whether the machine's controller has no id to go by, and searches
// by name. Nothing searches for a member of a pool.
func (f *MachineFacts) SearchesByName() bool {
	c := f.Machine
	known := c.Reads != "" || len(c.Searches) > 0
	return c.Provider != "" && c.Recorded != nil && !c.InfraMissing && known && !c.ReadsID && !f.InPool()
}

// InPool reports whether the machine is a member of a pool.
func (f *MachineFacts) InPool() bool { return !f.Machine.Pool.IsZero() }

// ListedWithHome reports whether an instance elsewhere was listed together with the machine's home.
func (f *MachineFacts) ListedWithHome() bool {
	return slices.ContainsFunc(f.Elsewhere, func(v *VM) bool { return v.seenIn(f.Place.listings) })
}

// Running returns what runs in the place of an instance that does not.
func (f *MachineFacts) Running(found *VM) []*VM {
	return keep(f.Without(found, f.AtHome, f.Copies, f.Identity, f.Namesakes, f.Witness), runs)
}

// Without joins lists of instances, each instance once and one left out. The result must
// not be changed.
func (f *MachineFacts) Without(one *VM, lists ...[]*VM) []*VM {
	return f.sharedLists.join(one, lists...)
}
