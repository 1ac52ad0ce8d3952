package releases

import (
	"slices"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// stays reports whether Helm's three-way merge leaves a change as it is, all or a part of
// it: a merge goes key by key, also through the maps that an apply replaces as a whole (a
// nodeSelector), and takes nothing away that no manifest had. It replaces lists without keys
// (pkg/kube/client.go createPatch v4.2.4).
func (m *merger) stays(c *Change) bool {
	if m.t.Schema == nil {
		return false
	}
	desired, live, at := any(m.full), any(m.live), m.t.TypeRef
	for _, s := range segmentsOf(c.Pointer) {
		a, known := m.t.Schema.Resolve(at)
		if !known {
			return false
		}
		switch l := live.(type) {
		case map[string]any:
			d, _ := desired.(map[string]any)
			next, declared := d[s]
			if a.Map == nil || !declared {
				return a.Map != nil
			}
			desired, live, at = next, l[s], a.Map.ElementType
			if f, has := a.Map.FindField(s); has {
				at = f.Type
			}
		case []any:
			i, err := strconv.Atoi(s)
			if a.List == nil || a.List.ElementRelationship != schema.Associative || err != nil || i < 0 || i >= len(l) {
				return false
			}
			live, at = l[i], a.List.ElementType
			items, _ := desired.([]any)
			j := slices.IndexFunc(items, func(item any) bool { return sameItem(live, item, a.List.Keys) })
			if j < 0 {
				return false
			}
			desired = items[j]
		default:
			return false
		}
	}
	return loses(live, c.Desired, desired)
}

// loses reports whether a live map has a key that it lacks once it is merged, and that no
// manifest declares.
func loses(live, merged, desired any) bool {
	l, ok := live.(map[string]any)
	m, too := merged.(map[string]any)
	if !ok || !too {
		return false
	}
	d, _ := desired.(map[string]any)
	for k, v := range l {
		_, declared := d[k]
		if e, has := m[k]; !has && !declared || has && loses(v, e, d[k]) {
			return true
		}
	}
	return false
}
