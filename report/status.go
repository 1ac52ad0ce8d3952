package report

import (
	"drift-detector/report/code"
)

// Role is the role of a machine, empty when it is not known.
type Role string

// Roles of a machine.
const (
	RoleControlPlane Role = "control-plane"
	RoleWorker       Role = "worker"
)

// States of a cluster's Node list; others are reasons why it was not read.
const (
	NodesRead         = "read"
	NodesSkipped      = "skipped"
	NodesNoKubeconfig = "noKubeconfig" // the backup has no kubeconfig
)

// RollUp returns what the machine makes of the status of what holds it: its set, its
// cluster, the whole.
func (m *Machine) RollUp() code.Status { return RollUp(m.Status, m.Warnings) }

// RollUp returns what a machine of a status makes of the status of what holds it.
func RollUp(status code.Status, warnings []Warning) code.Status {
	out := status.RollUp()
	for _, w := range warnings {
		if code.NeedsPerson(w.Reason) {
			out = code.Worst(out, code.NeedFurtherConfirmation)
		}
	}
	return out
}
