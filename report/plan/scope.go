package plan

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/infra/shell"
	"drift-detector/report"
)

// scope is a scope of the report, as commands address it.
type scope struct {
	*provider // one with a tool
	shell.Scope
	name string // as report.ScopeName has it
}

// at returns an instance of the scope, as the tool takes it.
func (p *scope) at(i *report.Instance) shell.Instance {
	return shell.Instance{Scope: p.Scope, ID: i.ID, Ref: i.Ref, Name: i.Name, State: i.State}
}

// findScopes names a variable for every scope that commands will address.
func (pl *planner) findScopes() {
	count := map[string]int{}
	for i := range pl.Scopes {
		s := &pl.Scopes[i]
		known := pl.providers[s.Provider]
		if known == nil || known.Tool == nil {
			continue
		}
		at := shell.Scope{Endpoint: s.Endpoint, Region: s.Location, Account: s.Account, Identity: s.Identity}
		prefix, meaning, ok := known.Variable(at)
		if !ok {
			continue
		}
		count[prefix]++
		at.Variable = fmt.Sprintf("%s_%d", prefix, count[prefix])
		p := &scope{known, at, report.ScopeName(s.Provider, s.Endpoint, s.Location)}
		name := known.scopeKey(report.ScopeName(s.Provider, s.Endpoint, s.Location), s.Account)
		if pl.scopes[name] != nil {
			continue // the same scope under another account
		}
		pl.scopes[name] = p
		pl.variables = append(pl.variables, Variable{Name: p.Variable, Meaning: meaning})
		pl.scopeByName(report.ScopeName(s.Provider, s.Endpoint, s.Location), p)
	}
}

// scopeByName lets the name of a scope alone lead to it, while it is the only one of
// that name.
func (pl *planner) scopeByName(name string, p *scope) {
	if have, known := pl.scopes[name]; known && have != p {
		p = nil
	}
	pl.scopes[name] = p
}

// scopeOf returns where an instance was seen, nil when that cannot be addressed, or
// when another scope has the same name.
func (pl *planner) scopeOf(i *report.Instance) *scope {
	known := pl.providers[i.Provider]
	if known == nil {
		return nil
	}
	p := pl.scopes[known.scopeKey(i.Scope, i.Account)]
	if p == nil || p.provider != known {
		return nil
	}
	return p
}

// scopeKey returns what tells a scope from others: an account of its own is one where
// accounts do not see each other's instances.
func (p *provider) scopeKey(scope, account string) string {
	if !p.SeparateAccounts || account == "" {
		return scope
	}
	return scope + "\x00" + account
}

// proven reports whether commands can see that they are at the scope.
func (p *scope) proven() bool { return p.IsPlace(p.Identity) }

// checkScopes plans the first step: the tools are new enough, and each variable leads to
// the scope of the report. Each line that changes something looks again.
func (pl *planner) checkScopes(d *draft) {
	var scopes []*scope
	for _, p := range pl.scopes {
		if p != nil && pl.read[p.Variable] && !slices.Contains(scopes, p) {
			scopes = append(scopes, p)
		}
	}
	slices.SortFunc(scopes, func(x, y *scope) int { return cmp.Compare(x.Variable, y.Variable) })
	text := "See that the tools lead to the places of the report; the lines below look again, each for itself."
	var lines []shell.Command
	required := map[*provider]bool{}
	for _, p := range scopes {
		if needs, why := p.Requires(); why != "" && !required[p.provider] {
			required[p.provider] = true
			text += " " + why
			lines = append(lines, needs)
		}
		if p.proven() {
			lines = append(lines, p.is())
		}
	}
	if len(lines) > 0 {
		d.before(text, lines...)
	}
}
