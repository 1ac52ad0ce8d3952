// Package ready looks again, right before a restore, whether all that the plan's restore step
// takes for granted holds: by the report, by the confirmations it rests on, and by what kubectl
// prints of the new management cluster. It changes nothing. What it does not see lets nothing pass.
package ready

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"drift-detector/internal/sorting"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/confirm"
)

// State is what became of a look at one precondition.
type State string

// The states, the most pressing first.
const (
	Missing  State = "missing"
	Unseen   State = "notLookedAt"
	OnWord   State = "onYourWord" // --done says that it is done
	Holds    State = "holds"
	longest        = 48 // columns of a foreign name
	mostObjs       = 3  // things that a sentence names
)

var states = []State{Missing, Unseen, OnWord, Holds}

// Result is the answer as a whole.
type Result string

// The results.
const (
	Go     Result = "go"
	NotYet Result = "notYet" // something is missing
	Blind  Result = "notLookedAt"
)

// Document is all that was looked at.
type Document struct {
	SchemaVersion string     `json:"schemaVersion"`
	Kind          string     `json:"kind"`
	GeneratedAt   time.Time  `json:"generatedAt"`
	ReportedAt    time.Time  `json:"reportedAt"` // when the report was made
	ListedAt      *time.Time `json:"listedAt"`   // when the oldest listing of it was made; null where it does not say
	BackupAt      *time.Time `json:"backupAt"`   // when the oldest backup of it was written; null where it does not say
	Result        Result     `json:"result"`
	ByDefault     code.Safe  `json:"byDefault"` // the report's answers
	ByPlan        code.Safe  `json:"byPlan"`
	Open          int        `json:"open"` // items that neither hold nor are on your word
	Items         []Item     `json:"items"`
	// Conditions are what go holds only while each of them does: those of the report's answers.
	Conditions []report.Note `json:"conditions"`
	words      []string
}

// Words returns what --done takes now.
func (d *Document) Words() []string { return slices.Compact(slices.Sorted(slices.Values(d.words))) }

// answerable are the checks that may come to rest on a person's word.
var answerable = []string{"applied", "backup", "controllers", "namespaces", "ofCluster", "oldCluster", "otherVelero", "releases", "restores", "velero", "webhookServices", "webhooks"}

// Takes reports whether --done takes a word, be it of no use now: a check that could not be made
// offers none, and says why.
func (d *Document) Takes(word string) bool {
	return slices.Contains(d.words, word) || slices.Contains(answerable, word)
}

// Item is one precondition.
type Item struct {
	Check   string   `json:"check"`
	State   State    `json:"state"`
	What    string   `json:"what"`
	Why     string   `json:"why,omitempty"`
	Next    string   `json:"next,omitempty"`
	Step    int      `json:"step,omitempty"` // of the plan
	Objects []string `json:"objects,omitempty"`

	command string // the part of Next that is typed
}

// Question is what is looked at.
type Question struct {
	Report        *report.Report
	File          string // the report, as a word of a command
	Program       string // how the program is called, likewise
	Confirmations []confirm.Confirmation
	Given         bool      // that a file of confirmations was given
	Printed       io.Reader // what kubectl printed of the new management cluster; nil: nothing
	Done          []string  // steps of the plan, and checks, that the operator answers for
	Now           time.Time
}

// looking is a question under way.
type looking struct {
	Question
	doc     *Document
	restore int // step of the plan
}

// Look returns what holds and what does not.
func Look(q Question) *Document {
	q.Program = cmp.Or(q.Program, "drift-detector")
	l := looking{Question: q, doc: &Document{
		SchemaVersion: report.SchemaVersion, Kind: "drift-detector ready", GeneratedAt: q.Now.UTC(), ReportedAt: q.Report.GeneratedAt,
		ByDefault: code.Unclear, ByPlan: code.Unclear, Items: []Item{},
		Conditions: append([]report.Note{}, q.Report.Answer().Conditions...),
	}}
	for i := range q.Report.ToDo {
		if t := &q.Report.ToDo[i]; t.Phase == code.Restoring && len(t.Steps) > 0 && l.restore == 0 {
			l.restore = t.Steps[0]
		}
	}
	l.cluster()
	l.answers()
	l.age()
	l.confirmations()
	d := l.doc
	sorting.StableBy(d.Items, func(a, b Item) int { return slices.Index(states, a.State) - slices.Index(states, b.State) })
	d.Result = Go
	for i := len(d.Items) - 1; i >= 0; i-- {
		switch d.Items[i].State {
		case Missing:
			d.Open, d.Result = d.Open+1, NotYet
		case Unseen:
			d.Open, d.Result = d.Open+1, Blind
		}
	}
	return d
}

// add adds an item. One that is open is on the operator's word where --done has all the words
// that it goes by; none: nobody's word is enough.
func (l *looking) add(i Item, words ...string) {
	l.doc.words = append(l.doc.words, words...)
	i.command = l.step(i.Step)
	said := func(w string) bool { return slices.Contains(l.Done, w) }
	if (i.State == Missing || i.State == Unseen) && len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !said(w) }) {
		if i.State == Missing { // the plan has it, and it is done
			i.Why = ""
		}
		i.State = OnWord
	}
	switch {
	case i.State == Holds:
		i.Why, i.Next = "", ""
	case i.State == OnWord:
		i.Next = ""
	case len(words) == 0 && said(i.Check):
		i.Why += "; --done " + i.Check + " does not resolve that"
	}
	l.doc.Items = append(l.doc.Items, i)
}

// step returns the command that prints a step of the plan.
func (l *looking) step(n int) string {
	return fmt.Sprintf("%s plan %s --step %d", l.Program, l.File, n)
}

// again returns what to do where the report says too little.
func again(why string) string { return "run detect again" + why + ", and go on with that report" }

// name returns a foreign name in a sentence.
func name(s string) string { return terminal.Begin(report.Valid(cmp.Or(s, "(no name)")), longest) }
