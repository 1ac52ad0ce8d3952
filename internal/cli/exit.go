package cli

// ExitCode is the status of the process, part of the command line's contract.
type ExitCode int

const (
	ExitOK          ExitCode = 0
	ExitFailOn      ExitCode = 1
	ExitUsage       ExitCode = 2
	ExitIncomplete  ExitCode = 3
	ExitAwaited     ExitCode = 4
	ExitInterrupted ExitCode = 130
)

// Status is one status that a command ends with: what it means in a few words, and whole.
type Status struct {
	Code        ExitCode
	Short, Long string
}

// Statuses that mean the same of all commands.
var (
	StatusDone        = Status{ExitOK, "done", "what was asked for is written"}
	StatusUsage       = Status{ExitUsage, "wrong usage or input", "wrong usage or unusable input; nothing was written"}
	StatusInterrupted = Status{ExitInterrupted, "interrupted", "interrupted; stderr says whether anything was written"}
)

// IncompleteError is returned when output was written that does not hold
// everything. It maps to ExitIncomplete. Each hint has a line of its own.
type IncompleteError struct {
	Message string
	Hints   []string
	Said    bool // the screen has said it
}

// Error implements error.
func (e *IncompleteError) Error() string { return e.Message }

// FailOnError is returned when output was written and holds what the caller wants to fail on.
// It maps to ExitFailOn.
type FailOnError struct{ Message string }

// Error implements error.
func (e *FailOnError) Error() string { return e.Message }

// AwaitedError is returned when output was written and something is awaited. It maps to ExitAwaited.
type AwaitedError struct{ Message string }

// Error implements error.
func (e *AwaitedError) Error() string { return e.Message }

// UsageError is a mistake in the command line; command is the one whose help is of use.
// It maps to ExitUsage, as every other error does.
type UsageError struct{ Message, Command string }

// Error implements error.
func (e *UsageError) Error() string { return e.Message }
