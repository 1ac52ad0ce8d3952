package code

import "slices"

// Presence is whether a pool or a resource exists.
type Presence string

// A pool or a resource is absent only where a place that was listed to the end, and is
// proven to be the right one, lacks it.
const (
	Present   Presence = "present"
	Absent    Presence = "absent"
	Undecided Presence = "unknown"
)

// Presences returns whether something may exist.
func Presences() []Presence { return []Presence{Present, Absent, Undecided} }

// Severity returns a number that is the higher, the worse it is.
func (p Presence) Severity() int { return slices.Index([]Presence{Present, Undecided, Absent}, p) }

// ScopeState is how much of a scope was listed.
type ScopeState string

// States of a scope.
const (
	ScopeComplete ScopeState = "complete" // listed whole
	ScopePartial  ScopeState = "partial"
	ScopeFailed   ScopeState = "failed"
)

// ScopeStates returns how much of a scope may have been listed.
func ScopeStates() []ScopeState { return []ScopeState{ScopeComplete, ScopePartial, ScopeFailed} }

// Strength is how much a piece of evidence proves.
type Strength string

// Strengths of evidence, the strongest first.
const (
	Strong Strength = "strong"
	Medium Strength = "medium"
	Weak   Strength = "weak"
)

// Severity is how bad the finding of a check is.
type Severity string

// Severities of a check, worst first.
const (
	CheckError   Severity = "error"   // part of the fleet does not work after the restore until you act
	CheckWarning Severity = "warning" // the restore may go wrong, or heal less than it seems to
	CheckInfo    Severity = "info"    // good to know before the restore
)

// Severities returns the severities of checks, the worst first.
func Severities() []Severity { return []Severity{CheckError, CheckWarning, CheckInfo} }

// WhenGone is what the absence of a resource means to the restored controllers.
type WhenGone string

// What the absence of a resource means. The zero value means FailsReplacement.
const (
	FailsReplacement WhenGone = "failsReplacement" // machines run on, and a new one cannot be made
	HaltsCluster     WhenGone = "haltsCluster"     // the controllers do nothing for the cluster until it is back
	MadeAgain        WhenGone = "madeAgain"        // the controllers make a new one
	// Unwanted is the other way round: the controllers end it where it is there. It is
	// shown unless it is known not to be.
	Unwanted WhenGone = "unwanted"
)

// Quorum is whether etcd has a majority.
type Quorum string

// Quorums of etcd.
const (
	QuorumStands        Quorum = "Stands"        // a majority runs, even if those that are gone are still members
	QuorumUncertain     Quorum = "Uncertain"     // it depends on whether those that are gone left etcd in order, or on who starts those that are stopped
	QuorumLost          Quorum = "Lost"          // no machine of the control plane exists
	QuorumNotApplicable Quorum = "NotApplicable" // etcd does not run on its machines, or how is not known here
)
