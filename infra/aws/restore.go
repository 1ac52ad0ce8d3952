package aws

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/infra"
)

// provisionFailed is the reason of condition InstanceReady while CAPA tried to make
// an instance and AWS or CAPA itself refused (controllers/awsmachine_controller.go v2.13.0).
const provisionFailed = "InstanceProvisionFailed"

// restore is what the AWSMachine says of the restore beside its id. What the Machine
// says of a failure is only how many conditions hold, not the cause.
func (m *member) restore() *infra.Restore {
	if m.machine == nil {
		return nil
	}
	d := &m.machine.Data
	var r infra.Restore
	if d.ControlPlane {
		r.Template = d.Template
	}
	if c := d.Unready; c != nil && c.Status == "False" && c.Reason == provisionFailed {
		r.Failure = strings.TrimSpace(c.Message)
	}
	if m.machine.Paused {
		r.Refused = machineKind + " " + m.machine.Name + " has the annotation " + clusterv1.PausedAnnotation
	}
	if r.Template == "" && r.Failure == "" && r.Refused == "" {
		return nil
	}
	return &r
}
