package forecast

import "fmt"

// Quorum says whether etcd has a majority.
type Quorum string

// Quorums of etcd.
const (
	QuorumStands        Quorum = "Stands"        // a majority exists, even if those that are gone are still members
	QuorumUncertain     Quorum = "Uncertain"     // it depends on whether those that are gone left etcd in order
	QuorumLost          Quorum = "Lost"          // no machine of the control plane exists
	QuorumNotApplicable Quorum = "NotApplicable" // etcd does not run on its machines, or how is not known here
)

// Etcd is what will become of the etcd members on a control plane's machines.
// The backup and the infrastructure show machines, not members: only `etcdctl
// member list` shows those.
type Etcd struct {
	Quorum   Quorum
	Recorded int // Machines in the backup
	Existing int // machines that exist now, ghosts and orphans included
	Removed  int // ghosts whose member KubeadmControlPlane removes
	After    int // machines that exist and stay members
	Message  string
}

// etcd weighs the members before and after the restore.
func (c *cluster) etcd(machines []Machine) Etcd {
	e := Etcd{Recorded: c.recorded, Existing: c.alive}
	for _, m := range machines {
		if m.Outcome == GhostEtcdMemberRemoved {
			e.Removed++
		}
	}
	e.After = e.Existing - e.Removed
	if c.plane.Kind != kubeadm || c.externalEtcd {
		e.Quorum, e.Message = QuorumNotApplicable, "etcd does not run on its machines, or in a way that is not known here"
		return e
	}
	unknown := len(c.plane.members) - c.alive - c.stale
	switch {
	case c.alive == 0 && unknown == 0:
		e.Quorum = QuorumLost
		e.Message = "no machine of the control plane exists: etcd is gone with it, and no controller brings it back"
	case c.quorate():
		e.Quorum = QuorumStands
		e.Message = fmt.Sprintf("%d of its machines exist, a majority whatever became of the others", c.alive)
	case unknown > 0:
		e.Quorum = QuorumUncertain
		e.Message = fmt.Sprintf("%d of its machines exist, %d are gone and %d unknown: whether etcd has a majority cannot be told from here", c.alive, c.stale, unknown)
	default:
		e.Quorum = QuorumUncertain
		e.Message = fmt.Sprintf("%d of its machines exist, %d are gone: etcd has a majority only if those left it in order; etcdctl member list tells", c.alive, c.stale)
	}
	if e.Removed > 0 {
		e.Message += fmt.Sprintf("; KubeadmControlPlane removes the members of %d ghosts one by one, so that %d of %d are left", e.Removed, e.After, e.Existing)
	}
	return e
}
