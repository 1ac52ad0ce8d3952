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
		Code: Reason(OtherInstanceTaken), Kinds: []Kind{Forecast},
		Happens: "Its controller takes over another instance that has the machine's name; deleting the Machine ends that instance.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Rename or remove the other VM before the Cluster is unpaused.",
		Screen:  "take another VM",
	},
	{
		Code: Reason(DeletedByOwner), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "Its owner goes, because the topology of the Cluster does not want it any more: Machine and instance are deleted.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "If the machine is still needed, keep the Cluster paused and correct its owner, health check or topology first.",
		Screen:  "deleted",
	},
	{
		Code: Reason(DeletedByMachineHealthCheck), Kinds: []Kind{Forecast},
		Happens: "A MachineHealthCheck has the Machine deleted, and its owner can make no other.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "If the machine is still needed, keep the Cluster paused and correct its owner, health check or topology first.",
		Screen:  "deleted",
	},
	{
		Code: Reason(RolledByOwner), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "Its owner wants another one (a version, a template, certificates that expire): the Machine is deleted with its instance and made again.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "If that is not wanted now, keep the Cluster paused.",
		Screen:  "replaced",
	},
	{
		Code: Reason(GhostEtcdMemberRemoved), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, but KubeadmControlPlane removes the etcd member.",
		Why:     "The VM runs on, keeps its addresses and costs money, and no controller notices it; of a control plane it may still serve old etcd data.",
		Do:      "After the restore drain its Node, remove a control plane's member from etcd, and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "leave etcd",
	},
	{
		Code: Reason(OrphanedAndReplaced), Kinds: []Kind{Forecast},
		Happens: "Its Machine is not in the backup; the instance runs on without one, beside a new one.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "After the restore drain its Node and remove the VM that runs on.",
		Screen:  "doubled",
	},
	{
		Code: Reason(GhostKeepsRunning), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, and no controller notices.",
		Why:     "The VM runs on, keeps its addresses and costs money, and no controller notices it; of a control plane it may still serve old etcd data.",
		Do:      "After the restore drain its Node, remove a control plane's member from etcd, and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "unmanaged",
	},
	{
		Code: Reason(GhostEtcdMemberKept), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, and the etcd member stays for now.",
		Why:     "The VM runs on, keeps its addresses and costs money, and no controller notices it; of a control plane it may still serve old etcd data.",
		Do:      "After the restore drain its Node, remove a control plane's member from etcd, and delete the VM; 'drift-detector plan' has the commands.",
		Screen:  "unmanaged",
	},
	{
		Code: Reason(Stuck), Kinds: []Kind{Forecast},
		Happens: "Broken until you act; no controller makes another instance, and none replaces the Machine.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "After the restore delete its Machine, so that its owner makes another; 'drift-detector plan' has the commands.",
		Screen:  "stuck",
	},
	{
		Code: Reason(StuckNodeLeft), Kinds: []Kind{Forecast},
		Happens: "Broken until you act, though its Node is still there and looks well.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "After the restore delete its Machine, so that its owner makes another; 'drift-detector plan' has the commands.",
		Screen:  "stuck",
	},
	{
		Code: Reason(NewInstanceNeverJoins), Kinds: []Kind{Forecast},
		Happens: "A new instance is made for the Machine, and its id cannot be recorded: it runs, and its Node is never the Machine's.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Keep the Cluster paused and correct the object that the message names.",
		Screen:  "stuck",
	},
	{
		Code: Reason(Halted), Kinds: []Kind{Forecast},
		Happens: "Its controller does nothing for it until you act; the instance runs on.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Do what the message says; until then health checks do not act on the machine, either.",
		Screen:  "left alone",
	},
	{
		Code: Reason(UntouchedPaused), Kinds: []Kind{Forecast},
		Happens: "Paused, so that no controller touches it.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Before you unpause it, read what the report says of its cluster.",
		Screen:  "left alone",
	},
	{
		Code: Reason(CannotKnow), Kinds: []Kind{Forecast},
		Happens: "What decides is not known; the message says what.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Read what the message says is not known, look it up, and keep the Cluster paused until then.",
		Screen:  "not known",
	},
	{
		Code: Reason(NewInstanceCreated), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A new instance is made for the Machine.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "If a VM of the machine still runs somewhere, stop it first.",
		Screen:  "made again",
	},
	{
		Code: Reason(ReplacedByMachineHealthCheck), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A MachineHealthCheck has the Machine deleted, and its owner makes another.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Nothing; see that the replacement comes up.",
		Screen:  "made again",
	},
	{
		Code: Reason(AdoptedByName), Kinds: []Kind{Forecast},
		Happens: "No id is recorded; the instance is found by its name and taken over.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Nothing; if a VM is off on purpose, keep its Cluster paused.",
		Screen:  "found by name",
	},
	{
		Code: Reason(AdoptedPoweredOn), Kinds: []Kind{Forecast},
		Happens: "Taken over, and CAPV powers the VM on.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Nothing; if a VM is off on purpose, keep its Cluster paused.",
		Screen:  "started",
	},
	{
		Code: Reason(MemberGone), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A member that left its pool; only its Machine is deleted.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Nothing.",
		Screen:  "gone",
	},
	{
		Code: Reason(Adopted), Kinds: []Kind{Forecast},
		Happens: "The controllers take the instance over as it is.",
		Why:     "It is what the restored controllers will do to this machine.",
		Do:      "Nothing; if a VM is off on purpose, keep its Cluster paused.",
	},
}
