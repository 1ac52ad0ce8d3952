// Package build makes a report of what the detector, the forecast and the checks
// found. It decides only the one answer, in answer.go.
package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/detector"
	"drift-detector/detector/rehearsal"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Parts is what a Report is made of.
type Parts struct {
	Result    detector.Result
	Snapshot  *backup.Snapshot // for what was read and what it lacks; may be nil
	Absent    []backup.Absence // what the providers miss in addition to Snapshot.Absent
	Inventory infra.Inventory  // for the names of the scopes that verdicts refer to by target id
	// LoadBalancers are those of infra.Expected.
	LoadBalancers map[backup.ClusterID][]infra.LoadBalancer
	// Forecast is made from Result, in whose order its parts are; nil leaves it
	// out of the document.
	Forecast *rehearsal.Forecast
	// ByPlan is that of a restore by the plan; nil leaves the answer to it out.
	ByPlan      *rehearsal.Forecast
	Checks      []check.Finding  // on the backup alone
	Described   []*check.Outline // by backup, or none; nil where Velero says nothing of it
	Providers   []infra.Spec     // of the run
	Tool        report.Tool
	GeneratedAt time.Time
	Options     report.Options
}

// New turns an outcome into the document. It decides nothing: it counts, names
// and, with Options.IgnoreHealthy, leaves out.
func New(p Parts) *report.Report {
	b := builder{
		ignoreHealthy: p.Options.IgnoreHealthy,
		scopes:        map[string]scopeName{},
	}
	b.readTopologies(p.Snapshot)
	b.nameScopes(p.Inventory.Listings)
	r := &report.Report{
		SchemaVersion: report.SchemaVersion,
		Tool:          p.Tool,
		GeneratedAt:   utc(p.GeneratedAt),
		Options:       p.Options,
		Backups:       backups(p.Snapshot, p.Absent, p.Described),
	}
	r.Clusters = make([]report.Cluster, 0, len(p.Result.Clusters))
	for i := range p.Result.Clusters {
		c := b.cluster(&p.Result.Clusters[i], forecastOf(p.Forecast, i))
		for _, lb := range p.LoadBalancers[p.Result.Clusters[i].ID] {
			c.APILoadBalancers = append(c.APILoadBalancers, report.LoadBalancer(lb))
		}
		r.Clusters = append(r.Clusters, c)
	}
	r.InfraMachines = make([]report.InfraMachine, 0, len(p.Result.Unattributed))
	for i := range p.Result.Unattributed {
		r.InfraMachines = append(r.InfraMachines, b.infraMachine(&p.Result.Unattributed[i]))
	}
	r.Scopes = scopes(p.Result.Scopes, p.Inventory.Listings)
	r.Checks = Checks(p.Checks)
	r.Providers = Providers(p.Providers)
	for _, e := range p.Result.Errors {
		r.Errors = append(r.Errors, report.Error{Scope: e.Scope, Object: e.Object, Message: e.Message, Hint: e.Hint})
	}
	r.Summary = summary(&p.Result, r)
	if !r.IsLive() { // of which nothing is restored
		r.Summary.Forecast = generalForecast(p.Forecast)
		r.Summary.Answer = decide(&p, r)
		r.Summary.AnswerByPlan = decideByPlan(&p, r)
	}
	r.FillLists()
	if r.IsLive() {
		for i := range r.Providers {
			r.Providers[i].Remedies = nil // which are of the plan
		}
	}
	return r
}

// builder carries what every verdict needs on its way into the document.
type builder struct {
	ignoreHealthy bool
	scopes        map[string]scopeName // by target id
	topologies    map[member]string    // name in spec.topology
}

// member is a MachineDeployment of a cluster.
type member struct {
	cluster backup.ClusterID
	name    string
}

func (b *builder) readTopologies(s *backup.Snapshot) {
	if s == nil {
		return
	}
	b.topologies = map[member]string{}
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Kind == "MachineDeployment" {
			b.topologies[member{g.Cluster, g.Name}] = g.Topology()
		}
	}
}

// utc gives times the one form that the document has. A backup may carry times
// that RFC 3339 cannot express; they must not cost the report.
func utc(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Second)
	if y := t.Year(); y < 1 || y > 9999 {
		return time.Time{}
	}
	return t
}

func backups(s *backup.Snapshot, more []backup.Absence, described []*check.Outline) []report.Backup {
	if s == nil {
		return nil
	}
	out := make([]report.Backup, len(s.Backups))
	for i, b := range s.Backups {
		out[i] = report.Backup{
			Path: b.Path, SHA256: b.SHA256, FormatVersion: b.FormatVersion,
			WrittenFrom: utc(b.WrittenFrom), WrittenTo: utc(b.WrittenTo), Items: b.Items, KubeSystemUID: b.KubeSystemUID, Live: b.Live, RestoreMode: string(b.Mode),
		}
	}
	for i := range out {
		for _, p := range check.Installed(s, i) {
			out[i].Installed = append(out[i].Installed, report.Installed(p))
		}
		if i < len(described) && described[i] != nil {
			d := described[i]
			out[i].Velero = &report.Described{Name: d.Name, Started: utc(d.Started), Ended: utc(d.Ended), Items: max(d.Items, 0)}
		}
	}
	for _, a := range slices.Concat(s.Absent, more) {
		if a.Backup < 0 || a.Backup >= len(out) {
			continue
		}
		m := report.Missing{Kind: a.Kind, Namespace: a.Namespace, Name: a.Name, ReferredBy: a.ReferredBy, Why: a.Why}
		out[a.Backup].Missing = append(out[a.Backup].Missing, m)
	}
	for i := range out {
		sorting.By(out[i].Missing, compareMissing)
		out[i].Missing = slices.Compact(out[i].Missing)
	}
	return out
}

func compareMissing(a, b report.Missing) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.ReferredBy, b.ReferredBy), cmp.Compare(a.Why, b.Why),
	)
}

func (b *builder) cluster(c *detector.Cluster, f *rehearsal.Cluster) report.Cluster {
	out := report.Cluster{
		Namespace: c.ID.Namespace, Name: c.ID.Name, Backup: c.ID.Backup,
		Provider: c.Provider, Status: c.Status,
		Derived: c.Derived, Self: c.Self, Paused: c.Paused, Endpoint: c.Endpoint,
		Nodes: c.Nodes,
		ControlPlane: report.ControlPlane{
			Kind: c.ControlPlane.Kind, Name: c.ControlPlane.Name,
			Status: c.ControlPlane.Status, Reason: c.ControlPlane.Reason,
			Applicable: c.Applicable, Desired: number(c.ControlPlane.Desired),
		},
		Workers: report.Workers{Status: c.Workers},
	}
	var forecasts []rehearsal.Machine
	if f != nil {
		forecasts = f.ControlPlane.Machines
	}
	out.ControlPlane.Machines, out.ControlPlane.Counts = b.machines(c, c.ControlPlane.Machines, forecasts)
	out.Counts.Add(out.ControlPlane.Counts)
	out.Workers.Groups = make([]report.Group, 0, len(c.WorkerGroups))
	for i := range c.WorkerGroups {
		s := &c.WorkerGroups[i]
		g := report.Group{Kind: s.Kind, Name: s.Name, Status: s.Status, Reason: s.Reason, Desired: number(s.Desired), Pool: pool(s.Pool)}
		if s.Kind == "MachineDeployment" {
			g.Topology = b.topologies[member{c.ID, s.Name}]
		}
		if f != nil {
			forecasts = f.Groups[i].Machines
		}
		g.Machines, g.Counts = b.machines(c, s.Machines, forecasts)
		out.Counts.Add(g.Counts)
		out.Workers.Groups = append(out.Workers.Groups, g)
	}
	out.Resources = c.Resources
	foresee(&out, f)
	return out
}

func pool(p *detector.PoolState) *report.Pool {
	if p == nil {
		return nil
	}
	out := &report.Pool{State: p.State, Then: p.Then, Now: p.Now, Desired: number(p.Desired), DesiredNow: number(p.DesiredNow), ManagedBy: p.ManagedBy, Message: p.Message}
	if p.State != code.Undecided { // else nobody knows who is a member
		out.Missing, out.Added = without(p.Then, p.Now), without(p.Now, p.Then)
	}
	return out
}

// without lists what is in a and not in b, which is sorted.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool {
		_, found := slices.BinarySearch(b, s)
		return found
	})
}

func number(n backup.Number) *int64 {
	if !n.Known {
		return nil
	}
	return &n.N
}

// machines lists verdicts, each with its forecast where there are any.
func (b *builder) machines(c *detector.Cluster, vs []*detector.Verdict, forecasts []rehearsal.Machine) ([]report.Machine, report.MachineCounts) {
	var n report.MachineCounts
	out := make([]report.Machine, 0, len(vs))
	for i, v := range vs {
		n.Count(v.Status)
		if b.ignoreHealthy && v.Status == code.Healthy && len(v.Warnings) == 0 {
			continue
		}
		m := b.machine(c, v)
		m.Forecast = machineForecast(forecasts, i)
		out = append(out, m)
	}
	return out, n
}

func (b *builder) machine(c *detector.Cluster, v *detector.Verdict) report.Machine {
	m := report.Machine{
		Namespace: cmp.Or(v.Namespace, c.ID.Namespace), Name: v.Name, UID: v.UID, Role: role(v),
		Status: v.Status, Reason: v.Reason, Message: v.Message,
		ProviderID: v.ProviderID, Node: v.Node,
		Evidence: v.Evidence, Warnings: v.Warnings, MoreOthers: v.MoreOthers,
	}
	if ref := v.Infrastructure; ref != nil {
		m.Infrastructure = &report.ObjectName{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	}
	if v.Deleting != nil {
		at := utc(*v.Deleting)
		m.Deleting = &at
	}
	if v.Instance != nil {
		i := instance(v.Instance, b.scope(v.Scope, c.Provider))
		m.Instance = &i
	}
	for i := range v.Others {
		var at scopeName
		if i < len(v.OtherScopes) {
			at = b.scope(v.OtherScopes[i], c.Provider)
		}
		m.Others = append(m.Others, instance(&v.Others[i], at))
	}
	return m
}

func role(v *detector.Verdict) report.Role {
	switch {
	case !v.RoleKnown:
		return ""
	case v.ControlPlane:
		return report.RoleControlPlane
	default:
		return report.RoleWorker
	}
}

// scope names a target. Without the listing of it the id itself is the best name.
func (b *builder) scope(target, provider string) scopeName {
	if p, ok := b.scopes[target]; ok {
		return p
	}
	return scopeName{provider: provider, name: target}
}

func instance(i *infra.Instance, at scopeName) report.Instance {
	out := report.Instance{
		Provider: at.provider, Scope: at.name, Account: at.account, ID: i.ID, Ref: i.Ref,
		Name: i.Name, Path: i.Path, State: i.State, Size: i.Size, Addresses: i.Addresses,
	}
	for _, tag := range i.Tags {
		if out.Tags == nil {
			out.Tags = make(map[string]string, len(i.Tags))
		}
		out.Tags[strings.ToValidUTF8(tag.Key, "\ufffd")] = tag.Value
	}
	if t := utc(i.Created); !t.IsZero() {
		out.Created = &t
	}
	return out
}

func (b *builder) infraMachine(u *detector.Unattributed) report.InfraMachine {
	m := report.InfraMachine{
		Instance:       instance(&u.Instance, b.scope(u.Scope, "")),
		ForeignCluster: u.Foreign, Reason: u.Reason, Message: u.Message, Evidence: u.Evidence,
	}
	for _, id := range u.Clusters {
		m.Candidates = append(m.Candidates, id.Namespace+"/"+id.Name)
	}
	if m.Candidates = slices.Compact(m.Candidates); len(m.Candidates) == 1 { // of several backups
		m.Cluster, m.Candidates = m.Candidates[0], nil
	}
	return m
}

func summary(res *detector.Result, r *report.Report) report.Summary {
	s := report.Summary{
		Status: res.Status, Complete: res.Complete,
		InfraMachines: len(r.InfraMachines), Excluded: validKeys(res.Excluded),
		OutOfScope: res.OutOfScope, ForeignTags: validKeys(res.ForeignTags),
		Errors: len(r.Errors),
	}
	for i := range r.Clusters {
		// The management cluster is lost anyway: its machines are no finding.
		if c := &r.Clusters[i]; !c.Self {
			s.Machines.Add(c.Counts)
			s.Clusters.Count(c.Status)
			for j := range c.Resources {
				s.Resources.Count(c.Resources[j].State)
			}
		}
	}
	return s
}

// validKeys copies counts by foreign names. JSON has no two keys that
// differ in invalid UTF-8 only, so they are counted together.
func validKeys(counts map[string]int) map[string]int {
	out := make(map[string]int, len(counts))
	for k, n := range counts {
		out[strings.ToValidUTF8(k, "\ufffd")] += n
	}
	return out
}
