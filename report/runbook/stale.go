package runbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
)

// stale is a Machine without a VM. Who acts is the forecast's word; without a
// forecast it is the operator's to find out.
func (b *book) stale(d *draft, s *set, m *report.Machine) {
	switch outcome(m) {
	case "ReplacedByMachineHealthCheck":
		d.controller("A MachineHealthCheck covers it: the Machine is deleted and made anew, some minutes after the control plane is initialised. Watch, and do nothing.", listMachines(s.cluster))
		return
	case "NewInstanceCreated":
		d.controller("A new VM is made for it. If that does not join, its bootstrap token has expired: delete the Machine, and its owner makes another.", listMachines(s.cluster))
		return
	case "UntouchedPaused":
		d.after("Its cluster is paused and nothing acts on it. Find out who paused it and why; what follows holds from when it is unpaused.")
	case "CannotKnow":
		if s.cluster.Counts.Unknown > 0 {
			d.before("What becomes of it can't be told. Settle what the report calls Unknown in its cluster, and run detect again.")
			return
		}
		d.after("What its controllers do can't be told from here. Watch them first: if its Machine stays without a VM, delete it by hand once you have seen that there is still no VM with its id, and its owner makes another.", listMachines(s.cluster))
		return
	}
	switch {
	case m.Reason == "NotProvisioned":
		b.neverProvisioned(d, s, m)
	case s.plane:
		b.staleControlPlane(d, s, m)
	case dead(s.cluster):
		d.before("No machine of its control plane exists, so that a new worker would have nothing to join. What becomes of the cluster is decided at its control plane; there is nothing to do for this one by itself.")
	case s.kind == "MachinePool":
		d.controller("Its pool makes and replaces its members by itself.", listMachines(s.cluster))
	default:
		b.staleWorker(d, s, m)
	}
}

// dead says that no machine of a control plane exists that had some.
func dead(c *report.Cluster) bool {
	n := c.ControlPlane.Counts
	return c.ControlPlane.Applicable && n.Stale > 0 && n.Stale == n.Total
}

func (b *book) neverProvisioned(d *draft, s *set, m *report.Machine) {
	d.after("It had no VM when the backup was taken, and will get none while the cause lasts: look at its conditions, and remove the cause (a missing template, a quota, a network).",
		manage(m.Namespace, "describe", machines+m.Name))
	d.controller("Then its VM is made without more ado. If it is not wanted any more, scale its owner down instead.", listMachines(s.cluster))
}

// staleWorker is replaced by its owner as soon as the Machine is gone, because a
// Machine without a VM counts as a replica.
func (b *book) staleWorker(d *draft, s *set, m *report.Machine) {
	b.scaleDown(d, s, m)
	text := "Delete the Machine: nothing replaces it as long as it exists, because it counts as a replica. Its owner then makes a new one."
	if outcome(m) == "" {
		text = "If no MachineHealthCheck covers it (one that does replaces it by itself): " + strings.ToLower(text[:1]) + text[1:]
	}
	if outcome(m) == "StuckNodeLeft" {
		text += " Its Node is still registered, so that it looks joined; Cluster API drains and deletes the Node with the Machine."
	}
	b.remake(d, s, m, text)
}

// scaleDown is for groups of which fewer run than the backup wants, with no
// Ghost in the place of the Stale: somebody wanted fewer. Each Machine is marked
// and the owner scaled by one: scaling to the end at once could take a living
// machine in the place of a Stale one that still has its Node (Cluster API
// core/reconcilers/machineset/machineset_delete_policy.go v1.14.0). A Machine
// that is scaled away is deleted like any other, so that nothing may bear its id;
// and without the mark any Machine would be: all is one command.
func (b *book) scaleDown(d *draft, s *set, m *report.Machine) {
	_, known := scalable[s.kind]
	living := int64(s.counts.Healthy)
	if s.counts.Ghost > 0 || s.counts.Unknown > 0 || living == 0 || s.desired == nil || !known || s.managedBy != "" {
		return
	}
	to := *s.desired - s.nth(m)
	if to < living {
		return
	}
	text := fmt.Sprintf("Decide: %d of %d exist, and nothing replaced the others. If the group was scaled down after the backup, mark one Stale Machine after the other and scale their owner down by one each time, in the order of this list: it deletes the one that is marked.", living, *s.desired)
	g, ok := b.absence(s.cluster, m)
	if !ok {
		d.after(text + " No command is made for that: a VM with the id of the Machine would be destroyed, and the report can't say where to look for one.")
		return
	}
	look, scale := s.scale(to+1, to)
	mark := manage(m.Namespace, "annotate", machines+m.Name, "--overwrite", "cluster.x-k8s.io/delete-machine=yes")
	d.after(text+" Before that, look once more for a VM with its id, which must print nothing: deleting a Machine destroys every VM that has it."+atTheTopology(s)+" Then skip the next step.",
		slices.Concat(g.searches, look, []command{g.before(mark.then(scale))})...)
}

// nth is the place of a Machine among those of the set that somebody may scale away.
func (s *set) nth(m *report.Machine) int64 {
	if s.places == nil {
		s.places = map[*report.Machine]int64{}
		for i := range s.machines {
			if o := &s.machines[i]; o.Status == report.Stale && o.Ignored == nil && !replaced[outcome(o)] && o.Reason != "NotProvisioned" {
				s.places[o] = int64(len(s.places)) + 1
			}
		}
	}
	return s.places[m]
}

// replaced are the outcomes of Stale machines that need nobody.
var replaced = map[string]bool{"ReplacedByMachineHealthCheck": true, "NewInstanceCreated": true}

func (b *book) staleControlPlane(d *draft, s *set, m *report.Machine) {
	c := s.cluster
	alive, gone := s.counts.Healthy+s.counts.Ghost, s.counts.Stale
	switch {
	case dead(c):
		d.before("No machine of the control plane exists. If the cluster was deleted after the backup, leave it out of the restore. If it was lost, no controller brings it back: etcd has to be recovered from a snapshot, or the cluster made anew.")
		return
	case s.kind != "KubeadmControlPlane":
		d.after("Replace it with the means of this kind of control plane, one machine at a time, when a majority of the others answers.", listMachines(c))
		return
	case s.externalEtcd():
		b.remake(d, s, m, "Delete the Machine, one at a time; KubeadmControlPlane makes a new one. etcd is not on these machines.")
		return
	}
	d.before("See that etcd has a majority, before anything changes."+b.etcdAt(c), b.quorum(c)...)
	b.snapshot(d, c)
	text := fmt.Sprintf("Machines of the control plane that exist: %d; that are gone: %d.", alive, gone)
	if alive <= gone {
		d.after(text+" Delete nothing before etcd has a majority: if those that are gone are still members of it, recover etcd by hand first. If they had left it in order, the living members answer, and the next step is safe.", b.quorum(c)...)
	} else {
		d.after(text+" One at a time: go on only while a majority of the members answers.", b.quorum(c)...)
	}
	b.remake(d, s, m, "Delete the Machine. KubeadmControlPlane makes a new one only when none of its Machines is without a Node: with several Stale ones, delete the next as soon as etcd answers, without waiting for a replacement.")
	d.after("See that the members of etcd answer before the next one; the member of the deleted Machine may have to be removed.", append(b.quorum(c), listMachines(c))...)
}

// remake deletes a Machine if nothing bears its id.
func (b *book) remake(d *draft, s *set, m *report.Machine, text string) {
	g, ok := b.absence(s.cluster, m)
	if !ok {
		d.after(text+" Make sure by hand that there is still no VM with its id, because deleting a Machine destroys every VM that has it; the report can't say where to look.",
			manage(m.Namespace, "describe", machines+m.Name))
		return
	}
	d.after(text+" Before that, look once more for a VM with its id, which must print nothing: deleting a Machine destroys every VM that has it.",
		append(g.searches, g.before(manage(m.Namespace, "delete", machines+m.Name)))...)
}

// absence is the search for a VM with the id of a Machine, in every place where
// it could be.
type absence struct {
	searches []command // print what is found
	proofs   []command // fail when something is found
}

// absence is false where nobody can tell what to search for, or where.
func (b *book) absence(c *report.Cluster, m *report.Machine) (absence, bool) {
	id := m.ProviderID[strings.LastIndexByte(m.ProviderID, '/')+1:]
	homes := b.homes(c, m)
	if len(homes) == 0 || !homes[0].identifies(id) {
		return absence{}, false
	}
	var out absence
	for _, p := range homes {
		out.searches = append(out.searches, p.find(p, id))
		out.proofs = append(out.proofs, p.absent(id))
	}
	return out, true
}

// before runs a command only when nothing was found anywhere.
func (a absence) before(c command) command {
	for _, p := range slices.Backward(a.proofs) {
		c = p.then(c)
	}
	return c
}

// homes are where a Machine's VM would be: where its own was seen, else where
// others of its cluster are, else every place of its provider.
func (b *book) homes(c *report.Cluster, m *report.Machine) []*place {
	if m.Instance != nil {
		if p := b.placeOf(m.Instance); p != nil {
			return []*place{p}
		}
	}
	if known, ok := b.homesOf[c]; ok {
		return known
	}
	var out []*place
	note := func(p *place) {
		if p != nil && p.provider == providers[c.Provider] && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, s := range sets(c) {
		for i := range s.machines {
			if n := s.machines[i].Instance; n != nil {
				note(b.placeOf(n))
			}
		}
	}
	if len(out) == 0 {
		for i := range b.Scopes {
			s := &b.Scopes[i]
			note(b.placeOf(&report.Instance{Provider: s.Provider, Scope: scopeName(s), Account: s.Account}))
		}
	}
	slices.SortFunc(out, func(x, y *place) int { return cmp.Compare(x.variable, y.variable) })
	b.homesOf[c] = out
	return out
}
