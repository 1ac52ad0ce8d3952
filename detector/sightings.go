package detector

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"slices"
	"time"

	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// orderListings returns the listings in an order of their own.
func orderListings(in []infra.Listing) []infra.Listing {
	out := slices.Clone(in)
	for i := range out {
		out[i].IDs = slices.Sorted(slices.Values(out[i].IDs))
	}
	sorting.StableBy(out, func(a, b infra.Listing) int {
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
		one := merge(all[i:j])
		one.place = int32(len(out))
		out = append(out, one)
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
	if c := cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.Identity, b.Identity)); c != 0 {
		return c // as of nearly all
	}
	return cmp.Or(
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
	return cmp.Or(a.Kind.Compare(b.Kind), cmp.Compare(a.Value, b.Value))
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
	out := vm{Instance: s[0].Instance, provider: s[0].provider}
	for _, one := range s {
		out.seen = append(out.seen, one.listing)
	}
	if len(s) == 1 {
		return out
	}
	slices.Sort(out.seen)
	out.seen = slices.Compact(out.seen)
	v := out.change()
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
	return out
}

// latest prefers the moment that any sighting knows.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// postings finds the instances that have a key. Keys are many, and most are never asked
// for: they are not kept, but for a few bits of a hash.
type postings struct {
	vms   []vm
	seed  maphash.Seed
	bits  int
	begin []int32   // by the first bits of a key's hash: where it is in of
	of    []posting // once for each key, in the order of the hashes
}

// posting is one key of an instance.
type posting struct {
	vm   int32
	hash uint32 // the last bits of the key's
}

// indexKeys maps the keys of the instances that the test accepts.
func indexKeys(vms []vm, test func(*vm) bool) postings {
	n := 0
	for i := range vms {
		if test(&vms[i]) {
			n += len(vms[i].Keys)
		}
	}
	p := postings{vms: vms, seed: maphash.MakeSeed(), bits: bits.Len(uint(n)), of: make([]posting, n)}
	// Two entries further on, places are counted; one entry further on, each is where the
	// next instance goes.
	p.begin = make([]int32, 1<<p.bits+2)
	hashes := make([]uint64, 0, n)
	each := func(do func(v *vm)) {
		for i := range vms {
			if v := &vms[i]; test(v) {
				do(v)
			}
		}
	}
	each(func(v *vm) {
		for _, k := range v.Keys {
			hash := p.hash(k)
			hashes = append(hashes, hash)
			p.begin[p.place(hash)+2]++
		}
	})
	for i := range p.begin[1:] {
		p.begin[i+1] += p.begin[i]
	}
	each(func(v *vm) {
		for range v.Keys {
			next := &p.begin[p.place(hashes[0])+1]
			p.of[*next] = posting{v.place, uint32(hashes[0])}
			*next++
			hashes = hashes[1:]
		}
	})
	// A key that is asked for often may have the place of one that many instances have.
	for i := range p.begin[2:] {
		slices.SortStableFunc(p.of[p.begin[i]:p.begin[i+1]], func(a, b posting) int { return cmp.Compare(a.hash, b.hash) })
	}
	return p
}

func (p *postings) hash(k infra.Key) uint64 { return maphash.Comparable(p.seed, k) }

// place returns where begin has the keys of a hash.
func (p *postings) place(hash uint64) uint64 { return hash >> (64 - p.bits) }

// having yields the instances that have a key, none for the zero key.
func (p *postings) having(k infra.Key) iter.Seq[*vm] {
	return func(yield func(*vm) bool) {
		if k.IsZero() || len(p.of) == 0 {
			return
		}
		hash := p.hash(k)
		place := p.place(hash)
		found := p.of[p.begin[place]:p.begin[place+1]]
		i, _ := slices.BinarySearchFunc(found, uint32(hash), func(at posting, hash uint32) int { return cmp.Compare(at.hash, hash) })
		for ; i < len(found) && found[i].hash == uint32(hash); i++ {
			if v := &p.vms[found[i].vm]; v.HasKey(k) && !yield(v) {
				return
			}
		}
	}
}

// with returns the instances that have any of the keys, in order, each once.
func (p *postings) with(keys ...infra.Key) []*vm {
	found, _ := p.first(math.MaxInt, keys)
	return found
}

// first does what with does, but gives up, and returns false, where more than most are found.
func (p *postings) first(most int, keys []infra.Key) (found []*vm, all bool) {
	for _, k := range keys {
		for v := range p.having(k) {
			if found = append(found, v); len(found) > most {
				return nil, false
			}
		}
	}
	return inOrder(found), true
}
