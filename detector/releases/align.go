package releases

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

const quantityType = "io.k8s.apimachinery.pkg.api.resource.Quantity"

// sameQuantity reports whether two words are one quantity: 1e9 and 1G, 1Gi and 1073741824.
func sameQuantity(a, b any) bool {
	v, ok := a.(string)
	w, too := b.(string)
	if !ok || !too {
		return false
	}
	p, err := resource.ParseQuantity(v)
	q, fault := resource.ParseQuantity(w)
	return err == nil && fault == nil && p.Cmp(q) == 0
}

// aligned returns what merged does, with the items of its keyed lists in the order of the live
// object: a server puts them into the order of who applies, which is no drift. Quantities
// that are the same stay in the words of the live object.
func aligned(live, merged any, t schema.TypeRef, s *schema.Schema) any {
	if t.NamedType != nil && *t.NamedType == quantityType && sameQuantity(live, merged) {
		return live
	}
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
		if !ok || a.List == nil {
			return merged
		}
		if a.List.ElementRelationship != schema.Associative {
			out := slices.Clone(m)
			for i := range min(len(l), len(m)) {
				out[i] = aligned(l[i], m[i], a.List.ElementType, s)
			}
			return out
		}
		return alignedList(l, m, a.List, s)
	}
	return merged
}

func alignedList(live, merged []any, of *schema.List, s *schema.Schema) []any {
	out, taken := make([]any, 0, len(merged)), make([]bool, len(merged))
	places := map[string][]int{}
	for i, m := range merged {
		id := identity(m, of.Keys)
		places[id] = append(places[id], i)
	}
	for _, l := range live {
		id := identity(l, of.Keys)
		if at := places[id]; len(at) > 0 {
			if m := merged[at[0]]; sameItem(l, m, of.Keys) {
				taken[at[0]], places[id] = true, at[1:]
				out = append(out, aligned(l, m, of.ElementType, s))
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

// identity returns the same for items that are the same.
func identity(item any, keys []string) string {
	if len(keys) == 0 {
		return fmt.Sprint(item)
	}
	id := ""
	for _, k := range keys {
		id += fmt.Sprint(at(item, k), "\x00")
	}
	return id
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

// place returns where a list has the first item that is the same as another, or -1. A list in
// which many items changed is asked for each of them: its items are indexed once.
func (m *merger) place(items []any, like any, keys []string) int {
	if len(items) == 0 {
		return -1
	}
	of := m.places[&items[0]]
	if of == nil {
		of = make(map[string]int, len(items))
		for i := len(items) - 1; i >= 0; i-- {
			of[identity(items[i], keys)] = i
		}
		if m.places == nil {
			m.places = map[*any]map[string]int{}
		}
		m.places[&items[0]] = of
	}
	if i, has := of[identity(like, keys)]; has && sameItem(like, items[i], keys) {
		return i
	}
	return -1
}

// maxNamesakes bounds how many items of one name are looked at.
const maxNamesakes = 10

// longest returns the length of the longest list in a value.
func longest(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n = max(n, longest(e))
		}
	case []any:
		n = len(v)
		for _, e := range v {
			n = max(n, longest(e))
		}
	}
	return n
}

// newer reports whether an object declares a field that its form here lacks and the server
// kept: then the server's API is newer than the types here, and nothing can be said of it.
func newer(raw, form, live any) bool {
	switch r := raw.(type) {
	case map[string]any:
		f, _ := form.(map[string]any)
		l, _ := live.(map[string]any)
		for k, v := range r {
			known, has := f[k]
			kept, lives := l[k]
			if !has && lives && !isZero(v) && !empty(v) || has && newer(v, known, kept) {
				return true
			}
		}
	case []any:
		f, _ := form.([]any)
		l, _ := live.([]any)
		named := map[string][]any{}
		for _, item := range l {
			if name, ok := at(item, "name").(string); ok {
				named[name] = append(named[name], item)
			}
		}
		for i := range min(len(r), len(f)) {
			is := named[fmt.Sprint(at(r[i], "name"))]
			if at(r[i], "name") == nil && i < len(l) {
				is = l[i : i+1]
			}
			for n, item := range is {
				if n < maxNamesakes && newer(r[i], f[i], item) {
					return true
				}
			}
		}
	}
	return false
}
