package infra

import (
	"maps"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/report/code"
)

// Checker is a Provider that finds, in the backup alone, what of its own will not work
// after a restore. It contacts nothing. Every provider is one: infratest demands it.
type Checker interface {
	Check(s *backup.Snapshot, secrets *backup.Secrets, now time.Time) []check.Finding
}

// Surveyor is a Provider that knows what checks need of what is expected without making
// the rest, which is most of the work.
type Surveyor interface {
	// Survey returns of what Expected does the Providers, what is Absent, and, by Orphan
	// alone, the Machines that are Orphans.
	Survey(*backup.Snapshot) Expected
}

// Survey returns of what all providers expect that which Check, Makers and check.Options
// need; what else is in it, some providers say and others do not.
func (r *Registry) Survey(s *backup.Snapshot) Expected {
	all := Expected{Providers: map[backup.ClusterID]string{}}
	for _, p := range r.providers {
		survey := p.Expected
		if fast, ok := p.(Surveyor); ok {
			survey = fast.Survey
		}
		one := survey(s)
		all.Machines, all.Absent = append(all.Machines, one.Machines...), append(all.Absent, one.Absent...)
		maps.Copy(all.Providers, one.Providers)
	}
	all.Absent = known(s, all.Absent)
	return all
}

var ruleMachineAbsent = check.Rule{
	Code: "MachineAbsent", Severity: code.CheckWarning,
	Happens: "The backup holds the infrastructure of a machine and not its Machine.",
	Why:     "Velero leaves out what is being deleted. What is left of the machine is restored without an owner and never reconciled: its VM and its Node run on, and what owned the Machine creates a surplus one.",
	Do:      "after the restore, see that the workload has left its Node, and remove VM, Node and what is left of the machine by hand",
}

var ruleProviderNotRead = check.Rule{
	Code: "ProviderNotRead", Severity: code.CheckWarning,
	Happens: "No provider of this release reads the infrastructure of some machines.",
	Why:     "Nothing is known here about this infrastructure: its machines are not looked for, and what its controller does with them after a restore is not said.",
	Do:      "look at these machines with the tools of their infrastructure, and read what its provider says about a restore",
}

// unreadKinds finds the kinds of infrastructure machines that no provider reads, with how
// many Machines each has.
func (r *Registry) unreadKinds(s *backup.Snapshot) []check.Finding {
	type kind struct {
		backup int
		name   string
	}
	read := map[GroupKind]bool{}
	for _, spec := range r.Specs() {
		for _, k := range spec.MachineKinds {
			read[GroupKind{k.Group, k.Kind}] = true
		}
	}
	count, of := map[kind]int{}, map[kind]map[backup.ClusterID]bool{}
	for i := range s.Machines {
		m := &s.Machines[i]
		if read[GroupKind{m.Infrastructure.Group, m.Infrastructure.Kind}] {
			continue
		}
		k := kind{m.Backup, m.Infrastructure.Kind + "." + m.Infrastructure.Group}
		count[k]++
		if of[k] == nil {
			of[k] = map[backup.ClusterID]bool{}
		}
		of[k][m.Cluster] = true
	}
	var all []check.Finding
	for k, n := range count {
		all = append(all, ruleProviderNotRead.On(k.backup, k.name, "of %d Machines", n).Of(slices.Collect(maps.Keys(of[k]))...))
	}
	return all
}

// Check returns what the providers find, the infrastructure machines whose Machine the backup
// lacks, and the kinds that no provider reads.
func (r *Registry) Check(s *backup.Snapshot, secrets *backup.Secrets, c Expected, now time.Time) []check.Finding {
	all := r.unreadKinds(s)
	for _, p := range r.providers {
		if checker, ok := p.(Checker); ok {
			all = append(all, checker.Check(s, secrets, now)...)
		}
	}
	for i := range c.Machines {
		if o := c.Machines[i].Orphan; o != nil {
			all = append(all, ruleMachineAbsent.On(o.Cluster.Backup, o.Kind+" "+o.Namespace+"/"+o.Name,
				"its Machine is not in %s", s.Subject().Or("the backup: being deleted when the backup was taken, or filtered out", "the management cluster: nobody deletes it, and its VM")).
				At("machines.cluster.x-k8s.io", o.Namespace).Of(o.Cluster))
		}
	}
	return all
}

// Rules returns all that Check can find.
func (r *Registry) Rules() []check.Rule {
	all := []check.Rule{ruleMachineAbsent, ruleProviderNotRead}
	for _, s := range r.Specs() {
		all = append(all, s.Rules...)
	}
	return all
}

// Makers returns the infrastructure controllers of the clusters that providers claim, in
// the words of findings.
func (r *Registry) Makers(c Expected) map[backup.ClusterID]check.Controller {
	controllers := r.Controllers()
	all := make(map[backup.ClusterID]check.Controller, len(c.Providers))
	for id, name := range c.Providers {
		all[id] = check.Controller{Name: controllers[name].Name, Makes: controllers[name].Makes}
	}
	return all
}
