package plan

import (
	"fmt"
	"slices"

	"drift-detector/infra/shell"
)

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

// read returns those of the variables that the commands read.
func (p *Plan) read(all []Variable) []Variable {
	used := map[string]bool{}
	note := func(lines []shell.Command) {
		for _, c := range lines {
			c.Variables(func(name string) { used[name] = true })
		}
	}
	for _, s := range p.Sections {
		for _, c := range s.Chapters {
			for i := range c.Steps {
				note(c.Steps[i].Lines)
			}
			for _, b := range c.Batches {
				for i := range b.Steps {
					note(b.Steps[i].Lines)
				}
				for _, item := range b.Items {
					note(slices.Concat(item.Commands...))
				}
			}
		}
	}
	for name := range used {
		used[backupFile] = used[backupFile] || IsContext(name) // whose kubeconfigs are extracted from it
	}
	return slices.DeleteFunc(slices.Clone(all), func(v Variable) bool { return !used[v.Name] })
}
