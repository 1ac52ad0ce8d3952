package html

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"sync"

	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// Table is a part of a page that is not of a report: a title, and rows below a head.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

//go:embed tables.html
var tables string

var tablesParsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("tables").Funcs(template.FuncMap{"clean": func(s string) string { return terminal.Escape(report.Valid(s)) }}).Parse(tables))
})

// Tables writes a page with the style of a report and no script: a title, a sentence, and tables.
// All text is foreign and escaped. It returns the first error of the writer.
func Tables(w io.Writer, title, about string, all []Table) error {
	b := bufio.NewWriter(w)
	err := tablesParsed().Execute(b, struct {
		Title, About string
		Tables       []Table
		Policy       string
		Style        template.CSS
	}{title, about, all, "default-src 'none'; style-src " + hashed(style) + "; base-uri 'none'; form-action 'none'", template.CSS(style)})
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
