// Package forecast says what the controllers of Cluster API will do once the
// backup has been restored: to each machine and each ghost, to control planes,
// groups of machines and clusters, and to everything together.
//
// [Of] is a pure function of the Snapshot, what the backup lacks, the Inventory
// and the detector's Result; it decides no verdict again. Controllers differ in how
// they look for an instance and in what stops them: infra.Controller describes that,
// and the rows read it for every provider alike. What the package says was
// observed when a drifted backup was really restored, with Cluster API 1.13.1,
// CAPV 1.16.1, Velero 1.18.1 (testdata/restore/outcomes.json); where it goes
// beyond that, it follows the controllers' code at the versions that the
// comments name. It assumes Velero's default order, in which Cluster objects
// come last, and says of whom the forecast changes when that does not hold.
package forecast
