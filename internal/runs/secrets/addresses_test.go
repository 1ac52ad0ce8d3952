package secrets_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/runs"
	"drift-detector/report/formats"
)

// The same for what the file of --credentials says.
func TestMistypedCredentialsAreNotPrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, form := range runs.Slips {
		address := strings.Replace(strings.Replace(form, "%s", "S1gnature", 1), "%%", "%", 1)
		for field, text := range map[string]string{
			"endpoint": "- endpoint: %q\n", "passwordFile": "- endpoint: h\n  username: u\n  passwordFile: %q\n", "caFile": "- endpoint: h\n  caFile: %q\n",
			"kubeconfig": "- endpoint: h\n  kubeconfig: %q\n", "thumbprint": "- endpoint: h\n  thumbprint: %q\n", "used": "- endpoint: %q\n  username: u\n  password: p\n",
		} {
			file := filepath.Join(dir, fmt.Sprint(i, field))
			if err := os.WriteFile(file, fmt.Appendf(nil, "endpoints:\n"+text, address), 0o600); err != nil {
				t.Fatal(err)
			}
			o := runs.Run(t, "-D", "detect", "--dry-run", "--backup", runs.Testdata+"fleet-data.tar.gz", "--credentials", file)
			if said := o.Stderr + o.Stdout; strings.Contains(said, "S1gnature") || !strings.Contains(said, file) && field != "used" && field != "endpoint" {
				t.Errorf("%s %s: %s", field, address, said)
			}
		}
	}
}

// What the operator's own AWS configuration has of secrets where it is of no use is not
// repeated, in the report neither.
func TestNoSecretOfTheAWSConfigurationShows(t *testing.T) {
	t.Parallel()
	c := &canaries{World: runs.Fleet(t), out: t.TempDir()}
	for i, profile := range []string{
		"[dr\naws_secret_access_key = %s\n", "[dr]\naws_secret_access_key %s\n%s\n", "[dr]\ncredential_process = /bin/echo %s\n", "[dr]\ncredential_process = /bin/echo '{\"SecretAccessKey\": %s'\n",
		"[dr]\naws_access_key_id = AKIAMARKED0000000003\naws_secret_access_key = %s\naws_session_token = %s\nendpoint_url = https://u:%s@127.0.0.1:x\n",
	} {
		file := filepath.Join(c.Dir, fmt.Sprint("profile", i))
		c.Ensure(os.WriteFile(file, []byte(strings.ReplaceAll(profile, "%s", c.token("profile"))), 0o600))
		for _, address := range []string{"", "https://u:" + c.token("address") + "@127.0.0.1:x"} {
			c.env = []string{"AWS_SHARED_CREDENTIALS_FILE=" + file, "AWS_CONFIG_FILE=" + file, "AWS_ENDPOINT_URL=" + address, "AWS_MAX_ATTEMPTS=1", "AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "HTTPS_PROXY=http://127.0.0.1:1"}
			c.program(slices.Concat([]string{"detect", "--aws-profile", "dr", "--cluster", "aws-prod", "--skip-access-apiserver", "--timeout", "2s", "-o", filepath.Join(c.out, fmt.Sprint(i, len(address), ".json"))}, c.Sources())...)
			c.program("backups", "s3://velero", "--s3-profile", "dr", "--s3-endpoint", "https://127.0.0.1:1", "--deadline", "2s")
		}
	}
	said := c.written()
	for _, found := range c.In(said) {
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
		c := &canaries{World: runs.Fleet(t), out: t.TempDir()}
		typed := func(of string) string {
			return strings.Replace(slips[(len(c.Markers)+5*round)%len(slips)], "%s", c.token(of), 1)
		}
		c.Change("slips", func(resource, name string, o runs.Object) bool {
			switch {
			case resource == "clusters":
				runs.In(o, "spec", "controlPlaneEndpoint")["host"] = typed("endpoint")
			case resource == "vsphereclusters":
				runs.In(o, "spec")["server"] = typed("server")
				runs.In(o, "spec", "controlPlaneEndpoint")["host"] = typed("vsphere endpoint")
			case resource == "vspheremachines", resource == "vspherevms":
				runs.In(o, "spec")["server"] = typed("machine")
			case resource == "secrets" && strings.HasSuffix(name, "-kubeconfig"):
				text := "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster: {server: '" + typed("kubeconfig") + "', proxy-url: '" + typed("proxy") + "'}\n" +
					"contexts:\n- name: x\n  context: {cluster: c, user: u}\ncurrent-context: x\nusers:\n- name: u\n  user: {username: u, password: p}\n"
				runs.In(o, "data")["value"] = base64.StdEncoding.EncodeToString([]byte(text))
			}
			return true
		})
		to := func(name string) string { return filepath.Join(c.out, name) }
		c.program(slices.Concat([]string{"detect", "--timeout", "2s", "-o", to("report.json")}, c.Sources(), c.Reach())...)
		c.program(slices.Concat([]string{"detect", "--dry-run"}, c.Sources())...)
		c.program(slices.Concat([]string{"inventory", "--timeout", "2s", "-o", to("inventory.json")}, c.Sources(), c.Reach())...)
		c.program(slices.Concat([]string{"check"}, c.Sources())...)
		for _, format := range append(formats.Report.Names(), "screen") {
			c.program("render", to("report.json"), "--format", format)
		}
		c.program("plan", to("report.json"))
		said := c.written()
		for _, found := range c.In(said) {
			at := strings.Index(said, found)
			t.Errorf("%s shows: …%s…", found, said[max(0, at-200):min(len(said), at+100)])
		}
		if !strings.Contains(said, `"schemaVersion"`) || len(c.Markers) < 4*len(slips) {
			t.Errorf("%d canaries, or no report", len(c.Markers))
		}
	}
}
