package markdown

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/report/html"
)

// mostRows is how many rows of a table are written: an issue or a comment holds 65,536 characters.
const mostRows = 40

// Tables writes what is not a report: a title, a sentence, and tables. It returns the first error of
// the writer.
func Tables(w io.Writer, title, about string, all []html.Table) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", prose(title), prose(about))
	for _, t := range all {
		fmt.Fprintf(&b, "\n### %s: %d\n\n", t.Title, len(t.Rows))
		row(&b, t.Head, prose)
		row(&b, t.Head, func(string) string { return "---" })
		for _, r := range t.Rows[:min(len(t.Rows), mostRows)] {
			row(&b, r, func(s string) string {
				if s == "" {
					return ""
				}
				return Cell(Code(shorten(clean(s), longestName)))
			})
		}
		if n := len(t.Rows) - mostRows; n > 0 {
			fmt.Fprintf(&b, "\nand %d more; the JSON has all.\n", n)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}

func row(b *strings.Builder, cells []string, form func(string) string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", form(c))
	}
	b.WriteString("|\n")
}
