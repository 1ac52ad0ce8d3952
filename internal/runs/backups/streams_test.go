package backups_test

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
	"drift-detector/internal/runs"
	"drift-detector/report/backups"
)

// TestTwoManagementClustersUnderOnePrefix: both call their schedule nightly, and the newest are of
// the other one. Each has its newest in the list and its rows in the comparison, and the newer
// backups of one take nothing from the other.
func TestTwoManagementClustersUnderOnePrefix(t *testing.T) {
	w, body := runs.WellBody(t)
	west := runs.OfAnother(t, body, "west", true)
	b := runs.NewBucket(t)
	for i := range 6 {
		at := backuptest.Written.Add(-time.Duration(i) * 24 * time.Hour)
		b.Add(
			runs.StoredAs{Name: fmt.Sprintf("nightly-2026112%d000000", 6-i), Schedule: "nightly", Phase: "Completed", Began: at, Tarball: body, Objects: runs.OfEast},
			runs.StoredAs{Name: fmt.Sprintf("nightly-2026112%d060000", 6-i), Schedule: "nightly", Phase: "Completed", Began: at.Add(6 * time.Hour), Tarball: west, Objects: runs.OfWest},
		)
	}
	list := b.Run("backups", "s3://velero/mgmt")
	list.Demand(t, cli.ExitOK)
	first, _, _ := strings.Cut(strings.Join(strings.Fields(list.Stdout), " "), " NAME ")
	for _, want := range []string{
		"The backups are of 2 management clusters, or of parts of one",
		"The newest that can be restored with tenant-west/west-prod is nightly-20261126060000:",
		"The newest that can be restored with tenant-alpha/alpha-prod is nightly-20261126000000:",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, list.Stdout)
		}
	}
	if n := len(offeredIn(t, list.Stdout)); n != 3 {
		t.Errorf("%d commands\n%s", n, list.Stdout)
	}
	doc, o := b.Compare(append(w.Reach(), "--last", "2")...)
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || len(c.Compared) != 4 || len(doc.Backups) != 4 || doc.Summary.Left != 8 {
		t.Fatalf("best %q, %+v, %d rows, %d older\n%s", c.Best, c.ManagementClusters, len(doc.Backups), doc.Summary.Left, o.Stderr)
	}
	if m := c.ManagementClusters[1]; m.Best != "nightly-20261126000000" || !slices.Equal(m.Backups, []string{"nightly-20261126000000", "nightly-20261125000000"}) || len(m.Holds) == 0 {
		t.Errorf("%+v", m)
	}
	for name, newer := range map[string]bool{"nightly-20261126000000": false, "nightly-20261125000000": true} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.Reach()...)...)
		if text, _ := os.ReadFile(out); strings.Contains(string(text), `"NewerBackup"`) != newer || strings.Contains(string(text), `"safe": "yes"`) == newer {
			t.Errorf("%s: a newer one of its management cluster: want %t: %.400s", name, newer, text)
		}
	}
}

// TestManagementClustersWithoutKubeSystem: uids of Clusters say which backups are of one; where none
// is in both, it is open whether they are of two, and that is said of each.
func TestManagementClustersWithoutKubeSystem(t *testing.T) {
	_, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	began := backuptest.Written
	for i, who := range []string{"east", "west", "east"} {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("n%d", i), Phase: "Completed", Began: began.Add(time.Duration(i) * time.Hour), Tarball: runs.OfAnother(t, body, who, false)})
	}
	nothing := runs.EmptyInventory(t)
	doc, _ := b.Compare("--inventory", nothing)
	c := doc.Comparison
	if c.Best != "" || len(c.ManagementClusters) != 2 || !slices.Equal(c.ManagementClusters[0].Backups, []string{"n2", "n0"}) || !strings.Contains(c.Why, "or of parts of one") {
		t.Errorf("best %q: %s, %+v", c.Best, c.Why, c.ManagementClusters)
	}
	for name, want := range map[string]string{"n1": unknownCluster, "n0": "n2 is 1h"} {
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run("detect", "--backup", "s3://velero/mgmt/backups/"+name, "--inventory", nothing, "-o", out)
		if text, _ := os.ReadFile(out); !strings.Contains(string(text), want) {
			t.Errorf("%s: no %q in %.600s", name, want, text)
		}
	}
}

// TestWhatANewerTarballHolds: one without clusters takes no YES, whatever else lies beside it; one
// that can't be read, or not within the bound, may hold them, and the reason is said.
func TestWhatANewerTarballHolds(t *testing.T) {
	w, body := runs.WellBody(t)
	began := backuptest.Written
	app := bareOf(t, body)
	for what, c := range map[string]struct {
		newer runs.StoredAs
		says  string // "" for no newer backup
	}{
		"an application's":                    {runs.StoredAs{Phase: "Completed", Tarball: app}, ""},
		"one with errors":                     {runs.StoredAs{Phase: "PartiallyFailed", Errors: 3, Tarball: app}, ""},
		"in other namespaces":                 {runs.StoredAs{Phase: "Completed", Tarball: body, Spec: map[string]any{"includedNamespaces": []string{"shop"}}}, ""},
		"that is not described":               {runs.StoredAs{Tarball: app}, ""},
		"that is no tarball":                  {runs.StoredAs{Phase: "Completed", Tarball: []byte("x")}, "its tarball was not read: "},
		"of a management cluster without any": {runs.StoredAs{Phase: "Completed", Tarball: app, Objects: `{"apps/v1/Deployment":["capi-system/capi-controller-manager"]}`}, unknownCluster},
		"of the same":                         {runs.StoredAs{Phase: "Completed", Tarball: body}, "newer is "},
	} {
		t.Run(what, func(t *testing.T) {
			b := runs.NewBucket(t)
			c.newer.Name, c.newer.Began = "newer", began.Add(time.Hour)
			b.Add(runs.StoredAs{Name: "old", Phase: "Completed", Began: began, Tarball: body}, c.newer)
			out := filepath.Join(t.TempDir(), "r.json")
			o := b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/old", "-o", out}, w.Reach()...)...)
			text, _ := os.ReadFile(out)
			if has := strings.Contains(string(text), `"NewerBackup"`); has != (c.says != "") || !strings.Contains(string(text), c.says) || strings.Contains(string(text), `"safe": "yes"`) == has {
				t.Errorf("newer: %t, want %q: %.400s\n%s", has, c.says, text, o.Stderr)
			}
		})
	}
}

// TestWhatDoesNotCountIsSaid: of filters with too many namespaces, and of a list of objects that is
// damaged, nothing follows, and the row says so.
func TestWhatDoesNotCountIsSaid(t *testing.T) {
	b := runs.NewBucket(t)
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprintf("shop-%d", i))
	}
	b.Add(
		runs.StoredAs{Name: "right", Phase: "Completed", Began: backuptest.Written.Add(-time.Hour), Tarball: []byte("x"), Objects: runs.OfEast},
		runs.StoredAs{Name: "many", Phase: "Completed", Began: backuptest.Written, Tarball: []byte("x"), Spec: map[string]any{"includedNamespaces": many}},
		runs.StoredAs{Name: "damaged", Phase: "Completed", Began: backuptest.Written.Add(-time.Minute), Tarball: []byte("x"), Objects: "no JSON"},
	)
	list := b.Run("backups", "s3://velero/mgmt")
	for _, want := range []string{"many: its filters name more than 50 namespaces, and do not count: it may hold clusters", "damaged: its list of objects is not used: no valid JSON"} {
		if !strings.Contains(strings.Join(strings.Fields(list.Stdout), " "), want) {
			t.Errorf("no %q in\n%s", want, list.Stdout)
		}
	}
}

// TestStreamsOfOneManagementCluster: the newest of each schedule is in the document, and --last
// counts for each; a Kubernetes that was newer before is a sign of another cluster.
func TestStreamsOfOneManagementCluster(t *testing.T) {
	_, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	for i := range 4 {
		at := backuptest.Written.Add(-time.Duration(i) * 24 * time.Hour)
		b.Add(
			runs.StoredAs{Name: "nightly-" + at.Format("20060102150405"), Schedule: "nightly", Phase: "Completed", Began: at, Tarball: body, Objects: runs.OfEast},
			runs.StoredAs{Name: "weekly-" + at.Format("20060102150405"), Schedule: "weekly", Phase: "Completed", Began: at.Add(-7 * 24 * time.Hour), Tarball: body, Objects: runs.OfEast},
		)
	}
	o := b.Run("backups", "s3://velero/mgmt", "--last", "2", "--format", "json")
	var doc backups.Document
	if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
		t.Fatal(o.Stderr)
	}
	// A cluster that was added before the other one was deleted leads from one to the other.
	at := backuptest.Written.Add(time.Hour)
	for i, clusters := range []string{`"n/c"`, `"n/c","m/b"`, `"m/b","tenant-alpha/alpha-prod"`} {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("hand-%d", i), Phase: "Completed", Began: at.Add(-time.Duration(i) * time.Minute), Tarball: body, Objects: `{"cluster.x-k8s.io/v1beta2/Cluster":[` + clusters + `]}`})
	}
	if text := b.Run("backups", "s3://velero/mgmt"); strings.Contains(text.Stdout, "management clusters") || !strings.Contains(text.Stdout, "is hand-0;") {
		t.Errorf("%s", text.Stdout)
	}
	r := doc.Summary.Roots[0]
	if len(doc.Backups) != 4 || doc.Summary.Left != 4 || len(r.Streams) != 2 || r.Streams[1].Schedule != "weekly" || !slices.Equal(r.Streams[1].Clusters, []string{"tenant-alpha/alpha-prod"}) {
		t.Errorf("%d shown, %d older, %+v", len(doc.Backups), doc.Summary.Left, r.Streams)
	}
}
