package code

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

// outcomes are what the restored controllers make of a machine or a Ghost, the most
// dangerous first; those of the same words on the screen follow each other.
var outcomes = []Row{
	{
		Code: Reason(OtherInstanceTaken), Kinds: []Kind{Forecast}, Phases: []Phase{Paused},
		Happens: "Its controller takes over another instance that has the machine's name.",
		Why:     "That VM is not this machine's, and deleting the Machine terminates it.",
		Do:      "Rename the other VM, or have it removed, before you unpause the Cluster.",
		Screen:  "take another VM",
	},
	{
		Code: Reason(DeletedByOwner), Kinds: []Kind{Forecast}, Heals: true, Phases: []Phase{Paused},
		Happens: "Its owner is removed, because the topology of the Cluster does not want it any more: Machine and instance are deleted.",
		Why:     "The VM is terminated as soon as the Cluster is reconciled.",
		Do:      "If the machine is still needed, put its group back into the topology while the Cluster is paused.",
		Screen:  "deleted",
	},
	{
		Code: Reason(DeletedByMachineHealthCheck), Kinds: []Kind{Forecast}, Phases: []Phase{Paused},
		Happens: "A MachineHealthCheck deletes the Machine, and its owner can create no other.",
		Why:     "The VM is terminated, and the group stays one machine short.",
		Do:      "If the machine is still needed, keep the Cluster paused until its Node is Ready or the health check skips it.",
		Screen:  "deleted",
	},
	{
		Code: Reason(RolledByOwner), Kinds: []Kind{Forecast}, Heals: true, Phases: []Phase{Paused},
		Happens: "Its owner wants another one (a version, a template, certificates that expire): the Machine is deleted with its instance and created again.",
		Why:     "A machine that works is replaced, with its local disks.",
		Do:      "If that is not wanted now, keep the Cluster paused.",
		Screen:  "replaced",
	},
	{
		Code: Reason(GhostEtcdMemberRemoved), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "Instance and Node stay as they are, but KubeadmControlPlane removes the etcd member.",
		Why:     "The VM runs on with old etcd data, and etcd has one member less.",
		Do:      "After the restore drain its Node and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "leave etcd",
	},
	{
		Code: Reason(OrphanedAndReplaced), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "Its Machine is not in the backup: the instance runs on without one, beside a new one.",
		Why:     "The old VM keeps its addresses and its load, and nobody manages it.",
		Do:      "After the restore drain its Node and remove the VM that runs on.",
		Screen:  "doubled",
	},
	{
		Code: Reason(GhostKeepsRunning), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "Instance and Node stay as they are, and no controller notices.",
		Why:     "The VM runs on, keeps its addresses and costs money.",
		Do:      "After the restore drain its Node and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "unmanaged",
	},
	{
		Code: Reason(GhostEtcdMemberKept), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "Instance and Node stay as they are, and the etcd member stays for now.",
		Why:     "KubeadmControlPlane removes the member later, when something that holds it up is resolved: etcd may lose its majority then.",
		Do:      "After the restore remove its member from etcd, drain its Node and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "unmanaged",
	},
	{
		Code: Reason(Stuck), Kinds: []Kind{Forecast}, Phases: []Phase{Before, After},
		Happens: "It stays broken: no controller creates another instance, and none replaces the Machine.",
		Why:     "Its Machine counts as a replica, so that its owner creates no other.",
		Do:      "After the restore delete its Machine, so that its owner creates another; start an instance that is only off.",
		Screen:  "stuck",
	},
	{
		Code: Reason(StuckNodeLeft), Kinds: []Kind{Forecast}, Phases: []Phase{Before, After},
		Happens: "It stays broken, though its Node is still registered and looks joined.",
		Why:     "Nothing reports an error: the Machine has a Node, and no VM behind it.",
		Do:      "After the restore delete its Machine, so that its owner creates another; 'drift-detector plan' has the commands.",
		Screen:  "stuck",
	},
	{
		Code: Reason(NewInstanceNeverJoins), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "A new instance is created for the Machine, and its id cannot be recorded: it runs, and its Node is never the Machine's.",
		Why:     "The VM costs money, no controller deletes it, and the group stays one machine short.",
		Do:      "Keep the Cluster paused and correct the object that the message names.",
		Screen:  "stuck",
	},
	{
		Code: Reason(Halted), Kinds: []Kind{Forecast}, Phases: []Phase{Paused},
		Happens: "Its controller does nothing for it until you act; the instance runs on.",
		Why:     "Nobody repairs, upgrades or deletes it; health checks do not act on it, either.",
		Do:      "Do what the message says.",
		Screen:  "left alone",
	},
	{
		Code: Reason(UntouchedPaused), Kinds: []Kind{Forecast}, Phases: []Phase{Paused},
		Happens: "It is paused, so that no controller touches it.",
		Why:     "What its controllers do once it is unpaused is in the condition of its forecast.",
		Do:      "Before you unpause it, read what the report says of its cluster.",
		Screen:  "left alone",
	},
	{
		Code: Reason(CannotKnow), Kinds: []Kind{Forecast}, Phases: []Phase{Before},
		Happens: "What decides is not known; the message says what.",
		Why:     "Its controller may adopt, replace or delete it.",
		Do:      "Look up what the message says is not known, and keep the Cluster paused until then.",
		Screen:  "not known",
	},
	{
		Code: Reason(NewInstanceCreated), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A new instance is created for the Machine.",
		Why:     "If a VM of the machine still runs somewhere, there are two then.",
		Do:      "If a VM of the machine still runs somewhere, stop it before you unpause the Cluster.",
		Screen:  "re-created",
	},
	{
		Code: Reason(ReplacedByMachineHealthCheck), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A MachineHealthCheck deletes the Machine, and its owner creates another.",
		Why:     "A machine without a VM is sound again without help; one that only does not run loses its VM.",
		Do:      "See that the replacement comes up; start a VM that is to stay before the restore.",
		Screen:  "re-created",
	},
	{
		Code: Reason(AdoptedByName), Kinds: []Kind{Forecast},
		Happens: "No id is recorded; the instance is found by its name and taken over.",
		Why:     "The name is all that ties the VM to the Machine: a copy of that name would be taken as well.",
		Do:      "See that no other VM has the name.",
		Screen:  "found by name",
	},
	{
		Code: Reason(AdoptedPoweredOn), Kinds: []Kind{Forecast}, Phases: []Phase{After},
		Happens: "It is taken over, and CAPV powers the VM on.",
		Why:     "A VM that was stopped on purpose runs again.",
		Do:      "If it is to stay off, keep its Cluster paused.",
		Screen:  "started",
	},
	{
		Code: Reason(MemberGone), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A member left its pool; only its Machine is deleted.",
		Why:     "Nothing that runs is touched, and the pool keeps its size.",
		Do:      "Nothing.",
		Screen:  "gone",
	},
	{
		Code: Reason(Adopted), Kinds: []Kind{Forecast},
		Happens: "The controllers take the instance over as it is.",
		Why:     "The machine is managed again, without a change.",
		Do:      "Nothing.",
	},
}
