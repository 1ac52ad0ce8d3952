package plan

import (
	"fmt"

	"drift-detector/report"
)

// ghost is a VM that no object of the backup knows. What destroys it needs all
// of: strong evidence, a known role, an id that nothing else in the report has,
// and ids of the right form.
func (b *book) ghost(d *draft, s *set, m *report.Machine) {
	v := b.vm(m.Instance)
	switch {
	case m.Instance == nil || v == nil:
		d.before("Its VM can't be addressed by an id from this report. Find it in its infrastructure's console, and prove that it is a machine of this cluster.")
		d.after("Remove it by hand, and not before the restore: for a control-plane machine see first that the others answer and that etcd lists it no more; then drain its Node, detach the disks of persistent volumes, delete the Node, power the VM off, and delete it only when nothing is missed.")
		return
	case warned(m, report.DuplicateID) || len(m.Others) > 0 || !b.only(m.Instance):
		d.before("Other VMs bear its id, or may be meant by it. Tell them apart by path, creation time and addresses before you touch any; no command that destroys is made here.", v.show())
		return
	case !v.proven():
		d.before("The report does not say which "+v.noun+" it was seen in, as one of an older release or inventory does not: run detect again. No command that destroys is made before.", v.show())
	case !m.HasStrongEvidence() || m.Role == "":
		b.prove(d, s, m, v)
		return
	case m.Role == report.RoleControlPlane:
		b.ghostControlPlane(d, s, m, v)
	default:
		b.ghostWorker(d, s, m, v)
	}
}

// prove is for evidence that does not carry the end of a VM.
func (b *book) prove(d *draft, s *set, m *report.Machine, v *vm) {
	then := " Then run detect again with access to the cluster's API server: with the Node list the evidence becomes strong, and the plan has the lines that remove it."
	if s.cluster.Nodes.State == report.NodesRead {
		then = " The Node list was read, and makes it no machine of the cluster: ask its owner."
	}
	d.before("Prove first that it is a machine of this cluster, and which role it has: find the Node with its id and look at the annotation of Cluster API, and at the VM itself."+then,
		b.nodesByID(s.cluster), v.show())
	d.after("Leave it running until that is proven: no controller touches it.")
}

func (b *book) ghostWorker(d *draft, s *set, m *report.Machine, v *vm) {
	b.capacity(d, s)
	d.after("Drain its Node, and wait until no volume is attached to it any more.", append(b.drain(s.cluster, m), b.attachments(s.cluster))...)
	v.detach(d, v)
	d.after("Delete its Node.", b.deleteNode(s.cluster, m))
	v.remove(d, v, command{})
}

// capacity comes before a drain: what runs on the Ghost needs another place.
func (b *book) capacity(d *draft, s *set) {
	alive := s.counts.Healthy + s.counts.Ghost
	_, known := scalable[s.kind]
	switch {
	case s.managedBy != "":
		d.after("Capacity first: the replicas of its owner are set by "+s.managedBy+". See that the other machines can carry the load, or raise the limit there, and wait until new ones are Ready.", listMachines(s.cluster))
	case known && s.desired != nil && int64(alive) > *s.desired:
		look, scale := s.scale(*s.desired, int64(alive))
		d.after(fmt.Sprintf("Capacity first: the restored owner wants %d, and %d exist. If the load needs them all, scale the owner to %d and wait until the new machines are Running.", *s.desired, alive, alive)+atTheTopology(s),
			append(look, scale, listMachines(s.cluster))...)
	case s.counts.Stale > 0:
		d.after("Capacity first: replace the Stale machines of the same owner before this, and wait until their replacements are Running.", listMachines(s.cluster))
	default:
		d.after("Capacity first: see that the other machines of the cluster are Running and can carry the load.", listMachines(s.cluster))
	}
}

// ghostControlPlane removes one member at a time, with the quorum looked at
// before, between and after.
func (b *book) ghostControlPlane(d *draft, s *set, m *report.Machine, v *vm) {
	c := s.cluster
	etcd := s.kind == "KubeadmControlPlane" && !s.externalEtcd()
	if why := b.unsafe(s); why != "" {
		d.before("No line removes it: "+why, v.show())
		d.after("Leave it running. Settle what is Unknown, start what is off and replace what is Stale; then run detect again.")
		return
	}
	if etcd {
		d.before("See that etcd has a majority, and write its members down: after the restore KubeadmControlPlane removes members without a Machine by itself, within seconds, once all its Machines have Nodes. If this VM must stay a member, take a newer backup instead."+b.etcdAt(c), b.quorum(c)...)
		b.snapshot(d, c)
	}
	d.after("One control-plane machine at a time. See first that the restored Machines of the control plane are Running with a Node each; replace its Stale ones first.", listMachines(c))
	switch {
	case etcd:
		d.after("See that every member answers. Stop here if one that is to stay does not: removing another then costs the quorum.", b.quorum(c)...)
		d.after("Remove its member from etcd, unless KubeadmControlPlane did already: the list names members like their Nodes. The line does nothing while any member is silent. If that is this one alone, decide by hand.",
			b.evict(c, m)...)
		d.after("See again that a majority of the members answers, before anything else.", b.quorum(c)...)
	case s.kind != "KubeadmControlPlane":
		d.after("Remove its member from etcd with the means of this kind of control plane, and see that a majority of the members answers before you go on.")
	}
	v.leaveBalancer(d, c, v)
	d.after("Drain its Node, and wait until no volume is attached to it any more.", append(b.drain(c, m), b.attachments(c))...)
	v.detach(d, v)
	d.after("Delete its Node.", b.deleteNode(c, m))
	first := command{}
	if etcd {
		first = b.evicted(c, m)
	}
	v.remove(d, v, first)
	if etcd {
		d.after("See that all members answer before you begin with the next machine. If the control plane was larger before the restore, scale it up only now.", b.quorum(c)...)
	}
}

// unsafe says why a Ghost of a control plane may be one of the last that keep it alive.
func (b *book) unsafe(s *set) string {
	n := runners(s.cluster)
	switch {
	case n < s.majority():
		return fmt.Sprintf("of the control-plane machines that the backup records %d are known to run, and a majority is %d. It may be one of the last that keep the control plane alive.", n, s.majority())
	case b.living(s.cluster) == nil && unlisted(s.cluster) > 0:
		return "the report leaves out the machines that run, and by which its cluster is known. Make it again without --ignore-healthy-resources."
	case b.living(s.cluster) == nil:
		return "the report does not say which VM any running machine of its cluster has, by which the cluster would be known."
	default:
		return ""
	}
}

// externalEtcd says that the forecast found no etcd on the machines.
func (s *set) externalEtcd() bool {
	return s.etcd != nil && s.etcd.Quorum == report.QuorumNotApplicable
}

func nodeName(m *report.Machine) string {
	if m.Node != "" {
		return m.Node
	}
	return m.Name
}

// drain empties the Node of a Ghost.
func (b *book) drain(c *report.Cluster, m *report.Machine) []command {
	drain := b.workload(c, "drain", nodeWord(m), "--ignore-daemonsets", "--delete-emptydir-data")
	return append(b.askNode(c, m), b.isNode(c, nodeWord(m), m.Instance.ID).then(drain))
}

func (b *book) deleteNode(c *report.Cluster, m *report.Machine) command {
	return b.isNode(c, nodeWord(m), m.Instance.ID).then(b.workload(c, "delete", nodeWord(m)))
}

// askNode leads through the Node list to a Node whose name is not known.
func (b *book) askNode(c *report.Cluster, m *report.Machine) []command {
	if m.Node != "" {
		return nil
	}
	return []command{b.nodesByID(c), ask("NODE", "the Node whose id ends in "+m.Instance.ID)}
}

// nodeWord is the Node of a Ghost for kubectl.
func nodeWord(m *report.Machine) any {
	if m.Node != "" {
		return node + m.Node
	}
	return raw(`"node/${NODE:?}"`)
}
