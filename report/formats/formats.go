// Package formats is the forms that a report can be written in. A new one is a
// package under report and one line here.
package formats

import (
	"io"

	"drift-detector/report"
	"drift-detector/report/html"
	"drift-detector/report/junit"
	"drift-detector/report/markdown"
	"drift-detector/report/message"
	"drift-detector/report/prometheus"
	"drift-detector/report/text"
)

// Report is the forms of a report.
var Report = report.Formats[*report.Report]{
	"html":       html.Write,
	"json":       report.JSON,
	"junit":      junit.Write,
	"markdown":   markdown.Write,
	"prometheus": prometheus.Write,
	"slack":      message.About{}.Named("slack"),
	"teams":      message.About{}.Named("teams"),
	"text":       func(w io.Writer, r *report.Report) error { return text.Write(w, r, text.Options{}) },
	"webhook":    message.About{}.Named("webhook"),
}

// Check is the forms of what the check command says.
var Check = report.Formats[*report.Readiness]{
	"json":     report.ReadinessJSON,
	"junit":    junit.Readiness,
	"markdown": markdown.Readiness,
	"text":     func(w io.Writer, r *report.Readiness) error { return text.Readiness(w, r, text.Options{}) },
}
