// Package match finds out who is whose: which instance may be which machine of the backup, and
// which cluster the others belong to. It establishes facts, and knows no verdict.
//
// [New] joins what the backup expects with what was listed, by Keys: sightings.go makes one [VM] of
// all that is seen of an instance, postings.go finds the VMs that have a Key, and matching.go records
// which [Machine] finds which of them. places.go judges where absence can be concluded.
//
// The caller takes the [MachineFacts] of one machine after the other, facts.go, decides, and tells the
// index by [Index.Note]. Then [Index.FindReferences] finds what instances have of machines that
// they were not matched with. What [Index.Unmatched] yields is left: its [InstanceFacts] say what ties
// it to clusters, instancefacts.go and ties.go, and whether a machine of it may be missing from the backup
// only, missing.go.
//
// Calls run from those files down to the index, index.go, and from there to what it is made of.
package match
