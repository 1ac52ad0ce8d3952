package ignore

import (
	"fmt"
	"slices"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// The index leaves out no rule that fits, whatever its globs look like.
func TestIndexMissesNothing(t *testing.T) {
	t.Parallel()
	globs := []string{
		"", "a", "ab", "/a/b", "/a", "*", "?", "a*", "*b", "*a*", "a*b", "[ab]b", "{a,b}", "a{b,}", `\*`, `a\*`, `\*b`, "**", "/a/**", "/a/**/b", "**/b", "/**/b", "/a/*", "*/b", "a/**",
	}
	values := []string{"", "a", "b", "ab", "abb", "*", "a*", "*b", "/a", "/a/b", "/a/x/b", "a/b", "/"}
	var rules []Rule
	for key := range keys {
		for i, text := range globs {
			var list []glob
			for _, one := range []string{text, globs[(i+i%3)%len(globs)]} { // two of some
				g, err := newGlob(one, key == "folder")
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, g)
			}
			one := condition{key: key, globs: list}
			if key == "tag" {
				one.tag = "t"
			}
			other := condition{key: "cluster", globs: list[:1]}
			rules = append(rules, Rule{Match: Selector{one}}, Rule{Match: Selector{other, one}})
			if slices.Contains(checkKeys, key) {
				rules = append(rules, Rule{Match: Selector{{key: "check", globs: list[1:]}, one}})
			}
		}
	}
	x, fitted := newIndex(rules), 0
	see := func(f *finding) {
		about := x.about(f)
		for i := range rules {
			if !rules[i].Match.fits(f) {
				continue
			}
			if fitted++; !slices.Contains(about, i) {
				t.Errorf("rule %+v fits %+v, and is not found", rules[i].Match, f)
			}
		}
	}
	for i, v := range values {
		w := values[(i*5+1)%len(values)]
		see(&finding{cluster: v, namespace: w, name: v, reason: w, status: code.Status(v), instance: report.Instance{ID: w, Ref: v, Path: v + "/vm", Tags: map[string]string{"t": w}}})
		see(&finding{cluster: w, namespace: v, name: w, reason: v, provider: v, instance: report.Instance{ID: v, Ref: w, Path: w + "/vm"}})
		see(ofCheck(&report.Check{Code: code.Reason(v), Object: w, Clusters: []string{v + "/" + w, fmt.Sprint(w, "/", v)}}))
		see(ofCheck(&report.Check{Code: code.Reason(w), Object: v}))
	}
	if fitted < 1000 {
		t.Errorf("only %d rules fitted", fitted)
	}
}
