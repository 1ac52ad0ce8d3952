package program

import (
	"context"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
)

// Run runs the whole program with these arguments, its own name first, and returns what the process ends with.
func Run(ctx context.Context, args []string, s *cli.Streams) cli.ExitCode {
	p := newProgram(s)
	hideTyped(p.App, args, s)
	return p.Run(ctx, args, s)
}

func allCommands(s *cli.Streams) []*urfave.Command {
	return []*urfave.Command{
		detectCommand(s),
		checkCommand(s),
		releasesCommand(s),
		backupsCommand(s),
		inventoryCommand(s),
		renderCommand(s),
		planCommand(s),
		readyCommand(s),
		recheckCommand(s),
		verifyCommand(s),
		diffCommand(s),
		confirmCommand(s),
		ignoreCommand(s),
		extractCommand(s),
		permissionsCommand(s),
		schemaCommand(s),
		completionCommand(s),
		manCommand(s),
		explainCommand(s),
		helpCommand(s),
		versionCommand(s),
	}
}

// newProgram returns the program, for streams.
func newProgram(s *cli.Streams) *cli.Program {
	p := &cli.Program{
		NoVariable: weakensTrust, Statuses: statusesOf, Values: valuesOf,
		Groups: helpGroups, Like: likeFlag, Elsewhere: elsewhere, Examples: helpExamples,
	}
	p.App = &urfave.App{
		Name:  "drift-detector",
		Usage: "says what a restore of a Cluster API management cluster will find",
		Description: `The management cluster is lost, its Velero backup is on disk, and the workload
clusters still run. Every machine is Healthy, Stale (object without VM), Ghost
(VM without object) or Unknown; VMs that may be one are listed to be confirmed.
Endpoints and credentials come out of the backup. Nothing is ever changed.`,
		Version: version,
		Flags: []urfave.Flag{
			&urfave.BoolFlag{Name: "debug", Aliases: []string{"D"}, Usage: "say on stderr what is done, list every machine; never prints a secret"},
		},
		Commands: allCommands(s),
	}
	p.Prepare(s)
	for _, c := range p.Commands {
		if c.Before == nil {
			c.Before = refuseEmpty
		}
	}
	return p
}
