package rehearsal

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// breakage is the parts of a Machine whose conditions will not hold for long after the
// restore, as it was seen when a backup was really restored.
type breakage struct {
	infrastructure, node, bootstrap bool
	pressed                         bool // its Node is Ready, and lacks memory, disk or processes
	pods                            bool // those of a control plane, on a Node that is not Ready
	outdated                        bool // a paused MachineDeployment has another template
}

// whenGone is that of the conditions of a Machine whose instance is gone, as a real
// restore showed them (Cluster API 1.13.1; setNodeHealthyAndReadyConditions and what the
// infrastructure's own condition says).
var whenGone = map[string]metav1.ConditionStatus{
	clusterv1.InfrastructureReadyCondition: metav1.ConditionFalse,
	clusterv1.ReadyCondition:               metav1.ConditionFalse,
	clusterv1.AvailableCondition:           metav1.ConditionFalse,
	clusterv1.MachineNodeHealthyCondition:  metav1.ConditionUnknown,
	clusterv1.MachineNodeReadyCondition:    metav1.ConditionUnknown,
}

// pressures are the conditions of a Node that NodeHealthy sums up with Ready
// (summarizeNodeConditions in internal/controllers/machine/machine_controller_status.go v1.13.6).
var pressures = []string{"MemoryPressure", "DiskPressure", "PIDPressure"}

// podsOf are the conditions that KubeadmControlPlane writes to its Machines
// (api/controlplane/kubeadm/v1beta2/kubeadm_control_plane_types.go v1.13.6).
var podsOf = map[string]bool{
	"APIServerPodHealthy": true, "ControllerManagerPodHealthy": true, "SchedulerPodHealthy": true,
	"EtcdPodHealthy": true, "EtcdMemberHealthy": true, "NodeKubeadmLabelsAndTaintsSet": true,
}

// statusWhenGone returns that of a condition of a Machine whose instance is gone, and whether it is known
// here. A control plane without Nodes knows nothing of its Pods.
func statusWhenGone(condition string) (metav1.ConditionStatus, bool) {
	if podsOf[condition] {
		return metav1.ConditionUnknown, true
	}
	status, known := whenGone[condition]
	return status, known
}

// isForecast reports whether it is known here when a condition of a Machine does not hold.
func isForecast(condition string) bool {
	_, known := statusWhenGone(condition)
	return condition == "" || known || condition == clusterv1.BootstrapConfigReadyCondition || condition == clusterv1.MachineUpToDateCondition
}

// of reports whether a condition of the Machine will not hold. One of which nothing is known here
// may not hold where something else does not.
func (b breakage) of(condition string) bool {
	switch condition {
	case clusterv1.InfrastructureReadyCondition:
		return b.infrastructure
	case clusterv1.BootstrapConfigReadyCondition:
		return b.bootstrap
	case clusterv1.MachineNodeReadyCondition:
		return b.node
	case clusterv1.MachineNodeHealthyCondition:
		return b.node || b.pressed
	case clusterv1.MachineUpToDateCondition:
		return b.outdated
	}
	if podsOf[condition] {
		return b.pods
	}
	b.outdated = false
	return b != breakage{}
}

// statusWhenWell returns that of a condition of a Machine that runs, and whether it is known here.
func statusWhenWell(condition string) (metav1.ConditionStatus, bool) {
	switch condition {
	case clusterv1.MachineDeletingCondition, clusterv1.MachineUpdatingCondition, clusterv1.PausedCondition:
		return metav1.ConditionFalse, true
	}
	return metav1.ConditionTrue, isForecast(condition)
}
