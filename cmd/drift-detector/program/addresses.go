package program

import (
	"slices"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/infra"
	"drift-detector/infra/live"
	"drift-detector/internal/cli"
	"drift-detector/internal/lazyregexp"
)

// addressVariables hold addresses that libraries read, and may repeat.
var addressVariables = []string{
	"GOVC_URL", "OS_AUTH_URL", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_EC2", "AWS_ENDPOINT_URL_STS",
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
}

// ofSecretFiles are the flags that take a file with a secret.
var ofSecretFiles = []string{"credentials", "push-user", "notify", "s3-sse-c-key", "kubeconfig"}

var flagForm = lazyregexp.New(`^--[a-z][a-z0-9-]*$`)

// hideGiven keeps out of messages what was given for a file with a secret, where it may be the secret itself:
// not a flag that was taken for it, and nothing so short that messages have it anyway.
func hideGiven(typed *infra.Redaction, flag, value string) {
	if _, file, of := strings.Cut(value, "="); of && flag == "notify" {
		value = file
	}
	if len(value) > 2 && !flagForm.MatchString(value) && value != flag && value != live.InCluster && !infra.NamesAFile(value) {
		typed.Add(backup.NewSensitive(value))
	}
}

// hideTyped keeps out of messages what may be secret in the files and addresses that the operator
// typed, see [archive.AddressSecrets]: where one has a slip it is taken for a path, a name or
// a flag, and whoever reports that repeats it, this program or a library.
func hideTyped(app *urfave.App, args []string, s *cli.Streams) {
	typed := infra.NewRedaction()
	s.Hide = typed.Text
	hide := func(text string) {
		for _, part := range archive.AddressSecrets(text) {
			typed.Add(backup.NewSensitive(part))
		}
	}
	for i, arg := range args {
		hide(arg)
		name, value, given := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "-") {
			continue
		}
		if given {
			hide(value)
		} else if i+1 < len(args) {
			value = args[i+1]
		}
		if flag := strings.TrimLeft(name, "-"); slices.Contains(ofSecretFiles, flag) {
			hideGiven(typed, flag, value)
		}
	}
	for _, flag := range ofSecretFiles {
		hideGiven(typed, flag, s.Getenv(cli.Variable(flag)))
	}
	for _, name := range addressVariables {
		hide(s.Getenv(name))
	}
	for _, c := range app.Commands {
		for _, f := range c.Flags {
			hide(s.Getenv(cli.Variable(f.Names()[0])))
		}
	}
}
