package code

// Warnings, and reasons of control planes and groups.
const (
	Disconnected              Reason = "Disconnected"
	DuplicateID               Reason = "DuplicateID"
	ErrorState                Reason = "ErrorState"
	MachineMissing            Reason = "MachineMissing"
	Moved                     Reason = "Moved"
	NotActive                 Reason = "NotActive"
	PoweredOff                Reason = "PoweredOff"
	Reidentified              Reason = "Reidentified"
	Renamed                   Reason = "Renamed"
	SameNameElsewhere         Reason = "SameNameElsewhere"
	Template                  Reason = "Template"
	ControlPlaneLost          Reason = "ControlPlaneLost"
	HostedInManagementCluster Reason = "HostedInManagementCluster"
	MachinesNotInBackup       Reason = "MachinesNotInBackup"
	PoolMissing               Reason = "PoolMissing"
	PoolUndecided             Reason = "PoolUndecided"
)

// warnings go with verdicts that are right but not the whole story, and the others with
// control planes and groups.
var warnings = []Row{
	{
		Code: Disconnected, Kinds: []Kind{Warning},
		Happens: "The host of the VM is not connected.",
		Why:     "What is known of the VM is from before its host was disconnected; it may be off.",
		Do:      "Connect the host again and run detect again.",
	},
	{
		Code: DuplicateID, Kinds: []Kind{Warning, ToConfirm, Note}, Person: true, Phases: []Phase{Before, After},
		Happens: "Another VM has the same id. Deleting the Machine may destroy both; when no machine has the id, it is not known which one the cluster uses.",
		Why:     "A controller finds VMs by this id: it may take the copy for the machine, and deleting the Machine may destroy both VMs.",
		Do:      "Before the restore give the copy another id, or remove it. Delete no Machine that has the id before that.",
		Confirm: "It has the id of a machine of the backup, and deleting that Machine may destroy this VM too. First find out which of the VMs with that id the Node of the machine runs on: that one is left as it is. Ask the owner of the other to shut it down and to give it another id, or to take it away, before the restore.",
	},
	{
		Code: ErrorState, Kinds: []Kind{Warning},
		Happens: "The infrastructure calls the VM broken.",
		Why:     "The VM is there and does not work: its Node will not come back by itself.",
		Do:      "Repair the VM, or delete its Machine after the restore so that its owner creates another.",
	},
	{
		Code: MachineMissing, Kinds: []Kind{Warning}, Person: true, Phases: []Phase{After},
		Happens: "The backup holds the infrastructure object and not its Machine, which was being deleted when the backup was taken.",
		Why:     "The VM runs on unmanaged after the restore, and its owner creates another machine.",
		Do:      "After the restore drain its Node and remove what is left: VM, Node and infrastructure object.",
	},
	{
		Code: Moved, Kinds: []Kind{Warning},
		Happens: "The VM is in another folder than the backup records.",
		Why:     "A controller that searches by id finds it; one that searches by folder does not, and may create a second VM.",
		Do:      "Move it back before the restore, or see in its forecast that its controller takes it over.",
	},
	{
		Code: NotActive, Kinds: []Kind{Warning},
		Happens: "The infrastructure is still creating or changing the VM.",
		Why:     "Its controller waits until it is done, and takes it over then; it may fail, or wait for a confirmation.",
		Do:      "Let it finish, confirm or revert what waits for that, and run detect again.",
	},
	{
		Code: PoweredOff, Kinds: []Kind{Warning}, Phases: []Phase{Before, After},
		Happens: "The VM exists and does not run: powered off or suspended.",
		Why:     "Its Node is down. Some controllers start the VM after the restore, others do not.",
		Do:      "Find out whether it is off on purpose; read in its forecast whether its controller starts it.",
	},
	{
		Code: Reidentified, Kinds: []Kind{Warning}, Person: true, Phases: []Phase{Before},
		Happens: "The VM has the id, and both second ids differ: it was restored from a VM backup, or only a copy is left.",
		Why:     "The VM may be an old copy, with old data; the original may be gone, or run somewhere else.",
		Do:      "Find out which VM the cluster uses before the restore.",
	},
	{
		Code: Renamed, Kinds: []Kind{Warning},
		Happens: "The VM has another name than the backup records.",
		Why:     "A controller that searches by id finds it; one that searches by name does not, and may create a second VM.",
		Do:      "Rename it back before the restore, or see in its forecast that its controller takes it over.",
	},
	{
		Code: SameNameElsewhere, Kinds: []Kind{Warning},
		Happens: "A VM has the machine's name and another id.",
		Why:     "It may be the machine under a new id, or a copy of it.",
		Do:      "Compare the two before the Machine is deleted.",
	},
	{
		Code: Template, Kinds: []Kind{Warning}, Person: true,
		Happens: "The VM is a template now, and a template cannot be powered on.",
		Why:     "A template cannot be powered on, so its Node is gone; its controller fails on it again and again.",
		Do:      "Turn it back into a VM, or delete its Machine after the restore so that its owner creates another.",
	},
	{
		Code: ControlPlaneLost, Kinds: []Kind{OfPlane}, Phases: []Phase{Before},
		Happens: "Too few of the recorded machines exist for an etcd majority; deleted since the backup, or lost.",
		Why:     "Without a majority of etcd nothing in the cluster can be changed, and no controller recovers it.",
		Do:      "If the cluster was deleted on purpose, leave it out of the restore; if not, recover etcd from a snapshot.",
		Plan:    "of its recorded machines no etcd majority was found. If the cluster was deleted or scaled down after the backup, that is all; if machines were lost, recover etcd before anything else.",
	},
	{
		Code: HostedInManagementCluster, Kinds: []Kind{OfPlane}, Phases: []Phase{Before},
		Happens: "It ran as pods inside the management cluster and has no machines.",
		Why:     "The control plane was lost with the management cluster; its workers run without an API server.",
		Do:      "Restore its pods and their volumes first; then see that etcd is complete.",
		Plan:    "it ran as pods in the lost management cluster. Its own data has to be restored there before the cluster answers again.",
	},
	{
		Code: MachinesNotInBackup, Kinds: []Kind{OfGroup}, Phases: []Phase{Before},
		Happens: "The backup holds fewer machines of it than its status counts.",
		Why:     "Its owner is short of Machines and creates new ones, while the old VMs keep running.",
		Do:      "Use a newer backup if there is one; else look at the Ghosts of the group before you unpause the Cluster.",
		Plan:    "the backup holds fewer Machines than its owner counted. A VM that seems to be nobody's may be one of them: remove none of this group before that is resolved with a complete backup.",
	},
	{
		Code: PoolMissing, Kinds: []Kind{OfGroup},
		Happens: "The pool itself was not found, although its place was listed completely.",
		Why:     "Its controller creates the pool again, with new members.",
		Do:      "If it was deleted on purpose, leave its MachinePool out of the restore.",
	},
	{
		Code: PoolUndecided, Kinds: []Kind{OfGroup},
		Happens: "Whether the pool exists is not known.",
		Why:     "A pool that is gone is created again after the restore; one that exists is scaled to the replicas in the backup.",
		Do:      "Give the account the right to list pools, see 'drift-detector permissions', and run detect again.",
	},
}
