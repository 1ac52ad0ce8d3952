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

// Incomplete are the scopes that were not listed whole.
func (r *Report) Incomplete() []Scope {
	return slices.DeleteFunc(slices.Clone(r.Scopes), func(s Scope) bool { return s.State == ScopeComplete })
}

// OtherErrors are those that do not repeat why a scope is not complete.
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

// Affected returns the clusters, as namespace/name, with something that is not known for
// the reasons of these messages, such as those of faults: machines and resources repeat
// them in their own.
func (r *Report) Affected(messages []string) []string {
	because := map[string]bool{} // by the message of a machine or a resource: most are alike
	of := func(message string) bool {
		known, ok := because[message]
		if !ok {
			known = slices.ContainsFunc(messages, func(m string) bool { return m != "" && strings.Contains(message, m) })
			because[message] = known
		}
		return known
	}
	var out []string
	for i := range r.Clusters {
		c := &r.Clusters[i]
		affected := slices.ContainsFunc(c.Resources, func(x Resource) bool { return x.State == Undecided && of(x.Message) })
		for _, s := range c.Sets() {
			affected = affected || slices.ContainsFunc(s.Machines, func(m Machine) bool { return m.Status == code.Unknown && of(m.Message) })
		}
		if affected {
			out = append(out, c.Title())
		}
	}
	return out
}
