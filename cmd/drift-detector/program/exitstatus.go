package program

import (
	"drift-detector/internal/cli"
)

// statuses are those that each command can end with. A command that is not here ends
// with cli.StatusDone or cli.StatusUsage. Help, manual and docs are made from it, and tests
// see that no command ends otherwise.
var statuses = map[string][]cli.Status{
	"detect": {
		{Code: cli.ExitOK, Short: "complete", Long: "the report is written and complete, with or without findings"},
		{Code: cli.ExitFailOn, Short: "found what --fail-on names", Long: "the report is written, complete or not, and holds what --fail-on names"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the report is written, but incomplete: a place could not be listed or proven,\n" +
			"an object of the backup on which verdicts rest or the Node list of a cluster\nthat may run could not be read"},
		cli.StatusInterrupted,
	},
	"check": {
		{Code: cli.ExitOK, Short: "done", Long: "all findings are written"},
		{Code: cli.ExitFailOn, Short: "found what --fail-on names", Long: "all findings are written, and --fail-on matches one"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the findings are written, but a kind of the management cluster could not be read"},
		cli.StatusInterrupted,
	},
	"releases": {
		{Code: cli.ExitOK, Short: "done", Long: "the result is written, with or without drift"},
		{Code: cli.ExitFailOn, Short: "found what --fail-on names", Long: "the result is written, and holds what --fail-on names"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the result is written, but a kind of the management cluster could not be read"},
		cli.StatusInterrupted,
	},
	"backups": {
		{Code: cli.ExitOK, Short: "done", Long: "the list, and the comparison if asked for, is written"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the list is written, but what Velero says of a backup could not be read, or the\n" +
			"comparison does not hold everything"},
		cli.StatusInterrupted,
	},
	"inventory": {
		{Code: cli.ExitOK, Short: "complete", Long: "the inventory is written and complete"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the inventory is written, but a place could not be listed completely"},
		cli.StatusInterrupted,
	},
	"render": {
		{Code: cli.ExitOK, Short: "done", Long: "the report is written in that format, complete or not: the report says which"},
		cli.StatusUsage,
	},
	"plan": {
		{Code: cli.ExitOK, Short: "complete", Long: "the plan is written and complete"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the plan is written, but the report is incomplete, so the plan is, too"},
	},
	"extract": {
		{Code: cli.ExitOK, Short: "done", Long: "all that was asked for is written"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "some of it is not in the backup, or was refused; the rest is written"},
		cli.StatusInterrupted,
	},
	"ready": {
		{Code: cli.ExitOK, Short: "go", Long: "go: all that the restore step of the plan takes for granted holds"},
		{Code: cli.ExitFailOn, Short: "not yet", Long: "not yet: something is missing, see the list"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "not looked at", Long: "nothing is known to be missing, but not everything was looked at; do not restore"},
		cli.StatusInterrupted,
	},
	"recheck": {
		{Code: cli.ExitOK, Short: "go on", Long: "it is as the report says: what follows may run"},
		{Code: cli.ExitFailOn, Short: "stop", Long: "it is not as the report says"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "stop", Long: "it could not be looked at"},
		cli.StatusInterrupted,
	},
	"verify": {
		{Code: cli.ExitOK, Short: "as foretold", Long: "all that can be judged is as the report foretold"},
		{Code: cli.ExitFailOn, Short: "not as foretold", Long: "something is not as the report foretold"},
		{Code: cli.ExitUsage, Short: "wrong usage or input, or refused", Long: "wrong usage, or the old management cluster, or another fleet than the report's"},
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "something could not be read, and nothing is known to be wrong"},
		{Code: cli.ExitAwaited, Short: "not yet", Long: "something is awaited, and nothing is wrong so far"},
		cli.StatusInterrupted,
	},
	"diff": {
		{Code: cli.ExitOK, Short: "done", Long: "the differences are written"},
		{Code: cli.ExitFailOn, Short: "found what --fail-on names", Long: "the differences are written, and --fail-on matches one"},
		cli.StatusUsage,
		{Code: cli.ExitIncomplete, Short: "incomplete", Long: "the differences are written, but one of the reports is incomplete"},
	},
}

// statusesOf returns the statuses that a command can end with.
func statusesOf(command string) []cli.Status {
	if all, ok := statuses[command]; ok {
		return all
	}
	return []cli.Status{cli.StatusDone, cli.StatusUsage}
}
