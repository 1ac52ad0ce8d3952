// Package reporttest makes reports for the tests of formats: random ones whose
// counts are right, large ones, and ones whose every name is an attack.
package reporttest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Hostile are names that break what does not escape them: markup, scripts,
// links, tables, terminals, bidirectional text, and mere length.
var Hostile = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`javascript:alert(1)`,
	`</style></script><svg onload=alert(1)>`,
	`' onmouseover='alert(1)`,
	"a|b `c` **d** [e](http://evil.example/) <!-- f",
	"line one\nline two\r\n| x |\x1b[31mred",
	"\u202egnp.exe\u2066 left\u2069",
	`back\slash "quote" {label="x"}`,
	"]]>&lt;&#x3c;${7*7}{{.}}",
	"\xff\xfe invalid",
	"NaN", "",
	long,
}

var long = func() string {
	b := make([]byte, 500)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz"[i%26]
	}
	return string(b)
}()

// Random returns a report that is fully determined by the seed and consistent:
// every count is that of its list, every status that of its parts. One in three
// has hostile names, one in four was shortened, one in three has ignore rules.
func Random(seed uint64) *report.Report {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), hostile: seed%3 == 0, shortened: seed%4 == 1}
	if seed%3 == 1 {
		g.rules = 1 + g.IntN(3)
	}
	return g.report(g.IntN(6), 12)
}

// Sized returns a report of so many clusters with about that many machines in
// each, most of them healthy, as those of real fleets are.
func Sized(clusters, machines int) *report.Report {
	g := &generator{Rand: rand.New(rand.NewPCG(uint64(clusters), uint64(machines))), calm: true}
	return g.report(clusters, machines)
}

// HostileReport returns a report in which every name is hostile.
func HostileReport() *report.Report {
	g := &generator{Rand: rand.New(rand.NewPCG(7, 7)), hostile: true, always: true, rules: 2}
	return g.report(4, 12)
}

type generator struct {
	*rand.Rand
	hostile, always bool // names
	calm            bool // nearly all healthy
	shortened       bool
	rules           int
	n               int
}

func (g *generator) name(kind string) string {
	if g.hostile && (g.always || g.IntN(3) == 0) {
		return Hostile[g.IntN(len(Hostile))]
	}
	g.n++
	return fmt.Sprintf("%s-%d", kind, g.n)
}

// one returns any of them.
func one[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) report(clusters, machines int) *report.Report {
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	r := &report.Report{
		SchemaVersion: report.SchemaVersion,
		Tool:          report.Tool{Name: "drift-detector", Version: "v0.0.0", Commit: "0123abc"},
		GeneratedAt:   at,
		Options:       report.Options{IgnoreHealthy: g.shortened},
		Backups: []report.Backup{{
			Path: g.name("backup") + ".tar.gz", SHA256: fmt.Sprintf("%064x", g.Uint64()), FormatVersion: "1.1.0",
			WrittenFrom: at.Add(-time.Hour), WrittenTo: at.Add(-time.Hour + 4*time.Second), Items: 100 * clusters, Missing: []report.Missing{},
		}},
		Clusters: []report.Cluster{}, InfraMachines: []report.InfraMachine{}, Scopes: []report.Scope{}, Checks: []report.Check{}, Errors: []report.Error{},
	}
	for i := range g.rules {
		r.IgnoreRules = append(r.IgnoreRules, report.IgnoreRule{File: g.name("ignore") + ".yaml", Line: 3 * (i + 1), Reason: g.name("because"), Expires: "2027-01-31", State: report.RuleActive})
	}
	for range clusters {
		r.Clusters = append(r.Clusters, g.cluster(r, machines))
	}
	for range g.IntN(4) {
		r.InfraMachines = append(r.InfraMachines, g.infraMachine(r))
	}
	for range 1 + g.IntN(2) {
		r.Scopes = append(r.Scopes, g.scope(at))
	}
	if !g.calm && g.IntN(3) == 0 {
		r.Errors = append(r.Errors, report.Error{Object: g.name("object"), Message: g.name("message"), Hint: g.name("hint")})
	}
	if !g.calm && g.IntN(3) == 0 {
		r.Backups[0].Missing = append(r.Backups[0].Missing, report.Missing{Kind: "VSphereClusterIdentity", Name: g.name("identity"), ReferredBy: g.name("by"), Why: g.name("why")})
	}
	if g.IntN(2) == 0 {
		r.Checks = append(r.Checks, report.Check{Severity: one(g, code.Severities()...), Code: "ClusterNotPaused", Object: g.name("Cluster"), Message: g.name("message"), Why: "Controllers act at once.", Do: "pause it"})
	}
	g.summarize(r)
	return r
}

func (g *generator) summarize(r *report.Report) {
	s := &r.Summary
	s.Complete, s.Excluded, s.OutOfScope = true, map[string]int{"template": g.IntN(9) + 1}, g.IntN(5)
	s.InfraMachines = len(r.InfraMachines)
	for _, sc := range r.Incomplete() {
		s.Complete = false
		r.Errors = append(r.Errors, report.Error{Scope: sc.Provider + " " + sc.Endpoint, Message: sc.Error.Message, Hint: sc.Error.Hint})
	}
	s.Errors = len(r.Errors)
	if g.rules > 0 {
		s.IgnoredMachines = &report.MachineCounts{}
	}
	s.Forecast = &report.GeneralForecast{Outcomes: map[code.Outcome]int{}}
	with, without := code.Healthy, code.Healthy // rules
	if len(r.Errors) > 0 {
		with, without = code.NeedFurtherConfirmation, code.NeedFurtherConfirmation
	}
	for i := range r.Clusters {
		if c := &r.Clusters[i]; !c.Self {
			with, without = code.Worst(with, c.Status), code.Worst(without, countCluster(s, c))
		}
	}
	for i := range r.InfraMachines {
		without = code.Worst(without, code.NeedFurtherConfirmationInfraMachines)
		if r.InfraMachines[i].Ignored != nil {
			s.Ignored++
			s.IgnoredInfraMachines++
		} else {
			with = code.Worst(with, code.NeedFurtherConfirmationInfraMachines)
		}
	}
	s.Status = with
	if g.rules > 0 {
		s.StatusWithoutRules = without
	}
	s.Answer = g.answer(code.Worst(with, without))
	s.Forecast.NotHealing, s.Forecast.Notes = s.Machines.Stale, []report.Note{{Code: code.AssumedOrder, Message: g.name("note")}}
}

// countCluster adds a cluster to the summary and returns its status without rules.
func countCluster(s *report.Summary, c *report.Cluster) (status code.Status) {
	status = code.Healthy
	s.Machines.Add(c.Counts)
	s.Clusters.Count(c.Status)
	for _, set := range c.Sets() {
		for i := range set.Machines {
			m := &set.Machines[i]
			status = code.Worst(status, m.RollUp())
			if m.Forecast != nil {
				s.Forecast.Outcomes[m.Forecast.Outcome]++
			}
			if m.Ignored != nil {
				s.Ignored++
				s.IgnoredMachines.Count(m.Status)
			}
		}
	}
	return status
}

// answer returns one that the status does not contradict; rules do not change it.
func (g *generator) answer(status code.Status) *report.SafeAnswer {
	a := &report.SafeAnswer{Safe: code.Yes, Reasons: []report.AnswerReason{}, Conditions: []report.Note{{Code: code.RestoreOrder, Message: g.name("condition")}}}
	worst := map[code.Status]code.Reason{
		code.ManualRemediationNotRequired: code.MachinesBroken, code.NeedFurtherConfirmationInfraMachines: code.InstancesToConfirm,
		code.NeedFurtherConfirmation: code.MachinesUnknown, code.ManualRemediationRequired: code.EtcdMembersRemoved,
	}[status]
	if worst != "" {
		a.Safe = code.SafeAfter(worst)
		a.Reasons = append(a.Reasons, report.AnswerReason{Code: worst, Message: g.name("reason"), Objects: []string{g.name("Machine")}})
	}
	return a
}

const unreachable = "unreachable" // a reason why a Node list was not read

func (g *generator) cluster(r *report.Report, machines int) report.Cluster {
	c := report.Cluster{
		Namespace: g.name("tenant"), Name: g.name("cluster"), Provider: one(g, "vsphere", "aws"),
		Derived: g.IntN(9) == 0, Self: !g.calm && g.IntN(9) == 0, Paused: g.IntN(9) == 0, Endpoint: "192.0.2.1:6443",
		Nodes:     report.Nodes{State: one(g, report.NodesRead, report.NodesSkipped, unreachable)},
		Resources: []report.Resource{},
		Forecast:  &report.ClusterForecast{Text: g.name("adopted"), Outcomes: map[code.Outcome]int{}, Notes: []report.Note{}},
	}
	if c.Nodes.State == unreachable {
		c.Nodes.Error = g.name("refused")
	}
	three := int64(3)
	cp := &c.ControlPlane
	cp.Kind, cp.Name, cp.Applicable, cp.Desired = "KubeadmControlPlane", g.name("cp"), true, &three
	cp.Machines, cp.Counts, cp.Status = g.machines(r, &c, min(3, machines), report.RoleControlPlane)
	c.Counts = cp.Counts
	c.Workers = report.Workers{Status: code.Healthy, Groups: []report.Group{}}
	for left := machines - 3; left > 0; {
		n := min(left, 1+g.IntN(40))
		left -= n
		desired := int64(n)
		group := report.Group{Kind: one(g, "MachineDeployment", "MachineSet"), Name: g.name("md"), Desired: &desired}
		group.Machines, group.Counts, group.Status = g.machines(r, &c, n, report.RoleWorker)
		c.Counts.Add(group.Counts)
		c.Workers.Groups = append(c.Workers.Groups, group)
		c.Workers.Status = code.Worst(c.Workers.Status, group.Status)
	}
	c.Status = code.Worst(cp.Status, c.Workers.Status)
	return c
}

// machines returns n machines without those that a shortened report leaves out, the
// counts of all, and what those that no rule sets aside roll up to.
func (g *generator) machines(r *report.Report, c *report.Cluster, n int, role report.Role) (out []report.Machine, counts report.MachineCounts, status code.Status) {
	out, status = []report.Machine{}, code.Healthy
	for range n {
		m := g.machine(c, role)
		counts.Count(m.Status)
		g.ignore(r, m.Finding() && !c.Self, &m.Ignored)
		if m.Ignored == nil {
			status = code.Worst(status, m.RollUp())
		}
		if !g.shortened || m.Finding() {
			out = append(out, m)
		}
	}
	return out, counts, status
}

func (g *generator) ignore(r *report.Report, finding bool, into **report.Ignored) {
	if g.rules == 0 || !finding || g.IntN(3) > 0 {
		return
	}
	i := g.IntN(g.rules)
	r.IgnoreRules[i].Matched++
	*into = &report.Ignored{Rule: i, Reason: r.IgnoreRules[i].Reason}
}

func (g *generator) machine(c *report.Cluster, role report.Role) report.Machine {
	m := report.Machine{
		Namespace: c.Namespace, Name: g.name(c.Name), UID: fmt.Sprintf("%08x-0000", g.Uint32()), Role: role,
		Status:     one(g, code.Healthy, code.Healthy, code.Healthy, code.Stale, code.Ghost, code.Unknown),
		ProviderID: fmt.Sprintf("%s://42%06x", c.Provider, g.Uint32()), Node: g.name("node"),
		Evidence: []report.Evidence{{Kind: "biosUUID", Detail: g.name("found"), Strength: one(g, code.Strong, code.Medium, code.Weak)}},
	}
	if g.calm && g.IntN(20) > 0 {
		m.Status = code.Healthy
	}
	switch m.Status {
	case code.Healthy:
		m.Instance = g.instance(c.Provider)
		m.Forecast = &report.MachineForecast{Outcome: code.Adopted, Message: "the controllers take it over"}
		if g.IntN(9) == 0 {
			m.Warnings = []report.Warning{{Reason: one(g, code.PoweredOff, code.Renamed), Message: g.name("warning")}}
		}
		return m
	case code.Stale:
		m.Reason, m.Message = code.InstanceNotFound, g.name("no VM")
		m.Forecast = &report.MachineForecast{Outcome: code.Stuck, Condition: g.name("condition"), Message: g.name("message")}
	case code.Ghost:
		m.UID, m.ProviderID, m.Instance = "", "", g.instance(c.Provider)
		m.Message = g.name("it belongs to the cluster")
		m.Forecast = &report.MachineForecast{Outcome: code.GhostKeepsRunning, Message: g.name("message")}
	default:
		m.Reason, m.Message = one(g, code.ScopeIncomplete, code.AmbiguousMatch, code.NodeAlive), g.name("cannot be decided")
		m.Forecast = &report.MachineForecast{Outcome: code.CannotKnow, Message: g.name("message")}
	}
	m.Remediation = []report.Step{{
		When: report.BeforeRestore, Who: report.Operator, Text: g.name("look at it"),
		Commands: []string{"govc vm.info -vm.uuid '" + g.name("id") + "'"},
	}}
	return m
}

func (g *generator) instance(provider string) *report.Instance {
	at := time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	i := &report.Instance{
		Provider: provider, Scope: provider + " " + g.name("vc") + ":443", ID: fmt.Sprintf("42%06x-%08x", g.Uint32(), g.Uint32()),
		Ref: fmt.Sprintf("vm-%d", g.IntN(9999)), Name: g.name("vm"), Path: "/DC0/vm/" + g.name("folder") + "/" + g.name("vm"),
		State: one(g, "poweredOn", "poweredOff"), Created: &at, Addresses: []string{"192.0.2.7"},
	}
	if provider == "aws" {
		i.Tags = map[string]string{"team": g.name("team")}
	}
	return i
}

func (g *generator) infraMachine(r *report.Report) report.InfraMachine {
	m := report.InfraMachine{
		Instance: *g.instance(one(g, "vsphere", "aws")), Reason: one(g, code.InClusterFolder, code.CloneOf, code.ForeignNode), Message: g.name("ask its owner"),
		Evidence: []report.Evidence{{Kind: "folder", Detail: g.name("in folder"), Strength: code.Weak}},
	}
	if len(r.Clusters) > 0 && g.IntN(2) == 0 {
		m.Cluster = r.Clusters[g.IntN(len(r.Clusters))].Title()
	}
	g.ignore(r, true, &m.Ignored)
	return m
}

func (g *generator) scope(at time.Time) report.Scope {
	s := report.Scope{Provider: one(g, "vsphere", "aws"), Endpoint: g.name("vc") + ":443", Account: g.name("svc"), State: code.ScopeComplete, Instances: g.IntN(99)}
	if s.Instances%4 > 0 {
		s.ListedAt = at.Add(-time.Minute)
	}
	if !g.calm && g.IntN(4) == 0 {
		s.State = one(g, code.ScopePartial, code.ScopeFailed)
		s.Error = &report.Fault{Reason: code.Unreachable, Message: g.name("connection refused"), Hint: g.name("open the way")}
	}
	return s
}
