package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drift-detector/report"
	"drift-detector/report/english"
)

// errorsFound are the checks of the backup that found an error.
func (pl *planner) errorsFound() []*report.Check {
	var out []*report.Check
	for i := range pl.Checks {
		if pl.Checks[i].Error() {
			out = append(out, &pl.Checks[i])
		}
	}
	return out
}

// checked counts what the report says about the backup itself.
func (pl *planner) checked() string {
	errors, warnings := pl.CheckErrors(), 0
	for i := range pl.Checks {
		if pl.Checks[i].Severity == report.CheckWarning {
			warnings++
		}
	}
	switch {
	case errors+warnings == 0:
		return ""
	case errors == 0:
		return fmt.Sprintf("The report's checks of the backup itself found no error and %s: 'drift-detector check' says why they matter.", english.Count(warnings, "warning"))
	default:
		return fmt.Sprintf("The report's checks of the backup itself found %s and %s. Resolve the errors before the restore: they are below.", english.Count(errors, "error"), english.Count(warnings, "warning"))
	}
}

// faults are the errors of the backup, those together of which the same is to be
// said. A report has them in the order of their codes.
func (pl *planner) faults() []Batch {
	var out []Batch
	var last *report.Check
	for _, k := range pl.errorsFound() {
		if last == nil || k.Code != last.Code || k.Why != last.Why || k.Do != last.Do {
			out = append(out, Batch{Note: k.Why, Steps: []report.Step{{When: report.BeforeRestore, Who: report.Operator, Text: sentence(k.Do)}}})
		}
		last = k
		batch := &out[len(out)-1]
		batch.Items = append(batch.Items, Item{Name: k.Object, Detail: k.Message, Clusters: pl.concerned(k)})
		batch.Title = k.Code + ": " + english.Count(len(batch.Items), "error")
	}
	return out
}

// sentence makes one of a phrase.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// settleErrors repeats, before a cluster is let go, the errors that concern it,
// but for identities, which a step before brings back. Those of which it can't be
// said for certain whom they concern are pointed to.
func (pl *planner) settleErrors(d *draft, c *report.Cluster) {
	var own []string
	open := 0
	for _, k := range pl.errorsFound() {
		switch {
		case pl.identity(k, c):
		case pl.concerns(k, c):
			own = append(own, k.Object+" ("+k.Code+": "+k.Message+")")
		case !pl.tied(k):
			open++
		}
	}
	var text string
	if len(own) > 0 {
		text = "Do not unpause it before this is resolved, as said under All clusters: " + strings.Join(own, "; ") + "."
	}
	if open > 0 {
		text += fmt.Sprintf(" Under All clusters %s of the backup can't be assigned to one cluster: see that this one does not wait for it.", english.Count(open, "error"))
	}
	if text != "" {
		d.after(strings.TrimSpace(text))
	}
}

// identity reports whether an error is about an identity that a cluster waits for.
func (pl *planner) identity(k *report.Check, c *report.Cluster) bool {
	return k.Backup == c.Backup && slices.ContainsFunc(pl.missed(k), func(m *report.Missing) bool { return pl.waits(c, m) })
}

// tied reports whether all clusters that an error concerns are known. Each cluster asks.
func (pl *planner) tied(k *report.Check) bool {
	all, known := pl.assigned[k]
	if !known {
		all = pl.findTied(k)
		pl.assigned[k] = all
	}
	return all
}

func (pl *planner) findTied(k *report.Check) bool {
	for _, m := range pl.missed(k) {
		if strings.Contains(m.ReferredBy, " and ") && (pl.identityKinds[m.Kind] == "" || !pl.foreseen()) {
			return false
		}
	}
	for i := range pl.Clusters {
		if pl.concerns(k, &pl.Clusters[i]) {
			return true
		}
	}
	return false
}

// foreseen reports whether each cluster has a forecast, which names the identity that
// it lacks.
func (pl *planner) foreseen() bool {
	return !slices.ContainsFunc(pl.Clusters, func(c report.Cluster) bool { return c.Forecast == nil })
}

// concerned are the clusters that an error certainly is about.
func (pl *planner) concerned(k *report.Check) []string {
	var out []string
	for i := range pl.Clusters {
		if c := &pl.Clusters[i]; pl.concerns(k, c) || pl.identity(k, c) {
			out = append(out, key(c))
		}
	}
	return out
}

// concerns reports whether an error is certainly about a cluster: about an object of
// it, or about one that such an object refers to.
func (pl *planner) concerns(k *report.Check, c *report.Cluster) bool {
	if k.Backup != c.Backup {
		return false
	}
	return partOf(k.Object, c) || slices.ContainsFunc(pl.missed(k), func(m *report.Missing) bool {
		by, _, _ := strings.Cut(m.ReferredBy, " and ")
		return partOf(by, c) || needs(c, m)
	})
}

// missed are the entries of what is missing that an error is about. Each cluster asks.
func (pl *planner) missed(k *report.Check) []*report.Missing {
	out, known := pl.lacking[k]
	if !known {
		out = pl.findMissed(k)
		pl.lacking[k] = out
	}
	return out
}

func (pl *planner) findMissed(k *report.Check) []*report.Missing {
	var out []*report.Missing
	if k.Backup < 0 || k.Backup >= len(pl.Backups) {
		return nil
	}
	all := pl.Backups[k.Backup].Missing
	for i := range all {
		if m := &all[i]; k.Object == m.Kind+" "+strings.TrimPrefix(m.Namespace+"/"+m.Name, "/") {
			out = append(out, m)
		}
	}
	return out
}

// clusterSecrets are the ends of the names of a cluster's own Secrets, behind its
// name (Cluster API util/secret/consts.go v1.14.0).
var clusterSecrets = []string{"-ca", "-etcd", "-proxy", "-sa", "-kubeconfig"}

// partOf reports whether an object, as checks name it, is a cluster or a part of it.
// Names are compared whole: prod-eu is no part of prod.
func partOf(object string, c *report.Cluster) bool {
	kind, rest, _ := strings.Cut(object, " ")
	namespace, name, _ := strings.Cut(rest, "/")
	if namespace != c.Namespace {
		return false
	}
	switch {
	case kind == "Cluster":
		return name == c.Name
	case kind == "Secret":
		return slices.ContainsFunc(clusterSecrets, func(end string) bool { return name == c.Name+end })
	}
	return slices.ContainsFunc(sets(c), func(s *set) bool {
		return kind == s.kind && name == s.name || kind == "Machine" && slices.ContainsFunc(s.machines, func(m report.Machine) bool {
			return m.Name == name && m.Status != report.Ghost
		})
	})
}
