package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/report/backups"
)

// ofAnother returns a backup as another management cluster has it: with uids of its own, clusters at
// another endpoint, and Namespace kube-system only where that is asked for.
func ofAnother(t *testing.T, body []byte, who string, kubeSystem bool) []byte {
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, _ := itemOf(item)
		var o map[string]any
		if json.Unmarshal(body, &o) != nil || o["metadata"] == nil {
			return body, true
		}
		meta := o["metadata"].(map[string]any)
		meta["uid"] = fmt.Sprint(who, "-", meta["uid"])
		if resource == "clusters.cluster.x-k8s.io" {
			o["spec"].(map[string]any)["controlPlaneEndpoint"] = map[string]any{"host": who + ".corp", "port": 6443}
		}
		body, _ = json.Marshal(o)
		return body, kubeSystem || !strings.HasSuffix(item, "/cluster/kube-system.json")
	})
}

// emptyInventory decides from nothing.
func emptyInventory(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "inventory.json")
	if err := os.WriteFile(file, []byte(`{"inventoryVersion": "1", "listings": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	ofEast = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-alpha/alpha-prod"],"v1/Secret":["a/b"]}`
	ofWest = `{"cluster.x-k8s.io/v1beta2/Cluster":["tenant-west/west-prod"],"v1/Secret":["a/b"]}`
)

// TestTwoManagementClustersUnderOnePrefix: both call their schedule nightly, and the newest are of
// the other one. Each has its newest in the list and its rows in the comparison, and the newer
// backups of one take nothing from the other.
func TestTwoManagementClustersUnderOnePrefix(t *testing.T) {
	w, body := wellBody(t)
	west := ofAnother(t, body, "west", true)
	b := newBucket(t)
	for i := range 6 {
		at := backuptest.Written.Add(-time.Duration(i) * 24 * time.Hour)
		b.store(
			storedAs{name: fmt.Sprintf("nightly-2026112%d000000", 6-i), schedule: "nightly", phase: "Completed", began: at, tarball: body, objects: ofEast},
			storedAs{name: fmt.Sprintf("nightly-2026112%d060000", 6-i), schedule: "nightly", phase: "Completed", began: at.Add(6 * time.Hour), tarball: west, objects: ofWest},
		)
	}
	list := b.run("backups", "s3://velero/mgmt")
	list.demand(t, cli.ExitOK)
	first, _, _ := strings.Cut(strings.Join(strings.Fields(list.stdout), " "), " NAME ")
	for _, want := range []string{
		"The backups are of 2 management clusters, or of parts of one",
		"The newest that can be restored with tenant-west/west-prod is nightly-20261126060000:",
		"The newest that can be restored with tenant-alpha/alpha-prod is nightly-20261126000000:",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, list.stdout)
		}
	}
	if n := len(offeredIn(t, list.stdout)); n != 3 {
		t.Errorf("%d commands\n%s", n, list.stdout)
	}
	doc, o := b.compare(append(w.reach(), "--last", "2")...)
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || len(c.Compared) != 4 || len(doc.Backups) != 4 || doc.Summary.Left != 8 {
		t.Fatalf("best %q, %+v, %d rows, %d older\n%s", c.Best, c.ManagementClusters, len(doc.Backups), doc.Summary.Left, o.stderr)
	}
	if m := c.ManagementClusters[1]; m.Best != "nightly-20261126000000" || !slices.Equal(m.Backups, []string{"nightly-20261126000000", "nightly-20261125000000"}) || len(m.Holds) == 0 {
		t.Errorf("%+v", m)
	}
	for name, newer := range map[string]bool{"nightly-20261126000000": false, "nightly-20261125000000": true} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.reach()...)...)
		if text, _ := os.ReadFile(out); strings.Contains(string(text), `"NewerBackup"`) != newer || strings.Contains(string(text), `"safe": "yes"`) == newer {
			t.Errorf("%s: a newer one of its management cluster: want %t: %.400s", name, newer, text)
		}
	}
}

// TestManagementClustersWithoutKubeSystem: uids of Clusters say which backups are of one; where none
// is in both, it is open whether they are of two, and that is said of each.
func TestManagementClustersWithoutKubeSystem(t *testing.T) {
	_, body := wellBody(t)
	b := newBucket(t)
	began := backuptest.Written
	for i, who := range []string{"east", "west", "east"} {
		b.store(storedAs{name: fmt.Sprintf("n%d", i), phase: "Completed", began: began.Add(time.Duration(i) * time.Hour), tarball: ofAnother(t, body, who, false)})
	}
	nothing := emptyInventory(t)
	doc, _ := b.compare("--inventory", nothing)
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || !slices.Equal(c.ManagementClusters[0].Backups, []string{"n2", "n0"}) || !strings.Contains(c.Why, "or of parts of one") {
		t.Errorf("best %q: %s, %+v", c.Best, c.Why, c.ManagementClusters)
	}
	for name, want := range map[string]string{"n1": unknownCluster, "n0": "n2 is 1h"} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.run("detect", "--backup", "s3://velero/mgmt/backups/"+name, "--inventory", nothing, "-o", out)
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), want) {
			t.Errorf("%s: no %q in %.600s", name, want, text)
		}
	}
}

// TestWhatANewerTarballHolds: one without clusters takes no YES, whatever else lies beside it; one
// that can't be read, or not within the bound, may hold them, and the reason is said.
func TestWhatANewerTarballHolds(t *testing.T) {
	w, body := wellBody(t)
	began := backuptest.Written
	app := bareOf(t, body)
	for what, c := range map[string]struct {
		newer storedAs
		says  string // "" for no newer backup
	}{
		"an application's":                    {storedAs{phase: "Completed", tarball: app}, ""},
		"one with errors":                     {storedAs{phase: "PartiallyFailed", errors: 3, tarball: app}, ""},
		"in other namespaces":                 {storedAs{phase: "Completed", tarball: body, spec: map[string]any{"includedNamespaces": []string{"shop"}}}, ""},
		"that is not described":               {storedAs{tarball: app}, ""},
		"that is no tarball":                  {storedAs{phase: "Completed", tarball: []byte("x")}, "its tarball was not read: "},
		"of a management cluster without any": {storedAs{phase: "Completed", tarball: app, objects: `{"apps/v1/Deployment":["capi-system/capi-controller-manager"]}`}, unknownCluster},
		"of the same":                         {storedAs{phase: "Completed", tarball: body}, "newer is "},
	} {
		t.Run(what, func(t *testing.T) {
			b := newBucket(t)
			c.newer.name, c.newer.began = "newer", began.Add(time.Hour)
			b.store(storedAs{name: "old", phase: "Completed", began: began, tarball: body}, c.newer)
			out := filepath.Join(t.TempDir(), "r.json")
			o := b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/old", "-o", out}, w.reach()...)...)
			text, _ := os.ReadFile(out)
			if has := strings.Contains(string(text), `"NewerBackup"`); has != (c.says != "") || !strings.Contains(string(text), c.says) || strings.Contains(string(text), `"safe": "yes"`) == has {
				t.Errorf("newer: %t, want %q: %.400s\n%s", has, c.says, text, o.stderr)
			}
		})
	}
}

// TestNoMoreTarballsAreLookedInto than the bound, which is said; those whose clusters are of
// another management cluster that was met cost none.
func TestNoMoreTarballsAreLookedInto(t *testing.T) {
	w, body := wellBody(t)
	west := ofAnother(t, body, "west", true)
	for lists, want := range map[string]int{ofWest: 1, "": mostLooks} {
		b := newBucket(t)
		b.store(storedAs{name: "old", phase: "Completed", began: backuptest.Written, tarball: body, objects: ofEast})
		for i := range 12 {
			b.store(storedAs{name: fmt.Sprintf("west-%02d", i), phase: "Completed", began: backuptest.Written.Add(time.Duration(i+1) * time.Hour), tarball: west, objects: lists})
		}
		out := filepath.Join(t.TempDir(), "r.json")
		b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/old", "-o", out}, w.reach()...)...)
		looks := 0
		for _, call := range b.Calls() {
			if strings.Contains(call, "west-") && strings.HasSuffix(call, ".tar.gz") {
				looks++
			}
		}
		text, _ := os.ReadFile(out)
		if said := strings.Contains(string(text), "no more than 3 newer ones are"); looks != want || said != (lists == "") {
			t.Errorf("%d looks, want %d; the bound is said: %t", looks, want, said)
		}
	}
}

// TestBoundsAreSaid with their numbers, and cost no verdict.
func TestBoundsAreSaid(t *testing.T) {
	_, body := wellBody(t)
	b := newBucket(t)
	for i := range 40 {
		b.store(storedAs{name: fmt.Sprintf("hand-%02d", i), phase: "Completed", began: backuptest.Written.Add(-time.Duration(i) * time.Hour), tarball: body, objects: ofApplication})
	}
	for i := range 60 { // of as many schedules
		s := fmt.Sprintf("s%02d", i)
		b.store(storedAs{name: s + "-20261101000000", schedule: s, phase: "Completed", began: backuptest.Written.Add(-time.Duration(100+i) * time.Hour), tarball: body, objects: ofEast})
	}
	before := maxLooked
	t.Cleanup(func() { maxLooked = before })
	maxLooked = 70
	doc, _ := b.compare("--inventory", emptyInventory(t))
	said := strings.Join(doc.Summary.Bounds, "\n")
	if n := len(doc.Comparison.Compared); n != maxCompared || !strings.Contains(said, "backups left out: 50 are compared at most where --last is not given, of each schedule 1. --last N") || !strings.Contains(said, "70 are the most") {
		t.Errorf("%d compared: %s", n, said)
	}
	list := b.run("backups", "s3://velero/mgmt")
	if flat := strings.Join(strings.Fields(list.stdout), " "); !strings.Contains(flat, "70 are the most. A backup may hold clusters as long as nothing says that it does not; --last, --since, --schedule") {
		t.Errorf("%s", list.stdout)
	}
}

// TestWhatDoesNotCountIsSaid: of filters with too many namespaces, and of a list of objects that is
// damaged, nothing follows, and the row says so.
func TestWhatDoesNotCountIsSaid(t *testing.T) {
	b := newBucket(t)
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf("shop-%d", i))
	}
	b.store(
		storedAs{name: "right", phase: "Completed", began: backuptest.Written.Add(-time.Hour), tarball: []byte("x"), objects: ofEast},
		storedAs{name: "many", phase: "Completed", began: backuptest.Written, tarball: []byte("x"), spec: map[string]any{"includedNamespaces": many}},
		storedAs{name: "damaged", phase: "Completed", began: backuptest.Written.Add(-time.Minute), tarball: []byte("x"), objects: "no JSON"},
	)
	list := b.run("backups", "s3://velero/mgmt")
	for _, want := range []string{"many: its filters name more than 50 namespaces, and do not count: it may hold clusters", "damaged: its list of objects is not used: no valid JSON"} {
		if !strings.Contains(strings.Join(strings.Fields(list.stdout), " "), want) {
			t.Errorf("no %q in\n%s", want, list.stdout)
		}
	}
}

// TestStreamsOfOneManagementCluster: the newest of each schedule is in the document, and --last
// counts for each; a Kubernetes that was newer before is a sign of another cluster.
func TestStreamsOfOneManagementCluster(t *testing.T) {
	_, body := wellBody(t)
	b := newBucket(t)
	for i := range 4 {
		at := backuptest.Written.Add(-time.Duration(i) * 24 * time.Hour)
		b.store(
			storedAs{name: "nightly-" + at.Format("20060102150405"), schedule: "nightly", phase: "Completed", began: at, tarball: body, objects: ofEast},
			storedAs{name: "weekly-" + at.Format("20060102150405"), schedule: "weekly", phase: "Completed", began: at.Add(-7 * 24 * time.Hour), tarball: body, objects: ofEast},
		)
	}
	o := b.run("backups", "s3://velero/mgmt", "--last", "2", "--format", "json")
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatal(o.stderr)
	}
	// A cluster that was added before the other one was deleted leads from one to the other.
	at := backuptest.Written.Add(time.Hour)
	for i, clusters := range []string{`"n/c"`, `"n/c","m/b"`, `"m/b","tenant-alpha/alpha-prod"`} {
		b.store(storedAs{name: fmt.Sprintf("hand-%d", i), phase: "Completed", began: at.Add(-time.Duration(i) * time.Minute), tarball: body, objects: `{"cluster.x-k8s.io/v1beta2/Cluster":[` + clusters + `]}`})
	}
	if text := b.run("backups", "s3://velero/mgmt"); strings.Contains(text.stdout, "management clusters") || !strings.Contains(text.stdout, "is hand-0;") {
		t.Errorf("%s", text.stdout)
	}
	r := doc.Summary.Roots[0]
	if len(doc.Backups) != 4 || doc.Summary.Left != 4 || len(r.Streams) != 2 || r.Streams[1].Schedule != "weekly" || !slices.Equal(r.Streams[1].Clusters, []string{"tenant-alpha/alpha-prod"}) {
		t.Errorf("%d shown, %d older, %+v", len(doc.Backups), doc.Summary.Left, r.Streams)
	}
}
