package backups

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// Text writes the document for a person: what to take and what to do next, a table of 80
// columns for each place, and what to mind.
func Text(w io.Writer, d *Document) error {
	b := bufio.NewWriter(w)
	line := func(format string, args ...any) { writeLine(b, fmt.Sprintf(format, args...)) } // the first error is Flush's
	if d.Comparison != nil {
		_, _ = b.WriteString(d.Comparison.text(d.Place, d.flags) + "\n")
	}
	only := ""
	if d.Only != "" {
		only = " with " + d.Only
	}
	more := ""
	if n := d.Summary.Left; n > 0 {
		more = fmt.Sprintf(" (%d more are older)", n)
	}
	line("%s: %s%s%s, %d can be restored", d.Place, english.Count(d.Summary.Backups, "backup"), only, more, d.Summary.Restorable)
	for _, bound := range d.Summary.Bounds {
		line("%s", english.Sentence(bound))
	}
	if d.Comparison == nil {
		d.next(line)
	}
	for _, r := range d.Summary.Roots {
		line("")
		if len(d.Summary.Roots) > 1 {
			line("%s:", r.Place)
		}
		rows := [][]string{{"NAME", "RESTORE", "STARTED (UTC)", "PHASE", "SIZE"}}
		for _, s := range d.Backups {
			if s.Root == r.Place {
				rows = append(rows, s.row())
			}
		}
		_, _ = b.WriteString(narrow(rows))
	}
	d.minded(line)
	return b.Flush()
}

// minded says what is to be minded of the backups, once for those that have it in common.
func (d *Document) minded(line func(string, ...any)) {
	called := callings(d.Backups)
	of := map[string][]string{}
	var order []string
	for _, s := range d.Backups {
		for _, why := range s.Why {
			if of[why] == nil {
				order = append(order, why)
			}
			of[why] = append(of[why], called[s])
		}
	}
	for _, why := range order {
		line("%s: %s", english.First(3, of[why]), why)
	}
}

// next says of each place which backup is the newest, what is newer and left out, and how to
// find the best.
func (d *Document) next(line func(string, ...any)) {
	only := ""
	if d.Only != "" {
		only = " with " + d.Only
	}
	if places := d.elsewhere(); len(places) > 0 {
		line("Of other schedules only, which were not asked for: %s", english.First(3, places))
	}
	for i := range d.Summary.Roots {
		r := &d.Summary.Roots[i]
		place, of := d.Place, only
		if len(d.Summary.Roots) > 1 {
			place, of = Alone(r.Place, d.Place), only+" in "+r.Place
		}
		switch several := r.managementClusters(); {
		case r.newest == nil && r.read == nil:
			continue
		case r.newest == nil:
			line("Velero offers none%s that holds clusters. What %s holds can be read:", of, r.read.Name)
			line("  %s", d.flags.only(r.read.Place))
			if r.read.TakeAll != "" {
				line("%s", r.read.TakeAll)
			}
			continue
		case len(several) > 1:
			line("The backups%s are of %s, or of parts of one: Velero lists no Cluster of one with those of another. Which it is, and which is the best, --compare says:", of, english.Count(len(several), "management cluster"))
			line("  %s", d.flags.compare(place))
			for _, s := range several {
				line("The newest that can be restored%s with %s is %s:%s", of, english.First(2, s.Clusters), s.Newest, s.newest.minds())
				line("  %s", d.flags.only(s.newest.Place))
			}
		default:
			line("The newest that can be restored%s is %s; it need not be the best.%s Compare with what runs:", of, r.Newest, r.newest.minds())
			line("  %s", d.flags.compare(place))
			line("or read that one alone:")
			line("  %s", d.flags.only(r.newest.Place))
			if sign := d.sign(r); sign != "" {
				line("%s: they may be of several management clusters, which only --compare tells.", sign)
			}
		}
		r.left(line, only, d.flags)
		if r.Others != nil {
			line("%s. With those:", r.Others.text())
			line("  %s", d.flags.all(place))
		}
	}
}

// minds returns what is to be known of a backup before anything is done with it.
func (s *Backup) minds() string {
	text := ""
	if s.Misdated {
		text = " Its date is wrong, as those of all."
	}
	if s.Expired {
		text += " It has expired: a Velero that gets this store deletes it."
	}
	return text
}

// left says what is newer and left out: the newest in full.
func (r *Root) left(line func(string, ...any), only string, run Flags) {
	const most = 3
	for i, s := range r.Skipped {
		switch began := s.Started.UTC().Format("2006-01-02 15:04"); {
		case i == most:
			line("Left out, too: %d more.", len(r.Skipped)-most)
			return
		case s.newer:
			line("Left out: %s, newer, of %s: %s.", s.Name, began, s.Why)
		case s.misdated:
			line("Left out: %s, whose date is wrong: %s.", s.Name, s.Why)
		default:
			line("Left out: %s, of %s: %s; Velero offers no other of its schedule%s.", s.Name, began, s.Why, only)
		}
		if i == 0 && s.stored {
			line("  %s", run.only(s.Place))
		}
	}
}

// writeLine writes a line for a person, broken where it is wider than the table; a command,
// which is indented, is left whole.
func writeLine(b *bufio.Writer, text string) {
	text = terminal.Escape(text)
	if strings.HasPrefix(text, "  ") {
		_, _ = b.WriteString(text + "\n")
		return
	}
	at := 0
	for i, word := range strings.Split(text, " ") {
		switch wide := terminal.Width(word); {
		case i == 0:
			at = wide
		case at+1+wide > columns:
			_, _ = b.WriteString("\n  ")
			at = 2 + wide
		default:
			_ = b.WriteByte(' ')
			at += 1 + wide
		}
		_, _ = b.WriteString(word)
	}
	_ = b.WriteByte('\n')
}

// row returns a row of the table; what has no room in it is said below.
func (s *Backup) row() []string {
	can, phase := "no", s.Phase
	switch {
	case s.Empty:
		can = "no cluster"
	case s.Unlooked:
		can = "not known"
	case s.Restorable:
		can = "yes"
	}
	if len(phase) > len("PartiallyFailed") {
		phase = "not finished" // its line below has the word
	}
	return []string{s.Name, can, date(s.Started, "2006-01-02 15:04"), dash(phase), size(s.Size)}
}

// callings returns the names of backups, and the places of those that share a name.
func callings(all []*Backup) map[*Backup]string {
	places := map[string]map[string]bool{}
	for _, s := range all {
		if places[s.Name] == nil {
			places[s.Name] = map[string]bool{}
		}
		places[s.Name][s.Place] = true
	}
	called := map[*Backup]string{}
	for _, s := range all {
		if called[s] = s.Name; len(places[s.Name]) > 1 {
			called[s] = s.Place
		}
	}
	return called
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func date(t *time.Time, layout string) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(layout)
}

// size returns a number of bytes with a unit: 34.1 MB.
func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f := float64(n)
	for f >= 1000 && len(units) > 1 {
		f, units = f/1000, units[1:]
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") + " " + units[0]
}
