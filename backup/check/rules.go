package check

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"drift-detector/report/code"
)

//go:embed rules.txt
var text string

// ruleNames are those of [rules], in its order.
var rules, ruleNames = readRules(text)

// Rules returns every kind of finding that [Check] can make by itself, for people who ask
// what a code means. Those of providers are the providers'. A rule without Why leaves it
// to the object that misses another.
func Rules() []Rule { return slices.Clone(rules) }

// readRules returns the rules of rules.txt and what the package calls them.
func readRules(text string) (all []Rule, names []string) {
	for _, paragraph := range strings.Split(text, "\n\n")[1:] {
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		head := strings.Split(lines[0], " | ")
		names = append(names, head[0])
		severity, mended := strings.CutSuffix(head[2], ", mended")
		r := Rule{Code: code.Reason(head[1]), Severity: code.Severity(severity), Mended: mended, Happens: lines[1], Why: strings.TrimPrefix(lines[2], "-"), Do: lines[3]}
		if len(lines) > 4 {
			r.LiveDo = strings.TrimPrefix(lines[4], "live: ")
		}
		all = append(all, r)
	}
	return all, names
}

// rule returns the rule of that name. It panics where there is none, for rules.txt is part
// of the program.
func rule(name string) Rule {
	i := slices.Index(ruleNames, name)
	if i < 0 {
		panic(fmt.Sprintf("check: rules.txt has no rule %q", name))
	}
	return rules[i]
}
