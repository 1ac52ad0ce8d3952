package rehearsal

import (
	"fmt"

	"drift-detector/report"
	"drift-detector/report/code"
)

// etcd weighs the members before and after the restore.
func (c *cluster) etcd(machines []Machine) *report.Etcd {
	e := &report.Etcd{Recorded: c.recorded, Existing: c.alive + c.stopped}
	for _, m := range machines {
		if m.Outcome == code.GhostEtcdMemberRemoved {
			e.Removed++
		}
	}
	e.After = e.Existing - e.Removed
	if c.control.Kind != kubeadm || c.externalEtcd() {
		e.Quorum, e.Message = code.QuorumNotApplicable, "etcd does not run on its machines, or in a way that is not known here"
		return e
	}
	e.Quorum, e.Message = c.quorum()
	if e.Removed > 0 {
		e.Message += fmt.Sprintf("; KubeadmControlPlane removes %s, so that %d of %d %s left",
			plural(e.Removed, "ghost from it", "ghosts from it, one by one"), e.After, e.Existing, verb(e.After, "is", "are"))
	}
	return e
}

// quorum returns whether etcd has a majority, and why.
func (c *cluster) quorum() (code.Quorum, string) {
	all := len(c.control.members)
	some := plural(c.alive, "control-plane machine exists", "control-plane machines exist")
	if c.waking > 0 {
		some += fmt.Sprintf(" (%s off until %s powers %s on)", plural(c.waking, "is", "are"), c.controller.Name, verb(c.waking, "it", "them"))
	}
	off := fmt.Sprintf("%s stopped (%s), and %s", plural(c.stopped, "is", "are"), c.stoppedNames(), c.nobodyStarts())
	switch {
	case c.alive+c.stopped+c.unsure() == 0:
		return code.QuorumLost, "No machine of the control plane was found: etcd has nothing left that it runs on, and no controller brings it back"
	case c.alive == all:
		return code.QuorumStands, some + ", and etcd with " + verb(c.alive, "it", "them")
	case c.quorate() && c.stopped > 0:
		return code.QuorumStands, some + ", a majority even without the others; " + off
	case c.quorate():
		return code.QuorumStands, some + ", a majority even without the others"
	case all == 1 && c.stopped == 1:
		return code.QuorumUncertain, fmt.Sprintf("The only control-plane machine is stopped (%s), and %s: until it is started, etcd does not run", c.stoppedNames(), c.nobodyStarts())
	case c.stopped > 0:
		surely := "none surely runs"
		if c.alive > 0 {
			surely = "only " + plural(c.alive, "surely runs", "surely run")
		}
		return code.QuorumUncertain, fmt.Sprintf("Of %d control-plane machines %s: %s. Until they are started, etcd may have no majority", all, surely, off)
	case c.unsure() > 0:
		return code.QuorumUncertain, fmt.Sprintf("%s, %s gone and %d unknown: whether etcd has a majority is not known", some, plural(c.stale, "is", "are"), c.unsure())
	}
	return code.QuorumUncertain, fmt.Sprintf("%s, %s gone: etcd has a majority only if %s left it in order; check with etcdctl member list",
		some, plural(c.stale, "is", "are"), verb(c.stale, "that one", "those"))
}
