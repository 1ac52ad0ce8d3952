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
		Code: ClustersPaused, Kinds: []Kind{Condition},
		Happens: "Clusters and machines that are paused in the backup; what is said of them holds once they are unpaused.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Before you unpause one, read what the report says of its machines.",
	},
	{
		Code: ExtensionsAnswer, Kinds: []Kind{Condition},
		Happens: "The servers of all runtime extensions (ExtensionConfigs) of the backup answer.",
		Why:     "A restore takes away which handlers they have, and Cluster API asks all of them when it starts: while one does not answer, its controller ends and starts again, and reconciles nothing.",
		Do:      "Bring the servers back before the controllers start, with the certificates that the ExtensionConfigs trust; else leave their ExtensionConfigs out of the restore until then.",
	},
	{
		Code: Narrowed, Kinds: []Kind{Condition},
		Happens: "Only the clusters that were asked for are in the report.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Run detect without --cluster, --namespace and --selector for an answer about all clusters.",
	},
	{
		Code: NewestBackup, Kinds: []Kind{Condition},
		Happens: "No newer backup exists.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "See in the object store whether a newer backup was completed.",
		Screen:  "there is no newer backup",
	},
	{
		Code: NodeConditionsUnread, Kinds: []Kind{Condition},
		Happens: "No Node has a condition, other than Ready, and no Machine one that is not forecast, for which a health check has the machine replaced; of Nodes only Ready was read.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Compare the conditions of the Nodes and Machines with those in spec of the MachineHealthChecks, or pause those.",
	},
	{
		Code: NodesUnread, Kinds: []Kind{Condition},
		Happens: "The Nodes of clusters with health checks are Ready; their Node lists were not read.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Compare the conditions of the Nodes with spec.unhealthyConditions of the MachineHealthChecks, or pause those.",
	},
	{
		Code: NothingToReplace, Kinds: []Kind{Condition},
		Happens: "No machine has to be replaced, because what it would be made from is gone.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Nothing before the restore; bring back what is missing before the next replacement or scale-up.",
	},
	{
		Code: OutsideClusters, Kinds: []Kind{Condition},
		Happens: "The instances of objects that belong to no cluster exist; they were not looked for.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Look them up by name. Leave out of the restore what is not wanted any more.",
	},
	{
		Code: OwnersPaused, Kinds: []Kind{Condition},
		Happens: "Control planes, groups and ClusterClasses that are paused in the backup by themselves; what they want is not in the answer.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Before you unpause one, compare its replicas and version with what runs.",
	},
	{
		Code: PoolsUncompared, Kinds: []Kind{Condition},
		Happens: "Launch template, image and version of these machine pools are those of the backup; this was not compared.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Compare launch template, image and version of these pools with the backup; a difference starts a rollout.",
	},
	{
		Code: RestoreOrder, Kinds: []Kind{Condition},
		Happens: "All objects are back before a controller acts: Clusters last, controllers stopped, or Clusters paused.",
		Why:     "The answer is only right as long as this is so, and drift-detector cannot see whether it is.",
		Do:      "Stop the controllers before the restore and start them when all objects are back; or pause the Clusters.",
		Screen:  "Clusters are restored last, as Velero does by default",
	},
}
