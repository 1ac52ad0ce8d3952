package program

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

const slipped = `S1gnature<"&+/\of%2Fsecrets`

// What looks like an address that was mistyped is never printed whole: in any place of any
// command, as an argument, a flag or a variable.
func TestMistypedAddressesAreNotPrinted(t *testing.T) {
	t.Parallel()
	backup := runs.Testdata + "fleet-data.tar.gz"
	app := newProgram(&cli.Streams{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}).App
	n := 0
	for _, form := range runs.Slips {
		address := strings.Replace(strings.Replace(form, "%s", slipped, 1), "%%", "%", 1)
		demand := func(env map[string]string, args ...string) {
			n++
			var stdout, stderr bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] }, Now: runs.Clock}
			runs.Program(t.Context(), append([]string{"drift-detector"}, args...), s)
			said := stdout.String() + stderr.String()
			for _, left := range []string{"S1gnature", "of%2Fsecrets", "of/secrets", "U2lnbm"} {
				if strings.Contains(said, left) {
					t.Errorf("%q %v: %s", args, env, said)
				}
			}
		}
		demand(nil, address)
		demand(nil, "-D", "--"+address)
		for _, c := range app.Commands {
			demand(nil, c.Name, address)
			demand(nil, c.Name, "--"+address)
			demand(nil, c.Name, "--debug="+address)
			for _, f := range c.Flags {
				name := "--" + f.Names()[0]
				if f, ok := f.(urfave.DocGenerationFlag); !ok || !f.TakesValue() {
					demand(nil, c.Name, name+"="+address)
					continue
				}
				demand(nil, c.Name, name, address)
				demand(nil, c.Name, name+"="+address, "report.json")
			}
		}
		for _, flag := range []string{"--endpoint", "--credentials", "--inventory", "--output", "--ignore-file", "--cluster", "--s3-endpoint", "--fail-on", "--format"} {
			demand(nil, "detect", "--dry-run", "--backup", backup, flag, address)
		}
		for _, name := range []string{"GOVC_URL", "OS_AUTH_URL"} {
			demand(map[string]string{name: address, "GOVC_USERNAME": "u", "GOVC_PASSWORD": "p"}, "detect", "--dry-run", "--backup", backup)
		}
	}
	if n < 1000 {
		t.Errorf("only %d command lines", n)
	}
}

// A secret in place of the file that holds it is not repeated, by no flag and no variable; the name of a file
// that is missing is.
func TestSecretsInPlaceOfFilesAreNotPrinted(t *testing.T) {
	file := runs.Testdata + "fleet-data.tar.gz"
	for _, flag := range ofSecretFiles {
		of := []string{"-D", "detect", "--backup", file, "--dry-run"}
		switch flag {
		case "s3-sse-c-key":
			of = []string{"-D", "detect", "--backup", "s3://b/backups/n", "--s3-ambient", "--dry-run"}
		case "push-user":
			of = append(of, "--push", "http://127.0.0.1:1")
		case "kubeconfig":
			of = []string{"-D", "detect"}
		}
		format := ""
		if flag == "notify" {
			format = "slack="
		}
		for _, secret := range []string{"S1gnature", "{password: S1gnature}", "user:S1gnature", "S1gnatureS1gnatureS1gnatureS1gna=", "{\"token\": \"S1gnature\"}", "a 'S1gnature' \"b\""} {
			for _, given := range [][]string{{"--" + flag, format + secret}, {"--" + flag + "=" + format + secret}, {"-" + flag + "=" + format + secret}} {
				o := runs.Run(t, slices.Concat(of, given)...)
				if said := o.Stderr + o.Stdout; o.Code != cli.ExitUsage || strings.Contains(said, "S1gnature") || strings.Contains(said, "1gnat") {
					t.Errorf("%q: status %d: %s", given, o.Code, said)
				}
			}
			t.Setenv(cli.Variable(flag), format+secret)
			var said bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: os.Getenv, Now: runs.Clock}
			if code := runs.Program(t.Context(), append([]string{"drift-detector"}, of...), s); code != cli.ExitUsage || strings.Contains(said.String(), "S1gnature") {
				t.Errorf("%s %q: status %d: %s", cli.Variable(flag), secret, code, &said)
			}
			os.Unsetenv(cli.Variable(flag)) // as it is again after the test
		}
		for _, missing := range []string{"/run/chat/url", "missing.yaml", "a place/file", "--quiet"} {
			says := missing
			if flag == "push-user" || flag == "notify" { // of which no name is repeated
				says = "no file that can be read"
			}
			if o := runs.Run(t, slices.Concat(of, []string{"--" + flag, format + missing})...); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, says) {
				t.Errorf("--%s %s: status %d: %s", flag, missing, o.Code, o.Stderr)
			}
		}
	}
}
