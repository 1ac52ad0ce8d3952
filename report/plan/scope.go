package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report"
)

// place is a vCenter or an AWS account and region, as commands address it.
type scope struct {
	*provider
	variable, region string
	name             string // as scopeName has it
	identity         string // what the place says of itself; empty: the report does not know
}

// findPlaces names a variable for every scope that commands will address.
func (b *book) findScopes() {
	count := map[string]int{}
	for i := range b.Scopes {
		s := &b.Scopes[i]
		known := providers[s.Provider]
		if known == nil {
			continue
		}
		prefix, meaning, ok := known.scope(s)
		if !ok {
			continue
		}
		count[prefix]++
		p := &scope{known, fmt.Sprintf("%s_%d", prefix, count[prefix]), s.Location, scopeName(s), s.Identity}
		name := known.scopeKey(scopeName(s), s.Account)
		if b.scopes[name] != nil {
			continue // the same place under another account
		}
		b.scopes[name] = p
		b.variables = append(b.variables, Variable{Name: p.variable, Meaning: meaning})
		b.scopeByName(scopeName(s), p)
	}
}

// placeByName lets a scope's name alone lead to the place, while it is the only one
// of that name.
func (b *book) scopeByName(name string, p *scope) {
	if have, known := b.scopes[name]; known && have != p {
		p = nil
	}
	b.scopes[name] = p
}

// placeOf is where an instance was seen, nil when that can't be addressed or told
// from another place of the name.
func (b *book) scopeOf(i *report.Instance) *scope {
	known := providers[i.Provider]
	if known == nil {
		return nil
	}
	p := b.scopes[known.scopeKey(i.Scope, i.Account)]
	if p == nil || p.provider != known {
		return nil
	}
	return p
}

// placeKey is what tells a place from others: an account of its own is one where
// accounts do not see each other's instances.
func (p *provider) scopeKey(scope, account string) string {
	if !p.accounts || account == "" {
		return scope
	}
	return scope + "\x00" + account
}

// scopeName names a scope as report.Instance.Scope does.
func scopeName(s *report.Scope) string {
	return strings.TrimSuffix(s.Provider+" "+s.Endpoint+" "+s.Location, " ")
}

// proven reports whether commands can see that they are at the place.
func (p *scope) proven() bool { return p.here(p).text != "" }

// proof stops at any other place than the report's.
func (p *scope) identityCheck() command {
	c := p.here(p)
	if c.text == "" {
		return c
	}
	return c.stop("this is not the " + p.noun + " of the report")
}

// free stops when anything has an id. A search that fails is no absence.
func (p *scope) free(id string) command {
	return p.find(p, id).keep("FOUND").then(empty("FOUND").stop("something has the id "+id+":", raw(`"$FOUND"`)))
}

// lookAtPlaces is the first step: the tools are new enough, and each variable leads
// to the place of the report. Each line that changes something looks again.
func (b *book) checkScopes(d *draft) {
	used := b.used()
	var scopes []*scope
	for _, p := range b.scopes {
		if p != nil && used[p.variable] && !slices.Contains(scopes, p) {
			scopes = append(scopes, p)
		}
	}
	slices.SortFunc(scopes, func(x, y *scope) int { return cmp.Compare(x.variable, y.variable) })
	text := "See that the tools lead to the places of the report; the lines below look again, each for itself."
	var lines []command
	required := map[*provider]bool{}
	for _, p := range scopes {
		if needs, why := p.requires(); why != "" && !required[p.provider] {
			required[p.provider] = true
			text += " " + why
			lines = append(lines, needs)
		}
		lines = append(lines, p.identityCheck())
	}
	if len(lines) > 0 {
		d.before(text, lines...)
	}
}

// used are the variables that lines for findings read.
func (b *book) used() map[string]bool {
	out := map[string]bool{}
	for _, steps := range b.steps {
		noteReads(steps, out)
	}
	for _, steps := range b.others {
		noteReads(steps, out)
	}
	return out
}

func noteReads(steps []report.Step, into map[string]bool) {
	for _, s := range steps {
		for _, c := range s.Commands {
			for _, found := range reads.FindAllStringSubmatch(c, -1) {
				into[found[1]] = true
			}
		}
	}
}
