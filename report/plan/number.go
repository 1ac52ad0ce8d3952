package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"drift-detector/report"
)

// The phases of a plan.
const (
	Before  = "before"
	Restore = "restore"
	After   = "after"
)

// Row is a line of the checklist.
type Row struct {
	Number               int
	Phase, Cluster, What string
	Machines             int // how many findings it is about; 0 when about the restore itself
}

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

// Narrowing is the part of a plan that somebody wants to see. Its zero value is all.
type Narrowing struct {
	Clusters   []string // names, or namespace/name; any of them
	Namespaces []string // any of them
	Phase      string   // Before, Restore or After
	Step       int      // a number of the checklist
}

// String says it in the words of the command line.
func (n Narrowing) String() string {
	parts := []string{(&report.Filter{Clusters: n.Clusters, Namespaces: n.Namespaces}).String()}
	if n.Phase != "" {
		parts = append(parts, "--phase "+n.Phase)
	}
	if n.Step != 0 {
		parts = append(parts, fmt.Sprintf("--step %d", n.Step))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// shows reports whether a cluster was asked for.
func (n Narrowing) shows(cluster string) bool {
	namespace, name, _ := strings.Cut(cluster, "/")
	return (len(n.Clusters) == 0 || slices.Contains(n.Clusters, cluster) || slices.Contains(n.Clusters, name)) &&
		(len(n.Namespaces) == 0 || slices.Contains(n.Namespaces, namespace))
}

// AllClusters reports whether no cluster was asked for.
func (n Narrowing) AllClusters() bool { return len(n.Clusters)+len(n.Namespaces) == 0 }

// Narrow leaves in the plan what was asked for, under the numbers of the whole plan.
// What concerns all clusters stays in the checklist when clusters are asked for. It
// returns an error, in words for the command line, when a cluster, a namespace, the
// phase or the step is unknown.
func (p *Plan) Narrow(by Narrowing) error {
	if by.Phase != "" && by.Phase != Before && by.Phase != Restore && by.Phase != After {
		return fmt.Errorf("--phase %s is not known; it is before, restore or after", by.Phase)
	}
	rows := p.Rows()
	if by.Step < 0 || by.Step > len(rows) {
		return fmt.Errorf("--step %d: the plan has steps 1 to %d", by.Step, len(rows))
	}
	if err := by.known(p.clusters); err != nil {
		return err
	}
	p.Of = by
	for s := range p.Sections {
		section := &p.Sections[s]
		var chapters []Chapter
		for _, c := range section.Chapters {
			if by.Phase != "" && by.Phase != section.Phase {
				continue
			}
			if c.narrow(by); len(c.Steps)+len(c.Batches) > 0 {
				chapters = append(chapters, c)
			}
		}
		section.Chapters = chapters
	}
	own := map[int]Row{}
	for _, r := range p.Rows() {
		own[r.Number] = r
	}
	if by.Step != 0 && len(own) == 0 {
		return fmt.Errorf("--step %d is of another cluster or phase: leave out --cluster, --namespace and --phase", by.Step)
	}
	p.Checklist = nil
	for _, r := range rows {
		if _, printed := own[r.Number]; printed {
			r = own[r.Number]
		} else if r.Cluster != "" || !by.AllClusters() && r.Machines > 0 || by.Phase != "" && by.Phase != r.Phase {
			continue
		}
		p.Checklist = append(p.Checklist, r)
	}
	p.Unknown = p.limits(by)
	p.Variables = p.read(p.Variables)
	return nil
}

// known returns an error when nothing in the plan has a name.
func (n Narrowing) known(clusters []string) error {
	for _, c := range n.Clusters {
		if !slices.ContainsFunc(clusters, (Narrowing{Clusters: []string{c}}).shows) {
			return fmt.Errorf("--cluster %s: the report has no such cluster; it has %s", c, listed(clusters))
		}
	}
	for _, c := range n.Namespaces {
		if !slices.ContainsFunc(clusters, (Narrowing{Namespaces: []string{c}}).shows) {
			return fmt.Errorf("--namespace %s: the report has no cluster there; it has %s", c, listed(clusters))
		}
	}
	if len(clusters) > 0 && !slices.ContainsFunc(clusters, n.shows) {
		return fmt.Errorf("no cluster matches both --cluster and --namespace; the report has %s", listed(clusters))
	}
	return nil
}

// narrow leaves in a chapter what was asked for.
func (c *Chapter) narrow(by Narrowing) {
	if by.Step != 0 && c.Apart && by.Step >= c.Number && by.Step < c.Number+len(c.Steps) {
		c.Steps, c.Number = c.Steps[by.Step-c.Number:][:1], by.Step
	}
	if !by.AllClusters() && (c.Cluster == "" || !by.shows(c.Cluster)) || by.Step != 0 && by.Step != c.Number {
		c.Steps = nil
	}
	var batches []Batch
	for _, b := range c.Batches {
		if !by.AllClusters() && b.Cluster == "" {
			b.Items = slices.DeleteFunc(slices.Clone(b.Items), func(i Item) bool { return len(i.Clusters) > 0 && !slices.ContainsFunc(i.Clusters, by.shows) })
		}
		if len(b.Items) > 0 && (b.Cluster == "" || by.shows(b.Cluster)) && (by.Step == 0 || by.Step == b.Number) {
			batches = append(batches, b)
		}
	}
	c.Batches = batches
	if by.Step != 0 || !by.AllClusters() && c.Apart {
		c.Notes = nil
	}
}
