// Package detector decides: for every machine of a backup and every instance
// that exists, Healthy, Stale, Ghost or Unknown.
//
// [Detect] is a pure function of a Snapshot, the Claims on it, an Inventory and
// a clock. It does no I/O, knows no cloud, and returns the same bytes for the
// same input in any order. The two decision tables, for machines and for
// instances that no machine claims, are data: a list of rows of which the first
// that fits decides.
//
// The first law: absence is only ever concluded from a complete list, on both
// sides. A machine is Stale only when its home was listed to the end and is
// proven to be the right place; an instance is a Ghost only when its owner's
// machines are all in the backup.
package detector
