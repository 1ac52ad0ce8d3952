package releases

import (
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// stays reports whether Helm's three-way merge leaves a change as it is, all or a part of
// it: a merge goes key by key, also through the maps that an apply replaces as a whole (a
// nodeSelector), and takes nothing away that no manifest had. It replaces lists without keys
// (pkg/kube/client.go createPatch v4.2.4). Unapplied says that a server-side apply leaves it, too.
func (m *merger) stays(c *Change) (stays, unapplied bool) {
	if m.t.Schema == nil {
		return false, false
	}
	if strings.HasSuffix(c.Pointer, "/serviceAccountName") && c.Op == jsondiff.OperationRemove && m.known != nil {
		return true, true // the API server takes it from its deprecated twin, serviceAccount
	}
	desired, live, raw, at := any(m.full), any(m.live), any(m.raw), m.t.TypeRef
	atomic := false
	for _, s := range segmentsOf(c.Pointer) {
		a, known := m.t.Schema.Resolve(at)
		if !known {
			return false, false
		}
		switch l := live.(type) {
		case map[string]any:
			d, _ := desired.(map[string]any)
			r, written := raw.(map[string]any)
			value, declared := r[s]
			if next, has := d[s]; a.Map == nil || !has && !declared {
				return a.Map != nil, false
			} else if desired = next; written && !declared {
				return true, !atomic // a default
			}
			atomic = atomic || a.Map.ElementRelationship == schema.Atomic
			raw, live, at = value, l[s], a.Map.ElementType
			if f, has := a.Map.FindField(s); has {
				at = f.Type
			}
			if declared && value == nil { // a merge takes it away; an apply of a null takes no items away
				return false, m.granular(at)
			}
		case []any:
			i, err := strconv.Atoi(s)
			if a.List == nil || a.List.ElementRelationship != schema.Associative || err != nil || i < 0 || i >= len(l) {
				return false, false
			}
			live, at = l[i], a.List.ElementType
			items, _ := desired.([]any)
			j := m.place(items, live, a.List.Keys)
			if j < 0 {
				return false, false
			}
			desired = items[j]
			if all, _ := raw.([]any); len(all) == len(items) {
				raw = all[j]
			}
		default:
			return false, false
		}
	}
	return loses(live, c.Desired, desired, raw), false
}

// granular reports whether an apply merges the keys or items of a type.
func (m *merger) granular(t schema.TypeRef) bool {
	a, _ := m.t.Schema.Resolve(t)
	return a.Map != nil && a.Map.ElementRelationship != schema.Atomic && a.Scalar == nil || a.List != nil && a.List.ElementRelationship == schema.Associative
}

// loses reports whether a live map has a key that it lacks once it is merged, and that no
// manifest declares, or one that only a default changes.
func loses(live, merged, desired, raw any) bool {
	l, ok := live.(map[string]any)
	m, too := merged.(map[string]any)
	if !ok || !too {
		return false
	}
	d, _ := desired.(map[string]any)
	r, written := raw.(map[string]any)
	for k, v := range l {
		_, declared := d[k]
		if e, has := m[k]; !has && !declared || has && loses(v, e, d[k], r[k]) {
			return true
		} else if _, declared := r[k]; has && written && !declared && !equal(plain(e), plain(v)) {
			return true
		}
	}
	return false
}
