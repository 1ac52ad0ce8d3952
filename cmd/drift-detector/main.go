// Command drift-detector says what a restore of a Cluster API management
// cluster will find: it compares a Velero backup with the real infrastructure
// and never changes either. It is one process of what package program is.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"drift-detector/cmd/drift-detector/program"
	"drift-detector/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	// A second Ctrl-C ends the process at once, should the way out take too long.
	context.AfterFunc(ctx, stop)
	// A closed pipe is not the end of a run: its report may go to a file, and its exit status matters.
	signal.Ignore(syscall.SIGPIPE)
	program.CollectSooner()
	code := program.Run(ctx, os.Args, cli.Process())
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
