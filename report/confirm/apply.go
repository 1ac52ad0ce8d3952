package confirm

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Apply takes the confirmations into a report that was just made: what they speak of is marked,
// no longer a reason of the answers, and a condition of them. Confirmations that speak of
// nothing in the report, of a VM with another id, or only until a day that is over, are listed
// and not taken; so are those that say different things of one thing. Warnings say so.
func Apply(r *report.Report, all []Confirmation, now time.Time) (warnings []string) {
	if len(all) == 0 {
		return nil
	}
	a := application{r: r, places: r.Places(), today: now.UTC().Format(time.DateOnly), taken: map[word][]string{}}
	about := make([][]thing, len(all))
	for i := range all {
		c := &all[i]
		own := report.Confirmation{Subject: c.Subject(), ID: c.ID, IDs: c.IDs, As: string(c.As), By: c.By, On: c.On, Expires: c.Expires}
		about[i], own.State, own.Message = a.about(c)
		r.Confirmations = append(r.Confirmations, own)
	}
	refine(all, about)
	for i, disputed := range contradictions(all, about) {
		about[i] = slices.DeleteFunc(about[i], func(t thing) bool { return disputed[t] != "" })
		for _, t := range slices.SortedFunc(maps.Keys(disputed), func(a, b thing) int { return strings.Compare(a.object, b.object) }) {
			if len(about[i]) > 0 { // of a folder the rest is taken
				warnings = append(warnings, fmt.Sprintf("what %s confirms of %s is not taken of %s: %s", all[i].By, all[i].Subject(), t.object, disputed[t]))
				continue
			}
			r.Confirmations[i].State, r.Confirmations[i].Message = report.ConfirmationContradicted, disputed[t]
		}
	}
	for i := range all {
		c, own := &all[i], &r.Confirmations[i]
		if own.State != report.ConfirmationTaken {
			warnings = append(warnings, fmt.Sprintf("what %s confirms of %s is not taken: %s", c.By, c.Subject(), own.Message))
			continue
		}
		if own.Message != "" {
			warnings = append(warnings, fmt.Sprintf("what %s confirms of %s is not all: %s", c.By, c.Subject(), own.Message))
		}
		for _, t := range about[i] {
			if *t.mark == nil {
				*t.mark = &report.Confirmed{As: own.As, By: c.By, On: c.On, Expires: c.Expires}
			}
			a.note(c, t.object)
		}
	}
	if len(a.order) > 0 {
		a.finish()
	}
	return warnings
}

// thing is what a word is about: its name in the report, and where the report has the word.
type thing struct {
	object string
	mark   **report.Confirmed
}

// refine takes out of a folder the VMs of which the same person says something themselves.
func refine(all []Confirmation, about [][]thing) {
	type own struct {
		thing
		by string
	}
	said := map[own]bool{}
	for i := range all {
		for _, t := range about[i] {
			if all[i].Folder == "" {
				said[own{t, all[i].By}] = true
			}
		}
	}
	for i := range all {
		if all[i].Folder != "" {
			about[i] = slices.DeleteFunc(about[i], func(t thing) bool { return said[own{t, all[i].By}] })
		}
	}
}

// contradictions returns, for each confirmation, the things of which another one says something
// else, and what. None of them is right because it was read last.
func contradictions(all []Confirmation, about [][]thing) []map[thing]string {
	out := make([]map[thing]string, len(all))
	of := map[thing][]int{}
	for i := range about {
		for _, t := range about[i] {
			of[t] = append(of[t], i)
		}
	}
	for t, words := range of {
		for _, i := range words {
			for _, j := range words {
				if all[i].As == all[j].As || out[i][t] != "" {
					continue
				}
				if out[i] == nil {
					out[i] = map[thing]string{}
				}
				out[i][t] = all[j].contradicts()
			}
		}
	}
	return out
}

// contradicts returns what is said of a confirmation to whoever says another thing.
func (c *Confirmation) contradicts() string {
	return fmt.Sprintf("%s says %s of %s (%s): let one of them hold, and remove the other", c.By, c.As, c.Subject(), c.On)
}

// application is the work of Apply.
type application struct {
	r      *report.Report
	places *report.Places
	today  string
	taken  map[word][]string // names of objects
	order  []word
}

// word is what one person says of things.
type word struct {
	as     As
	by, on string
	folder string // of a whole folder
	paused bool   // of a cluster that no selector leaves out
}

// about returns what a confirmation speaks of, or says why it is not taken.
func (a *application) about(c *Confirmation) (all []thing, state report.ConfirmationState, why string) {
	switch {
	case c.Expires != "" && a.today > c.Expires:
		return nil, report.ConfirmationExpired, "it expired on " + c.Expires
	case c.Cluster != "":
		return a.cluster(c)
	case c.Machine != "":
		return a.machine(c)
	}
	return a.vms(c)
}

const notHere = "its place is none of this report"

// has reports whether the report has the place.
func (a *application) has(c *Confirmation) bool {
	return slices.ContainsFunc(a.r.Scopes, func(s report.Scope) bool { return s.Provider == c.Provider && placeOf(&s) == c.Place })
}

// folder returns the VMs in a folder that nothing but their place ties to a cluster, of those that it
// held when that was said. Of what came later it says nothing, nor of an id that a copy has by now:
// why names them.
func (a *application) folder(c *Confirmation) (all []thing, state report.ConfirmationState, why string) {
	had, have := map[string]int{}, map[string]int{}
	for _, id := range c.IDs {
		had[strings.ToLower(id)]++
	}
	var there []*report.InfraMachine
	for i := range a.r.InfraMachines {
		m := &a.r.InfraMachines[i]
		if v := &m.Instance; m.Reason == code.InClusterFolder && v.Provider == c.Provider && isIn(v.Path, c.Folder) && a.place(v) == c.Place {
			there = append(there, m)
			have[strings.ToLower(v.ID)]++
		}
	}
	var later []string
	for _, m := range there {
		if id := strings.ToLower(m.Instance.ID); id != "" && have[id] <= had[id] {
			all = append(all, thing{m.Instance.Object(), &m.Confirmed})
		} else {
			later = append(later, m.Instance.Name)
		}
	}
	if len(later) > 0 {
		why = "it says nothing of VMs that it did not hold then: " + english.First(3, later)
	}
	switch {
	case len(all) > 0:
		return all, report.ConfirmationTaken, why
	case !a.has(c):
		return nil, report.ConfirmationUnused, notHere
	case why != "":
		return nil, report.ConfirmationChanged, why
	}
	return nil, report.ConfirmationUnused, "none of the VMs that it held is to confirm: they are gone, or tied to a cluster by more than their place"
}

// vms returns the VM to confirm with the id.
func (a *application) vms(c *Confirmation) (all []thing, state report.ConfirmationState, why string) {
	if c.Folder != "" {
		return a.folder(c)
	}
	var is, named []*report.InfraMachine
	for i := range a.r.InfraMachines {
		m := &a.r.InfraMachines[i]
		v := &m.Instance
		if v.Provider != c.Provider || a.place(v) != c.Place {
			continue
		}
		switch {
		case strings.EqualFold(v.ID, c.ID):
			is = append(is, m)
		case v.Name == c.VM:
			named = append(named, m)
		}
	}
	if len(is) > 1 { // a copy has the id, too: the name has to tell them apart
		is = slices.DeleteFunc(is, func(m *report.InfraMachine) bool { return m.Instance.Name != c.VM })
	}
	switch {
	case len(is) > 1:
		return nil, report.ConfirmationChanged, "several VMs have that name and id"
	case len(is) > 0:
		return []thing{{is[0].Instance.Object(), &is[0].Confirmed}}, report.ConfirmationTaken, ""
	case !a.has(c):
		return nil, report.ConfirmationUnused, notHere
	case len(named) > 0:
		return nil, report.ConfirmationChanged, fmt.Sprintf("the VM of that name has the id %s now, and it speaks of %s", named[0].Instance.ID, c.ID)
	}
	return nil, report.ConfirmationUnused, "no VM to confirm is it: it is gone, or a machine of a cluster"
}

// isIn reports whether an inventory path is in a folder or beneath it.
func isIn(vm, folder string) bool {
	folder = strings.TrimSuffix(path.Clean("/"+folder), "/")
	return strings.HasPrefix(path.Clean("/"+vm), folder+"/")
}

// cluster returns a cluster that is given up, which only one may be of which nothing exists: the
// machines of another would run on, unmanaged. Of several of that name, in several backups, each
// has to be such a one.
func (a *application) cluster(c *Confirmation) (all []thing, state report.ConfirmationState, why string) {
	for i := range a.r.Clusters {
		k := &a.r.Clusters[i]
		if k.Title() != c.Cluster || k.Self {
			continue
		}
		if why := exists(k); why != "" {
			return nil, report.ConfirmationChanged, why
		}
		all = append(all, thing{"Cluster " + c.Cluster, &k.Confirmed})
	}
	if all == nil {
		return nil, report.ConfirmationUnused, "the report has no such cluster"
	}
	return all, report.ConfirmationTaken, ""
}

// exists says what of a cluster exists, or may exist; empty when all that the backup records of
// it is known to be gone.
func exists(k *report.Cluster) string {
	pool := func(g report.Group) bool { return g.Pool != nil && g.Pool.State != code.Absent }
	switch n := k.Counts.Healthy + k.Counts.Ghost + k.Counts.Unknown; {
	case k.Nodes.State == report.NodesRead:
		return "its API server answers, with " + english.Count(k.Nodes.Count, "Node")
	case n > 0:
		return english.Count(n, "VM") + " of it exist, or may exist"
	case slices.ContainsFunc(k.Workers.Groups, pool):
		return "a machine pool of it exists, or may exist"
	case !k.ControlPlane.Applicable || k.ControlPlane.Counts.Stale == 0:
		return "whether its control plane is gone is not known"
	}
	return ""
}

// machine returns a machine whose VM is off, or whose Machine the backup lacks while its VM runs on. Of
// several of that name, in several backups, it is the one with the id.
func (a *application) machine(c *Confirmation) (all []thing, state report.ConfirmationState, why string) {
	state, why = report.ConfirmationUnused, "the report has no such machine"
	for m := range a.machines(c.Machine) {
		switch {
		case m.Instance == nil:
			state, why = report.ConfirmationChanged, "no VM is it"
		case !strings.EqualFold(m.Instance.ID, c.ID):
			state, why = report.ConfirmationChanged, fmt.Sprintf("its VM has the id %s now, and it speaks of %s", m.Instance.ID, c.ID)
		case c.As == Leave && !isMissing(m):
			state, why = report.ConfirmationChanged, "its Machine is in the backup, and a controller reconciles it"
		case c.As == Leave && m.Role == report.RoleControlPlane:
			state, why = report.ConfirmationUnused, "it is of a control plane, which may remove it from etcd"
		case c.As == Leave && !a.named("Machine "+c.Machine, code.MachinesMissing):
			state, why = report.ConfirmationUnused, "more becomes of it than that its VM keeps running: the report says what"
		case c.As == StaysOff && !m.IsOff():
			state, why = report.ConfirmationChanged, "its VM is "+m.Instance.State
		case c.As == StaysOff && a.named("Machine "+c.Machine, code.InstancesStarted): // now or by the plan
			state, why = report.ConfirmationUnused, "its controller powers it on after a restore: its cluster has to stay paused for that"
		default:
			return []thing{{"Machine " + c.Machine, &m.Confirmed}}, report.ConfirmationTaken, ""
		}
	}
	return nil, state, why
}

// isMissing reports whether the backup lacks the Machine of a machine, and has what else is its.
func isMissing(m *report.Machine) bool {
	return slices.ContainsFunc(m.Warnings, func(w report.Warning) bool { return w.Reason == code.MachineMissing })
}

// named reports whether an answer has a reason about an object, or has it resolved by the plan.
func (a *application) named(object string, reason code.Reason) bool {
	var all []report.AnswerReason
	if now := a.r.Summary.Answer; now != nil {
		all = append(all, now.Reasons...)
	}
	if by := a.r.Summary.AnswerByPlan; by != nil {
		all = append(append(all, by.Reasons...), by.Resolved...)
	}
	return slices.ContainsFunc(all, func(r report.AnswerReason) bool {
		return r.Code == reason && slices.Contains(r.Objects, object)
	})
}

// machines returns those of a namespace and name.
func (a *application) machines(name string) iter.Seq[*report.Machine] {
	return func(yield func(*report.Machine) bool) {
		for i := range a.r.Clusters {
			k := &a.r.Clusters[i]
			for _, s := range k.Sets() {
				for j := range s.Machines {
					if m := &s.Machines[j]; !k.Self && english.Join("/", m.Namespace, m.Name) == name && !yield(m) {
						return
					}
				}
			}
		}
	}
}

// place returns the identity of the place that an instance is in, or its endpoint.
func (a *application) place(v *report.Instance) string {
	for i := range a.r.Scopes {
		if s := &a.r.Scopes[i]; s.Holds(v) {
			return placeOf(s)
		}
	}
	return ""
}

func placeOf(s *report.Scope) string {
	if s.Identity != "" {
		return s.Identity
	}
	return english.Join(" ", s.Endpoint, s.Location)
}

func (a *application) note(c *Confirmation, object string) {
	w := word{c.As, c.By, c.On, c.Folder, c.As == GivenUp && !a.leavesOut(c.Cluster)}
	if a.taken[w] == nil {
		a.order = append(a.order, w)
	}
	if !slices.Contains(a.taken[w], object) {
		a.taken[w] = append(a.taken[w], object)
	}
}

// leavesOut reports whether the plan's restore leaves out each cluster of a name.
func (a *application) leavesOut(title string) bool {
	tells := a.r.Tellable()
	return !slices.ContainsFunc(a.r.Clusters, func(k report.Cluster) bool { return k.Title() == title && !tells(&k) })
}

// settles are the reasons of the answer that a word is about.
var settles = map[As][]code.Reason{
	NotAMachine: {code.InstancesToConfirm}, Leave: {code.InstancesToConfirm, code.MachinesMissing}, StaysOff: {code.InstancesStopped},
}

// finish takes what was confirmed out of the answers, and makes conditions of it.
func (a *application) finish() {
	s := &a.r.Summary
	for i := range a.r.InfraMachines {
		if a.r.InfraMachines[i].Confirmed != nil {
			s.ConfirmedInfraMachines++
		}
	}
	if s.Status == code.NeedFurtherConfirmationInfraMachines && a.r.ToConfirm() == 0 {
		s.Status = code.Healthy
	}
	open := a.open()
	var conditions []report.Note
	for _, w := range a.order {
		objects := a.taken[w]
		conditions = append(conditions, report.Note{Code: code.OnTheWordOf, Message: w.says(len(objects)), Objects: objects})
		if w.as == GivenUp { // Velero restores it all the same, unless the plan leaves it out
			if p := s.AnswerByPlan; p != nil {
				var resolved []report.AnswerReason
				p.Reasons, resolved = without(p.Reasons, func(reason code.Reason, object string) bool {
					return slices.Contains(objects, a.clusterOf(reason, object))
				})
				p.Resolved = append(p.Resolved, resolved...)
			}
			continue
		}
		gone := func(reason code.Reason, object string) bool {
			return slices.Contains(settles[w.as], reason) && slices.Contains(objects, object) && !open[object]
		}
		if s.Answer != nil {
			s.Answer.Reasons, _ = without(s.Answer.Reasons, gone)
		}
		if p := s.AnswerByPlan; p != nil {
			p.Reasons, _ = without(p.Reasons, gone)
			p.Resolved, _ = without(p.Resolved, gone)
		}
	}
	if s.Answer != nil {
		if len(s.Answer.Reasons) == 0 && s.Status != code.Healthy && s.Status != code.NeedFurtherConfirmationInfraMachines {
			s.Answer.Reasons = []report.AnswerReason{{Code: code.StatusNotHealthy, Message: "The status is " + string(s.Status), Objects: []string{}}}
		}
		s.Answer.Safe = report.SafeAfter(s.Answer.Reasons)
		s.Answer.Conditions = append(conditions, s.Answer.Conditions...)
	}
	if p := s.AnswerByPlan; p != nil {
		p.Safe = report.SafeAfter(p.Reasons)
	}
}

// open returns the names of things of which not each has been confirmed: VMs of two places may have
// one path, and machines of two backups one name.
func (a *application) open() map[string]bool {
	out := map[string]bool{}
	for i := range a.r.InfraMachines {
		if m := &a.r.InfraMachines[i]; m.Confirmed == nil {
			out[m.Instance.Object()] = true
		}
	}
	for w, objects := range a.taken {
		for _, object := range objects {
			for m := range a.machines(strings.TrimPrefix(object, "Machine ")) {
				if m.Confirmed == nil && (w.as == StaysOff && m.IsOff() || w.as == Leave && isMissing(m)) {
					out[object] = true
				}
			}
		}
	}
	return out
}

// clusterOf names the cluster that an object is of, as reasons do; empty where it is of none.
func (a *application) clusterOf(reason code.Reason, object string) string {
	at := a.places.Of(reason, object)
	if at.Part != report.InClusters {
		return ""
	}
	return "Cluster " + a.r.Clusters[at.Index].Title()
}

// says returns the word as a condition.
func (w word) says(n int) string {
	what := map[As]string{
		NotAMachine: "%s belong to no cluster of the backup", Leave: "%s are known, and stay as they are",
		GivenUp: "%s are given up, and left out of the restore", StaysOff: "%s stay off",
	}[w.as]
	if w.paused {
		what = "%s are given up, and left paused after the restore (no selector leaves out that alone)"
	}
	noun := map[As]string{GivenUp: "Cluster", StaysOff: "machine"}[w.as]
	if noun == "" {
		noun = "VM"
	}
	count := english.Count(n, noun)
	if n == 1 {
		what = strings.NewReplacer(" belong to", " belongs to", " are ", " is ", " and stay as they are", " and stays as it is", " stay ", " stays ").Replace(what + " ")
	}
	if w.folder != "" {
		count += " in folder " + w.folder
	}
	text := strings.TrimSpace(fmt.Sprintf(what, count))
	return text + ", on the word of " + w.by + " (" + w.on + ")"
}

// without returns the reasons without the objects that are gone, and what was taken out.
func without(all []report.AnswerReason, gone func(code.Reason, string) bool) (left, out []report.AnswerReason) {
	left = []report.AnswerReason{}
	for _, reason := range all {
		own, taken := reason, reason
		own.Objects, taken.Objects = []string{}, []string{}
		for _, object := range reason.Objects {
			if gone(reason.Code, object) {
				taken.Objects = append(taken.Objects, object)
			} else {
				own.Objects = append(own.Objects, object)
			}
		}
		if len(taken.Objects) > 0 {
			out = append(out, taken)
		}
		if len(own.Objects) > 0 || len(reason.Objects) == 0 {
			left = append(left, own)
		}
	}
	return left, out
}
