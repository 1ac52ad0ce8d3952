package rehearsal

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Each controller looks at spec.paused of the Cluster and at the annotation of its own
// object alone (Cluster API util/paused and util/annotations v1.9.0 to v1.13.1; CAPV
// controllers/vspheremachine_controller.go, vspherevm_controller.go v1.10.0 to v1.16.1;
// CAPA controllers/awsmachine_controller.go v2.8.1 to v2.11.1; CAPO
// controllers/openstackmachine_controller.go v0.10.0 to v0.14.0).
//
// After a restore a paused object also keeps the controllers of all objects below it:
// Velero drops ownerReferences (resetMetadata in pkg/restore/restore.go v1.9.6 to
// v1.18.1), the controller of each object sets those of the next one again, and that of
// the next one waits for them. So a paused Machine keeps the controllers of its VSphereMachine,
// AWSMachine or OpenStackMachine, and a paused VSphereMachine that of its VSphereVM.
// infra.Restore.Independent names an object whose controller does not wait.
//
// Downwards it does not work from an owner of Machines: those of a paused MachineSet
// or control plane are taken over as any other, and nobody replaces them.

// pausedMachine reports whether the Cluster or the Machine is paused, and no controller
// acts on the instance.
func (f *machine) pausedMachine() bool {
	return f.paused && f.known() && (f.cluster.Paused || f.despitePause() == "")
}

// whyPaused says which object keeps the controllers from the machine.
func (f *machine) whyPaused() string {
	if f.cluster.Paused {
		return "its Cluster is paused in the backup, and therefore after the restore: no controller touches it"
	}
	text := "its Machine has the annotation " + clusterv1.PausedAnnotation + ": nothing is done for it"
	if f.controller() != "" {
		text += ", because " + f.controller() + " waits for what the controller of the Machine does first after a restore"
	}
	return text
}

// pausedInfrastructure says that an infrastructure object of the machine keeps the
// controller from it, or is empty.
func (f *machine) pausedInfrastructure() string {
	if r := f.restore; r != nil && r.Paused != "" && f.despitePause() == "" {
		return r.Paused + " has the annotation " + clusterv1.PausedAnnotation
	}
	return ""
}

// despitePause says which objects of the machine are paused, while its controller makes
// an instance all the same, or takes one that has its name; empty: none is, or it does
// neither.
func (f *machine) despitePause() string {
	r := f.restore
	if r == nil || r.Independent == "" || r.Refused != "" || !f.makesOne() && !f.takesOther() && !f.unprovisioned() {
		return ""
	}
	var objects []string
	if f.Machine.Paused {
		objects = append(objects, "its Machine")
	}
	if r.Paused != "" {
		objects = append(objects, r.Paused)
	}
	if objects == nil {
		return ""
	}
	return strings.Join(objects, " and ") + " " + verb(len(objects), "has", "have") + " the annotation " + clusterv1.PausedAnnotation +
		": " + f.controller() + " creates the instance for " + r.Independent + ", which has not"
}

// although puts behind what the controller does that it does so despite a pause.
func (f *machine) although(text string) string {
	if why := f.despitePause(); why != "" {
		return text + ", although " + why
	}
	return text
}

// pausedOwner names the owner of the Machine that would have to replace it and is
// paused, or is empty.
func (f *machine) pausedOwner() string {
	switch {
	case f.verdict.ControlPlane:
		return f.cluster.pausedPlane()
	case f.Machine == nil:
		return ""
	}
	if g := f.cluster.group(f.by); g != nil && g.Paused {
		return g.Kind + " " + g.Name
	}
	return ""
}

// pausedPlane names the control plane if it is paused by itself.
func (c *cluster) pausedPlane() string {
	if p := c.plane; p != nil && p.Paused {
		return p.Kind + " " + p.Name
	}
	return ""
}

// pausedMember names a paused Machine of the control plane. Velero drops the status
// that says which Node is its own, and only its controller finds that again; until then
// KubeadmControlPlane takes it for a machine that is being made, and neither replaces
// another nor removes etcd members (Cluster API controlplane/kubeadm/internal/controllers
// reconcileEtcdMembers in controller.go, remediation.go v1.9.0 to v1.13.1).
func (c *cluster) pausedMember() string {
	for i := range c.control.members {
		if f := c.control.members[i]; f.Machine != nil && f.Machine.Paused {
			return "Machine " + f.Machine.Name
		}
	}
	return ""
}

// keepsEtcd says which paused object keeps KubeadmControlPlane from removing etcd members.
func (c *cluster) keepsEtcd() string {
	switch {
	case c.Paused:
		return "its cluster is paused"
	case c.pausedPlane() != "":
		return c.pausedPlane() + " is paused"
	case c.pausedMember() != "":
		return c.pausedMember() + " is paused, so that its Node is not recorded again and KubeadmControlPlane leaves etcd alone"
	}
	return ""
}

// pausedObjects returns the cluster, or those of its machines, that no controller touches
// until they are unpaused.
func (c *cluster) pausedObjects() []string {
	if c.Paused {
		return []string{c.title()}
	}
	var out []string
	for _, s := range c.all {
		for i := range s.members {
			if f := s.members[i]; f.Machine != nil && f.Machine.Paused && f.despitePause() == "" {
				out = append(out, f.object())
			}
		}
	}
	return out
}

// pausedOwners returns the ClusterClass, the control plane and the groups that are paused by
// themselves.
func (c *cluster) pausedOwners() []string {
	var out []string
	if t := c.topology; t != nil && t.class != nil && t.class.paused {
		out = append(out, t.classTitle(c))
	}
	for _, s := range c.all {
		if g := s.group(); s.plane != nil && s.plane.Paused || g != nil && g.Paused {
			out = append(out, s.title())
		} else if s.pausedPool() != "" {
			out = append(out, s.pausedPool()+" of "+s.title())
		}
		for _, name := range s.sets {
			if g := c.group(owner{machineSet, name}); s.Kind != machineSet && g != nil && g.Paused {
				out = append(out, machineSet+" "+c.ID.Namespace+"/"+name)
			}
		}
	}
	return out
}
