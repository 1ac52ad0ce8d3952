package detector

import (
	"fmt"
	"slices"

	"drift-detector/report/code"
)

// This file is the laws on what fails, and on the way out of what could not be decided.

// lawOfWays: what cannot be decided says why, and is decided once the places were
// listed, the operator has said what he alone can, and nobody asks for Node lists.
func lawOfWays(s said) string {
	for _, v := range s.verdictList() {
		if v.Status == code.Unknown && v.Message == "" {
			return v.Name + " is Unknown and does not say why"
		}
	}
	for _, u := range s.Unattributed {
		if u.Message == "" {
			return u.Instance.Name + " is to be confirmed and does not say why"
		}
	}
	w := newTruthLike(s.truth)
	for _, site := range w.sites {
		site.state, site.stated, site.dark = code.ScopeComplete, true, map[string]bool{}
	}
	for _, c := range w.clusters {
		if c.nodes != "read" {
			c.nodes = "skipped"
		}
	}
	for _, v := range w.decide().verdictList() {
		c := w.machineNamed(v.Name)
		if c != nil && w.isIt(c.site) && (v.Reason == code.ScopeIncomplete || v.Reason == code.NodeListUnread) {
			return v.Name + " stays " + string(v.Reason) + " whatever one does: " + v.Message
		}
	}
	return ""
}

func (w *truth) machineNamed(name string) *trueMachine {
	for _, m := range w.machines {
		if m.name == name {
			return m
		}
	}
	return nil
}

// newTruthLike returns the same world again, as its seed made it.
func newTruthLike(w *truth) *truth { return newTruth(w.seed) }

// lawOfFaults: whatever fails leaves verdicts as they are or makes them Unknown, and
// the run incomplete where it does.
func lawOfFaults(s said) string {
	for n, fault := range faults {
		w := newTruthLike(s.truth)
		if !fault(w) {
			continue
		}
		after := w.decide()
		for _, law := range []func(said) string{lawOfAbsence, lawOfWitnesses, lawOfCounts, lawOfNames, lawOfMarks, lawOfHealth} {
			if broken := law(after); broken != "" {
				return fmt.Sprintf("fault %d: %s", n, broken)
			}
		}
		changed := false
		for name, was := range s.machines {
			now := after.machines[name]
			changed = changed || now.Status != was.Status && now.Status == code.Unknown
			if now.Status != was.Status && now.Status != code.Unknown && !byID(now) && !w.isRight(name, now) {
				return fmt.Sprintf("fault %d: %s was %s %s and is %s %s", n, name, was.Status, was.Reason, now.Status, now.Reason)
			}
		}
		for i, v := range w.vms {
			was, now := s.others[v.identity], after.others[v.identity]
			_, loose := after.loose[v.identity]
			_, wasLoose := s.loose[v.identity]
			switch {
			case now.Status == code.Ghost && was.Status != code.Ghost && (v.ghost == nil || v.site.standBy):
				return fmt.Sprintf("fault %d: %s became a Ghost, it was %s", n, v.name, was.Reason)
			case (was.Status == code.Ghost || wasLoose) && now.Status == "" && !loose && v.site.sees(w.vms[i]) && !after.isMachines(v):
				return fmt.Sprintf("fault %d: %s was dropped", n, v.name)
			}
			changed = changed || was.Status == code.Ghost && now.Status != code.Ghost
		}
		if changed && after.Complete {
			return fmt.Sprintf("fault %d: verdicts changed, and the run claims to be complete", n)
		}
	}
	return ""
}

// byID reports whether a match rests on an id on what runs: that was seen, whatever
// else was not.
func byID(v Verdict) bool { return v.Status == code.Healthy && v.ByID && v.Instance.Runs() }

// isRight reports whether a machine that is Stale is really gone, and one that is
// Healthy has its own VM: then the fault took away what spoke against the place, as a
// hidden folder does whose VMs have other ids.
func (w *truth) isRight(name string, now Verdict) bool {
	m := w.machineNamed(name)
	switch now.Status {
	case code.Stale, "": // an orphan that is gone as well is not shown
		gone := m.vm == nil || slices.Contains(w.away, m.vm) && w.livingNode(m) == nil
		return !m.site.standBy && gone
	}
	return !m.site.standBy && m.vm != nil && m.vm.identity == now.Instance.Identity
}

// answers reports whether somebody expects the API server of a cluster to answer: not
// where its whole control plane is gone as far as the account sees, nor where not one
// machine had joined when the backup was written.
func (w *truth) answers(c *trueCluster) bool {
	return c.joined && (c.hosted || slices.ContainsFunc(w.vms, func(v *trueVM) bool {
		return v.node == c && v.nodePlane && v.runs() && v.site.sees(v)
	}))
}

// faults are what can go wrong with the listings of a world; each reports whether it
// changed anything.
var faults = []func(*truth) bool{
	func(w *truth) (changed bool) {
		for _, c := range w.clusters {
			if c.nodes == "read" && w.answers(c) {
				c.nodes, changed = "unreachable", true
			}
		}
		return changed
	},
	func(w *truth) bool { w.sites[0].state = code.ScopeFailed; return true },
	func(w *truth) bool { // the listing breaks off
		w.sites[0].state = code.ScopePartial
		for i, v := range w.vms {
			if v.site == w.sites[0] && i%2 == 0 {
				v.gone = true
			}
		}
		return true
	},
	func(w *truth) bool { w.clusters[0].site.hidden[w.clusters[0].folder] = true; return true },
	func(w *truth) bool { w.clusters[0].site.dark[w.clusters[0].folder] = true; return true },
	func(w *truth) bool { w.vms[len(w.vms)/2].unreadable = true; return true },
}
