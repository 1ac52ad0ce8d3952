// Package list is the provider of Cluster API Provider vSphere (CAPV) with its listing: it
// logs in where package vsphere says, and reads the VMs of a vCenter and what else the backup
// names there. All that the provider asks of a server is asked here.
//
// A listing, from the target to its Instances:
//
//	list.go        reads pages of properties, from the folders to what machines need
//	folders.go     the tree of folders
//	instance.go    one VM's properties become an Instance
//	renamed.go     a folder of the backup that has another name now
//	guestinfo.go   host name and bootstrap data from a VM's own metadata
//	bootstrap.go   the API endpoint in bootstrap data
//	machinevms.go  what CAPV asks of the VMs of machines
//	probes.go      which folders the account sees VMs in
//	sight.go       whether it would see VMs in an empty one
//	catalogue.go   resource pools, datastores, networks and templates
//
// How a vCenter is asked:
//
//	reach.go       the vCenter that govc is at, for another look
//	session.go     connects, logs in, logs out
//	limits.go      bounds on time and size
//
// What is said of it:
//
//	access.go      what becomes of the credentials of the backup, and the certificate
//	faults.go      what went wrong, in words
package list
