package backup

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
)

// compareAfter holds what is found in a document after another against what is found in it
// alone, and reports whether it had the shape of the other.
func compareAfter(t *testing.T, first, second []byte) bool {
	t.Helper()
	p, _ := fuzzPlan()
	type value struct {
		raw    string
		elem   int
		form   form
		quoted string
	}
	find := func(docs ...[]byte) (all [][]value, elems []int, c *capture, err error) {
		s, m := new(scanner), newMemory()
		c = m.capture(p)
		for _, doc := range docs {
			err = s.scan(p, c, doc)
		}
		for _, found := range c.found {
			values := []value{}
			for _, v := range found {
				quoted := value{string(v.raw), v.elem, v.form, string(unquote(nil, v.raw))}
				if v.form == formEscaped && isPlain(quoted.raw) { // as good as formString
					quoted.form = formString
				}
				values = append(values, quoted)
			}
			all = append(all, values)
		}
		return all, c.elems, c, err
	}
	want, wantElems, _, wantErr := find(second)
	got, elems, c, err := find(first, second)
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("error %v, alone %v, for %q after %q", err, wantErr, second, first)
	}
	if err == nil && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(elems, wantElems)) {
		t.Fatalf("found %v, alone %v, in %q after %q", got, want, second, first)
	}
	return c.shapes.usage.hits > 0
}

var scalar = regexp.MustCompile(`"(\\.|[^"\\])*"|-?[0-9][0-9.eE+-]*`)

// What was read before changes nothing about what is found in a document.
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	hits := 0
	for range 20000 {
		first := randomDocument(r)
		second := scalar.ReplaceAllFunc(first, func(text []byte) []byte {
			switch one := randomScalars[r.IntN(len(randomScalars))]; {
			case r.IntN(3) == 0 && one[0] == '"' && text[0] == '"', r.IntN(3) == 0 && text[0] != '"':
				return []byte(one)
			}
			return text
		})
		if r.IntN(4) == 0 {
			second = mutate(r, second)
		}
		if compareAfter(t, first, second) {
			hits++
		}
	}
	if hits < 5000 {
		t.Errorf("only %d of the documents had the shape of the one before", hits)
	}
}

// Names of members are the same in all documents of a shape, unless nobody can want them:
// elsewhere a name that is wanted would be missed.
func TestShapesHaveNames(t *testing.T) {
	for _, doc := range []struct {
		first, second string
		alike         bool
	}{
		{`{"spec":{"a":"x"}}`, `{"spec":{"a":"a longer one"}}`, true},
		{`{"spec":{"a":1.5,"x":[2]}}`, `{"spec":{"a":7,"x":[2]}}`, true},
		{`{"spec":{"a":1}}`, `{"spec":{"a":725}}`, true},
		{`{"spec":{"a":1}}`, `{"spec":{"a":025}}`, false},
		{`{"spec":{"x":"1"}}`, `{"spec":{"a":"1"}}`, false},
		{`{"spec":{"k:{\"uid\":\"1\"}":{}}}`, `{"spec":{"k:{\"uid\":\"27\"}":{}}}`, true},
		{`{"spec":{"\u0078":"1"}}`, `{"spec":{"\u0061":"1"}}`, false},
		{`{"spec":{"a":"x"}}`, `{"spec":{"a":"\""}}`, true},
		{`{"spec":{"a":"\n"}}`, `{"spec":{"a":"\q"}}`, false},
		{`{"spec":{"a":""}}`, `{"spec":{"a":"x"},"spec":{"a":"y"}}`, false},
		{`{"spec":{"a":"x"}}`, `{"spec":{"a":"x"}} `, false},
		{`{"spec":{"a":"x"}}`, `{"spec":{"a":"x`, false},
	} {
		if alike := compareAfter(t, []byte(doc.first), []byte(doc.second)); alike != doc.alike {
			t.Errorf("%s has the shape of %s: %v", doc.second, doc.first, alike)
		}
	}
}

func FuzzShapes(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]))
	}
	f.Add([]byte(`{"spec":{"k:{\"uid\":\"1\"}":{},"a":12}}`), []byte(`{"spec":{"k:{\"uid\":\"2\"}":{},"a":13}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) { compareAfter(t, first, second) })
}
