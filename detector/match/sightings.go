package match

import (
	"cmp"
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

// mergeSightings makes one VM of all sightings of one instance: two users of
// one vCenter, or its FQDN and its address, show the same VM twice. The order of
// the result depends on the instances alone.
func mergeSightings(listings []infra.Listing) []VM {
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
	out := make([]VM, 0, len(all))
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
		CompareInstances(a.Instance, b.Instance),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.State, b.State), slices.CompareFunc(a.Keys, b.Keys, compareKeys),
		cmp.Compare(a.listing, b.listing),
	)
}

// merge joins the sightings of one instance, best first. What any of them knows
// counts: keys, reasons to leave it out, that it has ended (which is final).
func merge(s []sighting) VM {
	out := VM{Instance: s[0].Instance, Provider: s[0].provider}
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
