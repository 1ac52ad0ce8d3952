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
		Code: DuplicateID, Kinds: []Kind{Warning, ToConfirm}, Person: true,
		Happens: "Another VM has the same id. Deleting the Machine may destroy both; when no machine has the id, it is not known which one the cluster uses.",
		Why:     "A controller finds VMs by this id: deleting the Machine can destroy both, and either can be taken for the machine.",
		Do:      "Before the restore give the copy another id, or remove it. Delete no Machine that has the id before that.",
	},
	{
		Code: ErrorState, Kinds: []Kind{Warning},
		Happens: "The infrastructure calls the VM broken.",
		Why:     "The VM is there and does not work: its Node will not come back by itself.",
		Do:      "Repair the VM, or delete its Machine after the restore so that its owner makes another.",
	},
	{
		Code: MachineMissing, Kinds: []Kind{Warning}, Person: true,
		Happens: "The backup holds the infrastructure object and not its Machine, which was being deleted when the backup was taken.",
		Why:     "The VM runs on, and nobody manages it after the restore; its owner makes another machine.",
		Do:      "After the restore drain its Node and remove what is left: VM, Node and infrastructure object.",
	},
	{
		Code: Moved, Kinds: []Kind{Warning},
		Happens: "The VM is in another folder than the backup records.",
		Why:     "A controller that searches in the recorded folder does not find it there, and may create a second VM.",
		Do:      "Move it back before the restore, or see in its forecast that its controller takes it over.",
	},
	{
		Code: NotActive, Kinds: []Kind{Warning},
		Happens: "The infrastructure is still making or changing the VM.",
		Why:     "Its controller waits until it is done, and takes it over then; it may fail, or wait for a confirmation.",
		Do:      "Let it finish, confirm or revert what waits for that, and run detect again.",
	},
	{
		Code: PoweredOff, Kinds: []Kind{Warning},
		Happens: "The VM exists and does not run: powered off or suspended.",
		Why:     "Its Node is down. Some controllers start the VM after the restore, others do not.",
		Do:      "Find out whether it is off on purpose; read in its forecast whether its controller starts it.",
	},
	{
		Code: Reidentified, Kinds: []Kind{Warning}, Person: true,
		Happens: "The VM has the id, and both second ids differ: it was restored from a VM backup, or only a copy is left.",
		Why:     "The VM may be an old copy, with old data; the original may be gone, or run somewhere else.",
		Do:      "Find out which VM the cluster uses before the restore.",
	},
	{
		Code: Renamed, Kinds: []Kind{Warning},
		Happens: "The VM has another name than the backup records.",
		Why:     "A controller that searches by name does not find it, and may create a second VM; one that searches by id does.",
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
		Why:     "It cannot run, so its Node is gone; its controller fails on it again and again.",
		Do:      "Turn it back into a VM, or delete its Machine after the restore so that its owner makes another.",
	},
	{
		Code: ControlPlaneLost, Kinds: []Kind{OfPlane},
		Happens: "Too few of the recorded machines exist for an etcd majority; deleted since the backup, or lost.",
		Why:     "Without a majority of etcd nothing in the cluster can be changed, and no controller recovers it.",
		Do:      "If the cluster was deleted on purpose, leave it out of the restore; if not, recover etcd from a snapshot.",
	},
	{
		Code: HostedInManagementCluster, Kinds: []Kind{OfPlane},
		Happens: "It ran as pods inside the management cluster and has no machines.",
		Why:     "The control plane was lost with the management cluster; its workers run without an API server.",
		Do:      "Restore its pods and their volumes first; then see that etcd is complete.",
	},
	{
		Code: MachinesNotInBackup, Kinds: []Kind{OfGroup},
		Happens: "The backup holds fewer machines of it than its status counts.",
		Why:     "The owner counts what is restored and makes machines for the others, while their VMs run on.",
		Do:      "Use a newer backup if there is one; else see the Ghosts of the group before the Cluster is unpaused.",
	},
	{
		Code: PoolMissing, Kinds: []Kind{OfGroup},
		Happens: "The pool itself was not found, although its place was listed completely.",
		Why:     "Its controller makes the pool again, with new members.",
		Do:      "If it was deleted on purpose, leave its MachinePool out of the restore.",
	},
	{
		Code: PoolUndecided, Kinds: []Kind{OfGroup},
		Happens: "Whether the pool exists is not known.",
		Why:     "A pool that is gone is made again after the restore; one that exists is set to the replicas of the backup.",
		Do:      "Give the account the right to list pools, see 'drift-detector permissions', and run detect again.",
	},
}
