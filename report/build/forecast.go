package build

import (
	"drift-detector/report"
	"drift-detector/report/code"
)

import "drift-detector/detector/forecast"

// The functions of this file turn a forecast into the document. Without one
// they give nothing, and the document says nothing of it.

// forecastOf is the forecast of one cluster, or nil.
func forecastOf(f *forecast.Forecast, cluster int) *forecast.Cluster {
	if f == nil || cluster >= len(f.Clusters) {
		return nil
	}
	return &f.Clusters[cluster]
}

func generalForecast(f *forecast.Forecast) *report.GeneralForecast {
	if f == nil {
		return nil
	}
	return &report.GeneralForecast{Outcomes: outcomes(f.Outcomes), NotHealing: f.NotHealing, Notes: notes(f.Notes)}
}

// foresee adds a cluster's forecast to it, except for its machines.
func foresee(c *report.Cluster, f *forecast.Cluster) {
	if f == nil {
		return
	}
	c.Forecast = &report.ClusterForecast{Text: f.Text, Outcomes: outcomes(f.Outcomes), NotHealing: f.NotHealing, Notes: notes(f.Notes)}
	p := &f.ControlPlane
	c.ControlPlane.Forecast = &report.ControlPlaneForecast{
		Replicas: replicas(&p.Replicas), Remediates: p.Remediates, Why: p.Why, Rollout: rollout(p.Rollout),
	}
	if e := p.Etcd; e.Quorum != "" {
		c.ControlPlane.Forecast.Etcd = &report.Etcd{
			Quorum: string(e.Quorum), Recorded: e.Recorded, Existing: e.Existing, Removed: e.Removed, After: e.After, Message: e.Message,
		}
	}
	for i := range c.Workers.Groups {
		g := &f.Groups[i]
		c.Workers.Groups[i].Forecast = &report.GroupForecast{Replicas: replicas(&g.Replicas), ManagedBy: g.ManagedBy, Rollout: rollout(g.Rollout)}
	}
}

func machineForecast(fs []forecast.Machine, i int) *report.MachineForecast {
	if i >= len(fs) {
		return nil
	}
	return &report.MachineForecast{Outcome: code.Outcome(fs[i].Outcome), Condition: fs[i].Condition, Message: fs[i].Message, RolledOut: fs[i].RolledOut}
}

func replicas(r *forecast.Replicas) report.Replicas {
	return report.Replicas{
		Recorded: r.Recorded, Working: r.Working, Created: r.Created, Deleted: r.Deleted,
		Running: r.Running, Unknown: r.Unknown, Surplus: r.Surplus, Missing: r.Missing,
	}
}

func rollout(r *forecast.Rollout) *report.Rollout {
	if r == nil {
		return nil
	}
	return &report.Rollout{Stale: r.Stale, Ghosts: r.Ghosts, Message: r.Message}
}

func outcomes(counts map[code.Outcome]int) map[code.Outcome]int {
	out := make(map[code.Outcome]int, len(counts))
	for o, n := range counts {
		out[code.Outcome(o)] = n
	}
	return out
}

func notes(ns []forecast.Note) []report.Note {
	out := make([]report.Note, len(ns))
	for i, n := range ns {
		out[i] = report.Note{Code: code.Reason(n.Code), Message: n.Message}
	}
	return out
}
