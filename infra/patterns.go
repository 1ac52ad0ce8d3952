package infra

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
)

// Patterns finds out which of many expressions match a name. An expression is compiled and
// tried only on names that begin as it does: otherwise names times expressions would be the
// work. The zero value is empty and ready to use.
type Patterns struct {
	added    int
	byText   map[string]*pattern
	byPrefix map[string][]*pattern
	longest  int // prefix
}

// pattern is an expression with the numbers under which it was added.
type pattern struct {
	numbers  []int
	compiled func() *regexp.Regexp
}

// Add adds an expression in RE2 for whole names, under the number of those before it. One
// that is no expression matches nothing.
func (p *Patterns) Add(text string) {
	number := p.added
	p.added++
	if p.byText == nil {
		p.byText, p.byPrefix = map[string]*pattern{}, map[string][]*pattern{}
	}
	if p.byText[text] == nil {
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return
		}
		p.byText[text] = &pattern{compiled: sync.OnceValue(func() *regexp.Regexp {
			re, _ := regexp.Compile(`^(?:` + text + `)$`)
			return re
		})}
		prefix := literalPrefix(tree)
		p.byPrefix[prefix] = append(p.byPrefix[prefix], p.byText[text])
		p.longest = max(p.longest, len(prefix))
	}
	p.byText[text].numbers = append(p.byText[text].numbers, number)
}

// literalPrefix returns what all that an expression matches begins with.
func literalPrefix(tree *syntax.Regexp) string {
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for _, part := range parts {
		switch {
		case part.Op == syntax.OpBeginText:
		case part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0:
			return string(part.Rune)
		default:
			return ""
		}
	}
	return ""
}

// Matching returns the numbers of the expressions that match a name, in order.
func (p *Patterns) Matching(name string) (numbers []int) {
	for n := range min(len(name), p.longest) + 1 {
		for _, one := range p.byPrefix[name[:n]] {
			if re := one.compiled(); re != nil && re.MatchString(name) {
				numbers = append(numbers, one.numbers...)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}
