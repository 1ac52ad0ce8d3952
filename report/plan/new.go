package plan

import (
	"fmt"
	"slices"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// New arranges what is to be done about a report and its restore.
func New(r *report.Report, tools Tools) Plan {
	pl := newPlanner(r, tools)
	pl.plan()
	p := pl.arranged()
	p.Unknown, p.Checklist = pl.limits(Narrowing{}), p.Rows()
	p.Total = len(p.Checklist)
	for i := range pl.Clusters {
		p.clusters = append(p.clusters, key(&pl.Clusters[i]))
	}
	p.Answer = pl.answer()
	listed, counted := pl.listed()
	p.Whole = pl.Summary.Complete && listed >= counted
	p.Variables = p.read(pl.variables)
	return p
}

// arranged returns the steps of all findings and of the restore, in order, with their numbers.
func (pl *planner) arranged() Plan {
	p := Plan{
		Report: pl.Report,
		limits: pl.limits,
		tells:  pl.tells,
		Sections: []Section{
			{"Before the restore", Before, pl.beforeRestore()},
			{"The restore", Restore, []Chapter{pl.restore()}},
			{"After the restore", After, pl.afterRestore()},
		},
	}
	p.number()
	return p
}

// answer returns the plan in a few lines.
func (pl *planner) answer() []string {
	s := &pl.Summary
	out := []string{fmt.Sprintf("Status: %s. %s, %s: %d Ghost, %d Unknown, %d Stale, %d Healthy; %s to confirm.",
		s.Status, english.Count(s.Clusters.Total, "cluster"), english.Count(s.Machines.Total, "machine"), s.Machines.Ghost, s.Machines.Unknown, s.Machines.Stale, s.Machines.Healthy, english.Count(s.InfraMachines, "VM"))}
	before, after, controllers := pl.tally()
	out = append(out, fmt.Sprintf("%s you before the restore, %d after; controllers fix %d.", needing(before), after, controllers))
	most := "Most important: until everything is restored, no controller may act. Restore Clusters last, and paused as in this plan, or with the controllers stopped; no other tool may create them first. Otherwise " + pl.clustersFirst() + "."
	if pl.IsMoved() {
		most = "Most important: clusterctl unpauses all Clusters as it ends, so that everything is decided before it begins; no other tool may create any of the objects first."
	}
	out = append(out, most)
	newer := slices.IndexFunc(pl.Checks, func(c report.Check) bool { return c.Code == code.NewerBackup })
	switch {
	case newer >= 0:
		out = append(out, "A newer backup is in the same place: if it is of the same management cluster, plan with that one. "+english.Sentence(pl.Checks[newer].Message))
	case s.Machines.Ghost > 0:
		out = append(out, "If there is a newer backup, plan with that one: Ghosts are machines that were created after this backup.")
	}
	if f := s.Forecast; f != nil && f.NotHealing > 0 {
		out = append(out, english.Count(f.NotHealing, "Stale machine")+" will not be replaced automatically.")
	}
	for _, k := range pl.Backups {
		out = append(out, fmt.Sprintf("Backup %s, written %s to %s.", k.Path, k.WrittenFrom.Format("2006-01-02 15:04:05"), k.WrittenTo.Format("15:04:05 MST")))
	}
	return append(out, "None of these commands has been run. Read each one before you run it, in this order, one cluster at a time. A part of the plan is printed with --phase before, --cluster NAME or --step 1.")
}

func needing(findings int) string {
	if findings == 1 {
		return "1 finding needs"
	}
	return english.Count(findings, "finding") + " need"
}

// are returns a number with its noun, of which something is said.
func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return english.Count(n, noun) + " are"
}

// tally counts findings by who has to do something, and when.
func (pl *planner) tally() (before, after, controllers int) {
	count := func(steps []Step) {
		mine := map[string]int{}
		for _, s := range steps {
			if s.Who == report.Operator {
				mine[s.When] = 1
			}
		}
		before += mine[report.BeforeRestore]
		after += mine[report.AfterRestore]
		if len(steps) > 0 && len(mine) == 0 {
			controllers++
		}
	}
	for _, m := range pl.machines() {
		count(pl.steps[m])
	}
	for i := range pl.InfraMachines {
		count(pl.others[&pl.InfraMachines[i]])
	}
	return before, after, controllers
}

// limits returns what the report leaves open of a part of the plan, so that this is no plan
// for it.
func (pl *planner) limits(of Narrowing) []string {
	var out []string
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(!pl.Summary.Complete, "The report is incomplete, so this plan is, too: not every place could be listed. Machines there are Unknown, and no step removes them. Run detect again before you rely on this plan.")
	add(pl.Options.IgnoreHealthy, "The report was made with --ignore-healthy-resources: healthy machines are not in it, so their Nodes (where etcdctl could run) are not known here. Make it again without that flag for a plan that names them.")
	add(pl.Options.SkipNodes, "The Node lists were not read, as asked: the evidence for Ghosts is weaker, and there is no command that removes an unproven one.")
	add(pl.Summary.Ignored > 0, "%s set aside by ignore rules, and this plan has no steps for them. The report lists them.", are(pl.Summary.Ignored, "finding"))
	add(pl.Options.Filter != nil, "The report covers only %s.", pl.Options.Filter)
	var unread, selves, derived, duplicates []string
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if !of.shows(key(c)) {
			continue
		}
		if s := c.Nodes.State; s != "" && s != report.NodesRead && !pl.Options.SkipNodes {
			unread = append(unread, key(c))
		}
		if c.Self {
			selves = append(selves, key(c))
		}
		if c.Derived {
			derived = append(derived, key(c))
		}
		if pl.isInAnotherBackup(c) && !slices.Contains(duplicates, key(c)) {
			duplicates = append(duplicates, key(c))
		}
	}
	add(len(selves) > 0 && pl.IsMoved(), "The management cluster itself has no steps, because its machines are lost anyway: but clusterctl restores and unpauses it. Give it a copy of the folder without the file of that Cluster: %s.", listed(selves))
	add(len(selves) > 0 && !pl.IsMoved(), "The management cluster itself has no steps, because its machines are lost anyway. Its own Cluster is restored paused and stays so: never unpause %s.", listed(selves))
	add(len(derived) > 0, "The backup has no Cluster object of %s: no controller acts on it until that exists again.", listed(derived))
	add(len(duplicates) > 0, "%s %s in several backups, which are of different management clusters: one can't hold both. Make a report and a plan for each backup: %s, %s and %s mean one thing here.",
		listed(duplicates), map[bool]string{true: "is", false: "are"}[len(duplicates) == 1], management, oldManagement, backupName)
	add(len(unread) > 0, "The Node list of %s could not be read.", listed(unread))
	add(pl.Summary.Errors > 0, "While the report was made, %s occurred: see there.", english.Count(pl.Summary.Errors, "error"))
	add(pl.Summary.Forecast == nil && pl.Summary.Machines.Stale > 0, "The report holds no forecast: whether a MachineHealthCheck replaces a Stale machine is not known here.")
	found, counted := pl.listed()
	add(found < counted, "The report counts %s and lists %d: it was cut or filtered, and this plan lacks the others.", english.Count(counted, "finding"), found)
	return out
}
