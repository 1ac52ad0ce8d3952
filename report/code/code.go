// Package code is the one table of the words that a report has for what it found and
// for what a restore does: statuses, reasons, warnings, outcomes, notes, faults and the
// reasons and conditions of the answer. Schema, pages, explain, screen and plan are made
// of it. It imports nothing of this module, so that all may use its words.
package code

import "slices"

// Reason is one word for why something is as the report says: of a verdict, a VM to
// confirm, a warning, a roll-up, a scope that is not complete, a check, a note or the
// answer. Reports of other releases may have others than those of the Table.
type Reason string

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

// Row is all that is known of a code.
type Row struct {
	Code   Reason // of an outcome or a status, too
	Kinds  []Kind // that it occurs as; under the first it is listed
	Safe   Safe   // the answer that a reason of the answer leaves
	Person bool   // a warning that needs a person whatever the status of its machine is
	Heals  bool   // a Stale machine with this outcome is sound again without help

	// A sentence or two each: what happens or was found, why that matters, what to do.
	Happens, Why, Do string
	// Screen is what it means, after the names of what it is about.
	Screen string
	// Plan is what the plan has a person do about it; without words, steps of their own
	// say it, or there is nothing to do.
	Plan string
}

// Table has a row for each code. Only a test sets it.
var Table = slices.Concat(statuses, verdicts, warnings, scopes, answers, conditions, outcomes, notes)

// Of returns the row of a code, or an empty one for a code that this release does not
// know.
func Of[Word ~string](word Word) Row {
	if i := slices.IndexFunc(Table, func(r Row) bool { return string(r.Code) == string(word) }); i >= 0 {
		return Table[i]
	}
	return Row{}
}

// Is reports whether the code occurs as that kind.
func (r *Row) Is(kind Kind) bool { return slices.Contains(r.Kinds, kind) }

// Rank returns the place of a reason among those of the answer: the lower, the more
// dangerous. One that is not known is more dangerous than all others.
func Rank(reason Reason) int {
	return slices.IndexFunc(Table, func(r Row) bool { return r.Code == reason && r.Safe != "" })
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
