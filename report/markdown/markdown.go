// Package markdown writes a report as Markdown for a ticket: GitHub, GitLab,
// Jira, Mattermost. The answer comes first, then the counts, then the findings by
// urgency; details are folded. It never grows beyond [Limit]. What is cut then is
// said with its number, the most urgent is cut last, and counts never are.
package markdown

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
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
	var all []*section
	for _, s := range append(outline.ToDo(r), outline.Conditions(r)) {
		all = append(all, newSection(s))
	}
	notes := newSection(outline.Notes(r))
	notes.most = Limit / 4
	all = append(all, notes)
	all = append(all, clusters(r)...)
	for _, s := range outline.Rest(r) {
		all = append(all, newSection(s))
	}
	return written(answer(r)+totals(r), all, fmt.Sprintf("\nMade at %s by drift-detector %s.", outline.Stamp(r.GeneratedAt), short(r.Tool.Version)), Limit)
}

// Sections returns a document of at most limit bytes: the head, which is never cut and
// has no foreign text but in [Code] or [Cell], and the sections.
func Sections(head string, all []outline.Section, limit int) string {
	var out []*section
	for _, s := range all {
		out = append(out, newSection(s))
	}
	return written(head, out, "", limit)
}

func written(head string, all []*section, foot string, limit int) string {
	const room = 100 // for the last sentence
	left := spend(all, limit-len(head)-len(foot)-room)
	var b strings.Builder
	b.WriteString(head)
	for _, s := range all {
		s.write(&b)
	}
	if left > 0 {
		foot += fmt.Sprintf(" The details of %s were cut; all are in the JSON report.", english.Count(left, "finding"))
	}
	if foot != "" {
		b.WriteString(foot + "\n")
	}
	return b.String()
}

func answer(r *report.Report) string {
	a := r.Answer()
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s\n\n", a.Question, prose(a.Safe))
	if a.ByPlan != "" {
		fmt.Fprintf(&b, "That is as Velero restores by default. By the plan: %s %s\n\n", strong(a.ByPlan), prose(a.After))
	}
	fmt.Fprintf(&b, "Status: %s\n\n", strong(string(a.Status)))
	for _, f := range a.Facts {
		fmt.Fprintf(&b, "- %s %s\n", Code(code.Mark(f.Status)), prose(f.Text))
	}
	return b.String()
}

// totals returns the counts of the summary, none of which is ever left out, and the first of
// the places and backups.
func totals(r *report.Report) string {
	var b strings.Builder
	b.WriteString("\n")
	const most = 3
	of := map[string]int{}
	all := outline.Totals(r)
	for i := range all {
		if of[all[i].Label]++; of[all[i].Label] <= most {
			fmt.Fprintf(&b, "- %s: %s\n", all[i].Label, said(&all[i]))
		}
	}
	for _, label := range []string{"Place", english.Capital(r.Subject())} {
		if n := of[label] - most; n > 0 {
			fmt.Fprintf(&b, "- %s: and %d more\n", label, n)
		}
	}
	return b.String()
}

// meanings are what the statuses of machines mean, for who has never met the words.
var meanings = map[code.Status]string{
	code.Ghost:   "VMs that the SUBJECT does not know",
	code.Unknown: "machines that could not be decided",
	code.Stale:   "machines of the SUBJECT that have no VM",
	code.Healthy: "machines that have their VM, and a warning",
}

// foldFrom is how many machines of one cluster are Unknown for one and the same
// reason when they share an item: a vCenter that is down is one finding.
const foldFrom = 4

// clusters returns a table of all clusters, the machines by status, those of control planes
// first, and what there is to say of sets and resources. Of the management cluster
// itself only the row is there.
func clusters(r *report.Report) []*section {
	table := &section{
		title: "\n### Clusters\n\n", most: Limit / 4,
		intro: "| Cluster | Status | Ghost | Unknown | Stale | Healthy | Notes |\n|---|---|--:|--:|--:|--:|---|\n",
	}
	found := map[code.Status][]outline.Item{}
	beside := outline.Section{Title: "Sets and resources"}
	for c := range outline.Clusters(r) {
		n := c.Of.Counts
		table.items = append(table.items, item{n: 1, text: fmt.Sprintf("| %s %s | %s | %d | %d | %d | %d | %s |\n",
			Code(c.Mark), Cell(Name(c.Name)), Cell(prose(c.Status)), n.Ghost, n.Unknown, n.Stale, n.Healthy, Cell(remarks(c.Facts)))})
		if c.Aside != "" {
			continue
		}
		for i := range c.Sets {
			s := &c.Sets[i]
			if s.Code+s.Text != "" || len(s.Facts) > 0 {
				beside.Items = append(beside.Items, s.Item)
			}
			for _, m := range s.Machines {
				if m.Aside == "" && (m.Status != string(code.Healthy) || !m.Minor) {
					kind := machineStatus(code.Status(m.Status))
					found[kind] = append(found[kind], m)
				}
			}
		}
		for _, it := range c.Resources {
			if !it.Minor {
				beside.Items = append(beside.Items, it)
			}
		}
	}
	out := []*section{table}
	for _, status := range code.MachineStatuses() {
		out = append(out, machines(status, r.Subject(), found[status]))
	}
	return append(out, newSection(beside))
}

// machineStatus returns the status among which a machine is listed: one that is not known is
// counted as Unknown.
func machineStatus(status code.Status) code.Status {
	if slices.Contains(code.MachineStatuses(), status) {
		return status
	}
	return code.Unknown
}

func machines(status code.Status, subject string, all []outline.Item) *section {
	s := outline.Section{Title: string(status), Count: fmt.Sprint(len(all))}
	var alike []outline.Item
	for _, it := range all {
		if it.NamesOnly() && status == code.Unknown {
			alike = append(alike, it)
		} else {
			s.Items = append(s.Items, it)
		}
	}
	s.Items = append(s.Items, outline.Fold(alike, foldFrom)...)
	rank := func(it outline.Item) int {
		if it.Role == string(report.RoleControlPlane) {
			return 0
		}
		return 1
	}
	sorting.StableBy(s.Items, func(a, b outline.Item) int { return cmp.Compare(rank(a), rank(b)) })
	for i := range s.Items {
		s.Items[i].Minor = false
	}
	out := newSection(s)
	out.title = fmt.Sprintf("\n### %s (%d): %s\n\n", status, len(all), strings.ReplaceAll(meanings[status], "SUBJECT", subject))
	return out
}

func remarks(facts []outline.Fact) string {
	var out []string
	for i := range facts {
		out = append(out, english.Join(": ", facts[i].Inline(), said(&facts[i])))
	}
	return strings.Join(out, "; ")
}
