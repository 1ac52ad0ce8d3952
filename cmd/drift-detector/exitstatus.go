package main

import (
	"fmt"
	"strings"
)

// exitCode is the status of the process. The codes are part of the command
// line's contract, see [statuses].
type exitCode int

const (
	exitOK          exitCode = 0
	exitFailOn      exitCode = 1
	exitUsage       exitCode = 2
	exitIncomplete  exitCode = 3
	exitAwaited     exitCode = 4
	exitInterrupted exitCode = 130
)

// status is one status that a command ends with: what it means in a few words, and whole.
type status struct {
	code        exitCode
	short, long string
}

var (
	statusDone        = status{exitOK, "done", "what was asked for is written"}
	statusUsage       = status{exitUsage, "wrong usage or input", "wrong usage or unusable input; nothing was written"}
	statusInterrupted = status{exitInterrupted, "interrupted", "interrupted; stderr says whether anything was written"}
)

// statuses are those that each command can end with. A command that is not here ends
// with statusDone or statusUsage. Help, manual and docs are made from it, and tests
// see that no command ends otherwise.
var statuses = map[string][]status{
	"detect": {
		{exitOK, "complete", "the report is written and complete, with or without findings"},
		{exitFailOn, "found what --fail-on names", "the report is written, complete or not, and holds what --fail-on names"},
		statusUsage,
		{exitIncomplete, "incomplete", "the report is written, but incomplete: a place could not be listed or proven,\n" +
			"an object of the backup on which verdicts rest or the Node list of a cluster\nthat may run could not be read"},
		statusInterrupted,
	},
	"check": {
		{exitOK, "done", "all findings are written"},
		{exitFailOn, "found what --fail-on names", "all findings are written, and --fail-on matches one"},
		statusUsage,
		{exitIncomplete, "incomplete", "the findings are written, but a kind of the management cluster could not be read"},
		statusInterrupted,
	},
	"releases": {
		{exitOK, "done", "the result is written, with or without drift"},
		{exitFailOn, "found what --fail-on names", "the result is written, and holds what --fail-on names"},
		statusUsage,
		{exitIncomplete, "incomplete", "the result is written, but a kind of the management cluster could not be read"},
		statusInterrupted,
	},
	"backups": {
		{exitOK, "done", "the list, and the comparison if asked for, is written"},
		statusUsage,
		{exitIncomplete, "incomplete", "the list is written, but what Velero says of a backup could not be read, or the\n" +
			"comparison does not hold everything"},
		statusInterrupted,
	},
	"inventory": {
		{exitOK, "complete", "the inventory is written and complete"},
		statusUsage,
		{exitIncomplete, "incomplete", "the inventory is written, but a place could not be listed completely"},
		statusInterrupted,
	},
	"render": {
		{exitOK, "done", "the report is written in that format, complete or not: the report says which"},
		statusUsage,
	},
	"plan": {
		{exitOK, "complete", "the plan is written and complete"},
		statusUsage,
		{exitIncomplete, "incomplete", "the plan is written, but the report is incomplete, so the plan is, too"},
	},
	"extract": {
		{exitOK, "done", "all that was asked for is written"},
		statusUsage,
		{exitIncomplete, "incomplete", "some of it is not in the backup, or was refused; the rest is written"},
		statusInterrupted,
	},
	"ready": {
		{exitOK, "go", "go: all that the restore step of the plan takes for granted holds"},
		{exitFailOn, "not yet", "not yet: something is missing, see the list"},
		statusUsage,
		{exitIncomplete, "not looked at", "nothing is known to be missing, but not everything was looked at; do not restore"},
		statusInterrupted,
	},
	"recheck": {
		{exitOK, "go on", "it is as the report says: what follows may run"},
		{exitFailOn, "stop", "it is not as the report says"},
		statusUsage,
		{exitIncomplete, "stop", "it could not be looked at"},
		statusInterrupted,
	},
	"verify": {
		{exitOK, "as foretold", "all that can be judged is as the report foretold"},
		{exitFailOn, "not as foretold", "something is not as the report foretold"},
		{exitUsage, "wrong usage or input, or refused", "wrong usage, or the old management cluster, or another fleet than the report's"},
		{exitIncomplete, "incomplete", "something could not be read, and nothing is known to be wrong"},
		{exitAwaited, "not yet", "something is awaited, and nothing is wrong so far"},
		statusInterrupted,
	},
	"diff": {
		{exitOK, "done", "the differences are written"},
		{exitFailOn, "found what --fail-on names", "the differences are written, and --fail-on matches one"},
		statusUsage,
		{exitIncomplete, "incomplete", "the differences are written, but one of the reports is incomplete"},
	},
}

// statusesOf returns the statuses that a command can end with.
func statusesOf(command string) []status {
	if all, ok := statuses[command]; ok {
		return all
	}
	return []status{statusDone, statusUsage}
}

// exitStatus returns the block about them at the end of a command's description.
func exitStatus(command string) string {
	var b strings.Builder
	b.WriteString("\n\nEXIT STATUS:")
	for _, s := range statusesOf(command) {
		fmt.Fprintf(&b, "\n   %-3d  %s", s.code, strings.ReplaceAll(s.long, "\n", "\n        "))
	}
	return b.String()
}
