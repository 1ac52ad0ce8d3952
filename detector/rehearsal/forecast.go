package rehearsal

import (
	"cmp"
	"slices"

	"drift-detector/infra/walk"
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
// in it, but neither counted here nor warned of.
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

// rules are the tables by which machines are forecast.
type rules struct {
	outcomes   []outcomeRow
	conditions []conditionRow
}

// of says what becomes of everything.
func (r rules) of(w *world) *Forecast {
	f := &Forecast{GeneralForecast: report.GeneralForecast{Outcomes: map[code.Outcome]int{}}, Clusters: make([]Cluster, len(w.clusters))}
	for i, c := range w.clusters {
		f.Clusters[i] = r.cluster(c)
		if c.Self {
			continue
		}
		f.NotHealing += f.Clusters[i].NotHealing
		for o, n := range f.Clusters[i].Outcomes {
			f.Outcomes[o] += n
		}
	}
	w.trace.Steps, w.played = append(w.trace.Steps, w.played...), nil
	f.Notes = w.generalNotes(f.NotHealing)
	f.Effects = w.generalEffects()
	f.Conditions = w.conditions(f.Notes)
	return f
}

// byPlan plays again what the plan's steps change: the clusters that wait for something. It notes
// in the first forecast which machines have another outcome then.
func (r rules) byPlan(w *world, first *Forecast) *Forecast {
	w.byPlan = true
	var second *Forecast
	for i, c := range w.clusters {
		if !c.waits() {
			continue
		}
		if second == nil {
			second = &Forecast{Clusters: slices.Clone(first.Clusters), Effects: first.Effects}
		}
		again := r.cluster(c)
		first.Clusters[i].after(&again)
		second.Clusters[i] = Cluster{Effects: again.Effects}
	}
	return cmp.Or(second, first)
}

// after notes the outcomes of machines that are others by the plan.
func (c *Cluster) after(again *Cluster) {
	compare := func(machines, later []Machine) {
		for i := range machines {
			if by := later[i].Outcome; by != machines[i].Outcome {
				machines[i].ByPlan = by
			}
		}
	}
	compare(c.ControlPlane.Machines, again.ControlPlane.Machines)
	for i := range c.Groups {
		compare(c.Groups[i].Machines, again.Groups[i].Machines)
	}
}

// waits reports whether controllers wait for something of the cluster that a plan may mend.
func (c *cluster) waits() bool {
	return c.mended || len(c.halts) > 0 || c.withoutMachines() || slices.ContainsFunc(c.walked, func(s *walk.Step) bool { return s.Does().Effect == walk.Waits })
}

// cluster forecasts one cluster.
func (r rules) cluster(c *cluster) Cluster {
	c.rehearse()
	out := Cluster{ClusterForecast: report.ClusterForecast{Outcomes: map[code.Outcome]int{}}, Groups: make([]Group, len(c.groups))}
	p := &c.control
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
	out.Effects = c.world.effectsOn(c, &out)
	if !c.world.byPlan {
		out.Notes = notesOnCluster(c, &out)
		out.Text = textOf(c, &out)
	}
	if c.Self {
		out.Effects = acts(c, out.Effects)
	}
	return out
}

// machines forecasts the machines of a set and counts them.
func (r rules) machines(s *set, into *Cluster) []Machine {
	out := make([]Machine, len(s.members))
	for i := range s.members {
		f := s.members[i]
		out[i] = r.machine(f)
		into.Outcomes[out[i].Outcome]++
		if f.verdict.Status == code.Stale && !out[i].Outcome.Heals() {
			into.NotHealing++
		}
	}
	return out
}

// machine walks the tables.
func (r rules) machine(f *machine) Machine {
	out := Machine{MachineForecast: report.MachineForecast{Outcome: code.CannotKnow, Message: "nothing is known about such a machine"}}
	for i := range r.outcomes {
		if r.outcomes[i].Fits(f) {
			out.Outcome = r.outcomes[i].Outcome
			if !f.cluster.world.byPlan { // of which there are the effects alone
				out.Message = r.outcomes[i].Why(f)
			}
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
	if f.cluster.world.byPlan {
		return out
	}
	if out.Outcome == code.Halted && f.waiting != nil {
		out.Row = f.waiting.Row.ID
	}
	if out.Outcome == code.ReplacedByMachineHealthCheck || out.Outcome == code.DeletedByMachineHealthCheck {
		out.ExpectedBy = f.expectedBy()
	}
	for i := range r.conditions {
		if text := r.conditions[i](f); text != "" {
			if out.Condition != "" {
				text = out.Condition + "; " + text
			}
			out.Condition = text
		}
	}
	return out
}
