package backups

import (
	"fmt"
	"slices"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// measure is one thing by which one backup is better than another, less being better, and
// how to say so.
type measure struct {
	of  func(*Compared) int
	say func(best, other *Compared) string
}

var safest = []code.Safe{code.Yes, code.WithWork, code.Unclear, code.No}

// measures are in order: the first that differs decides. What is equal in all of them is
// decided by age, for the newest. They are what a restore does, cluster by cluster, so that a
// backup that has every cluster better is the better one; how many errors are in it says
// nothing of that. A Ghost is worse than any number of Stale machines, which are made again.
var measures = []measure{
	{func(c *Compared) int { return min(len(c.Error), 1) }, func(_, o *Compared) string { return "can't be read" }},
	{func(c *Compared) int { return len(c.Missing) }, func(_, o *Compared) string {
		return "lacks " + english.First(3, o.Missing) + ", which other backups have and which runs, or may run"
	}},
	{func(c *Compared) int { return len(c.broken) }, func(b, o *Compared) string {
		return fmt.Sprintf("has errors in itself (%s) that concern %s, and this one %d", english.First(3, o.Lacks), english.Count(len(o.broken), "cluster"), len(b.broken))
	}},
	{func(c *Compared) int { return c.Machines.Unknown + c.unplaced }, func(b, o *Compared) string {
		if o.unplaced+b.unplaced > 0 {
			return more(o.Machines.Unknown+o.unplaced, b.Machines.Unknown+b.unplaced, "Unknown or not in it")
		}
		return more(o.Machines.Unknown, b.Machines.Unknown, "Unknown")
	}},
	{func(c *Compared) int { return c.Machines.Ghost }, func(b, o *Compared) string { return more(o.Machines.Ghost, b.Machines.Ghost, "Ghost") }},
	{func(c *Compared) int { return c.Machines.Stale }, func(b, o *Compared) string { return more(o.Machines.Stale, b.Machines.Stale, "Stale") }},
	{func(c *Compared) int { return slices.Index(safest, c.safe) }, func(b, o *Compared) string {
		return "is safe to restore: " + answer(o.safe, o.Safe) + ", and this one: " + answer(b.safe, b.Safe)
	}},
	{func(c *Compared) int { return slices.Index(safest, c.byPlan) }, func(b, o *Compared) string {
		return "is safe to restore by the plan: " + answer(o.byPlan, o.ByPlan) + ", and this one: " + answer(b.byPlan, b.ByPlan)
	}},
	{func(c *Compared) int { return c.Confirm }, func(b, o *Compared) string {
		return fmt.Sprintf("has %s to confirm, and this one %d", english.Count(o.Confirm, "VM"), b.Confirm)
	}},
}

func more(n, instead int, what string) string {
	return fmt.Sprintf("has %d %s, and this one %d", n, what, instead)
}

// difference returns the first measure by which two backups differ, and which way.
func difference(a, b *Compared) (m *measure, d int) {
	for i := range measures {
		if d := measures[i].of(a) - measures[i].of(b); d != 0 {
			return &measures[i], d
		}
	}
	return nil, 0
}

// answer returns an answer without newer backups, which are said where the whole one is another.
func answer(safe, whole code.Safe) string {
	if safe != whole {
		return report.SafeWords(safe) + " without newer ones"
	}
	return report.SafeWords(safe)
}
