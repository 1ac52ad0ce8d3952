package backups_test

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
	"drift-detector/internal/runs"
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
func withoutPools(t *testing.T) (w *runs.World, full, saved string) {
	t.Helper()
	w = runs.Fleet(t)
	full, saved = w.Backups[0], filepath.Join(w.Dir, "inventory.json")
	runs.ServeEC2(t, runs.FleetEC2()).Change(func(i *lab.EC2Instance) bool {
		if i.InstanceID == memberSince {
			i.LaunchTime = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		}
		return true
	})
	w.Edited("nopools", func(item string, body []byte) ([]byte, bool) {
		resource, _ := runs.ItemOf(item)
		if strings.HasPrefix(resource, "awsclusters") {
			body = bytes.ReplaceAll(body, []byte("aws-prod-apiserver"), []byte("aws-prod-before"))
		}
		return body, !strings.Contains(resource, "machinepools")
	})
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	w.Backups = []string{full}
	return w, full, saved
}

// An inventory that was made with another backup was not asked for all that this
// one names. What nobody looked for is not absent, and a member of a pool that
// nobody asked for is no Ghost; the run says that it is incomplete.
func TestInventoryOfAnotherBackup(t *testing.T) {
	w, full, saved := withoutPools(t)
	live := w.Detect()
	live.Demand(t, cli.ExitOK)
	o := w.Run("--backup", full, "--inventory", saved)
	o.Demand(t, cli.ExitIncomplete)
	if o.Report.Summary.Complete || !strings.Contains(o.Stderr, "aws-prod-mp-0") || !strings.Contains(o.Stderr, "list again with this backup") {
		t.Errorf("complete is %v, and it says %s", o.Report.Summary.Complete, o.Stderr)
	}
	for _, c := range o.Report.Clusters {
		for _, g := range c.Workers.Groups {
			if g.Pool != nil && (g.Pool.State != "unknown" || g.Reason != "PoolUndecided" || len(g.Pool.Missing) > 0) {
				t.Errorf("pool %s is %s (%s): %+v", g.Name, g.Pool.State, g.Reason, g.Pool)
			}
		}
	}
	if where, cluster, _ := runs.PlacementOfID(o.Report, memberSince); where != "infraMachines" {
		t.Errorf("the new member is %s of %q, want one to confirm", where, cluster)
	}
	there, unknown := resourcesOf(live.Report), 0
	for name, state := range resourcesOf(o.Report) {
		if state == "unknown" {
			unknown++
		} else if state != there[name] {
			t.Errorf("%s is %s, and it is %s", name, state, there[name])
		}
	}
	if unknown == 0 {
		t.Error("the other backup asks for all resources: the test shows nothing")
	}
	if a, b := runs.PlacementsOf(o.Report).Ghosts(), runs.PlacementsOf(live.Report).Ghosts(); slices.ContainsFunc(a, func(p string) bool { return !slices.Contains(b, p) }) {
		t.Errorf("the Ghosts are %q, live %q", a, b)
	}
}

// An inventory of a version that did not keep what was asked for is read; what it
// did not find may not have been asked for.
func TestInventoryOfAnOlderVersion(t *testing.T) {
	w := runs.Fleet(t)
	options := runs.FleetEC2()
	options.Absent = []string{"aws-prod-apiserver"}
	runs.ServeEC2(t, options)
	saved := filepath.Join(w.Dir, "inventory.json")
	runs.Run(t, slices.Concat([]string{"inventory", "-o", saved}, w.Sources(), w.Reach())...).Demand(t, cli.ExitOK)
	now := w.Run("--backup", w.Backups[0], "--inventory", saved)
	now.Demand(t, cli.ExitOK)

	var inventory map[string]any
	runs.ReadJSON(t, saved, &inventory)
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
	o := w.Run("--backup", w.Backups[0], "--inventory", saved)
	o.Demand(t, cli.ExitOK) // every pool was found
	o.AgreesWith(t, runs.ReadAWSOracle(t))
	o.AgreesWith(t, runs.ReadOracle(t, runs.Testdata+"verdicts.json"))
	changed := 0
	before := resourcesOf(now.Report)
	for name, state := range resourcesOf(o.Report) {
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
