// Package detector decides: for every machine of a backup and every instance
// that exists, Healthy, Stale, Ghost or Unknown.
//
// [Detect] is a pure function of a Snapshot, what is Expected, an Inventory and
// a clock. It does no I/O, knows no cloud, and returns the same bytes for the
// same input in any order. The two decision tables, for machines and for
// instances that no machine was matched with, are data: lists of rows, and the
// first that applies decides. docs/verdicts.md shows them. What rows look at are facts of
// package match, which finds out who is whose.
//
// Eight laws are above the rows. TestLaws holds each in random worlds, where it
// knows what is really whose.
//
//  1. Absence is concluded only from complete lists, on both sides. A machine is
//     Stale only when its home was listed to the end; a place is proven to be the
//     right one by ids that the backup recorded, never by names, and not by ids that
//     more names contradict: match/proof.go, match/places.go.
//  2. The name of a running VM is a witness. Where an id is not found, a running instance at the
//     machine's place that has its name and is nobody else's keeps it from being
//     Stale, and so does its Node: match/witness.go, match/nodes.go.
//  3. Counts are sets that may overlap. An orphan may be one of its owner's replicas
//     or not, so that an owner is complete when machines ≤ replicas ≤ machines and
//     orphans: match/owners.go.
//  4. A name alone makes no Ghost of an instance that may belong to others: ghosts.go, match/missing.go.
//  5. Nothing with a name or mark of the backup is dropped without a line. What the
//     tables cannot place is unattributed: instances.go, match/references.go.
//  6. Healthy means that the one that runs is the one that the controller will take:
//     matches.go.
//  7. An honest Unknown has a way out: its message says what would decide it.
//  8. No fault becomes a verdict. What fails, or stops half-way, leaves Unknown and an
//     incomplete result: match/places.go, and match/nodelist.go for Node lists.
package detector
