package ignore

import (
	"drift-detector/report"
	"drift-detector/report/code"
)

// rollUp computes the statuses of the report again, without the findings that are
// set aside. What holds none of these keeps its status.
func rollUp(r *report.Report) {
	s := &r.Summary
	s.StatusWithoutRules = s.Status
	if s.Ignored == 0 {
		return
	}
	status := code.Healthy
	s.Clusters = report.ClusterCounts{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		c.Status = clusterStatus(c)
		s.Clusters.Count(c.Status)
		status = code.Worst(status, c.Status)
	}
	if r.ToConfirm() > 0 {
		status = code.Worst(status, code.NeedFurtherConfirmationInfraMachines)
	}
	if len(r.Errors) > 0 || !s.Complete {
		status = code.Worst(status, code.NeedFurtherConfirmation)
	}
	s.Status = status
}

// clusterStatus updates the statuses of the sets of a cluster and returns its own.
func clusterStatus(c *report.Cluster) code.Status {
	cp := &c.ControlPlane
	changed := renew(&cp.Status, cp.Reason, cp.Machines)
	workers := code.Healthy
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		changed = renew(&g.Status, g.Reason, g.Machines) || changed
		workers = code.Worst(workers, g.Status)
	}
	if !changed {
		return c.Status
	}
	c.Workers.Status = workers
	return code.Worst(cp.Status, workers)
}

// renew updates the status of a set of which any machine is set aside, and reports
// whether one is. A set with a reason needs confirmation whatever its machines are.
// Machines that a shortened report leaves out are Healthy and change nothing.
func renew(status *code.Status, reason code.Reason, machines []report.Machine) bool {
	out, changed := code.Healthy, false
	if reason != "" {
		out = code.NeedFurtherConfirmation
	}
	for i := range machines {
		m := &machines[i]
		if m.Ignored != nil {
			changed = true
			continue
		}
		out = code.Worst(out, m.RollUp())
	}
	if changed {
		*status = out
	}
	return changed
}
