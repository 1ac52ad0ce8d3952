// Package runs runs the whole program in tests: detect and the other commands, against the
// fleets of the lab and the servers that serve them on loopback.
//
// A test takes a [World], which is a backup with the infrastructure that it drifted from
// ([Fleet], [Restored], [Well], [CAPAFleet], [OpenStackFleet], [AzureFleet]), changes what it
// is about, and looks at the [Outcome] of a run. lab.go has both, and outcome.go what is asked
// of the second. What there is to change is in the file of its provider, or in edits.go for what is in a
// backup; wells.go has clusters that can be restored, answers.go what the answer says of them.
// bucket.go is a store of backups, live.go a management cluster that runs, faults.go what servers
// do wrong, secrets.go what nothing may show.
//
// The folders below have the tests, one package for each subject. Each has a TestMain that
// calls [Main] with the program, which this package does not import: the program's own tests
// use it, too. All are as deep as the program's folder, so that [Testdata] is right for each.
package runs
