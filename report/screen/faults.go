package screen

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/terminal"
	"drift-detector/report"
)

// fault is a place of which not everything was read, or another error.
type fault struct {
	where, reason, message, hint string
	places                       int      // of this reason and hint
	clusters                     []string // that need them
}

// faults returns all of them; those of one reason and hint are one.
func faults(r *report.Report) []fault {
	var out []fault
	at := map[[2]string]int{}
	add := func(f fault) {
		key := [2]string{f.reason, f.hint}
		if i, known := at[key]; known && f.reason+f.hint != "" {
			out[i].places++
			out[i].clusters = append(out[i].clusters, f.clusters...)
			return
		}
		at[key], out = len(out), append(out, f)
	}
	for _, s := range r.Incomplete() {
		f := fault{where: strings.TrimSpace(s.Provider + " " + cmp.Or(s.Location, s.Endpoint)), places: 1, clusters: s.Clusters}
		if s.Error != nil {
			f.reason, f.message, f.hint = string(s.Error.Reason), s.Error.Message, s.Error.Hint
		}
		add(f)
	}
	for _, e := range r.OtherErrors() {
		add(fault{where: english.Join(" ", e.Scope, e.Object), message: e.Message, hint: e.Hint, places: 1})
	}
	for i := range out {
		if n := out[i].places - 1; n > 0 {
			out[i].where += fmt.Sprintf(" and %d more", n)
		}
	}
	return out
}

// counted returns as many of a list as so many columns hold, and how many others there are;
// empty where there is no room for any.
func counted(list []string, width int) string {
	for n := len(list); n > 0; n-- {
		if s := terminal.Escape(english.First(n, list)); terminal.Width(s) <= width {
			return s
		}
	}
	return ""
}
