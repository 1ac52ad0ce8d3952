package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/infra"
)

// addressVariables hold addresses that libraries read, and may repeat.
var addressVariables = []string{
	"GOVC_URL", "OS_AUTH_URL", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_EC2", "AWS_ENDPOINT_URL_STS",
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
}

// hideTyped keeps out of messages what may be secret in the addresses that the operator
// typed, see [archive.AddressSecrets]: where one has a slip it is taken for a path, a name or
// a flag, and whoever reports that repeats it, this program or a library.
func (s *streams) hideTyped(app *cli.App, args []string) {
	s.typed = infra.NewRedaction()
	hide := func(text string) {
		for _, part := range archive.AddressSecrets(text) {
			s.typed.Add(backup.NewSensitive(part))
		}
	}
	for _, arg := range args {
		hide(arg)
		if name, value, given := strings.Cut(arg, "="); given && strings.HasPrefix(name, "-") {
			hide(value)
		}
	}
	for _, name := range addressVariables {
		hide(s.getenv(name))
	}
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			hide(s.getenv(variable(f.Names()[0])))
		}
	}
}
