package report

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/report/code"
)

// Occurrences returns what a code is said of, each thing once, under the names that
// reasons of the answer have for things. A note, a condition or a reason that names nothing
// is said of the restore as a whole, which has no name.
func (r *Report) Occurrences(word code.Reason) []Object {
	o := occurrences{word: word, found: map[Object]bool{}}
	if a := r.Summary.Answer; a != nil {
		places := r.places()
		for i := range a.Reasons {
			reason := &a.Reasons[i]
			for _, name := range reason.Objects {
				o.add(reason.Code == word, name, places.of(word, name))
			}
			o.add(reason.Code == word && len(reason.Objects) == 0, "", Place{})
		}
		o.notes(a.Conditions, "", Place{})
	}
	if f := r.Summary.Forecast; f != nil {
		o.notes(f.Notes, "", Place{})
	}
	for i := range r.Clusters {
		o.cluster(&r.Clusters[i], i)
	}
	for i := range r.InfraMachines {
		m := &r.InfraMachines[i]
		o.add(m.Reason == word, m.Instance.Object(), Place{Part: InVMs, Index: i})
	}
	for i := range r.Scopes {
		s := &r.Scopes[i]
		o.add(s.Error != nil && s.Error.Reason == word, s.Title(), Place{Part: InScopes, Index: i})
	}
	for i := range r.Checks {
		o.add(r.Checks[i].Code == word, r.Checks[i].Object, Place{Part: InChecks, Index: i})
	}
	return o.list
}

// occurrences gathers what a word is said of.
type occurrences struct {
	word  code.Reason
	list  []Object
	found map[Object]bool
}

func (o *occurrences) add(is bool, name string, at Place) {
	if object := (Object{name, at}); is && !o.found[object] {
		o.found[object], o.list = true, append(o.list, object)
	}
}

func (o *occurrences) notes(notes []Note, name string, at Place) {
	o.add(slices.ContainsFunc(notes, func(n Note) bool { return n.Code == o.word }), name, at)
}

func (o *occurrences) cluster(c *Cluster, i int) {
	whole := Place{Part: InClusters, Index: i, Set: -1, Machine: -1}
	if c.Forecast != nil {
		o.notes(c.Forecast.Notes, "Cluster "+c.Title(), whole)
	}
	o.add(code.Reason(c.Status) == o.word && c.Status != code.Healthy, "Cluster "+c.Title(), whole) // machines are Healthy, too
	for j, s := range c.Sets() {
		o.add(s.Reason == o.word, s.object(c), Place{Part: InClusters, Index: i, Set: j, Machine: -1})
		for k := range s.Machines {
			m := &s.Machines[k]
			is := m.Reason == o.word || code.Reason(m.Status) == o.word || m.Forecast != nil && code.Reason(m.Forecast.Outcome) == o.word ||
				slices.ContainsFunc(m.Warnings, func(w Warning) bool { return w.Reason == o.word })
			o.add(is, m.object(c), Place{Part: InClusters, Index: i, Set: j, Machine: k})
		}
	}
}

// Object returns the name of the VM in reasons of the answer.
func (v *Instance) Object() string { return "instance " + cmp.Or(v.Path, v.Name, v.Ref, v.ID) }

// object returns the name of the machine, or of a VM without a Machine, in reasons of the answer.
func (m *Machine) object(c *Cluster) string {
	if m.Status == code.Ghost {
		return "instance " + m.Name
	}
	return "Machine " + cmp.Or(m.Namespace, c.Namespace) + "/" + m.Name
}

// object returns the name of the set in reasons of the answer.
func (s *Set) object(c *Cluster) string {
	if kind, name, ok := strings.Cut(s.Title, " "); ok {
		return kind + " " + c.Namespace + "/" + name
	}
	return s.Title
}
