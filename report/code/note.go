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
		Code: AssumedOrder, Kinds: []Kind{Note},
		Happens: "The forecast assumes that Velero restores Clusters last; what changes if not.",
		Why:     "In another order controllers act on half a cluster: they create what they miss and delete what they do not know.",
		Do:      "Follow the steps of 'drift-detector plan' that come before the restore.",
	},
	{
		Code: ClusterObjectAbsent, Kinds: []Kind{Note},
		Happens: "Without its Cluster object no controller acts on the cluster.",
		Why:     "Its machines are restored, and nothing happens to them.",
		Do:      "Take the Cluster from another backup or from its manifest, if it should be managed again.",
	},
	{
		Code: ClusterPaused, Kinds: []Kind{Note},
		Happens: "The cluster is paused in the backup, and so after the restore.",
		Why:     "Nothing of it is adopted, repaired or replaced until it is unpaused.",
		Do:      "Find out why it was paused; set spec.paused to false when you want it managed.",
	},
	{
		Code: ControlPlaneGone, Kinds: []Kind{Note},
		Happens: "No machine of the control plane exists; the cluster may have been deleted.",
		Why:     "No controller brings a control plane back. If the cluster was deleted, restoring it recreates an empty one.",
		Do:      "If it was deleted on purpose, leave it out of the restore; if not, recover etcd from a snapshot or rebuild the cluster.",
	},
	{
		Code: ControlPlaneStopped, Kinds: []Kind{Note},
		Happens: "Machines of the control plane are stopped and no controller starts them; until they are started, etcd may have no majority.",
		Why:     "While they are off, etcd may have no majority, and the API server does not answer.",
		Do:      "Have them started, best before the restore.",
	},
	{
		Code: EtcdShrinks, Kinds: []Kind{Note},
		Happens: "KubeadmControlPlane removes ghosts from etcd.",
		Why:     "Each member that is removed makes a majority harder; the VMs run on with old data.",
		Do:      "Keep the Cluster paused until the control plane has as many Machines as members; a newer backup may know them.",
	},
	{
		Code: IdentityAbsent, Kinds: []Kind{Note},
		Happens: "The cluster is not reconciled until an identity exists that the backup lacks.",
		Why:     "The infrastructure controller cannot log in: nothing of the cluster is reconciled, health checks included, until the identity exists.",
		Do:      "Create its Secret, then the identity; then change an annotation on the infrastructure cluster, so that its controller tries again at once.",
	},
	{
		Code: NotHealing, Kinds: []Kind{Note},
		Happens: "How many Stale machines no controller replaces.",
		Why:     "They count as replicas, so their groups stay short of machines without any error.",
		Do:      "Delete the Machine of each after the restore; 'drift-detector plan' has the commands.",
	},
	{
		Code: OldManagementCluster, Kinds: []Kind{Note, Condition},
		Happens: "The old management cluster must be gone or paused.",
		Why:     "Two management clusters that act on the same VMs delete each other's machines.",
		Do:      "See that the old one is off for good, or that its Clusters are paused, before the restore.",
	},
	{
		Code: ReplicasManaged, Kinds: []Kind{Note, Condition},
		Happens: "An autoscaler or another tool sets the replicas of a group.",
		Why:     "The replicas of the backup are old: the group shrinks or grows when it is restored, and the autoscaler changes it again.",
		Do:      "Set the replicas to those of today before the Cluster is unpaused.",
	},
	{
		Code: RolledOut, Kinds: []Kind{Note},
		Happens: "A group or control plane was rolled out after the backup.",
		Why:     "The backup knows only machines that a rollout has replaced since: they are Stale, and those that run are Ghosts.",
		Do:      "Use a newer backup if there is one; else plan the Ghosts and the Stale of the group together.",
	},
	{
		Code: UnpausedClusters, Kinds: []Kind{Note, Condition},
		Happens: "Clusters whose controllers act as soon as they are restored.",
		Why:     "Their controllers act as soon as they are restored, perhaps before everything else is.",
		Do:      "Restore with the controllers stopped, or pause the Clusters first; 'drift-detector plan' says how.",
	},
	{
		Code: WebhooksDuringRestore, Kinds: []Kind{Note, Condition},
		Happens: "Webhook configurations while controllers are stopped make the restore fail.",
		Why:     "Every Cluster, Machine and infrastructure machine is refused, and the restore ends with half of the objects.",
		Do:      "Leave the webhook configurations out of the restore, or let their controllers run while Velero restores.",
		Screen:  "webhooks of Cluster API are absent, or answer",
	},
}
