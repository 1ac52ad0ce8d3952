// Package list is the provider of Cluster API Provider Azure (CAPZ) with its listing: it logs in
// where package azure says, and reads the VMs of a subscription and what else the backup names
// there. All that the provider asks of a server or a command is asked here.
//
// A listing, from the target to its Instances:
//
//	list.go       reads a subscription: its groups, power states and VMs
//	sets.go       reads scale sets, their members, and what the clusters need beside VMs
//	instance.go   one VM as Azure shows it
//
// How Azure is asked:
//
//	transport.go  bounds, certificates, and which servers may be contacted
//	session.go    gets tokens, and reads single answers
//	assertion.go  what a certificate logs in with
//	token.go      tokens of the operator's own: of a file, and of the az command
//	pages.go      reads paged lists
//
// What is said of it:
//
//	access.go     which credential is accepted
//	faults.go     what went wrong, and what to do
package list
