package rehearsal

import (
	"cmp"
	"slices"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// weighed is what weigh finds out about a cluster and its control plane.
type weighed struct {
	halts         []standstill      // why its controllers do nothing
	until         string            // when they act, of whatever outcome
	rolled        map[string]string // MachineSets whose Machines are replaced, and why
	recorded      int               // Machines of the control plane in the backup
	nodeless      int               // of those, how many will have no Node
	joining       int               // of those, how many may get one
	undecided     int               // of those, how many may or may not have one
	alive         int               // instances of control-plane machines that run, or are powered on after the restore; ghosts included
	waking        int               // of those, how many are off until the controller powers them on
	stopped       int               // instances of control-plane machines that exist, and that nothing starts
	stale         int               // Machines whose instance does not exist
	behind        bool              // one of its Machines runs another version of Kubernetes than is wanted
	remediates    bool
	remediation   string     // why, or why not
	held          bool       // the limit of a health check alone keeps its machines
	doubtful      bool       // whether it replaces one that runs is not known
	lost          string     // what the backup lacks, without which nobody manages the control plane
	uninitialised bool       // see isUninitialised
	remaking      string     // what KubeadmControlPlane does to a control plane that is not initialised
	outliving     *walk.Step // the first for which no instance goes with its Machine
}

// begin forgets what was weighed before, and notes who acts at all: which controllers are halted, and
// which machines wait.
func (c *cluster) begin() {
	c.weighed = weighed{rolled: map[string]string{}}
	for _, h := range c.checks {
		h.covered = covered{}
	}
	for _, s := range c.all {
		s.owed = owed{}
		for _, m := range s.members {
			m.fate = fate{paused: c.Paused}
			if m.Machine == nil {
				m.remedy = "its Machine is not in the backup"
			} else {
				m.paused = c.Paused || m.Paused
			}
		}
	}
	c.halts = c.haltsOf()
	for _, s := range c.walked {
		if c.outliving == nil && s.Row.OnDelete != "" && c.world.waits(s, walk.Halts) {
			c.outliving = s
		}
		if s.Machine < 0 || !c.world.waits(s, walk.Waits) {
			continue
		}
		if m := c.world.machines[s.Machine]; m != nil && m.waiting == nil {
			m.waiting = s
		}
	}
	for _, h := range c.world.halting(c.walked) {
		if !slices.ContainsFunc(c.halts, func(known standstill) bool { return known.Object == h.Object }) {
			c.halts = append(c.halts, h)
		}
	}
	if len(c.halts) > 0 {
		c.until = "only once " + ends(c.halts) + ": until then its cluster is not reconciled"
	}
}

// rehearse plays what the controllers do to the cluster.
func (c *cluster) rehearse() {
	c.begin()
	if c.plane != nil {
		c.planeOwner()
	}
	for _, g := range c.groups {
		g.owners()
	}
	for _, g := range c.groups {
		for _, f := range g.members {
			if f.Machine != nil && f.by.kind == machineSet {
				f.rolled = c.rolled[f.by.name]
			}
		}
	}
	c.weigh()
}

// weigh finds out what depends on several machines at once: the health checks,
// the control plane, and then who is replaced.
func (c *cluster) weigh() {
	c.weighPlane()
	c.uninitialised = c.isUninitialised()
	c.examine()
	if c.Applicable {
		c.remediates, c.remediation = c.remediate()
	}
	if c.nodeless > 0 && !c.remediates {
		// Preflight checks hold KubeadmControlPlane back until all its Machines have Nodes, but for
		// the one that it deletes (scaleDownControlPlane in scale.go v1.5.8 to v1.14.0).
		c.control.created = 0
		if c.control.deleted <= c.nodeless && c.joining == 0 {
			c.control.deleted = 0
		}
	}
	c.lost = cmp.Or(c.lostPlane(), c.unadopted())
	for _, s := range c.all {
		for i := range s.members {
			f := s.members[i]
			if f.Machine == nil {
				continue
			}
			f.remedied, f.remedy = f.findRemedy()
			if why := f.unfinished(); why != "" {
				f.remedied, f.held, f.remedy = false, false, why
			}
			if why := f.unrolled(); why != "" {
				f.rolled, f.remedied, f.held, f.remedy = "", false, false, why
			}
		}
	}
}

// nodeMissing reports whether the machine will have no Node. Without its Node list
// only a Stale machine is taken to have none.
func (f *machine) nodeMissing() bool {
	if f.node != nil {
		return false
	}
	return f.stale() || f.cluster.read && f.Machine.ProviderID != ""
}

// awaitsNode reports whether the machine was being made when the backup was taken, lives now, and has
// no Node: whether it gets one is not known.
func (f *machine) awaitsNode() bool {
	return f.healthy() && f.node == nil && f.cluster.read && f.Machine.ProviderID == ""
}

// weighPlane counts the control plane's machines.
func (c *cluster) weighPlane() {
	for i := range c.control.members {
		f := c.control.members[i]
		f.paused = f.paused || f.ghost() && c.keepsEtcd() != ""
		switch {
		case f.stopped():
			c.stopped++
		case f.verdict.Status == code.Healthy || f.ghost():
			c.alive++
			if f.off() {
				c.waking++
			}
		case f.stale():
			c.stale++
		}
		if f.Machine == nil {
			continue
		}
		c.recorded++
		if p := c.plane; p != nil && f.Machine.Version != "" && f.Machine.Version != c.wantedVersion(p) {
			c.behind = true
		}
		switch {
		case f.nodeMissing() || f.awaitsNode():
			c.nodeless++
			if !f.stale() || f.unprovisioned() {
				c.joining++
			}
		case f.verdict.Status == code.Unknown && f.node == nil:
			c.undecided++
		}
	}
}

// lostControlPlane reports whether the cluster's API server cannot answer, because no machine of
// its control plane runs. Cluster API then takes the control plane for not
// initialised.
func (c *cluster) lostControlPlane() bool {
	return c.Applicable && c.recorded > 0 && c.alive == 0 && c.undecided == 0 && !c.read
}

// isUninitialised reports whether KubeadmControlPlane takes the control plane for one that
// it has not yet made: a restore takes the status away that says so, and its API server
// does not answer, not even once its controllers start what they start, or does not let them in.
func (c *cluster) isUninitialised() bool {
	return c.control.Kind == kubeadm && c.Applicable && (c.finds("core.M8", walk.Differs) || c.finds("core.K10", walk.None)) || c.control.Kind == kubeadm && c.lostControlPlane() &&
		!slices.ContainsFunc(c.control.members, func(f *machine) bool { return f.Machine != nil && f.poweredOn() })
}

// quorate reports whether an etcd majority runs even if those that are gone are still
// its members.
func (c *cluster) quorate() bool { return 2*c.alive > len(c.control.members) }

// stalled reports whether stopped instances leave etcd without a sure majority.
func (c *cluster) stalled() bool { return c.stopped > 0 && !c.quorate() }

// unsure counts the control-plane machines of which nobody can say whether they
// exist.
func (c *cluster) unsure() int { return len(c.control.members) - c.alive - c.stopped - c.stale }

// replaceable reports whether a health check would replace the machine if it found it
// unhealthy.
func (f *machine) replaceable() bool {
	return f.check != nil && f.healer() != nil && f.pausedOwner() == "" && f.spared() == "" && !f.cluster.lostControlPlane() && (!f.verdict.ControlPlane || f.cluster.remediates)
}

// isRacing reports whether a health check may ask for a replacement before KubeadmControlPlane has
// written that it is initialised, until when it minds neither etcd nor that it has one Machine
// alone: it returns once it has adopted Machines, and writes its status the next time, after it
// has looked at what is unhealthy (Reconcile and reconcileUnhealthyMachines in
// controlplane/kubeadm/internal/controllers v1.13.6; seen in testdata/oracle/controllers).
func (f *machine) isRacing() bool {
	c := f.cluster
	awaits := c.topology != nil && c.plane != nil && c.topology.Version != "" && c.topology.Version != c.plane.Version
	return f.Machine.Remediate && c.control.Kind == kubeadm && c.pausedPlane() == "" && c.pausedMember() == "" && !awaits
}

// waitsForPlane says what has to happen before a health check has the machine replaced, or
// is empty: only the object of the control plane says that this is initialised, which a
// restore takes away, and that of a paused one is not asked. Health checks spare workers until
// then, unless the Machine asks for it (reconcileControlPlane in core/reconcilers/cluster and
// needsRemediation in core/reconcilers/machinehealthcheck v1.9.0 to v1.14.0).
func (f *machine) waitsForPlane() string {
	c, worker := f.cluster, !f.verdict.ControlPlane
	switch {
	case worker && f.Machine.Remediate:
		return ""
	case c.lost != "":
		return c.lost + " exists, which the backup lacks"
	case worker && c.pausedPlane() != "":
		return c.pausedPlane() + " is unpaused"
	}
	return ""
}

// findRemedy returns whether something replaces the machine, and why nothing does.
func (f *machine) findRemedy() (bool, string) {
	h := f.check
	switch {
	case f.Machine.SkipRemediation:
		return false, "its annotation cluster.x-k8s.io/skip-remediation keeps health checks away"
	case f.stale() && f.verdict.ControlPlane && f.node == nil && f.cluster.lost == "" && !f.cluster.remediates && f.cluster.dropsNodeless():
		return false, f.set.title() + " has more Machines than it is to have, and deletes those without a Node first: it deletes this one once the others are well, and creates none in its place"
	case h == nil && f.by.kind == machineSet && f.stale() && f.set.empty > 0:
		return false, "MachineSet " + f.by.name + " has more Machines than its replicas: it deletes this one, or another without an instance, and creates none in its place"
	case h == nil:
		return false, "no MachineHealthCheck covers it, and a Machine that exists counts as a replica, so that nothing replaces it"
	case f.stale() && f.waitsForPlane() != "":
		return false, h.title() + " covers it, but nothing replaces it until " + f.waitsForPlane()
	case f.verdict.ControlPlane && f.cluster.lostControlPlane():
		return f.cluster.remediates, f.cluster.remediation
	case !f.unhealthy && f.node != nil && !f.node.Ready:
		return false, h.title() + " covers it, but does not mind that Node"
	case !f.unhealthy && f.node != nil:
		return false, h.title() + " covers it, and finds that Node well"
	case !f.unhealthy && !f.cluster.lostControlPlane():
		return false, h.title() + " covers it, but does not mind a missing Node"
	case f.cluster.lostControlPlane() && !f.Machine.Remediate:
		return false, h.title() + " covers it, but skips it while the control plane is not initialised, and no machine of that runs"
	case f.unhealthy && !isForecast(f.minded):
		return false, h.title() + " minds condition " + f.minded + " of its Machine, and whether that holds is not known here"
	case h.remediator() != "":
		return false, h.title() + " leaves it to " + h.remediator() + ", not to its owner"
	case f.verdict.ControlPlane && f.isRacing():
		return f.byLimit(h.allows())
	case f.verdict.ControlPlane:
		f.held = f.cluster.held
		return f.cluster.remediates, f.cluster.remediation
	case f.by.kind != machineSet:
		return false, "no MachineSet owns it, so that nobody would create another"
	case f.pausedOwner() != "":
		return false, f.pausedOwner() + " is paused, and leaves it as it is"
	case f.spared() != "":
		return false, f.spared()
	}
	return f.byLimit(h.heals(f.stale(), f.starts()))
}

// byLimit notes whether the limit of its health check alone keeps the machine.
func (f *machine) byLimit(ok bool, why string) (bool, string) {
	f.held = !ok
	return ok, why
}
