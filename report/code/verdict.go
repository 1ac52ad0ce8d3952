package code

// Reasons of verdicts, and of VMs to confirm.
const (
	AmbiguousMatch      Reason = "AmbiguousMatch"
	ClaimedTwice        Reason = "ClaimedTwice"
	ConflictingIDs      Reason = "ConflictingIDs"
	FoundElsewhere      Reason = "FoundElsewhere"
	IdentityChanged     Reason = "IdentityChanged"
	InfraObjectMissing  Reason = "InfraObjectMissing"
	InstanceUnreadable  Reason = "InstanceUnreadable"
	LeftPool            Reason = "LeftPool"
	MachineNotInBackup  Reason = "MachineNotInBackup"
	NodeAlive           Reason = "NodeAlive"
	NodeListUnread      Reason = "NodeListUnread"
	NotFoundByName      Reason = "NotFoundByName"
	PoolMember          Reason = "PoolMember"
	ScopeIncomplete     Reason = "ScopeIncomplete"
	UnsupportedProvider Reason = "UnsupportedProvider"
	InstanceNotFound    Reason = "InstanceNotFound"
	InstanceTerminated  Reason = "InstanceTerminated"
	NotProvisioned      Reason = "NotProvisioned"
	AmbiguousOwner      Reason = "AmbiguousOwner"
	CloneOf             Reason = "CloneOf"
	ForeignNode         Reason = "ForeignNode"
	InClusterFolder     Reason = "InClusterFolder"
	NameOnly            Reason = "NameOnly"
	NodeOfMachine       Reason = "NodeOfMachine"
	SameName            Reason = "SameName"
)

// verdicts are why a machine is Stale or Unknown, or an instance is to be confirmed.
var verdicts = []Row{
	{
		Code: AmbiguousMatch, Kinds: []Kind{OfUnknown},
		Happens: "Several VMs may be the machine and nothing shows which; or one has its name and the backup records no id to tell by; or its VM is off while one that has its id or its name runs.",
		Why:     "The wrong choice deletes a VM that runs, or leaves the machine's own VM behind without anybody who manages it.",
		Do:      "Open each VM that the report names, find out which one is the machine, and rename or remove the others; then run detect again.",
		Plan:    "Several VMs may be the machine. First find out which of them its Node runs on: compare the Node's addresses and heartbeat with theirs. That one is left as it is. Of the others their owners say what they are: see that none can be taken for the machine any more, and run detect again. Until then nothing may start, stop or delete anything of it: the controller takes any VM that it finds by the id.",
	},
	{
		Code: ClaimedTwice, Kinds: []Kind{OfUnknown},
		Happens: "Two machines of the backup record the same id; each names the other.",
		Why:     "One VM cannot be two machines. After the restore two Machines manage it, and deleting either one deletes the VM.",
		Do:      "Find out which Machine the VM is, by its Node and its host name. Leave the other Machine out of the restore.",
		Plan:    "Two Machines record one id. Find out which of them the VM belongs to; delete neither Machine while both name it, because that destroys the VM of the other.",
	},
	{
		Code: ConflictingIDs, Kinds: []Kind{OfUnknown},
		Happens: "Two objects of the backup record different ids for the machine.",
		Why:     "Its controller reads only one of the two ids: if that is the wrong one, it looks for a VM that does not exist while the right one runs on.",
		Do:      "Compare the ids that the report names with the VM in the infrastructure; after the restore correct the wrong one, while its Cluster is paused.",
		Plan:    "Two objects of the backup record different ids for it. Look both ids up, and correct the wrong object after the restore, before its cluster is unpaused.",
	},
	{
		Code: FoundElsewhere, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "The VM is in another datacenter, vCenter, account or project than the one where its controller looks.",
		Why:     "Its controller does not look there: it treats the machine as gone, while the VM runs on.",
		Do:      "Move the VM back to where the backup says, or correct the place in the infrastructure object before its Cluster is unpaused.",
		Plan:    "A VM with its id is where its controller does not look: in another place or account. Prove by its Node and addresses that it is the machine, and no replica. If it is, move it back before the restore.",
	},
	{
		Code: IdentityChanged, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "The VM is there and has another id than the backup records, as after a restore from a VM backup: its second id is right, or it has the machine's folder and its name, itself or in its metadata.",
		Why:     "Its controller searches by the recorded id and does not find the VM: the Machine is treated as gone, while the VM runs on.",
		Do:      "See that the VM is really the machine. Set its id back to the recorded one, or correct the id in the restored objects, while its Cluster is paused.",
		Plan:    "A VM that may be it is there under another id. Prove by its Node and addresses whether it is the machine. If it is not, run detect again when it is out of the way. If it is, leave the Machine as it is, and its cluster paused, until it is decided how it gets its recorded id again or what takes its place.",
	},
	{
		Code: InfraObjectMissing, Kinds: []Kind{OfUnknown},
		Happens: "The backup lacks the infrastructure object that leads a controller to the VM, whether the VM was found by another id or by none.",
		Why:     "Without that object no controller can reach the VM: the Machine stays without infrastructure, and deleting it leaves the VM behind.",
		Do:      "Look for the object in an older or a newer backup; without one, recreate it with the recorded id before the Cluster is unpaused.",
		Plan:    "Its VM exists, and the backup lacks the infrastructure object that ties it to the Machine. Take that object from another backup; without it the Machine is broken until it is deleted.",
	},
	{
		Code: InstanceUnreadable, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "A VM whose properties could not be read, or are only remembered (orphaned, inaccessible), may be the machine.",
		Why:     "What cannot be read may be this machine, so that it is neither found nor known to be gone.",
		Do:      "Make the VM readable (its host back, its datastore reachable, or the account's permissions complete) and run detect again.",
		Plan:    "A VM that may be this machine could not be read. See what keeps it from being read (it cannot be reached, or a permission is missing), and run detect again.",
	},
	{
		Code: LeftPool, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "The backup records the VM as a member of a machine pool, and the pool does not have it any more. A Machine of it is deleted when it is restored, and the VM with it.",
		Why:     "After the restore the controller deletes the Machine, and the VM with it.",
		Do:      "If the VM is still needed, move its workload first, or keep its Cluster paused.",
	},
	{
		Code: MachineNotInBackup, Kinds: []Kind{OfUnknown},
		Happens: "The VM belongs to an owner whose machines are not all in the backup, or to one that the backup may lack, so it may be one of those.",
		Why:     "If it is one of the machines that the backup lacks, it was wanted and must not be deleted as a Ghost without a look.",
		Do:      "Find out whether the VM was made after the backup. If so, it is to be treated as a Ghost; a newer backup decides it.",
		Plan:    "Its owner had more Machines than the backup holds, so that it may be one of those. Take a complete backup if there is one; else find out from its Node and its creation time whether it belongs to this cluster.",
	},
	{
		Code: NodeAlive, Kinds: []Kind{OfUnknown},
		Happens: "No VM was found, or one that is off, and the kubelet of the machine's Node reports, ready or not, with a fresh heartbeat.",
		Why:     "Its kubelet reports, so the machine runs, and its VM was not found: the listing does not see it, or the VM is somewhere else.",
		Do:      "Find the VM by the Node's addresses. See that the account may list the place where it is, and run detect again.",
		Plan:    "No VM was found, and its Node is alive all the same. The VM is somewhere that was not listed: find it by the Node's address and provider id, and run detect again with that place.",
	},
	{
		Code: NodeListUnread, Kinds: []Kind{OfUnknown},
		Happens: "No VM was found, or one that is off, or one with no more than a name of the cluster, and the cluster's Node list, which may contradict that, was asked for and not read, or does not say whether the Node is ready. --skip-access-apiserver decides without it.",
		Why:     "A Node that still reports would show that the machine runs somewhere, although no VM of it was found.",
		Do:      "Make the cluster's API server reachable, or give a kubeconfig with --credentials, and run detect again; --skip-access-apiserver decides without Node lists.",
		Plan:    "No VM was found, and the Node list that would show whether its Node is alive could not be read. Make the cluster's API server answer, and run detect again; only if it is gone for good, run it with --skip-access-apiserver.",
	},
	{
		Code: NotFoundByName, Kinds: []Kind{OfUnknown},
		Happens: "The instance exists, but its id is not recorded where its controller reads it: the controller searches by name, does not find it and makes a second one.",
		Why:     "The controller makes a second VM beside the one that runs.",
		Do:      "Before the Cluster is unpaused, record the id in the restored object, or give the VM the name by which the controller searches.",
	},
	{
		Code: PoolMember, Kinds: []Kind{OfUnknown},
		Happens: "The VM of a pool's machine is gone. The pool replaces members itself, and Cluster API deletes the Machine when it is restored.",
		Why:     "Nothing has to be repaired: the pool keeps its own count.",
		Do:      "See that the pool has as many members as it should have.",
	},
	{
		Code: ScopeIncomplete, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "The place where the machine's VM would be could not be listed completely, or no id proves that it is that place, so that neither absence nor a name proves anything.",
		Why:     "From a place that was not listed completely nothing is known to be absent: the VM may be there all the same.",
		Do:      "Read what the report says of that place under its scopes, correct it (credential, permission, endpoint), and run detect again.",
		Plan:    "Its place could not be listed completely. Remove the cause (the report's scopes and errors say what it is), and run detect again. Do not act on it before.",
	},
	{
		Code: UnsupportedProvider, Kinds: []Kind{OfUnknown},
		Happens: "No provider of this release reads the machine's infrastructure kind.",
		Why:     "Nobody looked for its VM, and nothing is said of what its controller does after the restore.",
		Do:      "Look for its VM by hand; this release can list only the infrastructures that 'drift-detector permissions' names.",
		Plan:    "No provider of this release reads its infrastructure. Compare it by hand.",
	},
	{
		Code: InstanceNotFound, Kinds: []Kind{OfStale},
		Happens: "Its place was listed completely and no VM has the recorded id.",
		Why:     "After the restore its Machine has no VM and still counts as a replica, so that nothing replaces it unless a MachineHealthCheck covers it.",
		Do:      "If the machine should exist: let its MachineHealthCheck replace it, or delete its Machine after the restore. 'drift-detector plan' has the commands.",
	},
	{
		Code: InstanceTerminated, Kinds: []Kind{OfStale},
		Happens: "The VM is still listed and has ended: terminated or shutting down.",
		Why:     "The VM does not come back, and after the restore its Machine still counts as a replica. Only a MachineHealthCheck has it replaced.",
		Do:      "If the machine is still wanted: let its MachineHealthCheck replace it, or delete its Machine after the restore.",
	},
	{
		Code: NotProvisioned, Kinds: []Kind{OfStale},
		Happens: "The backup records no id; the machine had no VM yet when the backup was taken, and has none now.",
		Why:     "Its controller makes the VM after the restore, if the bootstrap data is in the backup.",
		Do:      "Nothing, where the machine is wanted; 'drift-detector check' reports missing bootstrap data.",
	},
	{
		Code: AmbiguousOwner, Kinds: []Kind{ToConfirm},
		Happens: "The VM matches several clusters equally well.",
		Why:     "If one of the clusters owns it, it runs on unmanaged after the restore; deleting it on a guess may hit the other cluster.",
		Do:      "Ask the owner of the VM. A Ghost goes into the plan by hand; one that is no machine can be set aside with 'drift-detector ignore'.",
	},
	{
		Code: CloneOf, Kinds: []Kind{ToConfirm},
		Happens: "The VM's own metadata carries the host name of a machine of the backup.",
		Why:     "It may be the machine under another id, or a copy that was made of it: deleting it may delete the only one that runs.",
		Do:      "Find out whether it is a copy. The machine itself keeps its id; a copy is renamed or removed.",
	},
	{
		Code: ForeignNode, Kinds: []Kind{ToConfirm},
		Happens: "A Node of the cluster has this id, and nothing else makes the VM one of the cluster: the Node has no annotation of Cluster API, or the VM is neither where the cluster's machines are nor named like them.",
		Why:     "It is a working Node of the cluster, perhaps joined by hand: nobody manages it after the restore, and workloads run on it.",
		Do:      "Ask who joined it. If it is to go, drain its Node first.",
	},
	{
		Code: InClusterFolder, Kinds: []Kind{ToConfirm},
		Happens: "The VM is where machines of a cluster are, and nothing else links it to the cluster.",
		Why:     "It may be a jump host or a database that belongs to others, or a machine that nobody knows any more.",
		Do:      "Ask its owner; one that is no machine can be set aside with 'drift-detector ignore'.",
	},
	{
		Code: NameOnly, Kinds: []Kind{ToConfirm},
		Happens: "Nothing but its name, or the API endpoint in its metadata, makes the VM one of the cluster: it is older than the backup, or has no Node although the Node list was read, or is where no machine of the cluster is, or is a template or managed by an extension of vCenter.",
		Why:     "A name is easily shared: the VM may be a machine that was forgotten, or one of others with a similar name.",
		Do:      "Ask its owner. A Ghost goes into the plan by hand; what is no machine can be set aside with 'drift-detector ignore'.",
	},
	{
		Code: NodeOfMachine, Kinds: []Kind{ToConfirm},
		Happens: "The Node of a machine of the backup runs on this VM, which is not the one that the backup records.",
		Why:     "The machine runs on another VM than the one that its controller manages after the restore: deleting the Machine deletes the wrong one.",
		Do:      "Compare both VMs before the restore; find out which one the cluster uses, and correct the recorded id.",
	},
	{
		Code: SameName, Kinds: []Kind{ToConfirm},
		Happens: "The VM has the name of a machine of the backup and another id.",
		Why:     "A controller that searches by name can take this VM for the machine.",
		Do:      "Find out whether it is a copy. Rename or remove it before the restore, if it is.",
	},
}
