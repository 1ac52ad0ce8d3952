package infra

import (
	"slices"

	"drift-detector/report/code"
)

// Lookup is a listing that was looked through once, so that nobody looks through its lists for each
// of its things. It may be of an older version, or for another backup: of what it was not asked for
// it says nothing.
type Lookup struct {
	*Listing
	// Each is nil until one of it is asked for.
	found, several, asked map[Key]bool
	held                  map[Key]bool // by instances that have not ended
	facts                 map[string]string
}

// setOf returns the set of keys, which it makes once.
func setOf(set *map[Key]bool, keys []Key) map[Key]bool {
	if *set == nil {
		*set = make(map[Key]bool, len(keys))
		for _, k := range keys {
			(*set)[k] = true
		}
	}
	return *set
}

// Lookups are those of several listings.
type Lookups map[*Listing]*Lookup

// Of returns the Lookup of a listing, nil for none.
func (all *Lookups) Of(l *Listing) *Lookup {
	if l == nil {
		return nil
	}
	if (*all)[l] == nil {
		if *all == nil {
			*all = Lookups{}
		}
		(*all)[l] = &Lookup{Listing: l}
	}
	return (*all)[l]
}

// Finds reports whether the thing that a probe asks for was found.
func (l *Lookup) Finds(k Key) bool { return setOf(&l.found, l.ProbesFound)[k] }

// FindsSeveral reports whether several things answer to a probe.
func (l *Lookup) FindsSeveral(k Key) bool { return setOf(&l.several, l.Ambiguous)[k] }

// Asks reports whether the listing asked for a probe.
func (l *Lookup) Asks(k Key) bool { return setOf(&l.asked, l.Asked)[k] }

// IsSilent reports whether the listing does not say that a thing is absent which it did not find: it
// did not ask, could not read what is of that kind, or is not complete.
func (l *Lookup) IsSilent(k Key) bool {
	return k.IsZero() || slices.Contains(l.Unread, k.Kind) || !l.Asks(k) || l.State != code.ScopeComplete
}

// Lacks reports whether the thing that a probe asks for is absent.
func (l *Lookup) Lacks(k Key) bool { return !l.Finds(k) && !l.IsSilent(k) }

// Holds reports whether an instance that has not ended has the key.
func (l *Lookup) Holds(k Key) bool {
	if l.held == nil {
		l.held = make(map[Key]bool, len(l.Instances))
		note := func(i *Instance) {
			for _, k := range i.Keys {
				if !i.Gone {
					l.held[k] = true
				}
			}
		}
		for i := range l.Instances {
			note(&l.Instances[i])
		}
		for i := range l.Unrelated.All() {
			note(&i)
		}
	}
	return l.held[k]
}

// Fact returns the value of the first Fact of that name, and whether there is one.
func (l *Lookup) Fact(name string) (string, bool) {
	if l.facts == nil {
		l.facts = make(map[string]string, len(l.Facts))
		for _, f := range slices.Backward(l.Facts) {
			l.facts[f.Name] = f.Value
		}
	}
	v, ok := l.facts[name]
	return v, ok
}
