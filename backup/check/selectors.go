package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
)

// selector is a label selector as a backup writes it. It is put to use when it is first
// asked: of most the labels that they demand by value are enough to know that nothing
// matches.
type selector struct {
	metav1.LabelSelector
	use labels.Selector
}

// parseSelector reads the JSON of a label selector. One that is absent or can't
// be read selects nothing, as for controllers.
func parseSelector(text string) (*selector, bool) {
	s := &selector{}
	if text == "" || json.Unmarshal([]byte(text), &s.LabelSelector) != nil {
		return nil, false
	}
	return s, true
}

func (s *selector) matches(l map[string]string) bool {
	if s.use == nil {
		var err error
		if s.use, err = metav1.LabelSelectorAsSelector(&s.LabelSelector); err != nil {
			s.use = labels.Nothing()
		}
	}
	return s.use.Matches(labels.Set(l))
}

var ruleOverlap = Rule{
	"SelectorsOverlap", Error,
	"A restore takes ownerReferences away, and controllers adopt by selector what has no owner: the wrong one may adopt these machines first, and then scale them away or replace them.",
	"pause the cluster for the restore and see the owners before you unpause it; make the selectors disjoint before the next backup",
}

// overlaps are MachineDeployments and MachineSets that would adopt what belongs
// to another of their kind, or to a control plane. An owner looks through its
// whole namespace (Cluster API core/reconcilers/machinedeployment and
// machineset v1.14.0).
func overlaps(e *examination) []Finding {
	var found []Finding
	for _, kind := range []string{"MachineDeployment", "MachineSet"} {
		children := newOffspring()
		for i := range e.Groups {
			if g := &e.Groups[i]; g.Kind == kind {
				children.add(namespace{g.Backup, g.Namespace}, name(kind, g.Namespace, g.Name), g.Cluster, g.TemplateLabels)
			}
		}
		if kind == "MachineSet" {
			known := map[childKey]bool{}
			for i := range e.Machines {
				m := &e.Machines[i]
				if by := (childKey{ownerOf(m), m.Labels}); m.ControlPlane && m.Owner.Name != "" && !known[by] {
					known[by] = true
					children.add(namespace{m.Backup, m.Namespace}, name(m.Owner.Kind, m.Namespace, m.Owner.Name), m.Cluster, m.Labels)
				}
			}
		}
		for i := range e.Groups {
			g := &e.Groups[i]
			if g.Kind != kind {
				continue
			}
			s, ok := parseSelector(g.Selector)
			if !ok {
				continue
			}
			own := name(kind, g.Namespace, g.Name)
			others, clusters := children.selected(namespace{g.Backup, g.Namespace}, s, own)
			if len(others) == 0 {
				continue
			}
			whose := strings.Join(others, ", ")
			if len(others) == maxOthers {
				whose += " and maybe others"
			}
			found = append(found, ruleOverlap.On(g.Backup, own, "its selector also matches machines of %s", whose).Of(append(clusters, g.Cluster)...))
		}
	}
	return found
}

// namespace is a namespace of a backup.
type namespace struct {
	backup    int
	namespace string
}

// offspring is the labels that owners give what they make, indexed by each
// label, so that a selector is asked about few of them.
type offspring struct {
	all     map[namespace][]*child
	labeled map[labelAt][]*child
}

type child struct {
	owner   string
	cluster backup.ClusterID
	labels  map[string]string
}

type childKey struct {
	owner
	labels backup.Labels
}

type labelAt struct {
	namespace
	key, value string
}

func newOffspring() *offspring {
	return &offspring{all: map[namespace][]*child{}, labeled: map[labelAt][]*child{}}
}

func (o *offspring) add(at namespace, by string, cluster backup.ClusterID, l backup.Labels) {
	c := &child{by, cluster, l.Map()}
	o.all[at] = append(o.all[at], c)
	for key, value := range c.labels {
		label := labelAt{at, key, value}
		o.labeled[label] = append(o.labeled[label], c)
	}
}

// maxOthers is how many owners are named before the search ends: a selector
// that fits everything would else be asked about everything.
const maxOthers = 3

// selected are the owners, other than its own, whose offspring a selector fits, and
// their clusters.
func (o *offspring) selected(at namespace, s *selector, own string) (others []string, clusters []backup.ClusterID) {
	candidates := o.all[at]
	for key, value := range s.MatchLabels {
		if fewer := o.labeled[labelAt{at, key, value}]; len(fewer) < len(candidates) {
			candidates = fewer
		}
	}
	for _, c := range candidates {
		if c.owner != own && !slices.Contains(others, c.owner) && s.matches(c.labels) {
			clusters = append(clusters, c.cluster)
			if others = append(others, c.owner); len(others) == maxOthers {
				break
			}
		}
	}
	slices.Sort(others)
	return others, clusters
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
