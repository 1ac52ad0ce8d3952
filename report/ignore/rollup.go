package ignore

import (
	"drift-detector/detector"
	"drift-detector/report"
)

// rollUp says the statuses of the report again, by the rules of the detector. What
// holds nothing that is set aside keeps its status.
func rollUp(r *report.Report) {
	s := &r.Summary
	s.StatusWithoutRules = s.Status
	if s.Ignored == 0 {
		return
	}
	status := detector.AllHealthy
	s.Clusters = report.ClusterCounts{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		c.Status = clusterStatus(c)
		s.Clusters.Count(c.Status)
		status = detector.Worst(status, detector.Rollup(c.Status))
	}
	if len(r.InfraMachines) > s.IgnoredInfraMachines {
		status = detector.Worst(status, detector.NeedFurtherConfirmationInfraMachine)
	}
	if len(r.Errors) > 0 || !s.Complete {
		status = detector.Worst(status, detector.NeedFurtherConfirmation)
	}
	s.Status = string(status)
}

// clusterStatus renews the statuses of the sets of a cluster and returns its own.
func clusterStatus(c *report.Cluster) string {
	cp := &c.ControlPlane
	changed := renew(&cp.Status, cp.Reason, cp.Machines)
	workers := detector.AllHealthy
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		changed = renew(&g.Status, g.Reason, g.Machines) || changed
		workers = detector.Worst(workers, detector.Rollup(g.Status))
	}
	if !changed {
		return c.Status
	}
	c.Workers.Status = string(workers)
	return string(detector.Worst(detector.Rollup(cp.Status), workers))
}

// renew rolls up the machines of a set that are not set aside, when any is. A
// reason needs confirmation whatever the machines are. Machines that a shortened
// report leaves out are Healthy and change nothing.
func renew(status *string, reason string, machines []report.Machine) bool {
	out, changed := detector.AllHealthy, false
	if reason != "" {
		out = detector.NeedFurtherConfirmation
	}
	for i := range machines {
		m := &machines[i]
		if m.Ignored != nil {
			changed = true
			continue
		}
		out = detector.Worst(out, detector.Status(m.Status).RollUp())
		for _, w := range m.Warnings {
			out = detector.Worst(out, detector.Warning(w).RollUp())
		}
	}
	if changed {
		*status = string(out)
	}
	return changed
}
