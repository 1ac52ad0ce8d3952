package rehearsal

import (
	"fmt"

	"drift-detector/infra/walk"
)

// absentDeeds are those of owners that the backup lacks.
var absentDeeds = []deed[*cluster]{
	{walk.Row{
		ID: "core.C6", Of: "Cluster",
		Asks:   "the object of its control plane, which it makes its own",
		None:   walk.OwnerHalts.Says("nobody manages the control plane, and nothing says that it is initialised"),
		Source: "reconcileControlPlane: cluster_controller_phases.go v1.5.8 to v1.14.0",
	}, planeThere},
	{walk.Row{
		ID: "core.K5", Of: kubeadm,
		Asks:   "the KubeadmConfig of each Machine that it takes over",
		None:   walk.OwnerHalts.Says("it takes over none of its Machines: no rollout, no scaling, no remediation, no audit of etcd"),
		Source: "adoptMachines: controller.go v1.6.0 to v1.14.0",
	}, bootstrapThere},
	{walk.Row{
		ID: "core.L1", Of: "topology",
		Asks:   "the templates and extensions of its ClusterClass",
		None:   walk.OwnerHalts.Says("it fails before it compares anything: nothing that it wants is done"),
		Source: "reconcileExternalReferences, reconcileVariables: internal/controllers/clusterclass v1.5.8 to v1.14.0",
	}, classWhole},
	{walk.Row{
		ID: "core.M1", Of: "Machine",
		Asks:   "the MachineDeployment, MachineSet or MachinePool that made it",
		None:   walk.OwnerHalts.Says("nobody scales, rolls out or replaces its machines"),
		Source: "getOwnerMachineDeployment: internal/controllers/machineset v1.9.0 to v1.14.0",
	}, groupsThere},
}

// planeThere asks core.C6.
func planeThere(p *play, c *cluster) bool {
	if lost := c.lostPlane(); lost != "" {
		p.finds(walk.None, fmt.Sprintf("Nobody manages the control plane until %s exists, which the backup lacks", lost))
	}
	return c.own != nil && !c.own.ControlPlane.IsZero()
}

// bootstrapThere asks core.K5.
func bootstrapThere(p *play, c *cluster) bool {
	if lost := c.unadopted(); lost != "" {
		p.finds(walk.None, fmt.Sprintf("%s does nothing for its machines and their etcd until %s exists, which the backup lacks: before that it takes its Machines over, for which it reads the bootstrap objects of all", c.control.title(), lost), c.control.title())
	}
	return c.is(kubeadm) && c.recorded > 0
}

// classWhole asks core.L1.
func classWhole(p *play, c *cluster) bool {
	if lacking := c.managed.lacking(c); lacking != "" {
		p.finds(walk.None, fmt.Sprintf("Nothing that the topology of the Cluster wants is done until %s exists, which the backup lacks", lacking))
	}
	return c.managed != nil
}

// groupsThere asks core.M1.
func groupsThere(p *play, c *cluster) bool {
	for _, s := range c.groups {
		if title := s.title(); s.recorded > 0 && s.owned() && s.group() == nil {
			p.finds(walk.None, fmt.Sprintf("Nobody manages the machines of %s until it exists, which the backup lacks", title), title)
		}
	}
	return len(c.groups) > 0
}

// lostPlane names the control plane if the backup lacks its object; without one that the
// provider runs, no controller acts on the cluster at all.
func (c *cluster) lostPlane() string {
	own := c.own
	if own == nil || own.Derived || !c.lacks(own.ControlPlane) || own.ControlPlane.Kind == c.controller.OwnsKubeconfig {
		return ""
	}
	return objectOf(own.ControlPlane)
}

// unadopted names a bootstrap object that the backup lacks, for which KubeadmControlPlane
// does nothing: a restore takes away that it owns its Machines, and it fails to take them
// over, before all else, while the KubeadmConfig of one of them is absent (adoptMachines in
// controlplane/kubeadm/internal/controllers/controller.go v1.6.0 to v1.14.0).
func (c *cluster) unadopted() string {
	if c.control.Kind != kubeadm {
		return ""
	}
	for i := range c.control.members {
		if f := c.control.members[i]; f.unbootstrapped() {
			return objectOf(f.Machine.Bootstrap)
		}
	}
	return ""
}

// owned reports whether the set is a group that an object of the backup makes.
func (s *set) owned() bool {
	return s.Kind == machineSet || s.Kind == machineDeployment || s.Kind == machinePool
}

// ownerless reports whether the MachineSet of a machine is not in the backup, while
// its MachineDeployment is.
func (f *machine) ownerless() bool {
	if f.Machine == nil || f.Machine.Owner.Kind != machineSet || f.set.Kind != machineDeployment {
		return false
	}
	return f.cluster.group(owner{machineSet, f.Machine.Owner.Name}) == nil && f.set.group() != nil
}
