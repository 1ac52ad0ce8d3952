package detector

import (
	"cmp"
	"slices"

	"drift-detector/backup"
	"drift-detector/detector/match"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Detect decides on every machine of the snapshot and on every instance of the
// inventory. The expected machines must be made from the same snapshot: they index its
// machines. Detect does no I/O, changes none of its inputs and cannot fail; what
// could not be decided is Unknown and says why. Strings of the Result come from
// the backup and the infrastructure as they are, unescaped.
func Detect(s *backup.Snapshot, c infra.Expected, inv infra.Inventory, o Options) Result {
	return tables{machineRows, instanceRows}.detect(s, c, inv, o)
}

func (t tables) detect(s *backup.Snapshot, c infra.Expected, inv infra.Inventory, o Options) Result {
	ix := match.New(s, c, inv, o.Now)
	verdicts := t.decideMachines(ix, s, &c)
	d := newDrafts(ix, s, &c)
	for i, m := range ix.Machines {
		if listed(m, &verdicts[i]) {
			d.addMachine(m, &verdicts[i])
		}
	}
	r := Result{Excluded: map[string]int{}, ForeignTags: map[string]int{}}
	var seen func(*match.VM) bool
	r.Scopes, seen = ix.Scopes(o.Only)
	f, subject := &instanceFacts{}, s.Subject()
	for v := range ix.Unmatched() {
		*f = instanceFacts{InstanceFacts: ix.InstanceFacts(v), subject: subject, words: c.Words[v.Provider]}
		if p := t.decideInstance(f); p.concerns(o.shows, v, seen) {
			r.add(d, p)
		}
	}
	slices.SortStableFunc(d.unattributed, func(a, b *Unattributed) int { return match.CompareInstances(&a.Instance, &b.Instance) })
	r.Unattributed = slices.Grow(r.Unattributed, len(d.unattributed))
	for _, u := range d.unattributed {
		r.Unattributed = append(r.Unattributed, *u)
	}
	r.Clusters = d.clusters(o.shows)
	letGo(ix.Machines, verdicts, o.shows)
	r.conclude(s)
	return r
}

// decideMachines returns the verdicts on the expected machines, in their order, and tells the index of them.
func (t tables) decideMachines(ix *match.Index, s *backup.Snapshot, c *infra.Expected) []Verdict {
	verdicts := make([]Verdict, len(ix.Machines))
	f, subject := &machineFacts{}, s.Subject()
	for i, m := range ix.Machines {
		*f = machineFacts{MachineFacts: ix.MachineFacts(m), subject: subject, words: c.Words[m.Provider]}
		if b := m.Of.Cluster.Backup; b < len(s.Backups) && s.Backups[b].Live {
			f.read = s.Backups[b].WrittenFrom
		}
		v := &verdicts[i]
		*v = decideMachine(t.machines, f)
		f.complete(v)
		block(ix, m, v)
		own := v.Instance
		if !listed(m, v) {
			own = nil
		}
		if scope := ix.Note(&f.MachineFacts, v.Reason, v.Message, own); own != nil {
			v.Scope = scope
		}
	}
	ix.FindReferences()
	return verdicts
}

// complete adds to a verdict what does not depend on it, and what follows from it.
func (f *machineFacts) complete(v *Verdict) {
	c := f.Machine
	v.Namespace, v.Name, v.UID = c.Of.Namespace, c.Of.Name, c.Of.UID
	v.RoleKnown = true
	if !c.Of.Infrastructure.IsZero() {
		v.Infrastructure = &c.Of.Infrastructure
	}
	if m := c.Recorded; m != nil {
		v.ControlPlane, v.ProviderID, v.Node = m.ControlPlane, m.ProviderID, m.Node
	} else {
		v.ControlPlane, v.ProviderID = c.Orphan.ControlPlane, c.Orphan.ProviderID
		if v.Status == code.Healthy {
			v.Warnings = append(v.Warnings, report.Warning{Reason: code.MachineMissing, Message: c.Orphan.Kind + " " + c.Of.Name + f.subject.Or(" is in the backup without its Machine: it was being deleted, or was left out", " is left without its Machine: nobody deletes it, and its VM")})
			sorting.By(v.Warnings, compareWarnings)
		}
	}
	v.Finds = f.finds(v)
}

// block says what was found of all that keeps the machine's controller from it.
func block(ix *match.Index, c *match.Machine, v *Verdict) {
	for _, b := range c.Blockers {
		if !ix.Shows(cmp.Or(b.Target, c.Home.Target), b.Key) {
			continue
		}
		if b.Making {
			v.Unmakeable = cmp.Or(v.Unmakeable, b.Why)
		} else {
			v.Blocked = cmp.Or(v.Blocked, b.Why)
		}
	}
}

// listed reports whether an expected machine shows in the result. An orphan whose instance is
// gone as well was deleted completely, and is left out.
func listed(c *match.Machine, v *Verdict) bool {
	return c.Recorded != nil || v.Status != code.Stale && v.Reason != code.PoolMember
}

// letGo makes the verdicts point to copies of their instances, so that the Result does not
// hold the inventory, and clears those that are not in it.
func letGo(of []*match.Machine, verdicts []Verdict, shows func(backup.ClusterID) bool) {
	n := 0
	for i, c := range of {
		if v := &verdicts[i]; !listed(c, v) || !shows(c.Of.Cluster) {
			*v = Verdict{}
		}
		if verdicts[i].Instance != nil {
			n++
		}
	}
	copies := make([]infra.Instance, 0, n)
	for i := range verdicts {
		if v := &verdicts[i]; v.Instance != nil {
			one := *v.Instance
			one.Keys = nil
			copies = append(copies, one)
			v.Instance = &copies[len(copies)-1]
		}
	}
}

// concerns reports whether the placement of an instance is about what is shown: one of the
// clusters that it may belong to or, if none is known, a listing in which it is seen. Verdicts are
// filtered with their clusters.
func (p *placement) concerns(shows func(backup.ClusterID) bool, v *match.VM, seen func(*match.VM) bool) bool {
	switch {
	case p.verdict != nil:
		return true
	case p.unattributed != nil && len(p.unattributed.Clusters) > 0:
		return slices.ContainsFunc(p.unattributed.Clusters, shows)
	}
	return seen(v)
}

// add files one instance.
func (r *Result) add(d *drafts, p placement) {
	switch {
	case p.excluded != "":
		r.Excluded[p.excluded]++
	case p.unattributed != nil:
		d.unattributed = append(d.unattributed, p.unattributed)
	case p.verdict != nil:
		d.addInstance(p)
	case p.outOfScope:
		r.OutOfScope++
		if p.foreign != "" {
			r.ForeignTags[p.foreign]++
		}
	}
}
