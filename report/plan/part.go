package plan

import (
	"slices"
	"strings"

	"drift-detector/report"
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
				if m := &s.machines[k]; m.Status != report.Ghost {
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
	f := &fault{Check: k, identity: map[*report.Cluster]bool{}}
	missed := pl.missed(k)
	for _, c := range pl.suspects(k, missed) {
		if k.Backup == c.Backup && pl.concerns(k, missed, c) {
			f.of = append(f.of, c)
			f.identity[c] = slices.ContainsFunc(missed, func(m *report.Missing) bool { return pl.waits(c, m) })
			pl.faultsOf[c] = append(pl.faultsOf[c], f)
		}
	}
	f.tied = len(f.of) > 0 && !slices.ContainsFunc(missed, func(m *report.Missing) bool {
		return strings.Contains(m.ReferredBy, " and ") && (pl.identityKinds[m.Kind] == "" || !pl.foreseen())
	})
	if pl.found = append(pl.found, f); !f.tied {
		pl.untied++
	}
}

// suspects are the clusters that an error may be about, in order.
func (pl *planner) suspects(k *report.Check, missed []*report.Missing) []*report.Cluster {
	if len(missed) == 0 {
		return pl.clustersOf(k.Object)
	}
	out := make([]*report.Cluster, len(pl.Clusters))
	for i := range pl.Clusters {
		out[i] = &pl.Clusters[i]
	}
	return out
}

// concerns reports whether an error is certainly about a cluster.
func (pl *planner) concerns(k *report.Check, missed []*report.Missing, c *report.Cluster) bool {
	return slices.Contains(pl.clustersOf(k.Object), c) || slices.ContainsFunc(missed, func(m *report.Missing) bool {
		by, _, _ := strings.Cut(m.ReferredBy, " and ")
		return slices.Contains(pl.clustersOf(by), c) || needs(c, m)
	})
}

// foreseen reports whether each cluster has a forecast, which names the identity that
// it lacks.
func (pl *planner) foreseen() bool {
	return !slices.ContainsFunc(pl.Clusters, func(c report.Cluster) bool { return c.Forecast == nil })
}
