package markdown

import (
	"fmt"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/outline"
)

func newSection(s outline.Section) *section {
	out := &section{}
	for i := range s.Items {
		it := &s.Items[i]
		if it.Minor {
			continue
		}
		out.items = append(out.items, item{place: it.Cluster, n: it.Findings(), text: itemText(it, s.Title), details: details(it)})
	}
	count := s.Count
	if count == "" {
		count = fmt.Sprint(s.Findings())
	}
	out.title = fmt.Sprintf("\n### %s (%s)\n\n", s.Title, count)
	return out
}

// itemText returns what must be known before anybody acts: what it is, why, where its VM
// is, what will become of it, what to do first.
func itemText(it *outline.Item, section string) string {
	var b strings.Builder
	note := !it.Named() && len(it.Likes) == 0
	b.WriteString("- " + heading(it, section))
	switch {
	case note:
		b.WriteString(": " + prose(it.Text) + "\n")
	case len(it.Likes) > 0 && it.What == "":
		b.WriteString("\n" + likes(it))
	default:
		b.WriteString("\n" + line("Why", prose(english.Join(": ", it.Code, it.Text))))
	}
	const most = 10
	facts := 0
	for i := range it.Facts {
		f := &it.Facts[i]
		if f.Detail && !(f.Label == "VM" && it.Name != "") {
			continue
		}
		if facts++; facts <= most {
			b.WriteString(line(f.Label, said(f)))
		}
	}
	if facts > most {
		fmt.Fprintf(&b, "  - and %d more\n", facts-most)
	}
	if len(it.Steps) > 0 {
		s := &it.Steps[0]
		fmt.Fprintf(&b, "  - To do first (%s, %s): %s\n", prose(s.When), prose(s.Who), prose(s.Text))
	}
	return b.String()
}

// heading returns what an item is, and where.
func heading(it *outline.Item, section string) string {
	var parts []string
	add := func(s string) { parts = append(parts, s) }
	if it.Status != "" && it.Status != section && len(it.Likes) == 0 || it.What == "" && len(it.Likes) > 0 {
		add(strong(it.Status))
	}
	switch {
	case it.What != "" && len(it.Likes) > 0:
		add(fmt.Sprintf("**%d %s**", len(it.Likes), it.What))
	case len(it.Likes) > 0:
		add(fmt.Sprintf("%s (%d)", short(it.Code), len(it.Likes)))
	case !it.Named() && it.Code != "":
		add(short(it.Code))
	}
	if it.Kind != "" {
		add(prose(it.Kind))
	}
	if it.Named() {
		add("**" + Name(it.Name) + "**")
	}
	text := strings.Join(parts, " ")
	if it.Cluster != "" && it.Name+it.Set != "" {
		text += " in " + Name(it.Cluster)
	}
	of := it.Clusters
	if it.Cluster != "" && it.Name+it.Set == "" {
		of = []string{it.Cluster}
	}
	if len(of) > 0 {
		named := make([]string, len(of))
		for i, c := range of {
			named[i] = Name(c)
		}
		text += ", of " + english.First(5, named)
	}
	if it.Set != "" && len(it.Likes) == 0 {
		role := prose(it.Role)
		if role == "" {
			role = "machine"
		}
		text += ", " + role + " of " + Name(it.Set)
	}
	if it.Aside != "" {
		text += " (" + prose(it.Aside) + ")"
	}
	return text
}

func likes(it *outline.Item) string {
	var b strings.Builder
	for i := range it.Likes {
		if l := &it.Likes[i]; i < it.Most {
			b.WriteString(line("Found", english.Join(": ", Name(l.Name), prose(l.Text))))
		}
	}
	if n := len(it.Likes) - it.Most; n > 0 {
		fmt.Fprintf(&b, "  - and %d more\n", n)
	}
	return b.String()
}

// line returns a line of an item, or nothing when there is nothing to say.
func line(label, s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("  - %s\n", english.Join(": ", prose(label), s))
}

// said returns what a fact says.
func said(f *outline.Fact) string {
	var values []string
	for _, v := range f.Values {
		values = append(values, english.Join(" ", v.Label, Name(v.Text)))
	}
	sep := ", "
	if f.Change {
		sep = " → "
	}
	return english.Join(", ", strings.Join(values, sep), prose(f.Said()))
}

// details returns what a reader may unfold: the names of what is alike, the rest of the
// evidence, all steps with their commands.
func details(it *outline.Item) string {
	if it.What != "" && len(it.Likes) > 0 {
		const most = 100
		var names []string
		for i := range it.Likes {
			names = append(names, Name(it.Likes[i].Name))
		}
		return folded("Their names", "  - "+english.First(most, names)+"\n")
	}
	var b strings.Builder
	for i := range it.Facts {
		if f := &it.Facts[i]; f.Detail && f.Label != "VM" {
			b.WriteString(line(f.Label, said(f)))
		}
	}
	b.WriteString(steps(it.Steps))
	return folded("More about it", b.String())
}

func steps(all []report.Step) string {
	var b strings.Builder
	for i, s := range all {
		fmt.Fprintf(&b, "  - Step %d (%s, %s): %s\n", i+1, prose(s.When), prose(s.Who), prose(s.Text))
		// A fence is what a forge copies at one click, and a terminal runs the next
		// line of a paste whatever has become of the one before.
		for _, line := range s.Commands {
			b.WriteString("\n" + fenced("    ", []string{line}))
		}
	}
	return b.String()
}

// folded hides text behind a title, within an item of a list.
func folded(title, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n  <details><summary>%s</summary>\n\n%s\n  </details>\n\n", title, text)
}
