package report

import "slices"

// Safe answers whether it is safe to restore.
type Safe string

// Answers to the question whether it is safe to restore, worst first.
const (
	No       Safe = "no"       // a controller ends, doubles or mistakes what lives, a cluster is not reconciled, or the backup is not fit
	Unclear  Safe = "unknown"  // what decides could not be decided, or not be seen
	WithWork Safe = "withWork" // nothing that lives is ended or doubled; something is made, started or deleted, or stays broken
	Yes      Safe = "yes"      // the controllers take over what lives, and do nothing else
)

// Codes of reasons that are not effects of the forecast.
const (
	BackupError        Reason = "BackupError"
	NewerBackup        Reason = "NewerBackup"
	Incomplete         Reason = "Incomplete"
	ErrorsOccurred     Reason = "ErrorsOccurred"
	InstancesToConfirm Reason = "InstancesToConfirm"
	NothingToCompare   Reason = "NothingToCompare"
	NoForecast         Reason = "NoForecast"
	StatusNotHealthy   Reason = "StatusNotHealthy"
)

// Codes of reasons that are effects of the forecast.
const (
	ClustersFirst      Reason = "ClustersFirst"
	MachinesDeleted    Reason = "MachinesDeleted"
	PoolScaledBack     Reason = "PoolScaledBack"
	LivingReplaced     Reason = "LivingReplaced"
	RolloutDue         Reason = "RolloutDue"
	SecondInstance     Reason = "SecondInstance"
	OtherInstance      Reason = "OtherInstance"
	EtcdMembersRemoved Reason = "EtcdMembersRemoved"
	ControlPlaneDown   Reason = "ControlPlaneDown"
	ClusterHalted      Reason = "ClusterHalted"

	ManagementClusterActs Reason = "ManagementClusterActs"
	ManagementClusterRuns Reason = "ManagementClusterRuns"
	MachinesUnknown       Reason = "MachinesUnknown"
	CopiedID              Reason = "CopiedID"
	ResourceUndecided     Reason = "ResourceUndecided"
	PoolNotDecided        Reason = "PoolNotDecided"
	OutcomeUnknown        Reason = "OutcomeUnknown"
	SpecUnseen            Reason = "SpecUnseen"
	HostedControlPlane    Reason = "HostedControlPlane"
	OwnerHalted           Reason = "OwnerHalted"
	MachinesHalted        Reason = "MachinesHalted"
	CannotReplace         Reason = "CannotReplace"
	MachinesBroken        Reason = "MachinesBroken"
	MachinesMissing       Reason = "MachinesMissing"
	MachinesMade          Reason = "MachinesMade"
	InstancesNeverJoin    Reason = "InstancesNeverJoin"
	PoolGrown             Reason = "PoolGrown"
	InstancesStarted      Reason = "InstancesStarted"
	InstancesStopped      Reason = "InstancesStopped"
	StaleReplaced         Reason = "StaleReplaced"
	GhostsLeft            Reason = "GhostsLeft"
	FoundByNameOnly       Reason = "FoundByNameOnly"
	MachinesNotReady      Reason = "MachinesNotReady"
	ResourceMade          Reason = "ResourceMade"
	PoolMachinesDeleted   Reason = "PoolMachinesDeleted"
	RolloutScheduled      Reason = "RolloutScheduled"
)

// Conditions of the answer. Narrowed is added by a report of some clusters only.
const (
	RestoreOrder Reason = "RestoreOrder"
	Narrowed     Reason = "Narrowed"
)

// reasonRow says what answer a reason leaves.
type reasonRow struct {
	code Reason
	safe Safe
}

// reasonRows are all reasons, the most dangerous first. The worst of those that there
// are is the answer; without any it is yes.
var reasonRows = []reasonRow{
	{ManagementClusterRuns, No},
	{ManagementClusterActs, No},
	{ClustersFirst, No},
	{MachinesDeleted, No},
	{PoolScaledBack, No},
	{LivingReplaced, No},
	{RolloutDue, No},
	{SecondInstance, No},
	{OtherInstance, No},
	{EtcdMembersRemoved, No},
	{ControlPlaneDown, No},
	{ClusterHalted, No},
	{BackupError, No},
	{Incomplete, Unclear},
	{MachinesUnknown, Unclear},
	{CopiedID, Unclear},
	{ResourceUndecided, Unclear},
	{PoolNotDecided, Unclear},
	{OutcomeUnknown, Unclear},
	{SpecUnseen, Unclear},
	{HostedControlPlane, Unclear},
	{InstancesToConfirm, Unclear},
	{ErrorsOccurred, Unclear},
	{NothingToCompare, Unclear},
	{NoForecast, Unclear},
	{NewerBackup, Unclear},
	{StatusNotHealthy, Unclear},
	{OwnerHalted, WithWork},
	{MachinesHalted, WithWork},
	{CannotReplace, WithWork},
	{MachinesBroken, WithWork},
	{MachinesMissing, WithWork},
	{InstancesNeverJoin, WithWork},
	{MachinesMade, WithWork},
	{PoolGrown, WithWork},
	{InstancesStarted, WithWork},
	{InstancesStopped, WithWork},
	{StaleReplaced, WithWork},
	{GhostsLeft, WithWork},
	{FoundByNameOnly, WithWork},
	{MachinesNotReady, WithWork},
	{ResourceMade, WithWork},
	{PoolMachinesDeleted, WithWork},
	{RolloutScheduled, WithWork},
}

// ReasonRank returns the place of a reason among all: the lower, the more
// dangerous. One that is not known is more dangerous than all others.
func ReasonRank(code Reason) int {
	return slices.IndexFunc(reasonRows, func(r reasonRow) bool { return r.code == code })
}

// SafeAfter returns the answer that a reason leaves: of a report with several
// reasons the first in the order of [ReasonRank] decides.
func SafeAfter(code Reason) Safe {
	if i := ReasonRank(code); i >= 0 {
		return reasonRows[i].safe
	}
	return No
}
