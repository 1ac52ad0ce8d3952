package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/terminal"
)

// foldAbove is how many machines of one cluster may be Unknown for the sake of
// their place alone before they share a line: a vCenter that is down is one
// finding, not two thousand.
const foldAbove = 3

const statusWidth = 9 // of the mark, a space and the longest status

func (p printer) findings(r *report.Report, all bool) {
	clusters := make([]*report.Cluster, 0, len(r.Clusters))
	for i := range r.Clusters {
		if c := &r.Clusters[i]; all && c.Counts.Total+len(c.Resources) > 0 || clusterRank(c) < nothing {
			clusters = append(clusters, c)
		}
	}
	if len(clusters) == 0 {
		return
	}
	slices.SortStableFunc(clusters, func(a, b *report.Cluster) int { return cmp.Compare(clusterRank(a), clusterRank(b)) })
	p.Title("FINDINGS")
	for i, c := range clusters {
		if i > 0 {
			p.Newline()
		}
		p.cluster(c, all)
	}
}

// nothing is the rank of what is no finding: worse ones come before it.
const nothing = 4

// machineRank is the urgency of a machine: its verdict's, healthy ones with a warning next.
func machineRank(m *report.Machine) int {
	switch {
	case m.Unsupported():
		return nothing // said in the line of the cluster
	case m.Ignored != nil:
		return nothing // has a list of its own
	case m.Status == report.Healthy && len(m.Warnings) == 0:
		return nothing
	default:
		return lookOf(m.Status).rank
	}
}

func setRank(s *report.Set) int {
	best := nothing
	switch {
	case s.Reason != "":
		best = lookOf(report.Unknown).rank
	case said(s):
		best = lookOf(report.Healthy).rank
	}
	for i := range s.Machines {
		best = min(best, machineRank(&s.Machines[i]))
	}
	return best
}

func clusterRank(c *report.Cluster) int {
	best := nothing
	for _, s := range c.Sets() {
		best = min(best, setRank(&s))
	}
	if n := c.Unsupported(); n > 0 && n < c.Counts.Total {
		best = min(best, lookOf(report.Unknown).rank)
	}
	if needy(c) {
		best = min(best, lookOf(report.Healthy).rank)
	}
	return best
}

// isBlind reports whether the machine is Unknown because its place could not be listed,
// and there is nothing else to say of it.
func isBlind(m *report.Machine) bool {
	return m.Status == report.Unknown && m.Reason == report.ScopeIncomplete && m.Instance == nil && len(m.Others) == 0 && len(m.Warnings) == 0
}

func (p printer) cluster(c *report.Cluster, all bool) {
	p.Print(0, 4, terminal.Lead(terminal.Bold, terminal.Quoted(c.Title()), 0))
	blind, why := blindIn(c)
	fold := !all && blind > foldAbove
	// own reports whether a machine has a line of its own.
	own := func(m *report.Machine) bool { return all || machineRank(m) < nothing && !(fold && isBlind(m)) }
	fate := newFates(all)
	sets := c.Sets()
	slices.SortStableFunc(sets, func(a, b report.Set) int { return cmp.Compare(setRank(&a), setRank(&b)) })
	for i := range sets {
		p.set(&sets[i], own, fate)
	}
	if fold {
		p.status(2, report.Unknown, fmt.Sprintf("%d machines ScopeIncomplete: %s", blind, why))
	}
	p.needs(c, all)
	if n := c.Unsupported(); !all && n > 0 {
		p.status(2, report.Unknown, plural(n, "machine")+" of a provider that is not supported")
	}
	cp, workers := unlisted(c, own)
	if text := join(", ", unlessZero(cp, "control plane machine"), unlessZero(workers, "worker")); text != "" {
		p.status(2, report.Healthy, text)
	}
}

// blindIn counts the blind machines of the cluster, with the reason that all of
// them have, or what can be said of all.
func blindIn(c *report.Cluster) (n int, why string) {
	for _, s := range c.Sets() {
		for i := range s.Machines {
			m := &s.Machines[i]
			if !isBlind(m) {
				continue
			}
			if n++; n > 1 && m.Message != why {
				why = "their places could not be listed whole"
			} else {
				why = m.Message
			}
		}
	}
	return n, why
}

// unlisted counts the healthy machines that have no line of their own, also
// those that the report leaves out.
func unlisted(c *report.Cluster, own func(*report.Machine) bool) (controlPlane, workers int) {
	for i, s := range c.Sets() {
		n := s.Counts.Healthy
		for j := range s.Machines {
			m := &s.Machines[j]
			n -= one(m.Status == report.Healthy && own(m))
		}
		if i == 0 {
			controlPlane = n
		} else {
			workers += n
		}
	}
	return controlPlane, workers
}

func unlessZero(n int, what string) string {
	if n == 0 {
		return ""
	}
	return plural(n, what)
}

func (p printer) status(indent int, status report.Status, text string) {
	l := lookOf(status)
	p.Print(indent, indent+2, terminal.Lead(l.style, l.mark+" "+string(status), statusWidth).Prose(terminal.Plain, text))
}

// set prints a set with the machines that have a line of their own, or nothing
// when there is nothing to say.
func (p printer) set(s *report.Set, own func(*report.Machine) bool, fate *fates) {
	ms := make([]*report.Machine, 0, len(s.Machines))
	for i := range s.Machines {
		if m := &s.Machines[i]; own(m) {
			ms = append(ms, m)
		}
	}
	if len(ms) == 0 && !said(s) {
		return
	}
	head := terminal.Line{}.Prose(terminal.Bold, s.Title)
	if s.Reason != "" {
		head = head.Field(terminal.Yellow, s.Reason)
	}
	head = head.Prose(terminal.Dim, setBrief(s))
	if s.Pool != nil {
		head = head.Prose(terminal.Plain, s.Pool.Message)
	}
	p.Print(2, 4, head)
	slices.SortStableFunc(ms, func(a, b *report.Machine) int { return cmp.Compare(machineRank(a), machineRank(b)) })
	for _, m := range p.rollout(s, ms, fate) {
		p.machine(m, fate)
	}
}

// machine prints one machine: verdict, name, reason, where its VM is, what the
// verdict rests on, and what becomes of it.
func (p printer) machine(m *report.Machine, fate *fates) {
	l := lookOf(m.Status)
	if m.Status == report.Healthy && len(m.Warnings) > 0 {
		l.mark, l.style = "*", terminal.Yellow
	}
	row := terminal.Lead(l.style, l.mark+" "+string(m.Status), statusWidth).Field(terminal.Plain, terminal.Quoted(m.Name))
	if m.Reason != "" {
		row = row.Field(l.style, m.Reason)
	}
	row = row.Prose(terminal.Dim, m.Message)
	switch {
	case m.Instance != nil && m.Status != report.Healthy:
		row = withInstance(row, m.Instance)
	case m.Instance == nil && !strings.Contains(m.Message, afterSlash(m.ProviderID)):
		row = row.Named(terminal.Dim, "recorded as", m.ProviderID)
	}
	if e := best(m); e != nil && (m.Status == report.Ghost || m.Status == report.Unknown && m.Message == "") {
		row = row.Prose(terminal.Dim, string(e.Strength)+" evidence: "+e.Detail)
	}
	for _, w := range m.Warnings {
		row = row.Prose(terminal.Yellow, w.Reason+": "+w.Message)
	}
	for i := range m.Others {
		o := &m.Others[i]
		row = withIDs(row.Named(terminal.Dim, "also", cmp.Or(o.Path, o.Name, o.ID, o.Ref)), o)
		if m.Instance == nil || o.Scope != m.Instance.Scope {
			row = row.Named(terminal.Dim, "in", o.Scope)
		}
	}
	p.Print(4, 8, fate.add(row, m))
}

// afterSlash is the id in a provider id: providers write it last.
func afterSlash(providerID string) string {
	return providerID[strings.LastIndexByte(providerID, '/')+1:]
}

// best is the strongest piece of evidence, the first of equals.
func best(m *report.Machine) *report.Evidence {
	order := []report.Strength{report.Weak, report.Medium, report.Strong}
	var found *report.Evidence
	for i := range m.Evidence {
		e := &m.Evidence[i]
		if found == nil || slices.Index(order, e.Strength) > slices.Index(order, found.Strength) {
			found = e
		}
	}
	return found
}

// withInstance adds where a VM is and its ids, whole.
func withInstance(l terminal.Line, i *report.Instance) terminal.Line {
	if at := cmp.Or(strings.TrimSuffix(i.Path, "/"+i.ID), i.Name); at != "" { // the id follows
		l = l.Field(terminal.Dim, terminal.Quoted(at))
	}
	return withIDs(l, i)
}

func withIDs(l terminal.Line, i *report.Instance) terminal.Line {
	return l.Named(terminal.Dim, "id", i.ID).Named(terminal.Dim, "ref", i.Ref)
}
