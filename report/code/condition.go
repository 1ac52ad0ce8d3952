package code

// Conditions of the answer.
const (
	APIServersAnswer     Reason = "APIServersAnswer"
	APIServersReached    Reason = "APIServersReached"
	CertificatesLast     Reason = "CertificatesLast"
	ClustersPaused       Reason = "ClustersPaused"
	EtcdMembers          Reason = "EtcdMembers"
	ExtensionsAnswer     Reason = "ExtensionsAnswer"
	PoolAddressesTaken   Reason = "PoolAddressesTaken"
	CertificateUnchecked Reason = "CertificateUnchecked"
	CredentialUntried    Reason = "CredentialUntried"
	NamedInVCenter       Reason = "NamedInVCenter"
	VCenterUnasked       Reason = "VCenterUnasked"
	ForeignPools         Reason = "ForeignPools"
	Narrowed             Reason = "Narrowed"
	NewestBackup         Reason = "NewestBackup"
	NodeConditionsUnread Reason = "NodeConditionsUnread"
	NodesUnread          Reason = "NodesUnread"
	NothingToReplace     Reason = "NothingToReplace"
	OutsideClusters      Reason = "OutsideClusters"
	OwnersPaused         Reason = "OwnersPaused"
	PendingHooks         Reason = "PendingHooks"
	PoolsUncompared      Reason = "PoolsUncompared"
	ResourceSetsApplied  Reason = "ResourceSetsApplied"
	RestoreOrder         Reason = "RestoreOrder"
	WatchFilter          Reason = "WatchFilter"
)

// conditions are what the answer depends on: it holds only while each of them does.
var conditions = []Row{
	{
		Code: PoolAddressesTaken, Kinds: []Kind{Condition},
		Happens: "VMs have addresses that the pools of the backup believe to be free.",
		Why:     "The next machine that is created gets such an address, and two VMs have the same.",
		Do:      "Exclude these addresses from their pools (spec.excludedAddresses) before the Clusters are unpaused.",
	},
	{
		Code: CertificateUnchecked, Kinds: []Kind{Condition},
		Happens: "The controllers trust the certificates of the infrastructure; the check was turned off here.",
		Why:     "Controllers refuse a certificate that is neither pinned nor signed by an authority that they trust, and do nothing for the cluster.",
		Do:      "Run without --insecure-skip-verify, with the fingerprint or authority that the backup has.",
	},
	{
		Code: CredentialUntried, Kinds: []Kind{Condition},
		Happens: "The infrastructure accepts the credentials in the backup; others were used here.",
		Why:     "The controllers log in with what the backup holds, and do nothing where that is refused.",
		Do:      "Run once without the credential of your own, or compare the password with the one in the backup.",
	},
	{
		Code: NamedInVCenter, Kinds: []Kind{Condition},
		Happens: "The tags, modules, VM groups and storage policies that machines name exist in vCenter; they were not looked up.",
		Why:     "A machine that names a tag or a module that is gone never becomes Ready again.",
		Do:      "See with govc that they exist, where vCenter was rebuilt since the backup.",
	},
	{
		Code: VCenterUnasked, Kinds: []Kind{Condition},
		Happens: "Datacenters have names of their own, and VMs what CAPV asks for; the inventory was saved before that was asked.",
		Why:     "A VM without an address or with too few network cards is found and does not become Ready.",
		Do:      "Run 'drift-detector inventory' again, with this release.",
	},
	{
		Code: APIServersAnswer, Kinds: []Kind{Condition},
		Happens: "The API servers of workload clusters answer with the kubeconfigs of the backup; they were not asked, or not with these.",
		Why:     "Without them no Machine gets its Node, nothing joins, and a health check over a control plane may have it created again.",
		Do:      "Run detect without --skip-access-apiserver where they can be reached.",
	},
	{
		Code: APIServersReached, Kinds: []Kind{Condition},
		Happens: "The new management cluster reaches the API servers of workload clusters, which have ConfigMap kube-system/kubeadm-config.",
		Why:     "KubeadmControlPlane takes a control plane for one that was never initialised until it has seen both: no machine joins, and a health check over the control plane may have it created again.",
		Do:      "Read https://ADDRESS:6443/healthz and the ConfigMap from the network of the new management cluster before the restore.",
	},
	{
		Code: CertificatesLast, Kinds: []Kind{Condition},
		Happens: "The certificates of control-plane machines last longer than the days before which their owner replaces machines; the backup does not say when they expire.",
		Why:     "KubeadmControlPlane asks the API server of each machine, and replaces machines whose certificates expire too soon.",
		Do:      "Run 'kubeadm certs check-expiration' on the control-plane machines, and compare with rollout.before.certificatesExpiryDays.",
	},
	{
		Code: EtcdMembers, Kinds: []Kind{Condition},
		Happens: "The etcd of each cluster has no member beside those of its Nodes.",
		Why:     "KubeadmControlPlane removes members that have no Machine, which may cost etcd its majority.",
		Do:      "Compare 'etcdctl member list' with the Nodes of the control plane.",
	},
	{
		Code: ForeignPools, Kinds: []Kind{Condition},
		Happens: "The IPAM providers of pools that are not read here bind their claims again, to the same addresses.",
		Why:     "A restore takes away which address a claim has. With another one a machine changes its address, or two machines have the same.",
		Do:      "Have the IPAM provider and its records in place before the Clusters are unpaused, and compare the addresses.",
	},
	{
		Code: PendingHooks, Kinds: []Kind{Condition},
		Happens: "Runtime hooks that were pending when the backup was taken are answered, and let their Clusters go on.",
		Why:     "They are called again after the restore, and until they answer the topology of the Cluster waits.",
		Do:      "Have the servers of the runtime extensions in place before the Clusters are unpaused.",
	},
	{
		Code: ResourceSetsApplied, Kinds: []Kind{Condition},
		Happens: "ClusterResourceSets with strategy Reconcile write again into the workload clusters what the backup has.",
		Why:     "A password or a setting that was changed there since the backup is set back, for example that of the storage driver.",
		Do:      "Compare what they hold with the workload clusters; correct it before the Clusters are unpaused, or leave the sets out of the restore.",
	},
	{
		Code: WatchFilter, Kinds: []Kind{Condition},
		Happens: "The new controllers watch the Clusters that have a label for a watch filter.",
		Why:     "Controllers with another filter, or other controllers with this one, leave these Clusters alone.",
		Do:      "Give the new controllers the watch filter that the old ones had.",
	},
	{
		Code: ClustersPaused, Kinds: []Kind{Condition},
		Happens: "Clusters and machines that are paused in the backup; what is said of them holds once they are unpaused.",
		Why:     "Nothing happens to them after the restore, and all of it happens at the moment when they are unpaused.",
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
		Why:     "Velero restores the other clusters, too, and their controllers act as well.",
		Do:      "Run detect without --cluster, --namespace and --selector for an answer about all clusters.",
	},
	{
		Code: NewestBackup, Kinds: []Kind{Condition},
		Happens: "No newer backup exists.",
		Why:     "What was created, deleted or scaled after this backup is undone or unknown after the restore.",
		Do:      "See in the object store whether a newer backup was completed.",
		Screen:  "there is no newer backup",
	},
	{
		Code: NodeConditionsUnread, Kinds: []Kind{Condition},
		Happens: "No Node has a condition, other than Ready, and no Machine one that is not forecast, for which a health check has the machine replaced; of Nodes only Ready was read.",
		Why:     "A MachineHealthCheck deletes a machine whose Node has such a condition, as soon as its controller runs.",
		Do:      "Compare the conditions of the Nodes and Machines with those in spec of the MachineHealthChecks, or pause those.",
	},
	{
		Code: NodesUnread, Kinds: []Kind{Condition},
		Happens: "The Nodes of clusters with health checks are Ready; their Node lists were not read.",
		Why:     "A MachineHealthCheck deletes a machine whose Node is not Ready, as soon as its controller runs.",
		Do:      "Give a kubeconfig with --credentials and run detect again, or pause these MachineHealthChecks.",
	},
	{
		Code: NothingToReplace, Kinds: []Kind{Condition},
		Happens: "No machine has to be replaced, because what it would be made from is gone.",
		Why:     "The next machine that breaks, or the next scale-up, cannot be served.",
		Do:      "Nothing before the restore; bring back what is missing before the next replacement or scale-up.",
	},
	{
		Code: OutsideClusters, Kinds: []Kind{Condition},
		Happens: "The instances of objects that belong to no cluster exist; they were not looked for.",
		Why:     "The controller of such an object creates an instance where it finds none.",
		Do:      "Look them up by name. Leave out of the restore what is not wanted any more.",
	},
	{
		Code: OwnersPaused, Kinds: []Kind{Condition},
		Happens: "Control planes, groups and ClusterClasses that are paused in the backup by themselves; what they want is not in the answer.",
		Why:     "Once one is unpaused, it scales, replaces and rolls out at once what has piled up.",
		Do:      "Before you unpause one, compare its replicas and version with what runs.",
	},
	{
		Code: PoolsUncompared, Kinds: []Kind{Condition},
		Happens: "Launch template, image and version of these machine pools are those of the backup; this was not compared.",
		Why:     "A pool whose launch template differs has all its members replaced.",
		Do:      "Compare launch template, image and version of these pools with the backup; a difference starts a rollout.",
	},
	{
		Code: RestoreOrder, Kinds: []Kind{Condition},
		Happens: "All objects are back before a controller acts: Clusters last, controllers stopped, or Clusters paused.",
		Why:     "A controller that sees half of a cluster creates what it misses and deletes what it does not know.",
		Do:      "Stop the controllers before the restore and start them when all objects are back; or pause the Clusters.",
		Screen:  "Clusters are restored last, as Velero does by default",
	},
}
