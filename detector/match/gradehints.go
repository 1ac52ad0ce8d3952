package match

import (
	"slices"
	"strconv"

	"drift-detector/infra"
)

// gradeHints are the hints of one grade.
type gradeHints struct {
	all      []infra.OwnershipHint // of every grade
	byKey    *keyIndex
	mixed    map[uint32]bool // hashes of several keys, by chance
	kinds    []infra.KeyKind // of the keys in byKey: few of an instance's are
	patterns infra.Patterns
	named    []posting              // by the numbers of their patterns
	also     map[infra.KeyKind]bool // kinds of keys that hints ask for beside their own
	// known holds what was found of instances that are alike: names that many clusters
	// have would otherwise cost the instances of the name times those clusters.
	known map[string]*tied
}

// hintList are hints that an instance has all of, by their numbers. No two lists begin with the same one.
type hintList []posting

// Many is more than how many hints or instances are worth to be kept for the next instance
// or machine. Tests set it.
var Many = 16

// newGradeHints takes the hints of a grade from all.
func newGradeHints(all []infra.OwnershipHint, grade infra.Grade) *gradeHints {
	g := &gradeHints{all: all, also: map[infra.KeyKind]bool{}, known: map[string]*tied{}}
	for i := range all {
		hint := &all[i]
		if hint.Grade != grade {
			continue
		}
		for _, k := range hint.Expect {
			g.also[k.Kind] = true
		}
		if !hint.Shares.IsZero() {
			g.also[hint.Shares] = true
		}
		if !hint.Key.IsZero() {
			if !slices.Contains(g.kinds, hint.Key.Kind) {
				g.kinds = append(g.kinds, hint.Key.Kind)
			}
		} else if hint.Pattern != nil {
			g.patterns.Add(hint.Pattern.Name)
			g.named = append(g.named, posting{number: int32(i)})
		}
	}
	g.byKey = newKeyIndex(func(yield func(int32, infra.Key) bool) {
		for i := range all {
			if hint := &all[i]; hint.Grade == grade && !hint.Key.IsZero() && !yield(int32(i), hint.Key) {
				return
			}
		}
	})
	g.mixed = map[uint32]bool{}
	for i, at := range g.byKey.of {
		if i > 0 && at.hash == g.byKey.of[i-1].hash && all[at.number].Key != all[g.byKey.of[i-1].number].Key {
			g.mixed[at.hash] = true
		}
	}
	return g
}

// lists returns the lists of hints of which an instance has the key or the name: its own,
// for which there may be room, and those of many hints, which others have, too.
func (g *gradeHints) lists(v *VM, room []hintList) (own, common []hintList) {
	own = room
	add := func(l hintList) {
		switch {
		case len(l) > Many:
			common = append(common, l)
		case len(l) > 0:
			own = append(own, l)
		}
	}
	for _, k := range v.Keys {
		if !slices.Contains(g.kinds, k.Kind) {
			continue
		}
		found := g.byKey.find(k)
		other := func(at posting) bool { return g.all[at.number].Key != k }
		switch {
		case len(found) == 0:
		case g.mixed[found[0].hash]:
			add(slices.DeleteFunc(slices.Clone(found), other))
		case !other(found[0]):
			add(found)
		}
	}
	for _, number := range g.patterns.Matching(v.Name) {
		one := g.named[number : number+1]
		if within := g.all[one[0].number].Pattern.Within; within.IsZero() || v.HasKey(within) {
			add(one)
		}
	}
	return own, common
}

func hintsIn(lists []hintList) (n int) {
	for _, l := range lists {
		n += len(l)
	}
	return n
}

// signature returns the same for instances that the same hints fit: it is all that
// hintIndex.fits looks at.
func (g *gradeHints) signature(lists []hintList, v *VM) string {
	var text []byte
	for _, l := range lists {
		text = append(strconv.AppendInt(text, int64(l[0].number), 10), ' ')
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
