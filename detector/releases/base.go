package releases

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/wI2L/jsondiff"
)

// An upgrade goes out from the newest deployed revision, and not from one that failed after
// it: of a custom resource it patches what differs between the two manifests, and an object
// that the deployed revision lacks has to have Helm's marks to be adopted
// (pkg/action/upgrade.go prepareUpgrade, pkg/action/validate.go checkOwnership v4.2.4).

// readBase notes the manifest that the next upgrade goes out from, if that is not the newest
// one, by the kind, the namespace and the name of its objects.
func (c *Collector) readBase(r *Release, s *stored) {
	if r.HelmStatus == "deployed" || s.base == "" {
		return
	}
	rec, err := unpack(s.base)
	if err != nil {
		return
	}
	if c.kept += len(rec.Manifest); c.kept > maxManifests {
		return
	}
	r.base = map[string]json.RawMessage{}
	for _, o := range objectsOf(rec.Manifest, func(string) {}) {
		w := c.locate(r, o)
		o = withNulls(o)
		w.place(o)
		if body, err := json.Marshal(o); err == nil {
			r.base[w.baseKey(o)] = body
		}
	}
}

func (w *wanted) baseKey(o Object) string {
	return kindOf(o).GroupKind().String() + "\x00" + text(o, "metadata", "namespace") + "\x00" + text(o, "metadata", "name")
}

// next returns the live object once Helm has patched what changed from the deployed revision to
// the newest one, or nil where that is not how the next upgrade changes it.
func (w *wanted) next(desired, live Object) Object {
	if w.release.base == nil || !w.twoWay {
		return nil
	}
	from := desired // what it lacks is adopted as it is
	if body, has := w.release.base[w.baseKey(desired)]; has {
		if o, err := parse(body); err == nil {
			from = o
		}
	}
	out, _ := patched(live, from, desired).(Object)
	return out
}

// patched returns a value with the JSON merge patch between two others made.
func patched(live, from, to any) any {
	t, ok := to.(map[string]any)
	if !ok {
		return to
	}
	f, _ := from.(map[string]any)
	l, _ := live.(map[string]any)
	out := maps.Clone(l)
	if out == nil {
		out = Object{}
	}
	for k, v := range t {
		switch e, has := f[k]; {
		case has && equal(e, v):
		case v == nil:
			delete(out, k)
		default:
			out[k] = patched(l[k], e, v)
		}
	}
	for k := range f {
		if _, has := t[k]; !has {
			delete(out, k)
		}
	}
	return out
}

// makes reports whether an object has what a change is to give it.
func makes(next, merged Object, c *Change) bool {
	is, has := valueAt(next, segmentsOf(c.Pointer))
	if c.Op == jsondiff.OperationRemove {
		return !has
	}
	to, _ := valueAt(merged, segmentsOf(c.Pointer))
	return has && equal(is, to)
}

// valueAt returns the value at a JSON pointer; of what is added to the end of a list, the list.
func valueAt(v any, segments []string) (any, bool) {
	for _, s := range segments {
		switch at := v.(type) {
		case map[string]any:
			next, has := at[s]
			if !has {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i < 0 || i >= len(at) {
				return at, s == "-"
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// adoptable reports whether Helm's next upgrade may take an object: one that the deployed
// revision has, or that has Helm's marks.
func (w *wanted) adoptable(desired, live Object) bool {
	if w.release.base == nil {
		return true
	}
	if _, flux := w.release.method(); flux != nil { // which takes ownership (internal/action/upgrade.go v1.6.3)
		return true
	}
	if _, has := w.release.base[w.baseKey(desired)]; has {
		return true
	}
	marks := stringMap(live, "metadata", "annotations")
	return stringMap(live, "metadata", "labels")[managedByLabel] == "Helm" && marks[releaseAnnotation] == w.release.Name && marks[namespaceAnnotation] == w.release.target
}
