package plan

import (
	"fmt"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// ghost plans for a VM that no object of the backup knows. What destroys it needs all
// of: strong evidence, a known role, an id that nothing else in the report has,
// and ids of the right form.
func (pl *planner) ghost(d *draft, s *set, m *report.Machine) {
	v := pl.vm(m.Instance)
	switch {
	case m.Instance == nil || v == nil:
		d.before("Its VM can't be addressed by an id from this report. Find it in its infrastructure's console, and prove that it is a machine of this cluster.")
		d.after("Remove it by hand, and not before the restore: for a control-plane machine see first that the others answer and that etcd lists it no more; then drain its Node, detach the disks of persistent volumes, delete the Node, power the VM off, and delete it only when nothing is missed.")
		return
	case warned(m, code.DuplicateID) || len(m.Others) > 0 || !pl.only(m.Instance):
		d.before("Other VMs have its id, or may be meant by it. Tell them apart by path, creation time and addresses before you touch any; this plan has no command that destroys one.", v.show())
		return
	case !v.proven():
		d.before("The report does not say which "+v.Noun+" it was seen in, as one of an older release or inventory does not: run detect again. No command that destroys is made before.", v.show())
	case !m.HasStrongEvidence() || m.Role == "":
		pl.prove(d, s, m, v)
		return
	case m.Role == report.RoleControlPlane:
		pl.ghostControlPlane(d, s, m, v)
	default:
		pl.ghostWorker(d, s, m, v)
	}
}

// prove plans for evidence that does not carry the end of a VM.
func (pl *planner) prove(d *draft, s *set, m *report.Machine, v *vm) {
	then := " Then run detect again with access to the cluster's API server: with the Node list the evidence becomes strong, and the plan has the lines that remove it."
	if s.cluster.Nodes.State == report.NodesRead {
		then = " The Node list was read, and makes it no machine of the cluster: ask its owner."
	}
	d.before("Prove first that it is a machine of this cluster, and which role it has: find the Node with its id and look at the annotation of Cluster API, and at the VM itself."+then,
		pl.nodesByID(s.cluster), v.show())
	d.after(leaveRunning).kind = reminder
}

const leaveRunning = "Leave it running until it is proven to be a machine of this cluster: no controller touches it."

func (pl *planner) ghostWorker(d *draft, s *set, m *report.Machine, v *vm) {
	pl.capacity(d, s)
	pl.end(d, s.cluster, m, v, shell.Command{})
}

// end drains the Node of a Ghost, saves its disks, and removes Node and VM, the VM only
// where first allows that.
func (pl *planner) end(d *draft, c *report.Cluster, m *report.Machine, v *vm, first shell.Command) {
	noMachine := pl.noMachine(m.Instance.ID)
	isGhost := noMachine.Then(pl.isNode(c, nodeWord(m), m.Instance.ID)) // see planner.isGhost
	d.after("Drain its Node, and wait until no volume is attached to it any more.", append(pl.drain(c, m, isGhost), pl.attachments(c))...)
	v.detach(d)
	d.after("Delete its Node.", isGhost.Then(pl.workload(c, "delete", nodeWord(m))))
	v.remove(d, noMachine, first)
}

// capacityFirst is said of every owner alike, so that its Ghosts are one batch with
// those of others: the commands are what differs.
const capacityFirst = "Capacity first: replace the Stale machines of the same owner, if there are any. If the owner has fewer replicas than machines exist and the load needs them all, scale it to those that exist. Wait until the new machines are Running, and see that the others can carry the load."

// capacity comes before a drain: what runs on the Ghost needs another place.
func (pl *planner) capacity(d *draft, s *set) {
	alive := s.counts.Healthy + s.counts.Ghost
	_, known := scalable[s.kind]
	listed := pl.linesOf(s.cluster).listed
	switch {
	case s.managedBy != "":
		d.after("Capacity first: the replicas of its owner are set by "+s.managedBy+". See that the other machines can carry the load, or raise the limit there, and wait until new ones are Ready.", listed)
	case known && s.desired != nil && int64(alive) > *s.desired:
		look, owned, scale := pl.scale(s, *s.desired, int64(alive))
		d.after(pl.once(capacityFirst, atTheTopology(s)),
			append(look, owned.Then(scale), listed)...)
	default:
		d.after(pl.once(capacityFirst, atTheTopology(s)), listed)
	}
}

// ghostControlPlane removes one member at a time, with the quorum looked at
// before, between and after.
func (pl *planner) ghostControlPlane(d *draft, s *set, m *report.Machine, v *vm) {
	c := s.cluster
	etcd := s.stackedEtcd()
	if why := pl.unsafe(s); why != "" {
		d.before("No line removes it: "+why, v.show())
		d.after("Leave it running. Resolve what is Unknown, start what is off and replace what is Stale; then run detect again.")
		return
	}
	if etcd {
		pl.saveEtcd(d, c)
		d.before("Write down which members etcd has: after the restore KubeadmControlPlane removes members without a Machine by itself, within seconds, once all its Machines have Nodes. If this VM must stay a member, take a newer backup instead.")
	}
	d.after("One control-plane machine at a time. See first that the restored Machines of the control plane are Running with a Node each; replace its Stale ones first.", listMachines(c))
	switch {
	case etcd:
		d.after("See that every member answers. Stop here if one that is to stay does not: removing another then costs the quorum.", pl.quorum(c)...)
		d.after("Remove its member from etcd, unless KubeadmControlPlane did already: the list names members like their Nodes. The line does nothing while any member is silent. If that is this one alone, decide by hand.",
			pl.evict(c, m)...)
		d.after("See again that a majority of the members answers, before anything else.", pl.quorum(c)...)
	case s.kind != kubeadmControlPlane:
		d.after("Remove its member from etcd with the means of this kind of control plane, and see that a majority of the members answers before you go on.")
	}
	v.leaveBalancer(d, c)
	if !etcd {
		pl.end(d, c, m, v, shell.Command{})
		return
	}
	pl.end(d, c, m, v, pl.evicted(c, m))
	d.after("See that all members answer before you begin with the next machine. If the control plane was larger before the restore, scale it up only now.", pl.quorum(c)...)
}

// unsafe says why a Ghost of a control plane may be one of the last that keep it alive.
func (pl *planner) unsafe(s *set) string {
	n := pl.members(s.cluster).running
	switch {
	case n < s.majority():
		return fmt.Sprintf("%s known to run of those that the backup records, and a majority is %d. It may be one of the last that keep the control plane alive.", are(n, "control-plane machine"), s.majority())
	case pl.living(s.cluster) == nil && pl.members(s.cluster).unlisted > 0:
		return "the report leaves out the machines that run, and by which its cluster is known. Make it again without --ignore-healthy-resources."
	case pl.living(s.cluster) == nil:
		return "the report does not say which VM any running machine of its cluster has, by which the cluster would be known."
	default:
		return ""
	}
}

// drain empties the Node of a Ghost, where it still is one.
func (pl *planner) drain(c *report.Cluster, m *report.Machine, isGhost shell.Command) []shell.Command {
	drain := pl.workload(c, "drain", nodeWord(m), "--ignore-daemonsets", "--delete-emptydir-data")
	return append(pl.askNode(c, m), isGhost.Then(drain))
}
