// Package outline decides, once for all formats, what is said about a report: which
// sections there are, in which order their items come, and which facts belong to
// an item. [report/text], [report/markdown], [report/junit] and [report/diff] print
// it and decide nothing but the layout. No text in it is escaped.
package outline

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Section is a part of a document. One without items is left out.
type Section struct {
	Title string
	Count string // what is beside the title; empty: the number of findings
	Hint  string // where to learn more
	Items []Item // the most urgent first
}

// Findings counts the findings of the section.
func (s *Section) Findings() int {
	n := 0
	for i := range s.Items {
		n += s.Items[i].Findings()
	}
	return n
}

// Item is one thing with what is said about it, or several that are alike.
type Item struct {
	// Mark says how urgent it is, as [code.Mark]; "*" is Healthy with a warning,
	// a space what needs no action.
	Mark   string
	Status string // the word beside the mark
	Code   string // the reason, or the code of a note or check
	Kind   string // of an object
	Name   string
	Text   string // sentences
	// Where it is: a cluster, and for a machine its role and the title of its set.
	Cluster, Role, Set string
	Clusters           []string // of a note
	// Aside says why nobody has to act upon it.
	Aside string
	Facts []Fact
	Steps []report.Step
	// Minor items are left out where room is short.
	Minor bool
	// Likes are the items that are shown as this one, with what is said of each alone, and
	// What is what they are, after their number; empty: they are described one by one.
	What  string
	Likes []Item
	// Most is how many of Likes are listed where room is short; 0: all.
	Most int

	names bool // Likes are shown by their names alone
}

// Named reports whether the item is one thing, which has a name, even if it is empty.
func (i *Item) Named() bool { return len(i.Likes) == 0 && i.Name+i.Kind+i.Set != "" }

// Findings returns how many findings the item shows.
func (i *Item) Findings() int { return max(1, len(i.Likes)) }

// NamesOnly reports whether there is nothing to say of each of Likes but its name.
func (i *Item) NamesOnly() bool { return i.names }

// Fact is one thing that is said about an item.
type Fact struct {
	Label  string // "After the restore"; empty: the text speaks for itself
	Code   string // comes before the text, and alone when the text was said before
	Values []Value
	Text   string
	Change bool // Values are what it was and what it is
	Detail bool // left out, or folded, where room is short
	own    bool // of this item alone: no part of what makes two items alike
}

// Value is a name, a path or an id, which is never broken or changed.
type Value struct {
	Label, Text string
	Detail      bool // left out where room is short
}

// Inline returns the label within a sentence.
func (f *Fact) Inline() string {
	if strings.HasPrefix(f.Label, "VM") {
		return f.Label
	}
	return strings.ToLower(f.Label)
}

// Said returns the text of the fact with the code before it.
func (f *Fact) Said() string { return english.Join(": ", f.Code, f.Text) }

// fact returns what is said, if anything.
func fact(label, text string) []Fact {
	if text == "" {
		return nil
	}
	return []Fact{{Label: label, Text: text}}
}

// values returns those that are not empty.
func values(all ...Value) []Value {
	return slices.DeleteFunc(all, func(v Value) bool { return v.Text == "" })
}

// named returns a fact that is one name.
func named(label, name string) []Fact {
	if name == "" {
		return nil
	}
	return []Fact{{Label: label, Values: []Value{{Text: name}}}}
}

// Fold puts items together of which the same is said, except for their own names
// and ids, where there are at least so many of them.
func Fold(items []Item, least int) []Item {
	var groups [][]Item
	at := map[string]int{}
	for _, it := range items {
		k := it.likeness()
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], it)
	}
	var out []Item
	for _, g := range groups {
		if len(g) < least {
			out = append(out, g...)
		} else {
			out = append(out, join(g))
		}
	}
	return out
}

// likeness returns the same for items of which the same is said.
func (i *Item) likeness() string {
	parts := []string{i.Mark, i.Status, i.Code, i.Kind, i.general(i.Text), i.Cluster, i.Aside}
	if len(i.Steps) > 0 {
		parts = append(parts, i.general(i.Steps[0].Text))
	}
	for _, f := range i.Facts {
		switch {
		case f.own:
			parts = append(parts, f.Label)
		case !f.Detail:
			parts = append(parts, f.Label, f.Code, i.general(f.Text))
		}
	}
	return strings.Join(parts, "\x00")
}

// general returns text with "…" in place of the item's own name and ids.
func (i *Item) general(text string) string {
	for _, f := range i.Facts {
		for _, v := range f.Values {
			if id := v.Text[strings.LastIndexByte(v.Text, '/')+1:]; f.own && len(id) > 3 {
				text = strings.ReplaceAll(text, id, "…")
			}
		}
	}
	if len(i.Name) > 3 {
		text = strings.ReplaceAll(text, i.Name, "…")
	}
	return text
}

// many is how many machines that are alike need no more than their names, when one
// event is behind all of them: a vCenter that is down, a rollout.
const many = 4

// join makes one item of several that are alike.
func join(group []Item) Item {
	first := group[0]
	out := first
	out.Name, out.Text, out.Facts = "", first.general(first.Text), nil
	out.Steps = first.Steps[:min(1, len(first.Steps))]
	for _, f := range first.Facts {
		if !f.own && !f.Detail {
			f.Text = first.general(f.Text)
			out.Facts = append(out.Facts, f)
		}
	}
	out.names = len(group) >= many && !slices.ContainsFunc(group, func(it Item) bool { return !it.names })
	for _, it := range group {
		like := Item{Name: it.Name, Steps: it.Steps}
		for _, f := range it.Facts {
			if f.own && !out.names {
				f.Detail = false // the text that names the id was made general
				like.Facts = append(like.Facts, f)
			}
		}
		out.Likes = append(out.Likes, like)
	}
	return out
}

// worstFirst returns the clusters as people should read them. The management cluster
// itself, which no count holds, comes last.
func worstFirst(r *report.Report) []*report.Cluster {
	out := make([]*report.Cluster, len(r.Clusters))
	for i := range r.Clusters {
		out[i] = &r.Clusters[i]
	}
	rank := func(c *report.Cluster) int {
		if c.Self {
			return 100
		}
		return code.Urgency(c.Status)
	}
	slices.SortStableFunc(out, func(a, b *report.Cluster) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}
