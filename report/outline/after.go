package outline

import (
	"fmt"
	"slices"

	"drift-detector/report"
	"drift-detector/report/code"
)

// After says of each cluster of a report, in few words, what a restore makes of it.
type After struct{ lost, halted map[*report.Cluster]bool }

// AfterRestore reads the reasons of the answer that are about whole clusters.
func AfterRestore(r *report.Report) After {
	return After{hit(r, code.ControlPlaneDown), hit(r, code.ClusterHalted)}
}

// hit returns the clusters that objects of a reason are in.
func hit(r *report.Report, code code.Reason) map[*report.Cluster]bool {
	out := map[*report.Cluster]bool{}
	for _, p := range r.First() {
		if p.Code != code {
			continue
		}
		for _, like := range append([]report.Point{p}, p.Likes...) {
			for _, o := range like.Objects {
				if o.At.Part == report.InClusters {
					out[&r.Clusters[o.At.Index]] = true
				}
			}
		}
	}
	return out
}

// Of says what happens to a cluster of the report after the restore.
func (a After) Of(c *report.Cluster) []string {
	var out []string
	if a.lost[c] {
		out = append(out, "control plane down")
	}
	if a.halted[c] {
		out = append(out, "halted")
	}
	if c.Paused {
		out = append(out, "paused")
	}
	if c.Forecast == nil {
		return append(out, "not known")
	}
	if n := Terminated(c); n > 0 {
		out = append(out, fmt.Sprintf("%d %s", n, terminated))
	}
	// Taken over is said only where there is nothing else to say.
	n := map[string]int{}
	var words []string
	for _, r := range code.Table {
		if r.Is(code.Forecast) && r.Screen != "" {
			words, n[r.Screen] = append(words, r.Screen), n[r.Screen]+c.Forecast.Outcomes[code.Outcome(r.Code)]
		}
	}
	for _, w := range slices.Compact(words) {
		if n[w] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[w], w))
		}
	}
	if len(out) == 0 {
		if n := c.Forecast.Outcomes[code.Adopted]; n > 0 {
			return []string{fmt.Sprintf("all %d taken over", n)}
		}
		return []string{"-"}
	}
	return out
}

// terminated is what members of a pool are that is scaled down: which of them is for the
// infrastructure to say, so that none of them has that outcome.
const terminated = "terminated"

// Terminated counts the running members that the pools of a cluster have too many of.
func Terminated(c *report.Cluster) int {
	n := 0
	for i := range c.Workers.Groups {
		if g := &c.Workers.Groups[i]; g.Pool != nil && g.Forecast != nil {
			n += g.Forecast.Replicas.Deleted
		}
	}
	return n
}

// Halted reports whether no controller acts on the cluster until somebody does.
func (a After) Halted(c *report.Cluster) bool { return a.halted[c] }
