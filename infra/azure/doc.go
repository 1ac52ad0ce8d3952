// Package azure is the provider of Cluster API Provider Azure (CAPZ) without its listing: it knows
// which VMs the AzureMachines and machine pools of a backup expect, where they are, and what
// CAPZ does after a restore. It contacts nothing; package list, below it, lists the VMs of the
// subscriptions that the clusters are in.
//
// What the backup expects (no network, no secrets):
//
//	provider.go     name, and what the program needs to know of CAPZ
//	controller.go   what CAPZ does after a restore
//	kinds.go        the objects that are read, and from where in them
//	ids.go          ids of Azure Resource Manager (ARM) and their types, provider ids and UUIDs
//	keys.go         kinds of keys, and the keys that a VM has
//	objects.go      joins Machine, AzureMachine, pools and AzureCluster
//	homescope.go    one place per identity, cloud and subscription
//	identities.go   which namespaces may use which identity, and which identities lack
//	expected.go     keys by which a machine's VM is found
//	ownership.go    keys by which other VMs belong to a cluster
//	pools.go        scale sets, whose members are compared as a set
//	restore.go      what the objects of a machine say of its restore
//	proofs.go       what shows that absence may be concluded
//	resources.go    what else a cluster's restore depends on
//	checks.go       what will not work after a restore
//
// What CAPZ asks after a restore, row by row, in the order of its controllers:
//
//	walk.go         all rows, and of what they are asked
//	walkanswer.go   how a listing answers them
//	walksession.go  the webhooks while Velero restores, and the login
//	walkcluster.go  the resource group, and the balancer of the API server
//	walkserved.go   what Azure Service Operator (ASO) writes
//	walknetwork.go  what AzureCluster sets back in its network
//	walkmachine.go  AzureMachine and its VM
//	walkpool.go     AzureMachinePool and its members, and AKS
//	walktags.go     tags of VMs and scale sets
//	walkset.go      the scale set of an AzureMachinePool
//	facts.go        how the Facts of a listing and of a VM are called
//
// Where to look, and with what (no network):
//
//	targets.go      one target per subscription and credential
//	endpoints.go    the servers of each cloud, by its name
//	credentials.go  finds a credential as CAPZ does
//	certificate.go  a certificate in the place of a secret
//	operator.go     the operator's own: the az command and AZURE_ variables
//	reach.go        the subscription that the az command is at, for another look
//	extract.go      writes the credential of a target as variables, for `extract`
//	manifests.go    makes identities again that the backup lacks, for `extract`
//
// Keys of instances and of expected machines. ARM ids are in lower case, a group is the id of
// a resource group, and a cluster is the name in CAPZ's tags, which has no namespace:
//
//	instance        ARM id#vmId, with the vmId in either order of bytes; and the ARM id alone,
//	                unless the backup that records it is older than the VM
//	vmId            the vmId alone, in either order of bytes: a VM that was moved keeps it
//	vm              ARM id: one that was created again under its name has it, too
//	name            its name
//	group           the resource group that it is in
//	group+name      group/name: what CAPZ takes where no id is recorded
//	cluster+name    group/cluster/name, on VMs with CAPZ's tag
//	cluster+role    group/cluster/role, on VMs with both of CAPZ's tags
//	cluster+stem1,  group/cluster/its name without one or two random suffixes, on VMs with
//	cluster+stem2   both tags
//	group+near1,    group/the same, on all VMs
//	group+near2
//	like1, like2    its name without the suffixes, anywhere
//	mark            cluster, on VMs with CAPZ's tag anywhere
//	scaleSet        ARM id of the scale set that it is a member of; as a probe, of one that
//	                exists
//	lostPool        namespace/cluster/name of a pool whose scale set nothing names
//	groupAnswer     a probe: a resource group; Azure said that it exists, or that it does not
//	resource        a probe: ARM id of something beside VMs
package azure
