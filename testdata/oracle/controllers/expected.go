package oracle

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Known is a fault of today's forecast, or a limit of it or of this oracle, and which
// disagreements it explains. README.md says more about each. The first that matches
// explains a disagreement.
type Known struct {
	ID, What string
	matches  func(w *World, res *Result, d Disagreement) bool
}

// known are all of them. One that a long run does not hit is to be deleted: the forecast
// was mended.
var known = []Known{
	{"P4", "no MachineSet scales up while KubeadmControlPlane is absent or paused", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{notMade, notActed, falseMade, cautious, removed}, d.Kind) && w.controlPlaneSilent() ||
			d.Kind == halted && strings.Contains(d.Text, "bootstrap data false") && w.controlPlaneSilent()
	}},
	{"P6", "no VM is made while the workload cluster's API server is gone", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{notMade, falseMade, notActed, cautious}, d.Kind) && !w.quorum()
	}},
	{"P8", "beside an answer that says that the cluster is halted, or that the backup is broken, the others are of what comes after that", func(_ *World, res *Result, d Disagreement) bool {
		return (d.Machine != "" || slices.Contains([]string{falseMade, cautious}, d.Kind)) && res.Forecast.says("ClusterHalted", "BackupError")
	}},
	{"A1", "what is paused by itself is expected to stay so", func(w *World, res *Result, d Disagreement) bool {
		return (d.Kind == halted || d.Kind == notActed) && w.pausedOwner(d.Machine) ||
			slices.Contains([]string{disturbed, cautious}, d.Kind) && slices.ContainsFunc(res.Fates, func(f *Fate) bool { return w.pausedOwner(f.Machine) })
	}},
	{"A2", "a rollout, or a KubeadmControlPlane that is short of a machine, waits for a machine that is broken or paused until the plan's steps are done, or that a hook holds up", func(w *World, res *Result, d Disagreement) bool {
		return slices.Contains([]string{notActed, cautious}, d.Kind) && (w.hooked() || res.Forecast.says("MachinesBroken", "MachinesHalted", "OwnerHalted", "CannotReplace", "BackupError", "MachinesUnknown")) ||
			d.Kind == falseMade && res.Forecast.says("MachinesBroken", "OwnerHalted") && strings.HasPrefix(res.Forecast.Reasons["MachinesMade"], "KubeadmControlPlane ")
	}},
	{"A3", "a MachineSet's replicas were edited: its MachineDeployment sets them back, or it acts before that", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{falseMade, cautious}, d.Kind) && w.replicasDiffer()
	}},
	{"A4", "a MachineDeployment does nothing beside a MachineSet without label machine-template-hash", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{falseMade, cautious, notActed, notMade}, d.Kind) && slices.ContainsFunc(w.of("MachineSet"), func(s *obj) bool {
			return s.GetLabels()[clusterv1.MachineDeploymentUniqueLabel] == ""
		})
	}},
	{"A5", "a topology sets back what was edited below it", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{falseMade, cautious, notActed, notMade}, d.Kind) && slices.ContainsFunc(w.of("Cluster"), func(c *obj) bool {
			return text(c, "spec", "topology", "classRef", "name") != ""
		})
	}},
	{"A6", "beside an answer that says that an owner is halted, what that was to do does not come", func(_ *World, res *Result, d Disagreement) bool {
		return slices.Contains([]string{falseMade, cautious, notMade}, d.Kind) && res.Forecast.says("OwnerHalted") && res.fails("kubeadmcontrolplane", "machinedeployment", "machineset")
	}},
	{"A7", "a template that nothing has to be made of is a condition (NothingToReplace), and its MachineSet fails each time", func(_ *World, res *Result, d Disagreement) bool {
		return d.Kind == failing && slices.Contains(res.Forecast.Conditions, "NothingToReplace") && strings.Contains(d.Text, "failed to retrieve ") && strings.Contains(d.Text, "Template ")
	}},
	{"A8", "a kubeconfig that the control plane creates of another authority is a condition (APIServersAnswer)", func(_ *World, res *Result, d Disagreement) bool {
		kinds := []string{failing, disturbed, notMade, notActed, falseMade, cautious, destroyed, falseYes}
		return slices.Contains(kinds, d.Kind) && slices.Contains(res.Forecast.Conditions, "APIServersAnswer") && res.refusesAuthority()
	}},
	{"O2", "the oracle's management cluster refused writes: a MachineDeployment whose MachineSet is not adopted makes another", func(w *World, _ *Result, d Disagreement) bool {
		return w.faults > 0
	}},
	{"A9", "which of its Machines a KubeadmControlPlane deletes that has too many is not said: here one without a Node, alone", func(w *World, res *Result, d Disagreement) bool {
		return d.Kind == cautious && res.Forecast.says("MachinesDeleted") && slices.ContainsFunc(res.Fates, func(f *Fate) bool {
			return f.ControlPlane && f.Object == "deleted" && (f.Before == "none" || f.Before == "gone")
		})
	}},
	{"A10", "a KubeadmControlPlane does nothing while a kubelet of its machines is dead, or its Node was deleted, which may come back", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{notActed, notMade, falseMade, cautious}, d.Kind) && w.find(func(v *VM) bool { return v.ControlPlane && (v.NotReady || v.NoNode) }) != nil
	}},
	{"A11", "how many running machines a rollout deletes that can create none is not foretold (OutcomeUnknown)", func(_ *World, res *Result, d Disagreement) bool {
		return slices.Contains([]string{destroyed, removed}, d.Kind) && strings.Contains(res.Forecast.Reasons["OutcomeUnknown"], "it can create no machine")
	}},
	{"A14", "which Machine is deleted because the API server does not answer, or may not, is not said (ControlPlaneDown, OutcomeUnknown)", func(_ *World, res *Result, d Disagreement) bool {
		said := strings.Contains(res.Forecast.Reasons["OutcomeUnknown"], "and deletes one of its Machines") || strings.Contains(res.Forecast.Reasons["ControlPlaneDown"], "and deletes one of them")
		return said && slices.Contains([]string{destroyed, removed}, d.Kind) && slices.ContainsFunc(res.Fates, func(f *Fate) bool { return f.Machine == d.Machine && f.ControlPlane })
	}},
	{"A16", "a limit holds a health check back until fewer are unhealthy (OutcomeUnknown)", func(_ *World, res *Result, d Disagreement) bool {
		return slices.Contains([]string{destroyed, removed}, d.Kind) && strings.Contains(res.Forecast.Reasons["OutcomeUnknown"], "Once fewer are")
	}},
	{"A15", "that all Nodes are Ready is a condition (NodesUnread) where they were not read: a machine has none", func(w *World, res *Result, d Disagreement) bool {
		return slices.Contains([]string{destroyed, removed}, d.Kind) && slices.Contains(res.Forecast.Conditions, "NodesUnread") &&
			slices.ContainsFunc(w.VMs, func(v *VM) bool { return v.Name == d.Machine && (v.NoNode || v.NotReady) })
	}},
	{"A12", "no MachineSet makes a machine of another minor version than the control plane's, so that nothing is rolled out", func(w *World, _ *Result, d Disagreement) bool {
		return slices.Contains([]string{notActed, notMade, falseMade, cautious}, d.Kind) && w.minorsDiffer()
	}},
	{"A13", "a MachineDeployment with OnDelete sets an old MachineSet's replicas to what its status counts, unless that set's controller has counted first", func(_ *World, res *Result, d Disagreement) bool {
		return d.Kind == cautious && strings.Contains(res.Forecast.Reasons["RolloutDue"], "a restore empties that status")
	}},
	{"O3", "the oracle's API server of the workload cluster fails now and then, and what failed last is done the next time, or never, or has not come to rest; or its control plane is never called initialised, which is a condition", func(w *World, res *Result, d Disagreement) bool {
		uninitialised := len(res.Begun) > 0 && slices.Contains(res.Forecast.Conditions, "APIServersReached")
		return w.workload.failing && (uninitialised && slices.Contains([]string{falseYes, disturbed, destroyed, failing}, d.Kind) || d.Kind == failing && strings.Contains(d.Text, "request timed out") || slices.Contains([]string{notActed, notMade, falseMade, cautious}, d.Kind) || !res.Quiet)
	}},
	{"O1", "the oracle cuts the API server off, and the inventory's Node list was read", func(w *World, res *Result, d Disagreement) bool {
		return w.workload.cut && slices.Contains([]string{notMade, falseMade, notActed, cautious, halted, failing}, d.Kind) ||
			w.workload.cut && slices.Contains([]string{falseYes, unsaid, disturbed, destroyed}, d.Kind) && slices.Contains(res.Forecast.Conditions, "APIServersReached")
	}},
}

// fails reports whether a controller of one of these kinds does.
func (res *Result) fails(kinds ...string) bool {
	for who := range res.Errors {
		if kind, _, _ := strings.Cut(who, " "); slices.Contains(kinds, kind) {
			return true
		}
	}
	return false
}

// refusesAuthority reports whether a controller failed because the API server has another authority,
// or would have, had a health check not deleted the machines that it ran on.
func (res *Result) refusesAuthority() bool {
	if slices.ContainsFunc(res.What, func(what string) bool { return strings.Contains(what, "-ca otherPair") }) {
		return true
	}
	for _, why := range res.Errors {
		if strings.Contains(why, "it trusts another authority") {
			return true
		}
	}
	return false
}

// explain names the known fault behind each disagreement, where there is one.
func (res *Result) explain(w *World) {
	for i, d := range res.Disagreements {
		for _, k := range known {
			if k.matches(w, res, d) {
				res.Disagreements[i].Expected = k.ID
				break
			}
		}
	}
}

// replicasDiffer reports whether the MachineSets of a MachineDeployment have other
// replicas than it has.
func (w *World) replicasDiffer() bool {
	for _, md := range w.of("MachineDeployment") {
		n := int64(0)
		for _, s := range w.of("MachineSet") {
			if owner := metav1.GetControllerOf(s); owner != nil && owner.Name == md.GetName() {
				n += number(s, "spec", "replicas")
			}
		}
		if n != number(md, "spec", "replicas") {
			return true
		}
	}
	return false
}

// minorsDiffer reports whether a MachineDeployment makes machines of another minor version of
// Kubernetes than that of a KubeadmControlPlane.
func (w *World) minorsDiffer() bool {
	minor := func(version string) string { return strings.Join(strings.SplitN(version, ".", 3)[:2], ".") }
	for _, plane := range w.of("KubeadmControlPlane") {
		for _, md := range w.of("MachineDeployment") {
			if minor(text(md, "spec", "template", "spec", "version")+"..") != minor(text(plane, "spec", "version")+"..") {
				return true
			}
		}
	}
	return false
}

// hooked reports whether an annotation holds up the deletion of a machine.
func (w *World) hooked() bool {
	return slices.ContainsFunc(w.of("Machine"), func(m *obj) bool {
		for name := range m.GetAnnotations() {
			if strings.Contains(name, ".delete.hook.machine.cluster.x-k8s.io") {
				return true
			}
		}
		return false
	})
}

// controlPlaneSilent reports whether no KubeadmControlPlane writes a status.
func (w *World) controlPlaneSilent() bool {
	all := w.of("KubeadmControlPlane")
	return len(all) == 0 || pausedAlone(all[0])
}

func pausedAlone(o *obj) bool {
	_, is := o.GetAnnotations()[clusterv1.PausedAnnotation]
	return is
}

// pausedOwner reports whether a Machine, or the MachineSet, MachineDeployment or
// KubeadmControlPlane above it, is paused by an annotation.
func (w *World) pausedOwner(machine string) bool {
	for o := w.get("Machine", machine); o != nil; {
		if pausedAlone(o) {
			return true
		}
		owner := metav1.GetControllerOf(o)
		if owner == nil {
			break
		}
		o = w.get(owner.Kind, owner.Name)
	}
	vm := w.get("VSphereMachine", machine)
	return vm != nil && pausedAlone(vm)
}
