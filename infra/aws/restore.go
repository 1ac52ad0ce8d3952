package aws

import (
	"strings"

	"drift-detector/infra"
)

// provisionFailed is the reason of condition InstanceReady while CAPA tried to make
// an instance and AWS or CAPA itself refused (controllers/awsmachine_controller.go v2.13.0).
const provisionFailed = "InstanceProvisionFailed"

// restore returns what the AWSMachine says of the restore beside its id. What the Machine
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
		r.Paused = machineKind + " " + m.machine.Name
	}
	if r.Template == "" && r.Failure == "" && r.Paused == "" {
		return nil
	}
	return &r
}
