package plan

import (
	"cmp"
	"slices"

	"drift-detector/report"
)

// gone reports whether of all that the backup records of a cluster nothing was found, nor
// anything that may be its and was not given up with it.
func (pl *planner) gone(c *report.Cluster) bool {
	return c.Confirmed != nil || c.Nodes.State != report.NodesRead && c.Counts.Total > 0 && c.Counts.Stale == c.Counts.Total && lostControlPlane(c) && len(pl.namesakes(c)) == 0
}

// goneClusters returns those of which nothing exists any more.
func (pl *planner) goneClusters() []*report.Cluster {
	var out []*report.Cluster
	for i := range pl.Clusters {
		if c := &pl.Clusters[i]; !c.Self && pl.gone(c) {
			out = append(out, c)
		}
	}
	return out
}

// leavable returns those of them that a label selector can tell from all others.
func (pl *planner) leavable() []*report.Cluster {
	return slices.DeleteFunc(pl.goneClusters(), func(c *report.Cluster) bool { return !pl.tells(c) })
}

// lostControlPlane reports whether none of the machines that the backup records of a
// control plane was found.
func lostControlPlane(c *report.Cluster) bool {
	n := c.ControlPlane.Counts
	return c.ControlPlane.Applicable && n.Stale > 0 && n.Stale == n.Total
}

// namesakes returns the VMs that may be machines of a cluster, by name or location.
func (pl *planner) namesakes(c *report.Cluster) []string {
	out := slices.Clone(pl.alike[key(c)])
	for _, m := range pl.machinesOf(c) {
		for _, o := range m.Others {
			out = append(out, cmp.Or(o.Path, o.Name))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out
}
