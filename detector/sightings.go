package detector

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"drift-detector/infra"
)

// orderListings returns the listings in an order of their own.
func orderListings(in []infra.Listing) []infra.Listing {
	out := slices.Clone(in)
	for i := range out {
		out[i].IDs = slices.Sorted(slices.Values(out[i].IDs))
	}
	slices.SortStableFunc(out, func(a, b infra.Listing) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Location, b.Location),
			cmp.Compare(a.Account, b.Account), slices.Compare(a.IDs, b.IDs), a.ListedAt.Compare(b.ListedAt))
	})
	return out
}

// sighting is one instance as one listing shows it.
type sighting struct {
	*infra.Instance
	provider string
	listing  int32
}

// mergeSightings makes one vm of all sightings of one instance: two users of
// one vCenter, or its FQDN and its address, show the same VM twice. The order of
// the result depends on the instances alone.
func mergeSightings(listings []infra.Listing) []vm {
	n := 0
	for i := range listings {
		n += len(listings[i].Instances)
	}
	all := make([]sighting, 0, n)
	for i := range listings {
		l := &listings[i]
		for j := range l.Instances {
			all = append(all, sighting{&l.Instances[j], l.Provider, int32(i)})
		}
	}
	slices.SortStableFunc(all, compareSightings)
	out := make([]vm, 0, len(all))
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && sameInstance(&all[i], &all[j]) {
			j++
		}
		out = append(out, merge(all[i:j]))
		i = j
	}
	return out
}

// sameInstance trusts Identity alone; an instance without one is only itself.
func sameInstance(a, b *sighting) bool {
	return a.Identity != "" && a.provider == b.provider && a.Identity == b.Identity
}

// compareSightings puts the best of several sightings of one instance first:
// the one that could be read, then the one that knows more.
func compareSightings(a, b sighting) int {
	return cmp.Or(
		cmp.Compare(a.provider, b.provider), cmp.Compare(a.Identity, b.Identity),
		compareBool(a.Unreadable, b.Unreadable), cmp.Compare(len(b.Keys), len(a.Keys)),
		compareInstances(a.Instance, b.Instance),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.State, b.State), slices.CompareFunc(a.Keys, b.Keys, compareKeys),
		cmp.Compare(a.listing, b.listing),
	)
}

func compareInstances(a, b *infra.Instance) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Ref, b.Ref))
}

func compareKeys(a, b infra.Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// merge joins the sightings of one instance, best first. What any of them knows
// counts: keys, reasons to leave it out, that it has ended (which is final).
func merge(s []sighting) vm {
	v := vm{Instance: *s[0].Instance, provider: s[0].provider}
	for _, one := range s {
		v.seen = append(v.seen, one.listing)
	}
	if len(s) == 1 {
		return v
	}
	slices.Sort(v.seen)
	v.seen = slices.Compact(v.seen)
	v.Keys = slices.Clone(v.Keys)
	v.Warnings = slices.Clone(v.Warnings)
	for _, one := range s[1:] {
		v.Keys = append(v.Keys, one.Keys...)
		v.Gone = v.Gone || one.Gone
		v.Exclude = cmp.Or(v.Exclude, one.Exclude)
		v.Warnings = append(v.Warnings, one.Warnings...)
		v.Created = latest(v.Created, one.Created)
		if v.Host.IsZero() {
			v.Host = one.Host
		}
	}
	slices.SortFunc(v.Keys, compareKeys)
	v.Keys = slices.Compact(v.Keys)
	slices.Sort(v.Warnings)
	v.Warnings = slices.Compact(v.Warnings)
	return v
}

// latest prefers the moment that any sighting knows.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// postings finds the instances that have a key. A hash takes the place of the key, and
// chains in one slice that of lists: keys are many, and most are never asked for.
type postings struct {
	vms  []vm
	seed maphash.Seed
	head map[uint64]int32
	next []posting
}

type posting struct{ vm, next int32 }

// indexKeys maps the keys of the instances that the test accepts.
func indexKeys(vms []vm, test func(*vm) bool) postings {
	n := 0
	for i := range vms {
		if test(&vms[i]) {
			n += len(vms[i].Keys)
		}
	}
	p := postings{vms: vms, seed: maphash.MakeSeed(), head: make(map[uint64]int32, n), next: make([]posting, 1, n+1)} // posting 0 ends a chain
	for i := range vms {
		if !test(&vms[i]) {
			continue
		}
		for _, k := range vms[i].Keys {
			h := p.hash(k)
			p.next = append(p.next, posting{int32(i), p.head[h]})
			p.head[h] = int32(len(p.next) - 1)
		}
	}
	return p
}

func (p *postings) hash(k infra.Key) uint64 { return maphash.Comparable(p.seed, k) }

// with are the instances that have any of the keys, in no order.
func (p *postings) with(keys []infra.Key) []int32 {
	var found []int32
	for _, k := range keys {
		found = p.appendTo(found, k)
	}
	return found
}

// appendTo adds the instances that have k; for a zero key there are none.
func (p *postings) appendTo(to []int32, k infra.Key) []int32 {
	if k.IsZero() || len(p.head) == 0 {
		return to
	}
	for at := p.head[p.hash(k)]; at != 0; at = p.next[at].next {
		if n := p.next[at].vm; p.vms[n].HasKey(k) { // two keys may have one hash
			to = append(to, n)
		}
	}
	return to
}
