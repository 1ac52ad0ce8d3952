package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// few is how many things of one sort stderr names before it counts the others, where there
// are more than several.
const (
	few     = 3
	several = 5
)

// some says the first lines of one sort and counts the others, so that what matters stays
// on the terminal whatever the size of the backup. --debug says all.
func some(s *cli.Streams, say func(string, ...any), lines []string) {
	for i, l := range lines {
		if i == few && len(lines) > several && !s.Debug {
			say("and %d more like these; --debug lists all", len(lines)-few)
			return
		}
		if !s.Debug {
			l = brief(l, room(len(lines)))
		}
		say("%s", l)
	}
}

// room returns how many characters of each of n messages are said.
func room(n int) int {
	switch {
	case n > several:
		return 100
	case n > 2:
		return 250
	default:
		return 600
	}
}

// brief returns the beginning of a text, in so many characters.
func brief(s string, most int) string {
	if all := []rune(s); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return s
}

// unseen is a place of which not everything is known.
type unseen struct {
	endpoint string
	fault    *infra.Fault // may be nil
}

// notListed returns the listings that do not hold everything.
func notListed(inv infra.Inventory) []unseen {
	var out []unseen
	for _, l := range inv.Listings {
		if l.State != code.ScopeComplete && l.NodeState == "" {
			out = append(out, unseen{l.Endpoint, l.Fault})
		}
	}
	return out
}

// itemsUnread names items of the backup, or kinds of a management cluster that runs, on which
// verdicts rest and that could not be read, at most three of them, and says what to do; empty
// when there are none.
func itemsUnread(all []detector.Error, live bool) (text, hint string) {
	var items []string
	n := 0
	for _, e := range all {
		if !e.Unread {
			continue
		}
		if n++; n <= few {
			items, hint = append(items, e.Object+" ("+brief(e.Message, 200)+")"), e.Hint
		}
	}
	switch {
	case n == 0:
		return "", ""
	case n > few:
		items = append(items, fmt.Sprintf("%d more", n-few))
	}
	what := english.Count(n, "object") + " of the backup"
	if live {
		what = english.Count(n, "kind") + " of the management cluster"
	}
	return fmt.Sprintf("could not read %s: %s", what, strings.Join(items, "; ")), hint
}

// incomplete describes places that were not seen whole and what else is missing, or
// is nil when there is nothing: the first line names the hosts that are needed, the
// hints say each thing to do once.
func incomplete(all []unseen, items, itemsHint string) error {
	var places, order []string
	hosts := map[string][]string{} // by hint
	for i, u := range all {
		place := u.endpoint
		if f := u.fault; f != nil {
			if i < few {
				place += " (" + string(f.Reason) + ": " + brief(strings.TrimPrefix(f.Message, u.endpoint+" "), room(len(all))) + ")"
			}
			if f.Hint != "" && hosts[f.Hint] == nil {
				order = append(order, f.Hint)
			}
			hosts[f.Hint] = append(hosts[f.Hint], u.endpoint)
		}
		places = append(places, place)
	}
	var missing []string
	if len(places) > 0 {
		text := strings.Join(places[:min(len(places), few)], "; ")
		if n := len(places) - few; n > 0 {
			text += "; and " + english.Count(n, "more place")
		}
		missing = append(missing, "could not list all of "+text)
	}
	if items != "" {
		missing = append(missing, items)
	}
	if len(missing) == 0 {
		return nil
	}
	hints := len(order)
	order = order[:min(hints, few)]
	for i, hint := range order {
		order[i] = brief(hint, room(hints))
		if hints > 1 {
			slices.Sort(hosts[hint])
			order[i] = english.First(few, slices.Compact(hosts[hint])) + ": " + order[i]
		}
	}
	if n := hints - few; n > 0 {
		order = append(order, fmt.Sprintf("and %d more, in the report", n))
	}
	if items != "" {
		order = append(order, itemsHint)
	}
	return &cli.IncompleteError{Message: "incomplete: " + strings.Join(missing, "; "), Hints: order}
}

// missed returns what could not be seen of places, which may be nil, with the clusters
// whose Node lists were asked for, not read, and would have been evidence: the first
// three by name.
func missed(places error, lists []backup.ClusterID) error {
	n := len(lists)
	if n == 0 {
		return places
	}
	text := "the Node list of " + clusterNames(lists)
	if n > 1 {
		text = "the Node lists of " + clusterNames(lists)
	}
	what, hints := "could not read "+text+": machines whose VM was not found there are Unknown", []string{detector.HintSkipNodes}
	message := "incomplete: " + what
	var other *cli.IncompleteError
	if errors.As(places, &other) {
		message = other.Message + "; " + what
		hints = append(other.Hints, hints...)
	}
	return &cli.IncompleteError{Message: message, Hints: hints}
}
