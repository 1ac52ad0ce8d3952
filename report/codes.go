package report

import "slices"

// Reason is one word for why something is as the report says: of a verdict, a VM to
// confirm, a warning, a roll-up, a scope that is not complete, a note or the answer.
// Reports of other releases may have others than those below.
type Reason string

// Outcome is one word for what the restored controllers make of a machine or a Ghost.
type Outcome string

// The constants below are those that a format or a plan treats in a way of its own. All
// reasons and outcomes, and their meanings, are in the schema, see [Explain].

// Reasons of verdicts and of VMs to confirm.
const (
	AmbiguousMatch      Reason = "AmbiguousMatch"
	ClaimedTwice        Reason = "ClaimedTwice"
	CloneOf             Reason = "CloneOf"
	ConflictingIDs      Reason = "ConflictingIDs"
	ForeignNode         Reason = "ForeignNode"
	FoundElsewhere      Reason = "FoundElsewhere"
	IdentityChanged     Reason = "IdentityChanged"
	InClusterFolder     Reason = "InClusterFolder"
	InfraObjectMissing  Reason = "InfraObjectMissing"
	InstanceNotFound    Reason = "InstanceNotFound"
	InstanceUnreadable  Reason = "InstanceUnreadable"
	MachineNotInBackup  Reason = "MachineNotInBackup"
	NodeAlive           Reason = "NodeAlive"
	NodeListUnread      Reason = "NodeListUnread"
	NodeOfMachine       Reason = "NodeOfMachine"
	NotProvisioned      Reason = "NotProvisioned"
	SameName            Reason = "SameName"
	ScopeIncomplete     Reason = "ScopeIncomplete"
	UnsupportedProvider Reason = "UnsupportedProvider"
)

// Reasons of control planes and groups.
const (
	ControlPlaneLost          Reason = "ControlPlaneLost"
	HostedInManagementCluster Reason = "HostedInManagementCluster"
	MachinesNotInBackup       Reason = "MachinesNotInBackup"
)

// Warnings; the first is a reason of VMs to confirm, too.
const (
	DuplicateID    Reason = "DuplicateID"
	Reidentified   Reason = "Reidentified"
	MachineMissing Reason = "MachineMissing"
	PoweredOff     Reason = "PoweredOff"
	Renamed        Reason = "Renamed"
	Template       Reason = "Template"
	Disconnected   Reason = "Disconnected"
)

// Notes of the forecast.
const (
	AssumedOrder     Reason = "AssumedOrder"
	ControlPlaneGone Reason = "ControlPlaneGone"
	IdentityAbsent   Reason = "IdentityAbsent"
	NotHealing       Reason = "NotHealing"
	RolledOut        Reason = "RolledOut"
)

// Outcomes of the forecast.
const (
	Adopted                      Outcome = "Adopted"
	AdoptedPoweredOn             Outcome = "AdoptedPoweredOn"
	AdoptedByName                Outcome = "AdoptedByName"
	Stuck                        Outcome = "Stuck"
	StuckNodeLeft                Outcome = "StuckNodeLeft"
	ReplacedByMachineHealthCheck Outcome = "ReplacedByMachineHealthCheck"
	UntouchedPaused              Outcome = "UntouchedPaused"
	OrphanedAndReplaced          Outcome = "OrphanedAndReplaced"
	NewInstanceCreated           Outcome = "NewInstanceCreated"
	RolledByOwner                Outcome = "RolledByOwner"
	DeletedByOwner               Outcome = "DeletedByOwner"
	DeletedByMachineHealthCheck  Outcome = "DeletedByMachineHealthCheck"
	MemberGone                   Outcome = "MemberGone"
	Halted                       Outcome = "Halted"
	NewInstanceNeverJoins        Outcome = "NewInstanceNeverJoins"
	OtherInstanceTaken           Outcome = "OtherInstanceTaken"
	GhostKeepsRunning            Outcome = "GhostKeepsRunning"
	GhostEtcdMemberRemoved       Outcome = "GhostEtcdMemberRemoved"
	GhostEtcdMemberKept          Outcome = "GhostEtcdMemberKept"
	CannotKnow                   Outcome = "CannotKnow"
)

// healing are the outcomes after which a Stale machine is sound again without help.
var healing = []Outcome{ReplacedByMachineHealthCheck, NewInstanceCreated, RolledByOwner, MemberGone, DeletedByOwner}

// Heals reports whether a Stale machine is sound again without help.
func (f *MachineForecast) Heals() bool { return f != nil && slices.Contains(healing, f.Outcome) }
