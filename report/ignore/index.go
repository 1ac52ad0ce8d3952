package ignore

import (
	"slices"
	"strings"

	"drift-detector/report"
)

// index has the numbers of rules by a text that only what they fit has: rules times
// findings would be the work. Who has many clusters has a rule for each of some of them,
// and [FromReport] makes one for each finding.
type index struct {
	rules   map[mark][]int
	lengths map[mark][]int // of the texts of marks, by these without, each once
	any     []int          // rules without a mark
}

// mark is a text that a value of a key, or of a tag, is, begins or ends with.
type mark struct{ key, tag, how, text string }

const (
	is     = "is"
	begins = "begins"
	ends   = "ends"
)

// telling are the keys that rules are found by, from those of which few findings have
// the same value to those of which many do.
var telling = []string{"name", "instance", "ref", "object", "folder", "tag", "cluster", "namespace", "check", "reason"}

func newIndex(rules []Rule) *index {
	x := &index{rules: map[mark][]int{}, lengths: map[mark][]int{}}
	for i := range rules {
		marks := rules[i].Match.marks()
		if marks == nil {
			x.any = append(x.any, i)
		}
		for _, m := range marks {
			x.rules[m] = append(x.rules[m], i)
			n := len(m.text)
			m.text = ""
			if !slices.Contains(x.lengths[m], n) {
				x.lengths[m] = append(x.lengths[m], n)
			}
		}
	}
	return x
}

// marks returns marks such that each finding that fits has one of them; nil: there are none.
func (s Selector) marks() (best []mark) {
	whole := func(all []mark) bool { return !slices.ContainsFunc(all, func(m mark) bool { return m.how != is }) }
	for _, key := range telling {
		for i := range s {
			if s[i].key != key {
				continue
			}
			if all := s[i].marks(); all != nil && (best == nil || whole(all) && !whole(best)) {
				best = all
			}
		}
	}
	return best
}

func (c *condition) marks() (all []mark) {
	for _, g := range c.globs {
		m := mark{c.key, c.tag, is, g.text}
		if first := strings.IndexAny(g.text, special); first >= 0 {
			m.how, m.text = begins, g.text[:first]
			if g.path { // a/**/b fits a/b, and a/** fits a
				m.text = strings.TrimRight(m.text, "/")
			}
		}
		if m.how == begins && m.text == "" {
			m.how, m.text = ends, g.text[strings.LastIndexAny(g.text, special)+1:]
			if g.path {
				m.text = strings.TrimLeft(m.text, "/")
			}
		}
		if m.text == "" && (m.how != is || c.key == "tag") { // who lacks a tag has no such mark
			return nil
		}
		all = append(all, m)
	}
	return all
}

// about returns the numbers of the rules that may fit a finding, in order.
func (x *index) about(f *finding) []int {
	out := slices.Clone(x.any)
	for _, key := range telling {
		if key == "tag" {
			for tag, value := range f.instance.Tags {
				out = x.add(out, key, tag, value)
			}
			continue
		}
		for _, value := range keys[key](f, "") {
			out = x.add(out, key, "", value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// add adds the rules of the marks that a value has.
func (x *index) add(out []int, key, tag, value string) []int {
	value = report.Valid(value)
	for _, how := range []string{is, begins, ends} {
		for _, n := range x.lengths[mark{key, tag, how, ""}] {
			switch {
			case n > len(value) || how == is && n < len(value):
			case how == ends:
				out = append(out, x.rules[mark{key, tag, how, value[len(value)-n:]}]...)
			default:
				out = append(out, x.rules[mark{key, tag, how, value[:n]}]...)
			}
		}
	}
	return out
}
