package plan

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/report"
	"drift-detector/report/code"
)

// part is an object by which reports name a cluster: the cluster itself, one of its
// Secrets, sets or machines.
type part struct{ kind, namespace, name string }

// clusterSecrets are the ends of the names of a cluster's own Secrets, behind its
// name (Cluster API util/secret/consts.go v1.14.0).
var clusterSecrets = []string{"-ca", "-etcd", "-proxy", "-sa", "-kubeconfig"}

// clustersOf are the clusters that an object, as checks name it, is or is a part of.
// Names are compared whole: prod-eu is no part of prod.
func (pl *planner) clustersOf(object string) []*report.Cluster {
	if pl.parts == nil {
		pl.findParts()
	}
	kind, rest, _ := strings.Cut(object, " ")
	namespace, name, _ := strings.Cut(rest, "/")
	return pl.parts[part{kind, namespace, name}]
}

func (pl *planner) findParts() {
	pl.parts = map[part][]*report.Cluster{}
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		add := func(kind, name string) {
			p := part{kind, c.Namespace, name}
			if all := pl.parts[p]; len(all) == 0 || all[len(all)-1] != c {
				pl.parts[p] = append(all, c)
			}
		}
		add("Cluster", c.Name)
		for _, end := range clusterSecrets {
			add("Secret", c.Name+end)
		}
		for _, s := range sets(c) {
			if s.kind != "Cluster" && s.kind != "Secret" {
				add(s.kind, s.name)
			}
			for k := range s.machines {
				if m := &s.machines[k]; m.Status != code.Ghost {
					add("Machine", m.Name)
				}
			}
		}
	}
}

// missed are the entries of what is missing that an error is about.
func (pl *planner) missed(k *report.Check) []*report.Missing {
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
	return pl.missing[k.Backup][k.Object]
}

// fault is an error of the backup with the clusters that it is about.
type fault struct {
	*report.Check
	of       []*report.Cluster        // it is about an object of theirs, or about one that such an object refers to
	identity map[*report.Cluster]bool // those of them that wait for an identity that it is about
	tied     bool                     // all clusters that it concerns are known
}

// faultsFound are the checks of the backup that found an error.
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
	f := &fault{Check: k, of: slices.Clone(pl.clustersOf(k.Object)), identity: map[*report.Cluster]bool{}, tied: true}
	for _, m := range pl.missed(k) {
		by, _, several := strings.Cut(m.ReferredBy, " and ")
		waiting := pl.waitingFor(k.Backup, m)
		f.of = append(append(f.of, pl.clustersOf(by)...), waiting...)
		identity := pl.identityKinds[m.Kind] != ""
		for _, c := range waiting {
			f.identity[c] = f.identity[c] || identity
		}
		f.tied = f.tied && (!several || identity && pl.foreseen)
	}
	f.of = slices.DeleteFunc(f.of, func(c *report.Cluster) bool { return c.Backup != k.Backup })
	slices.SortFunc(f.of, func(a, b *report.Cluster) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	f.of = slices.Compact(f.of)
	for _, c := range f.of {
		pl.faultsOf[c] = append(pl.faultsOf[c], f)
	}
	f.tied = f.tied && len(f.of) > 0
	if pl.found = append(pl.found, f); !f.tied {
		pl.untied++
	}
}

// lack is an object that a backup lacks, or the key of a cluster in it.
type lack struct {
	backup int
	object string
}

// waitingFor are the clusters that wait for something that a backup lacks: the forecast
// names an identity to each, the list of what is missing names the first of them alone.
func (pl *planner) waitingFor(backup int, m *report.Missing) []*report.Cluster {
	if pl.waiting == nil {
		pl.waiting = map[lack][]*report.Cluster{}
		for i := range pl.Clusters {
			c := &pl.Clusters[i]
			for _, object := range append(absentIdentities(c), key(c)) {
				at := lack{c.Backup, object}
				pl.waiting[at] = append(pl.waiting[at], c)
			}
		}
	}
	_, first, _ := strings.Cut(m.ReferredBy, " ")
	first, _, _ = strings.Cut(first, " and ")
	return slices.Concat(pl.waiting[lack{backup, first}], pl.waiting[lack{backup, m.Kind + " " + m.Name}])
}

// identitiesOf are the identities that the backup lacks and a cluster waits for.
func (pl *planner) identitiesOf(c *report.Cluster) []*report.Missing {
	if pl.lacksOf == nil {
		pl.lacksOf = map[*report.Cluster][]*report.Missing{}
		for i := range pl.Backups {
			for j := range pl.Backups[i].Missing {
				m := &pl.Backups[i].Missing[j]
				if pl.identityKinds[m.Kind] == "" {
					continue
				}
				for _, w := range pl.waitingFor(i, m) {
					if all := pl.lacksOf[w]; len(all) == 0 || all[len(all)-1] != m {
						pl.lacksOf[w] = append(all, m)
					}
				}
			}
		}
	}
	return pl.lacksOf[c]
}

// absentIdentities are those that the forecast of a cluster says the backup lacks.
func absentIdentities(c *report.Cluster) []string {
	if c.Forecast == nil {
		return nil
	}
	for _, n := range c.Forecast.Notes {
		if n.Code == code.IdentityAbsent {
			names, _, _ := strings.Cut(n.Message, " is not in the backup")
			return strings.Split(names, " and ")
		}
	}
	return nil
}
