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
		Code: AmbiguousMatch, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "Several VMs may be the machine and nothing shows which; or one has its name and the backup records no id to tell by; or its VM is off while one that has its id or its name runs.",
		Why:     "The controller may take either VM for the machine: the other one runs on unmanaged, or is terminated with the Machine.",
		Do:      "Open each VM that the report names, find out which one is the machine, and rename or remove the others; then run detect again.",
		Plan:    "Several VMs may be the machine. First find out which of them its Node runs on: compare the Node's addresses and heartbeat with theirs. That one is left as it is. Of the others their owners say what they are: see that none can be taken for the machine any more, and run detect again. Until then nothing may start, stop or delete anything of it: the controller takes any VM that it finds by the id.",
	},
	{
		Code: ClaimedTwice, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "Two machines of the backup record the same id; each names the other.",
		Why:     "One VM cannot be two machines. After the restore two Machines manage it, and deleting either one terminates the VM.",
		Do:      "Find out which Machine the VM is, by its Node and its host name. Leave the other Machine out of the restore.",
		Plan:    "Two Machines record one id. Find out which of them the VM belongs to; delete neither Machine while both name it, because that destroys the VM of the other.",
	},
	{
		Code: ConflictingIDs, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "Two objects of the backup record different ids for the machine.",
		Why:     "Controllers go by one of the two ids: with the wrong one they treat a running VM as gone.",
		Do:      "Compare the ids that the report names with the VM in the infrastructure; after the restore correct the wrong one, while its Cluster is paused.",
		Plan:    "Two objects of the backup record different ids for it. Look both ids up, and correct the wrong object after the restore, before its cluster is unpaused.",
	},
	{
		Code: FoundElsewhere, Kinds: []Kind{OfUnknown, ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM is in another datacenter, vCenter, account or project than the one where its controller looks.",
		Why:     "Its controller does not look there: it treats the machine as gone, while the VM runs on.",
		Do:      "Move the VM back to where the backup says, or correct the place in the infrastructure object before its Cluster is unpaused.",
		Plan:    "A VM with its id is where its controller does not look: in another place or account. Prove by its Node and addresses that it is the machine, and no replica. If it is, move it back before the restore.",
		Confirm: "It has the id of a machine of the backup, and is where its controller does not look. Decide there.",
	},
	{
		Code: IdentityChanged, Kinds: []Kind{OfUnknown, ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM is there and has another id than the backup records, as after a restore from a VM backup: its second id is right, or it has the machine's folder and its name, itself or in its metadata.",
		Why:     "Its controller searches by the recorded id and does not find the VM: the Machine is treated as gone, while the VM runs on.",
		Do:      "See that the VM is really the machine. Set its id back to the recorded one, or correct the id in the restored objects, while its Cluster is paused.",
		Plan:    "A VM that may be it is there under another id. Prove by its Node and addresses whether it is the machine. If it is not, run detect again when it is out of the way. If it is, leave the Machine as it is, and its cluster paused, until it is decided how it gets its recorded id again or what takes its place.",
		Confirm: "It seems to be the VM of a machine of the backup under another id. Decide there.",
	},
	{
		Code: InfraObjectMissing, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "The backup lacks the infrastructure object that leads a controller to the VM, whether the VM was found by another id or by none.",
		Why:     "Without that object no controller can reach the VM: the Machine stays without infrastructure, and deleting it leaves the VM behind.",
		Do:      "Look for the object in an older or a newer backup; without one, recreate it with the recorded id before you unpause the Cluster.",
		Plan:    "Its VM exists, and the backup lacks the infrastructure object that ties it to the Machine. Take that object from another backup; without it the Machine is broken until it is deleted.",
	},
	{
		Code: InstanceUnreadable, Kinds: []Kind{OfUnknown, ToConfirm}, Phases: []Phase{Before},
		Happens: "A VM whose properties could not be read, or are only remembered (orphaned, inaccessible), may be the machine.",
		Why:     "A VM that cannot be read has no known id: it may be the machine and run, or be gone.",
		Do:      "Make the VM readable (its host back, its datastore reachable, or the account's permissions complete) and run detect again.",
		Plan:    "A VM that may be this machine could not be read. See what keeps it from being read (it cannot be reached, or a permission is missing), and run detect again.",
	},
	{
		Code: LeftPool, Kinds: []Kind{OfUnknown, ToConfirm},
		Happens: "The backup records the VM as a member of a machine pool, and the pool does not have it any more. A Machine of it is deleted when it is restored, and the VM with it.",
		Why:     "Its record in the backup brings a Machine back, and deleting that Machine terminates the VM, though it is no member any more.",
		Do:      "If the VM is still needed, move its workload first, or keep its Cluster paused.",
	},
	{
		Code: MachineNotInBackup, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "The VM belongs to an owner whose machines are not all in the backup, or to one that the backup may lack, so it may be one of those.",
		Why:     "If it was created after the backup, it is a Ghost; if its Machine was filtered out, its owner creates another beside it.",
		Do:      "Find out whether the VM was made after the backup. If so, it is to be treated as a Ghost; a newer backup decides it.",
		Plan:    "Its owner had more Machines than the backup holds, so that it may be one of those. Take a complete backup if there is one; else find out from its Node and its creation time whether it belongs to this cluster.",
	},
	{
		Code: NodeAlive, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "No VM was found, or one that is off, and the kubelet of the machine's Node reports, ready or not, with a fresh heartbeat.",
		Why:     "A kubelet that reports runs on a VM: the listing does not see it, or the VM is somewhere else.",
		Do:      "Find the VM by the Node's addresses. See that the account may list the place where it is, and run detect again.",
		Plan:    "No VM was found, and its Node is alive all the same. The VM is somewhere that was not listed: find it by the Node's address and provider id, and run detect again with that place.",
	},
	{
		Code: NodeListUnread, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "No VM was found, or one that is off, or one with no more than a name of the cluster, and the cluster's Node list, which may contradict that, was asked for and not read, or does not say whether the Node is ready. --skip-access-apiserver decides without it.",
		Why:     "Without the Node list a missing VM is no proof: its Node may be alive, and deleting its Machine would be wrong.",
		Do:      "Make the cluster's API server reachable, or give a kubeconfig with --credentials, and run detect again; --skip-access-apiserver decides without Node lists.",
		Plan:    "No VM was found, and the Node list that would show whether its Node is alive could not be read. Make the cluster's API server answer, and run detect again; only if it is gone for good, run it with --skip-access-apiserver.",
	},
	{
		Code: NotFoundByName, Kinds: []Kind{OfUnknown},
		Happens: "The instance exists, but its id is not recorded where its controller reads it: the controller searches by name, does not find it and creates a second one.",
		Why:     "The second VM registers under the name of the one that runs, and both may write the same data.",
		Do:      "Before you unpause the Cluster, record the id in the restored object, or give the VM the name by which the controller searches.",
	},
	{
		Code: PoolMember, Kinds: []Kind{OfUnknown},
		Happens: "The VM of a pool's machine is gone. The pool replaces members itself, and Cluster API deletes the Machine when it is restored.",
		Why:     "Nothing has to be repaired: the pool keeps its own count, and only a record is deleted.",
		Do:      "See that the pool has as many members as it should have.",
	},
	{
		Code: ScopeIncomplete, Kinds: []Kind{OfUnknown, ToConfirm}, Phases: []Phase{Before},
		Happens: "The place where the machine's VM would be could not be listed completely, or no id proves that it is that place, so that neither absence nor a name proves anything.",
		Why:     "A VM that was not listed may run there: neither absence nor a name proves anything.",
		Do:      "Read what the report says of that place under its scopes, correct it (credential, permission, endpoint), and run detect again.",
		Plan:    "Its place could not be listed completely. Remove the cause (the report's scopes and errors say what it is), and run detect again. Do not act on it before.",
	},
	{
		Code: UnsupportedProvider, Kinds: []Kind{OfUnknown}, Phases: []Phase{Before},
		Happens: "No provider of this release reads the machine's infrastructure kind.",
		Why:     "Nothing is known of its VM, nor of what its controller does after the restore.",
		Do:      "Look for its VM by hand; this release can list only the infrastructures that 'drift-detector permissions' names.",
		Plan:    "No provider of this release reads its infrastructure. Compare it by hand.",
	},
	{
		Code: InstanceNotFound, Kinds: []Kind{OfStale}, Phases: []Phase{Before, After},
		Happens: "Its place was listed completely and no VM has the recorded id.",
		Why:     "After the restore its Machine has no VM and still counts as a replica. Only a MachineHealthCheck has it replaced.",
		Do:      "If the machine should exist: let its MachineHealthCheck replace it, or delete its Machine after the restore. 'drift-detector plan' has the commands.",
	},
	{
		Code: InstanceTerminated, Kinds: []Kind{OfStale}, Phases: []Phase{Before, After},
		Happens: "The VM is still listed and has ended: terminated or shutting down.",
		Why:     "The infrastructure does not start it again; its Machine is restored without a VM and counts as a replica.",
		Do:      "If the machine should exist: let its MachineHealthCheck replace it, or delete its Machine after the restore, so that its owner creates another.",
	},
	{
		Code: NotProvisioned, Kinds: []Kind{OfStale}, Phases: []Phase{After},
		Happens: "The backup records no id; the machine had no VM yet when the backup was taken, and has none now.",
		Why:     "Its controller creates the VM after the restore, if the bootstrap data is in the backup.",
		Do:      "Nothing, where the machine is wanted; 'drift-detector check' reports missing bootstrap data.",
	},
	{
		Code: AmbiguousOwner, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM matches several clusters equally well.",
		Why:     "If it is a machine of one of them, it is a Ghost there, and the others must not touch it.",
		Do:      "Ask the owner of the VM which cluster it belongs to, if any.",
	},
	{
		Code: CloneOf, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM's own metadata carries the host name of a machine of the backup.",
		Why:     "A copy that starts with the machine's host name registers as its Node, and takes its place in the cluster.",
		Do:      "Ask its owner whether it is a copy, and keep it off the network of the cluster if it is.",
		Confirm: "It seems to be a clone of a machine of the backup: its own metadata carries that machine's host name. If it is one, keep it off the network of the cluster.",
	},
	{
		Code: ForeignNode, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "A Node of the cluster has this id, and nothing else makes the VM one of the cluster: the Node has no annotation of Cluster API, or the VM is neither where the cluster's machines are nor named like them.",
		Why:     "It works in the cluster, and Cluster API neither upgrades nor replaces it.",
		Do:      "Find out who joined it; leave it running unless nobody knows it.",
		Confirm: "It is a Node of the cluster that Cluster API does not manage. Leave it, unless nobody knows who joined it.",
	},
	{
		Code: InClusterFolder, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM is where machines of a cluster are, and nothing else links it to the cluster.",
		Why:     "If it belongs to a cluster, it keeps running after the restore and nobody manages it; if not, it must not be touched.",
		Do:      "Ask the owner of the VM. A Ghost goes into the plan by hand; one that is no machine can be set aside with 'drift-detector ignore'.",
	},
	{
		Code: NameOnly, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "Nothing but its name, or the API endpoint in its metadata, makes the VM one of the cluster: it is older than the backup, or has no Node although the Node list was read, or is where no machine of the cluster is, or is a template or managed by an extension of vCenter.",
		Why:     "A name is no proof: it may be an old or foreign VM, or a machine that no object knows.",
		Do:      "Ask the owner of the VM whether it belongs to the cluster; one that is no machine can be set aside with 'drift-detector ignore'.",
	},
	{
		Code: NodeOfMachine, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "The Node of a machine of the backup runs on this VM, which is not the one that the backup records.",
		Why:     "After the restore the controller manages the recorded VM, and the one that works runs on unmanaged.",
		Do:      "Compare both VMs before the restore; find out which one the cluster uses, and correct the recorded id.",
		Confirm: "The Node of a machine of the backup runs on it, and the backup records another VM for that machine. Decide there.",
	},
	{
		Code: SameName, Kinds: []Kind{ToConfirm}, Phases: []Phase{Before},
		Happens: "The VM has the name of a machine of the backup and another id.",
		Why:     "A controller that searches by name can take this VM for the machine.",
		Do:      "Find out whether it is a copy. Rename or remove it before the restore, if it is.",
		Confirm: "It has the name of a machine of the backup and another id. No controller adopts it as long as the recorded id is restored; if Clusters were restored before Machines, one without an id would be.",
	},
}
