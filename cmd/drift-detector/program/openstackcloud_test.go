//go:build openstack

package program

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstackcloud"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report"
)

// cloudFleet returns the recorded fleet on a real OpenStack, in two projects, and what is run
// against it.
func cloudFleet(t *testing.T) (*world, *openstackcloud.Fleet, []string) {
	t.Helper()
	f := openstackcloud.Replay(t, openstackData)
	w := &world{t: t, dir: t.TempDir()}
	w.backups = []string{filepath.Join(w.dir, "openstack-data.tar.gz")}
	if err := os.WriteFile(w.backups[0], f.Backup(t, openstackData+"openstack-data.tar.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nodes have the ids of their servers, too.
	nodes := t.TempDir()
	for _, name := range []string{"data.json", "web-prod.json"} {
		list, err := os.ReadFile(openstackData + "nodes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(nodes, name), f.Now(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	served, err := lab.StartAPIServers(w.backups[0], nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	args := w.sources()
	for _, r := range served.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	return w, f, args
}

// recordedOf returns a run in which the ids are the recorded ones.
func recordedOf(t *testing.T, f *openstackcloud.Fleet, o outcome) outcome {
	t.Helper()
	o.json = f.Recorded(o.json)
	var err error
	if o.report, err = report.Read(bytes.NewReader(o.json)); err != nil {
		t.Fatal(err)
	}
	return o
}

var (
	aServerID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	aVariable = regexp.MustCompile(`_\d+\b`)
)

// openstackSteps returns the lines of the plan of the last run that ask or change the cloud.
// The order of ids in a line, and the numbers of variables, follow the ids: they are no
// part of it.
func (w *world) openstackSteps(ids func([]byte) []byte) []string {
	w.t.Helper()
	var steps []string
	for line := range strings.Lines(runProgram(w.t, "plan", filepath.Join(w.dir, "report.json"), "--format", "shell").stdout) {
		if !strings.Contains(line, "openstack ") {
			continue
		}
		line = aVariable.ReplaceAllString(string(ids([]byte(line))), "")
		all := aServerID.FindAllString(line, -1)
		slices.Sort(all)
		steps = append(steps, strings.TrimSpace(aServerID.ReplaceAllString(line, "ID"))+" "+strings.Join(all, " "))
	}
	slices.Sort(steps)
	return steps
}

// What the program says of a real OpenStack is what it has to say of the recorded one:
// every verdict, every forecast, every line of the plan.
func TestReplayedOpenStack(t *testing.T) {
	var truth openstackTruth
	var outcomes openstackOutcomes
	readJSON(t, openstackData+"truth.json", &truth)
	readJSON(t, openstackData+"outcomes.json", &outcomes)
	w, f, args := cloudFleet(t)
	f.Hold(t, openstackData)
	live := w.run(args...)
	live.demand(t, cli.ExitOK)
	o := recordedOf(t, f, live)
	o.demandOpenStack(t, truth)
	o.demandOutcomes(t, outcomes)
	if where, _, _ := placementOfID(o.report, f.IDs[openstackcloud.OtherProject]); where != "infraMachines" && where != "nowhere" {
		t.Errorf("the server of the other project with a Machine's name is %s", where)
	}
	if scopes := len(o.report.Scopes); scopes != 2 {
		t.Errorf("%d scopes of two projects", scopes)
	}

	// The lab's server with the same projects gives the same plan.
	server := f.AsRecorded(t, openstackData)
	recorded := &world{t: t, dir: t.TempDir()}
	recorded.backups = []string{filepath.Join(recorded.dir, "openstack-data.tar.gz")}
	accounts := map[string]openstacklab.Account{"tenant-os-a": f.A, "tenant-os-b": f.B}
	if err := os.WriteFile(recorded.backups[0], server.Backup(t, openstackData+"openstack-data.tar.gz", accounts), 0o600); err != nil {
		t.Fatal(err)
	}
	recorded.run(slices.Concat(recorded.sources(), recorded.withOpenStackNodes())...).demand(t, cli.ExitOK)
	want := recorded.openstackSteps(func(line []byte) []byte { return line })
	got := w.openstackSteps(f.Recorded)
	if len(want) < 10 {
		t.Errorf("only %d steps", len(want))
	}
	for _, step := range want {
		if !slices.Contains(got, step) {
			t.Errorf("of the real cloud the plan lacks: %s", step)
		}
	}
	for _, step := range got {
		if !slices.Contains(want, step) {
			t.Errorf("of the real cloud the plan has: %s", step)
		}
	}
}
