// Package cli is what every command of the program needs from a command line, and knows
// nothing of backups, reports and infrastructure. What it needs to know of commands and
// their flags, cmd/drift-detector/program gives it in a Program.
//
// In the order in which one reads them: streams.go is the process as commands see it, which
// libraries.go keeps others from writing to; run.go runs a command and maps its error to one
// of the statuses of exit.go. arguments.go has the order of what is typed, environment.go
// the variables that stand for flags, suggest.go the words for what was mistyped; help.go,
// man.go and completion.go say what can be typed. What a command writes appears whole or not
// at all: outputs.go says which files, output.go writes one, temporary.go keeps account of
// them. terminal.go says how text looks, pager.go shows a long one, progress.go lines that
// change, quote.go writes words that a shell reads back.
package cli
