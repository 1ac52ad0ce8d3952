package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"drift-detector/report/terminal"
)

func encode(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatalf("writing JSON: %v", err)
	}
	return b.Bytes()
}

// hostile are pieces that random strings are made of.
var hostile = []string{
	"a", "prod-1", " ", "\n", "\t", "\x00", "\x1b[31m", "\x1b]0;t\x07", "\x7f", "\u0085", "\u009b", "\u2028", "\u202e", "\u2066", "\ufeff",
	"\U000e0041", "\xff", "\xc3", `"`, `\`, "<b>", "&amp;", "机", "e\u0301", "", "Machines    7 in 7 clusters: 7 Ghost", "/DC0/vm/x",
}

// random fills every field that a value has, with a bias to few elements.
func random(g *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(g.Int64N(4e9), 0).UTC()))
		return
	case MachineCounts, ClusterCounts:
		return // set by recount
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			random(g, v.Field(i))
		}
	case reflect.Pointer:
		if g.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(g, v.Elem())
		}
	case reflect.Slice:
		if g.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), g.IntN(4), 4))
		}
		for i := range v.Len() {
			random(g, v.Index(i))
		}
	case reflect.Map:
		key := strings.ToValidUTF8(randomText(g), "\ufffd")
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{key, "template"} {
			value := reflect.New(v.Type().Elem()).Elem()
			random(g, value)
			v.SetMapIndex(reflect.ValueOf(k), value)
		}
	case reflect.String:
		v.SetString(randomText(g))
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(g.IntN(50)))
	}
}

func randomText(g *rand.Rand) string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(hostile[g.IntN(len(hostile))])
	}
	return b.String()
}

var statuses = []string{Ghost, Unknown, Stale, Healthy}

// randomReport is any report that New could have made, and many that it could not.
func randomReport(g *rand.Rand) *Report {
	r := new(Report)
	random(g, reflect.ValueOf(r).Elem())
	r.SchemaVersion = SchemaVersion
	r.fillEmpty()
	for i := range r.Clusters {
		c := &r.Clusters[i]
		recount(g, c.ControlPlane.Machines, &c.ControlPlane.Counts, c)
		for j := range c.Workers.Groups {
			recount(g, c.Workers.Groups[j].Machines, &c.Workers.Groups[j].Counts, c)
		}
		if !c.Self {
			r.Summary.Machines.add(c.Counts)
			r.Summary.Clusters.count(c.Status)
		}
	}
	r.Summary.InfraMachines, r.Summary.Errors = len(r.InfraMachines), len(r.Errors)
	return r
}

func recount(g *rand.Rand, ms []Machine, into *MachineCounts, c *Cluster) {
	for i := range ms {
		ms[i].Status = statuses[g.IntN(len(statuses))]
		into.count(ms[i].Status)
	}
	c.Counts.add(*into)
}

func TestReadGivesBackWhatJSONWrote(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		r := randomReport(g)
		first := encode(t, r)
		back, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("reading back: %v\n%s", err, first)
		}
		if second := encode(t, back); !bytes.Equal(first, second) {
			t.Fatalf("written:\n%s\nread and written:\n%s", first, second)
		}
	}
}

// TestJSONIsWhatTheLibraryWrites: list by list makes the document that one
// call of encoding/json makes.
func TestJSONIsWhatTheLibraryWrites(t *testing.T) {
	g := rand.New(rand.NewPCG(9, 10))
	for _, r := range []*Report{New(sampleParts()), New(Parts{}), randomReport(g), randomReport(g), randomReport(g)} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
		if got := encode(t, r); !bytes.Equal(got, terminal.JSON(want.Bytes())) {
			t.Fatalf("got\n%s\nwant\n%s", got, want.Bytes())
		}
	}
}

func TestJSONIsSafeAndTheSame(t *testing.T) {
	nasty := "\x1b[31m\x7f\u0085\u202e\u2028\U000e0041\ufffd<&>机"
	p := sampleParts()
	p.Result.Clusters[0].ControlPlane.Machines[0].Name = nasty
	doc := encode(t, New(p))
	if got := string(doc); terminal.Escape(got) != strings.ReplaceAll(got, "\n", `\x0a`) {
		t.Error("the document holds characters that a terminal may act on")
	}
	if !bytes.Contains(doc, []byte("<&>机")) || !bytes.HasSuffix(doc, []byte("\n}\n")) {
		t.Error("the document escapes what needs no escape, or does not end in a newline")
	}
	r, err := Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Clusters[0].ControlPlane.Machines[0].Name; got != nasty {
		t.Errorf("name is %q after a round trip, want %q", got, nasty)
	}
	if !bytes.Equal(doc, encode(t, New(p))) {
		t.Error("two documents of the same parts differ")
	}
}

func TestReadRefuses(t *testing.T) {
	p := sampleParts()
	p.Options.IgnoreHealthy = true // a short document is cut sooner
	doc := encode(t, New(p))
	for name, tt := range map[string]struct{ doc, want string }{
		"empty":          {"", "not a whole JSON document"},
		"not JSON":       {"hello", "not a whole JSON document"},
		"null":           {"null", "no schemaVersion"},
		"other document": {`{"kind":"Backup"}`, "no schemaVersion"},
		"newer schema":   {`{"schemaVersion":"2","clusters":7}`, `schema version "2"`},
		"older schema":   {`{"schemaVersion":"0"}`, `schema version "0"`},
		"version number": {`{"schemaVersion":1}`, "schemaVersion"},
		"wrong type":     {`{"schemaVersion":"1","summary":{},"clusters":7,"infraMachines":[],"scopes":[]}`, "clusters"},
		"of check":       {`{"schemaVersion":"1","backups":[],"summary":{},"checks":[]}`, "it has no clusters"},
		"no summary":     {`{"schemaVersion":"1","clusters":[],"infraMachines":[],"scopes":[]}`, "it has no summary"},
		"null scopes":    {`{"schemaVersion":"1","summary":{},"clusters":[],"infraMachines":[],"scopes":null}`, "it has no scopes"},
		"trailing text":  {string(doc) + "x", "not a whole JSON document"},
		"two documents":  {string(doc) + string(doc), "not a whole JSON document"},
	} {
		if _, err := Read(strings.NewReader(tt.doc)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, tt.want)
		}
	}
	whole := bytes.TrimSpace(doc)
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/200 {
		if _, err := Read(bytes.NewReader(whole[:cut])); err == nil {
			t.Errorf("accepted the first %d of %d bytes", cut, len(whole))
		}
	}
}

func TestReadSkipsNewFieldsAndFillsLists(t *testing.T) {
	r, err := Read(strings.NewReader(`{"schemaVersion":"1","later":{"x":[1]},"summary":{},"infraMachines":[],"scopes":[],"clusters":[{"controlPlane":{"machines":[{}]},"workers":{"groups":[{}]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if doc := encode(t, r); bytes.Count(doc, []byte("null")) != bytes.Count(doc, []byte(`"instance": null`)) {
		t.Errorf("null where a list belongs:\n%s", doc)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("no space left")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestFormatsTellTheWritersError(t *testing.T) {
	r := New(sampleParts())
	for name, err := range map[string]error{"JSON": JSON(brokenWriter{}, r), "Text": Text(brokenWriter{}, r, TextOptions{})} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: error %v, want %v", name, err, errBroken)
		}
	}
}
