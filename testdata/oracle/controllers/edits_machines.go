package oracle

import (
	"math/rand"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machineEdits change Machines and what belongs to them.
var machineEdits = map[string]mutation{
	"machinePaused":           annotating("Machine", clusterv1.PausedAnnotation, ""),
	"vsphereMachinePaused":    annotating("VSphereMachine", clusterv1.PausedAnnotation, ""),
	"deleteMachine":           deleting("Machine"),
	"deleteMachineAnnotation": annotating("Machine", clusterv1.DeleteMachineAnnotation, ""),
	"remediateMachine":        annotating("Machine", clusterv1.RemediateMachineAnnotation, ""),
	"skipRemediation":         annotating("Machine", clusterv1.MachineSkipRemediationAnnotation, ""),
	"hook":                    annotating("Machine", clusterv1.PreTerminateDeleteHookAnnotationPrefix+"/x", "me"),
	"unlabel":                 unlabelling("Machine"),
	"relabel": on("Machine", func(o *obj, w *World, r *rand.Rand) string {
		ms := one(r, w.of("MachineSet"))
		if ms == nil || isControlPlane(o) {
			return ""
		}
		labelsOf(o, ms)
		return "labels that MachineSet " + ms.GetName() + " selects"
	}),
	"controlPlaneLabelOnWorker": on("Machine", func(o *obj, _ *World, _ *rand.Rand) string {
		if isControlPlane(o) {
			return ""
		}
		label(o, clusterv1.MachineControlPlaneLabel, "")
		return "a worker with label control-plane"
	}),
	"setLabelsOnControlPlane": on("Machine", func(o *obj, w *World, r *rand.Rand) string {
		ms := one(r, w.of("MachineSet"))
		if ms == nil || !isControlPlane(o) {
			return ""
		}
		labelsOf(o, ms)
		return "of the control plane, with labels that MachineSet " + ms.GetName() + " selects"
	}),
}
