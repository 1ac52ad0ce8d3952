package report

import "drift-detector/report/code"

// Count adds one machine of a status.
func (n *MachineCounts) Count(status code.Status) {
	n.Total++
	switch status {
	case code.Healthy:
		n.Healthy++
	case code.Stale:
		n.Stale++
	case code.Ghost:
		n.Ghost++
	default:
		n.Unknown++
	}
}

// Count adds one resource of a state.
func (n *ResourceCounts) Count(state Presence) {
	switch state {
	case Present:
		n.Present++
	case Absent:
		n.Absent++
	default:
		n.Unknown++
	}
}

// Add adds the counts of m.
func (n *MachineCounts) Add(m MachineCounts) {
	n.Total += m.Total
	n.Healthy += m.Healthy
	n.Stale += m.Stale
	n.Ghost += m.Ghost
	n.Unknown += m.Unknown
}

// Count adds one cluster of a status.
func (n *ClusterCounts) Count(status code.Status) {
	n.Total++
	switch status {
	case code.ManualRemediationRequired:
		n.ManualRemediationRequired++
	case code.ManualRemediationNotRequired:
		n.ManualRemediationNotRequired++
	case code.Healthy:
		n.Healthy++
	default:
		n.NeedFurtherConfirmation++
	}
}
