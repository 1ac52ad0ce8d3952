package code

// Notes of the forecast.
const (
	AssumedOrder          Reason = "AssumedOrder"
	ClusterObjectAbsent   Reason = "ClusterObjectAbsent"
	ClusterPaused         Reason = "ClusterPaused"
	ControlPlaneGone      Reason = "ControlPlaneGone"
	ControlPlaneStopped   Reason = "ControlPlaneStopped"
	EtcdShrinks           Reason = "EtcdShrinks"
	IdentityAbsent        Reason = "IdentityAbsent"
	NotHealing            Reason = "NotHealing"
	OldManagementCluster  Reason = "OldManagementCluster"
	ReplicasManaged       Reason = "ReplicasManaged"
	RolledOut             Reason = "RolledOut"
	UnpausedClusters      Reason = "UnpausedClusters"
	WebhooksDuringRestore Reason = "WebhooksDuringRestore"
)

// notes are what to know before the restore that is not of a single machine.
var notes = []Row{
	{
		Code: AssumedOrder, Kinds: []Kind{Note}, Phases: []Phase{Restoring},
		Happens: "The forecast assumes that Velero restores Clusters last; the note says what changes if not.",
		Why:     "In another order controllers reconcile half a cluster: they may delete or duplicate machines.",
		Do:      "Restore as the plan says: Clusters last, and paused.",
	},
	{
		Code: ClusterObjectAbsent, Kinds: []Kind{Note},
		Happens: "The Cluster object is not in the backup, and without it no controller reconciles the cluster.",
		Why:     "Its machines are restored, and nothing happens to them.",
		Do:      "Take the Cluster from another backup or from its manifest, if it should be managed again.",
	},
	{
		Code: ClusterPaused, Kinds: []Kind{Note}, Phases: []Phase{After},
		Happens: "The cluster is paused in the backup, and so after the restore.",
		Why:     "Nothing of it is adopted, repaired or replaced until it is unpaused.",
		Do:      "Find out why it was paused; set spec.paused to false when you want it managed.",
	},
	{
		Code: ControlPlaneGone, Kinds: []Kind{Note}, Phases: []Phase{Before},
		Happens: "No machine of the control plane exists; the cluster may have been deleted.",
		Why:     "No controller brings a control plane back. If the cluster was deleted, restoring it recreates an empty one.",
		Do:      "If it was deleted on purpose, leave it out of the restore; if not, recover etcd from a snapshot or rebuild the cluster.",
	},
	{
		Code: ControlPlaneStopped, Kinds: []Kind{Note}, Phases: []Phase{Before},
		Happens: "Machines of the control plane are off, and no controller starts them.",
		Why:     "While they are off, etcd may have no majority, and the API server does not answer.",
		Do:      "Have them started, best before the restore.",
	},
	{
		Code: EtcdShrinks, Kinds: []Kind{Note}, Phases: []Phase{After},
		Happens: "KubeadmControlPlane removes members from etcd that have no Machine in the backup.",
		Why:     "Each member that is removed leaves fewer that may fail; the VMs run on with old data.",
		Do:      "Keep the Cluster paused until the control plane has as many Machines as members; a newer backup may know them.",
	},
	{
		Code: IdentityAbsent, Kinds: []Kind{Note}, Phases: []Phase{Before, After},
		Happens: "The cluster is not reconciled until an identity exists that the backup lacks.",
		Why:     "The infrastructure controller logs in with it: until it exists again nothing of the cluster is reconciled, and health checks do not run either.",
		Do:      "Create its Secret, then the identity; then change an annotation on the infrastructure cluster, so that it is reconciled at once.",
	},
	{
		Code: NotHealing, Kinds: []Kind{Note}, Phases: []Phase{After},
		Happens: "Some Stale machines are not replaced by any controller; the note counts them.",
		Why:     "They count as replicas, so their groups stay short of machines without an error.",
		Do:      "Delete the Machine of each after the restore; 'drift-detector plan' has the commands.",
	},
	{
		Code: OldManagementCluster, Kinds: []Kind{Note, Condition}, Phases: []Phase{Before},
		Happens: "The old management cluster must be gone or paused.",
		Why:     "Two management clusters that reconcile the same VMs delete each other's machines.",
		Do:      "See that the old one is off for good, or that its Clusters are paused, before the restore.",
	},
	{
		Code: ReplicasManaged, Kinds: []Kind{Note, Condition}, Phases: []Phase{After},
		Happens: "An autoscaler or another tool sets the replicas of a group.",
		Why:     "The replicas in the backup are old: the group is scaled to them, and the autoscaler changes it again.",
		Do:      "Set the replicas to those of today before you unpause the Cluster.",
	},
	{
		Code: RolledOut, Kinds: []Kind{Note},
		Happens: "A group or control plane was rolled out after the backup.",
		Why:     "The backup knows only machines that a rollout has replaced since: they are Stale, and those that run are Ghosts.",
		Do:      "Use a newer backup if there is one; else deal with the Ghosts and the Stale of the group together.",
	},
	{
		Code: UnpausedClusters, Kinds: []Kind{Note, Condition}, Phases: []Phase{Restoring},
		Happens: "Some clusters are not paused in the backup, so that their controllers act as soon as they are restored.",
		Why:     "They may reconcile before everything else is back.",
		Do:      "Restore them paused, as the plan does, or stop the controllers first.",
	},
	{
		Code: WebhooksDuringRestore, Kinds: []Kind{Note, Condition}, Phases: []Phase{Restoring},
		Happens: "Cluster API's webhooks must answer while Velero restores, or their configurations be absent.",
		Why:     "While the controllers that serve them are stopped, every Cluster and Machine fails to be restored with \"connection refused\".",
		Do:      "Keep the controllers running; or delete the webhook configurations before you stop them, and re-create them before you start them again.",
		Screen:  "webhooks of Cluster API are absent, or answer",
	},
}
