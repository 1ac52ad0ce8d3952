package plan

import (
	"cmp"
	"slices"
	"strings"

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
	id := recordedID(m)
	scopes := pl.clusterScopes(s.cluster, m)
	if len(scopes) == 0 || !scopes[0].Identifies(id) {
		return absence{why: "the report can't say where to look"}
	}
	var out absence
	checks := make([]shell.Command, 0, 4)
	named := ""
	for _, p := range scopes {
		place, what := pl.placeCheck(s, p)
		switch {
		case !p.proven():
			return absence{why: "the report does not say which " + p.Noun + " it was made from, as one of an older release or inventory does not: run detect again"}
		case what == "":
			return absence{why: "no machine of its cluster is Healthy in " + p.name + ", so that nothing proves that it would be seen there"}
		}
		checks = append(checks, place, p.free(id))
		if by, ok := p.Tool.(shell.Namer); ok {
			checks = append(checks, infrastructureName(m).Then(by.Named(p.Scope)).OrStop("another VM has the name of the machine, or what goes with the Machine: the controller would delete that, too"))
			named = ", no VM has its name but one that its controller made"
		}
	}
	out.says = "it is the right " + scopes[0].Noun + ", the account sees a running machine of the cluster there, nothing has the id" + named
	if s.cluster.Nodes.State != report.NodesRead {
		if pl.living(s.cluster) == nil {
			return absence{why: "the Node list of its cluster was not read, and no machine of it is known to run whose Node would show that a list is the right one"}
		}
		checks = append(checks, pl.noNode(s.cluster, id))
		out.says += ", no Node with the id is Ready (the report was made without the Node list)"
	}
	checks = append(checks, isMachine(m))
	out.check = shell.All(checks[0], checks[1:]...)
	return out
}

// before runs commands only when nothing has the id.
func (a *absence) before(c ...shell.Command) shell.Command { return shell.All(a.check, c...) }

func recordedID(m *report.Machine) string {
	return strings.ToLower(m.ProviderID[strings.LastIndexByte(m.ProviderID, '/')+1:])
}

// remake deletes a Machine if nothing has its id.
func (pl *planner) remake(d *draft, s *set, m *report.Machine, text string) {
	if pl.assumes(code.OwnersPaused) {
		text += " If its owner is one of those that the report says are paused, unpause that first: until then it creates none."
	}
	a := pl.absent(s, m)
	if a.why != "" {
		pl.decide(d, s, m, text, a.why)
		return
	}
	c := manage(m.Namespace, "delete", machines+m.Name)
	if s.stackedEtcd() {
		if pl.living(s.cluster) == nil {
			pl.decide(d, s, m, text, "no machine of the cluster is known to run, so that no Node can distinguish its etcd from that of another")
			return
		}
		c = shell.All(pl.isCluster(s.cluster), pl.answers(s.cluster), c)
		a.says += ", etcd has a majority"
	}
	d.after(text+" The line looks first, because "+pl.onDelete(s.cluster)+": "+a.says+".", a.before(c))
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
		if id := recordedID(m); p.Identifies(id) && p.proven() {
			look = append(look, p.identityCheck.Then(p.Find(p.Scope, id)))
		}
	}
	d.after(text+" No line does that: "+why+". Decide by hand, when an account that may see everything there has shown whether there is a VM with the id or one with the name, and you have looked at the Nodes of the cluster; "+pl.onDelete(s.cluster)+".", look...)
}

// witnessKey is a set as seen at a scope, or all sets of a cluster, of which it only has that.
type witnessKey struct {
	set setID
	at  *scope
}

// placeCheck is how to see that commands are at a scope, with an account that sees the
// machines of the set there: by a witness.
type placeCheck struct {
	check shell.Command
	what  string // the witness; empty: there is none
}

func (pl *planner) placeCheck(s *set, p *scope) (check shell.Command, what string) {
	k := witnessKey{s.id(), p}
	known, ok := pl.places[k]
	if !ok {
		sees, what := p.sees(s.cluster, pl.witness(s, p))
		known = placeCheck{p.identityCheck.Then(sees.OrStop("this account does not see " + what + " of the cluster")), what}
		pl.places[k] = known
	}
	return known.check, known.what
}

// witness is an instance of the cluster that whoever searches a scope has to find
// there: one of the same set where there is one, since machines of a set are side by
// side; but rather one of another set than one with a warning, which may say that it is
// elsewhere. It is nil where no machine of the cluster is Healthy.
func (pl *planner) witness(s *set, p *scope) *report.Instance {
	if pl.witnesses == nil {
		pl.findWitnesses()
	}
	own, other := pl.witnesses[witnessKey{s.id(), p}], pl.witnesses[witnessKey{setID{cluster: s.cluster}, p}]
	switch {
	case other == nil:
		return nil
	case own == nil || len(own.Warnings) > 0 && len(other.Warnings) == 0:
		return other.Instance
	}
	return own.Instance
}

func (pl *planner) findWitnesses() {
	pl.witnesses = map[witnessKey]*report.Machine{}
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		for s, m := range pl.machinesOf(c) {
			if m.Status != code.Healthy || m.Instance == nil {
				continue
			}
			p := pl.scopeOf(m.Instance)
			if p == nil || !p.Identifies(m.Instance.ID) {
				continue
			}
			for _, k := range []witnessKey{{s.id(), p}, {setID{cluster: c}, p}} {
				if have := pl.witnesses[k]; have == nil || len(have.Warnings) > 0 && len(m.Warnings) == 0 {
					pl.witnesses[k] = m
				}
			}
		}
	}
}

// clusterScopes are where a Machine's VM would be: where its own was seen, else where
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
