package program

// Set by the linker, see Makefile.
var (
	version = "dev"
	commit  = "unknown"
)
