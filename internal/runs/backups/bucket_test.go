package backups_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/report/backups"
)

// bareOf returns a backup without the objects of Cluster API.
func bareOf(t *testing.T, body []byte) []byte {
	return backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, _ := runs.ItemOf(item)
		return body, !strings.Contains(resource, "cluster.x-k8s.io")
	})
}

// TestAVolumeThatFailedIsNoLostCluster: the newest holds every object; Velero calls it
// PartiallyFailed, for a snapshot of another namespace.
func TestAVolumeThatFailedIsNoLostCluster(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	began := backuptest.Written
	b.Add(
		runs.StoredAs{Name: "old", Phase: "Completed", Began: began.Add(-48 * time.Hour), Tarball: runs.WithoutWorkers(t, body)},
		runs.StoredAs{Name: "new", Phase: "PartiallyFailed", Errors: 1, Began: began, Tarball: body, Results: runs.VolumeFailed, Objects: runs.OfClusters},
	)
	doc, o := b.Compare(w.Reach()...)
	c := doc.Comparison
	if c.Best != "new" || len(c.Clusters) > 0 {
		t.Errorf("best %s: %s, %+v\n%s", c.Best, c.Why, c.Clusters, o.Stderr)
	}
	out := filepath.Join(t.TempDir(), "r.json")
	b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/new", "-o", out}, w.Reach()...)...).Demand(t, cli.ExitOK)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "BackupNotCompleted") || !strings.Contains(s, "BackupErrorsElsewhere") || !strings.Contains(s, `"safe": "yes"`) {
		t.Errorf("%.2000s", s)
	}
}

// TestBackupsOfApplicationsAreOthers: they are rows of their own, whatever says that no
// cluster is in them, and take nothing from the backup of the clusters.
func TestBackupsOfApplicationsAreOthers(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	began, app := backuptest.Written, bareOf(t, body)
	b.Add(
		runs.StoredAs{Name: "mgmt-1", Phase: "Completed", Began: began.Add(-time.Hour), Tarball: body, Objects: runs.OfClusters},
		runs.StoredAs{Name: "mgmt-2", Phase: "Completed", Began: began, Tarball: body, Objects: runs.OfClusters},
	)
	for i := range 6 {
		s := runs.StoredAs{Name: fmt.Sprintf("app-%d", i), Schedule: "app", Phase: "Completed", Began: began.Add(time.Duration(i+1) * time.Hour), Tarball: app}
		switch i % 3 {
		case 0:
			s.Objects = runs.OfApplication
		case 1:
			s.Spec = map[string]any{"includedNamespaces": []string{"shop"}}
		case 2:
			s.Spec = map[string]any{"includedResources": []string{"deployments"}}
		}
		b.Add(s)
	}
	doc, o := b.Compare(w.Reach()...)
	if c := doc.Comparison; c.Best != "mgmt-2" || !c.Complete || o.Code != cli.ExitOK || len(c.Compared) != 2 {
		t.Errorf("status %d, best %s: %s, %d compared\n%s", o.Code, c.Best, c.Why, len(c.Compared), o.Stderr)
	}
	empty := 0
	for _, row := range doc.Backups {
		if row.Empty && row.Restorable {
			empty++
		}
	}
	if empty != 5 || doc.Summary.Left != 1 || doc.Summary.Newest != "mgmt-2" { // of each schedule the newest five
		t.Errorf("%d rows hold no cluster, newest %s", empty, doc.Summary.Newest)
	}
	b.Add(runs.StoredAs{Name: "bare", Phase: "Completed", Began: began.Add(10 * time.Hour), Tarball: app}) // nothing but its tarball says so
	if doc, o := b.Compare(append(w.Reach(), "--last", "1")...); doc.Comparison.Best != "mgmt-2" || o.Code != cli.ExitOK || doc.Summary.Newest != "mgmt-2" {
		t.Errorf("status %d, best %s, newest %s\n%s", o.Code, doc.Comparison.Best, doc.Summary.Newest, o.Stderr)
	}
	// One of a management cluster whose clusters are gone or were moved is a newer one.
	moved := runs.StoredAs{Name: "moved", Phase: "Completed", Began: began.Add(11 * time.Hour), Tarball: app, Objects: `{"apps/v1/Deployment":["capi-system/capi-controller-manager"]}`}
	out := filepath.Join(t.TempDir(), "r.json")
	detect := append([]string{"detect", "--backup", "s3://velero/mgmt/backups/mgmt-2", "-o", out}, w.Reach()...)
	b.Add(moved)
	b.Run(detect...).Demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), `"NewerBackup"`) {
		t.Error("a management cluster that has lost its clusters is no application")
	}
	moved.Began = began.Add(-11 * time.Hour)
	b.Add(moved)
	b.Add(runs.StoredAs{Name: "bare", Phase: "Completed", Began: began.Add(-10 * time.Hour), Tarball: app})
	b.Run(detect...).Demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); strings.Contains(string(text), `"NewerBackup"`) || !strings.Contains(string(text), `"safe": "yes"`) {
		t.Errorf("a backup of an application is no newer one:\n%.1500s", text)
	}
}

// TestWhatVeleroDoesNotOfferIsSaidFirst: the newest is left out, for a reason that is said
// before all else, with what it holds and how to take it.
func TestWhatVeleroDoesNotOfferIsSaidFirst(t *testing.T) {
	w, body := runs.WellBody(t)
	began := backuptest.Written
	for phase, want := range map[string]string{
		"Finalizing": "set status.phase to Completed", "WaitingForPluginOperations": "set status.phase to Completed", "FinalizingPartiallyFailed": "set status.phase to Completed",
		"Deleting": "set status.phase to Completed", "Failed": "velero restore create --from-backup", "": "put the velero-backup.json of another backup",
	} {
		b := runs.NewBucket(t)
		errors := 0
		if phase == "FinalizingPartiallyFailed" {
			errors = 1
		}
		b.Add(
			runs.StoredAs{Name: "old", Phase: "Completed", Began: began.Add(-48 * time.Hour), Tarball: runs.WithoutWorkers(t, body)},
			runs.StoredAs{Name: "new", Phase: phase, Began: began, Tarball: body, Errors: errors, Results: runs.VolumeFailed},
		)
		doc, o := b.Compare(w.Reach()...)
		c := doc.Comparison
		if c.Best != "old" || len(c.Skipped) != 1 || c.Skipped[0].Name != "new" || strings.Contains(c.Why, "it is the newest, and") || !strings.Contains(c.Skipped[0].TakeAll, want) {
			t.Errorf("%q: %s: %s, %+v\n%s", phase, c.Best, c.Why, c.Skipped, o.Stderr)
			continue
		}
		if phase != "Failed" && c.Skipped[0].Holds != "better" {
			t.Errorf("%q: %+v", phase, c.Skipped[0])
		}
		text := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare"}, w.Reach()...)...)
		said, _, _ := strings.Cut(text.Stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") {
			t.Errorf("%q: not said before the tables:\n%s", phase, text.Stdout)
		}
		list := b.Run("backups", "s3://velero/mgmt")
		said, _, _ = strings.Cut(list.Stdout, "\nNAME")
		if !strings.Contains(said, "Left out: new, newer") || !strings.Contains(said, "is old;") {
			t.Errorf("%q: not said before the list:\n%s", phase, list.Stdout)
		}
	}
}

// TestFailedBackupsHaveAWayOut: Velero offers none, and what they hold is said.
func TestFailedBackupsHaveAWayOut(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	for i, name := range []string{"one", "two"} {
		b.Add(runs.StoredAs{Name: name, Phase: "Failed", Began: backuptest.Written.Add(time.Duration(i) * time.Hour), Tarball: body})
	}
	doc, o := b.Compare(w.Reach()...)
	if c := doc.Comparison; o.Code != cli.ExitOK || c.Best != "" || len(c.Compared) != 2 || c.Compared[0].Machines.Healthy == 0 || len(c.Skipped) != 2 {
		t.Errorf("status %d, %+v\n%s", o.Code, c, o.Stderr)
	}
	for _, args := range [][]string{{}, append([]string{"--compare"}, w.Reach()...)} {
		o := b.Run(append([]string{"backups", "s3://velero/mgmt"}, args...)...)
		if text := strings.Join(strings.Fields(o.Stdout), " "); !strings.Contains(text, "velero restore create --from-backup NAME") || !strings.Contains(text, "detect --backup s3://velero/mgmt/backups/two") {
			t.Errorf("%s: no way out:\n%s", args, o.Stdout)
		}
	}
}

// TestAWrongClockChoosesNothing: a backup that began after now is said to be misdated, and is
// not the newest.
func TestAWrongClockChoosesNothing(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "right", Phase: "Completed", Began: backuptest.Written, Tarball: body, Objects: runs.OfClusters},
		runs.StoredAs{Name: "skewed", Phase: "Completed", Began: time.Now().Add(1000 * time.Hour), Tarball: body, Objects: runs.OfClusters},
	)
	doc, _ := b.Compare(w.Reach()...)
	if doc.Summary.Newest != "right" || doc.Comparison.Best != "right" {
		t.Errorf("newest %s, best %s: %s", doc.Summary.Newest, doc.Comparison.Best, doc.Comparison.Why)
	}
	for _, row := range doc.Backups {
		if row.Misdated != (row.Name == "skewed") || row.Misdated && !strings.Contains(strings.Join(row.Why, " "), "after it was stored") {
			t.Errorf("%+v", row)
		}
	}
}

// offeredIn returns those that a text offers, as a shell takes them apart.
func offeredIn(t *testing.T, text string) [][]string {
	t.Helper()
	var all [][]string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "drift-detector "); ok && strings.HasPrefix(line, "  ") {
			words, err := exec.Command("sh", "-c", `printf '%s\n' `+rest).Output()
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			all = append(all, strings.Split(strings.TrimSpace(string(words)), "\n"))
		}
	}
	return all
}

// TestOfferedCommandsRun: each as it is pasted, with the flags of the run, for each of two
// prefixes, one of which a shell would take apart.
func TestOfferedCommandsRun(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	for _, prefix := range []string{"mgmt", "b's two"} {
		b.Add(
			runs.StoredAs{Prefix: prefix, Name: "one", Phase: "Completed", Began: backuptest.Written, Tarball: body, Objects: runs.OfClusters},
			runs.StoredAs{Prefix: prefix, Name: "two", Phase: "Finalizing", Began: backuptest.Written.Add(time.Hour), Tarball: body, Objects: runs.OfClusters},
		)
	}
	t.Chdir(t.TempDir())
	list := b.Run("backups", "s3://velero")
	list.Demand(t, cli.ExitOK)
	offered := offeredIn(t, list.Stdout)
	if len(offered) != 6 || !strings.Contains(list.Stdout, "\ns3://velero/mgmt:\n") || !strings.Contains(list.Stdout, "s3://velero/b's two:") {
		t.Errorf("%d commands\n%s", len(offered), list.Stdout)
	}
	for _, args := range offered {
		if o := runs.Run(t, append(args, w.Reach()...)...); o.Code != cli.ExitOK { // the lab in place of its servers
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
	compared := b.Run(append([]string{"backups", "s3://velero/b%27s%20two", "--compare"}, w.Reach()...)...)
	compared.Demand(t, cli.ExitOK)
	offered = offeredIn(t, compared.Stdout)
	if len(offered) == 0 {
		t.Errorf("no command in\n%s", compared.Stdout)
	}
	for _, args := range offered {
		if o := runs.Run(t, args...); o.Code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
	several := b.Run("detect", "--backup", "s3://velero/mgmt", "-o", "r.json")
	if want := "'drift-detector backups s3://velero/mgmt --s3-profile dr --s3-endpoint " + b.URL + "' lists them"; !strings.Contains(several.Stderr, want) {
		t.Errorf("no %q in %s", want, several.Stderr)
	}
	refused := b.Run("backups", "s3://velero", "--compare")
	if refused.Code != cli.ExitUsage || !strings.Contains(refused.Stderr, "--compare --s3-profile dr --s3-endpoint "+b.URL) {
		t.Errorf("status %d: %s", refused.Code, refused.Stderr)
	}
}

// TestNoMoreIsDescribedThanIsShown: of 300 backups those that are older than what is asked for
// cost no request.
func TestNoMoreIsDescribedThanIsShown(t *testing.T) {
	b := runs.NewBucket(t)
	began := time.Now().Add(-300 * time.Hour)
	for i := range 300 {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("n-%03d", i), Phase: "Completed", Began: began.Add(time.Duration(i) * time.Hour), Tarball: []byte("x"), Objects: runs.OfClusters})
	}
	b.Dated(func(key string) time.Time { // stored when it was made, as it is unless a bucket is copied
		var i int
		_, _ = fmt.Sscanf(key, "mgmt/backups/n-%d/", &i)
		return began.Add(time.Duration(i) * time.Hour)
	})
	for args, want := range map[string][2]int{"": {300, 300}, "--last 3": {3, 60}, "--since 10h": {10, 15}} {
		b.Calls()
		o := b.Run(append([]string{"backups", "s3://velero/mgmt", "--format", "json"}, strings.Fields(args)...)...)
		var doc backups.Document
		if err := json.Unmarshal([]byte(o.Stdout), &doc); err != nil {
			t.Fatal(o.Stderr)
		}
		described := 0
		for _, call := range b.Calls() {
			if strings.HasSuffix(call, "velero-backup.json") {
				described++
			}
		}
		if n := len(doc.Backups); n < want[0]-1 || n > want[0] || described > want[1] || n+doc.Summary.Left != 300 {
			t.Errorf("%q: %d shown, %d left, %d descriptions read", args, n, doc.Summary.Left, described)
		}
	}
}
