package text

import (
	"fmt"

	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/outline"
)

// branch is a row of a tree with those below it.
type branch struct {
	line terminal.Line
	kids []branch
}

// tree prints branches as clusterctl draws them.
func (p *printer) tree(before string, all []branch) {
	for i, b := range all {
		first, next := before+"├─", before+"│ "
		if i == len(all)-1 {
			first, next = before+"└─", before+"  "
		}
		hang := next + "  "
		if len(b.kids) > 0 {
			hang = next + "│ "
		}
		p.Branch(first, hang, b.line)
		p.tree(next, b.kids)
	}
}

// clusters prints each cluster as a tree, and one that has nothing to say in a row.
func (p *printer) clusters(r *report.Report) {
	if len(r.Clusters) == 0 {
		return
	}
	p.Title("CLUSTERS")
	first, before := true, false // whether the one before had branches
	for c := range outline.Clusters(r) {
		p.said = map[string]bool{}
		kids := p.branches(c)
		if !first && (before || len(kids) > 0) {
			p.Newline()
		}
		first, before = false, len(kids) > 0
		st := Style(c.Mark)
		l := terminal.Lead(st, c.Mark, 0).Field(terminal.Bold, terminal.Quoted(c.Name)).Field(st, c.Status).Prose(terminal.Plain, outline.Counts(c.Of.Counts))
		hang := "    "
		if len(kids) > 0 {
			hang = "│   "
		}
		p.Branch("", hang, p.facts(l, &c.Item))
		p.tree("", kids)
	}
	p.said = nil
}

// branches returns the sets of a cluster with their machines, and its resources.
func (p *printer) branches(c *outline.Cluster) []branch {
	var kids []branch
	for i := range c.Sets {
		if s := &c.Sets[i]; p.all || !c.Minor || s.Pool != nil {
			kids = append(kids, p.set(s))
		}
	}
	var resources []outline.Item
	for _, it := range c.Resources {
		if it.Cluster, it.Aside = "", ""; p.shows(it) {
			resources = append(resources, it)
		}
	}
	kids = append(kids, p.items(resources)...)
	return kids
}

// items returns machines or resources, with those that are alike on one branch.
func (p *printer) items(all []outline.Item) []branch {
	if !p.all {
		all = outline.Fold(all, 2)
	}
	var out []branch
	for i := range all {
		out = append(out, p.item(&all[i]))
	}
	return out
}

func (p *printer) set(s *outline.Set) branch {
	l := terminal.Line{}.Prose(terminal.Bold, s.Name)
	if s.Code != "" {
		l = l.Field(terminal.Yellow, s.Code)
	}
	b := branch{line: l.Prose(terminal.Dim, s.Brief).Prose(terminal.Plain, s.Text)}
	for _, f := range s.Facts {
		b.kids = append(b.kids, branch{line: terminal.Lead(terminal.Yellow, "? "+f.Code, 0).Prose(terminal.Plain, f.Text)})
	}
	var open []outline.Item
	healthy := s.Unlisted
	for _, it := range s.Machines {
		if s.Aside != "" { // so is the whole cluster, which says it
			it.Aside = ""
		}
		switch {
		case p.shows(it):
			open = append(open, it)
		case it.Status == string(code.Healthy) && it.Aside == "":
			healthy++
		}
	}
	b.kids = append(b.kids, p.items(open)...)
	if healthy > 0 && len(open) > 0 {
		b.kids = append(b.kids, branch{line: terminal.Lead(terminal.Green, "= Healthy", statusWidth).Prose(terminal.Plain, fmt.Sprint(healthy, " more"))})
	}
	return b
}

// item returns one thing, or several that are alike with a row for what is said of each
// alone.
func (p *printer) item(it *outline.Item) branch {
	b := branch{line: p.line(it)}
	if it.NamesOnly() && len(it.Likes) > 0 {
		most := it.Most
		if most == 0 {
			most = len(it.Likes)
		}
		list := make([]string, len(it.Likes))
		for i := range it.Likes {
			list[i] = it.Likes[i].Name
		}
		b.kids = []branch{{line: terminal.Line{}.Field(terminal.Plain, names(list, most)...)}}
		return b
	}
	for i := range it.Likes {
		like := &it.Likes[i]
		b.kids = append(b.kids, branch{line: p.facts(terminal.Line{}.Field(terminal.Plain, terminal.Quoted(like.Name)), like)})
	}
	return b
}
