package backups_test

import (
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

// TestBackupsOfAnotherManagementClusterBehindTheNewest: it has the same names of clusters and of its
// schedule, so that no list tells; nothing is recommended without a word on those that were not
// compared, and the newest of the other one is found.
func TestBackupsOfAnotherManagementClusterBehindTheNewest(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	west := runs.OfAnother(t, body, "west", true)
	at := func(i int, tarball []byte) {
		began := runs.HoursBefore(24 * i)
		b.Add(runs.StoredAs{Name: "nightly-" + began.Format("20060102150405"), Schedule: "nightly", Phase: "Completed", Began: began, Tarball: tarball, Objects: runs.OfEast})
	}
	for i := range 9 {
		at(i, west)
	}
	doc, _ := b.Compare(w.Reach()...)
	if c := doc.Comparison; c.NotCompared != 4 || len(c.ManagementClusters) != 0 || !strings.Contains(c.Why, "4 others were not compared, of the same management cluster as those (--last 10 compares more)") {
		t.Errorf("%d not compared: %s", c.NotCompared, c.Why)
	}
	for i := range 3 {
		at(9+i, body)
	}
	doc, _ = b.Compare(w.Reach()...)
	c := doc.Comparison
	newest := "nightly-" + runs.HoursBefore(24*9).Format("20060102150405")
	if c.Best != "" || len(c.ManagementClusters) != 2 || c.ManagementClusters[1].Best != newest || c.NotCompared != 6 {
		t.Errorf("best %q: %s, %+v", c.Best, c.Why, c.ManagementClusters)
	}
	for _, m := range c.ManagementClusters {
		if !strings.Contains(m.Why, "6 others were not compared, of the same management cluster as those (--last 10 compares more)") {
			t.Errorf("%s: %s", m.Best, m.Why)
		}
	}
	if said := b.Sentence(w.Reach()...); !strings.HasPrefix(said, "Restore none yet: these are of 2 management clusters") {
		t.Error(said)
	}
	out := filepath.Join(t.TempDir(), "r.json")
	b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--report", newest, "-o", out}, w.Reach()...)...).Demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), newest+".tar.gz") {
		t.Errorf("%.300s", text)
	}
	// One that is between those of the other one is found, as far as tarballs are read.
	late := runs.HoursBefore(24*6 + 1)
	b.Add(runs.StoredAs{Name: "nightly-" + late.Format("20060102150405"), Schedule: "nightly", Phase: "Completed", Began: late, Tarball: body, Objects: runs.OfEast})
	if doc, _ = b.Compare(w.Reach()...); doc.Comparison.ManagementClusters[1].Best != "nightly-"+late.Format("20060102150405") {
		t.Errorf("%+v", doc.Comparison.ManagementClusters)
	}
	// A newer one of its own that has the same names is between: it is not taken for another's.
	b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/nightly-" + runs.HoursBefore(24*10).Format("20060102150405"), "-o", out}, w.Reach()...)...)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), `"NewerBackup"`) {
		t.Errorf("%.300s", text)
	}
}

// TestOthersWithoutKubeSystem: uids of Clusters tell, too, where the newest of another one is older
// than all that are compared.
func TestOthersWithoutKubeSystem(t *testing.T) {
	_, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	for i := range 7 {
		who := "west"
		if i > 5 {
			who = "east"
		}
		b.Add(runs.StoredAs{Name: fmt.Sprintf("n%d", i), Phase: "Completed", Began: runs.HoursBefore(i), Tarball: runs.OfAnother(t, body, who, false)})
	}
	doc, _ := b.Compare("--inventory", runs.EmptyInventory(t))
	if c := doc.Comparison; c.Best != "" || len(c.ManagementClusters) != 2 || !slices.Equal(c.ManagementClusters[1].Backups, []string{"n6"}) || c.NotCompared != 1 {
		t.Errorf("best %q, %d not compared: %+v", c.Best, c.NotCompared, c.ManagementClusters)
	}
}

// TestAWrongDateNeitherWinsNorLoses: what such a backup holds counts beside the others, also where
// more of its schedule have a date than are compared; its age does not.
func TestAWrongDateNeitherWinsNorLoses(t *testing.T) {
	w, body := runs.WellBody(t)
	old := runs.WithoutWorkers(t, body)
	for what, began := range map[string]time.Time{
		"after now": time.Now().Add(1000 * time.Hour), "after it was stored": time.Now().Add(1000 * time.Hour),
		"before there was a Velero": time.Unix(0, 0), "more than 14 days before it was completed": runs.HoursBefore(24 * 60),
	} {
		t.Run(what, func(t *testing.T) {
			b := runs.NewBucket(t)
			for i := range 30 {
				b.Add(runs.StoredAs{Name: fmt.Sprintf("right-%d", i), Schedule: "n", Phase: "Completed", Began: runs.HoursBefore(i), Tarball: old, Objects: runs.OfClusters})
			}
			wrong := runs.StoredAs{Name: "wrong", Schedule: "n", Phase: "Completed", Began: began, Tarball: body, Objects: runs.OfClusters}
			if strings.HasPrefix(what, "more than") {
				wrong.Status = map[string]any{"completionTimestamp": runs.HoursBefore(1).Format(time.RFC3339)}
			}
			b.Add(wrong)
			if what == "after now" {
				b.Dated(func(string) time.Time { return time.Now().Add(2000 * time.Hour) })
			}
			doc, _ := b.Compare(w.Reach()...)
			c := doc.Comparison
			if c.Best != "wrong" || !strings.Contains(c.Why, "its own date is wrong") || doc.Summary.Newest != "right-0" {
				t.Errorf("best %s: %s; the newest %s", c.Best, c.Why, doc.Summary.Newest)
			}
			row := doc.Backups[slices.IndexFunc(doc.Backups, func(r *backups.Backup) bool { return r.Name == "wrong" })]
			if !row.Misdated || !strings.Contains(strings.Join(row.Why, " "), what) {
				t.Errorf("%q", row.Why)
			}
			b.Add(runs.StoredAs{Name: "right-0", Schedule: "n", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: body, Objects: runs.OfClusters})
			if doc, _ := b.Compare(w.Reach()...); doc.Comparison.Best != "right-0" {
				t.Errorf("as good, and dated: %s: %s", doc.Comparison.Best, doc.Comparison.Why)
			}
			for name, newer := range map[string]string{"right-0": "", "wrong": "right-0 may be younger (of this one it is said to have begun "} {
				out := filepath.Join(t.TempDir(), "r.json")
				o := b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.Reach()...)...)
				text, _ := os.ReadFile(out)
				if has := strings.Contains(string(text), `"NewerBackup"`); has != (newer != "") || !strings.Contains(string(text), newer) {
					t.Errorf("%s: a newer one: %t: %.300s", name, has, text)
				}
				if said := strings.Contains(o.Stderr, "whether s3://velero/mgmt/backups/wrong is newer than this backup is not known"); said != (newer == "") {
					t.Errorf("%s: %s", name, o.Stderr)
				}
			}
		})
	}
}

// TestOlderOnesAreNotCalledEmpty: of a schedule that has backed up no cluster for a while, nothing is
// said of those that were not looked at but that, and samples find the ones that have clusters.
func TestOlderOnesAreNotCalledEmpty(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	x := func(i int, tarball []byte, objects string) {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("x-%03d", 200-i), Schedule: "x", Phase: "Completed", Began: runs.HoursBefore(i), Tarball: tarball, Objects: objects})
	}
	for i := range 60 {
		x(i, []byte("x"), runs.OfApplication)
	}
	b.Add(runs.StoredAs{Name: "m", Schedule: "m", Phase: "Completed", Began: runs.HoursBefore(-1), Tarball: runs.WithoutWorkers(t, body), Objects: runs.OfClusters})
	list := b.Run("backups", "s3://velero/mgmt")
	said := strings.Join(strings.Fields(list.Stdout), " ")
	if !strings.Contains(said, "The newest that can be restored is m;") || !strings.Contains(said, "not known whether a cluster is in it: of its schedule 15 backups were looked at, the newest and some of the others, and none has one; --schedule x looks at all") {
		t.Error(said)
	}
	if doc, _ := b.Compare(w.Reach()...); doc.Comparison.NotCompared != 45 {
		t.Errorf("%d not compared", doc.Comparison.NotCompared)
	}
	for i := range 6 {
		x(60+i, body, runs.OfClusters)
	}
	doc, _ := b.Compare(w.Reach()...)
	if doc.Summary.Newest != "m" || doc.Comparison.Best != "x-140" {
		t.Errorf("newest %s, best %s", doc.Summary.Newest, doc.Comparison.Best)
	}
}

// TestTheBestHasExpired: that is in the sentence that recommends it, and in the list's.
func TestTheBestHasExpired(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "new", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: runs.WithoutWorkers(t, body), Objects: runs.OfClusters},
		runs.StoredAs{Name: "old", Phase: "Completed", Began: runs.HoursBefore(24), Tarball: body, Objects: runs.OfClusters, Status: map[string]any{"expiration": runs.HoursBefore(1).Format(time.RFC3339)}},
	)
	if said := b.Sentence(w.Reach()...); !strings.Contains(said, " is old: ") && !strings.Contains(said, "Restore old: ") || !strings.Contains(said, "it has expired, and a Velero that gets this store deletes it: copy its folder first") {
		t.Error(said)
	}
	list := b.Run("backups", "s3://velero/mgmt", "--since", backuptest.Written.Add(-25*time.Hour).Format(time.RFC3339), "--schedule", "")
	if said := strings.Join(strings.Fields(list.Stdout), " "); strings.Contains(said, "It has expired") {
		t.Error(said)
	}
	b.Add(runs.StoredAs{Name: "newest", Phase: "Completed", Began: runs.HoursBefore(-1), Tarball: body, Objects: runs.OfClusters, Status: map[string]any{"expiration": runs.HoursBefore(1).Format(time.RFC3339)}})
	if said := strings.Join(strings.Fields(b.Run("backups", "s3://velero/mgmt").Stdout), " "); !strings.Contains(said, "is newest; it need not be the best. It has expired: a Velero that gets this store deletes it.") {
		t.Error(said)
	}
}

// TestACertificateAuthorityThatIsAbsent: the plan takes it from elsewhere, and workers that a backup lacks
// are nowhere else; where nothing else differs, it decides.
func TestACertificateAuthorityThatIsAbsent(t *testing.T) {
	w, body := runs.WellBody(t)
	without := backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, name := runs.ItemOf(item)
		return body, resource != "secrets" || name != "alpha-prod-ca"
	})
	fewer := backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		_, name := runs.ItemOf(item)
		return body, !strings.HasPrefix(name, "alpha-prod-md-0-")
	})
	for best, old := range map[string][]byte{"old": body, "new": fewer} {
		b := runs.NewBucket(t)
		b.Add(
			runs.StoredAs{Name: "old", Phase: "Completed", Began: runs.HoursBefore(24), Tarball: old, Objects: runs.OfClusters},
			runs.StoredAs{Name: "new", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: without, Objects: runs.OfClusters},
		)
		doc, _ := b.Compare(w.Reach()...)
		c := doc.Comparison
		if c.Best != best || !slices.Equal(c.Compared[0].Lacks, []string{"CertificateAbsent"}) {
			t.Errorf("best %s, want %s: %s, lacks %q", c.Best, best, c.Why, c.Compared[0].Lacks)
		}
		if said := b.Sentence(w.Reach()...); best == "new" && (!strings.HasPrefix(said, "The best is new: ") || !strings.Contains(said, "even so the answer is NO")) {
			t.Error(said)
		}
	}
}

// TestAListThatVelerosCountContradicts: it says nothing of what is in the backup.
func TestAListThatVelerosCountContradicts(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "old", Phase: "Completed", Began: runs.HoursBefore(24), Tarball: runs.WithoutWorkers(t, body), Objects: runs.OfClusters},
		runs.StoredAs{Name: "new", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: body, Objects: runs.OfApplication, Status: map[string]any{"progress": map[string]any{"itemsBackedUp": 387}}},
	)
	doc, _ := b.Compare(w.Reach()...)
	if doc.Comparison.Best != "new" || doc.Backups[0].Empty || !strings.Contains(strings.Join(doc.Backups[0].Why, " "), "its list of objects is not used: it has 10 objects, and Velero counted 387") {
		t.Errorf("best %s, %+v", doc.Comparison.Best, doc.Backups[0])
	}
	b.Add(runs.StoredAs{Name: "new", Phase: "Completed", Began: runs.HoursBefore(0), Tarball: body, Objects: `{"v1/ConfigMap":["shop/one"]}`, Status: map[string]any{"progress": map[string]any{"itemsBackedUp": 1}}})
	for _, name := range []string{"small", "smaller"} { // the same list, believed
		b.Add(runs.StoredAs{Name: name, Phase: "Completed", Began: runs.HoursBefore(-1), Tarball: bareOf(t, body)[:20_000], Objects: `{"v1/ConfigMap":["shop/one"]}`})
	}
	doc, _ = b.Compare(w.Reach()...)
	if doc.Comparison.Best != "new" || doc.Backups[2].Empty || !strings.Contains(strings.Join(doc.Backups[2].Why, " "), fmt.Sprintf("its list of objects is not used: it has 1 object, which do not make a tarball of %d bytes", len(body))) {
		t.Errorf("best %s, %+v", doc.Comparison.Best, doc.Backups[2])
	}
	if why := strings.Join(doc.Backups[0].Why, " "); !doc.Backups[0].Empty || !strings.Contains(why, "by what Velero noted, no cluster is in it: its list of objects has nothing of Cluster API") {
		t.Errorf("%+v", doc.Backups[0])
	}
	if report, _ := b.Detected(w, "old"); !strings.Contains(report, `"NewerBackup"`) {
		t.Error("the newer one does not count")
	}
}

// TestWhatIsNotRecordedIsSaid: a time that is that of the tarball, or of a name, and a phase.
func TestWhatIsNotRecordedIsSaid(t *testing.T) {
	b := runs.NewBucket(t)
	b.Add(
		runs.StoredAs{Name: "bare", Tarball: []byte("x")},
		runs.StoredAs{Name: "n-20261119040600", Tarball: []byte("x")},
		runs.StoredAs{Name: "n-99991231000000", Tarball: []byte("x")},
		runs.StoredAs{Name: "silent", Phase: "x", Began: runs.HoursBefore(3), Tarball: []byte("x"), Status: map[string]any{"phase": nil}},
		runs.StoredAs{Name: "undated", Phase: "Completed", Tarball: []byte("x"), Status: map[string]any{"startTimestamp": nil}},
	)
	list := b.Run("backups", "s3://velero/mgmt")
	said := strings.Join(strings.Fields(list.Stdout), " ")
	for _, want := range []string{"nothing says when it began: its time is when it was stored", "nothing says when it began but its name", "2026-11-19 04:06", "it was not finished (no phase is recorded)", "Left out: n-99991231000000, whose date is wrong: velero-backup.json is not beside the tarball"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, list.Stdout)
		}
	}
}

// TestOfferedCommandsOfOddNames: a folder that looks like a flag, and names with bytes that no
// terminal shows, are read back by a shell as they are; which backups are meant is repeated.
func TestOfferedCommandsOfOddNames(t *testing.T) {
	_, body := runs.WellBody(t)
	t.Chdir(t.TempDir())
	for _, root := range []string{"-r", "esc\x1b[2J", "100%\\n'", "\u202egnp"} {
		dir := filepath.Join(root, "backups", "-one")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		description := `{"apiVersion":"velero.io/v1","kind":"Backup","metadata":{"name":"-one","labels":{"velero.io/schedule-name":"n"}},"status":{"phase":"Completed","startTimestamp":"2026-11-21T04:06:20Z"}}`
		for name, text := range map[string][]byte{"-one.tar.gz": body, "velero-backup.json": []byte(description)} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		list := runs.Run(t, "backups", "./"+root, "--schedule", "n", "--last", "3", "--since", "2026-01-01")
		list.Demand(t, cli.ExitOK)
		offered := offeredIn(t, list.Stdout)
		if len(offered) != 2 || !slices.Contains(offered[0], "--schedule") || !slices.Contains(offered[0], "--last") || !slices.Contains(offered[0], "--since") {
			t.Errorf("%q", offered)
		}
		for _, args := range offered {
			if o := runs.Run(t, append(args, "--inventory", runs.EmptyInventory(t))...); o.Code != cli.ExitOK && o.Code != cli.ExitIncomplete {
				t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
			}
		}
	}
	refused := runs.Run(t, "backups", "--", "-r")
	refused.Demand(t, cli.ExitOK)
	for _, args := range offeredIn(t, refused.Stdout) {
		if o := runs.Run(t, append(args, "--inventory", runs.EmptyInventory(t))...); o.Code != cli.ExitOK && o.Code != cli.ExitIncomplete {
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
}
