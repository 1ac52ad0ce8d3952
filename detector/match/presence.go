package match

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Presence returns whether something other than an instance exists, and why that is
// not known. Any of the keys finds it.
func (ix *Index) Presence(id backup.ClusterID, target string, keys ...infra.Key) (code.Presence, string) {
	h := ix.scopes.home(clusterScope{id, target, ""})
	keys = slices.DeleteFunc(slices.Clone(keys), infra.Key.IsZero)
	if slices.ContainsFunc(keys, func(k infra.Key) bool { return ix.scopes.shows(h.listings, k) }) {
		return code.Present, ""
	}
	if len(keys) == 0 {
		return code.Undecided, ix.subject.The() + " does not say how to find it"
	}
	if !h.Complete {
		return code.Undecided, h.Fault.Message
	}
	if slices.ContainsFunc(keys, func(k infra.Key) bool { return ix.scopes.unasked(target, k) }) {
		return code.Undecided, h.Name + " was not asked for it: it was listed for another " + ix.subject.String() + ", or by an older version"
	}
	for _, i := range h.listings {
		for _, k := range keys {
			if slices.Contains(ix.scopes.listings[i].Unread, k.Kind) {
				return code.Undecided, fmt.Sprintf("what there is of its kind at %s could not be read", h.Name)
			}
		}
	}
	return code.Absent, ""
}

// Several reports whether more than one thing answers a key that exists.
func (ix *Index) Several(id backup.ClusterID, target string, keys []infra.Key) bool {
	at := ix.scopes.home(clusterScope{id, target, ""}).listings
	return slices.ContainsFunc(keys, func(k infra.Key) bool {
		return slices.ContainsFunc(at, func(i int32) bool { return ix.scopes.lookups[i].FindsSeveral(k) })
	})
}
