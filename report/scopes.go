package report

import (
	"slices"
	"strings"

	"drift-detector/report/code"
)

// Title names a scope as instances name it, with the account that looked.
func (s *Scope) Title() string {
	name := ScopeName(s.Provider, s.Endpoint, s.Location)
	if s.Account != "" {
		name += " as " + s.Account
	}
	return name
}

// Holds reports whether an instance was seen there.
func (s *Scope) Holds(v *Instance) bool {
	return v.Scope == ScopeName(s.Provider, s.Endpoint, s.Location) && (v.Account == "" || v.Account == s.Account)
}

// Incomplete returns the scopes that were not listed whole.
func (r *Report) Incomplete() []Scope {
	return slices.DeleteFunc(slices.Clone(r.Scopes), func(s Scope) bool { return s.State == code.ScopeComplete })
}

// OtherErrors returns those that do not repeat why a scope is not complete.
func (r *Report) OtherErrors() []Error {
	said := map[string]bool{}
	for _, s := range r.Incomplete() {
		if s.Error != nil {
			said[s.Error.Message] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Errors), func(e Error) bool { return e.Scope != "" && said[e.Message] })
}

// ScopeName joins the parts of a scope's name, without those that are empty.
func ScopeName(provider, endpoint, location string) string {
	parts := []string{provider, endpoint, location}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// Affected returns those of the clusters, as namespace/name, of which something is not
// known, in the order of the report.
func (r *Report) Affected(clusters []string) []string {
	var out []string
	for i := range r.Clusters {
		c := &r.Clusters[i]
		undecided := func(x Resource) bool { return x.State == code.Undecided }
		if slices.Contains(clusters, c.Title()) && (c.Counts.Unknown > 0 || slices.ContainsFunc(c.Resources, undecided)) {
			out = append(out, c.Title())
		}
	}
	return out
}
