package diff

import (
	"cmp"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Cluster is a cluster as one report has it.
type Cluster struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Status    code.Status `json:"status"`
	Self      bool        `json:"self"`

	parts []part
}

// Scope is a place as one report has it.
type Scope struct {
	Provider string            `json:"provider"`
	Endpoint string            `json:"endpoint"`
	Location string            `json:"location"`
	Account  string            `json:"account"`
	State    report.ScopeState `json:"state"`
	Reason   string            `json:"reason,omitempty"` // why it is not complete

	title string
}

func (c *Cluster) title() string { return c.Namespace + "/" + c.Name }

// clusters compares clusters by their names: status, sets, and what their
// machines are made of.
func clusters(old, new *report.Report) Lists[Cluster] {
	return compare(clustersOf(old), clustersOf(new), []identity[Cluster]{{of: func(c *Cluster) string { return key(c.title()) }}},
		func(a, b *Cluster) []Field { return differences(a.parts, b.parts) },
		func(a, b *Cluster) int {
			return cmp.Or(cmp.Compare(code.RollUpRank(a.Status), code.RollUpRank(b.Status)), cmp.Compare(a.title(), b.title()))
		})
}

func clustersOf(r *report.Report) []Cluster {
	var out []Cluster
	for i := range r.Clusters {
		c := &r.Clusters[i]
		one := Cluster{Namespace: c.Namespace, Name: c.Name, Status: c.Status, Self: c.Self}
		one.parts = []part{{"status", string(c.Status)}}
		for _, s := range c.Sets() {
			one.parts = append(one.parts, part{s.Title, stateOfSet(&s)})
		}
		for _, res := range c.Resources {
			one.parts = append(one.parts, part{res.Kind + " " + res.Name, string(res.State)})
		}
		out = append(out, one)
	}
	return out
}

func stateOfSet(s *report.Set) string {
	out := string(s.Status)
	if s.Reason != "" {
		out += " " + string(s.Reason)
	}
	if s.Pool != nil {
		out += ", pool " + string(s.Pool.State)
	}
	return out
}

// scopes compares the places that were listed.
func scopes(old, new *report.Report) Lists[Scope] {
	return compare(scopesOf(old), scopesOf(new), []identity[Scope]{{of: func(s *Scope) string { return key(s.title, "") }}},
		func(a, b *Scope) []Field {
			return differences([]part{{"state", string(a.State)}, {"reason", a.Reason}}, []part{{"state", string(b.State)}, {"reason", b.Reason}})
		},
		func(a, b *Scope) int { return cmp.Or(compareComplete(a, b), cmp.Compare(a.title, b.title)) })
}

func compareComplete(a, b *Scope) int {
	rank := map[bool]int{true: 1}
	return cmp.Compare(rank[a.State == report.ScopeComplete], rank[b.State == report.ScopeComplete])
}

func scopesOf(r *report.Report) []Scope {
	var out []Scope
	for i := range r.Scopes {
		s := &r.Scopes[i]
		one := Scope{Provider: s.Provider, Endpoint: s.Endpoint, Location: s.Location, Account: s.Account, State: s.State, title: s.Title()}
		if s.Error != nil {
			one.Reason = string(s.Error.Reason)
		}
		out = append(out, one)
	}
	return out
}

// faults compares errors: one that says something else of the same scope or
// object has changed.
func faults(old, new *report.Report) Lists[report.Error] {
	return compare(old.Errors, new.Errors, []identity[report.Error]{
		{of: func(e *report.Error) string { return key(e.Scope, e.Object, e.Message) }},
		{of: func(e *report.Error) string {
			if e.Scope == "" && e.Object == "" {
				return ""
			}
			return key(e.Scope, e.Object)
		}, only: true},
	},
		func(a, b *report.Error) []Field {
			return differences([]part{{"message", a.Message}}, []part{{"message", b.Message}})
		},
		func(a, b *report.Error) int {
			return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
		})
}

// checks compares the findings on the backup itself: by what they are and what
// they are about.
func checks(old, new *report.Report) Lists[report.Check] {
	return compare(old.Checks, new.Checks, []identity[report.Check]{
		{of: func(c *report.Check) string { return key(string(c.Code), c.Object, c.Message) }},
		{of: func(c *report.Check) string { return key(string(c.Code), c.Object) }},
	},
		func(a, b *report.Check) []Field {
			return differences([]part{{"severity", string(a.Severity)}}, []part{{"severity", string(b.Severity)}})
		},
		func(a, b *report.Check) int {
			return cmp.Or(-compareBool(a.Error(), b.Error()), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code),
				cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
		})
}

func compareBool(a, b bool) int { return one(a) - one(b) }
