package reporttest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"drift-detector/report"
)

// Format is a function that writes a report in one form.
type Format func(io.Writer, *report.Report) error

var errBroken = errors.New("no space left")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// NamesError fails unless the format returns the error of its writer with what was
// being done.
func (write Format) NamesError(t *testing.T) {
	t.Helper()
	for _, r := range []*report.Report{{}, Random(1), Sized(5, 100)} {
		if err := write(brokenWriter{}, r); !errors.Is(err, errBroken) || err.Error() == errBroken.Error() {
			t.Errorf("error %v, want %v with what was being done", err, errBroken)
		}
	}
}

// ReadsBack fails unless the format writes the same of each report after that was saved as
// JSON and read. One without a schema version is none that can be read.
func (write Format) ReadsBack(t *testing.T, all map[string]*report.Report) {
	t.Helper()
	of := func(r *report.Report) string {
		var doc bytes.Buffer
		if err := write(&doc, r); err != nil {
			t.Fatal(err)
		}
		return doc.String()
	}
	for name, r := range all {
		if r.SchemaVersion == "" {
			continue
		}
		back, err := report.Read(bytes.NewReader(JSON(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		if first, second := of(r), of(back); first != second {
			t.Errorf("%s changes when it is read back:\n%.2000s\n%.2000s", name, first, second)
		}
	}
}
