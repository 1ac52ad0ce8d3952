package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/docs/permissions"
)

func permissionsCommand(s *streams) *cli.Command {
	documents := permissions.Documents()
	providers := slices.Sorted(maps.Keys(documents))
	return &cli.Command{
		Name:      "permissions",
		Usage:     "print what an account must be allowed to list an infrastructure",
		UsageText: "drift-detector permissions " + strings.Join(providers, "|"),
		Description: `For aws it is an IAM policy, with a statement for sts:AssumeRole that only
clusters with an AWSClusterRoleIdentity need. For vsphere it says which role the
account needs, where, and what hides when a part of it is missing.

EXAMPLES:
   drift-detector permissions aws > policy.json
   drift-detector permissions vsphere` + exitStatusHelp,
		BashComplete: func(*cli.Context) { _, _ = io.WriteString(s.stdout, strings.Join(providers, "\n")+"\n") },
		Action: func(c *cli.Context) error {
			provider := c.Args().First()
			if c.NArg() != 1 || !slices.Contains(providers, provider) {
				return &usageError{message: "name one provider: " + strings.Join(providers, ", "), command: "permissions"}
			}
			_, err := io.WriteString(s.stdout, documents[provider])
			return err
		},
	}
}
