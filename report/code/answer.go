package code

// Reasons for which the answer is not [Yes].
const (
	ManagementClusterRuns Reason = "ManagementClusterRuns"
	ManagementClusterActs Reason = "ManagementClusterActs"
	ClustersFirst         Reason = "ClustersFirst"
	MachinesDeleted       Reason = "MachinesDeleted"
	PoolScaledBack        Reason = "PoolScaledBack"
	LivingReplaced        Reason = "LivingReplaced"
	RolloutDue            Reason = "RolloutDue"
	SecondInstance        Reason = "SecondInstance"
	OtherInstance         Reason = "OtherInstance"
	EtcdMembersRemoved    Reason = "EtcdMembersRemoved"
	ControlPlaneDown      Reason = "ControlPlaneDown"
	ClusterHalted         Reason = "ClusterHalted"
	BackupError           Reason = "BackupError"
	ManagedElsewhere      Reason = "ManagedElsewhere"
	Incomplete            Reason = "Incomplete"
	MachinesUnknown       Reason = "MachinesUnknown"
	CopiedID              Reason = "CopiedID"
	ResourceUndecided     Reason = "ResourceUndecided"
	PoolNotDecided        Reason = "PoolNotDecided"
	OutcomeUnknown        Reason = "OutcomeUnknown"
	SpecUnseen            Reason = "SpecUnseen"
	HostedControlPlane    Reason = "HostedControlPlane"
	InstancesToConfirm    Reason = "InstancesToConfirm"
	ErrorsOccurred        Reason = "ErrorsOccurred"
	NothingToCompare      Reason = "NothingToCompare"
	NoForecast            Reason = "NoForecast"
	NewerBackup           Reason = "NewerBackup"
	StatusNotHealthy      Reason = "StatusNotHealthy"
	OwnerHalted           Reason = "OwnerHalted"
	MachinesHalted        Reason = "MachinesHalted"
	CannotReplace         Reason = "CannotReplace"
	MachinesBroken        Reason = "MachinesBroken"
	MachinesMissing       Reason = "MachinesMissing"
	InstancesNeverJoin    Reason = "InstancesNeverJoin"
	MachinesMade          Reason = "MachinesMade"
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

// answers are in the order of their danger: the worst of those that there are is the
// answer.
var answers = []Row{
	{
		Code: ManagementClusterRuns, Kinds: []Kind{Answer}, Safe: No,
		Happens: "Machines of the management cluster itself, which is in the backup as a Cluster, still run.",
		Why:     "The old controllers and the restored ones would manage the same VMs: what one creates the other deletes.",
		Do:      "Switch the old management cluster off for good, or leave its Cluster out of the restore and pause all Clusters in the old one.",
		Screen:  "the old management cluster runs: stop it first",
		Plan:    "Switch these machines off, and leave the management cluster's own Cluster out of the restore, or restore it paused.",
	},
	{
		Code: ManagementClusterActs, Kinds: []Kind{Answer}, Safe: No,
		Happens: "The restored controllers start, create, replace or delete machines of the management cluster itself.",
		Why:     "The lost management cluster comes back beside the new one, with its old etcd and its controllers, or an empty one takes its endpoint.",
		Do:      "Leave the management cluster's own Cluster out of the restore, or restore it paused and keep it so.",
		Screen:  "leave it out of the restore, or keep it paused",
		Plan:    "Leave the management cluster's own Cluster out of the restore, or restore it paused and keep it so.",
	},
	{
		Code: ClustersFirst, Kinds: []Kind{Answer}, Safe: No,
		Happens: "The Velero in the backup restores Clusters before their machines, which deletes running workers if the controllers run.",
		Why:     "Each MachineDeployment then creates a new MachineSet, takes the restored one for an old revision, and deletes its running workers.",
		Do:      "Stop the controllers, or pause the Clusters, until the whole restore is done; or set Velero's --restore-resource-priorities so that Clusters come last.",
		Screen:  "Clusters come back first, which ends running workers",
	},
	{
		Code: MachinesDeleted, Kinds: []Kind{Answer, Note}, Safe: No,
		Happens: "Owners or health checks delete running machines with their instances.",
		Why:     "Workloads on these machines stop, and what is on their disks is lost.",
		Do:      "Keep the Cluster paused; correct replicas or health check, or leave the owner out of the restore.",
		Screen:  "deleted, with running VMs",
		Plan:    "Unless that is wanted, let the owners want what exists: set their replicas, or put back into the topology what it lacks.",
	},
	{
		Code: PoolScaledBack, Kinds: []Kind{Answer, Note}, Safe: No,
		Happens: "A machine pool is set back to the replicas of the backup, and running members end.",
		Why:     "The infrastructure terminates running members, undrained, as soon as the controller of the pool acts.",
		Do:      "Set the replicas of the MachinePool to those of today before the Cluster is unpaused.",
		Screen:  "scaled down, running VMs end",
		Plan:    "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	},
	{
		Code: LivingReplaced, Kinds: []Kind{Answer}, Safe: No,
		Happens: "A MachineHealthCheck deletes running machines, and their owners make new ones.",
		Why:     "Machines that are off or not Ready are deleted with their VMs although they could be started again.",
		Do:      "Pause the MachineHealthCheck or the Cluster until the Nodes are healthy again.",
		Screen:  "a health check deletes running VMs",
		Plan:    "Unless that is wanted, start what is off, see that their Nodes are Ready, and take the annotation cluster.x-k8s.io/remediate-machine away. Until then the lines keep health checks from them.",
	},
	{
		Code: RolloutDue, Kinds: []Kind{Answer, Note}, Safe: No,
		Happens: "Owners replace running machines, because a rollout is due.",
		Why:     "Every machine of the owner is deleted and created again, one after the other, in the middle of a recovery.",
		Do:      "If the rollout is not wanted now, keep the Cluster paused; else see that new machines can be made before old ones go.",
		Screen:  "running machines are replaced, one by one",
		Plan:    "Unless that is wanted now, let the owners want what their machines are (version, template, rollout), or take a backup that is newer than the rollout.",
	},
	{
		Code: SecondInstance, Kinds: []Kind{Answer}, Safe: No,
		Happens: "A controller makes a second instance beside the one that exists.",
		Why:     "Two VMs have one name and one role: two kubelets report as one Node, and workloads and volumes are used twice.",
		Do:      "Record the id of the VM that runs in the restored object, or keep the Cluster paused until it is.",
		Screen:  "a second VM is made beside the running one",
		Plan:    "Keep all their infrastructure objects paused until they have the ids of the instances that exist: two of one machine harm each other.",
	},
	{
		Code: OtherInstance, Kinds: []Kind{Answer}, Safe: No,
		Happens: "A controller takes over an instance that is not the machine's, because it has the machine's name.",
		Why:     "Deleting the Machine later deletes a VM that is not its own, and its real VM is left behind.",
		Do:      "Rename or remove the VM that has the machine's name before the Cluster is unpaused.",
		Screen:  "its controller takes over another VM",
		Plan:    "Rename these instances first, or keep all infrastructure objects of the machines paused: deleting such a Machine ends an instance that is not its own.",
	},
	{
		Code: EtcdMembersRemoved, Kinds: []Kind{Answer}, Safe: No,
		Happens: "KubeadmControlPlane removes running etcd members that have no Machine in the backup.",
		Why:     "Each member that is removed takes a vote away: if too few are left, etcd loses its majority and the cluster stops.",
		Do:      "Use a newer backup that has these Machines; or keep the Cluster paused until the Ghosts of its control plane are replaced.",
		Screen:  "running etcd members are removed",
		Plan:    "If that is not wanted, keep the cluster paused, and take a backup that holds their Machines. Unpause it only if the members that stay are all there, and a majority of them answers.",
	},
	{
		Code: ControlPlaneDown, Kinds: []Kind{Answer}, Safe: No,
		Happens: "The API server of a cluster does not answer, or etcd may have no majority.",
		Why:     "Without an API server no Machine gets its Node, nothing joins, and a health check may have the control plane created again with an empty etcd.",
		Do:      "Start the machines of the control plane that are off, or recover etcd, before the restore.",
		Screen:  "its control plane is down, and no controller repairs it",
	},
	{
		Code: ClusterHalted, Kinds: []Kind{Answer, Note}, Safe: No,
		Happens: "No controller acts on a cluster until something exists again, is gone, is unpaused or may be used.",
		Why:     "Machines run on, and nothing of them is adopted, scaled, replaced or repaired until then.",
		Do:      "Create what is missing, remove or unpause what blocks, or let the namespace use its identity, before the Cluster is unpaused; the message names it.",
		Screen:  "no controller acts on it",
		Plan:    "Nothing is taken over before that is resolved.",
	},
	{
		Code: BackupError, Kinds: []Kind{Answer}, Safe: No,
		Happens: "A check of the backup itself is an error.",
		Why:     "Something that the controllers need is missing from the backup or wrong in it, and they act on that as soon as it is restored.",
		Do:      "Read the errors with 'drift-detector check', and do what each says before the restore.",
	},
	{
		Code: ManagedElsewhere, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Nodes say that their machines belong to a cluster in another place of a management cluster.",
		Why:     "Cluster API writes that into Nodes: another management cluster has taken the machines over since, and two would manage them.",
		Do:      "Find the management cluster that manages them now; leave the Cluster out of the restore if it is to stay there.",
		Screen:  "another management cluster manages it since",
		Plan:    "Find the management cluster that manages these machines now. If they are to stay there, leave their Cluster out of the restore.",
	},
	{
		Code: Incomplete, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Not everything could be listed or read.",
		Why:     "A machine or a VM in the part that is missing may change the answer.",
		Do:      "Read which places were not listed completely, correct their causes, and run detect again.",
	},
	{
		Code: MachinesUnknown, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "For some machines it is not known whether their instances exist, or which they are.",
		Why:     "What the controllers do depends on whether these VMs exist: they may be adopted, replaced or created a second time.",
		Do:      "See what the report says of each Unknown machine, correct its cause, and run detect again.",
		Screen:  "whether the VM exists, or which it is, is not known",
	},
	{
		Code: CopiedID, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Two instances have one id, or only a copy is left.",
		Why:     "Which VM the controller takes is chance, and deleting the Machine may destroy both.",
		Do:      "Give the copy another id, or remove it; then run detect again.",
		Screen:  "a delete may end 2 VMs",
	},
	{
		Code: ResourceUndecided, Kinds: []Kind{Answer, Note}, Safe: Unclear,
		Happens: "Without a resource the controllers do nothing, and whether it exists could not be looked up.",
		Why:     "If it is gone, the whole cluster is not reconciled, which no machine shows.",
		Do:      "Look the resource up by hand, or give the account the right to list it, and run detect again.",
		Screen:  "whether what it needs exists is not known",
		Plan:    "Look it up first: if it is gone, the cluster is not reconciled.",
	},
	{
		Code: PoolNotDecided, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Whether a machine pool exists could not be seen.",
		Why:     "If it is gone, a new one is created; if its size has changed, members are created or terminated.",
		Do:      "Give the account the right to list pools, see 'drift-detector permissions', and run detect again.",
		Screen:  "its pool could not be seen",
		Plan:    "Look the pool up first, and compare its size with the replicas of its MachinePool: the controller sets it to those.",
	},
	{
		Code: OutcomeUnknown, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "What a controller does to machines or instances is not known here.",
		Why:     "The controller may delete, replace or leave them: nothing here shows which.",
		Do:      "Read what the report says of each; keep the Cluster paused until you know.",
		Screen:  "what controllers do with it is not known",
		Plan:    "Find out what becomes of these first, and watch them when it is unpaused.",
	},
	{
		Code: SpecUnseen, Kinds: []Kind{Answer, Note}, Safe: Unclear,
		Happens: "An object was changed shortly before the backup, and its controller had not acted on it yet.",
		Why:     "The restored controller carries the change out at once, and that may replace machines.",
		Do:      "Compare the object with what it should be now; keep the Cluster paused until you have.",
		Screen:  "changed just before the backup; what follows is not known",
		Plan:    "Compare what it wants with what exists first.",
	},
	{
		Code: HostedControlPlane, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "A control plane ran as pods inside the management cluster.",
		Why:     "Those pods were lost with the management cluster. Without their volumes an empty cluster answers in their place.",
		Do:      "Restore the pods and volumes of the control plane, and see that etcd is complete.",
		Screen:  "its control plane was in the lost management cluster",
		Plan:    "See that its control plane runs and that its data is there.",
	},
	{
		Code: InstancesToConfirm, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Instances may or may not belong to a cluster of the backup.",
		Why:     "A forgotten machine runs on unmanaged, and what belongs to others must not be deleted.",
		Do:      "Ask the owners of these VMs; set those that are no machines aside with 'drift-detector ignore' and --ignore-file.",
		Screen:  "ask their owners",
	},
	{
		Code: ErrorsOccurred, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "Errors occurred during the run, or items of the backup could not be read.",
		Why:     "What was not read is in no verdict: the answer may be better than the truth.",
		Do:      "Read the errors at the end of the report, correct their causes, and run detect again.",
		Screen:  "an error; something may be missing",
	},
	{
		Code: NothingToCompare, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The backup holds no machine that could be compared.",
		Why:     "An answer about nothing is no answer: most likely it is the wrong backup, or filters left the Machines out.",
		Do:      "See that the backup is of the management cluster and includes the namespaces of its clusters, and that --cluster names the right one.",
		Screen:  "the backup has no machine to compare",
	},
	{
		Code: NoForecast, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The report was made without a forecast.",
		Why:     "Verdicts alone say what exists, not what the restored controllers do with it.",
		Do:      "Run detect again with this release.",
		Screen:  "the report has no forecast; run detect again",
	},
	{
		Code: NewerBackup, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The store has a newer backup that can be restored, of the same management cluster or of another.",
		Why:     "What was made, replaced or deleted after this backup is right in a newer one of the same management cluster.",
		Do:      "Give the newer one, if it is of the same management cluster: 'drift-detector backups PLACE --compare' tells them apart, and compares those of one.",
		Screen:  "a newer backup is in the same place",
	},
	{
		Code: StatusNotHealthy, Kinds: []Kind{Answer}, Safe: Unclear,
		Happens: "The status is not Healthy, and no other reason says why.",
		Why:     "Something was found that no reason names, so that nobody can call the restore safe.",
		Do:      "Read the findings of the report.",
		Screen:  "not everything is Healthy",
	},
	{
		Code: OwnerHalted, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "Nobody manages some machines, because their owner, its template, of a control plane a bootstrap object, or of a topology the class or an extension is not in the backup.",
		Why:     "The machines run on, and nobody scales, replaces or repairs them.",
		Do:      "Restore or create the missing owner, template or class before the Cluster is unpaused.",
		Screen:  "nobody manages it: its MachineSet is not in the backup",
		Plan:    "Make again what is missing, as it was, or give the machines the labels that their owner selects: else nobody replaces them.",
	},
	{
		Code: MachinesHalted, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "A controller does nothing for some machines until you act; their instances run on.",
		Why:     "These machines run on as they are, and are neither repaired nor updated.",
		Do:      "Do what the message says for these machines; their VMs run on until then.",
		Screen:  "its controller does nothing for it; the VM runs on",
		Plan:    "Their forecasts say what keeps their controller away: resolve that, or leave it so on purpose.",
	},
	{
		Code: CannotReplace, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "An owner has to make machines and cannot.",
		Why:     "A machine that is deleted or breaks is not created again, so that the cluster shrinks.",
		Do:      "Restore or create what the owner needs (template, bootstrap object) before the Cluster is unpaused.",
		Screen:  "has to make machines and cannot",
		Plan:    "Bring back what is missing first. Machines that are deleted before are not made again.",
	},
	{
		Code: MachinesBroken, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Machines have no instance and stay broken until you act.",
		Why:     "They count as replicas and do no work: the cluster has fewer machines than it says.",
		Do:      "After the restore delete the Machine of each, so that its owner makes another; 'drift-detector plan' has the commands.",
		Screen:  "no VM, and nothing replaces it",
	},
	{
		Code: MachinesMissing, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "The backup lacks Machines whose instances may run on.",
		Why:     "Their owners may create others beside them, and the VMs that run belong to nobody.",
		Do:      "Use a newer backup if there is one; after the restore remove the VMs that nobody manages.",
		Screen:  "not in the backup; its VM runs on unmanaged",
		Plan:    "Take a newer backup if there is one. Else compare the instances that run with the Machines that were restored, as new ones are made beside them.",
	},
	{
		Code: InstancesNeverJoin, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "New instances are made that never join, because their ids cannot be recorded.",
		Why:     "VMs run and cost money, while the machines that they are for stay broken.",
		Do:      "Keep the Cluster paused and correct the objects that the message names, so that ids can be recorded.",
		Screen:  "its new VM never joins, and nobody deletes it",
	},
	{
		Code: MachinesMade, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "New machines are made.",
		Why:     "They cost money, join the cluster and take workloads, also where fewer are wanted today.",
		Do:      "See that the new machines are wanted; if not, correct the replicas before the Cluster is unpaused.",
		Screen:  "new VMs are made",
		Plan:    "Unless that is wanted, let the owners want what exists.",
	},
	{
		Code: PoolGrown, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "A machine pool is set to the replicas of the backup, and instances are made.",
		Why:     "Instances cost money and take workloads, also where the pool was made smaller on purpose.",
		Do:      "Compare the replicas of the backup with those wanted now, and correct them before the Cluster is unpaused.",
		Screen:  "its pool grows: new VMs are made",
		Plan:    "Unless that is wanted, let the MachinePool and its infrastructure object want what the pool has.",
	},
	{
		Code: InstancesStarted, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "A controller starts instances that are off.",
		Why:     "They may have been switched off for a reason: an old copy, a conflict of addresses, a repair.",
		Do:      "If they are off on purpose, keep their Cluster paused.",
		Screen:  "its VM is powered on",
		Plan:    "Unless that is wanted, find out who stopped them, and whether another one runs in their place.",
	},
	{
		Code: InstancesStopped, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Instances are off, and no controller starts them.",
		Why:     "They count as replicas and do no work, and a health check may have them replaced.",
		Do:      "Start them by hand, if they should run.",
		Screen:  "its VM is off, and no controller starts it",
	},
	{
		Code: StaleReplaced, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Machines without an instance are replaced by themselves.",
		Why:     "New VMs are created, which takes time and quota.",
		Do:      "Nothing; see that the new machines come up.",
		Screen:  "no VM; a new one is made",
	},
	{
		Code: GhostsLeft, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Some instances keep running unmanaged.",
		Why:     "They cost money, keep addresses, and their Nodes run workloads that nobody updates.",
		Do:      "After the restore drain the Node of each Ghost and remove its VM; 'drift-detector plan' has the commands. A newer backup may know them.",
		Screen:  "runs on, and nobody manages it",
	},
	{
		Code: FoundByNameOnly, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "A controller finds an instance by its name alone.",
		Why:     "A name is no proof: if another VM has it, the controller manages the wrong one.",
		Do:      "See that each of these VMs has exactly the name of its machine, and that no other VM has it.",
		Screen:  "found by name alone, which is no proof",
		Plan:    "See that the instance of each name is the machine, and no copy of it.",
	},
	{
		Code: MachinesNotReady, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "Machines do not report Ready again, because the backup lacks their bootstrap objects.",
		Why:     "What waits for Ready Machines, rollouts and scaling, waits; the VMs themselves run on.",
		Do:      "Restore the bootstrap objects from another backup, or replace these machines one by one.",
		Screen:  "does not become Ready: its bootstrap object is not in the backup",
		Plan:    "Make the bootstrap objects again from another backup or your sources.",
	},
	{
		Code: ResourceMade, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "A controller makes a resource again that is gone.",
		Why:     "The new one has other addresses and ids, and what points to the old one does not work any more.",
		Do:      "See whether the resource is really gone. If it has only been renamed or moved, correct the objects before the Cluster is unpaused.",
		Screen:  "made again",
	},
	{
		Code: PoolMachinesDeleted, Kinds: []Kind{Answer}, Safe: WithWork,
		Happens: "The Machines of members that left their pools are deleted, and nothing that runs.",
		Why:     "Only objects go that stand for members that have left already.",
		Do:      "Nothing.",
		Screen:  "the Machine is deleted; its VM is gone already",
	},
	{
		Code: RolloutScheduled, Kinds: []Kind{Answer, Note}, Safe: WithWork,
		Happens: "An owner replaces all its machines at a time that is still to come.",
		Why:     "At that time every machine of the owner is deleted and created again, whether or not anybody remembers.",
		Do:      "Note the time; change spec.rollout of the owner if that time does not suit.",
		Screen:  "all its machines are replaced later",
		Plan:    "Unless that is wanted, take the time away.",
	},
}
