// Package prometheus writes a report as metrics, for the textfile collector of
// node_exporter and for everything else that reads Prometheus' text format.
//
// The series are per cluster, never per machine: their number grows with the
// fleet and not with what is wrong in it. Which machines they are is said by
// the report itself.
//
// A node_exporter takes one such file. Of a second one, of another fleet, it
// would drop every series whose name and labels the first one has, and say so in
// its log alone (node_exporter 1.12 gathers with promhttp.ContinueOnError): give
// each fleet a node_exporter of its own.
package prometheus

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// Write writes the metrics of the report in the text exposition format, version
// 0.0.4. They have no timestamps, because the textfile collector skips a file
// that has one (node_exporter 1.12, collector/textfile.go, processFile); the age
// of the report is a metric instead. It returns the first error of the writer.
func Write(w io.Writer, r *report.Report) error {
	b := bufio.NewWriter(w)
	for _, f := range families(r) {
		f.write(b)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the report as Prometheus metrics: %w", err)
	}
	return nil
}

// Failed writes that a run ended without a report. A Pushgateway that gets it by POST keeps what the last
// report said beside it. It returns the first error of the writer.
func Failed(w io.Writer) error {
	b := bufio.NewWriter(w)
	f := failedFamily()
	f.add(1)
	f.write(b)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing that the run failed as Prometheus metrics: %w", err)
	}
	return nil
}

// family is a metric with its samples, which differ in their labels.
type family struct {
	name, help string
	labels     []string
	// merge makes one value of two that have the same labels. Nobody takes a
	// file that tells two values of one series.
	merge   func(a, b int64) int64
	samples []sample
	at      map[string]int // samples by their labels
}

type sample struct {
	labels string // as they are printed
	value  int64
}

func sum(a, b int64) int64     { return a + b }
func least(a, b int64) int64   { return min(a, b) }
func largest(a, b int64) int64 { return max(a, b) }

func newFamily(name, help string, merge func(a, b int64) int64, labels ...string) *family {
	return &family{name: "drift_detector_" + name, help: help, labels: labels, merge: merge, at: map[string]int{}}
}

// add adds a sample with a value for each label.
func (f *family) add(v int64, values ...string) {
	labels := f.print(values)
	if i, ok := f.at[labels]; ok {
		f.samples[i].value = f.merge(f.samples[i].value, v)
		return
	}
	f.at[labels] = len(f.samples)
	f.samples = append(f.samples, sample{labels, v})
}

func (f *family) print(values []string) string {
	if len(values) == 0 {
		return ""
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = f.labels[i] + `="` + label(v) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quotes are the characters that label values escape (Prometheus' documentation,
// Exposition formats, Text format details).
var quotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// label makes foreign text a label value. Invalid UTF-8 becomes what the JSON
// report makes of it, so that a saved report has the same metrics.
func label(s string) string { return quotes.Replace(terminal.Escape(report.Valid(s))) }

// write writes the family; one without samples is not there.
func (f *family) write(b *bufio.Writer) {
	if len(f.samples) == 0 {
		return
	}
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s gauge\n", f.name, f.help, f.name)
	for _, s := range f.samples {
		fmt.Fprintf(b, "%s%s %d\n", f.name, s.labels, s.value)
	}
}
