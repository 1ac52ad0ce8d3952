package forecast

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Machine is what will become of one machine of the backup, or of one instance
// that has no machine.
type Machine struct {
	report.MachineForecast
	// After is the Outcome, and that of a paused machine what comes once it is unpaused.
	After code.Outcome
}

// Forecast is what will become of everything in the backup. The management cluster itself is
// forecast, but neither counted here nor warned of.
type Forecast struct {
	report.GeneralForecast
	Clusters []Cluster // one for each of Result.Clusters, in its order
	// Effects are those that no single cluster has, and Conditions are what all of it
	// depends on: it holds only while each of them does.
	Effects    []report.AnswerReason
	Conditions []report.Note
}

// Cluster is what will become of one cluster.
type Cluster struct {
	report.ClusterForecast
	Effects      []report.AnswerReason
	ControlPlane ControlPlane
	Groups       []Group // one for each of Result's WorkerGroups, in its order
}

// ControlPlane is what will become of a control plane.
type ControlPlane struct {
	report.ControlPlaneForecast
	Machines []Machine // one for each of the Result's, in its order
}

// Group is what will become of a group of workers.
type Group struct {
	report.GroupForecast
	Machines []Machine // one for each of the Result's, in its order
}

// Of forecasts a restore.
func Of(in Inputs) Forecast {
	return rules{outcomeRows, conditionRows}.of(in)
}

// ByPlan forecasts a restore by the plan. It is the first forecast where nothing keeps the
// controllers from anything that the plan mends.
func ByPlan(in Inputs, first *Forecast) *Forecast {
	kept := func(e report.AnswerReason) bool { return e.Code == code.ClusterHalted || e.Code == code.MachinesHalted }
	if len(in.absent()) == 0 && !slices.ContainsFunc(first.Effects, kept) &&
		!slices.ContainsFunc(first.Clusters, func(c Cluster) bool { return slices.ContainsFunc(c.Effects, kept) }) {
		return first
	}
	in.byPlan = true
	second := Of(in)
	return &second
}

// rules are the tables by which machines are forecast.
type rules struct {
	outcomes   []outcomeRow
	conditions []conditionRow
}

func (r rules) of(in Inputs) Forecast {
	x := newIndex(&in)
	res := &in.Result
	f := Forecast{GeneralForecast: report.GeneralForecast{Outcomes: map[code.Outcome]int{}}, Clusters: make([]Cluster, len(res.Clusters))}
	all := make([]*cluster, len(res.Clusters))
	for i := range res.Clusters {
		c := x.cluster(&res.Clusters[i])
		all[i] = c
		f.Clusters[i] = r.cluster(c)
		if c.Self {
			f.Clusters[i].Effects = acts(c, f.Clusters[i].Effects)
			continue
		}
		f.NotHealing += f.Clusters[i].NotHealing
		for o, n := range f.Clusters[i].Outcomes {
			f.Outcomes[o] += n
		}
	}
	f.Notes = generalNotes(in.Snapshot, all, f.NotHealing, res.Complete)
	f.Effects = generalEffects(in.Snapshot, x.walked[backup.ClusterID{}])
	f.Conditions = conditionsOf(&in, all, f.Notes)
	return f
}

// cluster forecasts one cluster.
func (r rules) cluster(c *cluster) Cluster {
	out := Cluster{ClusterForecast: report.ClusterForecast{Outcomes: map[code.Outcome]int{}}, Groups: make([]Group, len(c.groups))}
	p := &c.plane
	out.ControlPlane.Machines = r.machines(p, &out)
	out.ControlPlane.Replicas = p.replicas(out.ControlPlane.Machines)
	out.ControlPlane.Rollout = p.rollout(out.ControlPlane.Machines)
	if c.Applicable {
		out.ControlPlane.Etcd = c.etcd(out.ControlPlane.Machines)
		if out.ControlPlane.Remediates, out.ControlPlane.Why = c.remediates, c.remediation; c.Paused {
			out.ControlPlane.Remediates, out.ControlPlane.Why = false, "its cluster is paused"
		}
	}
	for i, g := range c.groups {
		machines := r.machines(g, &out)
		out.Groups[i] = Group{report.GroupForecast{Replicas: g.replicas(machines), ManagedBy: g.managedBy, Rollout: g.rollout(machines)}, machines}
	}
	out.Effects = effectsOn(c, &out)
	out.Notes = notesOnCluster(c, &out)
	out.Text = textOf(c, &out)
	return out
}

// machines forecasts the machines of a set and counts them.
func (r rules) machines(s *set, into *Cluster) []Machine {
	out := make([]Machine, len(s.members))
	for i := range s.members {
		f := &s.members[i]
		out[i] = r.machine(f)
		into.Outcomes[out[i].Outcome]++
		if f.verdict.Status == code.Stale && !out[i].Outcome.Heals() {
			into.NotHealing++
		}
	}
	return out
}

// machine walks the tables.
func (r rules) machine(f *facts) Machine {
	out := Machine{MachineForecast: report.MachineForecast{Outcome: code.CannotKnow, Message: "nothing is known about such a machine"}}
	for i := range r.outcomes {
		if r.outcomes[i].Fits(f) {
			out.Outcome = r.outcomes[i].Outcome
			out.Message = r.outcomes[i].Why(f)
			break
		}
	}
	f.outcome, out.After = out.Outcome, out.Outcome
	// What a paused owner does is left to whoever unpauses it: see pausedOwners.
	if untouched := out.Outcome == code.UntouchedPaused; untouched || out.Outcome == code.GhostEtcdMemberKept && f.paused && f.cluster.pausedPlane() == "" {
		later := *f
		later.paused = false
		out.After = r.machine(&later).Outcome
		if !untouched {
			return out
		}
		out.Condition = "until it is unpaused, and then " + phrases[out.After]
		return out
	}
	for i := range r.conditions {
		if text := r.conditions[i](f); text != "" {
			if out.Condition != "" {
				out.Condition += "; "
			}
			out.Condition += text
		}
	}
	return out
}
