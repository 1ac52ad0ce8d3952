package markdown

import (
	"fmt"
	"strings"
)

// section is a part of the document that may be cut: its title, and items of
// which the most urgent come first.
type section struct {
	title string // with a count that is never cut
	intro string // between title and items: the head of a table
	most  int    // bytes for its items; 0 is no limit of its own
	items []item

	shown, detailed int // items, and those of them with details
}

// item is one finding, or some that are alike.
type item struct {
	place   string // where it is, as foreign text: a cluster
	n       int    // how many findings
	text    string
	details string // folded; the first to be cut
}

// rest is the most bytes of the sentence that says what was cut.
const rest = 450

// spend chooses what is shown, and returns of how many shown items the details are
// not. First come two items of each section, so that none is left out as a
// whole; then items by urgency, which is the order of the sections; then details.
func spend(all []*section, budget int) (cut int) {
	for _, s := range all {
		if len(s.items) > 0 {
			budget -= len(s.title) + len(s.intro) + rest
		}
	}
	for _, s := range all {
		budget -= s.take(2, budget)
	}
	for _, s := range all {
		budget -= s.take(len(s.items), budget)
	}
	for _, s := range all {
		for _, it := range s.items[:s.shown] {
			if len(it.details) > budget {
				break
			}
			budget -= len(it.details)
			s.detailed++
		}
		for _, it := range s.items[s.detailed:s.shown] {
			if it.details != "" {
				cut++
			}
		}
	}
	return cut
}

// take shows items up to a number of them while they fit, and returns the bytes
// that they take.
func (s *section) take(upTo, budget int) int {
	if s.most > 0 {
		spent := 0
		for _, it := range s.items[:s.shown] {
			spent += len(it.text)
		}
		budget = min(budget, s.most-spent)
	}
	taken := 0
	for s.shown < min(upTo, len(s.items)) && taken+len(s.items[s.shown].text) <= budget {
		taken += len(s.items[s.shown].text)
		s.shown++
	}
	return taken
}

// write writes the section; one without items is not there.
func (s *section) write(b *strings.Builder) {
	if len(s.items) == 0 {
		return
	}
	b.WriteString(s.title)
	b.WriteString(s.intro)
	for i, it := range s.items[:s.shown] {
		b.WriteString(it.text)
		if i < s.detailed {
			b.WriteString(it.details)
		}
	}
	b.WriteString(s.more())
}

// more says what was cut: "and 312 more: 305 in `tenant-a/x`, 7 in 2 other
// places; the whole list is in the JSON report".
func (s *section) more() string {
	hidden := s.items[s.shown:]
	if len(hidden) == 0 {
		return ""
	}
	total, by, order := 0, map[string]int{}, []string{}
	for _, it := range hidden {
		place := clean(it.place)
		total += it.n
		if by[place] == 0 {
			order = append(order, place)
		}
		by[place] += it.n
	}
	text := fmt.Sprintf("\n… and %d more", total)
	if len(order) > 1 || order[0] != "" {
		text += named(order, by)
	}
	return text + "; the whole list is in the JSON report.\n"
}

// named says how many there are where, for as many places as have room.
func named(order []string, by map[string]int) string {
	var parts []string
	room, places, n := 250, 0, 0
	for _, place := range order {
		part := fmt.Sprintf("%d in %s", by[place], Code(place))
		if place == "" || len(part) > room {
			places++
			n += by[place]
			continue
		}
		room -= len(part) + 2
		parts = append(parts, part)
	}
	switch {
	case places > 0 && len(parts) > 0:
		parts = append(parts, fmt.Sprintf("%d elsewhere", n))
	case places > 0:
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
