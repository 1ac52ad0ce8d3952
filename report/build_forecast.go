package report

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

func estateForecast(f *forecast.Forecast) *EstateForecast {
	if f == nil {
		return nil
	}
	return &EstateForecast{Outcomes: outcomes(f.Outcomes), NotHealing: f.NotHealing, Notes: notes(f.Notes)}
}

// foresee adds a cluster's forecast to it, but for its machines.
func (c *Cluster) foresee(f *forecast.Cluster) {
	if f == nil {
		return
	}
	c.Forecast = &ClusterForecast{Text: f.Text, Outcomes: outcomes(f.Outcomes), NotHealing: f.NotHealing, Notes: notes(f.Notes)}
	p := &f.ControlPlane
	c.ControlPlane.Forecast = &ControlPlaneForecast{
		Replicas: replicas(&p.Replicas), Remediates: p.Remediates, Why: p.Why, Rollout: rollout(p.Rollout),
	}
	if e := p.Etcd; e.Quorum != "" {
		c.ControlPlane.Forecast.Etcd = &Etcd{string(e.Quorum), e.Recorded, e.Existing, e.Removed, e.After, e.Message}
	}
	for i := range c.Workers.Groups {
		g := &f.Groups[i]
		c.Workers.Groups[i].Forecast = &GroupForecast{Replicas: replicas(&g.Replicas), ManagedBy: g.ManagedBy, Rollout: rollout(g.Rollout)}
	}
}

func machineForecast(fs []forecast.Machine, i int) *MachineForecast {
	if i >= len(fs) {
		return nil
	}
	return &MachineForecast{string(fs[i].Outcome), fs[i].Condition, fs[i].Message, fs[i].RolledOut}
}

func replicas(r *forecast.Replicas) Replicas {
	return Replicas{r.Recorded, r.Working, r.Created, r.Deleted, r.Running, r.Unknown, r.Surplus, r.Missing}
}

func rollout(r *forecast.Rollout) *Rollout {
	if r == nil {
		return nil
	}
	return &Rollout{r.Stale, r.Ghosts, r.Message}
}

func outcomes(counts map[forecast.Outcome]int) map[string]int {
	out := make(map[string]int, len(counts))
	for o, n := range counts {
		out[string(o)] = n
	}
	return out
}

func notes(ns []forecast.Note) []Note {
	out := make([]Note, len(ns))
	for i, n := range ns {
		out[i] = Note(n)
	}
	return out
}

// heals says that a Stale machine becomes sound again without help.
func (f *MachineForecast) heals() bool { return f != nil && forecast.Outcome(f.Outcome).Heals() }
