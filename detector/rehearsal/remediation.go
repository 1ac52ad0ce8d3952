package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup/owners"
	"drift-detector/infra/walk"
	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// remedyDeeds are asked of each Machine that a health check covers: what its owner does once it is
// marked.
var remedyDeeds = []deed[*machine]{
	workerMarkedDeed,
	{walk.Row{
		ID: "core.K17", Of: "control plane",
		Asks:    "its Machines that a health check has marked, and whether all others are well",
		Differs: walk.Replaces.Says("it deletes the Machine, with the instance that it has, and creates another"),
		None:    walk.OwnerHalts.Says("it deletes none until the others are well, or for as long as its retries are limited"),
		Source:  "reconcileUnhealthyMachines, canSafelyRemoveEtcdMember, checkRetryLimits: controlplane/kubeadm/internal/controllers/remediation.go v1.8.0 to v1.14.0",
	}, planeMarked},
}

// planeMarked asks core.K17.
func planeMarked(p *actions, f *machine) bool { return f.verdict.ControlPlane && p.remedy(f) }

// remedy finds whether the owner of an unhealthy Machine replaces it.
func (p *actions) remedy(f *machine) bool {
	switch {
	case f.check == nil:
		return false
	case !f.unhealthy:
	case f.remedied:
		p.notes(walk.Differs, f.replacement())
	default:
		s := p.notes(walk.None, f.remedy)
		if doubt := f.doubt(); doubt != "" {
			p.Add(code.OutcomeUnknown, f.check.title()+" calls running machines unhealthy"+doubt, s.Subject)
		}
	}
	return true
}

// planeDeeds are asked of each control plane, once it is known what becomes of its machines.
var planeDeeds = []deed[*cluster]{
	{walk.Row{
		ID: "core.K16", Of: kubeadm,
		Asks:    "its mark that it is initialised, before it looks at the others for a Machine that a health check marks",
		Differs: walk.Does{Effect: walk.Deletes, Code: code.ControlPlaneDown, What: "it takes the control plane for one that was never initialised, and deletes a Machine without a look at number, quorum and the others"},
		Refused: "whether the API server answers",
		Source:  "reconcileUnhealthyMachines: controlplane/kubeadm/internal/controllers/remediation.go v1.4.0 to v1.14.0",
	}, planeRemade},
	{walk.Row{
		ID: "core.K18", Of: "control plane",
		Asks:   "any Machine of its own",
		None:   walk.Does{Effect: walk.Doubles, Code: code.EtcdMembersRemoved, What: "it creates its first Machine as that of a new control plane, beside what runs"},
		Source: "initializeControlPlane: controlplane/kubeadm/internal/controllers/scale.go v1.6.0 to v1.14.0, and of cluster-api-provider-rke2 v0.25.0, cluster-api-k3s v0.3.1; reconcileMachines of the control planes of Talos v0.5.12, MicroK8s v0.6.11 and k0smotron v2.1.0",
	}, planeBegun},
	{walk.Row{
		ID: "core.K14b", Of: kubeadm,
		Asks:    "a Machine for each etcd member, of instances that run and have none in the backup",
		None:    walk.RemovesMember.Says("it removes the members that have no Machine as soon as all its Machines have Nodes"),
		Refused: "what else of the control plane is there",
		Source:  "reconcileEtcdMembers: controlplane/kubeadm/internal/controllers/controller.go v1.6.0 to v1.14.0",
	}, membersLeft},
	planeAnswersDeed,
	{walk.Row{
		ID: "core.K6", Of: "control plane",
		Asks:    "its last change, which its controller had seen when the backup was taken",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "what has changed is carried out, and may roll machines"},
		Source:  "metadata.generation and status.observedGeneration of its object",
	}, planeSeen},
}

// planeRemade asks core.K16.
func planeRemade(p *actions, c *cluster) bool {
	if c.remaking != "" {
		p.finds(walk.Differs, english.Capital(c.remaking))
	}
	if h := c.endangering(); h != nil {
		p.finds(walk.Unread, "Whether the API server answers is not known. If it does not, KubeadmControlPlane takes the control plane for one that was never initialised, and deletes one of its Machines for "+h.title()+", whether or not its instance runs")
	}
	return c.is(kubeadm) && len(c.checks) > 0
}

// planeBegun asks core.K18: no matter what answers behind the endpoint.
func planeBegun(p *actions, c *cluster) bool {
	if c.plane == nil || !owners.Labelled(c.plane.Kind) {
		return false
	}
	if s := &c.control; c.counted(owner{c.plane.Kind, c.plane.Name}).machines == 0 && s.created > 0 && s.unmakeable == "" && (len(s.members) > 0 || s.Reason == code.MachinesNotInBackup) {
		p.finds(walk.None, fmt.Sprintf("The backup holds no Machine of %s, which had some: it creates its first Machine as that of a new control plane, beside what runs. That one begins an empty cluster behind the same endpoint, or joins and is then the only member that etcd keeps", s.title()))
	}
	return true
}

// membersLeft asks core.K14b. Ghosts have an outcome of their own: what was left out of the backup is
// gone for KubeadmControlPlane as much as they are.
func membersLeft(p *actions, c *cluster) bool {
	if c.control.Kind != kubeadm || c.externalEtcd() || c.recorded == 0 {
		return false
	}
	var left []string
	for _, f := range c.control.members {
		if f.orphan() || f.Machine == nil && f.verdict.Status == code.Unknown && f.verdict.Instance != nil {
			left = append(left, f.object())
		}
	}
	switch {
	case left == nil || c.pausedPlane() != "" || c.pausedMember() != "" || c.waitsForNodes():
		// It leaves etcd alone.
	case c.undecided > 0 || c.stalled() || c.joining > 0:
		p.finds(walk.Unread, "Whether KubeadmControlPlane removes these from etcd, because the backup lacks their Machines, depends on what is not known of other machines of the control plane", left...)
	default:
		p.finds(walk.None, sayings[code.EtcdMembersRemoved], left...)
	}
	return true
}

// neverReported reports whether a control plane that has Machines says nothing of them, as in a backup
// of what a restore brought back paused: nothing shows that they are as it specifies them.
func (c *cluster) neverReported() bool {
	return owners.Labelled(c.plane.Kind) && c.plane.Kind != kubeadm && !c.plane.Paused && c.hasPlaneMachines() && !c.plane.Replicas.Known && !c.plane.Updated.Known
}

// planeSeen asks core.K6.
func planeSeen(p *actions, c *cluster) bool {
	if c.plane != nil && (c.plane.Unseen || c.neverReported()) {
		p.finds(walk.Differs, fmt.Sprintf("The controller of %s had not seen its last change when the backup was taken: what it does about it is not known here", c.control.title()))
	}
	return c.plane != nil
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
		return h.title() + " covers its only Machine: " + takes + ", deletes the Machine, with its instance if it has one, and creates another" + with
	}
	return h.title() + " covers its Machines: " + takes + ", and deletes one of them. What instance that has is deleted once the API server answers, and at once before Cluster API 1.8"
}

// endangering returns the health check for which KubeadmControlPlane deletes a Machine of a
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

// remediate returns whether KubeadmControlPlane would replace one broken member, once its
// cluster is not paused, and why (Cluster API
// controlplane/kubeadm/reconcilers/kubeadmcontrolplane/remediation.go v1.14.0).
func (c *cluster) remediate() (bool, string) {
	var h *check
	bad := false // a machine that h covers
	for i := range c.control.members {
		f := c.control.members[i]
		if f.check == nil || h != nil && !f.unhealthy {
			continue
		}
		if ok, _ := f.check.allows(); h == nil || !bad || ok && f.check.remediator() == "" {
			h, bad = f.check, f.unhealthy
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
	case c.topology != nil && c.plane != nil && c.topology.Version != "" && c.topology.Version != c.plane.Version:
		return false, "KubeadmControlPlane refuses until it is to have Kubernetes " + c.topology.Version + ", as the topology of its Cluster has"
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
		c.held = true
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
		c.held = true
		return false, why
	}
	c.remaking = c.remade(h)
	return c.recorded == 1, c.remaking
}
