// Command drift-detector says what a restore of a Cluster API management
// cluster will find: it compares a Velero backup with the real infrastructure
// and never changes either.
//
// main.go is the process and run.go the program, whose command line is of internal/cli. Each
// command has a file of its name, with its flags and what it does. What several take is beside
// them: arguments.go, environment.go, addresses.go and exitstatus.go tell the command line what
// it needs to know of commands; bounds.go, providers.go, shown.go, places.go and loadedbackup.go
// are how a backup is chosen and read, live.go a management cluster that runs; reports.go reads
// and writes a report, failon.go judges it, seen.go and look.go say how it is shown, send.go and
// link.go send it on. The command backups goes on in backupslist.go, choices.go, backupstreams.go,
// picked.go and compare.go; newest.go and newer.go choose the backup of other commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"drift-detector/internal/cli"
)

// Set by the linker, see Makefile.
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	// A second Ctrl-C ends the process at once, should the way out take too long.
	context.AfterFunc(ctx, stop)
	// A closed pipe is not the end of a run: its report may go to a file, and its exit status matters.
	signal.Ignore(syscall.SIGPIPE)
	collectSooner()
	code := run(ctx, os.Args, cli.Process())
	stop()
	os.Exit(int(code))
}

// endings returns the signals that interrupt a run. A terminal that goes away, as with a
// connection that is lost, is one: else vCenter keeps the session, and the folder a
// temporary file. nohup says that it is none.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
