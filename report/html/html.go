// Package html writes a report as one HTML file that needs nothing else: no
// server, no network, no JavaScript. With JavaScript it can be filtered,
// searched and sorted, and what is folded is built when it is opened: it is in
// noscript elements, which are text to a browser that runs scripts, and part of
// the page to one that does not.
package html

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"

	"drift-detector/report"
	"drift-detector/report/code"
)

var (
	//go:embed page.html
	page string
	//go:embed parts.html
	parts string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
)

// Write writes the report as a page: what a restore would do, what is to be done, then all
// that the report says. The bytes are the same for the same report. It returns the first error
// of the writer.
//
// Names are foreign text. [html/template] escapes them, no link is made of
// them, and the page forbids every script but its own (see policy).
func Write(w io.Writer, r *report.Report) error { return WriteWith(w, r, nil) }

// WriteWith writes the report as Write does, with the plan of the report.
func WriteWith(w io.Writer, r *report.Report, b *Runbook) error {
	return write(w, newView(r, b))
}

func write(w io.Writer, v view) error {
	b := bufio.NewWriter(w)
	if err := parsed[code.Subject(v.IsLive())]().Execute(b, v); err != nil {
		return fmt.Errorf("writing the report as HTML: %w", err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the report as HTML: %w", err)
	}
	return nil
}

// parsed is the page about each subject.
var parsed = map[code.Subject]func() *template.Template{
	code.Backup:            pageAbout(code.Backup),
	code.ManagementCluster: pageAbout(code.ManagementCluster),
}

func pageAbout(subject code.Subject) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		own := template.FuncMap{
			"subject": subject.String,
			"file":    func() string { return subject.Or("Backup file", "Management cluster") },
		}
		return template.Must(template.New("page").Funcs(functions).Funcs(own).Parse(parts + page))
	})
}

// policy returns a Content-Security-Policy (CSP level 3, w3c.github.io/webappsec-csp)
// under which nothing is loaded, and nothing runs but this style and this script.
func policy(style string) string {
	return "default-src 'none'; script-src " + hashed(script) + "; style-src " + hashed(style) +
		"; base-uri 'none'; form-action 'none'"
}

func hashed(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
