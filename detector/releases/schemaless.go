package releases

import "slices"

// relaxed returns what is desired of an object without a schema, with the lists of the live object
// that have all of it, and more: a default of the server, or an item beside others. With a
// schema an apply may leave such a list as it is, or replace it.
func relaxed(desired, live any) any {
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return desired
		}
		out := make(map[string]any, len(d))
		for k, v := range d {
			out[k] = relaxed(v, l[k])
		}
		return out
	case []any:
		if has(live, desired) {
			return live
		}
	}
	return desired
}

// has reports whether a live value has all that is desired; lists may have other items, too.
func has(live, desired any) bool {
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range d {
			if e, lives := l[k]; !lives || !has(e, v) {
				return false
			}
		}
		return true
	case []any:
		l, ok := live.([]any)
		if !ok || len(d) > len(l) {
			return false
		}
		for i, v := range d {
			if !has(l[i], v) && !slices.ContainsFunc(l, func(item any) bool { return has(item, v) }) {
				return false
			}
		}
		return true
	}
	return !isContainer(live) && equal(plain(live), plain(desired))
}

// withoutSchema returns the outcome, and what was desired in it: of a kind without a schema with lists
// relaxed.
func (m *merger) withoutSchema(desired, d Object) (Object, *outcome, error) {
	out, err := m.outcome(desired, d)
	name := m.t.TypeRef.NamedType
	if err != nil || len(out.changes) == 0 || name == nil || *name != deducedName || unknownTypes[m.kind] {
		return d, out, err
	}
	d, _ = relaxed(d, m.live).(Object)
	if out, err = m.outcome(desired, d); err == nil && len(out.changes) == 0 {
		err = errNoSchema
	}
	return d, out, err
}
