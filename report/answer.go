package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report/code"
)

// safeWords are the answers as people read them first.
var safeWords = map[code.Safe]string{code.Yes: "YES", code.WithWork: "NOT WITHOUT MANUAL WORK", code.Unclear: "NOT CLEAR YET", code.No: "NO"}

// asStatus is the status that an answer looks like.
var asStatus = map[code.Safe]code.Status{
	code.Yes: code.Healthy, code.WithWork: code.ManualRemediationNotRequired, code.Unclear: code.NeedFurtherConfirmation, code.No: code.ManualRemediationRequired,
}

// SafeWords returns an answer as people read it first: "NOT CLEAR YET". Of one that this
// release does not know nothing is clear.
func SafeWords(safe code.Safe) string { return cmp.Or(safeWords[safe], safeWords[code.Unclear]) }

// Answer is what a reader must know first: every format begins with it.
type Answer struct {
	Safe   string      // to restore? "YES", "CONFIRM FIRST", …
	Status code.Status // Summary.Status
	// As is the status that Safe looks like: Status, or a worse one.
	As    code.Status
	Facts []Fact // by urgency
}

// Fact is one sentence of the answer, marked like the status it speaks of.
type Fact struct {
	Status code.Status
	Text   string
}

// Answer says whether it is safe to restore, and why or why not: Summary.Answer in
// words. Of a report without one nobody knows. What rules set aside is counted in one
// fact of its own.
func (r *Report) Answer() Answer {
	a := Answer{Status: r.Summary.Status, As: r.Summary.Status, Facts: facts(r)}
	safe := code.Unclear
	if s := r.Summary.Answer; s != nil {
		safe = s.Safe
	}
	if as := cmp.Or(asStatus[safe], code.ManualRemediationRequired); a.As == code.Healthy || code.Urgency(as) < code.Urgency(a.As) {
		a.As = as
	}
	a.Safe = SafeWords(safe)
	if s := r.Summary.Answer; s != nil && safe == code.Unclear && len(s.Reasons) > 0 {
		switch s.Reasons[0].Code {
		case code.NothingToCompare:
			a.Safe, a.As = "NOTHING TO COMPARE", a.Status
		case code.InstancesToConfirm:
			a.Safe = "CONFIRM FIRST"
		}
	}
	return a
}

// factList collects facts with their numbers.
type factList []Fact

// count adds a fact about n things, unless there are none.
func (l *factList) count(n int, status code.Status, one, many string) {
	switch {
	case n == 1:
		*l = append(*l, Fact{status, "1 " + one})
	case n > 1:
		*l = append(*l, Fact{status, fmt.Sprintf("%d %s", n, many)})
	}
}

// counted are the reasons that facts of their own say with numbers.
var counted = map[code.Reason]bool{
	code.BackupError: true, code.Incomplete: true, code.ErrorsOccurred: true, code.InstancesToConfirm: true, code.NothingToCompare: true, code.NoForecast: true,
	code.MachinesUnknown: true, code.CopiedID: true, code.PoolNotDecided: true, code.MachinesBroken: true,
	code.StaleReplaced: true, code.InstancesStopped: true, code.GhostsLeft: true,
}

// reasons are the other reasons of the answer, and of one that is not no what it rests on.
func (l *factList) reasons(r *Report) {
	a := r.Summary.Answer
	if a == nil {
		*l = append(*l, Fact{code.Unknown, "This report was made by a version that did not look at all that controllers do: run detect again."})
		return
	}
	for i := range a.Reasons {
		reason := &a.Reasons[i]
		if counted[reason.Code] {
			continue
		}
		text := reason.Message
		if len(reason.Objects) > 0 {
			text += ": " + english.First(3, reason.Objects)
		}
		*l = append(*l, Fact{asStatus[code.SafeAfter(reason.Code)], english.Sentence(text)})
	}
	if (a.Safe == code.Yes || a.Safe == code.WithWork) && len(a.Conditions) > 0 {
		*l = append(*l, Fact{code.Unknown, fmt.Sprintf("This holds under %s. The first: %s", english.Count(len(a.Conditions), "condition"), a.Conditions[0].Sentence())})
	}
}

func facts(r *Report) []Fact {
	t := tally(r)
	var l factList
	l.reasons(r)
	l.machines(r, &t)
	l.beside(r, &t)
	l.scope(r, &t)
	return l
}

// machines are the facts about machines and Ghosts, and about the backup itself,
// which comes first when it is not fit.
func (l *factList) machines(r *Report, t *tallies) {
	m := r.Open()
	errors := strings.Join(slices.Sorted(maps.Keys(t.checkErrors)), ", ")
	l.count(r.CheckErrors(), code.Ghost,
		"error in the backup itself: "+errors+". Resolve it before the restore, see below.",
		"errors in the backup itself: "+errors+". Resolve them before the restore, see below.")
	const ghost = "that the backup does not know (Ghost). Restored controllers will not manage it: take a newer backup if there is one, else remove it by hand after the restore."
	l.count(m.Ghost, code.Ghost, "VM exists "+ghost, "VMs exist "+strings.ReplaceAll(ghost, " it", " them"))
	l.count(t.ghostControlPlane, code.Ghost,
		"of the Ghosts is a control plane machine: the restored KubeadmControlPlane may remove its etcd member. Plan for that before the restore.",
		"of the Ghosts are control plane machines: the restored KubeadmControlPlane may remove their etcd members. Plan for that before the restore.")
	l.count(t.duplicates, code.Ghost,
		"machine shares its id with another VM (DuplicateID): deleting its Machine (by hand, by a health check, by a scale-down) may destroy every VM of its datacenter with that id. Give the copy another id, or remove it, before the restore.",
		"machines share their ids with other VMs (DuplicateID): deleting such a Machine (by hand, by a health check, by a scale-down) may destroy every VM of its datacenter with its id. Give the copies other ids, or remove them, before the restore.")
	l.count(m.Unknown-t.unsupported, code.Unknown,
		"machine could not be classified (Unknown). Fix the cause listed below and run again.",
		"machines could not be classified (Unknown). Fix the causes listed below and run again.")
	l.count(t.unsupported, code.Unknown,
		"machine is of a provider that is not supported: nothing is known about it.",
		"machines are of a provider that is not supported: nothing is known about them.")
	const stale = "no VM (Stale). A MachineHealthCheck that covers %s replaces it after the restore; without one, delete the Machine then and its owner makes a new one."
	l.count(m.Stale, code.Stale, "machine of the backup has "+fmt.Sprintf(stale, "it"), "machines of the backup have "+fmt.Sprintf(stale, "a machine"))
	if f := r.Summary.Forecast; f != nil {
		l.count(f.NotHealing-t.notHealingAside, code.Stale,
			"Stale machine will not be replaced automatically after the restore, and counts as a replica. Its forecast says why, and what to do.",
			"Stale machines will not be replaced automatically after the restore, and count as replicas. Their forecasts say why, and what to do.")
	}
	l.count(t.staleControlPlane, code.Stale,
		"of the Stale is a control plane machine: see that etcd keeps its quorum before you delete it.",
		"of the Stale are control plane machines: see that etcd keeps its quorum before you delete one.")
}

// beside are the facts about what is no machine, and about warnings.
func (l *factList) beside(r *Report, t *tallies) {
	l.count(t.stopped, code.Unknown,
		"VM is off, and no controller will start it: see its forecast.",
		"VMs are off, and no controller will start them: see their forecasts.")
	l.count(t.poolsAbsent, code.Unknown,
		"machine pool was not found: restored controllers will re-create it, with new machines.",
		"machine pools were not found: restored controllers will re-create them, with new machines.")
	l.count(t.poolsUndecided, code.Unknown,
		"machine pool could not be decided, below it says why.", "machine pools could not be decided, below each says why.")
	l.count(r.Summary.Resources.Absent, code.Unknown,
		"resource that machines are made of is gone: replacing a machine will fail there, see below.",
		"resources that machines are made of are gone: replacing a machine will fail there, see below.")
	l.count(r.Summary.InfraMachines-r.Summary.IgnoredInfraMachines, code.Unknown,
		"VM may or may not belong to a cluster of the backup: ask its owner.",
		"VMs may or may not belong to a cluster of the backup: ask their owners.")
	warnings := strings.Join(slices.Sorted(maps.Keys(t.warnings)), ", ")
	l.count(t.warned, code.Unknown, "machine carries a warning: "+warnings+".", "machines carry warnings: "+warnings+".")
	l.count(t.missing, code.Unknown, "thing is missing in the backup, see below.", "things are missing in the backup, see below.")
	l.count(len(r.OtherErrors()), code.Unknown, "error occurred, see below.", "errors occurred, see below.")
}

// scope are the facts about what the report is of.
func (l *factList) scope(r *Report, t *tallies) {
	l.count(r.Summary.Ignored, code.Unknown,
		"finding is set aside by an ignore rule and changes no status; without the rules the status is "+string(r.Summary.StatusWithoutRules)+".",
		"findings are set aside by ignore rules and change no status; without the rules the status is "+string(r.Summary.StatusWithoutRules)+".")
	if f := r.Options.Filter; f != nil {
		*l = append(*l, Fact{code.Unknown, f.Covers()})
	}
	if !r.Summary.Complete {
		*l = append(*l, Fact{code.Unknown, "Not everything could be listed or read. What was not seen is Unknown, never Stale."})
	}
	switch {
	case r.Summary.Machines.Total == 0 && t.pools > 0:
	case r.Summary.Machines.Total == 0:
		*l = append(*l, Fact{r.Summary.Status, "The backup holds no machine that could be compared."})
	case r.Summary.Machines.Healthy == r.Summary.Machines.Total:
		*l = append(*l, Fact{code.Healthy, "Every machine of the backup has its VM."})
	}
}

// tallies are numbers that the answer needs in addition to the summary's.
type tallies struct {
	ghostControlPlane, staleControlPlane, unsupported, warned, missing int
	pools, poolsAbsent, poolsUndecided, duplicates, stopped            int
	notHealingAside                                                    int             // of what rules set aside
	warnings, checkErrors                                              map[string]bool // their reasons, and codes
}

func tally(r *Report) tallies {
	t := tallies{warnings: map[string]bool{}, checkErrors: map[string]bool{}}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if c.Self {
			continue
		}
		for _, s := range c.Sets() {
			t.set(&s)
		}
	}
	for i := range r.Backups {
		t.missing += len(r.Backups[i].Missing)
	}
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Error() {
			t.checkErrors[string(c.Code)] = true
		}
	}
	return t
}

func (t *tallies) set(s *Set) {
	if p := s.Pool; p != nil {
		t.pools++
		t.poolsAbsent += one(p.State == code.Absent)
		t.poolsUndecided += one(p.State != code.Absent && p.State != code.Present)
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Ignored != nil {
			t.notHealingAside += one(m.Status == code.Stale && m.Forecast != nil && !m.Forecast.Heals())
			continue
		}
		t.ghostControlPlane += one(m.Status == code.Ghost && m.Role == RoleControlPlane)
		t.staleControlPlane += one(m.Status == code.Stale && m.Role == RoleControlPlane)
		t.unsupported += one(m.Unsupported())
		t.warn(m)
		t.stopped += one(m.Status == code.Healthy && m.Forecast != nil && m.Forecast.Outcome == code.Stuck)
	}
}

// warn counts the warnings of a machine; DuplicateID has a fact of its own.
func (t *tallies) warn(m *Machine) {
	others := 0
	for _, w := range m.Warnings {
		if w.Reason == code.DuplicateID {
			t.duplicates++
			continue
		}
		others++
		t.warnings[string(w.Reason)] = true
	}
	t.warned += one(others > 0)
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
