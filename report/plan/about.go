package plan

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/internal/sorting"
	"drift-detector/report"
	"drift-detector/report/code"
)

// About returns the labels of the steps about something that a code is said of: "16.2", or
// "20" for all parts of a step. Those about a cluster as a whole are all of its own.
func (p *Plan) About(word code.Reason, o report.Object) []string {
	var out []string
	for _, s := range p.index().about(word, o) {
		out = append(out, s.label())
	}
	return out
}

// numbered is a step in the order of the plan.
type numbered struct {
	at     int32 // in the plan
	number int32
	part   int32 // 0: all parts
	phase  code.Phase
}

func (n *numbered) label() string {
	if n.part == 0 {
		return fmt.Sprint(n.number)
	}
	return label(int(n.number), int(n.part))
}

// stepIndex finds the steps about things.
type stepIndex struct {
	report   *report.Report
	objects  map[string][]numbered // by the names that reasons have for things, and by codes
	clusters map[string][]numbered // about a cluster as a whole
	items    map[itemKey]int32     // the last of links
	links    []link
	titles   []string         // of the clusters
	numbers  map[string]int32 // of the clusters, by their titles
}

// link is a step about an item, with the one before about the same, from 1; 0: none.
type link struct {
	numbered
	before int32
}

// itemKey finds items by their name, or that of a machine that they are about, and by the number of
// their cluster: each of theirs, noCluster for one of no known cluster, and anyCluster for all. VMs
// are found by their name alone.
type itemKey struct {
	name    string
	cluster int32
	vm      bool
}

const anyCluster, noCluster = -1, -2

// index returns the index, which is made once.
func (p *Plan) index() *stepIndex {
	if p.indexed != nil {
		return p.indexed
	}
	x := &stepIndex{report: p.Report, objects: map[string][]numbered{}, clusters: map[string][]numbered{}, titles: make([]string, len(p.Report.Clusters)), numbers: make(map[string]int32, len(p.Report.Clusters))}
	p.indexed = x
	for i := range p.Report.Clusters {
		x.titles[i] = p.Report.Clusters[i].Title()
		x.numbers[x.titles[i]] = int32(i) // of several of that title it is the last
	}
	n := int32(0)
	x.grow(p)
	for _, s := range p.Sections {
		phase := map[string]code.Phase{Before: code.Before, Restore: code.Restoring, After: code.After}[s.Phase]
		for k := range s.Chapters {
			c := &s.Chapters[k]
			own := phase
			if phase == code.After {
				own = code.Paused // what comes first in the chapter of a cluster
			}
			for i := range c.Steps {
				n++
				number, part := c.place(i)
				for _, name := range c.Steps[i].about {
					x.objects[name] = append(x.objects[name], numbered{n, int32(number), int32(part), own})
				}
			}
			if n++; len(c.Steps) > 0 {
				x.clusters[c.Cluster] = append(x.clusters[c.Cluster], numbered{n, int32(c.Number), 0, own})
			}
			for i := range c.Batches {
				n++
				x.batch(c, &c.Batches[i], numbered{n, int32(c.Batches[i].Number), 0, phase})
			}
		}
	}
	return x
}

// grow makes room for what is known of most items: a name, with any cluster and, but of VMs, with one.
func (x *stepIndex) grow(p *Plan) {
	n := 0
	for _, s := range p.Sections {
		for i := range s.Chapters {
			for k := range s.Chapters[i].Batches {
				all := s.Chapters[i].Batches[k].Items
				for j := range all {
					if n++; !all[j].vm {
						n++
					}
				}
			}
		}
	}
	x.items, x.links = make(map[itemKey]int32, n), make([]link, 0, n)
}

func (x *stepIndex) batch(c *Chapter, b *Batch, at numbered) {
	x.clusters[c.Cluster] = append(x.clusters[c.Cluster], at)
	for i := range b.Items {
		item := &b.Items[i]
		x.item(item, item.Name, at)
		for _, name := range item.machines {
			x.item(item, name, at)
		}
	}
}

func (x *stepIndex) item(item *Item, name string, at numbered) {
	x.link(itemKey{name, anyCluster, item.vm}, at)
	if item.vm {
		return
	}
	for _, cluster := range item.Clusters {
		x.link(itemKey{name, x.numbers[cluster], false}, at)
	}
	if len(item.Clusters) == 0 {
		x.link(itemKey{name, noCluster, false}, at)
	}
}

func (x *stepIndex) link(key itemKey, at numbered) {
	x.links = append(x.links, link{at, x.items[key]})
	x.items[key] = int32(len(x.links))
}

// add adds the steps about items.
func (x *stepIndex) add(out []numbered, key itemKey) []numbered {
	for n := x.items[key]; n > 0; n = x.links[n-1].before {
		out = append(out, x.links[n-1].numbered)
	}
	return out
}

// about returns the steps about something that a code is said of, in their order.
func (x *stepIndex) about(word code.Reason, o report.Object) []numbered {
	return ordered(append(slices.Clone(x.named(word, o.Name)), x.at(o)...))
}

func ordered(all []numbered) []numbered {
	if len(all) < 2 {
		return all
	}
	sorting.By(all, func(a, b numbered) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(all, func(a, b numbered) bool { return a.number == b.number && a.part == b.part })
}

// named returns the steps that name something, or the code where it has no name.
func (x *stepIndex) named(word code.Reason, name string) []numbered {
	return x.objects[cmp.Or(name, string(word))]
}

// spot tells places apart that have steps of their own.
type spot struct {
	vm            bool
	cluster, name string
	set           int // of all machines of a set; -1: of one thing
}

func (x *stepIndex) spot(o report.Object) spot {
	switch at := o.At; {
	case at.Part == report.InVMs:
		return spot{true, "", x.report.InfraMachines[at.Index].Instance.Name, -1}
	case at.Part != report.InClusters:
		return spot{false, "", o.Name, -1}
	case at.Set < 0:
		return spot{false, x.titles[at.Index], "", -1}
	default:
		return spot{false, x.titles[at.Index], o.Name, at.Set}
	}
}

// at returns the steps about the place of something.
func (x *stepIndex) at(o report.Object) []numbered {
	if o.At.Part == report.InClusters && o.At.Set >= 0 && o.At.Machine >= 0 {
		name := x.report.Clusters[o.At.Index].MachinesOf(o.At.Set)[o.At.Machine].Name
		return ordered(x.inCluster(nil, name, x.titles[o.At.Index]))
	}
	var out []numbered
	names, cluster := x.names(o)
	if o.At.Part == report.InClusters && o.At.Set < 0 {
		out = append(out, x.clusters[cluster]...)
	}
	vm := o.At.Part == report.InVMs
	for _, name := range names {
		if cluster == "" {
			out = x.add(out, itemKey{name, anyCluster, vm})
			continue
		}
		out = x.inCluster(out, name, cluster)
	}
	return ordered(out)
}

// inCluster adds the steps about items of a cluster, or of no known one.
func (x *stepIndex) inCluster(out []numbered, name, cluster string) []numbered {
	return x.add(x.add(out, itemKey{name, x.numbers[cluster], false}), itemKey{name, noCluster, false})
}

// names returns what items call a thing, or the machines of a set, and the cluster that it is of.
func (x *stepIndex) names(o report.Object) (names []string, cluster string) {
	switch o.At.Part {
	case report.InVMs:
		return []string{x.report.InfraMachines[o.At.Index].Instance.Name}, ""
	case report.InClusters:
		c := &x.report.Clusters[o.At.Index]
		if o.At.Set < 0 {
			return nil, x.titles[o.At.Index]
		}
		all := c.MachinesOf(o.At.Set)
		for k := range all {
			names = append(names, all[k].Name)
		}
		return names, x.titles[o.At.Index]
	}
	return []string{o.Name}, ""
}
