// Package formats is the forms that a report can be written in. A new one is a
// package under report and one line here.
package formats

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/html"
	"drift-detector/report/junit"
	"drift-detector/report/markdown"
	"drift-detector/report/prometheus"
	"drift-detector/report/text"
)

var all = map[string]report.Format{
	"html":       html.Write,
	"json":       report.JSON,
	"junit":      junit.Write,
	"markdown":   markdown.Write,
	"prometheus": prometheus.Write,
	"text":       plainText,
}

// text is the text as a file holds it: without colour, 80 columns wide.
func plainText(w io.Writer, r *report.Report) error {
	return text.Write(w, r, text.Options{Width: 80})
}

// Names are the names of all formats, sorted.
func Names() []string { return slices.Sorted(maps.Keys(all)) }

// Of returns the format of that name. The error names those that there are.
func Of(name string) (report.Format, error) {
	if f, ok := all[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("format %s is not known; it is %s", name, List())
}

// List is the names as a sentence has them: "json, text or html".
func List() string {
	names := Names()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
