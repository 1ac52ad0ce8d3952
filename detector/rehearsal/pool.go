package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// poolDeeds are asked of each group of workers.
var poolDeeds = []deed[*set]{
	unwantedDeed,
	{walk.Row{
		ID: "core.N2", Of: "MachinePool",
		Asks:    "the size of its pool, which the controller of its infrastructure sets to the replicas of the backup, unless something else sets those",
		None:    walk.Makes.Says("the pool is created again, with new machines"),
		Several: walk.Does{Effect: walk.Deletes, Code: code.PoolScaledBack, What: "the instances that are too many are terminated"},
		Differs: walk.Does{Effect: walk.Makes, Code: code.PoolGrown, What: "the instances that are too few are created"},
		Refused: "whether the pool exists, and its size",
		Source:  "exp/controllers/awsmachinepool_controller.go, pkg/cloud/services/eks/nodegroup.go, autoscaling/autoscalinggroup.go of CAPA v2.8.1 to v2.13.0",
	}, poolSize},
}

// poolSize asks core.N2.
func poolSize(p *actions, s *set) bool {
	title, pool := s.title(), s.Pool
	switch {
	case s.Kind != machinePool || pool == nil || s.removed != "":
		return false
	case pool.State == code.Absent && s.pausedPool() != "":
		p.says(code.OwnerHalted, p.notes(walk.None, fmt.Sprintf("The pool of %s is gone, and nobody creates it again until %s is unpaused", title, s.pausedPool())))
		return true
	case pool.State == code.Absent:
		p.finds(walk.None, fmt.Sprintf("The pool of %s is gone: it is created again, with new machines", title))
		return true
	case pool.State == code.Undecided:
		p.unread(code.PoolNotDecided, fmt.Sprintf("Whether the pool of %s exists could not be looked up", title))
		return true
	case !pool.DesiredNow.Known:
		p.unread(code.PoolNotDecided, fmt.Sprintf("What the pool of %s is set to could not be looked up", title))
		return true
	}
	if s.created+s.deleted == 0 {
		return true
	}
	now := int(pool.DesiredNow.N)
	wants, remedy := fmt.Sprintf("specifies %d", now+s.created), "its replicas"
	if s.deleted > 0 {
		wants = fmt.Sprintf("specifies %d", s.poolWants)
	}
	if s.bounded {
		wants, remedy = fmt.Sprintf("allows %d to %d", pool.Min.N, pool.Max.N), "maxSize of its infrastructure"
	}
	if s.deleted > 0 {
		p.finds(walk.Several, fmt.Sprintf("The pool of %s is set to %d, and the backup %s: %s, as soon as %s acts. Set %s to %d before that",
			title, now, wants, plural(s.deleted, "running instance is terminated", "running instances are terminated"), s.cluster.controller.Name, remedy, now))
	}
	if s.created > 0 {
		p.finds(walk.Differs, fmt.Sprintf("The pool of %s is set to %d, and the backup %s: %s created", title,
			now, wants, plural(s.created, "instance is", "instances are")))
	}
	return true
}

// pausedPool names what keeps the controller of a pool from it: the MachinePool, for whose
// owner reference it waits (CAPA exp/controllers/awsmachinepool_controller.go and
// awsmanagedmachinepool_controller.go v2.8.1 to v2.11.1), or its own object.
func (s *set) pausedPool() string {
	if s.Kind != machinePool {
		return ""
	}
	if g := s.group(); g != nil && g.Paused {
		return g.Kind + " " + g.Name
	}
	return s.cluster.idlePools[s.Name]
}

// bounds compares the size of a pool that another tool sets with the bounds of the
// backup. The controller sets those alone, and AWS moves a size that is outside of them
// (CAPA UpdateASG in pkg/cloud/services/autoscaling/autoscalinggroup.go v2.13.0;
// UpdateAutoScalingGroup in the API reference of Auto Scaling).
func (s *set) bounds(p *detector.PoolState) {
	now := p.DesiredNow
	switch {
	case !now.Known || p.State != code.Present:
	case p.Max.Known && now.N > p.Max.N:
		s.bounded = true
		s.step(p.Max, int(now.N), true)
	case p.Min.Known && now.N < p.Min.N:
		s.bounded = true
		s.step(p.Min, int(now.N), true)
	}
}

// pool compares what a MachinePool wants with what its pool is set to. Its controller
// sets the pool to the replicas of the backup, unless another tool sets those (CAPA
// exp/controllers/awsmachinepool_controller.go and pkg/cloud/services/eks/nodegroup.go
// v2.13.0).
func (s *set) pool() {
	itself := s.group()
	p, managed := s.Pool, false
	switch {
	case itself != nil:
		s.managedBy, managed = managedBy(itself), itself.ReplicasManagedBy != ""
	case p != nil:
		managed = p.ManagedBy != ""
	}
	if s.pausedPool() != "" || s.haltedPool() {
		return
	}
	want := backup.Number{}
	if p != nil {
		want = p.Desired
	}
	if t, name := s.cluster.topology, topologyPool(itself); t.works() && name != "" {
		i, wanted := t.poolNames[name]
		if !wanted {
			s.removed = fmt.Sprintf("MachinePool %s is not in the topology of its Cluster any more", s.Name)
			return
		}
		if n := t.poolReplicas(i); n.Known {
			want = n
		}
		if t.Version != "" && itself.Version != "" && t.Version != itself.Version && !at(t.poolsDeferred, i) {
			s.due = fmt.Sprintf("it runs Kubernetes %s, and the topology of its Cluster specifies %s", itself.Version, t.Version)
		}
	}
	switch {
	case p == nil:
	case managed:
		s.bounds(p)
	case p.State == code.Absent:
		s.step(p.Desired, 0, true)
	case p.State == code.Present && p.DesiredNow.Known:
		s.step(want, int(p.DesiredNow.N), true)
	}
	s.living(p)
}

// living takes away from the members that end those that are not there: a pool may be set to
// more than it could launch.
func (s *set) living(p *detector.PoolState) {
	if p == nil || s.deleted == 0 {
		return
	}
	s.poolWants = int(p.DesiredNow.N) - s.deleted
	if p.Living.Known {
		s.deleted = max(0, int(p.Living.N)-s.poolWants)
	}
}

// haltedPool reports whether a step of the walk keeps the pool's controller from it.
func (s *set) haltedPool() bool {
	return slices.ContainsFunc(s.cluster.walked, func(w *walk.Step) bool { return w.Does().Effect == walk.OwnerHalts && w.Subject == s.title() })
}
