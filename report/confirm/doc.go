// Package confirm takes the word of people for what no program can see: that a VM is no
// machine, that a cluster is given up, that a machine stays off. It writes and reads files of
// confirmations,
//
//	confirmations:
//	- vm: jumphost-01
//	  provider: vsphere
//	  place: 34e42877-2bdc-5d42-8e52-4fe55ea54cf6
//	  id: c8d5e690-c1ba-5046-ad82-8487620a36bd
//	  as: notAMachine
//	  by: OPS-1
//	  on: 2026-11-25
//	  expires: 2027-01-31
//
// and changes a report by them. What rests on a word is a condition of the answer that names
// the person.
package confirm
