package backups

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
)

// Text writes the document for a person: a table, what to mind, and what to do next.
func Text(w io.Writer, d *Document) error {
	b := bufio.NewWriter(w)
	line := func(format string, args ...any) {
		_, _ = b.WriteString(terminal.Escape(fmt.Sprintf(format, args...)) + "\n") // the first error is Flush's
	}
	only := ""
	if d.Only != "" {
		only = " with " + d.Only
	}
	if d.Comparison != nil {
		_, _ = b.WriteString(d.Comparison.text() + "\n")
	}
	line("%s: %s%s, %d can be restored", d.Place, english.Count(d.Summary.Backups, "backup"), only, d.Summary.Restorable)
	if len(d.Backups) > 0 {
		line("")
		_, _ = b.WriteString(terminal.Table(rows(d.Backups)))
	}
	called := callings(d.Backups)
	for _, s := range d.Backups {
		for _, why := range s.Why {
			line("%s: %s", called[s], why)
		}
	}
	if d.Comparison == nil && d.Summary.Newest != "" {
		line("")
		line("The newest that can be restored is %s; it need not be the best. Compare with what runs:", d.Summary.Newest)
		line("  drift-detector backups %s --compare%s", terminal.Quoted(d.Place), d.again)
	}
	return b.Flush()
}

// rows are the table. A terminal of 80 columns has no room for all of it: what decides is
// where no line breaks.
func rows(all []*Backup) [][]string {
	rows := [][]string{{"NAME", "RESTORE", "STARTED (UTC)", "TOOK", "PHASE", "ERRORS", "WARNINGS", "EXPIRES", "SIZE", "SCHEDULE"}}
	called := callings(all)
	several := false // prefixes: the name alone does not lead to the backup
	for _, s := range all {
		several = several || path.Dir(s.Place) != path.Dir(all[0].Place)
	}
	if several {
		rows[0] = append(rows[0], "PLACE")
	}
	for _, s := range all {
		took, can := "-", "no"
		if s.Started != nil && s.Completed != nil {
			took = s.Completed.Sub(*s.Started).Round(time.Second).String()
		}
		if s.Restorable {
			can = "yes"
		}
		expires := date(s.Expires, time.DateOnly)
		if s.Expired {
			expires += " (past)"
		}
		rows = append(rows, []string{
			called[s], can, date(s.Started, "2006-01-02 15:04:05"), took, dash(s.Phase),
			strconv.Itoa(s.Errors), strconv.Itoa(s.Warnings), expires, size(s.Size), dash(s.Schedule),
		})
		if several {
			rows[len(rows)-1] = append(rows[len(rows)-1], s.Place)
		}
	}
	return rows
}

// callings are the names of backups, and the places of those that share a name.
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

// size is a number of bytes with a unit: 34.1 MB.
func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	f := float64(n)
	for f >= 1000 && len(units) > 1 {
		f, units = f/1000, units[1:]
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") + " " + units[0]
}
