package code

// Reasons for which the answer is not [Yes].
const (
	ClustersFirst       Reason = "ClustersFirst"
	MachinesDeleted     Reason = "MachinesDeleted"
	PoolScaledBack      Reason = "PoolScaledBack"
	LivingReplaced      Reason = "LivingReplaced"
	RolloutDue          Reason = "RolloutDue"
	SecondInstance      Reason = "SecondInstance"
	OtherInstance       Reason = "OtherInstance"
	EtcdMembersRemoved  Reason = "EtcdMembersRemoved"
	ControlPlaneDown    Reason = "ControlPlaneDown"
	ClusterHalted       Reason = "ClusterHalted"
	BackupError         Reason = "BackupError"
	Incomplete          Reason = "Incomplete"
	MachinesUnknown     Reason = "MachinesUnknown"
	CopiedID            Reason = "CopiedID"
	ResourceUndecided   Reason = "ResourceUndecided"
	PoolNotDecided      Reason = "PoolNotDecided"
	OutcomeUnknown      Reason = "OutcomeUnknown"
	SpecUnseen          Reason = "SpecUnseen"
	HostedControlPlane  Reason = "HostedControlPlane"
	InstancesToConfirm  Reason = "InstancesToConfirm"
	ErrorsOccurred      Reason = "ErrorsOccurred"
	NothingToCompare    Reason = "NothingToCompare"
	NoForecast          Reason = "NoForecast"
	NewerBackup         Reason = "NewerBackup"
	StatusNotHealthy    Reason = "StatusNotHealthy"
	OwnerHalted         Reason = "OwnerHalted"
	MachinesHalted      Reason = "MachinesHalted"
	CannotReplace       Reason = "CannotReplace"
	MachinesBroken      Reason = "MachinesBroken"
	MachinesMissing     Reason = "MachinesMissing"
	InstancesNeverJoin  Reason = "InstancesNeverJoin"
	MachinesMade        Reason = "MachinesMade"
	PoolGrown           Reason = "PoolGrown"
	InstancesStarted    Reason = "InstancesStarted"
	InstancesStopped    Reason = "InstancesStopped"
	StaleReplaced       Reason = "StaleReplaced"
	GhostsLeft          Reason = "GhostsLeft"
	FoundByNameOnly     Reason = "FoundByNameOnly"
	MachinesNotReady    Reason = "MachinesNotReady"
	ResourceMade        Reason = "ResourceMade"
	PoolMachinesDeleted Reason = "PoolMachinesDeleted"
	RolloutScheduled    Reason = "RolloutScheduled"
)

// answers are in the order of their danger: the worst of those that there are is the
// answer.
var answers = []Row{
	{
		Code: ClustersFirst, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Restoring},
		Happens: "The Velero in the backup restores Clusters before their machines: while controllers run, each MachineDeployment then creates a new MachineSet.",
		Why:     "The new MachineSet creates machines of its own, and the restored one is scaled down: every running worker is deleted with its VM.",
		Do:      "Stop the controllers, or pause the Clusters, until the whole restore is done; or set Velero's --restore-resource-priorities so that Clusters come last.",
		Screen:  "Clusters come first, which deletes running workers",
	},
	{
		Code: MachinesDeleted, Kinds: []Kind{Answer, Note}, Safe: No, Phases: []Phase{Paused},
		Happens: "Owners or health checks delete running machines with their instances.",
		Why:     "The VM of each deleted Machine is terminated, and the workload on it with it.",
		Do:      "Keep the Cluster paused; correct replicas, topology or health check, or leave the owner out of the restore, before you unpause it.",
		Screen:  "deleted, with running VMs",
		Plan:    "Unless that is wanted, let the owners want what exists: set their replicas, or put back into the topology what it lacks.",
	},
	{
		Code: PoolScaledBack, Kinds: []Kind{Answer, Note}, Safe: No, Phases: []Phase{Paused},
		Happens: "A machine pool is scaled down to the replicas in the backup.",
		Why:     "The pool has more members today: the infrastructure terminates running ones, and picks which, without draining their Nodes.",
		Do:      "While the Cluster is paused, set the replicas of the MachinePool to those of today.",
		Screen:  "terminates running VMs",
		Plan:    "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	},
	{
		Code: LivingReplaced, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Paused},
		Happens: "A MachineHealthCheck deletes running machines, and their owners create new ones.",
		Why:     "Machines that are only stopped, or whose Nodes are not Ready for another reason, lose their VMs and what is on their disks.",
		Do:      "Start the machines and see that their Nodes are Ready, or annotate the Machines so that health checks skip them, before you unpause the Cluster.",
		Screen:  "a health check deletes running VMs",
		Plan:    "Unless that is wanted, start what is off, see that their Nodes are Ready, and take the annotation cluster.x-k8s.io/remediate-machine away. Until then the lines keep health checks from them.",
	},
	{
		Code: RolloutDue, Kinds: []Kind{Answer, Note}, Safe: No, Phases: []Phase{Paused},
		Happens: "Owners replace running machines, one after the other, because a rollout is due.",
		Why:     "A version, a template or a date in the restored objects asks for new machines: as soon as controllers reconcile, running machines are deleted and created again.",
		Do:      "Let the owner have the version and template that its machines have, or keep the Cluster paused; else see that new machines can be created before old ones are deleted.",
		Screen:  "running machines are replaced, one by one",
		Plan:    "Unless that is wanted now, let the owners want what their machines are (version, template, rollout), or take a backup that is newer than the rollout.",
	},
	{
		Code: SecondInstance, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Paused},
		Happens: "A controller creates a second instance beside the one that exists.",
		Why:     "Two VMs then run as one machine: both register as its Node, and may write the same data.",
		Do:      "While the Cluster is paused, record the id of the VM that runs in the restored object.",
		Screen:  "a second VM is created beside the running one",
		Plan:    "Keep all their infrastructure objects paused until they have the ids of the instances that exist: two of one machine harm each other.",
	},
	{
		Code: OtherInstance, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Paused},
		Happens: "A controller takes over an instance that is not the machine's, because it has the machine's name.",
		Why:     "A VM of another owner is managed as this machine, and deleting the Machine terminates it.",
		Do:      "Rename that VM, or have its owner remove it, before you unpause the Cluster.",
		Screen:  "its controller takes over another VM",
		Plan:    "Rename these instances first, or keep all infrastructure objects of the machines paused: deleting such a Machine ends an instance that is not its own.",
	},
	{
		Code: EtcdMembersRemoved, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Paused},
		Happens: "KubeadmControlPlane removes running etcd members that have no Machine in the backup.",
		Why:     "Each removal shrinks etcd while the VMs run on with their data; with the wrong ones gone the cluster loses its majority.",
		Do:      "Use a newer backup that has these Machines; or keep the Cluster paused until the Ghosts of its control plane are replaced.",
		Screen:  "running etcd members are removed",
		Plan:    "If that is not wanted, keep the cluster paused, and take a backup that holds their Machines. Unpause it only if the members that stay are all there, and a majority of them answers.",
	},
	{
		Code: ControlPlaneDown, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Before},
		Happens: "The API server of a cluster does not answer, or etcd may have no majority.",
		Why:     "Without it nothing in the cluster can be reconciled, and no controller repairs a control plane that has lost its majority.",
		Do:      "Decide before the restore: start the control plane machines that are off, recover etcd, or leave a cluster that was deleted out of the restore.",
		Screen:  "its control plane is down, and no controller repairs it",
	},
	{
		Code: ClusterHalted, Kinds: []Kind{Answer, Note}, Safe: No, Phases: []Phase{Paused},
		Happens: "No controller reconciles a cluster until something exists again, is gone, is unpaused or may be used.",
		Why:     "Its machines run on, but none is repaired, replaced or scaled, and health checks do nothing.",
		Do:      "Create what is missing, remove or unpause what blocks, or let the namespace use its identity, before you unpause the Cluster; the message names it.",
		Screen:  "no controller acts on it",
		Plan:    "Nothing is taken over before that is resolved.",
	},
	{
		Code: BackupError, Kinds: []Kind{Answer}, Safe: No, Phases: []Phase{Before},
		Happens: "A check of the backup itself found an error.",
		Why:     "Part of the fleet does not work after the restore until a person acts, even if no VM has drifted.",
		Do:      "Read the errors with 'drift-detector check', and do what each says before the restore.",
	},
	{
		Code: Incomplete, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Before},
		Happens: "Not every place could be listed or read.",
		Why:     "A VM that was not seen may run: its machine is Unknown, and a Ghost there is not counted.",
		Do:      "Read which places were not listed completely, correct their causes, and run detect again.",
	},
	{
		Code: MachinesUnknown, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Before},
		Happens: "For some machines it is not known whether their instances exist, or which they are.",
		Why:     "This could not be checked, so the answer cannot be YES: controllers may delete, duplicate or ignore the VMs of these machines.",
		Do:      "See what the report says of each Unknown machine, correct its cause, and run detect again.",
		Screen:  "whether the VM exists, or which it is, is not known",
	},
	{
		Code: CopiedID, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Before},
		Happens: "Two instances have one id, or only a copy is left.",
		Why:     "A controller finds a VM by this id: it may take the copy for the machine, and deleting the Machine may destroy both.",
		Do:      "Give the copy another id, or remove it; then run detect again.",
		Screen:  "a delete may end 2 VMs",
	},
	{
		Code: ResourceUndecided, Kinds: []Kind{Answer, Note}, Safe: Unclear, Phases: []Phase{Paused},
		Happens: "It is not known whether a resource exists without which the controllers do nothing.",
		Why:     "If it is gone, the cluster is not reconciled after the restore, and nobody notices before a machine fails.",
		Do:      "Look the resource up by hand, or give the account the right to list it, and run detect again.",
		Screen:  "whether what it needs exists is not known",
		Plan:    "Look it up first: if it is gone, the cluster is not reconciled.",
	},
	{
		Code: PoolNotDecided, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Paused},
		Happens: "It is not known whether a machine pool exists, or how large it is.",
		Why:     "A pool of another size is scaled to the replicas in the backup, and one that is gone is created again.",
		Do:      "Give the account the right to list pools, see 'drift-detector permissions', and run detect again.",
		Screen:  "its pool could not be seen",
		Plan:    "Look the pool up first, and compare its size with the replicas of its MachinePool: the controller sets it to those.",
	},
	{
		Code: OutcomeUnknown, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Paused},
		Happens: "What a controller does to some machines or instances is not known here.",
		Why:     "It may delete or replace them as soon as the Cluster is unpaused.",
		Do:      "Read what the report says of each, and keep the Cluster paused until you know.",
		Screen:  "what controllers do with it is not known",
		Plan:    "Find out what becomes of these first, and watch them when it is unpaused.",
	},
	{
		Code: SpecUnseen, Kinds: []Kind{Answer, Note}, Safe: Unclear, Phases: []Phase{Paused},
		Happens: "An object was changed shortly before the backup, and its controller had not reconciled it yet.",
		Why:     "The change takes effect after the restore: a rollout or a scale-down may begin that the report cannot foretell.",
		Do:      "Compare the object with what exists, and keep the Cluster paused until you have.",
		Screen:  "changed just before the backup; what follows is not known",
		Plan:    "Compare what it wants with what exists first.",
	},
	{
		Code: HostedControlPlane, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Paused},
		Happens: "A control plane ran as pods inside the lost management cluster.",
		Why:     "Its workers run without an API server until pods and volumes are restored, and whether its etcd data is in a backup is not known.",
		Do:      "Restore the pods and volumes of the control plane, and see that etcd is complete, before you unpause the Cluster.",
		Screen:  "its control plane was in the lost management cluster",
		Plan:    "See that its control plane runs and that its data is there.",
	},
	{
		Code: InstancesToConfirm, Kinds: []Kind{Answer}, Safe: Unclear, Phases: []Phase{Before},
		Happens: "Some VMs may or may not belong to a cluster of the backup.",
		Why:     "One that belongs to a cluster keeps running unmanaged after the restore; one that does not must not be touched.",
		Do:      "Ask the owners of these VMs; set those that are no machines aside with 'drift-detector ignore' and --ignore-file.",
		Screen:  "ask their owners",
	},
	{
		Code: ErrorsOccurred, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Errors occurred during the run, or items of the backup could not be read.",
		Why:     "What was not read was not compared, so that something may be missing from the report.",
		Do:      "Read the errors at the end of the report, correct their causes, and run detect again.",
		Screen:  "an error; something may be missing",
	},
	{
		Code: NothingToCompare, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The backup holds no machine that could be compared.",
		Why:     "The report says nothing about any VM: a restore of this backup may bring nothing back.",
		Do:      "See that the backup is of the management cluster and includes the namespaces of its clusters, and that --cluster names the right one.",
		Screen:  "the backup has no machine to compare",
	},
	{
		Code: NoForecast, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The report was made without a forecast.",
		Why:     "It says what exists, and not what the restored controllers do.",
		Do:      "Run detect again with this release.",
		Screen:  "the report has no forecast; run detect again",
	},
	{
		Code: NewerBackup, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The store has a newer backup that can be restored, of the same management cluster or of another.",
		Why:     "This backup brings machines back that were replaced since, and does not know those that were created since.",
		Do:      "Give the newer one, if it is of the same management cluster: 'drift-detector backups PLACE --compare' tells them apart, and compares those of one.",
		Screen:  "a newer backup is in the same place",
	},
	{
		Code: StatusNotHealthy, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The status is not Healthy, and no other reason says why.",
		Why:     "Something was found that this release has no better word for.",
		Do:      "Read the findings of the report.",
		Screen:  "not everything is Healthy",
	},
	{
		Code: OwnerHalted, Kinds: []Kind{Answer, Note}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "Some machines have no owner that manages them: the owner, its template, a bootstrap object, a class or an extension is not in the backup.",
		Why:     "Their VMs run on, and nobody scales, upgrades or replaces them.",
		Do:      "Restore or create the missing owner, template or class before you unpause the Cluster.",
		Screen:  "nobody manages it: its MachineSet is not in the backup",
		Plan:    "Make again what is missing, as it was, or give the machines the labels that their owner selects: else nobody replaces them.",
	},
	{
		Code: MachinesHalted, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "A controller does nothing for some machines until you act; their instances run on.",
		Why:     "Health checks and rollouts wait for these machines, too.",
		Do:      "Read in the forecast of each what blocks its controller, and resolve that, or leave it on purpose.",
		Screen:  "its controller does nothing for it; the VM runs on",
		Plan:    "Their forecasts say what keeps their controller away: resolve that, or leave it so on purpose.",
	},
	{
		Code: CannotReplace, Kinds: []Kind{Answer, Note}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "An owner has to create machines and cannot.",
		Why:     "Machines that are deleted are not replaced, so that the group shrinks.",
		Do:      "Restore or create what the owner needs (template, bootstrap object) before you unpause the Cluster.",
		Screen:  "has to make machines and cannot",
		Plan:    "Bring back what is missing first. Machines that are deleted before are not made again.",
	},
	{
		Code: MachinesBroken, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Before, After},
		Happens: "Some machines have no instance, and no controller replaces them.",
		Why:     "They count as replicas: their groups stay short of machines and report no error.",
		Do:      "After the restore delete the Machine of each, so that its owner creates another; 'drift-detector plan' has the commands.",
		Screen:  "no VM, and nothing replaces it",
	},
	{
		Code: MachinesMissing, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Paused, After},
		Happens: "The backup lacks Machines whose instances may run on.",
		Why:     "Their owners create new machines beside the VMs that run on unmanaged.",
		Do:      "Use a newer backup if there is one; else compare what runs with what was restored, and remove the VMs that nobody manages after the restore.",
		Screen:  "not in the backup; its VM runs on unmanaged",
		Plan:    "Take a newer backup if there is one. Else compare the instances that run with the Machines that were restored, as new ones are made beside them.",
	},
	{
		Code: InstancesNeverJoin, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{After},
		Happens: "New instances are created that never join, because their ids cannot be recorded.",
		Why:     "They run and cost money, their Machines stay without a Node, and no controller deletes them.",
		Do:      "Keep the Cluster paused and correct the objects that the message names, so that ids can be recorded.",
		Screen:  "its new VM never joins, and nobody deletes it",
	},
	{
		Code: MachinesMade, Kinds: []Kind{Answer, Note}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "Owners create new machines.",
		Why:     "They want more machines than the backup holds: new VMs take capacity and addresses, also where old ones still run.",
		Do:      "Set the replicas to the number of machines that exist before you unpause the Cluster, unless the new ones are wanted.",
		Screen:  "new VMs are made",
		Plan:    "Unless that is wanted, let the owners want what exists.",
	},
	{
		Code: PoolGrown, Kinds: []Kind{Answer, Note}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "A machine pool is scaled up to the replicas in the backup, and instances are created.",
		Why:     "The pool was made smaller since, perhaps on purpose: the new members cost money and take capacity.",
		Do:      "Set the replicas of the MachinePool to those of today before you unpause the Cluster, unless more are wanted.",
		Screen:  "its pool grows: new VMs are made",
		Plan:    "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	},
	{
		Code: InstancesStarted, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "A controller powers on instances that are off.",
		Why:     "One that was stopped on purpose runs again, perhaps beside the VM that took its place.",
		Do:      "Find out who stopped them; if they are to stay off, keep their Cluster paused.",
		Screen:  "its VM is powered on",
		Plan:    "Unless that is wanted, find out who stopped them, and whether another one runs in their place.",
	},
	{
		Code: InstancesStopped, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Before},
		Happens: "Some instances are off, and no controller starts them.",
		Why:     "Their Nodes stay down, and a MachineHealthCheck may delete their Machines with their VMs.",
		Do:      "Start them before the restore, if they should run.",
		Screen:  "its VM is off, and no controller starts it",
	},
	{
		Code: StaleReplaced, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Machines without an instance are replaced by their owners.",
		Why:     "New VMs are created, which need capacity, addresses and the template; nothing that runs is touched.",
		Do:      "Nothing; see that the new machines come up.",
		Screen:  "no VM; a new one is made",
	},
	{
		Code: GhostsLeft, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{After},
		Happens: "Some instances keep running, and no restored object knows them.",
		Why:     "They cost money, keep their addresses and stay in the cluster as Nodes, and no controller notices them.",
		Do:      "After the restore drain the Node of each Ghost and remove its VM; 'drift-detector plan' has the commands. A newer backup may know them.",
		Screen:  "runs on, and nobody manages it",
	},
	{
		Code: FoundByNameOnly, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "A controller finds an instance by its name alone.",
		Why:     "A name is no proof: a copy of that name is taken over as the machine.",
		Do:      "See that each of these VMs has exactly the name of its machine, and that no other VM has it.",
		Screen:  "found by name alone, which is no proof",
		Plan:    "See that the instance of each name is the machine, and no copy of it.",
	},
	{
		Code: MachinesNotReady, Kinds: []Kind{Answer}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "Some Machines do not report Ready again, because the backup lacks their bootstrap objects.",
		Why:     "Rollouts and health checks wait for them, though their VMs run.",
		Do:      "Restore the bootstrap objects from another backup, or create them, before you unpause the Cluster.",
		Screen:  "does not become Ready: its bootstrap object is not in the backup",
		Plan:    "Make the bootstrap objects again from another backup or your sources.",
	},
	{
		Code: ResourceMade, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "A controller creates a resource again that is gone.",
		Why:     "The new one is empty, and has another id than what refers to the old one.",
		Do:      "See whether the resource is really gone. If it has only been renamed or moved, correct the objects before you unpause the Cluster.",
		Screen:  "made again",
	},
	{
		Code: PoolMachinesDeleted, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "The Machines of members that left their pools are deleted, and nothing that runs.",
		Why:     "The pool replaces its members itself, so that only records go.",
		Do:      "Nothing.",
		Screen:  "the Machine is deleted; its VM is gone already",
	},
	{
		Code: RolloutScheduled, Kinds: []Kind{Answer, Note}, Safe: WithWork, Phases: []Phase{Paused},
		Happens: "An owner replaces all its machines at a time that is still to come.",
		Why:     "From that time on running machines are deleted and created again, one after the other.",
		Do:      "Note the time; change spec.rollout of the owner if that time does not suit.",
		Screen:  "all its machines are replaced later",
		Plan:    "Unless that is wanted, take the time away.",
	},
}
