package verify

import (
	"cmp"

	"drift-detector/internal/sorting"
	"drift-detector/report"
)

// place is a Cluster by its name.
type place struct{ namespace, cluster string }

// users are the Clusters whose machines have VMs, by the ids and names of those.
type users struct{ ids, names map[string]place }

// users gathers who has taken VMs. Where machines of several Clusters have a name, it is that of the
// report's.
func (w *world) users() users {
	out := users{map[string]place{}, map[string]place{}}
	of := map[string]place{} // by the infrastructure's object
	note := func(name string, p place) {
		if have, known := out.names[name]; !known || !w.isMine(have) {
			out.names[name] = p
		}
	}
	for i := range w.seen.Machines {
		m := &w.seen.Machines[i]
		p := place{m.Namespace, m.Cluster}
		note(m.Name, p)
		of[key(m.Namespace, m.Infrastructure.Name)] = p
	}
	for i := range w.seen.Objects {
		o := &w.seen.Objects[i]
		p := place{o.Namespace, o.Cluster}
		for _, name := range append([]string{o.Name}, names(o.Owners)...) {
			if p.cluster == "" {
				p = cmp.Or(of[key(o.Namespace, name)], p)
			}
		}
		note(o.Name, p)
		if o.ID != "" {
			out.ids[report.InstanceID(o.ID)] = p
		}
	}
	return out
}

func names(owners []Owner) (out []string) {
	for _, o := range owners {
		out = append(out, o.Name)
	}
	return out
}

// isMine reports whether a Cluster is of the report. One that is not known may be.
func (w *world) isMine(p place) bool { return p.cluster == "" || w.get(p.namespace, p.cluster).mine }

// newVMs returns the VMs that were created since the report, that it does not have, and that a machine
// has taken, or whose name is that of one; or that no machine has, and that are made as one.
func (w *world) newVMs(foretold map[string]bool) []Made {
	var out []Made
	by := w.users()
	for i := range w.seen.Instances {
		v := &w.seen.Instances[i]
		id := report.InstanceID(v.ID)
		if hasEnded(v.State) || len(w.get(id).known) > 0 || v.Created == nil || v.Created.Before(w.report.GeneratedAt) {
			continue
		}
		of, used := by.ids[id]
		if !used {
			of, used = by.names[v.Name]
		}
		if used {
			out = append(out, w.newVM(v, of, foretold[id] || foretold[v.Name]))
		} else if one := w.strayVM(v); one != nil {
			if foretold[v.Name] {
				one.Verdict, one.Seen = As, ""
			}
			out = append(out, *one)
		}
	}
	sorting.By(out, func(a, b Made) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}

// newVM returns one that a machine has. Those of a Cluster that the report does not have are nobody's forecast.
func (w *world) newVM(v *report.Instance, of place, foretold bool) Made {
	out := Made{Kind: "VM", Namespace: of.namespace, Name: v.Name, ID: v.ID, Cluster: of.cluster, Created: moment(*v.Created), Verdict: Not}
	switch {
	case !w.isMine(of):
		out.Verdict, out.Seen, out.foreign = NotJudged, "is of a Cluster that the report does not have", true
	case foretold:
		out.Verdict = As
	case w.unreadMachines(v.Provider) != "":
		out.Verdict = NotJudged // whose it is, and whether that was foretold, is not known
	}
	return out
}
