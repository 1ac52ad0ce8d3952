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

// outcomes are what the restored controllers make of a machine or a Ghost.
var outcomes = []Row{
	{
		Code: Reason(Adopted), Kinds: []Kind{Forecast},
		Happens: "The controllers take the instance over as it is.",
		Why:     "It is what should happen: the machine is managed again, and nothing of it changes.",
		Do:      "Nothing.",
	},
	{
		Code: Reason(AdoptedPoweredOn), Kinds: []Kind{Forecast},
		Happens: "Taken over, and CAPV powers the VM on.",
		Why:     "A VM that is off on purpose, such as an old copy, runs again.",
		Do:      "Nothing; if a VM is off on purpose, keep its Cluster paused.",
	},
	{
		Code: Reason(AdoptedByName), Kinds: []Kind{Forecast},
		Happens: "No id is recorded; the instance is found by its name and taken over.",
		Why:     "If another VM gets that name first, the controller manages the wrong one.",
		Do:      "See that no other VM has that name.",
	},
	{
		Code: Reason(Stuck), Kinds: []Kind{Forecast},
		Happens: "Broken until you act; no controller makes another instance, and none replaces the Machine.",
		Why:     "It counts as a replica and does no work, and nothing repairs it.",
		Do:      "After the restore delete its Machine, so that its owner makes another; 'drift-detector plan' has the commands.",
	},
	{
		Code: Reason(StuckNodeLeft), Kinds: []Kind{Forecast},
		Happens: "Broken until you act, though its Node is still there and looks well.",
		Why:     "It looks well from inside the cluster, while nobody can update, replace or delete it.",
		Do:      "Drain its Node, then delete its Machine after the restore, so that its owner creates another; 'drift-detector plan' has the commands.",
	},
	{
		Code: Reason(ReplacedByMachineHealthCheck), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A MachineHealthCheck has the Machine deleted, and its owner makes another.",
		Why:     "If its VM runs after all, it is deleted with the Machine.",
		Do:      "Nothing; see that the replacement comes up.",
	},
	{
		Code: Reason(UntouchedPaused), Kinds: []Kind{Forecast},
		Happens: "Paused, so that no controller touches it.",
		Why:     "What would happen to it happens at the moment when it is unpaused.",
		Do:      "Before you unpause it, read what the report says of its cluster.",
	},
	{
		Code: Reason(OrphanedAndReplaced), Kinds: []Kind{Forecast},
		Happens: "Its Machine is not in the backup; the instance runs on without one, beside a new one.",
		Why:     "Two VMs do one machine's work, and nobody manages the first.",
		Do:      "After the restore drain its Node and remove the VM that runs on.",
	},
	{
		Code: Reason(NewInstanceCreated), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A new instance is made for the Machine.",
		Why:     "If the machine's VM still runs somewhere, there are two of it.",
		Do:      "If a VM of the machine still runs somewhere, stop it first.",
	},
	{
		Code: Reason(RolledByOwner), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "Its owner wants another one (a version, a template, certificates that expire): the Machine is deleted with its instance and made again.",
		Why:     "Workloads have to leave the machine, and its disks are lost.",
		Do:      "If that is not wanted now, keep the Cluster paused.",
	},
	{
		Code: Reason(DeletedByOwner), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "Its owner goes, because the topology of the Cluster does not want it any more: Machine and instance are deleted.",
		Why:     "Workloads on it stop, and nothing takes its place.",
		Do:      "If the machine is still needed, keep the Cluster paused and correct its owner, health check or topology first.",
	},
	{
		Code: Reason(DeletedByMachineHealthCheck), Kinds: []Kind{Forecast},
		Happens: "A MachineHealthCheck has the Machine deleted, and its owner can make no other.",
		Why:     "The cluster has one machine less until what its owner lacks is back.",
		Do:      "Bring back what the owner needs, or pause the MachineHealthCheck, before the Cluster is unpaused.",
	},
	{
		Code: Reason(MemberGone), Kinds: []Kind{Forecast}, Heals: true,
		Happens: "A member that left its pool; only its Machine is deleted.",
		Why:     "Nothing that runs is touched.",
		Do:      "Nothing.",
	},
	{
		Code: Reason(Halted), Kinds: []Kind{Forecast},
		Happens: "Its controller does nothing for it until you act; the instance runs on.",
		Why:     "It is neither repaired nor updated, and replacements wait for it.",
		Do:      "Do what the message says; until then health checks do not act on the machine, either.",
	},
	{
		Code: Reason(NewInstanceNeverJoins), Kinds: []Kind{Forecast},
		Happens: "A new instance is made for the Machine, and its id cannot be recorded: it runs, and its Node is never the Machine's.",
		Why:     "The VM costs money and does no work, and nobody deletes it.",
		Do:      "Keep the Cluster paused and correct the object that the message names.",
	},
	{
		Code: Reason(OtherInstanceTaken), Kinds: []Kind{Forecast},
		Happens: "Its controller takes over another instance that has the machine's name; deleting the Machine ends that instance.",
		Why:     "Two machines end in one VM: deleting this Machine destroys the other's.",
		Do:      "Rename or remove the other VM before the Cluster is unpaused.",
	},
	{
		Code: Reason(GhostKeepsRunning), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, and no controller notices.",
		Why:     "It costs money and keeps its addresses, and its Node takes workloads that nobody updates.",
		Do:      "After the restore drain its Node, remove a control plane's member from etcd, and delete the VM; 'drift-detector plan' has the commands.",
	},
	{
		Code: Reason(GhostEtcdMemberRemoved), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, but KubeadmControlPlane removes the etcd member.",
		Why:     "Its API server stops, and etcd has one vote less than before.",
		Do:      "Decide before the Cluster is unpaused whether etcd can do without the member; then drain its Node and delete the VM.",
	},
	{
		Code: Reason(GhostEtcdMemberKept), Kinds: []Kind{Forecast},
		Happens: "Instance and Node stay as they are, and the etcd member stays for now.",
		Why:     "It is removed as soon as what keeps it is replaced, and etcd then has one vote less.",
		Do:      "After the restore drain its Node, remove a control plane's member from etcd, and delete the VM; 'drift-detector plan' has the commands.",
	},
	{
		Code: Reason(CannotKnow), Kinds: []Kind{Forecast},
		Happens: "What decides is not known; the message says what.",
		Why:     "It may be adopted, replaced, deleted or created a second time.",
		Do:      "Read what the message says is not known, look it up, and keep the Cluster paused until then.",
	},
}
