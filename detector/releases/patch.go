package releases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"
)

// patch returns Flux's patch from the live object, or from what it makes of that: of the metadata what
// is missing or different among labels and annotations, then all else.
func (m *merger) patch(live, merged Object) ([]Change, error) {
	if equal(merged, live) {
		return nil, nil
	}
	live, merged = without(live, m.ignore), without(merged, m.ignore)
	meta := func(o Object) Object { return Object{"metadata": o["metadata"]} }
	rest := func(o Object) Object {
		out := Object{}
		for k, v := range o {
			if k != "metadata" && k != "status" {
				out[k] = v
			}
		}
		return out
	}
	first, err := difference(meta(live), meta(merged))
	if err != nil {
		return nil, err
	}
	second, err := difference(rest(live), rest(merged))
	if err != nil {
		return nil, err
	}
	first = slices.DeleteFunc(first, func(o jsondiff.Operation) bool { return o.Type == jsondiff.OperationRemove })
	var out []Change
	for _, o := range append(first, second...) {
		c := Change{Op: o.Type, Pointer: o.Path, Path: readable(o.Path, live, merged), Desired: plain(o.Value), Live: plain(o.OldValue)}
		if c.Desired == nil && c.Op != jsondiff.OperationRemove {
			c.Desired = json.RawMessage("null") // which is a value
		}
		c.Owners = authors(m.owners, live, o)
		c.stays, c.unapplied = m.stays(&c)
		c.unknown = m.unknown && o.Type != jsondiff.OperationAdd
		switch {
		case m.scaled && c.Pointer == "/spec/replicas":
			c.Benign = byAutoscaler
		case m.kind == "ClusterRole" && strings.HasPrefix(c.Pointer, "/rules") && at(live, "aggregationRule") != nil:
			c.Benign = "aggregated by the controller"
		}
		out = append(out, c)
	}
	return out, nil
}

func difference(live, merged Object) (jsondiff.Patch, error) {
	if equal(live, merged) {
		return nil, nil
	}
	p, err := jsondiff.Compare(live, merged, jsondiff.Rationalize(), jsondiff.UnmarshalFunc(exactly))
	if err != nil {
		return nil, errors.New("it can't be compared")
	}
	return p, nil
}

// exactly keeps integers that no float64 has: else two of them could be the same.
func exactly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(into)
}

// byName compares ports that the API server refuses to have twice by their names.
func byName(changes []Change, live, desired Object, owners []ownership) []Change {
	var out []Change
	for i, p := range list(live, "spec", "ports") {
		for _, want := range list(desired, "spec", "ports") {
			if at(p, "name") != at(want, "name") || at(p, "name") == nil {
				continue
			}
			for _, k := range []string{"port", "protocol", "targetPort", "nodePort"} {
				if w, is := at(want, k), at(p, k); w != nil && !equal(w, is) {
					pointer := fmt.Sprintf("/spec/ports/%d/%s", i, k)
					out = append(out, Change{Op: "replace", Pointer: pointer, Path: readable(pointer, live), Desired: plain(w), Live: plain(is), Owners: who(owners, live, pointer)})
				}
			}
		}
	}
	if len(out) == 0 {
		return changes
	}
	return out
}

// plain returns a value with its numbers as JSON decodes them, where these are exact.
func plain(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil || f == math.Trunc(f) && strconv.FormatFloat(f, 'f', -1, 64) != v.String() {
			return v
		}
		return f
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
	}
	return v
}
