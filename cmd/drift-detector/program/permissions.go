package program

import (
	"io"
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/internal/sorting"
)

// managementSpec is what --kubeconfig needs.
var managementSpec = infra.Spec{Name: "kubernetes", Permissions: infra.Permissions{
	About: "is a ClusterRole for --kubeconfig, which reads the management cluster itself", Text: live.Role, Save: "role.yaml",
}}

func permissionsCommand(s *cli.Streams) *urfave.Command {
	specs := slices.DeleteFunc(slices.Clone(providerSpecs()), func(p infra.Spec) bool { return p.Permissions.Text == "" })
	sorting.By(specs, func(a, b infra.Spec) int { return strings.Compare(a.Name, b.Name) })
	var providers, about []string
	var examples strings.Builder
	for _, p := range append(specs, managementSpec) {
		providers = append(providers, p.Name)
		about = append(about, "For "+p.Name+" it "+p.Permissions.About+".")
		examples.WriteString("\n   drift-detector permissions " + p.Name)
		if p.Permissions.Save != "" {
			examples.WriteString(" > " + p.Permissions.Save)
		}
	}
	return &urfave.Command{
		Name:         "permissions",
		Usage:        "print what an account must be allowed to list an infrastructure",
		UsageText:    "drift-detector permissions " + strings.Join(providers, "|"),
		Description:  cli.Filled(strings.Join(about, " "), 80) + "\n\nEXAMPLES:" + examples.String(),
		BashComplete: func(*urfave.Context) { _, _ = io.WriteString(s.Stdout, strings.Join(providers, "\n")+"\n") },
		Action: func(c *urfave.Context) error {
			i := slices.Index(providers, c.Args().First())
			if c.NArg() != 1 || i < 0 {
				return &cli.UsageError{Message: "name one provider: " + strings.Join(providers, ", "), Command: "permissions"}
			}
			_, err := io.WriteString(s.Stdout, append(specs, managementSpec)[i].Permissions.Text)
			return err
		},
	}
}
