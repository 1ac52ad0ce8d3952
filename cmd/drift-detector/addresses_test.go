package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// slips are addresses with a secret in them (%s), and a slip of whoever typed them.
var slips = []string{
	"https:/127.0.0.1:1/b.tar.gz?X-Amz-Credential=k&X-Amz-Signature=%s", "https:127.0.0.1/b.tar.gz?X-Amz-Signature=%s", "//127.0.0.1:1/b.tar.gz?sig=%s",
	"s3:/velero/b?X-Amz-Security-Token=%s", " https://127.0.0.1:1/b.tar.gz?sig=%s", `"https://127.0.0.1:1/b.tar.gz?sig=%s"`, "htps://127.0.0.1:1/b.tar.gz?sig=%s",
	"HTTPS:/127.0.0.1:1/b.tar.gz?SIG=%s", "127.0.0.1:1/b.tar.gz?sig=%s", "https://127.0.0.1:1:1/b.tar.gz?sig=%s", "https:/user:%s@127.0.0.1/b", "user:%s@127.0.0.1:x/b",
	"https:/127.0.0.1/b#access_token=%s", "https:/127.0.0.1/b.tar.gz?sig=a/%s/b//c", "https://127.0.0.1:1/b\x01.tar.gz?sig=%s", "https:/%%zz/b.tar.gz?sig=%s",
	"s3://velero/b?X-Amz-Signature=%s", "https://127.0.0.1=https:/127.0.0.1:1/?sig=%s", "https://user:%s@127.0.0.1:1/b",
}

const slipped = `S1gnature<"&+/\of%2Fsecrets`

// What looks like an address that was mistyped is never printed whole: in any place of any
// command, as an argument, a flag or a variable.
func TestMistypedAddressesAreNotPrinted(t *testing.T) {
	t.Parallel()
	backup := testdata + "fleet-data.tar.gz"
	app := newApp(&streams{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	n := 0
	for _, form := range slips {
		address := strings.Replace(strings.Replace(form, "%s", slipped, 1), "%%", "%", 1)
		demand := func(env map[string]string, args ...string) {
			n++
			var stdout, stderr bytes.Buffer
			s := &streams{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, getenv: func(name string) string { return env[name] }, now: clock}
			run(t.Context(), append([]string{"drift-detector"}, args...), s)
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
				if f, ok := f.(cli.DocGenerationFlag); !ok || !f.TakesValue() {
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

// The same for what the file of --credentials says.
func TestMistypedCredentialsAreNotPrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, form := range slips {
		address := strings.Replace(strings.Replace(form, "%s", "S1gnature", 1), "%%", "%", 1)
		for field, text := range map[string]string{
			"endpoint": "- endpoint: %q\n", "passwordFile": "- endpoint: h\n  username: u\n  passwordFile: %q\n", "caFile": "- endpoint: h\n  caFile: %q\n",
			"kubeconfig": "- endpoint: h\n  kubeconfig: %q\n", "thumbprint": "- endpoint: h\n  thumbprint: %q\n", "used": "- endpoint: %q\n  username: u\n  password: p\n",
		} {
			file := filepath.Join(dir, fmt.Sprint(i, field))
			if err := os.WriteFile(file, fmt.Appendf(nil, "endpoints:\n"+text, address), 0o600); err != nil {
				t.Fatal(err)
			}
			o := runProgram(t, "-D", "detect", "--dry-run", "--backup", testdata+"fleet-data.tar.gz", "--credentials", file)
			if said := o.stderr + o.stdout; strings.Contains(said, "S1gnature") || !strings.Contains(said, file) && field != "used" && field != "endpoint" {
				t.Errorf("%s %s: %s", field, address, said)
			}
		}
	}
}
