package releases

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// aligned is merged with the items of its keyed lists in the order of the live
// object: a server puts them into the order of who applies, which is no drift.
func aligned(live, merged any, t schema.TypeRef, s *schema.Schema) any {
	a, ok := s.Resolve(t)
	if !ok {
		return merged
	}
	switch m := merged.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok || a.Map == nil {
			return merged
		}
		out := make(map[string]any, len(m))
		for k, v := range m {
			of := a.Map.ElementType
			if f, known := a.Map.FindField(k); known {
				of = f.Type
			}
			out[k] = aligned(l[k], v, of, s)
		}
		return out
	case []any:
		l, ok := live.([]any)
		if !ok || a.List == nil || a.List.ElementRelationship != schema.Associative {
			return merged
		}
		return alignedList(l, m, a.List, s)
	}
	return merged
}

func alignedList(live, merged []any, of *schema.List, s *schema.Schema) []any {
	out, taken := make([]any, 0, len(merged)), make([]bool, len(merged))
	for _, l := range live {
		for i, m := range merged {
			if !taken[i] && sameItem(l, m, of.Keys) {
				taken[i] = true
				out = append(out, aligned(l, m, of.ElementType, s))
				break
			}
		}
	}
	for i, m := range merged {
		if !taken[i] {
			out = append(out, m)
		}
	}
	return out
}

func sameItem(a, b any, keys []string) bool {
	if len(keys) == 0 {
		return equal(a, b)
	}
	for _, k := range keys {
		if !equal(at(a, k), at(b, k)) {
			return false
		}
	}
	return true
}
