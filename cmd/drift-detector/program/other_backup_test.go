package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/report"
	"drift-detector/report/code"
)

// memberSince is a member of the lab's pool that the backup does not record.
const memberSince = "i-057bcd5c18f3f244e"

// resourcesOf returns the states of what the clusters' machines need.
func resourcesOf(r *report.Report) map[string]code.Presence {
	out := map[string]code.Presence{}
	for _, c := range r.Clusters {
		for _, res := range c.Resources {
			out[c.Namespace+"/"+c.Name+" "+res.Kind+" "+res.Name] = res.State
		}
	}
	return out
}

// withoutPools returns an inventory of the lab that was made with a backup that lacks
// pools and names another load balancer. One member of the pool is new.
func withoutPools(t *testing.T) (w *world, full, saved string) {
	t.Helper()
	w = fleet(t)
	full, saved = w.backups[0], filepath.Join(w.dir, "inventory.json")
	serveEC2(t, fleetEC2()).Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == memberSince {
			i.LaunchTime = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		}
		return true
	})
	w.edited("nopools", func(item string, body []byte) ([]byte, bool) {
		resource, _ := itemOf(item)
		if strings.HasPrefix(resource, "awsclusters") {
			body = bytes.ReplaceAll(body, []byte("aws-prod-apiserver"), []byte("aws-prod-before"))
		}
		return body, !strings.Contains(resource, "machinepools")
	})
	runProgram(t, slices.Concat([]string{"inventory", "-o", saved}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
	w.backups = []string{full}
	return w, full, saved
}

// An inventory that was made with another backup was not asked for all that this
// one names. What nobody looked for is not absent, and a member of a pool that
// nobody asked for is no Ghost; the run says that it is incomplete.
func TestInventoryOfAnotherBackup(t *testing.T) {
	w, full, saved := withoutPools(t)
	live := w.detect()
	live.demand(t, cli.ExitOK)
	o := w.run("--backup", full, "--inventory", saved)
	o.demand(t, cli.ExitIncomplete)
	if o.report.Summary.Complete || !strings.Contains(o.stderr, "aws-prod-mp-0") || !strings.Contains(o.stderr, "list again with this backup") {
		t.Errorf("complete is %v, and it says %s", o.report.Summary.Complete, o.stderr)
	}
	for _, c := range o.report.Clusters {
		for _, g := range c.Workers.Groups {
			if g.Pool != nil && (g.Pool.State != "unknown" || g.Reason != "PoolUndecided" || len(g.Pool.Missing) > 0) {
				t.Errorf("pool %s is %s (%s): %+v", g.Name, g.Pool.State, g.Reason, g.Pool)
			}
		}
	}
	if where, cluster, _ := placementOfID(o.report, memberSince); where != "infraMachines" {
		t.Errorf("the new member is %s of %q, want one to confirm", where, cluster)
	}
	there, unknown := resourcesOf(live.report), 0
	for name, state := range resourcesOf(o.report) {
		if state == "unknown" {
			unknown++
		} else if state != there[name] {
			t.Errorf("%s is %s, and it is %s", name, state, there[name])
		}
	}
	if unknown == 0 {
		t.Error("the other backup asks for all resources: the test shows nothing")
	}
	if a, b := placementsOf(o.report).ghosts(), placementsOf(live.report).ghosts(); slices.ContainsFunc(a, func(p string) bool { return !slices.Contains(b, p) }) {
		t.Errorf("the Ghosts are %q, live %q", a, b)
	}
}

// An inventory of a version that did not keep what was asked for is read; what it
// did not find may not have been asked for.
func TestInventoryOfAnOlderVersion(t *testing.T) {
	w := fleet(t)
	options := fleetEC2()
	options.Absent = []string{"aws-prod-apiserver"}
	serveEC2(t, options)
	saved := filepath.Join(w.dir, "inventory.json")
	runProgram(t, slices.Concat([]string{"inventory", "-o", saved}, w.sources(), w.reach())...).demand(t, cli.ExitOK)
	now := w.run("--backup", w.backups[0], "--inventory", saved)
	now.demand(t, cli.ExitOK)

	var inventory map[string]any
	readJSON(t, saved, &inventory)
	dropped := 0
	for _, l := range inventory["listings"].([]any) {
		if _, ok := l.(map[string]any)["asked"]; ok {
			dropped++
		}
		delete(l.(map[string]any), "asked")
	}
	text, err := json.Marshal(inventory)
	if err != nil || dropped == 0 {
		t.Fatal(dropped, err)
	}
	if err := os.WriteFile(saved, text, 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.run("--backup", w.backups[0], "--inventory", saved)
	o.demand(t, cli.ExitOK) // every pool was found
	o.agreesWith(t, readAWSOracle(t))
	o.agreesWith(t, readOracle(t, testdata+"verdicts.json"))
	changed := 0
	before := resourcesOf(now.report)
	for name, state := range resourcesOf(o.report) {
		was := cmp.Or(before[name], "absent") // what is unwanted is not shown when it is not there
		if state != was {
			if changed++; was != "absent" || state != "unknown" {
				t.Errorf("%s is %s, was %s", name, state, was)
			}
		}
	}
	if changed == 0 {
		t.Error("no resource is absent: the test shows nothing")
	}
}
