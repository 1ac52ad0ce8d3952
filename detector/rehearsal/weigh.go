package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// weighed is what weigh finds out about a cluster and its control plane.
type weighed struct {
	halts         []standstill      // why its controllers do nothing
	rolled        map[string]string // MachineSets whose Machines are replaced, and why
	recorded      int               // Machines of the control plane in the backup
	nodeless      int               // of those, how many will have no Node
	undecided     int               // of those, how many may or may not have one
	alive         int               // instances of control-plane machines that run, or are powered on after the restore; ghosts included
	waking        int               // of those, how many are off until the controller powers them on
	stopped       int               // instances of control-plane machines that exist, and that nothing starts
	stale         int               // Machines whose instance does not exist
	behind        bool              // one of its Machines runs another version of Kubernetes than is wanted
	remediates    bool
	remediation   string // why, or why not
	doubtful      bool   // whether it replaces one that runs is not known
	lost          string // what the backup lacks, without which nobody manages the control plane
	uninitialised bool   // see isUninitialised
	remaking      string // what KubeadmControlPlane does to a control plane that is not initialised
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
		// Preflight checks hold KubeadmControlPlane back until all its Machines have Nodes.
		c.control.created, c.control.deleted = 0, 0
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
				f.remedied, f.remedy = false, why
			}
			if why := f.unrolled(); why != "" {
				f.rolled, f.remedied, f.remedy = "", false, why
			}
		}
	}
}

// sets are the control plane and the groups of workers.
func (c *cluster) sets() []*set {
	if c.all == nil {
		c.all = append([]*set{&c.control}, c.groups...)
	}
	return c.all
}

// nodeMissing reports whether the machine will have no Node. Without its Node list
// only a Stale machine is taken to have none.
func (f *machine) nodeMissing() bool {
	if f.node != nil {
		return false
	}
	return f.stale() || f.cluster.read && f.Machine.ProviderID != ""
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
		case f.nodeMissing():
			c.nodeless++
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

// remade says what a health check and KubeadmControlPlane do to a control plane that is
// not initialised. Of such a one health checks do not spare the machines, and
// KubeadmControlPlane asks neither for a second Machine nor for an etcd majority before it
// deletes one. Of several it keeps the instance until the API server answers, from Cluster
// API 1.8 on (machinehealthcheck_targets.go, and remediation.go and
// reconcilePreTerminateHook of KubeadmControlPlane, v1.4.0 to v1.14.0).
func (c *cluster) remade(h *check) string {
	with := ", with an empty etcd"
	if c.externalEtcd() {
		with = ""
	}
	cause := "its API server does not answer"
	if c.finds("core.K10", walk.None) {
		cause = "it lacks ConfigMap kube-system/kubeadm-config"
	}
	takes := "because " + cause + ", KubeadmControlPlane takes the control plane for one that was never initialised"
	if c.recorded == 1 {
		return h.title() + " covers its only Machine: " + takes + ", deletes the Machine, with its instance if it has one, and makes another" + with
	}
	return h.title() + " covers its Machines: " + takes + ", and deletes one of them. What instance that has is deleted once the API server answers, and at once before Cluster API 1.8"
}

// endangering is the health check for which KubeadmControlPlane deletes a Machine of a
// control plane of which some machines run, if these are too few for its API server to
// answer; nil when there is none, or when that is known to answer.
func (c *cluster) endangering() *check {
	if c.control.Kind != kubeadm || !c.Applicable || c.read || c.alive == 0 || c.quorate() && !c.finds("core.M8", walk.Unread) || c.uninitialised || c.pausedPlane() != "" {
		return nil
	}
	for _, h := range c.checks {
		all := *h
		all.unhealthy = h.targets // nobody sees their Nodes
		if ok, _ := all.allows(); ok && h.planes > 0 && h.timeout > 0 && h.remediator() == "" {
			return h
		}
	}
	return nil
}

// quorate reports whether an etcd majority runs even if those that are gone are still
// its members.
func (c *cluster) quorate() bool { return 2*c.alive > len(c.control.members) }

// stalled reports whether stopped instances leave etcd without a sure majority.
func (c *cluster) stalled() bool { return c.stopped > 0 && !c.quorate() }

// unsure counts the control-plane machines of which nobody can say whether they
// exist.
func (c *cluster) unsure() int { return len(c.control.members) - c.alive - c.stopped - c.stale }

// remediate returns whether KubeadmControlPlane would replace one broken member, once its
// cluster is not paused, and why (Cluster API
// controlplane/kubeadm/reconcilers/kubeadmcontrolplane/remediation.go v1.14.0).
func (c *cluster) remediate() (bool, string) {
	var h *check
	for i := range c.control.members {
		if f := c.control.members[i]; f.check != nil && (h == nil || f.unhealthy) {
			h = f.check
		}
	}
	c.doubtful = (c.control.Kind != kubeadm || c.pausedMember() != "") && c.pausedPlane() == ""
	switch {
	case c.control.Kind != kubeadm:
		return false, "what " + c.control.Kind + " does about a broken machine is not known here"
	case c.pausedPlane() != "":
		return false, c.pausedPlane() + " is paused"
	case c.pausedMember() != "" && !c.uninitialised:
		return false, c.pausedMember() + " is paused, and KubeadmControlPlane refuses to replace a machine while the Node of another is not recorded again"
	case h == nil:
		return false, "no MachineHealthCheck covers its machines, so that nothing asks KubeadmControlPlane to replace one"
	case h.remediator() != "":
		return false, h.title() + " leaves it to " + h.remediator() + ", not to KubeadmControlPlane"
	case c.uninitialised:
		return c.remediateUninitialised(h)
	case c.managed != nil && c.plane != nil && c.managed.Version != "" && c.managed.Version != c.plane.Version:
		return false, "KubeadmControlPlane refuses until it is to have Kubernetes " + c.managed.Version + ", as the topology of its Cluster has"
	case c.recorded <= 1:
		return false, "KubeadmControlPlane never replaces its only Machine once its API server answers"
	case c.lostControlPlane():
		return false, "no machine of it runs yet"
	case c.undecided > 0:
		return false, plural(c.undecided, "of its Machines is Unknown", "of its Machines are Unknown")
	}
	c.doubtful = true // that of those which are gone may not be true of one that runs
	switch ok, why := h.allows(); {
	case c.nodeless > 1:
		return false, fmt.Sprintf("%d of its Machines will have no Node, and KubeadmControlPlane refuses to replace one while another is being provisioned", c.nodeless)
	case !c.quorate():
		return false, "etcd may have no quorum, and KubeadmControlPlane refuses then"
	case !ok:
		return false, why
	}
	return true, h.title() + " covers its machines, etcd has a quorum, and at most one Machine is without a Node"
}

// remediateUninitialised returns whether KubeadmControlPlane replaces the only Machine of
// a control plane that is not initialised, and what it does to several.
func (c *cluster) remediateUninitialised(h *check) (bool, string) {
	bad := slices.ContainsFunc(c.control.members, func(f *machine) bool { return f.unhealthy && f.check == h })
	ok, why := h.allows()
	switch {
	case !bad:
		return false, h.title() + " covers its machines, but does not mind a missing Node"
	case !ok:
		return false, why
	}
	c.remaking = c.remade(h)
	return c.recorded == 1, c.remaking
}

// spared says why the MachineSet of an unhealthy machine does not replace it, or is empty
// (Cluster API reconcileUnhealthyMachines in core/reconcilers/machineset v1.9.0 to v1.14.0;
// before that a MachineSet of an older revision did, so that only of a machine that is gone
// the worse is said), or makes none in its place (syncReplicas there, v1.8.0 to v1.14.0).
func (f *machine) spared() string {
	s := f.set
	if md := s.group(); md != nil && s.Kind == machineDeployment && md.NoRemediation {
		return "spec.remediation.maxInFlight of MachineDeployment " + s.Name + " lets no unhealthy machine be replaced"
	}
	of := f.cluster.group(f.by)
	switch {
	case !f.stale():
		return ""
	case of != nil && of.NoCreate:
		return "annotation " + clusterv1.DisableMachineCreateAnnotation + " keeps MachineSet " + of.Name + " from making another"
	case s.current != nil && s.current.Name != f.by.name:
		return "MachineSet " + f.by.name + " is of an older revision, and from Cluster API 1.9 on leaves it to a rollout of MachineDeployment " + s.Name + ", which does none"
	}
	return f.cluster.skewed(of)
}

// skewed says why a MachineSet replaces no machine although it would be asked to, or is
// empty: its preflight checks compare its version with that of the control plane, by default
// from Cluster API 1.9 on, and that of a topology as a whole from 1.10 on
// (machineset_preflight.go in core/reconcilers/machineset v1.9.0 to v1.14.0). A bootstrap
// template may skip them, too, which is not seen here.
func (c *cluster) skewed(g *backup.Group) string {
	if g == nil {
		return ""
	}
	skipped := strings.Split(strings.ReplaceAll(g.SkippedChecks, " ", ""), ",")
	runs := func(check clusterv1.MachineSetPreflightCheck) bool {
		return !slices.Contains(skipped, string(check)) && !slices.Contains(skipped, string(clusterv1.MachineSetPreflightCheckAll))
	}
	const none = "%s %s makes none from Cluster API 1.9 on until %s says which version it runs"
	switch lost, paused := c.lostPlane(), c.pausedPlane(); {
	case lost != "" && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable):
		return fmt.Sprintf(none, g.Kind, g.Name, lost+", which the backup lacks,")
	case paused != "" && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable):
		return fmt.Sprintf(none, g.Kind, g.Name, paused+", which is paused,")
	case c.plane == nil:
		return ""
	}
	wanted := c.wantedVersion(c.plane)
	set, err := version.ParseGeneric(g.Version)
	plane, otherwise := version.ParseGeneric(wanted)
	if err != nil || otherwise != nil {
		return ""
	}
	ahead := int(set.Minor()) - int(plane.Minor())
	if c.behind && !c.remediates && c.nodeless > 0 && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable) {
		return fmt.Sprintf("%s %s makes none from Cluster API 1.9 on until its control plane runs Kubernetes %s, and that waits for %s without a Node", g.Kind, g.Name, wanted, plural(c.nodeless, "Machine", "Machines"))
	}
	switch {
	case c.managed != nil && g.Version != wanted && runs(clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew):
	case g.Bootstrap.Kind == "KubeadmConfigTemplate" && ahead != 0 && runs(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew):
	case (ahead > 0 || ahead < -3) && runs(clusterv1.MachineSetPreflightCheckKubernetesVersionSkew):
	default:
		return ""
	}
	return fmt.Sprintf("%s %s is of Kubernetes %s and its control plane of %s, for which Cluster API from 1.9 or 1.10 on makes no machine", g.Kind, g.Name, g.Version, wanted)
}

// replaceable reports whether a health check would replace the machine if it found it
// unhealthy.
func (f *machine) replaceable() bool {
	return f.check != nil && f.check.remediator() == "" && f.pausedOwner() == "" && f.spared() == "" && !f.cluster.lostControlPlane() && (!f.verdict.ControlPlane || f.cluster.remediates)
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
	case h == nil:
		return false, "no MachineHealthCheck covers it, and a Machine that exists counts as a replica, so that nothing replaces it"
	case f.stale() && f.waitsForPlane() != "":
		return false, h.title() + " covers it, but nothing replaces it until " + f.waitsForPlane()
	case f.verdict.ControlPlane && f.cluster.lostControlPlane():
		return f.cluster.remediates, f.cluster.remediation
	case !f.unhealthy && f.node != nil:
		return false, h.title() + " covers it, and finds that Node well"
	case !f.unhealthy && !f.cluster.lostControlPlane():
		return false, h.title() + " covers it, but does not mind a missing Node"
	case f.cluster.lostControlPlane() && !f.Machine.Remediate:
		return false, h.title() + " covers it, but skips it while the control plane is not initialised, and no machine of that runs"
	case h.remediator() != "":
		return false, h.title() + " leaves it to " + h.remediator() + ", not to its owner"
	case f.verdict.ControlPlane:
		return f.cluster.remediates, f.cluster.remediation
	case f.by.kind != machineSet:
		return false, "no MachineSet owns it, so that nobody would make another"
	case f.pausedOwner() != "":
		return false, f.pausedOwner() + " is paused, and leaves it as it is"
	case f.spared() != "":
		return false, f.spared()
	case f.stale():
		return h.certainly()
	}
	return h.allows()
}
