package report

// Count adds one machine of a status.
func (n *MachineCounts) Count(status Status) {
	n.Total++
	switch status {
	case Healthy:
		n.Healthy++
	case Stale:
		n.Stale++
	case Ghost:
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
func (n *ClusterCounts) Count(status Status) {
	n.Total++
	switch status {
	case ManualRemediationRequired:
		n.ManualRemediationRequired++
	case ManualRemediationNotRequired:
		n.ManualRemediationNotRequired++
	case Healthy:
		n.Healthy++
	default:
		n.NeedFurtherConfirmation++
	}
}
