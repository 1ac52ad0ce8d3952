package program

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	urfave "github.com/urfave/cli/v2"

	"drift-detector/internal/cli"
	"drift-detector/report/formats"
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
	app := newProgram(&cli.Streams{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}).App
	n := 0
	for _, form := range slips {
		address := strings.Replace(strings.Replace(form, "%s", slipped, 1), "%%", "%", 1)
		demand := func(env map[string]string, args ...string) {
			n++
			var stdout, stderr bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return env[name] }, Now: clock}
			Run(t.Context(), append([]string{"drift-detector"}, args...), s)
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
	file := testdata + "fleet-data.tar.gz"
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
				o := runProgram(t, slices.Concat(of, given)...)
				if said := o.stderr + o.stdout; o.code != cli.ExitUsage || strings.Contains(said, "S1gnature") || strings.Contains(said, "1gnat") {
					t.Errorf("%q: status %d: %s", given, o.code, said)
				}
			}
			t.Setenv(cli.Variable(flag), format+secret)
			var said bytes.Buffer
			s := &cli.Streams{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: os.Getenv, Now: clock}
			if code := Run(t.Context(), append([]string{"drift-detector"}, of...), s); code != cli.ExitUsage || strings.Contains(said.String(), "S1gnature") {
				t.Errorf("%s %q: status %d: %s", cli.Variable(flag), secret, code, &said)
			}
			os.Unsetenv(cli.Variable(flag)) // as it is again after the test
		}
		for _, missing := range []string{"/run/chat/url", "missing.yaml", "a place/file", "--quiet"} {
			says := missing
			if flag == "push-user" || flag == "notify" { // of which no name is repeated
				says = "no file that can be read"
			}
			if o := runProgram(t, slices.Concat(of, []string{"--" + flag, format + missing})...); o.code != cli.ExitUsage || !strings.Contains(o.stderr, says) {
				t.Errorf("--%s %s: status %d: %s", flag, missing, o.code, o.stderr)
			}
		}
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

// What the operator's own AWS configuration has of secrets where it is of no use is not
// repeated, in the report neither.
func TestNoSecretOfTheAWSConfigurationShows(t *testing.T) {
	t.Parallel()
	c := &canaries{world: fleet(t), out: t.TempDir()}
	for i, profile := range []string{
		"[dr\naws_secret_access_key = %s\n", "[dr]\naws_secret_access_key %s\n%s\n", "[dr]\ncredential_process = /bin/echo %s\n", "[dr]\ncredential_process = /bin/echo '{\"SecretAccessKey\": %s'\n",
		"[dr]\naws_access_key_id = AKIAMARKED0000000003\naws_secret_access_key = %s\naws_session_token = %s\nendpoint_url = https://u:%s@127.0.0.1:x\n",
	} {
		file := filepath.Join(c.dir, fmt.Sprint("profile", i))
		c.ensure(os.WriteFile(file, []byte(strings.ReplaceAll(profile, "%s", c.token("profile"))), 0o600))
		for _, address := range []string{"", "https://u:" + c.token("address") + "@127.0.0.1:x"} {
			c.env = []string{"AWS_SHARED_CREDENTIALS_FILE=" + file, "AWS_CONFIG_FILE=" + file, "AWS_ENDPOINT_URL=" + address, "AWS_MAX_ATTEMPTS=1", "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "HTTPS_PROXY=http://127.0.0.1:1"}
			c.program(slices.Concat([]string{"detect", "--aws-profile", "dr", "--cluster", "aws-prod", "--skip-access-apiserver", "--timeout", "2s", "-o", filepath.Join(c.out, fmt.Sprint(i, len(address), ".json"))}, c.sources())...)
			c.program("backups", "s3://velero", "--s3-profile", "dr", "--s3-endpoint", "https://127.0.0.1:1", "--deadline", "2s")
		}
	}
	said := c.written()
	for _, found := range c.in(said) {
		at := strings.Index(said, found)
		t.Errorf("%s shows: …%s…", found, said[max(0, at-300):min(len(said), at+100)])
	}
	if strings.Count(said, "credential_process") < 4 || !strings.Contains(said, `"schemaVersion"`) {
		t.Error("nothing was read")
	}
}

// What is left of an address in a backup, mistyped or not, is no secret: of servers, control
// planes and kubeconfigs. Each has another slip; a second round turns them.
func TestMistypedAddressesOfABackupAreNotPrinted(t *testing.T) {
	t.Parallel()
	slips := []string{
		"https://user:%s@server.invalid/sdk", "https:/user:%s@server.invalid/sdk", "https:user:%s@server.invalid", "//user:%s@server.invalid", "user:%s@server.invalid", "htps://user:%s@server.invalid",
		" https://user:%s@server.invalid", `"https://user:%s@server.invalid"`, "https://server.invalid/sdk?sig=%s", "https:/server.invalid/sdk?sig=%s", "server.invalid?sig=%s", "//server.invalid/#token=%s", "https://user:%s@server.invalid:x",
	}
	for round := range 2 {
		c := &canaries{world: fleet(t), out: t.TempDir()}
		typed := func(of string) string {
			return strings.Replace(slips[(len(c.markers)+5*round)%len(slips)], "%s", c.token(of), 1)
		}
		c.change("slips", func(resource, name string, o object) bool {
			switch {
			case resource == "clusters":
				in(o, "spec", "controlPlaneEndpoint")["host"] = typed("endpoint")
			case resource == "vsphereclusters":
				in(o, "spec")["server"] = typed("server")
				in(o, "spec", "controlPlaneEndpoint")["host"] = typed("vsphere endpoint")
			case resource == "vspheremachines", resource == "vspherevms":
				in(o, "spec")["server"] = typed("machine")
			case resource == "secrets" && strings.HasSuffix(name, "-kubeconfig"):
				text := "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: '" + typed("kubeconfig") + "', proxy-url: '" + typed("proxy") + "'}\n" +
					"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\nusers:\n- name: u\n  user: {username: u, password: p}\n"
				in(o, "data")["value"] = base64.StdEncoding.EncodeToString([]byte(text))
			}
			return true
		})
		to := func(name string) string { return filepath.Join(c.out, name) }
		c.program(slices.Concat([]string{"detect", "--timeout", "2s", "-o", to("report.json")}, c.sources(), c.reach())...)
		c.program(slices.Concat([]string{"detect", "--dry-run"}, c.sources())...)
		c.program(slices.Concat([]string{"inventory", "--timeout", "2s", "-o", to("inventory.json")}, c.sources(), c.reach())...)
		c.program(slices.Concat([]string{"check"}, c.sources())...)
		for _, format := range append(formats.Report.Names(), "screen") {
			c.program("render", to("report.json"), "--format", format)
		}
		c.program("plan", to("report.json"))
		said := c.written()
		for _, found := range c.in(said) {
			at := strings.Index(said, found)
			t.Errorf("%s shows: …%s…", found, said[max(0, at-200):min(len(said), at+100)])
		}
		if !strings.Contains(said, `"schemaVersion"`) || len(c.markers) < 4*len(slips) {
			t.Errorf("%d canaries, or no report", len(c.markers))
		}
	}
}
