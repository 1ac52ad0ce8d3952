package program

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/infra/all"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/diff"
	"drift-detector/report/formats"
	"drift-detector/report/plan"
	"drift-detector/report/screen"
	"drift-detector/report/text"
)

// prose are the fields of a report that hold sentences, wherever they are. What is said there
// is for people, and may be said otherwise by the next release.
var prose = map[string]bool{
	"Message": true, "Brief": true, "Hint": true, "Text": true, "Why": true, "Do": true, "Meaning": true, "Condition": true, "Detail": true,
	"OnDelete": true, "ClustersFirst": true, "Remedies": true, "ReferredBy": true,
}

// rewording replaces each letter of all sentences of a report: no word stays, and all is as
// long and as punctuated as before.
type rewording struct {
	own  bool           // what sentences on a machine call it and its VM stays
	keep *regexp.Regexp // that, of the machine at hand
}

func (w rewording) of(t *testing.T, doc []byte) *report.Report {
	t.Helper()
	r, err := report.Read(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	w.all(reflect.ValueOf(r).Elem(), false)
	return r
}

func (w rewording) all(v reflect.Value, sentences bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.all(v.Elem(), sentences)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.all(v.Index(i), sentences)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if s := v.MapIndex(k); sentences && s.Kind() == reflect.String {
				v.SetMapIndex(k, reflect.ValueOf(w.text(s.String())).Convert(s.Type()))
			}
		}
	case reflect.Struct:
		switch x := v.Interface().(type) {
		case time.Time:
			return
		case report.Nodes: // elsewhere Error is a Fault
			v.FieldByName("Error").SetString(w.text(x.Error))
		case report.Machine:
			w.named(x.Name, x.ProviderID, append(slices.Clone(x.Others), pointed(x.Instance))...)
		case report.InfraMachine:
			w.named("", "", x.Instance)
		case report.Resource:
			w.named(x.Name, "")
		}
		for i := range v.NumField() {
			w.all(v.Field(i), prose[v.Type().Field(i).Name])
		}
	case reflect.String:
		if sentences {
			v.SetString(w.text(v.String()))
		}
	}
}

func pointed(i *report.Instance) report.Instance {
	if i == nil {
		return report.Instance{}
	}
	return *i
}

// named takes in what sentences call a machine and its VMs, as outline.Fold does: paths, and
// the last parts of names and ids.
func (w *rewording) named(name, id string, vms ...report.Instance) {
	all := []string{name, id}
	for _, i := range vms {
		all = append(all, i.ID, i.Ref, i.Name, i.State)
	}
	var forms []string
	for _, i := range vms {
		if w.own && i.Path != "" {
			forms = append(forms, regexp.QuoteMeta(i.Path))
		}
	}
	for _, s := range all {
		if s = s[strings.LastIndexByte(s, '/')+1:]; w.own && len(s) > 3 {
			forms = append(forms, regexp.QuoteMeta(s))
		}
	}
	if w.keep = nil; forms != nil {
		w.keep = regexp.MustCompile(strings.Join(forms, "|"))
	}
}

func (w *rewording) text(s string) string {
	var out strings.Builder
	last := 0
	if w.keep != nil {
		for _, at := range w.keep.FindAllStringIndex(s, -1) {
			out.WriteString(strings.Map(otherLetter, s[last:at[0]]) + s[at[0]:at[1]])
			last = at[1]
		}
	}
	return out.String() + strings.Map(otherLetter, s[last:])
}

// otherLetter replaces a letter. Twice it is the letter again, of the same case.
func otherLetter(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case 'A' <= r && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

// otherwise returns the lines of which more than letters differ, of the first text and of the
// second.
func otherwise(a, b string) [][2]string {
	var out [][2]string
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return append(out, [2]string{"", y[i]})
		case i >= len(y):
			return append(out, [2]string{x[i], ""})
		case !sameButLetters(x[i], y[i]):
			out = append(out, [2]string{x[i], y[i]})
		}
	}
	return out
}

// sameButLetters reports whether each letter is the same, or the one that stands for it.
func sameButLetters(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if y[i] != x[i] && y[i] != otherLetter(x[i]) {
			return false
		}
	}
	return true
}

// written returns a report in all forms: for people, for CI, its screen, its plan and what
// differs from another one.
func written(t *testing.T, r, other *report.Report) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string, write func(io.Writer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	tools := all.Registry().Tools()
	plan.Fill(r, tools)
	for name, write := range formats.Report {
		if name != "json" {
			add(name, func(w io.Writer) error { return write(w, r) })
		}
	}
	for _, width := range []int{50, 80, 200} {
		add(fmt.Sprint("screen of ", width), func(w io.Writer) error { return screen.Write(w, r, screen.Options{Width: width, Report: "r"}) })
	}
	for name, write := range planFormats {
		add("plan in "+name, func(w io.Writer) error { return write(w, plan.New(r, tools)) })
	}
	for name, pair := range map[string][2]*report.Report{"diff to": {other, r}, "diff from": {r, other}} {
		d, err := diff.New(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		add(name+" in text", func(w io.Writer) error { return diff.Text(w, d, text.Options{}) })
		add(name+" in Markdown", func(w io.Writer) error { return diff.Markdown(w, d) })
	}
	return out
}

// No form of a report reads its sentences: with other words in all of them, each form has
// the same lines, steps, numbers, order and codes.
func TestNothingReadsSentences(t *testing.T) {
	for name, run := range map[string]func(t *testing.T) runs.Outcome{
		"lab":            func(t *testing.T) runs.Outcome { return runs.Fleet(t).Detect() },
		"without Nodes":  func(t *testing.T) runs.Outcome { return runs.Fleet(t).Detect("--skip-access-apiserver") },
		"restored fleet": func(t *testing.T) runs.Outcome { return runs.Restored(t).Detect() },
		"CAPA": func(t *testing.T) runs.Outcome {
			w, _ := runs.CAPAFleet(t)
			return w.DetectAWS()
		},
		"CAPO": func(t *testing.T) runs.Outcome {
			w, _ := runs.OpenStackFleet(t, openstacklab.Options{})
			return w.Run(slices.Concat(w.Sources(), w.WithOpenStackNodes())...)
		},
		"nothing answers": func(t *testing.T) runs.Outcome {
			w := runs.Fleet(t)
			w.VCenter.Close()
			return w.Detect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t)
			forms := written(t, o.Report, rewording{}.of(t, o.JSON))
			for _, w := range []rewording{{}, {own: true}} {
				other := written(t, w.of(t, o.JSON), o.Report)
				for _, form := range slices.Sorted(maps.Keys(forms)) {
					// The text shows machines once of which the same is said, but for their own names.
					if form == "text" != w.own {
						continue
					}
					if places := otherwise(forms[form], other[form]); len(places) > 0 {
						t.Errorf("%s reads sentences: %d places, the first\n%s\n%s", form, len(places), places[0][0], places[0][1])
					}
				}
			}
		})
	}
}
