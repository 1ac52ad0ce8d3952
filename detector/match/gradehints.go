package match

import (
	"slices"
	"strconv"

	"drift-detector/infra"
)

// gradeHints are the hints of one grade.
type gradeHints struct {
	byKey    map[infra.Key]*hintList
	room     []hintList // for those in byKey, with room for one hint in each
	rooms    []*infra.OwnershipHint
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

// Many is more than how many hints or instances are worth to be kept for the next instance
// or machine. Tests set it.
var Many = 16

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
			list, g.room = &g.room[0], g.room[1:]
			list.id, list.all, g.rooms = id, g.rooms[:0:1], g.rooms[1:]
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

// lists returns the lists of hints of which an instance has the key or the name: its own,
// and those of many hints, which others have, too.
func (g *gradeHints) lists(v *VM) (own, common []*hintList) {
	add := func(l *hintList) {
		if len(l.all) > Many {
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
func (g *gradeHints) signature(lists []*hintList, v *VM) string {
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
