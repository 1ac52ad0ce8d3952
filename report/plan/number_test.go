package plan

import (
	"slices"
	"testing"

	"drift-detector/report"
	"drift-detector/report/plan/plantest"
)

// Each finding of a report has its place in the plan, and each step has a number of its own.
func TestEachFindingAndEachStepHasAPlace(t *testing.T) {
	for _, r := range []*report.Report{sample("alpha"), plantest.Threefold(sample("alpha"))} {
		p := New(r, providerTools)
		Fill(r, providerTools)
		needed, listed := findings(r), map[string]int{}
		for i, row := range p.Rows() {
			if row.Number != i+1 {
				t.Fatalf("row %d has number %d", i+1, row.Number)
			}
		}
		labels := map[string]bool{}
		note := func(label string) {
			if labels[label] {
				t.Errorf("two steps are %s", label)
			}
			labels[label] = true
		}
		for _, s := range p.Sections {
			for i := range s.Chapters {
				c := &s.Chapters[i]
				for k := range c.Steps {
					note(c.Label(k))
				}
				for k := range c.Batches {
					for _, item := range c.Batches[k].Items {
						for _, name := range append(item.machines, item.Name) {
							listed[s.Phase+" "+name]++
						}
					}
					for n := range c.Batches[k].Steps {
						note(c.Batches[k].Label(n))
					}
				}
			}
		}
		for name, n := range needed {
			if listed[name] < n {
				t.Errorf("%d findings of %s are in the plan, want %d", listed[name], name, n)
			}
		}
		if len(needed) < 5 {
			t.Errorf("there are %d findings", len(needed))
		}
	}
}

// findings counts what has steps, by time and name.
func findings(r *report.Report) map[string]int {
	out := map[string]int{}
	note := func(name string, steps []report.Step) {
		for phase, when := range map[string]string{Before: report.BeforeRestore, After: report.AfterRestore} {
			if slices.ContainsFunc(steps, func(s report.Step) bool { return s.When == when }) {
				out[phase+" "+name]++
			}
		}
	}
	for i := range r.Clusters {
		for _, m := range newPlanner(r, Tools{}).machinesOf(&r.Clusters[i]) {
			note(m.Name, m.Remediation)
		}
	}
	for i := range r.InfraMachines {
		note(r.InfraMachines[i].Instance.Name, r.InfraMachines[i].Remediation)
	}
	return out
}
