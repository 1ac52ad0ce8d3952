// Package markdown writes a report as Markdown for a ticket: GitHub, GitLab,
// Jira, Mattermost. The answer comes first, then the counts, then the findings by
// urgency; details are folded. It never grows beyond [Limit]. What is cut then is
// said with its number, the most urgent is cut last, and counts never are.
package markdown

import (
	"fmt"
	"io"
	"strings"
	"time"

	"drift-detector/report"
)

// Limit is the most bytes that Write writes. The description of a GitHub issue
// takes 65,536 characters (its error message says so: PyGithub/PyGithub issue
// 1906), that of a GitLab issue more. Jira takes 32,767 (likewise:
// prometheus-community/jiralert issue 41) and a Mattermost post less: a document
// that is too long for those is attached as a file.
const Limit = 60_000

// Write writes the report in CommonMark with the tables of GitHub Flavored
// Markdown. Its only HTML is details and summary. It returns the first error of
// the writer.
func Write(w io.Writer, r *report.Report) error {
	if _, err := io.WriteString(w, document(r)); err != nil {
		return fmt.Errorf("writing the report as Markdown: %w", err)
	}
	return nil
}

func document(r *report.Report) string {
	head := answer(r) + counts(r)
	all := []*section{
		clusters(r),
		machines(r, report.Ghost, "VMs that the backup does not know"),
		machines(r, report.Unknown, "machines that could not be decided"),
		machines(r, report.Stale, "machines of the backup that have no VM"),
		machines(r, report.Healthy, "machines that have their VM, and a warning"),
		sets(r), infraMachines(r), scopes(r), missing(r), notes(r), checks(r), problems(r), rules(r), setAside(r),
	}
	const room = 200 // for the last sentence
	left := spend(all, Limit-len(head)-room)
	var b strings.Builder
	b.WriteString(head)
	for _, s := range all {
		s.write(&b)
	}
	b.WriteString(footer(r, left))
	return b.String()
}

// footer says what made the report and, when details were cut, of how many findings.
func footer(r *report.Report, cut int) string {
	s := fmt.Sprintf("\nMade at %s by drift-detector %s.", stamp(r.GeneratedAt), short(r.Tool.Version))
	if cut > 0 {
		s += fmt.Sprintf(" The details of %d findings were cut; all are in the JSON report.", cut)
	}
	return s + "\n"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func join(sep string, parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, sep)
}
