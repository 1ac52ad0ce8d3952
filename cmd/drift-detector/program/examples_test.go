package program

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"drift-detector/infra"
	"drift-detector/infra/store/storetest"
	"drift-detector/report/confirm"
)

const examples = "../../../examples/"

// The files in examples/ that the program reads are read without a complaint, and show each form that there is.
func TestExamplesAreRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := layExamples(examples, folder); err != nil {
		t.Fatal(err)
	}
	given, warnings, err := infra.ReadCredentials(filepath.Join(folder, "credentials.yaml"))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", err, warnings)
	}
	forms := map[string]bool{}
	for _, c := range given {
		for form, shown := range map[string]bool{"password": !c.Password.IsZero(), "thumbprint": c.Thumbprint != "", "CA": c.CA != nil, "kubeconfig": !c.Kubeconfig.IsZero()} {
			forms[form] = forms[form] || shown
		}
	}
	if !forms["password"] || !forms["thumbprint"] || !forms["CA"] || !forms["kubeconfig"] {
		t.Errorf("credentials.yaml shows %v", forms)
	}
	rules, err := readRules([]string{filepath.Join(folder, "accepted.yaml")})
	if err != nil || len(rules) < 5 {
		t.Errorf("%d rules: %v", len(rules), err)
	}
	words, err := readConfirmations([]string{filepath.Join(folder, "confirmed.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	said, of := map[confirm.As]bool{}, map[string]bool{}
	for _, c := range words {
		said[c.As] = true
		of[strings.Fields(c.Subject())[0]] = true
	}
	if len(said) != len(confirm.All()) || len(of) != 4 {
		t.Errorf("confirmed.yaml shows %v of %v", said, of)
	}
}

// layExamples copies the examples that the program reads into a folder, with the files that they name:
// passwords, certificates, a kubeconfig and a profile for the store of tests.
func layExamples(from, folder string) error {
	for _, name := range []string{"credentials.yaml", "accepted.yaml", "confirmed.yaml"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	for name, text := range map[string]string{
		"vcenter.password": "canary", "keystone.password": "canary", "minio.secret": "canary",
		"vcenter-ca.pem": ca, "minio-ca.pem": ca, "alpha-prod.kubeconfig": "kind: Config\n",
		"aws": fmt.Sprintf("[velero]\naws_access_key_id = %s\naws_secret_access_key = %s\n", storetest.KeyID, storetest.Secret),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeExample runs the script command `example FILE SCRIPT`: it writes what a job of examples/ runs as a
// shell script, and sets its variables. Its files are in $WORK/etc, its state in $WORK/state.
func writeExample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: example FILE SCRIPT")
	}
	etc, state := ts.MkAbs("etc"), ts.MkAbs("state")
	ts.Check(os.MkdirAll(etc, 0o700))
	ts.Check(os.MkdirAll(state, 0o700))
	ts.Check(layExamples(filepath.Dir(strings.Replace(args[0], "/systemd/", "/", 1)), etc))
	text := strings.NewReplacer("/etc/drift-detector", etc, "/var/lib/drift-detector", state).Replace(ts.ReadFile(args[0]))
	var script string
	switch filepath.Base(args[0]) {
	case "gitlab-ci.yml":
		script = scriptOfGitLab(ts, text)
	case "Jenkinsfile":
		script = scriptOfJenkins(ts, text)
	case "drift-detector.service":
		script = scriptOfUnit(ts, text)
	case "github-workflow.yaml":
		useAction(ts, text, args[1])
		return
	}
	if !strings.Contains(script, "drift-detector detect ") {
		ts.Fatalf("%s runs %q", args[0], script)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(script), 0o600))
}

// strictly reads YAML without a field that is not known.
func strictly(ts *testscript.TestScript, text string, into any) {
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	ts.Check(d.Decode(into))
}

func scriptOfGitLab(ts *testscript.TestScript, text string) string {
	var jobs map[string]struct {
		Variables map[string]string
		Script    []string
		Artifacts struct {
			When, Access string
			Paths        []string
			Reports      map[string]string
		}
	}
	strictly(ts, text, &jobs)
	for name, value := range jobs["drift"].Variables {
		ts.Setenv(name, value)
	}
	return strings.Join(jobs["drift"].Script, "\n") + "\n"
}

func scriptOfJenkins(ts *testscript.TestScript, text string) string {
	for _, m := range regexp.MustCompile(`([A-Z0-9_]+) = '([^']*)'`).FindAllStringSubmatch(text, -1) {
		ts.Setenv(m[1], m[2])
	}
	if strings.Count(text, "{") != strings.Count(text, "}") {
		ts.Fatalf("a brace is missing")
	}
	var b bytes.Buffer
	for _, m := range regexp.MustCompile(`\bsh '([^']*)'`).FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + "\n")
	}
	return b.String()
}

// scriptOfUnit does what systemd does: what begins with - may fail, and ExecStopPost runs in any case.
func scriptOfUnit(ts *testscript.TestScript, text string) string {
	script, after := "status=0\n", ""
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		command, mayFail := strings.CutPrefix(value, "-")
		if mayFail {
			command += " || true"
		}
		switch key {
		case "WorkingDirectory":
			script += "cd " + value + "\n"
		case "Environment":
			name, value, _ := strings.Cut(value, "=")
			ts.Setenv(name, value)
		case "ExecStartPre":
			script += command + "\n"
		case "ExecStart":
			script += command + " || status=$?\n"
		case "ExecStopPost":
			after += command + "\n"
		}
	}
	return script + after + "exit $status\n"
}

// useAction sets the environment that the action's script has where the workflow uses it.
func useAction(ts *testscript.TestScript, text, script string) {
	var workflow struct {
		Name, Permissions any
		On                struct {
			Schedule []struct{ Cron string }
			Dispatch struct{} `yaml:"workflow_dispatch"`
		}
		Jobs map[string]struct {
			RunsOn string `yaml:"runs-on"`
			Steps  []struct {
				Uses, If string
				With     map[string]string
			}
		}
	}
	strictly(ts, text, &workflow)
	args := []string{ts.Getenv("ROOT") + "/action.yml", script}
	for name, value := range workflow.Jobs["drift"].Steps[0].With {
		args = append(args, name+"="+strings.TrimSuffix(value, "\n"))
	}
	writeAction(ts, false, args)
}
