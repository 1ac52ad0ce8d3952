package code

// Conditions of the answer.
const (
	ClustersPaused       Reason = "ClustersPaused"
	ExtensionsAnswer     Reason = "ExtensionsAnswer"
	Narrowed             Reason = "Narrowed"
	NewestBackup         Reason = "NewestBackup"
	NodeConditionsUnread Reason = "NodeConditionsUnread"
	NodesUnread          Reason = "NodesUnread"
	NothingToReplace     Reason = "NothingToReplace"
	OutsideClusters      Reason = "OutsideClusters"
	OwnersPaused         Reason = "OwnersPaused"
	PoolsUncompared      Reason = "PoolsUncompared"
	RestoreOrder         Reason = "RestoreOrder"
)

// conditions are what the answer depends on: it holds only while each of them does.
var conditions = []Row{
	{
		Code: ClustersPaused, Kinds: []Kind{Condition}, Phases: []Phase{Paused},
		Happens: "Some clusters or machines are paused in the backup; what the report says of them holds once they are unpaused.",
		Why:     "Nothing happens to them after the restore: what would go wrong shows later, when they are unpaused.",
		Do:      "Before you unpause one, read what the report says of its machines.",
	},
	{
		Code: ExtensionsAnswer, Kinds: []Kind{Condition}, Phases: []Phase{Restoring},
		Happens: "The servers of all runtime extensions (ExtensionConfigs) of the backup answer.",
		Why:     "Cluster API asks all of them when it starts: while one does not answer, its controller stops and starts again, and reconciles nothing.",
		Do:      "Bring the servers back before the controllers start, with the certificates that the ExtensionConfigs trust; else leave their ExtensionConfigs out of the restore until then.",
	},
	{
		Code: Narrowed, Kinds: []Kind{Condition},
		Happens: "Only the clusters that were asked for are in the report.",
		Why:     "A restore of the whole backup brings the others back, too, and nobody has looked at them.",
		Do:      "Run detect without --cluster, --namespace and --selector for an answer about all clusters.",
	},
	{
		Code: NewestBackup, Kinds: []Kind{Condition},
		Happens: "No newer backup exists.",
		Why:     "With an older one everything that changed since comes back as Stale, or stays behind as a Ghost.",
		Do:      "See in the object store whether a newer backup was completed.",
		Screen:  "there is no newer backup",
	},
	{
		Code: NodeConditionsUnread, Kinds: []Kind{Condition},
		Happens: "No Node and no Machine has a condition for which a health check deletes the machine; of Nodes only Ready was read.",
		Why:     "A health check that sees such a condition deletes a running machine after the restore.",
		Do:      "Compare the conditions of the Nodes and Machines with those in spec of the MachineHealthChecks, or pause those.",
	},
	{
		Code: NodesUnread, Kinds: []Kind{Condition},
		Happens: "The Nodes of clusters with health checks are Ready; their Node lists were not read.",
		Why:     "A health check deletes each machine whose Node is not Ready for long enough, with its VM.",
		Do:      "Compare the conditions of the Nodes with spec.unhealthyConditions of the MachineHealthChecks, or pause those.",
	},
	{
		Code: NothingToReplace, Kinds: []Kind{Condition},
		Happens: "No machine needs to be replaced, because what it would be created from is gone.",
		Why:     "A replacement or scale-up fails until the template or resource exists again.",
		Do:      "Nothing before the restore; bring back what is missing before the next replacement or scale-up.",
	},
	{
		Code: OutsideClusters, Kinds: []Kind{Condition},
		Happens: "The instances of objects that belong to no cluster exist; they were not looked for.",
		Why:     "Where one does not exist, its controller creates another.",
		Do:      "Look them up by name. Leave out of the restore what is not wanted any more.",
	},
	{
		Code: OwnersPaused, Kinds: []Kind{Condition}, Phases: []Phase{Paused},
		Happens: "Some control planes, groups or ClusterClasses are paused in the backup by themselves; what they want is not in the answer.",
		Why:     "They scale, roll out and delete as soon as they are unpaused.",
		Do:      "Before you unpause one, compare its replicas and version with what runs.",
	},
	{
		Code: PoolsUncompared, Kinds: []Kind{Condition},
		Happens: "Launch template, image and version of these machine pools are those of the backup; they were not compared.",
		Why:     "Where one differs, the controller replaces all members of the pool.",
		Do:      "Compare launch template, image and version of these pools with the backup; a difference starts a rollout.",
	},
	{
		Code: RestoreOrder, Kinds: []Kind{Condition}, Phases: []Phase{Restoring},
		Happens: "All objects are back before a controller acts: Clusters last, controllers stopped, or Clusters paused.",
		Why:     "If a Cluster comes first, its MachineDeployments create new MachineSets and delete the running workers of the restored ones.",
		Do:      "Restore the Clusters paused, as the plan does, or stop the controllers and start them when all objects are back.",
		Screen:  "Clusters are restored last, as Velero does by default",
	},
}
