package report

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// Point is one thing that decides the answer: what happens, and to what.
type Point struct {
	Code    code.Reason
	Status  code.Status // as urgent as the answer that it leaves
	Text    string      // sentences
	Until   string      // of the reason
	Objects []Object    // most dangerous first; none: it is about the report as a whole
	Likes   []Point     // of the same code, where the text differs
}

// Object is what a point is about, and where the report has it.
type Object struct {
	Name string // as the answer has it: "Machine tenant/md-0-x"
	At   Place
}

// Part is a part of a report that lists things.
type Part string

// Parts of a report. The whole is named where no part is known.
const (
	InWhole    Part = ""
	InClusters Part = "clusters"
	InVMs      Part = "infraMachines"
	InChecks   Part = "checks"
	InScopes   Part = "scopes"
	InErrors   Part = "errors"
)

// Place is where a thing is in a report.
type Place struct {
	Part  Part
	Index int // in the list of the part: of the cluster, VM, check, …
	// Set is the index in Cluster.Sets, and Machine that in the machines of the set; -1
	// stands for the whole cluster, or the whole set.
	Set, Machine int
}

// First returns the reasons of the answer as a person should read them: the most dangerous
// first, one for each code, each with the places of its objects. Without an answer, or
// with one that has no reasons, there are none.
func (r *Report) First() []Point {
	if r.Summary.Answer == nil {
		return nil
	}
	return r.points(r.Summary.Answer.Reasons)
}

// Foretold are, in the same form, the reasons of First, and those that show only once the plan
// is followed: what controllers do when nothing keeps them from it any more.
func (r *Report) Foretold() []Point { return r.points(r.foretold("")) }

// foretold returns these reasons, of one code where that is not empty.
func (r *Report) foretold(only code.Reason) []AnswerReason {
	a, by := r.Summary.Answer, r.Summary.AnswerByPlan
	if a == nil {
		return nil
	}
	others := func(reason AnswerReason) bool { return only != "" && reason.Code != only }
	all := slices.DeleteFunc(slices.Clone(a.Reasons), others)
	if by == nil {
		return all
	}
	now := map[code.Reason]map[string]bool{} // the objects of a code
	for i := range all {
		objects := now[all[i].Code]
		if objects == nil {
			objects = make(map[string]bool, len(all[i].Objects))
			now[all[i].Code] = objects
		}
		for _, name := range all[i].Objects {
			objects[name] = true
		}
	}
	for _, later := range slices.DeleteFunc(slices.Concat(by.Reasons, by.Resolved), others) {
		var objects []string
		for _, name := range later.Objects {
			if !now[later.Code][name] {
				objects = append(objects, name)
			}
		}
		if later.Objects = objects; len(objects) > 0 || now[later.Code] == nil {
			all = append(all, later)
		}
	}
	return all
}

// objectsOf counts those of reasons.
func objectsOf(reasons []AnswerReason) (n int) {
	for i := range reasons {
		n += len(reasons[i].Objects)
	}
	return n
}

// points returns reasons with the places of their objects.
func (r *Report) points(reasons []AnswerReason) []Point {
	places := r.placesOf(reasons)
	var out []Point
	at := map[code.Reason]int{}
	for i := range reasons {
		reason := &reasons[i]
		p := Point{Code: reason.Code, Status: asStatus[code.SafeAfter(reason.Code)], Text: reason.Sentence(), Until: reason.Until}
		p.Objects = slices.Grow(p.Objects, len(reason.Objects))
		for _, name := range reason.Objects {
			p.Objects = append(p.Objects, Object{name, places.of(reason.Code, name)})
		}
		sorting.StableBy(p.Objects, func(a, b Object) int { return cmp.Compare(r.danger(a.At), r.danger(b.At)) })
		if j, known := at[p.Code]; known {
			out[j].Likes = append(out[j].Likes, p)
			continue
		}
		at[p.Code], out = len(out), append(out, p)
	}
	sorting.StableBy(out, func(a, b Point) int { return cmp.Compare(code.Rank(a.Code), code.Rank(b.Code)) })
	return out
}

// danger orders things: those of the worst clusters first, in a cluster the cluster
// itself, then its control plane, then its workers. What is of no cluster comes last.
func (r *Report) danger(at Place) int {
	if at.Part != InClusters {
		return 4 * len(code.RollUps())
	}
	return 4*code.Urgency(r.Clusters[at.Index].Status) + min(at.Set+1, 2)
}

// places are those of the things of a report, by the names that reasons have for them. Of several
// things of one name in a part it is the first.
type places struct {
	clusters map[string]int // by namespace/name
	named    map[string]int // where the first thing of a name is in things
	things   []placed
}

// placed is a thing of a name, or only the name: of InWhole.
type placed struct {
	Place
	next int // where one of the same name is that is in another part; 0: there is none
}

// want adds a name, and returns where it is in things.
func (p *places) want(name string) int {
	i, known := p.named[name]
	if !known {
		i = len(p.things)
		p.named[name], p.things = i, append(p.things, placed{})
	}
	return i
}

// places returns those of all names.
func (r *Report) places() *places {
	return r.placing(&placing{places: places{named: map[string]int{}}, all: true})
}

// placesOf returns those of the objects of reasons.
func (r *Report) placesOf(reasons []AnswerReason) *places {
	n := objectsOf(reasons)
	p := placing{places: places{named: make(map[string]int, n), things: make([]placed, 0, n)}}
	for i := range reasons {
		for _, name := range reasons[i].Objects {
			p.want(name)
		}
	}
	return r.placing(&p)
}

func (r *Report) placing(p *placing) *places {
	p.clusters = make(map[string]int, len(r.Clusters))
	for i := range r.Clusters {
		p.cluster(&r.Clusters[i], i)
	}
	for i := range r.InfraMachines {
		p.add(InVMs, Place{Index: i}, r.InfraMachines[i].Instance.Object())
	}
	for i := range r.Checks {
		if r.Checks[i].Error() {
			p.add(InChecks, Place{Index: i}, r.Checks[i].Object)
		}
	}
	for i := range r.Scopes {
		p.add(InScopes, Place{Index: i}, r.Scopes[i].Title())
	}
	for i := range r.Errors {
		e := &r.Errors[i]
		p.add(InErrors, Place{Index: i}, cmp.Or(e.Object, e.Scope, e.Message))
	}
	return &p.places
}

// placing collects places. Most names are not wanted, and are put together in room alone.
type placing struct {
	places
	all  bool // names are wanted
	room []byte
}

func (p *placing) cluster(c *Cluster, i int) {
	title := c.Title()
	if _, twice := p.clusters[title]; !twice {
		p.clusters[title] = i
	}
	p.add(InClusters, Place{Index: i, Set: -1, Machine: -1}, "Cluster ", title)
	for j, s := range c.Sets() {
		p.add(InClusters, Place{Index: i, Set: j, Machine: -1}, s.object(c))
		for k := range s.Machines {
			m := &s.Machines[k]
			p.add(InClusters, Place{Index: i, Set: j, Machine: k}, "Machine ", cmp.Or(m.Namespace, c.Namespace), "/", m.Name)
			if m.Status == code.Ghost {
				p.add(InClusters, Place{Index: i, Set: j, Machine: k}, "instance ", m.Name)
			}
		}
	}
}

func (p *placing) add(part Part, at Place, name ...string) {
	p.room = p.room[:0]
	for _, s := range name {
		p.room = append(p.room, s...)
	}
	i, wanted := p.named[string(p.room)]
	if !wanted {
		if !p.all {
			return
		}
		i = p.want(string(p.room))
	}
	at.Part = part
	for t := &p.things[i]; ; t = &p.things[t.next] {
		switch {
		case t.Part == part:
			return
		case t.Part == InWhole:
			t.Place = at
			return
		case t.next == 0:
			t.next = len(p.things)
			p.things = append(p.things, placed{Place: at}) // which moves t
			return
		}
	}
}

// partOf are the reasons whose objects are in another part than the clusters.
var partOf = map[code.Reason]Part{code.BackupError: InChecks, code.Incomplete: InScopes, code.InstancesToConfirm: InVMs, code.ErrorsOccurred: InErrors}

// of returns where the object of a reason is: itself, or the cluster that its name ends with.
func (p *places) of(code code.Reason, name string) Place {
	part := cmp.Or(partOf[code], InClusters)
	for i, known := p.named[name]; known; known = i > 0 {
		if p.things[i].Part == part {
			return p.things[i].Place
		}
		i = p.things[i].next
	}
	if i, known := p.clusters[clusterOf(name)]; known {
		return Place{Part: InClusters, Index: i, Set: -1, Machine: -1}
	}
	return Place{}
}

// clusterOf returns what the name of something may end with.
func clusterOf(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }
