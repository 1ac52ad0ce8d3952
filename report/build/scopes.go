package build

import (
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// scopeName is a scope as instances name it.
type scopeName struct{ provider, name, account string }

// nameScopes names the scopes by their targets' ids, with the account where several
// accounts share the name: two AWS accounts have the same regions.
func (b *builder) nameScopes(listings []infra.Listing) {
	accounts := map[string]string{}
	shared := map[string]bool{}
	for _, l := range listings {
		name := report.ScopeName(l.Provider, l.Endpoint, l.Location)
		if have, known := accounts[name]; known && have != l.Account {
			shared[name] = true
		}
		accounts[name] = l.Account
	}
	for _, l := range listings {
		at := scopeName{provider: l.Provider, name: report.ScopeName(l.Provider, l.Endpoint, l.Location)}
		if shared[at.name] {
			at.account = l.Account
		}
		for _, id := range l.IDs {
			b.scopes[id] = at
		}
	}
}

func scopes(found []detector.Scope, listings []infra.Listing) []report.Scope {
	identities := identitiesOf(listings)
	var out []report.Scope
	for i := range found {
		s := scope(&found[i])
		s.Identity = identities[keyOf(&s)]
		out = append(out, s)
	}
	return out
}

func scope(s *detector.Scope) report.Scope {
	out := report.Scope{
		Provider: s.Provider, Endpoint: s.Endpoint, Location: s.Location, Account: s.Account,
		State: report.ScopeState(s.State), Instances: s.Instances,
	}
	if s.Fault != nil {
		out.Error = &report.Fault{Reason: code.Reason(s.Fault.Reason), Message: s.Fault.Message, Hint: s.Fault.Hint}
	}
	return out
}

// scopeKey is what a scope and the listing behind it have in common.
type scopeKey struct{ provider, endpoint, location, account string }

func keyOf(s *report.Scope) scopeKey { return scopeKey{s.Provider, s.Endpoint, s.Location, s.Account} }

// identitiesOf says who each place is, empty where listings of one name disagree.
func identitiesOf(listings []infra.Listing) map[scopeKey]string {
	out := map[scopeKey]string{}
	for _, l := range listings {
		k := scopeKey{l.Provider, l.Endpoint, l.Location, l.Account}
		if have, known := out[k]; known && have != l.Identity {
			out[k] = ""
			continue
		}
		out[k] = l.Identity
	}
	return out
}
