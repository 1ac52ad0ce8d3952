package markdown

import (
	"fmt"
	"io"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/outline"
)

// Readiness writes what the check command found, in at most [Limit] bytes: the answer,
// then the findings, why they matter and what to do. It returns the first error of the
// writer.
func Readiness(w io.Writer, r *report.Readiness) error {
	answer, _ := r.Answer()
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s\n\n- Found: %s\n", r.Question(), answer, prose(r.Summary.String()))
	const most = 10
	for i := range r.Backups[:min(len(r.Backups), most)] {
		fmt.Fprintf(&b, "- %s: %s\n", english.Capital(r.Subject()), Code(r.Backups[i].Path))
	}
	if n := len(r.Backups) - most; n > 0 {
		fmt.Fprintf(&b, "- Backup: and %d more\n", n)
	}
	if r.Filter != nil {
		fmt.Fprintf(&b, "- Only: %s\n", Code(r.Filter.String()))
	}
	if _, err := io.WriteString(w, Sections(b.String(), []outline.Section{outline.Checks(r.Checks, r.Backups)}, Limit)); err != nil {
		return fmt.Errorf("writing the findings as Markdown: %w", err)
	}
	return nil
}
