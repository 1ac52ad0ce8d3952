package plans_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
	"drift-detector/report/code"
)

// The program stops a line wherever it has to, says why and what next in words, and no secret.
func TestRecheckOfTheLab(t *testing.T) {
	w := runs.Fleet(t)
	t.Setenv("GOVC_INSECURE", "true")
	file := filepath.Join(w.Dir, "looked.json")
	o := w.Detect()
	write := func(name string, text []byte) string {
		path := filepath.Join(w.Dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("looked.json", o.JSON)
	replica, err := lab.StartVCenter(lab.VCenterOptions{Archive: runs.Testdata + "vcenter-after.tar.gz", InstanceUUID: "0a0a0a0a-0000-4000-8000-000000000001"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(replica.Close)
	var ghost, stale *report.Machine
	for i := range o.Report.Clusters {
		for _, s := range o.Report.Clusters[i].Sets() {
			for k := range s.Machines {
				switch m := &s.Machines[k]; {
				case m.Status == code.Ghost && o.Report.Clusters[i].Provider == "vsphere":
					ghost = m
				case m.Status == code.Stale && m.Name == "alpha-prod-md-gpu-tfdnj-2spl2":
					stale = m
				}
			}
		}
	}
	at := "--at=https://user:s3cret-m4rk3r@" + w.VCenter.Addr
	vm := []string{"vm", ghost.Instance.ID, ghost.Instance.Ref}
	gone := "machine/" + stale.Namespace + "/" + stale.Name
	object := fmt.Sprintf(`{"kind":"Machine","metadata":{"namespace":%q,"name":%q,"creationTimestamp":"2099-01-01T00:00:00Z","labels":{"velero.io/restore-name":"restore-1"}},"spec":{"providerID":%q,"infrastructureRef":{"name":%q}}}`, stale.Namespace, stale.Name, stale.ProviderID, stale.Name)
	for _, c := range []struct {
		name, file string
		args       []string
		stdin      string
		code       cli.ExitCode
		says       string
	}{
		{"the VM of the report", file, append(vm, at), "", cli.ExitOK, "go on: VM " + ghost.Instance.Ref},
		{"it runs", file, append(vm, at, "--state=off"), "", cli.ExitFailOn, "still runs (poweredOn). Next: stop it"},
		{"another vCenter", file, append(vm, "--at=https://user:s3cret-m4rk3r@"+replica.Addr), "", cli.ExitFailOn, "is another place than that of the report"},
		{"nobody answers", file, append(vm, "--at=https://user:s3cret-m4rk3r@127.0.0.1:1"), "", cli.ExitIncomplete, "stop: could not look"},
		{"no URL", file, vm, "", cli.ExitUsage, "needs --at"},
		{"an empty URL", file, append(vm, "--at="), "", cli.ExitUsage, "--at is empty"},
		{"a VM of no report", file, []string{"vm", ghost.Instance.ID, "vm-1", at}, "", cli.ExitUsage, "is it the report that the plan was made from?"},
		{"a Machine whose VM is gone", file, []string{"gone", gone, "--restore=restore-1", at}, object, cli.ExitOK, "has no VM"},
		{"the Machine of the old management cluster", file, []string{"gone", gone, "--restore=restore-1", at}, strings.Replace(object, "2099", "2020", 1), cli.ExitFailOn, "it is of the old management cluster. Next: "},
		{"kubectl failed", file, []string{"gone", gone, "--restore=restore-1", at}, "", cli.ExitIncomplete, "it printed nothing"},
		{"a Machine of another report", file, []string{"gone", "machine/a/b", "--restore=restore-1", at}, object, cli.ExitUsage, "the report has no Machine a/b"},
		{"a report that is cut", write("cut.json", o.JSON[:len(o.JSON)/2]), append(vm, at), "", cli.ExitUsage, "not a whole JSON document"},
		{"a report that is edited", write("edited.json", bytes.Replace(o.JSON, []byte(`"kubeSystemUID": "`), []byte(`"kubeSystemUID": "0`), 1)), append(vm, at), "", cli.ExitUsage, "not as detect wrote it: backups"},
		{"of another schema", write("older.json", bytes.Replace(o.JSON, []byte(`"schemaVersion": "1"`), []byte(`"schemaVersion": "0"`), 1)), append(vm, at), "", cli.ExitUsage, "schema"},
		{"no report", filepath.Join(w.Dir, "none.json"), append(vm, at), "", cli.ExitUsage, "none.json"},
		{"no check", file, []string{"look", "x"}, "", cli.ExitUsage, "is no check; it is one of place, vm"},
		{"no time", file, append(vm, at, "--timeout=0s"), "", cli.ExitUsage, "must be more than 0"},
		{"no name", file, []string{"vm"}, "", cli.ExitUsage, "the name of what is looked at"},
	} {
		var stdout, stderr bytes.Buffer
		s := &cli.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: runs.Clock}
		args := append([]string{"recheck", c.file}, c.args...)
		got := runs.Program(context.Background(), append([]string{"drift-detector"}, args...), s)
		said := stdout.String() + stderr.String()
		if got != c.code || !strings.Contains(said, c.says) || strings.Contains(said, "s3cret-m4rk3r") {
			t.Errorf("%s: %d, want %d and %q:\n%s", c.name, got, c.code, c.says, said)
		}
		if (stdout.Len() > 0) != (got == cli.ExitOK) {
			t.Errorf("%s: stdout has %q", c.name, stdout.String())
		}
		if got == cli.ExitFailOn && strings.Count(stderr.String(), "error: ") != 1 {
			t.Errorf("%s: %s", c.name, stderr.String())
		}
	}
}

// No row of a runbook is longer than 160 characters.
func TestRowsOfAPlanAreShort(t *testing.T) {
	for name, serve := range runs.FourFleets {
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, serve(t).JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, in := 0, false
		for row := range strings.Lines(runs.Run(t, "plan", file).Stdout) {
			row = strings.TrimSuffix(row, "\n")
			if strings.HasPrefix(strings.TrimSpace(row), "```") {
				in = !in
			} else if in || strings.HasPrefix(row, "      ") {
				rows++
				if n := len(row); n > 160 {
					t.Errorf("%s: %d characters: %s", name, n, row)
				}
			}
		}
		if rows < 70 {
			t.Errorf("%s: %d rows of commands", name, rows)
		}
	}
}
