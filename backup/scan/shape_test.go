package scan

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// compareAfter holds what is found in a document after others against what is found in it
// alone, and reports whether it had the shape of one of them.
func compareAfter(t *testing.T, second []byte, before ...[]byte) bool {
	t.Helper()
	type value struct {
		raw    string
		elem   int
		form   Form
		quoted string
	}
	hits := 0 // of those before
	find := func(docs ...[]byte) (all [][]value, elems []int, c *Capture, err error) {
		s := new(Scanner)
		c, _ = fuzzCapture()
		for _, doc := range docs {
			hits = c.shapes.hits
			err = s.Scan(c, doc)
		}
		for _, found := range c.found {
			values := []value{}
			for _, v := range found {
				quoted := value{string(v.Raw), v.Elem, v.Form, string(Unquote(nil, v.Raw))}
				if v.Form == Escaped && !escapes.MatchString(quoted.raw) { // as good as String
					quoted.form = String
				}
				values = append(values, quoted)
			}
			all = append(all, values)
		}
		return all, c.elems, c, err
	}
	want, wantElems, _, wantErr := find(second)
	got, elems, c, err := find(append(before, second)...)
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("error %v, alone %v, for %q after %q", err, wantErr, second, before)
	}
	if err == nil && (!reflect.DeepEqual(got, want) || !reflect.DeepEqual(elems, wantElems)) {
		t.Fatalf("found %v, alone %v, in %q after %q", got, want, second, before)
	}
	return c.shapes.hits > hits
}

// escapes matches what makes a string more than it is written.
var escapes = regexp.MustCompile(`\\|[^\x00-\x7f]`)

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
		if compareAfter(t, second, first) {
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
		if alike := compareAfter(t, []byte(doc.second), []byte(doc.first)); alike != doc.alike {
			t.Errorf("%s has the shape of %s: %v", doc.second, doc.first, alike)
		}
	}
}

func FuzzShapes(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]))
	}
	f.Add([]byte(`{"spec":{"k:{\"uid\":\"1\"}":{},"a":12}}`), []byte(`{"spec":{"k:{\"uid\":\"2\"}":{},"a":13}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) { compareAfter(t, second, first) })
}

// similar makes documents like a first one: each byte of edits is another content for the
// next scalar of the next document, one of those that random documents have or cut out of
// the text. Names of members stay, but for one edit in sixteen.
func similar(first, text, edits []byte) [][]byte {
	const most = 6
	docs := [][]byte{first}
	for len(edits) > 0 && len(docs) < most {
		var doc []byte
		at := 0
		for _, m := range scalar.FindAllIndex(first, -1) {
			if len(edits) == 0 {
				break
			}
			was, edit := first[m[0]:m[1]], int(edits[0])
			if rest := bytes.TrimLeft(first[m[1]:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' && edit%16 != 0 {
				continue
			}
			edits = edits[1:]
			doc, at = append(append(doc, first[at:m[0]]...), anotherScalar(was, text, edit)...), m[1]
		}
		edits = edits[min(len(edits), 1):]
		docs = append(docs, append(doc, first[at:]...))
	}
	return docs
}

func anotherScalar(was, text []byte, edit int) []byte {
	switch one := randomScalars[edit/3%len(randomScalars)]; {
	case edit%3 == 0 && one[0] == '"' && was[0] == '"', edit%3 == 0 && was[0] != '"' && strings.Contains("-0123456789", one[:1]):
		return []byte(one)
	case edit%3 == 1 && was[0] == '"':
		from := min(edit%16, len(text))
		return slices.Concat([]byte(`"`), text[from:min(from+edit/16, len(text))], []byte(`"`))
	}
	return was
}

// compareSimilar compares each with what is found in it after those before, and returns how
// many had a shape that was known.
func compareSimilar(t *testing.T, docs [][]byte) (hits int) {
	t.Helper()
	for i := 1; i < len(docs); i++ {
		if compareAfter(t, docs[i], docs[:i:i]...) {
			hits++
		}
	}
	return hits
}

// Documents that are alike, as objects of a kind are, have shapes that are known: what the
// fuzz target tries is what a backup does.
func TestSimilarDocumentsHaveShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	docs, hits := 0, 0
	for range 3000 {
		edits := make([]byte, 40)
		for i := range edits {
			edits[i] = byte(r.Uint32())
		}
		all := similar(randomDocument(r), []byte(`an \n \u00e9 é 12`), edits)
		docs += len(all) - 1
		hits += compareSimilar(t, all)
	}
	if hits*2 < docs {
		t.Errorf("%d of %d documents had a shape that was known", hits, docs)
	}
}

func FuzzSimilar(f *testing.F) {
	for i, s := range seeds {
		f.Add([]byte(s), []byte(seeds[(i+1)%len(seeds)]), []byte("\x00\x31\x62\x93\xc4\xf5\x07\x18\x29\x3a\x4b\x5c\x6d\x7e\x8f\xa0"))
	}
	f.Fuzz(func(t *testing.T, first, text, edits []byte) { compareSimilar(t, similar(first, text, edits)) })
}
