package reporttest

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// JSON returns the document of a report.
func JSON(t testing.TB, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatalf("writing JSON: %v", err)
	}
	return b.Bytes()
}

// pieces are pieces that random strings are made of.
var pieces = []string{
	"a", "prod-1", " ", "\n", "\t", "\x00", "\x1b[31m", "\x1b]0;t\x07", "\x7f", "\u0085", "\u009b", "\u2028", "\u202e", "\u2066", "\ufeff",
	"\U000e0041", "\xff", "\xc3", `"`, `\`, "<b>", "&amp;", "机", "e\u0301", "", "Machines    7 in 7 clusters: 7 Ghost", "/DC0/vm/x",
}

// Fill fills every field that a value has, with a bias to few elements.
func Fill(g *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(g.Int64N(4e9), 0).UTC()))
		return
	case report.MachineCounts, report.ClusterCounts:
		return // set by recount
	}
	if words, closed := closedWords[v.Type()]; closed {
		v.SetString(words[g.IntN(len(words))])
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			Fill(g, v.Field(i))
		}
	case reflect.Pointer:
		if g.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			Fill(g, v.Elem())
		}
	case reflect.Slice:
		if g.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), g.IntN(4), 4))
		}
		for i := range v.Len() {
			Fill(g, v.Index(i))
		}
	case reflect.Map:
		key := strings.ToValidUTF8(randomText(g), "\ufffd")
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{key, "template"} {
			value := reflect.New(v.Type().Elem()).Elem()
			Fill(g, value)
			v.SetMapIndex(reflect.ValueOf(k).Convert(v.Type().Key()), value)
		}
	case reflect.String:
		v.SetString(randomText(g))
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(g.IntN(50)))
	}
}

// closedWords are the types that have no other words, in a report that can be read.
var closedWords = map[reflect.Type][]string{
	reflect.TypeFor[code.Status]():     texts(code.RollUps()),
	reflect.TypeFor[code.Safe]():       texts(code.Answers()),
	reflect.TypeFor[code.Phase]():      texts(code.Phases()),
	reflect.TypeFor[code.ScopeState](): texts(code.ScopeStates()),
	reflect.TypeFor[code.Presence]():   texts(code.Presences()),
	reflect.TypeFor[code.Severity]():   texts(code.Severities()),
}

func texts[T ~string](words []T) (out []string) {
	for _, w := range words {
		out = append(out, string(w))
	}
	return out
}

func randomText(g *rand.Rand) string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(pieces[g.IntN(len(pieces))])
	}
	return b.String()
}

// Filled returns any report that could have been made, and many that could not.
func Filled(g *rand.Rand) *report.Report {
	r := new(report.Report)
	Fill(g, reflect.ValueOf(r).Elem())
	r.SchemaVersion = report.SchemaVersion
	r.FillLists()
	if f := r.Options.Filter; f != nil {
		f.Statuses = code.MachineStatuses()[:g.IntN(3)]
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		recount(g, c.ControlPlane.Machines, &c.ControlPlane.Counts, c)
		for j := range c.Workers.Groups {
			recount(g, c.Workers.Groups[j].Machines, &c.Workers.Groups[j].Counts, c)
		}
		if !c.Self {
			r.Summary.Machines.Add(c.Counts)
			r.Summary.Clusters.Count(c.Status)
		}
	}
	r.Summary.InfraMachines, r.Summary.Errors = len(r.InfraMachines), len(r.Errors)
	return r
}

func recount(g *rand.Rand, ms []report.Machine, into *report.MachineCounts, c *report.Cluster) {
	statuses := code.MachineStatuses()
	for i := range ms {
		ms[i].Status = statuses[g.IntN(len(statuses))]
		into.Count(ms[i].Status)
	}
	c.Counts.Add(*into)
}
