package runbook

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/shell/shelltest"
	"drift-detector/report"
	"drift-detector/report/code"
	"drift-detector/report/plan/plantest"
)

// inEmptyFolder runs a command and demands that it leaves its folder empty.
func inEmptyFolder(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, left := inFolder(t, cmd)
	if len(left) > 0 {
		t.Fatalf("%v left %v behind", cmd.Args, left)
	}
	return out
}

// inFolder runs a command in a folder of its own, and says what it left there.
func inFolder(t *testing.T, cmd *exec.Cmd) (output string, left []string) {
	t.Helper()
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	files, err := os.ReadDir(cmd.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		left = append(left, f.Name())
	}
	return string(out), left
}

// snapshots are the only files that commands write.
var snapshots = regexp.MustCompile(`^etcd-[A-Z0-9_]+-[0-9]{8}T[0-9]{6}\.db$`)

func writeScript(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "runbook.sh")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// lint parses a script, and holds it to shellcheck where that is installed.
func lint(t *testing.T, file string) {
	t.Helper()
	inEmptyFolder(t, exec.Command("bash", "-n", file))
	if checker, err := exec.LookPath("shellcheck"); err == nil {
		inEmptyFolder(t, exec.Command(checker, file))
	} else if os.Getenv("CI") != "" {
		t.Error("shellcheck is not installed")
	}
}

func TestScriptDoesNothingAsItIsForHostileNames(t *testing.T) {
	for _, name := range slices.Concat(shelltest.Hostile, shelltest.Unprintable, []string{"alpha-prod"}) {
		file := writeScript(t, asShell(t, sample(name)))
		if out := inEmptyFolder(t, exec.Command("sh", file)); out != "" {
			t.Errorf("%q: the script says %q", name, out)
		}
	}
	// One fleet of all of them, since each start of shellcheck takes its time.
	all := sample("alpha-prod")
	for _, name := range slices.Concat(shelltest.Hostile, shelltest.Unprintable) {
		more := sample(name)
		all.Clusters = append(all.Clusters, more.Clusters...)
		all.Scopes = append(all.Scopes, more.Scopes[2])
	}
	lint(t, writeScript(t, asShell(t, all)))
}

var unset = regexp.MustCompile(`(?m)^((?:export )?[A-Z][A-Z0-9_]*)=(?:''|"\$\{\w+:-(?:[^}v][^}]*)?\}")`)

// enact takes the comment signs away and fills the variables in: what a reckless
// operator would run.
func enact(script string) string {
	rows := strings.Split(script, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimPrefix(row, "# ")
	}
	return unset.ReplaceAllString(strings.Join(rows, "\n"), "$1='filled'")
}

// tools records what kubectl and the like are called with, and answers like an
// infrastructure in which each VM is still the one of the report.
const tools = `#!/bin/sh
printf '%s\0' "${0##*/}" "$@" '
' >>"$RECORD"
` + plantest.Answers

// run executes a script with tools that only record, and gives their calls.
func run(t *testing.T, name, script string) [][]string {
	t.Helper()
	bin := plantest.Install(t, tools)
	record := filepath.Join(t.TempDir(), "record")
	cmd := exec.Command("sh", writeScript(t, script))
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+record, "SAMPLE="+name)
	_, left := inFolder(t, cmd)
	if i := slices.IndexFunc(left, func(name string) bool { return !snapshots.MatchString(name) }); i >= 0 || len(left) == 0 {
		t.Errorf("it left %q behind", left)
	}
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	for _, call := range bytes.Split(bytes.TrimSuffix(data, []byte("\x00\n\x00")), []byte("\x00\n\x00")) {
		calls = append(calls, strings.Split(string(call), "\x00"))
	}
	return calls
}

// Even with every comment sign taken away, a hostile name reaches the tools as
// one word, and never as an option.
func TestEnactedScriptHandsHostileNamesOverWhole(t *testing.T) {
	for _, name := range []string{"$(touch x)", "a;touch x", "-rf", "'; touch x; '", `"; touch x; "`, "*", `a\`, "# x", "a&touch x", "{a,b}", "alpha-prod"} {
		calls := run(t, name, enact(asShell(t, sample(name))))
		for _, want := range [][]string{
			{"kubectl", "--context", "filled", "--namespace=" + name, "delete", "machines.cluster.x-k8s.io/" + name},
			{"kubectl", "--context", "filled", "drain", "node/" + name, "--ignore-daemonsets", "--delete-emptydir-data"},
			{"kubectl", "--context", "filled", "delete", "node/" + name},
			{"kubectl", "--context", "filled", "--namespace=" + name, "patch", "clusters.cluster.x-k8s.io/" + name, "--type=merge", `--patch={"spec":{"paused":false}}`},
			{"govc", "vm.destroy", "VirtualMachine:vm-3"},
			{"aws", "--profile", "filled", "--region=us-east-1", "ec2", "terminate-instances", "--instance-ids=" + plantest.EC2ID},
		} {
			if !slices.ContainsFunc(calls, func(c []string) bool { return slices.Equal(c, want) }) {
				t.Errorf("%q: no call %q", name, want)
			}
		}
		for _, call := range calls {
			if strings.HasPrefix(name, "-") && slices.Contains(call, name) {
				t.Errorf("%q is alone in %q", name, call)
			}
		}
	}
}

func TestEnactedScriptIsCleanShell(t *testing.T) {
	lint(t, writeScript(t, enact(asShell(t, sample(`a 'b'; "c" & *`)))))
}

// A VM that has changed since the report stops the script before it is touched.
func TestEnactedScriptStopsAtAnotherVM(t *testing.T) {
	r := sample("alpha-prod")
	for _, m := range []*report.Machine{plantest.Find(t, r, code.Ghost, "worker"), plantest.Find(t, r, code.Ghost, "control-plane")} {
		m.Instance.Ref = "vm-99" // which the tools do not know
	}
	script := enact(asShell(t, r))
	file := writeScript(t, strings.ReplaceAll(script, "set -eu", "set -u")) // go on behind every refusal
	bin, record := plantest.Install(t, strings.Replace(tools, `case "$*" in`, "case \"$*\" in\n*\" vm-99 \"*) echo 'stop: it is not the VM of the report' >&2; exit 1 ;;", 1)), filepath.Join(t.TempDir(), "record")
	cmd := exec.Command("sh", file)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RECORD="+record)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "vm.destroy") || strings.Contains(string(data), "vm.power") || strings.Contains(string(data), "device.remove") {
		t.Error("another VM was touched")
	}
	if !strings.Contains(string(out), "stop: it is not the VM of the report") {
		t.Errorf("it does not say why: %s", out)
	}
	if !strings.Contains(string(data), "terminate-instances") {
		t.Error("the instance that is still the same was spared")
	}
}
