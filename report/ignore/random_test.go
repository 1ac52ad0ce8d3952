package ignore

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/reporttest"
)

// slowly says all statuses and the counts of clusters once more, with loops over
// everything and shares nothing with Apply: design's list of what makes each.
func slowly(r *report.Report) {
	has := func(machines []report.Machine, test func(*report.Machine) bool) bool {
		return slices.ContainsFunc(machines, func(m report.Machine) bool { return m.Ignored == nil && test(&m) })
	}
	status := func(machines []report.Machine, reasons ...string) code.Status {
		confirm := slices.ContainsFunc(reasons, func(s string) bool { return s != "" })
		switch {
		case has(machines, func(m *report.Machine) bool { return m.Status == "Ghost" }):
			return "ManualRemediationRequired"
		case confirm, has(machines, func(m *report.Machine) bool {
			return m.Status == "Unknown" || slices.ContainsFunc(m.Warnings, func(w report.Warning) bool {
				return w.Reason == "MachineMissing" || w.Reason == "DuplicateID" || w.Reason == "Reidentified"
			})
		}):
			return "NeedFurtherConfirmation"
		case has(machines, func(m *report.Machine) bool { return m.Status == "Stale" }):
			return "ManualRemediationNotRequired"
		}
		return "Healthy"
	}
	var all []report.Machine
	var reasons []string
	counts := map[code.Status]int{}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		own, why := slices.Clone(c.ControlPlane.Machines), []string{string(c.ControlPlane.Reason)}
		c.ControlPlane.Status = status(own, why...)
		var workers []report.Machine
		var whyWorkers []string
		for j := range c.Workers.Groups {
			g := &c.Workers.Groups[j]
			g.Status = status(g.Machines, string(g.Reason))
			workers, whyWorkers = append(workers, g.Machines...), append(whyWorkers, string(g.Reason))
		}
		c.Workers.Status = status(workers, whyWorkers...)
		own, why = append(own, workers...), append(why, whyWorkers...)
		c.Status = status(own, why...)
		counts[c.Status]++
		counts["total"]++
		all, reasons = append(all, own...), append(reasons, why...)
	}
	s := &r.Summary
	s.Clusters = report.ClusterCounts{
		Total: counts["total"], Healthy: counts["Healthy"], ManualRemediationNotRequired: counts["ManualRemediationNotRequired"],
		ManualRemediationRequired: counts["ManualRemediationRequired"], NeedFurtherConfirmation: counts["NeedFurtherConfirmation"],
	}
	s.Status = status(all, reasons...)
	if s.Status == "ManualRemediationRequired" || s.Status == "NeedFurtherConfirmation" {
		return
	}
	switch open := slices.ContainsFunc(r.InfraMachines, func(m report.InfraMachine) bool { return m.Ignored == nil }); {
	case len(r.Errors) > 0 || !s.Complete:
		s.Status = "NeedFurtherConfirmation"
	case open:
		s.Status = "NeedFurtherConfirmationInfraMachines"
	}
}

// bare returns a random report without rules, with all that statuses are made of.
func bare(seed uint64) *report.Report {
	r := reporttest.Random(seed)
	g := rand.New(rand.NewPCG(seed, 2))
	r.IgnoreRules = nil
	s := &r.Summary
	s.Ignored, s.IgnoredMachines, s.IgnoredInfraMachines, s.StatusWithoutRules = 0, nil, 0, ""
	for i := range r.InfraMachines {
		r.InfraMachines[i].Ignored = nil
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		for _, set := range c.Sets() {
			for j := range set.Machines {
				m := &set.Machines[j]
				m.Ignored = nil
				if g.IntN(9) == 0 {
					m.Warnings = append(m.Warnings, report.Warning{Reason: []code.Reason{"DuplicateID", "Moved", "Reidentified"}[g.IntN(3)]})
				}
			}
		}
		for j := range c.Workers.Groups {
			if g.IntN(6) == 0 {
				c.Workers.Groups[j].Reason = "MachinesNotInBackup"
			}
		}
		if g.IntN(9) == 0 {
			c.ControlPlane.Reason = "ControlPlaneLost"
		}
	}
	slowly(r)
	return r
}

// randomRules fit something here and there.
func randomRules(g *rand.Rand, r *report.Report) []Rule {
	var all []*finding
	for f := range findings(r) {
		all = append(all, f)
	}
	rules := make([]Rule, 1+g.IntN(4))
	for i := range rules {
		rules[i] = Rule{File: "i", Line: i, Reason: "r", Include: g.IntN(3) == 0, Expires: []string{"", "2026-11-20", "2026-11-19"}[g.IntN(3)]}
		c := condition{key: "status", globs: []glob{exactly([]string{"Ghost", "Stale", "Unknown", "Unattributed", "Healthy"}[g.IntN(5)], false)}}
		if len(all) > 0 && g.IntN(2) == 0 {
			f := all[g.IntN(len(all))]
			c = []condition{{key: "cluster", globs: []glob{exactly(f.cluster, false)}}, {key: "name", globs: []glob{exactly(f.name, false)}}, {key: "reason", globs: []glob{exactly(f.reasons()[0], false)}}}[g.IntN(3)]
		}
		rules[i].Match = Selector{c}
	}
	return rules
}

// Statuses are those of the detector without what is set aside; everything else
// stays, byte for byte.
func TestRandomReports(t *testing.T) {
	setAside, better := 0, 0
	for seed := range uint64(200) {
		r, before := bare(seed), bare(seed)
		if _, err := Apply(r, randomRules(rand.New(rand.NewPCG(seed, 3)), r), today); err != nil {
			t.Fatal(err)
		}
		s := r.Summary
		if s.Ignored != len(ignored(r)) || s.Ignored != s.IgnoredMachines.Total+s.IgnoredInfraMachines {
			t.Fatalf("seed %d: %d are set aside, the summary says %d: %+v and %d", seed, len(ignored(r)), s.Ignored, s.IgnoredMachines, s.IgnoredInfraMachines)
		}
		if s.StatusWithoutRules != before.Summary.Status || code.Urgency(s.Status) < code.Urgency(s.StatusWithoutRules) {
			t.Fatalf("seed %d: %s without rules, was %s, is %s", seed, s.StatusWithoutRules, before.Summary.Status, s.Status)
		}
		want := clone(t, r)
		slowly(want)
		if got, want := document(t, r), document(t, want); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the statuses are wrong: %s", seed, difference(got, want))
		}
		setAside += s.Ignored
		if s.Status != before.Summary.Status {
			better++
		}
		agree(t, seed, r, before)
	}
	if setAside < 500 || better < 10 {
		t.Errorf("the rules set %d aside and changed %d summaries: too few to prove anything", setAside, better)
	}
}

// agree demands that taking off what rules add gives the report before them.
func agree(t *testing.T, seed uint64, r, before *report.Report) {
	t.Helper()
	open := r.Open()
	n, i := r.Summary.Machines, r.Summary.IgnoredMachines
	if open.Ghost+i.Ghost != n.Ghost || open.Stale+i.Stale != n.Stale || open.Unknown+i.Unknown != n.Unknown || open.Healthy+i.Healthy != n.Healthy || open.Total+i.Total != n.Total {
		t.Fatalf("seed %d: %+v and %+v are not %+v", seed, open, i, n)
	}
	bare := clone(t, r)
	bare.IgnoreRules = nil
	s := &bare.Summary
	s.Ignored, s.IgnoredMachines, s.IgnoredInfraMachines, s.StatusWithoutRules = 0, nil, 0, ""
	for f := range findings(bare) {
		*f.ignored = nil
	}
	slowly(bare)
	if got, want := document(t, bare), document(t, before); !bytes.Equal(got, want) {
		t.Fatalf("seed %d: rules changed more than they may: %s", seed, difference(got, want))
	}
}

func clone(t *testing.T, r *report.Report) *report.Report {
	t.Helper()
	out, err := report.Read(bytes.NewReader(document(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func difference(a, b []byte) string {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + " / " + y[i]
		}
	}
	return "one is longer"
}

// What FromReport writes, Read reads, and it sets aside exactly what was asked
// for, in the report as made and in the report as read back.
func TestRulesFromReports(t *testing.T) {
	reports := []*report.Report{reporttest.HostileReport(), fleet()}
	for seed := range uint64(60) {
		reports = append(reports, reporttest.Random(seed), bare(seed))
	}
	made := 0
	for i, r := range reports {
		for _, which := range []Which{{}, {Status: "Ghost"}, {Status: "Unattributed"}, {Reason: "P*"}, {Cluster: "*1", Namespace: "*"}, {Name: "*[<x\\[]*"}, {Instance: "42*"}} {
			want := fitting(r, which)
			rules, err := FromReport(r, which, "kept: \"so\"\n\u202e# {x}", "2027-01-31")
			if (err != nil) != (len(want) == 0) {
				t.Fatalf("report %d, %+v: %v for %d findings", i, which, err, len(want))
			}
			if err != nil {
				continue
			}
			made += len(rules)
			var file bytes.Buffer
			if err := Write(&file, rules); err != nil {
				t.Fatal(err)
			}
			again, err := Read("i", bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatalf("%v\n%s", err, file.String())
			}
			for j := range again {
				again[j].File, again[j].Line = "", 0
			}
			if !reflect.DeepEqual(again, rules) {
				t.Fatalf("report %d, %+v: other rules are read than were written:\n%s", i, which, file.String())
			}
			for _, target := range []*report.Report{unruled(clone(t, r)), unruled(shallow(r))} {
				if _, err := Apply(target, again, today); err != nil {
					t.Fatal(err)
				}
				if got := ignored(target); len(got) < len(want) || !sameIdentities(target, want) {
					t.Fatalf("report %d, %+v: sets aside %q, want %v\n%s", i, which, got, want, file.String())
				}
			}
		}
	}
	if made < 1000 {
		t.Errorf("only %d rules were made", made)
	}
}

// fitting returns the identities of the findings that which fits and no rule sets aside.
func fitting(r *report.Report, which Which) map[string]bool {
	out := map[string]bool{}
	asked, err := which.selector()
	if err != nil {
		panic(err)
	}
	for f := range findings(r) {
		if *f.ignored == nil && asked.fits(f) {
			out[f.identity()] = true
		}
	}
	return out
}

// identity returns all that rules can tell findings by; invalid UTF-8 as in JSON.
func (f *finding) identity() string {
	return string([]rune(strings.Join([]string{f.cluster, f.namespace, f.name, string(f.status), strings.Join(f.reasons(), " "), f.instance.ID, f.instance.Ref}, "\x00")))
}

func sameIdentities(r *report.Report, want map[string]bool) bool {
	got := map[string]bool{}
	for f := range findings(r) {
		if *f.ignored != nil {
			got[f.identity()] = true
		}
	}
	return reflect.DeepEqual(got, want)
}

// unruled takes all rules off.
func unruled(r *report.Report) *report.Report {
	r.IgnoreRules = nil
	r.Summary.Ignored, r.Summary.IgnoredMachines, r.Summary.IgnoredInfraMachines = 0, nil, 0
	for f := range findings(r) {
		*f.ignored = nil
	}
	return r
}

// shallow copies all that rules change, and leaves strings as they are.
func shallow(r *report.Report) *report.Report {
	out := *r
	out.Clusters, out.InfraMachines = slices.Clone(r.Clusters), slices.Clone(r.InfraMachines)
	for i := range out.Clusters {
		c := &out.Clusters[i]
		c.ControlPlane.Machines, c.Workers.Groups = slices.Clone(c.ControlPlane.Machines), slices.Clone(c.Workers.Groups)
		for j := range c.Workers.Groups {
			c.Workers.Groups[j].Machines = slices.Clone(c.Workers.Groups[j].Machines)
		}
	}
	return &out
}
