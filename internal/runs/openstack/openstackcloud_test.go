//go:build openstack

package openstack_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/lab/openstackcloud"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// cloudFleet returns the recorded fleet on a real OpenStack, in two projects, and what is run
// against it.
func cloudFleet(t *testing.T) (*runs.World, *openstackcloud.Fleet, []string) {
	t.Helper()
	f := openstackcloud.Replay(t, runs.OpenStackData)
	w := &runs.World{T: t, Dir: t.TempDir()}
	w.Backups = []string{filepath.Join(w.Dir, "openstack-data.tar.gz")}
	if err := os.WriteFile(w.Backups[0], f.Backup(t, runs.OpenStackData+"openstack-data.tar.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nodes have the ids of their servers, too.
	nodes := t.TempDir()
	for _, name := range []string{"data.json", "web-prod.json"} {
		list, err := os.ReadFile(runs.OpenStackData + "nodes/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(nodes, name), f.Now(list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	served, err := lab.StartAPIServers(w.Backups[0], nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	args := w.Sources()
	for _, r := range served.Reroutes() {
		args = append(args, "--endpoint", r)
	}
	return w, f, args
}

// recordedOf returns a run in which the ids are the recorded ones.
func recordedOf(t *testing.T, f *openstackcloud.Fleet, o runs.Outcome) runs.Outcome {
	t.Helper()
	o.JSON = f.Recorded(o.JSON)
	var err error
	if o.Report, err = report.Read(bytes.NewReader(o.JSON)); err != nil {
		t.Fatal(err)
	}
	return o
}

// What the program says of a real OpenStack is what it has to say of the recorded one:
// every verdict, every forecast, every line of the plan.
func TestReplayedOpenStack(t *testing.T) {
	var truth runs.OpenStackTruth
	var outcomes runs.OpenStackOutcomes
	runs.ReadJSON(t, runs.OpenStackData+"truth.json", &truth)
	runs.ReadJSON(t, runs.OpenStackData+"outcomes.json", &outcomes)
	w, f, args := cloudFleet(t)
	f.Hold(t, runs.OpenStackData)
	live := w.Run(args...)
	live.Demand(t, cli.ExitOK)
	o := recordedOf(t, f, live)
	o.DemandOpenStack(t, truth)
	o.DemandOutcomes(t, outcomes)
	if where, _, _ := runs.PlacementOfID(o.Report, f.IDs[openstackcloud.OtherProject]); where != "infraMachines" && where != "nowhere" {
		t.Errorf("the server of the other project with a Machine's name is %s", where)
	}
	if scopes := len(o.Report.Scopes); scopes != 2 {
		t.Errorf("%d scopes of two projects", scopes)
	}

	// The lab's server with the same projects gives the same plan.
	server := f.AsRecorded(t, runs.OpenStackData)
	recorded := &runs.World{T: t, Dir: t.TempDir()}
	recorded.Backups = []string{filepath.Join(recorded.Dir, "openstack-data.tar.gz")}
	accounts := map[string]openstacklab.Account{"tenant-os-a": f.A, "tenant-os-b": f.B}
	if err := os.WriteFile(recorded.Backups[0], server.Backup(t, runs.OpenStackData+"openstack-data.tar.gz", accounts), 0o600); err != nil {
		t.Fatal(err)
	}
	recorded.Run(slices.Concat(recorded.Sources(), recorded.WithOpenStackNodes())...).Demand(t, cli.ExitOK)
	want := recorded.OpenStackSteps(func(line []byte) []byte { return line })
	got := w.OpenStackSteps(f.Recorded)
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
