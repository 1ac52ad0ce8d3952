// Package vsphere is the provider of Cluster API Provider vSphere (CAPV) without its
// listing: it knows which VMs the VSphereMachines and VSphereVMs of a backup expect, where
// they are to be, and what CAPV does after a restore. It contacts nothing; package list,
// below it, lists the VMs of the vCenters that these name.
//
// What the backup expects (no network, no secrets):
//
//	provider.go     name, and what the program needs to know of CAPV
//	kinds.go        the objects that are read, and from where in them
//	keys.go         kinds of keys, and the keys that a VM has
//	objects.go      joins Machine, VSphereMachine, VSphereVM, VSphereCluster
//	owners.go       what creates machines, with their templates
//	location.go     server, datacenter and folder in one comparable form
//	homescope.go    ids of targets, and what to look for at each
//	expected.go     keys by which a machine's VM is found
//	ownership.go    keys and patterns by which other VMs belong to a cluster
//	naming.go       what names an owner's VMs can have
//	marks.go        a VM's names in every form in which the backup may have them
//	guest.go        what a VM's own metadata ties it to
//	joins.go        the API endpoint in bootstrap data, beside those of the backup
//	proofs.go       what a listing must show to be of the right place
//	stated.go       the operator's word that a folder is empty
//	resources.go    what else must exist for a VM to be cloned
//	restore.go      what the objects of a machine say of its restore
//	walk.go         the steps that CAPV takes after a restore, in their order
//	walkaccess.go   identities, sessions, credentials and certificates
//	walkcluster.go  failure domains and VSphereCluster
//	walkmodule.go   cluster modules
//	walkmachine.go  VSphereMachine
//	walkspec.go     clone specs: network devices, and fixed members
//	walkvm.go       VSphereVM, before and in the infrastructure
//	walkhost.go     the host of a VM
//	walkaddress.go  addresses from pools
//	walkclone.go    what a clone needs
//	facts.go        how the Facts of a listing and of a VM are called
//	remedies.go     what to do about a machine that could not be decided
//	absent.go       what the backup lacks
//	checks.go       what will not work after a restore
//
// Where to look, and with what (no network):
//
//	targets.go      one target per vCenter and credential
//	credentials.go  finds a credential as CAPV does
//	environment.go  finds one in the variables of govc
//	extract.go      writes the credential of a target as variables, for `extract`
//	manifests.go    makes identities again that the backup lacks, for `extract`
//
// Keys of instances and of expected machines:
//
//	biosUUID         config.uuid, lower case
//	instanceUUID     config.instanceUuid, lower case; CAPV sets it to the VSphereVM's uid
//	vmRef            managed object id, "vm-136"
//	name             VM name
//	vmxFolder        last folder, or file name, of the vmx path
//	datacenter       name, inventory path and managed object id of the datacenter
//	folder           vCenter + inventory path, "vc1.example:443/DC0/vm/prod"
//	path             folder + "/" + name
//	path+vmRef       both
//	alias            VM name in lower case, with its domain and without
//	folder+name      folder + alias, or + host name: a machine's name at its place
//	folder+withinName  folder + a machine's name within that of a VM that was not read
//	namedAfter       cluster that has a machine whose name is within the VM's
//	belowFolder      folder of the backup somewhere above the VM's
//	stem1, stem2     folder + name without one or two random suffixes; folder * is any,
//	                 of names in lower case
//	ordinal          folder + name without the number behind it, as stem1
//	endpoint+ownhost folder + API endpoint of the bootstrap data, on VMs whose metadata has their own name
//	joinsEndpoint    API endpoint of the bootstrap data
//	namedInMetadata  whether the VM's own metadata has its name, or was not read
//	host             host name in the VM's own metadata, in lower case
//	resourcePool,    vCenter + datacenter + "//" + name, path or managed object id, as
//	datastore,       the backup writes it; probes only
//	network, template
//	vmInFolder       folder in which the account sees VMs; probe only
//	metadataInFolder folder of whose VMs the metadata was read; probe only
//	vmOfBackup       vCenter where a VM has a BIOS UUID that the backup records; probe only
//	unreadable       a VM whose very name could not be read
package vsphere
