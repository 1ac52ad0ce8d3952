package plan

import (
	"fmt"
	"slices"

	"drift-detector/report"
	"drift-detector/report/code"
)

// About returns the labels of the steps about something that a code is said of: "16.2", or
// "20" for all parts of a step. Those about a cluster as a whole are all of its own.
func (p *Plan) About(word code.Reason, o report.Object) []string {
	names, cluster := p.names(o)
	var out []string
	add := func(is bool, label string) {
		if is && !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	whole := o.At.Part == report.InClusters && o.At.Set < 0
	for _, s := range p.Sections {
		for k := range s.Chapters {
			c := &s.Chapters[k]
			for i := range c.Steps {
				about := c.Steps[i].about
				add(slices.Contains(about, o.Name) || o.Name == "" && slices.Contains(about, string(word)), c.label(i))
			}
			add(whole && c.Cluster == cluster && len(c.Steps) > 0, fmt.Sprint(c.Number))
			for i := range c.Batches {
				b := &c.Batches[i]
				is := slices.ContainsFunc(b.Items, func(i Item) bool { return i.vm == (o.At.Part == report.InVMs) && i.isAbout(names, cluster) })
				add(is || whole && c.Cluster == cluster, fmt.Sprint(b.Number))
			}
		}
	}
	return out
}

// names are what items call a thing, or the machines of a set, and the cluster that it is of.
func (p *Plan) names(o report.Object) (names []string, cluster string) {
	switch o.At.Part {
	case report.InVMs:
		return []string{p.report.InfraMachines[o.At.Index].Instance.Name}, ""
	case report.InClusters:
		c := &p.report.Clusters[o.At.Index]
		if o.At.Set < 0 {
			return nil, c.Title()
		}
		for k, m := range c.Sets()[o.At.Set].Machines {
			if o.At.Machine < 0 || o.At.Machine == k {
				names = append(names, m.Name)
			}
		}
		return names, c.Title()
	}
	return []string{o.Name}, ""
}

// isAbout reports whether the item is about one of several things of a cluster.
func (i *Item) isAbout(names []string, cluster string) bool {
	if cluster != "" && len(i.Clusters) > 0 && !slices.Contains(i.Clusters, cluster) {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool { return n == i.Name || slices.Contains(i.machines, n) })
}
