package report

import "slices"

// The codes below are those that a format or a plan treats in a way of its own. All codes and
// their meanings are in the schema, see [Explain].

// Reasons of verdicts and of VMs to confirm.
const (
	AmbiguousMatch      = "AmbiguousMatch"
	ClaimedTwice        = "ClaimedTwice"
	CloneOf             = "CloneOf"
	ConflictingIDs      = "ConflictingIDs"
	ForeignNode         = "ForeignNode"
	FoundElsewhere      = "FoundElsewhere"
	IdentityChanged     = "IdentityChanged"
	InClusterFolder     = "InClusterFolder"
	InfraObjectMissing  = "InfraObjectMissing"
	InstanceNotFound    = "InstanceNotFound"
	InstanceUnreadable  = "InstanceUnreadable"
	MachineNotInBackup  = "MachineNotInBackup"
	NodeAlive           = "NodeAlive"
	NodeListUnread      = "NodeListUnread"
	NodeOfMachine       = "NodeOfMachine"
	NotProvisioned      = "NotProvisioned"
	SameName            = "SameName"
	ScopeIncomplete     = "ScopeIncomplete"
	UnsupportedProvider = "UnsupportedProvider"
)

// Reasons of control planes and groups.
const (
	ControlPlaneLost          = "ControlPlaneLost"
	HostedInManagementCluster = "HostedInManagementCluster"
	MachinesNotInBackup       = "MachinesNotInBackup"
)

// Warnings; the first is a reason of VMs to confirm, too.
const (
	DuplicateID    = "DuplicateID"
	Reidentified   = "Reidentified"
	MachineMissing = "MachineMissing"
	PoweredOff     = "PoweredOff"
	Renamed        = "Renamed"
	Template       = "Template"
	Disconnected   = "Disconnected"
)

// Notes of the forecast.
const (
	AssumedOrder     = "AssumedOrder"
	ControlPlaneGone = "ControlPlaneGone"
	IdentityAbsent   = "IdentityAbsent"
	NotHealing       = "NotHealing"
	RolledOut        = "RolledOut"
)

// Outcomes of the forecast.
const (
	Adopted                      = "Adopted"
	AdoptedPoweredOn             = "AdoptedPoweredOn"
	AdoptedByName                = "AdoptedByName"
	Stuck                        = "Stuck"
	StuckNodeLeft                = "StuckNodeLeft"
	ReplacedByMachineHealthCheck = "ReplacedByMachineHealthCheck"
	UntouchedPaused              = "UntouchedPaused"
	OrphanedAndReplaced          = "OrphanedAndReplaced"
	NewInstanceCreated           = "NewInstanceCreated"
	RolledByOwner                = "RolledByOwner"
	DeletedByOwner               = "DeletedByOwner"
	DeletedByMachineHealthCheck  = "DeletedByMachineHealthCheck"
	MemberGone                   = "MemberGone"
	Halted                       = "Halted"
	NewInstanceNeverJoins        = "NewInstanceNeverJoins"
	OtherInstanceTaken           = "OtherInstanceTaken"
	GhostKeepsRunning            = "GhostKeepsRunning"
	GhostEtcdMemberRemoved       = "GhostEtcdMemberRemoved"
	GhostEtcdMemberKept          = "GhostEtcdMemberKept"
	CannotKnow                   = "CannotKnow"
)

// healing are the outcomes after which a Stale machine is sound again without help.
var healing = []string{ReplacedByMachineHealthCheck, NewInstanceCreated, RolledByOwner, MemberGone, DeletedByOwner}

// Heals reports whether a Stale machine is sound again without help.
func (f *MachineForecast) Heals() bool { return f != nil && slices.Contains(healing, f.Outcome) }
