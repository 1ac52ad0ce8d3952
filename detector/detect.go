package detector

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
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
	ix := newIndex(s, c, inv, o.Now)
	for _, c := range ix.expected {
		ix.settle(c, t.machines)
	}
	ix.owners.countOrphans(ix.expected)
	ix.findReferences()
	d := newDrafts(ix, &c)
	for _, c := range ix.expected {
		if c.listed() {
			d.addMachine(c)
		}
	}
	shown := ix.scopes.needed(&o)
	r := Result{Excluded: map[string]int{}, ForeignTags: map[string]int{}, Scopes: ix.scopes.results(o.shows, shown)}
	decide := func(v *vm) {
		if p := t.decideInstance(ix.instanceFacts(v)); p.concerns(o.shows, v, shown) {
			r.add(d, p)
		}
	}
	for i := range ix.vms {
		if v := &ix.vms[i]; v.matchedBy == nil {
			decide(v)
		}
	}
	ix.decideUnrelated(decide)
	slices.SortStableFunc(d.unattributed, func(a, b *Unattributed) int { return compareInstances(&a.Instance, &b.Instance) })
	r.Unattributed = slices.Grow(r.Unattributed, len(d.unattributed))
	for _, u := range d.unattributed {
		r.Unattributed = append(r.Unattributed, *u)
	}
	r.Clusters = d.clusters(o.shows)
	ix.letGo(o.shows)
	r.conclude(s)
	return r
}

// letGo makes the verdicts point to copies of their instances, so that the Result does not
// hold the inventory, and clears those that are not in it.
func (ix *index) letGo(shows func(backup.ClusterID) bool) {
	n := 0
	for _, c := range ix.expected {
		if !c.listed() || !shows(c.of.Cluster) {
			*c.verdict = Verdict{}
		}
		if c.verdict.Instance != nil {
			n++
		}
	}
	copies := make([]infra.Instance, 0, n)
	for _, c := range ix.expected {
		if v := c.verdict; v.Instance != nil {
			one := *v.Instance
			one.Keys = nil
			copies = append(copies, one)
			v.Instance = &copies[len(copies)-1]
		}
	}
}

// settle decides on one expected machine and gives it its instance.
func (ix *index) settle(c *expectedMachine, rows []machineRow) {
	f := ix.facts(c)
	v := c.verdict
	*v = decideMachine(rows, f)
	v.Namespace, v.Name, v.UID = c.of.Namespace, c.of.Name, c.of.UID
	v.RoleKnown = true
	if !c.of.Infrastructure.IsZero() {
		v.Infrastructure = &c.of.Infrastructure
	}
	if m := c.machine; m != nil {
		v.ControlPlane, v.ProviderID, v.Node = m.ControlPlane, m.ProviderID, m.Node
	} else {
		v.ControlPlane, v.ProviderID = c.Orphan.ControlPlane, c.Orphan.ProviderID
		if v.Status == code.Healthy {
			v.Warnings = append(v.Warnings, report.Warning{Reason: code.MachineMissing, Message: c.Orphan.Kind + " " + c.of.Name + ix.subject.Or(" is in the backup without its Machine: it was being deleted, or was left out", " is left without its Machine: nobody deletes it, and its VM")})
			sorting.By(v.Warnings, compareWarnings)
		}
	}
	v.Finds = f.finds(v)
	ix.block(c, v)
	if v.Instance == nil || !c.listed() {
		return
	}
	for _, found := range [][]*vm{f.home, f.identity, f.weak} {
		for _, one := range found {
			if v.Instance == one.Instance {
				c.matched, one.matchedBy = one, c
				v.Scope = ix.seenAt(one, c.Home.Target)
			}
		}
	}
}

// block says what was found of all that keeps the machine's controller from it.
func (ix *index) block(c *expectedMachine, v *Verdict) {
	for _, b := range c.Blockers {
		if !ix.scopes.shows(ix.scopes.byTarget[cmp.Or(b.Target, c.Home.Target)], b.Key) {
			continue
		}
		if b.Making {
			v.Unmakeable = cmp.Or(v.Unmakeable, b.Why)
		} else {
			v.Blocked = cmp.Or(v.Blocked, b.Why)
		}
	}
}

// listed reports whether the expected machine shows in the result. An orphan whose instance is
// gone as well was deleted completely, and is left out.
func (c *expectedMachine) listed() bool {
	return c.machine != nil || c.verdict.Status != code.Stale && c.verdict.Reason != code.PoolMember
}

// concerns reports whether the placement of an instance is about what is shown: one of the
// clusters that it may belong to or, if none is known, a listing that shows it. Verdicts are
// filtered with their clusters.
func (p *placement) concerns(shows func(backup.ClusterID) bool, v *vm, shown []bool) bool {
	switch {
	case p.verdict != nil:
		return true
	case p.unattributed != nil && len(p.unattributed.Clusters) > 0:
		return slices.ContainsFunc(p.unattributed.Clusters, shows)
	}
	return slices.ContainsFunc(v.seen, func(i int32) bool { return shown[i] })
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

// conclude rolls the result up. The management cluster's own machines are shown
// and do not count here.
func (r *Result) conclude(s *backup.Snapshot) {
	r.Status, r.Complete = code.Healthy, true
	for i := range r.Clusters {
		if !r.Clusters[i].Self {
			r.Status = code.Worst(r.Status, r.Clusters[i].Status)
		}
	}
	if len(r.Unattributed) > 0 {
		r.Status = code.Worst(r.Status, code.NeedFurtherConfirmationInfraMachines)
	}
	// Problems of clusters that are not shown count as well: the VM of a machine that
	// could not be read cannot be distinguished from any other VM.
	for _, p := range s.Problems {
		e := Error{Object: p.Item, Message: p.Reason, Unread: p.Decisive}
		if p.Decisive {
			r.Complete = false
			e.Hint = "nothing is concluded from what could not be read; take another backup, or see what that object is"
			if s.Backups[p.Backup].Live || s.Moved(p.Backup) {
				e.Hint = s.UnreadHint(p.Backup)
			}
		}
		r.Errors = append(r.Errors, e)
	}
	for i := range r.Scopes {
		if sc := &r.Scopes[i]; sc.State != code.ScopeComplete {
			r.Complete = false
			r.Errors = append(r.Errors, Error{Scope: sc.Provider + " " + sc.Endpoint, Message: sc.Error.Message, Hint: sc.Error.Hint})
		}
	}
	if unread := r.nodeListErrors(); len(unread) > 0 {
		r.Complete = false
		r.Errors = append(r.Errors, unread...)
	}
	if text := unreadable(r.Unattributed); text != "" {
		r.Complete = false
		r.Errors = append(r.Errors, Error{Message: text, Hint: "see whether the account may read them (drift-detector permissions), and whether they are inaccessible or orphaned"})
	}
	if r.Complete && len(s.Clusters) == 0 && slices.ContainsFunc(s.Backups, func(b backup.Info) bool { return b.Live }) {
		r.Complete = false
		r.Errors = append(r.Errors, Error{Message: "no Cluster is in the management cluster", Hint: "see whether it is the right one: give its kubeconfig, and its context"})
	}
	sorting.By(r.Errors, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint))
	})
	if len(r.Errors) > 0 {
		r.Status = code.Worst(r.Status, code.NeedFurtherConfirmation)
	}
}

// unreadable returns a message that names the instances that may be machines and could
// not be read; empty when there are none.
func unreadable(all []Unattributed) string {
	const few = 5
	var names []string
	for i := range all {
		if all[i].Unread {
			names = append(names, cmp.Or(all[i].Instance.Path, all[i].Instance.Name, all[i].Instance.Ref))
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "a VM that may be a machine cannot be read: " + names[0]
	case n > few:
		names = append(names[:few], fmt.Sprintf("%d more", n-few))
		fallthrough
	default:
		return fmt.Sprintf("%d VMs that may be machines cannot be read: %s", n, strings.Join(names, ", "))
	}
}
