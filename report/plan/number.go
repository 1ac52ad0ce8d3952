package plan

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// number gives each chapter's steps and each batch its number. They go through the
// whole plan and do not depend on what is printed of it.
func (p *Plan) number() {
	n := 0
	for s := range p.Sections {
		for k := range p.Sections[s].Chapters {
			c := &p.Sections[s].Chapters[k]
			if len(c.Steps) > 0 {
				c.Number = n + 1
				n++
				if c.Apart {
					n += len(c.Steps) - 1
				}
			}
			for i := range c.Batches {
				n++
				c.Batches[i].Number = n
				for k := range c.Batches[i].Items {
					c.Batches[i].Items[k].Number = k + 1
				}
			}
		}
	}
}

// place returns the number of a step, and which part of that it is.
func (c *Chapter) place(i int) (number, part int) {
	if c.Apart {
		return c.Number + i, 1
	}
	return c.Number, i + 1
}

// label returns a number with that of a part.
func label(number, part int) string { return fmt.Sprintf("%d.%d", number, part) }

// Label returns the number of a step of the chapter: 3.1 is the first part of step 3.
func (c *Chapter) Label(i int) string { return label(c.place(i)) }

// Rows returns the checklist: what there is to do, in order.
func (p *Plan) Rows() []Row {
	var out []Row
	for _, s := range p.Sections {
		for i := range s.Chapters {
			c := &s.Chapters[i]
			add := func(number int, cluster, what string, machines int) {
				out = append(out, Row{number, s.Phase, cluster, what, machines})
			}
			switch {
			case c.Apart:
				for k := range c.Steps {
					add(c.Number+k, c.Cluster, brief(c.Steps[k].Text), 0)
				}
			case len(c.Steps) > 0:
				add(c.Number, c.Cluster, c.What, 0)
			}
			for k := range c.Batches {
				b := &c.Batches[k]
				add(b.Number, cmp.Or(b.Cluster, b.clusters()), b.Title, b.machines())
			}
		}
	}
	return out
}

// clusters names those that all items certainly are of; empty when that is not known.
func (b *Batch) clusters() string {
	var out []string
	known := map[string]bool{}
	for i := range b.Items {
		if len(b.Items[i].Clusters) != 1 {
			return ""
		}
		if name := b.Items[i].Clusters[0]; !known[name] {
			known[name] = true
			out = append(out, name)
		}
	}
	return listed(out)
}

// machines counts what a batch is about.
func (b *Batch) machines() int {
	n := 0
	for i := range b.Items {
		n += max(1, len(b.Items[i].machines))
	}
	return n
}

// brief returns the beginning of a text, for a row.
func brief(text string) string {
	const width = 70
	if i := strings.IndexAny(text, ".:;,("); i > 0 && i < width && (i+1 == len(text) || text[i+1] == ' ' || text[i] == '(') {
		return strings.TrimSpace(text[:i])
	}
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	text = string([]rune(text)[:width])
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		text = text[:i]
	}
	return text + " …"
}

// Label returns the number of a step of the batch: 3.1 is the first part of step 3.
func (b *Batch) Label(n int) string { return label(b.Number, n+1) }
