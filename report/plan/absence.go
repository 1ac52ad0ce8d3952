package plan

import (
	"cmp"
	"slices"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// absence is what has to hold before a Machine is deleted: nothing has its id. Each
// check proves first that it looks at the right place, with an account that sees the
// machines of the cluster there.
type absence struct {
	check shell.Command
	says  string // what it looks at, as the end of a sentence
	why   string // why there is none
}

// absent says how to see that a Machine has no instance. Several steps for a machine
// ask, one after the other.
func (pl *planner) absent(s *set, m *report.Machine) absence {
	if pl.looked.machine != m {
		pl.looked.machine, pl.looked.absence = m, pl.findAbsent(s, m)
	}
	return pl.looked.absence
}

func (pl *planner) findAbsent(s *set, m *report.Machine) absence {
	id := report.InstanceID(m.ProviderID)
	scopes := pl.clusterScopes(s.cluster, m)
	if len(scopes) == 0 || !scopes[0].Identifies(id) {
		return absence{why: "the report can't say where to look"}
	}
	var out absence
	var checks []shell.Command
	for _, p := range scopes {
		switch {
		case !p.proven():
			return absence{why: "the report does not say which " + p.Noun + " it was created from, as one of an older release or inventory does not: run detect again"}
		case !pl.isSeen(s.cluster, p):
			return absence{why: "no machine of its cluster is Healthy in " + p.name + ", so that nothing proves that it would be seen there"}
		}
		checks = append(checks, pl.manage(m.Namespace, "get", machines+m.Name, asJSON).Pipe(p.recheck("gone", machineOf(m)).With("--restore", shell.Variable(restoreName))))
	}
	switch {
	case pl.recognised(s.cluster):
		checks = append([]shell.Command{pl.notReady(s.cluster, m)}, checks...)
		out.says = "no Node of it is Ready, "
	case s.cluster.Nodes.State != report.NodesRead:
		return absence{why: "the Node list of its cluster was not read, and no machine of it is Healthy whose Node would show that a list is the right one"}
	}
	out.says += "the Machine is of the restore and records the id of the report, it is the right " + scopes[0].Noun + ", the account sees a running machine of the cluster there, and nothing has the id or the name"
	out.check = shell.All(checks...)
	return out
}

// before runs commands only when nothing has the id.
func (a *absence) before(c ...shell.Command) shell.Command { return a.check.Then(shell.All(c...)) }

// remake deletes a Machine if nothing has its id.
func (pl *planner) remake(d *draft, s *set, m *report.Machine, text string) {
	if pl.assumes(code.OwnersPaused) {
		text = pl.once(text, " If its owner is one of those that the report says are paused, unpause that first: until then it creates none.")
	}
	a := pl.absent(s, m)
	if a.why != "" {
		pl.decide(d, s, m, text, a.why)
		return
	}
	c := pl.manage(m.Namespace, "delete", machines+m.Name)
	if s.stackedEtcd() {
		if pl.living(s.cluster) == nil {
			pl.decide(d, s, m, text, "no machine of the cluster is known to run, so that no Node can distinguish its etcd from that of another")
			return
		}
		c = shell.All(pl.answers(s.cluster), c)
		a.says += "; etcd has a majority"
	}
	d.after(pl.once(text, " The line looks first, because ", pl.onDelete(s.cluster), ": ", a.says, "."), a.before(c))
}

// assumes reports whether the answer of the report has a condition.
func (pl *planner) assumes(code code.Reason) bool {
	a := pl.Summary.Answer
	return a != nil && slices.ContainsFunc(a.Conditions, func(n report.Note) bool { return n.Code == code })
}

// decide leaves a Machine to a person, where no line could look whether its instance
// is really gone.
func (pl *planner) decide(d *draft, s *set, m *report.Machine, text, why string) {
	look := []shell.Command{manage(m.Namespace, "describe", machines+m.Name), pl.nodesByID(s.cluster)}
	for _, p := range pl.clusterScopes(s.cluster, m) {
		if id := report.InstanceID(m.ProviderID); p.Identifies(id) && p.proven() {
			look = append(look, p.free(id))
		}
	}
	d.after(text+" No line does that: "+why+". Decide by hand, when an account that may see everything there has shown whether there is a VM with the id or one with the name, and you have looked at the Nodes of the cluster; "+pl.onDelete(s.cluster)+".", look...)
}

// isSeen reports whether something of a cluster is known at a scope by which whoever searches
// it can see that the account finds what there is: a Healthy machine, or a resource.
func (pl *planner) isSeen(c *report.Cluster, p *scope) bool {
	k := seenAt{c, p}
	seen, known := pl.seen[k]
	if !known {
		for _, m := range pl.machinesOf(c) {
			seen = seen || m.Status == code.Healthy && m.Instance != nil && p.Identifies(m.Instance.ID) && pl.scopeOf(m.Instance) == p
		}
		for _, r := range c.Resources {
			seen = seen || r.State == code.Present && p.Landmark(r.Kind, r.Name)
		}
		pl.seen[k] = seen
	}
	return seen
}

type seenAt struct {
	cluster *report.Cluster
	at      *scope
}

// clusterScopes returns where a Machine's VM would be: where its own was seen, else where
// others of its cluster are, else every scope of its provider.
func (pl *planner) clusterScopes(c *report.Cluster, m *report.Machine) []*scope {
	if m.Instance != nil {
		if p := pl.scopeOf(m.Instance); p != nil {
			return []*scope{p}
		}
	}
	if known, ok := pl.scopesOf[c]; ok {
		return known
	}
	var out []*scope
	note := func(p *scope) {
		if p != nil && p.provider == pl.providers[c.Provider] && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, m := range pl.machinesOf(c) {
		if m.Instance != nil {
			note(pl.scopeOf(m.Instance))
		}
	}
	if len(out) == 0 {
		for i := range pl.Scopes {
			s := &pl.Scopes[i]
			note(pl.scopeOf(&report.Instance{Provider: s.Provider, Scope: report.ScopeName(s.Provider, s.Endpoint, s.Location), Account: s.Account}))
		}
	}
	slices.SortFunc(out, func(x, y *scope) int { return cmp.Compare(x.Variable, y.Variable) })
	pl.scopesOf[c] = out
	return out
}
