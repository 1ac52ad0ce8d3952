package match

import (
	"slices"
	"strconv"

	"drift-detector/infra"
)

// withKeys returns the instances with any of the keys, in order, each once.
func (ix *Index) withKeys(keys ...infra.Key) []*VM { return ix.byKey.with(keys...) }

// notOfOthers returns the instances with any of the keys that no expected machine but c
// finds by its strong key.
func (ix *Index) notOfOthers(c *Machine, keys ...infra.Key) []*VM {
	found := ix.unclaimed.with(keys...)
	for _, v := range c.byID {
		if !v.byStrong.others(c) && slices.ContainsFunc(keys, v.HasKey) {
			found = append(found, v)
		}
	}
	return inOrder(found)
}

// find returns the instances of p that have any of the keys and pass the test, in order.
// Where many have them, all machines whose keys and whose home are the same get the same
// list, so that the test must ask for nothing else of a machine; what names it. A nil home
// is for a test that does not ask for the home. The list must not be changed.
func (ix *Index) find(p *postings, what string, home *infra.HomeScope, keys []infra.Key, test func(*VM) bool) []*VM {
	if few, all := p.first(Many, keys); all {
		return keep(few, test)
	}
	q := search{what: what}
	var text []byte
	for _, k := range keys {
		text = strconv.AppendQuote(strconv.AppendQuote(text, k.Kind.String()), k.Value)
	}
	q.keys, text = string(text), text[:0]
	if home != nil {
		for _, i := range ix.scopes.byTarget[home.Target] {
			text = append(strconv.AppendInt(text, int64(i), 10), ' ')
		}
		q.listings, q.within = string(text), home.Within
	}
	found, ok := ix.sharedLists.found[q]
	if !ok {
		found = keep(p.with(keys...), test)
		ix.sharedLists.found[q] = found
		if len(found) > Many {
			ix.sharedLists.first[&found[0]] = true
		}
	}
	return found
}

// unread returns the unreadable instances that may be the machine: at home by the keys
// which such an instance keeps, and anywhere by its name, as it may have been moved.
func (ix *Index) unread(c *Machine) []*VM {
	if len(ix.unreadable.vms) == 0 {
		return nil
	}
	what := "unread, by name from " + strconv.Itoa(len(c.Blind))
	return ix.find(&ix.unreadable, what, &c.Home, slices.Concat(c.Blind, c.Names), func(v *VM) bool {
		return ix.mayBeAtHome(c, v) || slices.ContainsFunc(c.Names, v.HasKey)
	})
}

// hides reports whether an instance at home that cannot be read may have the name that the
// machine's controller searches for. One that the backup records for another machine has
// that one's name.
func (ix *Index) hides(c *Machine) bool {
	return ix.unreadable.has(func(v *VM) bool { return alive(v) && ix.atHome(c, v) && !v.byStrong.others(c) }, c.Hidden...)
}
