package text

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/terminal"
	"drift-detector/report/outline"
)

// section prints a section, unless there is nothing in it to say.
func (p *printer) section(s outline.Section) {
	if !slices.ContainsFunc(s.Items, p.shows) {
		return
	}
	count := s.Count
	if count == "" {
		count = fmt.Sprint(s.Findings())
	}
	p.Title(strings.ToUpper(s.Title) + " (" + count + ")")
	for i := range s.Items {
		if it := &s.Items[i]; p.shows(*it) {
			p.Print(2, 4, p.line(it))
			p.likes(it, 6, "")
		}
	}
	if s.Hint != "" {
		p.Print(4, 6, terminal.Lead(terminal.Bold, "Hint:", 0).Prose(terminal.Plain, s.Hint))
	}
}

func (p *printer) shows(it outline.Item) bool { return p.all || !it.Minor }

// likes prints a row for each of the items that are shown as one; all says where those
// are for which there is no room.
func (p *printer) likes(it *outline.Item, indent int, all string) {
	for i := range it.Likes {
		if i == it.Most && i > 0 && !p.all {
			p.Print(indent, indent+2, terminal.Lead(terminal.Dim, fmt.Sprintf("and %d more%s", len(it.Likes)-i, all), 0))
			return
		}
		l := &it.Likes[i]
		p.Print(indent, indent+2, p.facts(terminal.Lead(terminal.Plain, l.Name+":", 0).Prose(terminal.Plain, l.Text), l))
	}
}

const statusWidth = 9 // of the mark, a space and the longest status

// line returns an item as a row: mark and status, what it is called, and all that is said
// about it.
func (p *printer) line(it *outline.Item) terminal.Line {
	st := Style(it.Mark)
	l := terminal.Lead(st, it.Mark, 0)
	if it.Status != "" {
		l = terminal.Lead(st, it.Mark+" "+it.Status, statusWidth)
	}
	if n := len(it.Likes); n > 0 && it.What != "" {
		l = l.Field(terminal.Plain, fmt.Sprint(n), it.What)
	} else if n > 0 {
		l = l.Field(terminal.Bold, it.Code).Prose(terminal.Dim, fmt.Sprintf("(%d)", n))
		return p.facts(l, it)
	}
	if it.Kind != "" {
		l = l.Field(terminal.Plain, it.Kind)
	}
	if it.Named() {
		l = l.Field(terminal.Plain, terminal.Quoted(it.Name))
	}
	if it.Code != "" {
		l = l.Field(st, it.Code)
	}
	switch {
	case it.Cluster != "" && it.Set == "":
		l = l.Named(terminal.Dim, "in", it.Cluster)
	case len(it.Clusters) > 0 && p.all:
		l = l.Field(terminal.Bold, names(it.Clusters, len(it.Clusters))...)
	case len(it.Clusters) > 0:
		l = l.Field(terminal.Bold, names(it.Clusters, maxClusters)...)
	}
	if it.Aside != "" {
		l = l.Prose(terminal.Dim, "("+it.Aside+")")
	}
	return p.facts(l.Prose(terminal.Plain, it.Text), it)
}

// facts adds what is said about an item. What becomes of machines is said once in
// a cluster: all that lack the same have the same to say.
func (p *printer) facts(l terminal.Line, it *outline.Item) terminal.Line {
	for i := range it.Facts {
		f := &it.Facts[i]
		if f.Detail {
			continue
		}
		label := f.Inline()
		if f.Change {
			l = l.Field(terminal.Dim, append(strings.Fields(label+":"), terminal.Quoted(f.Values[0].Text), "->", terminal.Quoted(f.Values[1].Text))...)
			continue
		}
		named := label
		if label == "VM" {
			named = ""
		}
		for _, v := range f.Values {
			switch {
			case v.Detail:
			case v.Label == "in": // a place, whose name is several words
				l = l.Prose(terminal.Dim, "in "+v.Text)
			default:
				l = l.Named(terminal.Dim, strings.TrimSpace(named+" "+v.Label), v.Text)
				named = ""
			}
		}
		said := f.Said()
		if it.Set != "" && f.Code != "" && p.said[said] {
			said = f.Code + ", as above"
		} else if p.said != nil && !p.all {
			p.said[said] = true
		}
		if label != "" && said != "" {
			said = label + ": " + said
		}
		st := terminal.Plain
		if label == "warning" {
			st = terminal.Yellow
		}
		l = l.Prose(st, said)
	}
	return l
}
