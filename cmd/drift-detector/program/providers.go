package program

import (
	"fmt"
	"strings"
	"sync"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/infra"
	"drift-detector/infra/all"
	"drift-detector/internal/cli"
	"drift-detector/internal/english"
)

// providerSpecs are the descriptions of the providers, which must not be changed. They are asked for a
// dozen times before a command runs, and each is large.
var providerSpecs = sync.OnceValue(func() []infra.Spec { return all.Registry().Specs() })

// providerFlags returns the flags that providers declare.
func providerFlags() []urfave.Flag {
	var flags []urfave.Flag
	for _, p := range providerSpecs() {
		for _, f := range p.Flags {
			if takesText(f) {
				flags = append(flags, &urfave.StringFlag{Name: f.Name, Usage: f.Usage})
			} else {
				flags = append(flags, &urfave.BoolFlag{Name: f.Name, Usage: f.Usage})
			}
		}
	}
	return flags
}

// placesOr names what providers list, and what else: "vCenter, AWS account or …".
func placesOr(more ...string) string {
	var names []string
	for _, p := range providerSpecs() {
		if !p.NodesOnly {
			names = append(names, p.Scope)
		}
	}
	return english.Choice(append(names, more...))
}

// takesText reports whether a flag has a value: its usage names it in back quotes.
func takesText(f infra.Flag) bool { return strings.Contains(f.Usage, "`") }

// readProviderFlags returns the values of the flags that were given. It fails when
// two exclude each other.
func readProviderFlags(c *urfave.Context) (map[string]string, error) {
	given := map[string]string{}
	for _, p := range providerSpecs() {
		for _, f := range p.Flags {
			switch {
			case takesText(f) && c.String(f.Name) != "":
				given[f.Name] = c.String(f.Name)
			case !takesText(f) && c.Bool(f.Name):
				given[f.Name] = "true"
			}
		}
		for _, f := range p.Flags {
			if given[f.Name] != "" && given[f.Excludes] != "" {
				return nil, &cli.UsageError{Message: fmt.Sprintf("--%s and --%s exclude each other", f.Name, f.Excludes), Command: c.Command.Name}
			}
		}
	}
	return given, nil
}

// environmentCredentials returns those that the variables of providers' own tools hold.
func environmentCredentials(getenv func(string) string) []infra.Credential {
	var found []infra.Credential
	for _, p := range providerSpecs() {
		if p.Environment.Read == nil {
			continue
		}
		if c, ok := p.Environment.Read(getenv); ok {
			found = append(found, c)
		}
	}
	return found
}
