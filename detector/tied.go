package detector

import (
	"cmp"
	"slices"
	"strconv"

	"drift-detector/backup"
	"drift-detector/infra"
)

// gradeHints are the hints of one grade.
type gradeHints struct {
	byKey    map[infra.Key]*hintList
	kinds    []infra.KeyKind // of the keys in byKey: few of an instance's are
	patterns infra.Patterns
	named    []patternHint          // by the numbers of their patterns
	also     map[infra.KeyKind]bool // kinds of keys that hints ask for beside their own
	// known holds what was found of instances that are alike: names that many clusters
	// have would otherwise cost the instances of the name times those clusters.
	known map[string]*tied
}

// hintList are hints that an instance has all of.
type hintList struct {
	id  int
	all []*infra.OwnershipHint
}

type patternHint struct {
	*hintList
	within infra.Key
}

// tied are the hints of one grade that an instance has.
type tied struct {
	hints    []*infra.OwnershipHint
	links    []link                    // of the most specific, in order
	clusters map[backup.ClusterID]bool // of all of them, where they are many
	common   *tied                     // what it has in common with many instances; may be nil
	all      []link                    // of both together, once they were asked for
}

// untied is of the instances that have none.
var untied tied

// many is more than how many hints or instances are worth to be kept for the next instance
// or machine. Tests set it.
var many = 16

func (g *gradeHints) add(hint *infra.OwnershipHint) {
	for _, k := range hint.Expect {
		g.also[k.Kind] = true
	}
	if !hint.Shares.IsZero() {
		g.also[hint.Shares] = true
	}
	id := len(g.byKey) + len(g.named)
	if !hint.Key.IsZero() {
		list := g.byKey[hint.Key]
		if list == nil {
			list = &hintList{id: id}
			g.byKey[hint.Key] = list
			if !slices.Contains(g.kinds, hint.Key.Kind) {
				g.kinds = append(g.kinds, hint.Key.Kind)
			}
		}
		list.all = append(list.all, hint)
	} else if hint.Pattern != nil {
		g.patterns.Add(hint.Pattern.Name)
		g.named = append(g.named, patternHint{&hintList{id, []*infra.OwnershipHint{hint}}, hint.Pattern.Within})
	}
}

// tied returns the hints of a grade that fit an instance.
func (t *hintIndex) tied(grade infra.Grade, v *vm) *tied {
	g := t.grades[grade]
	if g == nil {
		return &untied
	}
	own, common := g.lists(v)
	if hintsIn(own) > many {
		own, common = nil, slices.Concat(own, common)
	}
	switch {
	case len(common) == 0 && len(own) == 0:
		return &untied
	case len(common) == 0:
		return t.tie(own, v)
	}
	like := g.signature(common, v)
	if g.known[like] == nil {
		one := t.tie(common, v)
		one.clusters = map[backup.ClusterID]bool{}
		for _, hint := range one.hints {
			one.clusters[hint.Owner.Cluster] = true
		}
		g.known[like] = one
	}
	if len(own) == 0 {
		return g.known[like]
	}
	one := t.tie(own, v)
	one.common = g.known[like]
	return one
}

// lists returns the lists of hints of which an instance has the key or the name: its own,
// and those of many hints, which others have, too.
func (g *gradeHints) lists(v *vm) (own, common []*hintList) {
	add := func(l *hintList) {
		if len(l.all) > many {
			common = append(common, l)
		} else {
			own = append(own, l)
		}
	}
	for _, k := range v.Keys {
		if !slices.Contains(g.kinds, k.Kind) {
			continue
		}
		if l := g.byKey[k]; l != nil {
			add(l)
		}
	}
	for _, number := range g.patterns.Matching(v.Name) {
		if p := &g.named[number]; p.within.IsZero() || v.HasKey(p.within) {
			add(p.hintList)
		}
	}
	return own, common
}

func hintsIn(lists []*hintList) (n int) {
	for _, l := range lists {
		n += len(l.all)
	}
	return n
}

// signature returns the same for instances that the same hints fit: it is all that
// hintIndex.fits looks at.
func (g *gradeHints) signature(lists []*hintList, v *vm) string {
	var text []byte
	for _, l := range lists {
		text = append(strconv.AppendInt(text, int64(l.id), 10), ' ')
	}
	for _, i := range v.seen {
		text = append(strconv.AppendInt(text, int64(i), 10), '@')
	}
	for _, k := range v.Keys {
		if g.also[k.Kind] {
			text = strconv.AppendQuote(strconv.AppendQuote(text, k.Kind.String()), k.Value)
		}
	}
	return string(text)
}

// tie returns those of the hints that fit an instance.
func (t *hintIndex) tie(lists []*hintList, v *vm) *tied {
	count := hintsIn(lists)
	one := &tied{hints: make([]*infra.OwnershipHint, 0, count)}
	links := make([]link, 0, count)
	for _, l := range lists {
		for _, hint := range l.all {
			if !t.fits(hint, v) {
				continue
			}
			b := linkOfHint(hint)
			if hint.Grade == infra.LocationOnly {
				b.specificity = 0 // a place suggests, it does not compete
			}
			one.hints, links = append(one.hints, hint), append(links, b)
		}
	}
	one.links = strongest(links)
	return one
}

// mostSpecific returns the links of its most specific hints, those of its own and those that
// it has in common with others.
func (t *tied) mostSpecific() (own, common []link) {
	if t.common == nil || len(t.common.links) == 0 {
		return t.links, nil
	}
	if len(t.links) > 0 {
		switch c := cmp.Compare(t.links[0].specificity, t.common.links[0].specificity); {
		case c > 0:
			return t.links, nil
		case c == 0:
			return t.links, t.common.links
		}
	}
	return nil, t.common.links
}

// found reports whether an instance has any hint.
func (t *tied) found() bool { return len(t.links) > 0 || t.common != nil && len(t.common.links) > 0 }

// join returns the links of its most specific hints, in order. They must not be changed.
func (t *tied) join() []link {
	if t.all == nil {
		own, common := t.mostSpecific()
		switch {
		case len(common) == 0:
			t.all = own
		case len(own) == 0:
			t.all = common
		default:
			t.all = strongest(slices.Concat(own, common))
		}
	}
	return t.all
}

// to reports whether any of the hints is of the cluster.
func (t *tied) to(id backup.ClusterID) bool {
	if t.common != nil && t.common.to(id) {
		return true
	}
	if t.clusters != nil {
		return t.clusters[id]
	}
	return slices.ContainsFunc(t.hints, func(hint *infra.OwnershipHint) bool { return hint.Owner.Cluster == id })
}
