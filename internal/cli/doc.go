// Package cli is what every command of the program needs from a command line, and knows
// nothing of backups, reports and infrastructure. What it has to be told of commands and
// their flags, it is told by cmd/drift-detector.
//
// In the order in which one reads them: exit.go has the statuses of the process and the
// errors that mean them, arguments.go the order of what is typed, suggest.go the words for
// what was mistyped.
package cli
