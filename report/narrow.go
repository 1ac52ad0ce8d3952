package report

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// Matches reports whether a cluster was asked for by its name, or namespace and name,
// and by its namespace.
func (f *Filter) Matches(namespace, name string) bool {
	return (len(f.Clusters) == 0 || slices.Contains(f.Clusters, name) || slices.Contains(f.Clusters, namespace+"/"+name)) &&
		(len(f.Namespaces) == 0 || slices.Contains(f.Namespaces, namespace))
}

// concerns reports whether a VM may belong to a cluster that was asked for: to one of those that
// it may belong to or, where none is known, to any.
func (f *Filter) concerns(m *InfraMachine) bool {
	of := m.MayBelongTo()
	return len(of) == 0 || slices.ContainsFunc(of, func(cluster string) bool {
		namespace, name, _ := strings.Cut(cluster, "/")
		return f.Matches(namespace, name)
	})
}

// Narrow leaves in the report what somebody wants to see, and has it say so in
// Options.Filter: the clusters that f names, and of their machines those of a status
// that f names. Counts and the status are of these clusters; the answer, the notes and
// the checks stay those of the whole report, because a restore is of all. It returns an error
// when f names a cluster or namespace that the report lacks.
func (r *Report) Narrow(f Filter) error {
	if err := r.lacks(&f); err != nil {
		return err
	}
	if old := r.Options.Filter; old != nil { // of detect
		f.Selector = old.Selector
		if len(f.Clusters) == 0 {
			f.Clusters = old.Clusters
		}
		if len(f.Namespaces) == 0 {
			f.Namespaces = old.Namespaces
		}
	}
	f.View, r.Digests = true, nil
	r.Options.Filter = &f
	r.Clusters = slices.DeleteFunc(r.Clusters, func(c Cluster) bool { return !f.Matches(c.Namespace, c.Name) })
	r.InfraMachines = slices.DeleteFunc(r.InfraMachines, func(m InfraMachine) bool { return !f.concerns(&m) })
	r.count()
	if len(f.Statuses) > 0 {
		r.only(f.Statuses)
	}
	return nil
}

// lacks returns an error for a name that nothing in the report has.
func (r *Report) lacks(f *Filter) error {
	var known []string
	for i := range r.Clusters {
		known = append(known, r.Clusters[i].Namespace+"/"+r.Clusters[i].Name)
	}
	matches := func(f Filter) bool {
		return slices.ContainsFunc(r.Clusters, func(c Cluster) bool { return f.Matches(c.Namespace, c.Name) })
	}
	for _, c := range f.Clusters {
		if !matches(Filter{Clusters: []string{c}}) {
			return fmt.Errorf("--cluster %s: the report has no such cluster; it has %s", c, english.First(10, known))
		}
	}
	for _, n := range f.Namespaces {
		if !matches(Filter{Namespaces: []string{n}}) {
			return fmt.Errorf("--namespace %s: the report has no cluster there; it has %s", n, english.First(10, known))
		}
	}
	if len(f.Clusters)+len(f.Namespaces) > 0 && !matches(*f) {
		return fmt.Errorf("no cluster matches both --cluster and --namespace; the report has %s", english.First(10, known))
	}
	return nil
}

// count counts what the report has, and rolls its status up.
func (r *Report) count() {
	s := &r.Summary
	s.Machines, s.Clusters, s.Resources, s.InfraMachines = MachineCounts{}, ClusterCounts{}, ResourceCounts{}, len(r.InfraMachines)
	f := s.Forecast
	if f != nil {
		f.Outcomes, f.NotHealing = map[code.Outcome]int{}, 0
	}
	status := code.Healthy
	if r.ToConfirm() > 0 {
		status = code.NeedFurtherConfirmationInfraMachines
	}
	if len(r.Errors) > 0 || !s.Complete {
		status = code.Worst(status, code.NeedFurtherConfirmation)
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		s.Machines.Add(c.Counts)
		s.Clusters.Count(c.Status)
		for k := range c.Resources {
			s.Resources.Count(c.Resources[k].State)
		}
		status = code.Worst(status, c.Status)
		if f != nil && c.Forecast != nil {
			f.NotHealing += c.Forecast.NotHealing
			for outcome, n := range c.Forecast.Outcomes {
				f.Outcomes[outcome] += n
			}
		}
	}
	s.Status = status
}

// only leaves in the lists the machines of these statuses, and no cluster and no group
// that has none. Counts stay.
func (r *Report) only(statuses []code.Status) {
	keep := func(ms []Machine) []Machine {
		return slices.DeleteFunc(ms, func(m Machine) bool { return !slices.Contains(statuses, m.Status) })
	}
	r.Clusters = slices.DeleteFunc(r.Clusters, func(c Cluster) bool {
		left := 0
		for _, s := range c.Sets() {
			left += len(keep(slices.Clone(s.Machines)))
		}
		return left == 0
	})
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.ControlPlane.Machines = keep(c.ControlPlane.Machines)
		for k := range c.Workers.Groups {
			c.Workers.Groups[k].Machines = keep(c.Workers.Groups[k].Machines)
		}
		c.Workers.Groups = slices.DeleteFunc(c.Workers.Groups, func(g Group) bool { return len(g.Machines) == 0 })
	}
	r.InfraMachines = nil
}
