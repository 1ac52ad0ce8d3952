// Command drift-detector says what a restore of a Cluster API management
// cluster will find: it compares a Velero backup with the real infrastructure
// and never changes either.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Set by the linker, see Makefile.
var (
	version = "dev"
	commit  = "unknown"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the process at once, should the way out take too long.
	context.AfterFunc(ctx, stop)
	// A closed pipe is an error of a write, and not the end of a run whose exit status matters.
	signal.Ignore(syscall.SIGPIPE)
	collectSooner()
	code := run(ctx, os.Args, process())
	stop()
	os.Exit(int(code))
}
