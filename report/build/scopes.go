package build

import (
	"slices"
	"time"

	"drift-detector/infra"
	"drift-detector/report"
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

// scopes returns those of the result, with who each place is, and when it was listed: of several
// listings of one name, the oldest.
func scopes(found []report.Scope, listings []infra.Listing) []report.Scope {
	identities := identitiesOf(listings)
	at := map[scopeKey]time.Time{}
	for i := range listings {
		l := &listings[i]
		k := scopeKey{l.Provider, l.Endpoint, l.Location, l.Account}
		if have, known := at[k]; !known || l.ListedAt.Before(have) {
			at[k] = utc(l.ListedAt)
		}
	}
	out := slices.Clone(found)
	for i := range out {
		out[i].Identity, out[i].ListedAt = identities[keyOf(&out[i])], at[keyOf(&out[i])]
	}
	return out
}

// Listed returns all instances of an inventory, those too that nothing refers to, and the scopes of a
// result with who each place is, for what compares a report with what is there now.
func Listed(inventory infra.Inventory, found []report.Scope) ([]report.Instance, []report.Scope) {
	b := builder{scopes: map[string]scopeName{}}
	b.nameScopes(inventory.Listings)
	var out []report.Instance
	for i := range inventory.Listings {
		l := &inventory.Listings[i]
		if len(l.IDs) == 0 {
			continue
		}
		at := b.scope(l.IDs[0], l.Provider)
		for j := range l.Instances {
			out = append(out, instance(&l.Instances[j], at))
		}
		for one := range l.Unrelated.All() {
			out = append(out, instance(&one, at))
		}
	}
	return out, scopes(found, inventory.Listings)
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
