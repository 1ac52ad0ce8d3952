package plan

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/code"
)

// clustersOf returns the clusters that an object, as checks name it, is or is a part of: a cluster
// itself, one of its Secrets, sets or machines. Names are compared whole: prod-eu is no part of prod.
func (pl *planner) clustersOf(object string) []*report.Cluster {
	if pl.parts == nil {
		pl.findParts()
	}
	i, known := pl.parts[object]
	if !known {
		return nil
	}
	return pl.partOf[i]
}

// findParts finds the clusters of all that anything asks for: reasons of the answer, and
// errors of the backup.
func (pl *planner) findParts() {
	n, _ := pl.listed() // most of it is about these
	pl.parts, pl.partOf = make(map[string]int, n), make([][]*report.Cluster, 0, n)
	want := func(object string) {
		if _, known := pl.parts[object]; !known {
			pl.parts[object], pl.partOf = len(pl.partOf), append(pl.partOf, nil)
		}
	}
	note := func(all []report.AnswerReason) {
		for i := range all {
			for _, object := range all[i].Objects {
				want(object)
			}
		}
	}
	if a := pl.Summary.Answer; a != nil {
		note(a.Reasons)
	}
	if a := pl.Summary.AnswerByPlan; a != nil {
		note(a.Reasons)
		note(a.Resolved)
	}
	for i := range pl.Checks {
		if k := &pl.Checks[i]; k.Error() {
			want(k.Object)
			for _, name := range k.Clusters {
				want("Cluster " + name)
			}
		}
	}
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		note := func(object ...string) {
			pl.text = pl.text[:0]
			for _, s := range object {
				pl.text = append(pl.text, s...)
			}
			if k, is := pl.parts[string(pl.text)]; is {
				if all := pl.partOf[k]; len(all) == 0 || all[len(all)-1] != c {
					pl.partOf[k] = append(all, c)
				}
			}
		}
		note("Cluster ", c.Namespace, "/", c.Name)
		for _, secret := range code.SecretsOf(c.Name) {
			note("Secret ", c.Namespace, "/", secret)
		}
		for _, s := range pl.sets(c) {
			if s.kind != "Cluster" && s.kind != "Secret" {
				note(s.kind, " ", c.Namespace, "/", s.name)
			}
			for k := range s.machines {
				m := &s.machines[k]
				if m.Status != code.Ghost {
					note("Machine ", c.Namespace, "/", m.Name)
				}
				note("instance ", m.Name) // as the answer names one without a Machine
			}
		}
	}
}

// missed returns the entries of what a backup lacks that have a name, as checks have it.
func (pl *planner) missed(backup int, name string) []*report.Missing {
	if pl.missing == nil {
		pl.missing = map[int]map[string][]*report.Missing{}
		for i := range pl.Backups {
			pl.missing[i] = map[string][]*report.Missing{}
			for j := range pl.Backups[i].Missing {
				m := &pl.Backups[i].Missing[j]
				object := m.Kind + " " + strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")
				pl.missing[i][object] = append(pl.missing[i][object], m)
			}
		}
	}
	return pl.missing[backup][name]
}

// fault is an error of the backup with the clusters that it is about.
type fault struct {
	*report.Check
	of []*report.Cluster // it is about an object of theirs, or one that they need; none: they are not known
}

// faultsFound returns the checks of the backup that found an error.
func (pl *planner) faultsFound() []*fault {
	if pl.found == nil {
		pl.found, pl.faultsOf = []*fault{}, map[*report.Cluster][]*fault{}
		for i := range pl.Checks {
			if pl.Checks[i].Error() {
				pl.addFault(&pl.Checks[i])
			}
		}
	}
	return pl.found
}

func (pl *planner) addFault(k *report.Check) {
	f := &fault{Check: k, of: slices.Clone(pl.clustersOf(k.Object))}
	for _, name := range k.Clusters {
		f.of = append(f.of, pl.clustersOf("Cluster "+name)...)
	}
	f.of = slices.DeleteFunc(f.of, func(c *report.Cluster) bool { return c.Backup != k.Backup })
	slices.SortFunc(f.of, func(a, b *report.Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	f.of = slices.Compact(f.of)
	for _, c := range f.of {
		pl.faultsOf[c] = append(pl.faultsOf[c], f)
	}
	if pl.found = append(pl.found, f); len(f.of) == 0 {
		pl.untied++
	}
}

// identitiesOf returns the identities that the backup lacks and a cluster waits for.
func (pl *planner) identitiesOf(c *report.Cluster) []*report.Missing {
	if c.Forecast == nil {
		return nil
	}
	var out []*report.Missing
	for _, n := range c.Forecast.Notes {
		if n.Code != code.IdentityAbsent {
			continue
		}
		for _, name := range n.Objects {
			out = append(out, pl.missed(c.Backup, name)...)
		}
	}
	return slices.DeleteFunc(out, func(m *report.Missing) bool { return pl.identityKinds[m.Kind] == "" })
}
