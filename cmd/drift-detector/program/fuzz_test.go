package program

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"drift-detector/infra/all"
	"drift-detector/internal/mutate"
	"drift-detector/report"
	"drift-detector/report/diff"
	"drift-detector/report/formats"
	"drift-detector/report/plan"
	"drift-detector/report/reporttest"
	"drift-detector/report/screen"
)

// A report that was edited is refused or written, in every form, as a plan, and
// compared with another. No form holds a raw control character.
func FuzzReport(f *testing.F) {
	other := reporttest.Random(2)
	for seed := range uint64(4) {
		f.Add(reporttest.JSON(f, reporttest.Random(seed)), []byte{})
		f.Add(reporttest.JSON(f, reporttest.Filled(rand.New(rand.NewPCG(seed, 1)))), []byte{0, 9, 11, 0, 0, 1, 7, 7, 0, 0})
		f.Add(reporttest.JSON(f, reporttest.Random(seed)), randomBytes(seed, 20))
	}
	f.Add([]byte(`{"schemaVersion":"1","summary":{},"clusters":[],"infraMachines":[],"scopes":[]}`), []byte{})
	f.Add([]byte(`{"schemaVersion":"2"}`), []byte{})
	f.Fuzz(func(t *testing.T, doc, edits []byte) {
		doc = mutate.JSON(doc, edits)
		if len(doc) > 256<<10 {
			t.Skip()
		}
		read := func() *report.Report {
			r, err := report.Read(bytes.NewReader(doc))
			if err != nil {
				unarmed(t, "the error", err.Error())
				return nil
			}
			return r
		}
		r := read()
		if r == nil {
			return
		}
		var first, second bytes.Buffer
		for _, name := range formats.Report.Names() {
			var out bytes.Buffer
			if err := formats.Report[name](&out, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			unarmed(t, name, out.String())
			switch name {
			case "json":
				first = out
			case "junit":
				wellFormed(t, out.Bytes())
			}
		}
		again, err := report.Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, first.Bytes())
		}
		if err := report.JSON(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%v: written as\n%s\nand, read back, as\n%s", err, first.Bytes(), second.Bytes())
		}
		printed(t, "screen", func(w io.Writer) error { return screen.Write(w, r, screen.Options{}) })
		for _, pair := range [][2]*report.Report{{r, other}, {other, r}, {r, read()}} {
			d, err := diff.New(pair[0], pair[1])
			if err != nil {
				unarmed(t, "the error", err.Error())
				continue
			}
			for _, name := range diff.Formats.Names() {
				printed(t, "diff as "+name, func(w io.Writer) error { return diff.Formats[name](w, d) })
			}
		}
		p := plan.New(r, all.Registry().Tools())
		for name, write := range planFormats {
			printed(t, "plan as "+name, func(w io.Writer) error { return write(w, p) })
		}
	})
}

func randomBytes(seed uint64, n int) []byte {
	r, b := rand.New(rand.NewPCG(seed, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return b
}

func printed(t *testing.T, what string, write func(io.Writer) error) {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	unarmed(t, what, out.String())
}

// unarmed demands that no terminal takes any of a text for a command.
func unarmed(t *testing.T, what, text string) {
	t.Helper()
	if at := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}); at >= 0 {
		t.Errorf("%s holds %q", what, text[max(0, at-40):min(len(text), at+40)])
	}
}

func wellFormed(t *testing.T, doc []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, doc)
		}
	}
}
