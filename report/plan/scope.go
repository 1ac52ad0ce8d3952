package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
)

// scope is a scope of the report, as commands address it.
type scope struct {
	*provider // one with a tool
	shell.Scope
	name string // as scopeName has it
	// identityCheck stops at any other scope than the report's; it is empty where commands
	// can't see at which one they are.
	identityCheck shell.Command
}

// at is an instance of the scope, as the tool takes it.
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
		p := &scope{known, at, scopeName(s), known.Here(at)}
		if p.proven() {
			p.identityCheck = p.identityCheck.OrStop("this is not the " + p.Noun + " of the report")
		}
		name := known.scopeKey(scopeName(s), s.Account)
		if pl.scopes[name] != nil {
			continue // the same scope under another account
		}
		pl.scopes[name] = p
		pl.variables = append(pl.variables, Variable{Name: p.Variable, Meaning: meaning})
		pl.scopeByName(scopeName(s), p)
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

// scopeOf is where an instance was seen, nil when that cannot be addressed, or
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

// scopeKey is what tells a scope from others: an account of its own is one where
// accounts do not see each other's instances.
func (p *provider) scopeKey(scope, account string) string {
	if !p.SeparateAccounts || account == "" {
		return scope
	}
	return scope + "\x00" + account
}

// scopeName names a scope as report.Instance.Scope does.
func scopeName(s *report.Scope) string {
	return strings.TrimSuffix(s.Provider+" "+s.Endpoint+" "+s.Location, " ")
}

// proven reports whether commands can see that they are at the scope.
func (p *scope) proven() bool { return !p.identityCheck.IsZero() }

// sees fails unless whoever asks sees the cluster at the scope, by an instance where
// one is known, see shell.Tool.Sees.
func (p *scope) sees(c *report.Cluster, i *report.Instance) (check shell.Command, what string) {
	var present []shell.Resource
	for _, r := range c.Resources {
		if r.State == report.Present {
			present = append(present, shell.Resource{Kind: r.Kind, Name: r.Name})
		}
	}
	if i == nil {
		return p.Sees(p.Scope, nil, present)
	}
	at := p.at(i)
	return p.Sees(p.Scope, &at, present)
}

// free stops when anything has an id. A search that fails is no absence.
func (p *scope) free(id string) shell.Command {
	return p.Find(p.Scope, id).Keep("FOUND").Then(shell.Empty("FOUND").OrStop("something has the id "+id+":", shell.Raw(`"$FOUND"`)))
}

// checkScopes is the first step: the tools are new enough, and each variable leads to
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
		lines = append(lines, p.identityCheck)
	}
	if len(lines) > 0 {
		d.before(text, lines...)
	}
}
