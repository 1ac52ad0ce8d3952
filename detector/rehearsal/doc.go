// Package rehearsal says what the controllers of Cluster API will ask and do once the backup
// has been restored: to each machine and each ghost, to control planes, groups of machines and
// clusters, and to everything together.
//
// [Rehearse] is a pure function of the Snapshot, what the backup lacks, the Inventory and the
// detector's Result; it decides no verdict again. It makes one world and asks every
// controller's questions of it, in the controller's own order: what is absent, there more than
// once, not as it is needed, refused, or not to be seen from here is a step of the [Trace], and
// a restore is safe only when all steps passed or are named conditions. First come the
// questions that rest on no other, then those of what acts: replicas, rollouts, health checks,
// remediation, topologies, pools. The outcome of a machine, the reasons and conditions of the
// answer, and notes are read off that. A second time the same world is played by the plan,
// for the clusters that wait for something.
//
// A file holds the rows of one controller; a row says what is asked, what each answer does, and
// where that is written. The rows of infrastructure providers are in their folders and arrive
// with infra.Expected. Controllers differ in how they look for an instance and in what stops
// them: infra.Controller describes that, and the outcomes read it for every provider alike.
//
// What the package says was observed when a drifted backup was really restored, with Cluster API
// 1.13.1, CAPV 1.16.1, Velero 1.18.1 (testdata/restore/outcomes.json); where it goes beyond
// that, it follows the controllers' code at the versions that the comments name. It assumes
// Velero's default order, in which Cluster objects come last, and says of whom the forecast
// changes when that does not hold.
package rehearsal
