// Package program is the commands of drift-detector: what a user types, and what each does.
//
// run.go is the whole, whose command line is of internal/cli. Each command has a file of its
// name, with its flags and what it does. What several take is beside
// them: arguments.go, environment.go, addresses.go and exitstatus.go tell the command line what
// it needs to know of commands; bounds.go, providers.go, shown.go, places.go and loadedbackup.go
// are how a backup is chosen and read, live.go a management cluster that runs; reports.go reads
// and writes a report, failon.go judges it, seen.go and look.go say how it is shown, send.go and
// link.go send it on. The command backups goes on in backupslist.go, choices.go, backupstreams.go,
// picked.go and compare.go; newest.go and newer.go choose the backup of other commands. memory.go
// is when garbage is collected, linked.go which version this is.
package program
