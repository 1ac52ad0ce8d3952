package report

import (
	"slices"
	"strings"
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
	partial := r.Incomplete()
	return slices.DeleteFunc(slices.Clone(r.Errors), func(e Error) bool {
		return e.Scope != "" && slices.ContainsFunc(partial, func(s Scope) bool {
			return s.Error != nil && s.Error.Message == e.Message
		})
	})
}

// ScopeName joins the parts of a scope's name, without those that are empty.
func ScopeName(provider, endpoint, location string) string {
	parts := []string{provider, endpoint, location}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}
