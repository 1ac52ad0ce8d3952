package scan

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
)

// fuzzPaths are the paths of the plan that scans are compared on.
var fuzzPaths = []string{
	"spec", "spec a", "spec b c", "spec list []", "spec items [] name", "spec items [] on", "spec items [] sub x",
	"spec deep [] more [] v", "metadata labels a.b/c", "metadata annotations é", "apiVersion", "kind", "metadata name",
	"metadata ownerReferences [] kind", "metadata ownerReferences [] name", "metadata ownerReferences [] controller",
}

// fuzzCapture returns room for what scans by them find, and the slot of each.
func fuzzCapture() (*Capture, []int) {
	p := NewPlan()
	var slots []int
	for _, path := range fuzzPaths {
		slot, err := p.Add(strings.Fields(path)...)
		if err != nil {
			panic(err)
		}
		slots = append(slots, slot)
	}
	return p.Capture(make([][]Value, p.Len())), slots
}

// tree is a JSON document as encoding/json's tokens tell it.
type tree struct {
	token   json.Token // string, json.Number, bool, nil, or a json.Delim
	names   []string
	kids    []*tree
	nesting int
}

func parseTree(d *json.Decoder, depth int) (*tree, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	t := &tree{token: tok, nesting: depth}
	if delim, ok := tok.(json.Delim); ok {
		for d.More() {
			if delim == '{' {
				name, err := d.Token()
				if err != nil {
					return nil, err
				}
				t.names = append(t.names, name.(string))
			}
			kid, err := parseTree(d, depth+1)
			if err != nil {
				return nil, err
			}
			t.kids = append(t.kids, kid)
			t.nesting = max(t.nesting, kid.nesting)
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		t.nesting = max(t.nesting, depth+1)
	}
	return t, nil
}

var errOracle = errors.New("refused by the oracle")

// oracle says what a scan along the paths must find, from the whole tree.
func oracle(data []byte, paths []string) (map[string][]string, error) {
	if !json.Valid(data) {
		return nil, errOracle
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	root, err := parseTree(d, 0)
	if err != nil || root.nesting > maxDepth || root.token != json.Delim('{') {
		return nil, errOracle
	}
	all := map[string][]string{}
	for _, path := range paths {
		counters := map[int]int{}
		var values []string
		if err := follow(root, strings.Fields(path), 0, 0, counters, &values); err != nil {
			return nil, err
		}
		if len(values) > 0 {
			all[path] = values
		}
	}
	return all, nil
}

func follow(t *tree, members []string, level, elem int, counters map[int]int, out *[]string) error {
	if t.token == nil {
		return nil
	}
	if level == len(members) {
		*out = append(*out, fmt.Sprintf("%d %T %v", elem, t.token, t.token))
		return nil
	}
	if members[level] == "[]" {
		if t.token != json.Delim('[') {
			return errOracle
		}
		for _, kid := range t.kids {
			n := counters[level]
			counters[level]++
			if err := follow(kid, members, level+1, n, counters, out); err != nil {
				return err
			}
		}
		return nil
	}
	if t.token != json.Delim('{') {
		return errOracle
	}
	var seen bool
	for i, name := range t.names {
		if name != members[level] {
			continue
		}
		if seen {
			return errOracle
		}
		seen = true
		if err := follow(t.kids[i], members, level+1, elem, counters, out); err != nil {
			return err
		}
	}
	return nil
}

// scanned returns what the Scanner finds, in the oracle's words.
func scanned(c *Capture, data []byte, slots []int) (map[string][]string, error) {
	if err := new(Scanner).Scan(c, data); err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for i, slot := range slots {
		for _, v := range c.found[slot] {
			var tok json.Token
			switch v.Form {
			case String, Escaped:
				tok = string(Unquote(nil, v.Raw))
			case Number:
				tok = json.Number(v.Raw)
			case True, False:
				tok = v.Form == True
			case Object:
				tok = json.Delim('{')
			case Array:
				tok = json.Delim('[')
			}
			all[fuzzPaths[i]] = append(all[fuzzPaths[i]], fmt.Sprintf("%d %T %v", v.Elem, tok, tok))
		}
	}
	return all, nil
}

func compareWithOracle(t *testing.T, data []byte) {
	t.Helper()
	c, slots := fuzzCapture()
	want, wantErr := oracle(data, fuzzPaths)
	got, err := scanned(c, data, slots)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("error %v, the oracle says %v, for %q", err, wantErr, data)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("found %q, the oracle %q, in %q", got, want, data)
	}
}

var seeds = []string{
	`{}`, `{"spec":{"a":"x","b":{"c":1.5e-3}}}`, ` { "spec" : { "list" : [ 1 , "a" , null , true ] } } `,
	`{"spec":{"items":[{"name":"n1"},{"on":true},{"name":"n3","on":false,"sub":{"x":[1]}}]}}`,
	`{"spec":{"deep":[{"more":[{"v":1},{}]},{"more":[{"v":2}]}]}}`,
	`{"metadata":{"labels":{"a.b/c":"l","x":""},"annotations":{"\u00e9":"\ud83d\ude00\n\ud83d"}}}`,
	`{"spec":{"a":1,"a":2}}`, `{"x":1,"x":2,"spec":null}`, `{"spec":[]}`, `{"spec":{"list":{}}}`, `[]`, `"s"`, ``, `{`, `{"a"`,
	`{"spec":{"a":"` + "\x80\xffé" + `"}}`, `{"spec":{"a":"\u12G4"}}`, `{"spec":{"a":"` + "\x01" + `"}}`, `{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":tru}`,
	`{"metadata":{"name":"n","ownerReferences":[{"kind":"K","controller":true},{"name":"o","uid":"u"}]}} x`,
	strings.Repeat(`{"spec":`, 99) + "{}" + strings.Repeat("}", 99), strings.Repeat(`[`, 101) + strings.Repeat("]", 101),
	`{"spec":{"a":` + strings.Repeat("[", 98) + strings.Repeat("]", 98) + `}}`, `{"spec":{"a":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}}`,
	`{"\u0073pec":{"a":"escaped name"}}`, `{"spec":{"a":"x\"y\\","b":{"c":"\/\b\f\r\t"}}}`, `{"spec":{"a":"\ud800\u0041\udc00"}}`,
}

func TestScanAgreesWithEncodingJSON(t *testing.T) {
	for _, s := range seeds {
		compareWithOracle(t, []byte(s))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		doc := randomDocument(r)
		compareWithOracle(t, doc)
		compareWithOracle(t, mutate(r, doc))
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(compareWithOracle)
}

// randomDocument makes objects that meet the wanted paths often.
func randomDocument(r *rand.Rand) []byte {
	var b bytes.Buffer
	randomValue(r, &b, 0)
	return b.Bytes()
}

var (
	randomNames   = []string{"spec", "a", "b", "c", "list", "items", "name", "on", "sub", "x", "deep", "more", "v", "metadata", "labels", "a.b/c", "annotations", "é", `\u00e9`, "ownerReferences", "kind", ""}
	randomScalars = []string{"0", "-1.25E+7", "true", "false", "null", `""`, `"text"`, `"a longer text that spans words"`, `"\u0041\n\"\\"`, `"é€😀"`, `"\ud83d\ude00"`, "\"\xc3\"", `"12345678"`, `"1234567\""`}
)

func randomValue(r *rand.Rand, b *bytes.Buffer, depth int) {
	kind := r.IntN(10)
	space := func() { b.WriteString([]string{"", "", "", " ", "\n\t"}[r.IntN(5)]) }
	switch {
	case depth == 0 || depth < 6 && kind < 4:
		b.WriteByte('{')
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			b.WriteString(`"` + randomNames[r.IntN(len(randomNames))] + `"`)
			space()
			b.WriteByte(':')
			space()
			randomValue(r, b, depth+1)
			space()
		}
		b.WriteByte('}')
	case depth < 6 && kind < 6:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			randomValue(r, b, depth+1)
			space()
		}
		b.WriteByte(']')
	default:
		b.WriteString(randomScalars[r.IntN(len(randomScalars))])
	}
}

// mutate damages a document in one place.
func mutate(r *rand.Rand, doc []byte) []byte {
	doc = bytes.Clone(doc)
	i := r.IntN(len(doc))
	switch r.IntN(3) {
	case 0:
		return doc[:i]
	case 1:
		return append(doc[:i], doc[i+1:]...)
	}
	doc[i] = `{}[]",:\u0 e-x`[r.IntN(14)]
	return doc
}

// Every body of the lab's backup reads the same by both.
func TestScanAgreesOnTheLab(t *testing.T) {
	f, err := os.Open("../../testdata/fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for r := tar.NewReader(unzipped); ; n++ {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		compareWithOracle(t, body)
	}
	if n < 500 {
		t.Fatalf("only %d bodies compared", n)
	}
}

// A Sensitive-free error: whatever is wrong with a body, its text stays out.
func TestScanErrorsQuoteNothing(t *testing.T) {
	for _, doc := range []string{`{"spec":{"a":hunter2}}`, `{"hunter2":1`, `{"spec":"hunter2"}`, `{"spec":{"list":"hunter2"}}`} {
		c, _ := fuzzCapture()
		err := new(Scanner).Scan(c, []byte(doc))
		if err == nil || err == io.EOF || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("scanning %s: error %v", doc, err)
		}
	}
}
