package report

import (
	"cmp"
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

// SafeAfter returns the answer that reasons leave, of which the first is the most dangerous.
func SafeAfter(reasons []AnswerReason) code.Safe {
	if len(reasons) == 0 {
		return code.Yes
	}
	return code.SafeAfter(reasons[0].Code)
}

// Answer is what a reader must know first: every format begins with it, and then has the
// list of what is to be done.
type Answer struct {
	// Question is what Safe answers: "Safe to restore?", or of a management cluster that runs
	// "Drift now:".
	Question string
	Safe     string      // to restore as Velero does by default? "YES", "CONFIRM FIRST", …
	Status   code.Status // Summary.Status
	// As is the status that Safe looks like: Status, or a worse one.
	As code.Status
	// ByPlan is Safe for a restore by the plan, and After what that is given after: "after 2
	// decisions and 3 steps". Both are empty in reports of versions that did not answer it.
	ByPlan, After string
	ByPlanAs      code.Status
	// Conditions are what holds only while each of them does, those that are special to the
	// report first; none where neither answer is that anything is safe.
	Conditions []Note
	Facts      []Fact
}

// Fact is a sentence about what the report is of, marked like the status it speaks of.
type Fact struct {
	Status code.Status
	Text   string
}

// Answer says whether it is safe to restore, as Velero does by default and by the plan. Of a
// report without an answer nobody knows.
func (r *Report) Answer() Answer {
	a := Answer{Question: "Safe to restore?", Status: r.Summary.Status, As: r.Summary.Status, Facts: facts(r)}
	if r.IsLive() {
		a.Question, a.Safe = "Drift now:", r.driftNow()
		return a
	}
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
	if p := r.Summary.AnswerByPlan; p != nil {
		a.ByPlan, a.ByPlanAs = SafeWords(p.Safe), cmp.Or(asStatus[p.Safe], code.ManualRemediationRequired)
		a.After = r.after()
	}
	if s := r.Summary.Answer; s != nil && (isSafe(s.Safe) || r.Summary.AnswerByPlan != nil && isSafe(r.Summary.AnswerByPlan.Safe)) {
		a.Conditions = slices.Clone(s.Conditions)
		slices.SortStableFunc(a.Conditions, func(a, b Note) int { return one(b.isSpecial()) - one(a.isSpecial()) })
	}
	return a
}

// isSpecial reports whether a condition says something of this report that its code does not.
func (n *Note) isSpecial() bool { return code.Of(n.Code).Screen == "" }

func isSafe(safe code.Safe) bool { return safe == code.Yes || safe == code.WithWork }

// after says what the answer by the plan is given after.
func (r *Report) after() string {
	decisions, fixes := r.Needs()
	var parts []string
	if decisions > 0 {
		parts = append(parts, english.Count(decisions, "decision"))
	}
	if fixes > 0 {
		parts = append(parts, english.Count(fixes, "step"))
	}
	if parts == nil {
		return ""
	}
	return "after " + strings.Join(parts, " and ")
}

func facts(r *Report) []Fact {
	var out []Fact
	say := func(yes bool, status code.Status, text string) {
		if yes {
			out = append(out, Fact{status, text})
		}
	}
	live := r.IsLive()
	say(r.Summary.Answer == nil && !live, code.Unknown, "This report was made by a version that did not look at all that controllers do: run detect again.")
	say(r.IsMoved(), code.Unknown, "'clusterctl move --from-directory' restores it, which unpauses all Clusters at its end: nothing can be done between.")
	say(!r.Summary.Complete, code.Unknown, "Not everything could be listed or read. What was not seen is Unknown, never Stale.")
	n := r.Summary.Ignored
	say(n > 0, code.Unknown, "Ignore rules set "+english.Count(n, "finding")+" aside; without the rules the status is "+string(r.Summary.StatusWithoutRules)+".")
	if f := r.Options.Filter; f != nil {
		say(true, code.Unknown, f.Covers())
	}
	m := &r.Summary.Machines
	of := r.Subject()
	say(m.Total == 0 && !r.hasPool() && (!live || r.Summary.Complete), r.Summary.Status, "The "+of+" holds no machine that could be compared.")
	say(m.Total > 0 && m.Healthy == m.Total, code.Healthy, "Every machine of the "+of+" has its VM.")
	return out
}

func (r *Report) hasPool() bool {
	for i := range r.Clusters {
		if !r.Clusters[i].Self && slices.ContainsFunc(r.Clusters[i].Workers.Groups, func(g Group) bool { return g.Pool != nil }) {
			return true
		}
	}
	return false
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
