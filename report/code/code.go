// Package code is the one table of the words that a report has for what it found and
// for what a restore does: statuses, reasons, warnings, outcomes, notes, faults and the
// reasons and conditions of the answer. Schema, pages, explain, screen and plan are made
// of it. It imports nothing of this module, so that all may use its words.
package code

import (
	_ "embed"
	"slices"
	"strings"
)

// Reason is one word for why something is as the report says: of a verdict, a VM to
// confirm, a warning, a roll-up, a scope that is not complete, a check, a note or the
// answer. Reports of other releases may have others than those of the Table.
type Reason string

// oldBackups are the checks about the age of a backup.
var oldBackups = []Reason{"BackupOld", "BackupUndated", "BackupFromFuture"}

// IsOldBackup reports whether a check says that a backup is old, or that its age is not known.
func (r Reason) IsOldBackup() bool { return slices.Contains(oldBackups, r) }

// Outcome is one word for what the restored controllers make of a machine or a Ghost.
type Outcome string

// Safe answers whether it is safe to restore.
type Safe string

// Answers to the question whether it is safe to restore, worst first.
const (
	No       Safe = "no"       // a controller deletes, duplicates or mistakes what lives, a cluster is not reconciled, or the backup is not fit
	Unclear  Safe = "unknown"  // what decides could not be decided, or not be seen
	WithWork Safe = "withWork" // nothing that lives is deleted or duplicated; something is created, started or deleted, or stays broken
	Yes      Safe = "yes"      // the controllers take over what lives, and do nothing else
)

// Answers returns the words for whether a restore is safe.
func Answers() []Safe { return []Safe{Yes, WithWork, No, Unclear} }

// danger has the answers, the least dangerous first.
var danger = []Safe{Yes, WithWork, Unclear, No}

// Worse reports whether an answer is more dangerous than another. One that is not known is as
// one that is not clear; where either is empty that cannot be said.
func (s Safe) Worse(than Safe) bool {
	at := func(s Safe) int {
		if i := slices.Index(danger, s); i >= 0 {
			return i
		}
		return slices.Index(danger, Unclear)
	}
	return s != "" && than != "" && at(s) > at(than)
}

// Kind is a part of a report that codes are found in, in a word or two.
type Kind string

// Kinds of codes.
const (
	OfStatus  Kind = "Status"
	OfUnknown Kind = "Unknown"
	OfStale   Kind = "Stale"
	ToConfirm Kind = "To confirm"
	Warning   Kind = "Warning"
	OfPlane   Kind = "Control plane"
	OfGroup   Kind = "Group"
	OfScope   Kind = "Scope"
	OfNodes   Kind = "Node list"
	Answer    Kind = "Answer"
	Condition Kind = "Condition"
	Forecast  Kind = "Forecast"
	Note      Kind = "Note"
	Check     Kind = "Check"
)

// kinds are titled in the order in which pages list them.
var kinds = []struct {
	kind  Kind
	title string
}{
	{OfStatus, "Statuses"},
	{OfUnknown, "Reasons of Unknown"},
	{OfStale, "Reasons of Stale"},
	{ToConfirm, "Reasons of VMs to confirm (`infraMachines`)"},
	{Warning, "Warnings"},
	{OfPlane, "Control planes and groups"},
	{OfScope, "Places that are not complete"},
	{OfNodes, "Node lists"},
	{Answer, "Reasons of the answer"},
	{Condition, "Conditions of the answer"},
	{Forecast, "Forecast: outcomes"},
	{Note, "Forecast: notes"},
	{Check, "Checks of the backup"},
}

// Kinds returns the kinds that codes are listed under, but for statuses and checks, whose
// rows are with their rules.
func Kinds() []Kind {
	var out []Kind
	for _, k := range kinds[1 : len(kinds)-1] {
		out = append(out, k.kind)
	}
	return out
}

// Title returns the kind as the heading of a list.
func (k Kind) Title() string {
	for _, row := range kinds {
		if row.kind == k || k == OfGroup && row.kind == OfPlane {
			return row.title
		}
	}
	return string(k)
}

// Listed returns the rows whose first kind has the kind's title, sorted.
func Listed(kind Kind) []Row {
	rows := slices.DeleteFunc(slices.Clone(Table), func(r Row) bool { return r.Kinds[0].Title() != kind.Title() })
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return rows
}

// Phase is a part of the plan.
type Phase string

// Phases of the plan, in their order.
const (
	Before    Phase = "before"
	Restoring Phase = "restore"
	Paused    Phase = "whilePaused" // after the restore, before the Cluster is unpaused
	After     Phase = "after"
)

// Phases returns them in their order.
func Phases() []Phase { return []Phase{Before, Restoring, Paused, After} }

// Title says of a phase when it is.
func (p Phase) Title() string {
	switch p {
	case Before:
		return "before the restore"
	case Restoring:
		return "the restore"
	case Paused:
		return "while paused"
	}
	return "later"
}

// Row is all that is known of a code.
type Row struct {
	Code     Reason   // of an outcome or a status, too
	Severity Severity // of a check
	Kinds    []Kind   // that it occurs as; under the first it is listed
	Safe     Safe     // the answer that a reason of the answer leaves
	Person   bool     // a warning that needs a person whatever the status of its machine is
	Heals    bool     // a Stale machine with this outcome is sound again without help
	Decides  bool     // a reason that a person has to decide about: no step can
	Deletes  bool     // with this outcome somebody deletes the Machine, and the instance that it took

	Phases []Phase // where the plan has steps about it; none: it has no steps

	// A sentence or two each: what happens or was found, why that matters, what to do.
	Happens, Why, Do string
	// LiveWhy and LiveDo are those of a check of a management cluster that runs, where Why or Do is
	// of a backup.
	LiveWhy, LiveDo string
	// Screen is what it means, after the names of what it is about.
	Screen string
	// Plan is what the plan has a person do about it; without words, steps of their own
	// say it, or there is nothing to do.
	Plan string
	// Effects are what an outcome does to the answer: where an instance lives, and of a
	// machine without one.
	Effects [2]Reason
	// Mended is of a reason, or of an error of a check, of which nothing is left once the
	// plan's steps about it are done, whether or not a person wants what it says.
	Mended bool
	// ByLine is of a reason of which nothing is left of what a line of the plan resolves.
	ByLine bool
	// Confirm is what the plan has a person do about an instance to confirm.
	Confirm string
}

//go:embed codes.txt
var text string

// Table has a row for each code, in the order of codes.txt. Only a test sets it.
var Table = read(text)

// read returns the rows of a table in the form of codes.txt. It panics on what is none, for
// the table is part of the program.
func read(text string) []Row {
	var out []Row
	for _, paragraph := range strings.Split(text, "\n\n") {
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		head := strings.Split(lines[0]+" ", "|")
		for i := range head {
			head[i] = strings.TrimSpace(head[i])
		}
		r := Row{Code: Reason(head[0]), Kinds: words[Kind](head[1]), Phases: words[Phase](head[3]), Happens: lines[1], Why: lines[2], Do: lines[3]}
		for _, does := range words[Safe](head[2]) {
			switch does {
			case "heals":
				r.Heals = true
			case "decides":
				r.Decides = true
			case "deletes":
				r.Deletes = true
			case "person":
				r.Person = true
			case "mended":
				r.Mended = true
			case "byLine":
				r.ByLine = true
			default:
				r.Safe = does
			}
		}
		for _, l := range lines[4:] {
			of, text, _ := strings.Cut(l, ": ")
			switch of {
			case "screen":
				r.Screen = text
			case "plan":
				r.Plan = text
			case "confirm":
				r.Confirm = text
			case "effects":
				of := words[Reason](text)
				r.Effects = [2]Reason{of[0], of[len(of)-1]}
			default:
				panic("code: " + l)
			}
		}
		out = append(out, r)
	}
	return out
}

func words[Word ~string](list string) []Word {
	var out []Word
	for _, w := range strings.Split(list, ", ") {
		if w != "" {
			out = append(out, Word(w))
		}
	}
	return out
}

// Of returns the row of a code, or an empty one for a code that this release does not
// know.
func Of[Word ~string](word Word) Row {
	for i := range Table {
		if string(Table[i].Code) == string(word) {
			return Table[i]
		}
	}
	return Row{}
}

// Is reports whether the code occurs as that kind.
func (r *Row) Is(kind Kind) bool { return slices.Contains(r.Kinds, kind) }

// Meaning says what the code is of and what happens: "Warning, or to confirm: The VM …".
// It is empty for a code that this release does not know.
func (r *Row) Meaning() string {
	switch {
	case len(r.Kinds) == 0:
		return ""
	case r.Is(Answer):
		out := "Answer, " + string(r.Safe) + ": " + r.Happens
		if r.Is(Note) {
			out += " Also a note."
		}
		return out
	case r.Is(Check):
		return "Check, " + string(r.Severity) + ": " + r.Happens
	}
	kinds := make([]string, len(r.Kinds))
	for i, k := range r.Kinds {
		if kinds[i] = string(k); i > 0 {
			kinds[i] = strings.ToLower(kinds[i])
		}
	}
	return strings.Join(kinds, ", or ") + ": " + r.Happens
}

// Rank returns the place of a reason among those of the answer: the lower, the more
// dangerous. One that is not known is more dangerous than all others.
func Rank(reason Reason) int {
	for i := range Table { // rows are large, and lists of reasons are sorted by it
		if r := &Table[i]; r.Code == reason && r.Safe != "" {
			return i
		}
	}
	return -1
}

// SafeAfter returns the answer that a reason leaves: of several the first in the order of
// [Rank] decides.
func SafeAfter(reason Reason) Safe {
	if r := Of(reason); r.Safe != "" {
		return r.Safe
	}
	return No
}

// Heals reports whether a Stale machine is sound again without help after the outcome.
func (o Outcome) Heals() bool { return Of(o).Heals }
