package plan

import (
	"fmt"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// stale plans for a Machine without a VM. Who acts is the forecast's word; without a
// forecast it is the operator's to find out.
func (pl *planner) stale(d *draft, s *set, m *report.Machine) {
	switch outcome(m) {
	case code.ReplacedByMachineHealthCheck:
		if s.plane && lostControlPlane(s.cluster) {
			break
		}
		d.controller("A MachineHealthCheck covers it: the Machine is deleted and created again, some minutes after the control plane is initialised. Watch, and do nothing.", listMachines(s.cluster))
		return
	case code.NewInstanceCreated:
		d.controller("A new VM is created for it. If that does not join, its bootstrap token has expired: delete the Machine, and its owner creates another.", listMachines(s.cluster))
		return
	case code.RolledByOwner:
		d.controller("A rollout of its owner replaces it: the Machine is deleted and created again. Watch, and do nothing.", listMachines(s.cluster))
		return
	case code.DeletedByOwner:
		d.controller("Its owner goes, and deletes it: "+m.Forecast.Message+". If you need its machines, resolve that before its controllers act.", listMachines(s.cluster))
		return
	case code.DeletedByMachineHealthCheck:
		d.after("Bring back what its owner creates machines from, before its controllers act: a MachineHealthCheck has the Machine deleted, and none comes in its place. "+sentence(m.Forecast.Message), listMachines(s.cluster))
		return
	case code.Halted:
		if s.kind == "MachinePool" && m.Reason == code.PoolMember {
			pl.remake(d, s, m, "Delete the Machine: "+m.Forecast.Message+".")
			return
		}
		d.after("Its controller does nothing for it until this is resolved: "+m.Forecast.Message+". Then run detect again: do not delete the Machine before, because its deletion would not end.", listMachines(s.cluster))
		return
	case code.OtherInstanceTaken:
		d.before("Do not delete its Machine: its controller takes over another VM that has its name, and would terminate that one. Find out whose that VM is, and rename it before its controllers act, or keep all infrastructure objects of the machine paused. " + sentence(m.Forecast.Message))
		return
	case code.NewInstanceNeverJoins:
		d.controller("A new VM is created for it that never joins, because its id cannot be recorded. It runs until the Machine is deleted, and is then deleted with it.", listMachines(s.cluster))
	case code.UntouchedPaused:
		what := "Machine is paused (annotation cluster.x-k8s.io/paused)"
		if s.cluster.Paused {
			what = "cluster is paused"
		}
		d.after("Its " + what + " and nothing acts on it. Find out who paused it and why; what follows holds from when it is unpaused.")
	case code.CannotKnow:
		if s.cluster.Counts.Unknown > 0 {
			d.before("What happens to it is not known. Resolve what the report calls Unknown in its cluster, and run detect again.")
			return
		}
		d.after("What its controllers do is not known here. Watch them first: if its Machine stays without a VM, delete it by hand once you have seen that there is still no VM with its id, and its owner creates another.", listMachines(s.cluster))
		return
	}
	switch {
	case m.Reason == code.NotProvisioned:
		pl.neverProvisioned(d, s, m)
	case s.plane:
		pl.staleControlPlane(d, s, m)
	case lostControlPlane(s.cluster):
		d.before("None of the machines of its control plane that the backup records was found, so that a new worker would have nothing to join. Nothing to do here: decide about the control plane first.")
	case s.kind == "MachinePool":
		d.controller("Its pool creates and replaces its members by itself.", listMachines(s.cluster))
	default:
		pl.staleWorker(d, s, m)
	}
}

func (pl *planner) neverProvisioned(d *draft, s *set, m *report.Machine) {
	d.after("It had no VM when the backup was taken, and will get none while the cause lasts: look at its conditions, and remove the cause (a missing template, a quota, a network).",
		manage(m.Namespace, "describe", machines+m.Name))
	d.controller("Then its VM is made at once. If you do not need it any more, scale its owner down instead.", listMachines(s.cluster))
}

// staleWorker plans for a worker that is replaced by its owner as soon as the Machine is gone, because a
// Machine without a VM counts as a replica.
func (pl *planner) staleWorker(d *draft, s *set, m *report.Machine) {
	pl.scaleDown(d, s, m)
	text := "Delete the Machine: nothing replaces it as long as it exists, because it counts as a replica. Its owner then creates a new one."
	if outcome(m) == "" {
		text = "If no MachineHealthCheck covers it (one that does replaces it by itself): " + strings.ToLower(text[:1]) + text[1:]
	}
	if outcome(m) == code.StuckNodeLeft {
		text = pl.once(text, " Its Node is still registered, so that it looks joined; Cluster API drains and deletes the Node with the Machine.")
	}
	pl.remake(d, s, m, text)
}

// scaleDown plans for groups of which fewer run than the backup wants, with no
// Ghost in the place of the Stale: somebody wanted fewer. Each Machine is marked
// and the owner scaled by one: scaling to the end at once could take a living
// machine in the place of a Stale one that still has its Node (Cluster API
// core/reconcilers/machineset/machineset_delete_policy.go v1.14.0). A Machine
// that is scaled away is deleted like any other, so that nothing may have its id;
// and without the mark any Machine would be: all is one command.
func (pl *planner) scaleDown(d *draft, s *set, m *report.Machine) {
	_, known := scalable[s.kind]
	living := int64(s.counts.Healthy)
	if s.counts.Ghost > 0 || s.counts.Unknown > 0 || living == 0 || s.desired == nil || !known || s.managedBy != "" {
		return
	}
	to := *s.desired - s.nth(m)
	if to < living {
		return
	}
	text := "Decide: fewer machines exist than the replicas in the backup, and nothing replaced the others. If the group was scaled down after the backup, mark one Stale Machine after the other and scale their owner down by one each time, in the order of this list: it deletes the one that is marked."
	a := pl.absent(s, m)
	if a.why != "" {
		d.after(text + " No line does that: " + a.why + ".")
		return
	}
	look, owned, scale := pl.scale(s, to+1, to)
	mark := pl.manage(m.Namespace, "annotate", machines+m.Name, "--overwrite", "cluster.x-k8s.io/delete-machine=yes")
	wanted := pl.manage(m.Namespace, "get", scalable[s.kind]+s.name, "--output=jsonpath={.spec.replicas}").Prints(fmt.Sprint(to + 1)).OrStop(fmt.Sprintf("the replicas are not %d: nothing was marked", to+1))
	d.after(pl.once(text, atTheTopology(s), " The line looks at the replicas and at the owner before it marks anything, and makes the same checks as that of the next step, which is then to be skipped."), append(look, a.before(owned, wanted.Then(mark), scale))...)
}

// nth numbers a Machine among those of the set that somebody may scale away.
func (s *set) nth(m *report.Machine) int64 {
	if s.scopes == nil {
		s.scopes = map[*report.Machine]int64{}
		for i := range s.machines {
			if o := &s.machines[i]; o.Status == code.Stale && o.Ignored == nil && !replaced[outcome(o)] && o.Reason != code.NotProvisioned {
				s.scopes[o] = int64(len(s.scopes)) + 1
			}
		}
	}
	return s.scopes[m]
}

// replaced are the outcomes of Stale machines that need nobody.
var replaced = map[code.Outcome]bool{code.ReplacedByMachineHealthCheck: true, code.NewInstanceCreated: true, code.RolledByOwner: true, code.DeletedByOwner: true, code.DeletedByMachineHealthCheck: true}

func (pl *planner) staleControlPlane(d *draft, s *set, m *report.Machine) {
	c := s.cluster
	alive, gone := s.counts.Healthy+s.counts.Ghost, s.counts.Stale
	etcd := s.stackedEtcd()
	switch {
	case lostControlPlane(c):
		text := pl.once("None of the machines of the control plane that the backup records was found. ", pl.whatIsLeft(c))
		if outcome(m) == code.ReplacedByMachineHealthCheck {
			text = pl.once(text, " ", english.Capital(pl.keptBack("the cluster")), " until that is decided: ", m.Forecast.Message, ".")
		}
		d.before(text)
		pl.givenUp(d, c)
		return
	case etcd && pl.members(c).running == 0:
		d.before("No machine of the control plane that the backup records is known to run, so that its etcd lives on what the backup does not know, if at all. Delete none of its Machines: KubeadmControlPlane removes etcd members that have no Machine, and those may be the only ones alive. Start what is off, or take a newer backup, and run detect again."+pl.etcdAt(c), pl.quorum(c)...)
		return
	case s.kind != kubeadmControlPlane:
		d.after("Replace it with the means of this kind of control plane, one machine at a time, when a majority of the others answers.", listMachines(c))
		return
	case s.externalEtcd():
		pl.remake(d, s, m, "Delete the Machine, one at a time; KubeadmControlPlane creates a new one. etcd is not on these machines.")
		return
	}
	pl.saveEtcd(d, c)
	text := fmt.Sprintf("Machines of the control plane that exist: %d; that are gone: %d.", alive, gone)
	if alive <= gone {
		d.after(text+" Delete nothing before etcd has a majority: if those that are gone are still members of it, recover etcd by hand first. If they had left it in order, the members that are left answer, and the next step is safe.", pl.quorum(c)...)
	} else {
		d.after(text+" One at a time: go on only while a majority of the members answers.", pl.quorum(c)...)
	}
	pl.remake(d, s, m, "Delete the Machine. KubeadmControlPlane creates a new one only when none of its Machines is without a Node: with several Stale ones, delete the next as soon as etcd answers, without waiting for a replacement.")
	d.after("See that the members of etcd answer before the next one; the member of the deleted Machine may have to be removed.", append(pl.quorum(c), listMachines(c))...)
}

// whatIsLeft says what becomes of a cluster of whose control plane nothing was found.
func (pl *planner) whatIsLeft(c *report.Cluster) string {
	if vms := pl.namesakes(c); len(vms) > 0 {
		return "But VMs exist that may be its machines: " + english.First(shown, vms) + ". Look at these first, and at the Nodes of the cluster if its API server answers: one that was brought back from a VM backup, or copied, may have its name and another id. As long as one of them may be a machine of the cluster, neither leave the cluster out of the restore nor recover its etcd."
	}
	if n := c.Counts.Unknown; n > 0 {
		return fmt.Sprintf("But %s Unknown in the cluster: resolve that first, and run detect again.", are(n, "machine"))
	}
	return "If the cluster was deleted after the backup, leave it out of the restore. If it was lost, no controller brings it back: etcd has to be recovered from a snapshot, or the cluster rebuilt."
}
