// Package mutate damages JSON documents in ways that leave them JSON, for fuzz tests: a
// value is of another type, missing, far too large, hostile or there twice. Damage to
// the bytes themselves is what Go's fuzzing does without help.
package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// texts and numbers take the place of others.
var (
	texts = []any{
		"", "x", "a/b", "-rf", "$(touch x)`\n\x1b[31m\u202e<b>&|*_", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "\x00", "\u2028\ufeff", "[a](b)", "' \"\\",
	}
	numbers = []any{json.Number("-1"), json.Number("0"), json.Number("3"), json.Number("2147483648"), json.Number("9223372036854775807"), json.Number("1e400")}
	others  = []any{nil, true, false, []any{}, map[string]any{}, []any{nil}, map[string]any{"": nil}}
	values  = slices.Concat(others, texts, numbers)
)

// editLen is how many bytes describe one edit: a node, what to do, and with what.
const editLen = 5

// JSON returns the document after the edits, of which every five bytes are one; the same
// arguments give the same bytes. What is no JSON, and what has no edits, is returned as
// it is.
func JSON(doc, edits []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var root any
	if len(edits) < editLen || !json.Valid(doc) || d.Decode(&root) != nil {
		return doc
	}
	for ; len(edits) >= editLen; edits = edits[editLen:] {
		var all []slot
		collect(&all, root, func(v any) { root = v })
		pick := func(high, low byte) slot { return all[(int(high)<<8|int(low))%len(all)] }
		edit(pick(edits[0], edits[1]), edits[2], pick(edits[3], edits[4]))
	}
	out, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("mutate: %v", err))
	}
	return out
}

// slot is a value of the document and how to put another in its place. Drop leaves it
// out; it is nil for elements of lists and for the document itself.
type slot struct {
	value any
	put   func(any)
	drop  func()
}

func collect(into *[]slot, v any, put func(any)) {
	*into = append(*into, slot{value: v, put: put})
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := len(*into)
			collect(into, v[name], func(to any) { v[name] = to })
			(*into)[at].drop = func() { delete(v, name) }
		}
	case []any:
		for i := range v {
			collect(into, v[i], func(to any) { v[i] = to })
		}
	}
}

// edit changes a value: one in four times into one of any type, or into none, else into
// another of its own, which more readers take.
func edit(s slot, what byte, other slot) {
	n := int(what) / 4
	pick := func(from []any) any { return copied(from[n%len(from)]) }
	if what%4 == 0 {
		switch {
		case n < len(values):
			s.put(pick(values))
		case n < 40 && s.drop != nil:
			s.drop()
		default:
			s.put(copied(other.value))
		}
		return
	}
	switch v := s.value.(type) {
	case bool:
		s.put(!v)
	case json.Number:
		s.put(pick(numbers))
	case string:
		as, isText := other.value.(string)
		switch {
		case isText && what%4 == 1:
			s.put(as)
		case n == 63 && len(v) < 64<<10:
			s.put(strings.Repeat(v, 16))
		default:
			s.put(pick(texts))
		}
	case []any:
		switch {
		case len(v) > 0 && what%4 == 1: // one element more, which is there already
			s.put(append(slices.Clone(v), pick(v)))
		case len(v) > 0 && what%4 == 2: // one less
			s.put(slices.Delete(slices.Clone(v), n%len(v), n%len(v)+1))
		default:
			s.put([]any{})
		}
	case map[string]any:
		if names := slices.Sorted(maps.Keys(v)); len(names) > 0 {
			delete(v, names[n%len(names)])
		}
	default:
		s.put(pick(values))
	}
}

// copied returns a value that shares nothing with another, so that no document holds itself.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = copied(v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = copied(v[i])
		}
		return out
	}
	return v
}
