package screen

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/report"
	"drift-detector/report/english"
	"drift-detector/report/terminal"
)

// begin is the beginning of a message, in so many columns.
func begin(s string, width int) string {
	if all := []rune(terminal.Escape(s)); len(all) > width {
		return string(all[:max(width-1, 0)]) + "…"
	}
	return s
}

// fault is a place of which not everything was read, or another error.
type fault struct{ where, reason, message, hint string }

// faults are all of them; those of one reason and hint are one.
func faults(r *report.Report) []fault {
	var out []fault
	more := map[[2]string]int{}
	at := map[[2]string]int{}
	add := func(f fault) {
		key := [2]string{f.reason, f.hint}
		if _, known := at[key]; known && f.reason+f.hint != "" {
			more[key]++
			return
		}
		at[key], out = len(out), append(out, f)
	}
	for _, s := range r.Incomplete() {
		f := fault{where: strings.TrimSpace(s.Provider + " " + cmp.Or(s.Location, s.Endpoint))}
		if s.Error != nil {
			f.reason, f.message, f.hint = string(s.Error.Reason), strings.TrimPrefix(s.Error.Message, s.Endpoint+" "), s.Error.Hint
		}
		add(f)
	}
	for _, e := range r.OtherErrors() {
		add(fault{english.Join(" ", e.Scope, e.Object), "", e.Message, e.Hint})
	}
	for i := range out {
		if n := more[[2]string{out[i].reason, out[i].hint}]; n > 0 {
			out[i].where += fmt.Sprintf(" and %d more", n)
		}
	}
	return out
}
