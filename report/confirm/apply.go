package confirm

import (
	"fmt"
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
// and not taken; warnings say so. It returns an error, and changes nothing, where two of them
// contradict each other.
func Apply(r *report.Report, all []Confirmation, now time.Time) (warnings []string, err error) {
	if err := Contradiction(all); err != nil {
		return nil, fmt.Errorf("confirmations: %w", err)
	}
	a := application{r: r, places: r.Places(), today: now.UTC().Format(time.DateOnly), taken: map[word][]string{}}
	for i := range all {
		c := &all[i]
		state, why := a.take(c)
		r.Confirmations = append(r.Confirmations, report.Confirmation{
			Subject: c.Subject(), ID: c.ID, As: string(c.As), By: c.By, On: c.On, Expires: c.Expires, State: state, Message: why,
		})
		if state != report.ConfirmationTaken {
			warnings = append(warnings, fmt.Sprintf("what %s confirms of %s is not taken: %s", c.By, c.Subject(), why))
		}
	}
	if len(a.order) > 0 {
		a.finish()
	}
	return warnings, nil
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
}

// take marks what a confirmation speaks of, or says why it is not taken.
func (a *application) take(c *Confirmation) (state report.ConfirmationState, why string) {
	if c.Expires != "" && a.today > c.Expires {
		return report.ConfirmationExpired, "it expired on " + c.Expires
	}
	mark := &report.Confirmed{As: string(c.As), By: c.By, On: c.On, Expires: c.Expires}
	switch {
	case c.Cluster != "":
		return a.cluster(c, mark)
	case c.Machine != "":
		return a.machine(c, mark)
	}
	return a.vms(c, mark)
}

// vms marks the VMs to confirm that it is about.
func (a *application) vms(c *Confirmation, mark *report.Confirmed) (report.ConfirmationState, string) {
	renamed, n := "", 0
	for i := range a.r.InfraMachines {
		m := &a.r.InfraMachines[i]
		v := &m.Instance
		if v.Provider != c.Provider || a.place(v) != c.Place {
			continue
		}
		switch {
		case c.Folder != "" && isIn(v.Path, c.Folder), c.VM != "" && strings.EqualFold(v.ID, c.ID):
			if m.Confirmed == nil {
				a.r.Summary.ConfirmedInfraMachines++
			}
			m.Confirmed = mark
			a.note(c, v.Object())
			n++
		case c.VM != "" && v.Name == c.VM:
			renamed = v.ID
		}
	}
	switch {
	case n > 0:
		return report.ConfirmationTaken, ""
	case !slices.ContainsFunc(a.r.Scopes, func(s report.Scope) bool { return s.Provider == c.Provider && placeOf(&s) == c.Place }):
		return report.ConfirmationUnused, "its place is none of this report"
	case renamed != "":
		return report.ConfirmationChanged, fmt.Sprintf("the VM of that name has the id %s now, and it speaks of %s", renamed, c.ID)
	}
	return report.ConfirmationUnused, "no VM to confirm is it: it is gone, or a machine of a cluster"
}

// isIn reports whether an inventory path is in a folder or beneath it.
func isIn(vm, folder string) bool {
	folder = strings.TrimSuffix(path.Clean("/"+folder), "/")
	return strings.HasPrefix(path.Clean("/"+vm), folder+"/")
}

// cluster marks a cluster that is given up, which only one may be of which nothing exists: the
// machines of another would run on, unmanaged.
func (a *application) cluster(c *Confirmation, mark *report.Confirmed) (report.ConfirmationState, string) {
	for i := range a.r.Clusters {
		k := &a.r.Clusters[i]
		switch n := &k.Counts; {
		case k.Title() != c.Cluster || k.Self:
		case n.Healthy+n.Ghost+n.Unknown > 0:
			return report.ConfirmationChanged, english.Count(n.Healthy+n.Ghost+n.Unknown, "VM") + " of it exist, or may exist"
		default:
			k.Confirmed = mark
			a.note(c, "Cluster "+k.Title())
			return report.ConfirmationTaken, ""
		}
	}
	return report.ConfirmationUnused, "the report has no such cluster"
}

// machine marks a machine whose VM is off.
func (a *application) machine(c *Confirmation, mark *report.Confirmed) (report.ConfirmationState, string) {
	for i := range a.r.Clusters {
		k := &a.r.Clusters[i]
		for _, s := range k.Sets() {
			for j := range s.Machines {
				m := &s.Machines[j]
				if english.Join("/", m.Namespace, m.Name) != c.Machine || k.Self {
					continue
				}
				switch {
				case m.Instance == nil:
					return report.ConfirmationChanged, "no VM is it"
				case !strings.EqualFold(m.Instance.ID, c.ID):
					return report.ConfirmationChanged, fmt.Sprintf("its VM has the id %s now, and it speaks of %s", m.Instance.ID, c.ID)
				case !m.IsOff():
					return report.ConfirmationChanged, "its VM is " + m.Instance.State
				}
				m.Confirmed = mark
				a.note(c, "Machine "+c.Machine)
				return report.ConfirmationTaken, ""
			}
		}
	}
	return report.ConfirmationUnused, "the report has no such machine"
}

// place is the identity of the place that an instance is in, or its endpoint.
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
	w := word{c.As, c.By, c.On}
	if a.taken[w] == nil {
		a.order = append(a.order, w)
	}
	if !slices.Contains(a.taken[w], object) {
		a.taken[w] = append(a.taken[w], object)
	}
}

// settles are the reasons of the answer that a word is about.
var settles = map[As]code.Reason{NotAMachine: code.InstancesToConfirm, Leave: code.InstancesToConfirm, StaysOff: code.InstancesStopped, MayStart: code.InstancesStarted}

// finish takes what was confirmed out of the answers, and makes conditions of it.
func (a *application) finish() {
	s := &a.r.Summary
	if s.Status == code.NeedFurtherConfirmationInfraMachines && a.r.ToConfirm() == 0 {
		s.Status = code.Healthy
	}
	var conditions []report.Note
	for _, w := range a.order {
		objects := a.taken[w]
		conditions = append(conditions, report.Note{Code: code.OnTheWordOf, Message: w.says(len(objects)), Objects: objects})
		gone := func(reason code.Reason, object string) bool {
			return reason == settles[w.as] && slices.Contains(objects, object)
		}
		if w.as == GivenUp {
			gone = func(reason code.Reason, object string) bool {
				return slices.Contains(objects, a.clusterOf(reason, object))
			}
		} else if s.Answer != nil {
			s.Answer.Reasons, _ = without(s.Answer.Reasons, gone)
		}
		if p := s.AnswerByPlan; p != nil {
			var settled []report.AnswerReason
			p.Reasons, settled = without(p.Reasons, gone)
			p.Resolved = append(p.Resolved, settled...)
		}
	}
	if s.Answer != nil {
		s.Answer.Safe = report.SafeAfter(s.Answer.Reasons)
		s.Answer.Conditions = append(conditions, s.Answer.Conditions...)
	}
	if p := s.AnswerByPlan; p != nil {
		p.Safe = report.SafeAfter(p.Reasons)
	}
}

// clusterOf names the cluster that an object is of, as reasons do; empty where it is of none.
func (a *application) clusterOf(reason code.Reason, object string) string {
	at := a.places.Of(reason, object)
	if at.Part != report.InClusters {
		return ""
	}
	return "Cluster " + a.r.Clusters[at.Index].Title()
}

// says is the word as a condition.
func (w word) says(n int) string {
	what := map[As]string{
		NotAMachine: "%s belong to no cluster of the backup", Leave: "%s are known, and stay as they are",
		GivenUp: "%s are given up, and left out of the restore", StaysOff: "%s stay off", MayStart: "%s may be started",
	}[w.as]
	noun := map[As]string{GivenUp: "Cluster", StaysOff: "machine", MayStart: "machine"}[w.as]
	if noun == "" {
		noun = "VM"
	}
	text := fmt.Sprintf(what, english.Count(n, noun))
	if n == 1 {
		text = strings.NewReplacer(" belong to", " belongs to", " are ", " is ", " stay ", " stays ").Replace(text)
	}
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
