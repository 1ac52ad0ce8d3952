package ready

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/confirm"
)

// Bounds on the age of a report: VMs and what a restore does to them change meanwhile.
const (
	oldest = 4 * time.Hour
	skew   = 5 * time.Minute // clocks differ
)

func isSafe(s code.Safe) bool { return s == code.Yes || s == code.WithWork }

// Contradiction returns what the report has that detect never writes: a member that is another than
// it was written, or a list to do other than the one that follows from the rest in this release, of
// whose plan --done names the steps. Empty: it has nothing of that. What narrows a report has no
// digests, and keeps the steps of the whole: it is none to go by either, see age.
func Contradiction(r *report.Report, toDo []report.ToDo) string {
	if r.Options.Filter != nil && r.Options.Filter.View {
		return ""
	}
	members, sealed := r.Changed()
	switch {
	case !sealed:
		return "it has no digests, by which a change would show"
	case len(members) > 0:
		return "not as detect wrote it: " + english.First(len(members), members)
	}
	same := func(x, y report.ToDo) bool {
		return x.Phase == y.Phase && x.Safe == y.Safe && x.Code == y.Code && x.Reason == y.Reason && x.Resolved == y.Resolved &&
			slices.Equal(x.Objects, y.Objects) && slices.Equal(x.Steps, y.Steps)
	}
	if r.Options.Filter == nil && !slices.EqualFunc(r.ToDo, toDo, same) { // what narrows a report keeps the steps of the whole
		for i := range toDo {
			if len(r.ToDo) == len(toDo) && !same(r.ToDo[i], toDo[i]) {
				return fmt.Sprintf("number %d of the %s to do that it lists (%s) is not what follows from what it has found", i+1, english.Count(len(toDo), "thing"), name(string(r.ToDo[i].Code)))
			}
		}
		return fmt.Sprintf("it lists %s to do, and from what it has found follow %s", english.Count(len(r.ToDo), "thing"), english.Count(len(toDo), "thing"))
	}
	return ""
}

// answers sees that the restore is safe by the plan, and that what the plan has before it is done.
func (l *looking) answers() {
	r := l.Report
	a, p := r.Summary.Answer, r.Summary.AnswerByPlan
	if a == nil || p == nil || r.ToDo == nil {
		l.add(Item{Check: "answer", State: Unseen, What: "the report does not say whether a restore by the plan is safe", Why: "an older version of drift-detector made it", Next: again("")})
		return
	}
	l.doc.ByDefault, l.doc.ByPlan = a.Safe, p.Safe
	open := false
	for i := range r.ToDo {
		open = l.toDo(&r.ToDo[i]) || open
	}
	for i := range p.Reasons {
		k := &p.Reasons[i]
		listed := slices.ContainsFunc(r.ToDo, func(t report.ToDo) bool {
			return !t.Resolved && !isSafe(t.Safe) && (t.Code == k.Code || t.Reason == k.Code)
		})
		if !isSafe(code.SafeAfter(k.Code)) && !listed {
			open = true
			l.add(Item{Check: string(k.Code), State: Missing, What: about(k.Objects) + english.Clause(k.Message), Why: "the plan does not resolve it", Next: l.Program + " explain " + string(k.Code) + " " + l.File, Objects: k.Objects})
		}
	}
	item := Item{Check: "answer", State: Holds, What: "the restore by the plan is safe: " + report.SafeWords(p.Safe)}
	if !isSafe(p.Safe) {
		if open {
			return // the items say why
		}
		item = Item{Check: "answer", State: Missing, What: "the restore by the plan is not safe: " + report.SafeWords(p.Safe), Why: "the report says so", Next: l.Program + " render " + l.File}
	}
	l.add(item)
}

// toDo reports whether a thing to do leaves the answer by the plan open. What leaves no more than
// work does not keep a restore from being safe.
func (l *looking) toDo(t *report.ToDo) bool {
	if isSafe(t.Safe) || t.Resolved && t.Phase != code.Before {
		return false
	}
	item := Item{Check: string(t.Code), State: Missing, What: about(t.Objects) + t.Message, Objects: t.Objects, Next: l.Program + " explain " + string(t.Code) + " " + l.File}
	var words []string
	if len(t.Steps) > 0 {
		item.Step, item.Next = t.Steps[0], l.step(t.Steps[0])
	}
	if !t.Resolved {
		item.Why = "the plan does not resolve it"
		item.Next += "; do it, then " + again("")
		l.add(item)
		return true
	}
	for _, n := range t.Steps {
		words = append(words, strconv.Itoa(n))
	}
	item.Why = "the plan has it before the restore"
	for _, w := range words {
		if w == words[0] {
			item.Next += "; then --done " + w
		} else {
			item.Next += " --done " + w
		}
	}
	l.add(item, words...)
	return false
}

// about names things in front of a clause.
func about(objects []string) string {
	if len(objects) == 0 {
		return ""
	}
	short := make([]string, 0, mostObjs)
	for _, o := range objects[:min(mostObjs, len(objects))] {
		short = append(short, name(o))
	}
	text := english.First(mostObjs, append(short, objects[len(short):]...))
	return text + ": "
}

// age sees that the report is whole and young.
func (l *looking) age() {
	r := l.Report
	whole := Item{Check: "complete", State: Holds, What: "the report is complete"}
	switch f := r.Options.Filter; {
	case !r.Summary.Complete:
		whole = Item{Check: "complete", State: Missing, What: "the report is incomplete", Why: "what was not seen is Unknown", Next: "resolve what it lists as incomplete and as errors, and " + again("")}
	case f != nil:
		whole = Item{Check: "complete", State: Missing, What: "the report is only of some clusters: " + name(f.String()), Why: "the restore brings back all", Next: again(" without that")}
	}
	l.add(whole)
	l.young()
	for i := range r.Backups {
		if at := r.Backups[i].WrittenTo; !at.IsZero() && (l.doc.BackupAt == nil || at.Before(*l.doc.BackupAt)) {
			l.doc.BackupAt = &at
		}
	}
}

// young sees that the report is young, and no less what it was made of: a saved inventory, or the
// time that it took, make a listing older than the report. Each place counts, the oldest first.
func (l *looking) young() {
	r := l.Report
	at, what, again := r.GeneratedAt, "the report is ", again("")
	ahead := at.Sub(l.Now) > skew
	for i := range r.Scopes {
		s := &r.Scopes[i]
		if s.ListedAt.IsZero() {
			l.add(Item{Check: "age", State: Unseen, What: "not looked at: when " + name(s.Title()) + " was listed", Why: "the report does not say it: nobody listed it, or an older version of drift-detector made the report", Next: again})
			return
		}
		ahead = ahead || s.ListedAt.Sub(l.Now) > skew
		if s.ListedAt.Before(at) {
			at, what = s.ListedAt, "the report rests on a listing of "+name(s.Title())+" of "+s.ListedAt.UTC().Format("2006-01-02 15:04")+" UTC, "
			again = "run detect again without saved listings (--inventory), and go on with that report"
		}
	}
	if len(r.Scopes) > 0 {
		l.doc.ListedAt = &at
	}
	since := l.Now.Sub(at)
	young := Item{Check: "age", State: Holds, What: what + ago(since) + " old"}
	switch {
	case r.GeneratedAt.IsZero(), ahead:
		young = Item{Check: "age", State: Missing, What: "the report or a listing of it is of a time to come, or of none", Why: "a clock is wrong, here or where it was made", Next: "set the clock, and " + again}
	case since > oldest:
		young.State, young.Why, young.Next = Missing, "VMs change meanwhile; "+ago(oldest)+" is the most", again
	}
	l.add(young)
}

// ago returns a length of time in words.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Hour:
		return english.Count(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return english.Count(int(d.Hours()), "hour")
	}
	return english.Count(int(d.Hours()/24), "day")
}

// confirmations sees that people still say what the report takes for seen, and that it has seen
// all that they say: a word that was written down later changes neither the report nor the plan.
func (l *looking) confirmations() {
	today := l.Now.UTC().Format(time.DateOnly)
	unseen := slices.Clone(l.Confirmations)
	used, open := 0, false
	for i := range l.Report.Confirmations {
		c := &l.Report.Confirmations[i]
		at := slices.IndexFunc(unseen, func(f confirm.Confirmation) bool { return isSame(&f, c) })
		if at >= 0 {
			unseen = slices.Delete(unseen, at, at+1)
		}
		if c.State != report.ConfirmationTaken {
			continue
		}
		used++
		item := Item{Check: "confirmation", State: Missing, What: name(c.Subject) + ": " + name(c.As) + ", on the word of " + name(c.By), Objects: []string{c.Subject}}
		switch {
		case c.Expires != "" && today > c.Expires:
			item.Why, item.Next = "it expired on "+name(c.Expires), "ask again, write it down with "+l.Program+" confirm, and "+again(" with --confirmations")
		case !l.Given:
			item.State, item.Why, item.Next = Unseen, "the report rests on it, and no file was given", "give the file with --confirmations"
		case at < 0:
			item.Why, item.Next = "the file does not say so any more", again(" with the file as it is")
		default:
			continue
		}
		open = true
		l.add(item)
	}
	for _, what := range confirm.Contradictions(l.Confirmations, unseen) {
		open = true
		l.add(Item{Check: "confirmation", State: Missing, What: "people contradict each other", Why: report.Valid(what), Next: again(" with the file as it is then")})
	}
	if len(unseen) > 0 {
		open = true
		item := Item{Check: "confirmation", State: Missing, Why: "the answer and the plan do not know them", Next: again(" with --confirmations and that file")}
		item.What = english.Count(len(unseen), "word") + " of the file are not in this report"
		if len(unseen) == 1 {
			item.What, item.Why = "1 word of the file is not in this report", "the answer and the plan do not know it"
		}
		for i := range unseen {
			item.Objects = append(item.Objects, unseen[i].Subject())
		}
		item.What += ": " + strings.TrimSuffix(about(item.Objects), ": ")
		l.add(item)
	}
	if used > 0 && !open {
		l.add(Item{Check: "confirmation", State: Holds, What: english.Count(used, "confirmation") + " of people, as in the file"})
	}
}

// isSame reports whether a report has a word of a file.
func isSame(f *confirm.Confirmation, c *report.Confirmation) bool {
	return c.Subject == f.Subject() && c.ID == f.ID && slices.Equal(c.IDs, f.IDs) && c.As == string(f.As) && c.By == f.By && c.On == f.On && c.Expires == f.Expires
}
