package verify

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"drift-detector/report/html"
	"drift-detector/report/junit/document"
	"drift-detector/report/markdown"
)

// tables returns all of the document but what is as foretold, which is counted: what is not as
// foretold first.
func (d *Document) tables() []html.Table {
	var out []html.Table
	add := func(title string, rows [][]string, head ...string) {
		if len(rows) > 0 {
			out = append(out, html.Table{Title: title, Head: head, Rows: rows})
		}
	}
	titles := map[Verdict]string{Not: "Not as foretold", NotYet: "Not yet", NotJudged: "Not judged"}
	for _, verdict := range verdicts[:3] {
		var rows [][]string
		for i := range d.Machines {
			if m := &d.Machines[i]; m.Verdict == verdict {
				rows = append(rows, []string{m.Namespace + "/" + m.Name, string(m.Foretold), m.Seen, clock(cmp.Or(m.Until, m.Since)), m.Do})
			}
		}
		for i := range d.Groups {
			if g := &d.Groups[i]; g.alone == verdict && verdict != NotJudged {
				rows = append(rows, []string{g.Namespace + "/" + g.Name, "", g.says(), "", ""})
			}
		}
		when := "since"
		if verdict == NotYet {
			when = "by"
		}
		add(titles[verdict], rows, "machine", "foretold", "seen", when, "command")
	}
	var made, gone, unread [][]string
	for _, m := range d.Made {
		made = append(made, []string{m.title(), m.Seen, m.ID, clock(m.Created), string(m.Verdict)})
	}
	for _, g := range d.Gone {
		gone = append(gone, []string{g.Name, g.ID, g.Machine, string(g.Verdict)})
	}
	for _, u := range d.Unread {
		unread = append(unread, []string{u.Kind, u.Why})
	}
	add("Created since the report", made, "what", "seen", "id", "created", "verdict")
	add("VMs gone since the report", gone, "VM", "id", "machine", "verdict")
	add("Not read", unread, "what", "why")
	var clusters [][]string
	for _, c := range d.Clusters {
		clusters = append(clusters, []string{c.Namespace + "/" + c.Name, c.Presence, string(c.Verdict)})
	}
	add("Clusters", clusters, "Cluster", "is", "verdict")
	return out
}

func clock(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format("2006-01-02 15:04:05Z")
}

func (d *Document) title() string {
	lead, _, counts := d.answer()
	return "After the restore: " + lead + "; " + counts
}

// Markdown writes the document as GitHub and GitLab show it. It returns the first error of the writer.
func Markdown(w io.Writer, d *Document) error {
	return markdown.Tables(w, d.title(), d.about(), d.tables())
}

// HTML writes the document as one page that needs nothing else. It returns the first error of the writer.
func HTML(w io.Writer, d *Document) error { return html.Tables(w, d.title(), d.about(), d.tables()) }

// about says what was compared.
func (d *Document) about() string {
	how := ""
	if d.ByPlan {
		how = ", restored by the plan"
	}
	return fmt.Sprintf("The management cluster at %s%s, read %s, against the report of %s.", d.Server, how, clock(&d.ReadAt), clock(&d.ReportedAt))
}

// JUnit writes the document with a test of each machine: not as foretold fails, what is awaited, paused
// or not judged is skipped. It returns the first error of the writer.
func JUnit(w io.Writer, d *Document) error {
	all := func(yield func(*document.Suite) bool) {
		tests := document.Names{}
		for _, c := range d.Clusters {
			s := &document.Suite{Name: c.Namespace + "/" + c.Name}
			for i := range d.Machines {
				m := &d.Machines[i]
				if m.Cluster != c.Name || m.Namespace != c.Namespace {
					continue
				}
				says := document.Clean(fmt.Sprintf("foretold %s; seen: %s", cmp.Or(string(m.Foretold), "nothing"), m.Seen))
				is := document.Outcome{Type: string(m.Verdict), Message: says, Text: says}
				one := document.Case{Class: s.Name, Name: m.Name}
				switch {
				case m.Verdict == Not:
					one.Failure = &is
				case m.Verdict != As || m.Paused:
					one.Skipped = &is
				default:
					one.Out = &document.Output{Text: says}
				}
				s.Add(one, tests)
			}
			for i := range d.Groups {
				g := &d.Groups[i]
				if g.Pool != nil && g.Cluster == c.Name && g.Namespace == c.Namespace {
					s.Add(g.test(s.Name), tests)
				}
			}
			if !yield(s) {
				return
			}
		}
		s := &document.Suite{Name: "since the report"}
		for _, m := range d.Made {
			s.Add(since(s.Name, m.title()+" was created", m.Verdict), tests)
		}
		for _, g := range d.Gone {
			s.Add(since(s.Name, "VM "+g.Name+" is gone", g.Verdict), tests)
		}
		for _, u := range d.Unread {
			says := document.Clean(u.Why)
			s.Add(document.Case{Class: s.Name, Name: u.Kind + " is read", Error: &document.Outcome{Type: "unread", Message: says, Text: says}}, tests)
		}
		yield(s)
	}
	if err := document.Write(w, "drift-detector verify", all); err != nil {
		return fmt.Errorf("writing what came of the forecast as JUnit XML: %w", err)
	}
	return nil
}

// test returns that a pool has lost no members but those that were foretold.
func (g *GroupVerdict) test(class string) document.Case {
	one, says := document.Case{Class: class, Name: g.Kind + " " + g.Name}, document.Clean(g.says())
	switch is := (document.Outcome{Type: string(g.alone), Message: says, Text: says}); g.alone {
	case Not:
		one.Failure = &is
	case NotYet:
		one.Skipped = &is
	default:
		one.Out = &document.Output{Text: says}
	}
	return one
}

func since(class, name string, verdict Verdict) document.Case {
	one := document.Case{Class: class, Name: name}
	if verdict == Not {
		says := document.Clean(name + ", and that was not foretold")
		one.Failure = &document.Outcome{Type: string(verdict), Message: says, Text: says}
	}
	return one
}
