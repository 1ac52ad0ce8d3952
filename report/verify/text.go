package verify

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/text"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the document, with a description of every field.
func Schema() []byte { return report.WithDefinitions(schema) }

// Formats are the forms of it.
var Formats = report.Formats[*Document]{
	"html":     HTML,
	"junit":    JUnit,
	"markdown": Markdown,
	"json":     func(w io.Writer, d *Document) error { return report.Document(w, d) },
	"text":     func(w io.Writer, d *Document) error { return Text(w, d, text.Options{}) },
}

// rows are those of a small terminal, less the one of the next prompt.
const rows = 23

// Text writes what is not as foretold, what is awaited, and counts of all else, as much of it as a
// small terminal has room for. Of the options it knows Color and Width. It returns the first error
// of the writer.
func Text(w io.Writer, d *Document, o text.Options) error {
	if o.Width == 0 {
		o.Width = 80
	}
	head := printed(o, 0, 2, d.headline())
	foot := d.foot(o)
	items := append(d.alarms(o), d.awaited(o)...)
	left, shown := rows-height(head)-height(foot), 0
	var out bytes.Buffer
	out.Write(head)
	for i, item := range items {
		most := left
		if i < len(items)-1 {
			most-- // for what is cut
		}
		if height(item) > most && shown > 0 {
			break
		}
		left -= height(item)
		shown++
		out.Write(item)
	}
	if more := len(items) - shown; more > 0 {
		fmt.Fprintf(&out, "  and %s; -o verify.json has all\n", english.Count(more, "more line"))
	}
	out.Write(foot)
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing what came of the forecast: %w", err)
	}
	return nil
}

func printed(o text.Options, indent, hang int, l terminal.Line) []byte {
	return terminal.Rows(o.Width, o.Color, indent, hang, l)
}

func height(b []byte) int { return bytes.Count(b, []byte("\n")) }

// headline returns the answer.
func (d *Document) headline() terminal.Line {
	lead, style, counts := d.answer()
	return terminal.Lead(style, lead, 0).Prose(terminal.Plain, counts)
}

// answer returns the state in words, how it looks, and counts.
func (d *Document) answer() (string, terminal.Style, string) {
	s, lead, style := d.Summary, "", terminal.Green
	not := s.NotAsForetold
	for i := range d.Made {
		m := &d.Made[i]
		if m.Verdict == Not && m.Kind == "Machine" {
			not++
		}
	}
	switch d.State {
	case SomeNot:
		lead, style = "NOT AS FORETOLD", terminal.Red
	case Incomplete:
		lead, style = "not all could be read", terminal.Yellow
	case Waiting:
		lead, style = "not yet as foretold", terminal.Yellow
	default:
		if lead = "as foretold"; s.NotJudged > 0 {
			lead = fmt.Sprintf("as foretold, as far as judged: %d of %d", s.AsForetold, s.AsForetold+s.NotJudged+s.Paused)
		}
	}
	counts := fmt.Sprintf("NOT %d, not yet %d, as foretold %d, not judged %d", not, s.NotYet, s.AsForetold, s.NotJudged)
	if s.NoOutcome > 0 {
		counts += fmt.Sprintf(" (%d have no outcome that could be)", s.NoOutcome)
	}
	if s.Paused > 0 {
		counts += fmt.Sprintf(", paused %d", s.Paused)
	}
	if d.StartedAt != nil {
		counts = d.ReadAt.Sub(*d.StartedAt).Truncate(time.Second).String() + " after the restore; " + counts
	}
	return lead, style, counts
}

// alarms returns what is not as foretold: machines with the command that pauses their Cluster, then what
// was created and what is gone.
func (d *Document) alarms(o text.Options) (out [][]byte) {
	said := map[string]bool{} // commands, and names of Machines
	for i := range d.Machines {
		m := &d.Machines[i]
		if m.Verdict != Not {
			continue
		}
		what := fmt.Sprintf("%s: foretold %s, %s", m.Namespace+"/"+m.Name, m.Foretold, m.Seen)
		if m.Since != nil {
			what += " since " + m.Since.Format(time.TimeOnly)
		}
		if m.Who != "" {
			what += ", of " + m.Who
		}
		one := printed(o, 0, 2, terminal.Lead(terminal.Red, "!", 0).Prose(terminal.Plain, report.Valid(what)))
		if m.Do != "" && !said[m.Do] {
			said[m.Do] = true
			one = append(one, printed(o, 2, 4, terminal.Lead(terminal.Bold, "Now:", 0).Field(terminal.Plain, report.Valid(m.Do)))...)
		}
		out = append(out, one)
	}
	for i := range d.Groups {
		if g := &d.Groups[i]; g.alone == Not {
			out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Red, "!", 0).Prose(terminal.Plain, report.Valid(g.says()))))
		}
	}
	for i := range d.Made {
		m := &d.Made[i]
		if m.Verdict == Not && !said[m.Name] {
			said[m.Name] = true
			what := m.title() + " was created, and was not foretold"
			if m.Seen != "" {
				what = m.title() + " was created; it " + m.Seen
			}
			out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Red, "!", 0).Prose(terminal.Plain, report.Valid(what))))
		}
	}
	for i := range d.Gone {
		g := &d.Gone[i]
		if g.Verdict == Not && g.Machine == "" {
			out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Red, "!", 0).Prose(terminal.Plain, report.Valid("VM "+g.Name+" is gone"))))
		}
	}
	return out
}

// wait is machines of a cluster for which the same is awaited.
type wait struct {
	cluster, seen, do string
	names             []string
	until             *time.Time // the latest
}

// waits returns the waits, those of one cluster with the same words together.
func (d *Document) waits() (out []*wait) {
	for i := range d.Machines {
		m := &d.Machines[i]
		if m.Verdict != NotYet {
			continue
		}
		cluster := m.Namespace + "/" + m.Cluster
		var w *wait
		for _, have := range out {
			if have.cluster == cluster && have.seen == m.Seen {
				w = have
			}
		}
		if w == nil {
			w = &wait{cluster: cluster, seen: m.Seen, do: m.Do}
			out = append(out, w)
		}
		w.names = append(w.names, m.Name)
		if m.Until != nil && (w.until == nil || m.Until.After(*w.until)) {
			w.until = m.Until
		}
	}
	return out
}

func (d *Document) awaited(o text.Options) (out [][]byte) {
	for _, w := range d.waits() {
		what := w.cluster + ": " + english.First(2, w.names) + ": " + w.seen
		switch {
		case w.until != nil && w.until.Before(d.ReadAt):
			what += "; late since " + w.until.Format(time.TimeOnly)
		case w.until != nil:
			what += "; by " + w.until.Format(time.TimeOnly)
		}
		one := printed(o, 0, 2, terminal.Lead(terminal.Yellow, ".", 0).Prose(terminal.Plain, report.Valid(what)))
		if w.do != "" {
			one = append(one, printed(o, 2, 4, terminal.Lead(terminal.Bold, "Or:", 0).Field(terminal.Plain, report.Valid(w.do)))...)
		}
		out = append(out, one)
	}
	for i := range d.Made {
		if m := &d.Made[i]; m.Seen != "" && !m.foreign && (m.Verdict == NotYet || m.Verdict == NotJudged) {
			out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Yellow, "?", 0).Prose(terminal.Plain, report.Valid(m.title()+" was created; it "+m.Seen+": see whose it is"))))
		}
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		if g.alone == NotYet {
			out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Yellow, ".", 0).Prose(terminal.Plain, report.Valid(g.says()))))
		}
	}
	return out
}

// foot returns what was created and what is gone since, and what could not be read.
func (d *Document) foot(o text.Options) (out []byte) {
	machines, vms, foretold, foreign, gone := 0, 0, 0, 0, len(d.Gone)
	for i := range d.Made {
		m := &d.Made[i]
		if m.Kind == "Machine" {
			machines++
		} else {
			vms++
		}
		if m.Verdict == As {
			foretold++
		}
		if m.foreign {
			foreign++
		}
	}
	others := ""
	if foreign > 0 {
		others = fmt.Sprintf(", %d of other Clusters", foreign)
	}
	made := fmt.Sprintf("Created since: %s, %s; %d foretold%s. Gone since: %s", english.Count(machines, "Machine"), english.Count(vms, "VM"), foretold, others, english.Count(gone, "VM"))
	out = printed(o, 0, 2, terminal.Line{}.Prose(terminal.Dim, made))
	var unread []string
	for _, u := range d.Unread {
		unread = append(unread, u.Kind+" ("+u.Why+")")
	}
	if len(unread) > 0 {
		out = append(out, printed(o, 0, 2, terminal.Lead(terminal.Yellow, "Not read:", 0).Prose(terminal.Plain, report.Valid(terminal.Begin(english.First(2, unread), 200))))...)
	}
	return out
}
