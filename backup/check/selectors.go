package check

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
)

var ruleOverlap = rule("overlap")

// overlaps reports MachineDeployments and MachineSets that would adopt what belongs
// to another of their kind, or to a control plane. An owner looks through its
// whole namespace (Cluster API core/reconcilers/machinedeployment and
// machineset v1.14.0).
func overlaps(e *examination) []Finding {
	var found []Finding
	var all offspring
	for _, kind := range []string{"MachineDeployment", "MachineSet"} {
		groups, machines := e.Groups, e.Machines
		for len(groups) > 0 {
			at := placeOf(&groups[0].Meta)
			all = offspring{all: all.all[:0], listed: all.listed[:0]}
			here := groups[:leading(groups, func(g *backup.Group) bool { return placeOf(&g.Meta) == at })]
			groups = groups[len(here):]
			for i := range here {
				if g := &here[i]; g.Kind == kind {
					all.add(kind, g.Name, g.Cluster, g.TemplateLabels)
				}
			}
			if kind == "MachineSet" {
				machines = machines[leading(machines, func(m *backup.Machine) bool { return placeOf(&m.Meta).before(at) }):]
				own := machines[:leading(machines, func(m *backup.Machine) bool { return placeOf(&m.Meta) == at })]
				all.addControlPlanes(own)
			}
			for i := range here {
				if g := &here[i]; g.Kind == kind {
					found = append(found, all.overlap(g)...)
				}
			}
		}
	}
	return found
}

// leading returns how many elements a list begins with that fit.
func leading[T any](list []T, fits func(*T) bool) int {
	for i := range list {
		if !fits(&list[i]) {
			return i
		}
	}
	return len(list)
}

// namespace is a namespace of a backup.
type namespace struct {
	backup    int
	namespace string
}

func placeOf(m *backup.Meta) namespace { return namespace{m.Backup, m.Namespace} }

func (n namespace) before(o namespace) bool {
	return n.backup < o.backup || n.backup == o.backup && n.namespace < o.namespace
}

// offspring is the labels that the owners in a namespace give what they make.
type offspring struct {
	all    []child
	listed []*child // all of them, once there are no more to come
	// labeled are those with a label, where there are many in all: so that a selector is
	// asked about few of them.
	labeled map[label][]*child
}

// child is what one owner makes.
type child struct {
	kind, owner string
	cluster     backup.ClusterID
	labels      backup.Labels
}

type label struct{ key, value string }

func (o *offspring) add(kind, owner string, cluster backup.ClusterID, labels backup.Labels) {
	o.all = append(o.all, child{kind, owner, cluster, labels})
}

// candidates returns the children that have one of the labels that a selector demands.
func (o *offspring) candidates(s *backup.Selector) []*child {
	const few = 16
	for i := len(o.listed); i < len(o.all); i++ {
		o.listed = append(o.listed, &o.all[i])
	}
	if len(o.all) > few && o.labeled == nil {
		o.labeled = map[label][]*child{}
		for _, c := range o.listed {
			for key, value := range c.labels.All {
				o.labeled[label{key, value}] = append(o.labeled[label{key, value}], c)
			}
		}
	}
	all := o.listed
	if o.labeled != nil {
		for key, value := range s.Demands.All {
			if fewer := o.labeled[label{key, value}]; len(fewer) < len(all) {
				all = fewer
			}
		}
	}
	return all
}

// addControlPlanes adds what the control planes among the owners of machines make.
func (o *offspring) addControlPlanes(machines []backup.Machine) {
	type made struct {
		kind, owner string
		labels      backup.Labels
	}
	var last made
	known := map[made]bool{}
	for i := range machines {
		m := &machines[i]
		by := made{m.Owner.Kind, m.Owner.Name, m.Labels}
		if m.ControlPlane && by.owner != "" && by != last && !known[by] {
			known[by] = true
			o.add(by.kind, by.owner, m.Cluster, m.Labels)
		}
		last = by
	}
}

// maxOthers is how many owners are named before the search ends: a selector
// that fits everything would else be asked about everything.
const maxOthers = 3

// overlap returns the finding on a group whose selector fits what others make.
func (o *offspring) overlap(g *backup.Group) []Finding {
	s := backup.ReadSelector(g.Selector)
	if s == nil {
		return nil
	}
	var others []string
	clusters := []backup.ClusterID{g.Cluster}
	for _, c := range o.candidates(s) {
		if c.kind == g.Kind && c.owner == g.Name || !s.Matches(c.labels) {
			continue
		}
		if by := name(c.kind, g.Namespace, c.owner); !slices.Contains(others, by) {
			clusters = append(clusters, c.cluster)
			if others = append(others, by); len(others) == maxOthers {
				break
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	whose := strings.Join(others, ", ")
	if len(others) == maxOthers {
		whose += " and maybe others"
	}
	return []Finding{ruleOverlap.On(g.Backup, name(g.Kind, g.Namespace, g.Name), "its selector also matches machines of %s", whose).Of(clusters...)}
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
