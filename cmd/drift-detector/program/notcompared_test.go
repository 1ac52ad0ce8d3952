package program

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
	"drift-detector/report/backups"
)

// sentence returns what a comparison says first, without its line breaks.
func (b *inBucket) sentence(args ...string) string {
	b.t.Helper()
	o := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare", "-q"}, args...)...)
	said, _, _ := strings.Cut(o.stdout, "\n  drift-detector ")
	return strings.Join(strings.Fields(said), " ")
}

// TestBackupsOfAnotherManagementClusterBehindTheNewest: it has the same names of clusters and of its
// schedule, so that no list tells; nothing is recommended without a word on those that were not
// compared, and the newest of the other one is found.
func TestBackupsOfAnotherManagementClusterBehindTheNewest(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	west := ofAnother(t, body, "west", true)
	at := func(i int, tarball []byte) {
		began := hoursBefore(24 * i)
		b.store(storedAs{name: "nightly-" + began.Format("20060102150405"), schedule: "nightly", phase: "Completed", began: began, tarball: tarball, objects: ofEast})
	}
	for i := range 9 {
		at(i, west)
	}
	doc, _ := b.compare(w.reach()...)
	if c := doc.Comparison; c.NotCompared != 4 || len(c.ManagementClusters) != 0 || !strings.Contains(c.Why, "4 others were not compared, of the same management cluster as those (--last 10 compares more)") {
		t.Errorf("%d not compared: %s", c.NotCompared, c.Why)
	}
	for i := range 3 {
		at(9+i, body)
	}
	doc, _ = b.compare(w.reach()...)
	c := doc.Comparison
	newest := "nightly-" + hoursBefore(24*9).Format("20060102150405")
	if c.Best != "" || len(c.ManagementClusters) != 2 || c.ManagementClusters[1].Best != newest || c.NotCompared != 6 {
		t.Errorf("best %q: %s, %+v", c.Best, c.Why, c.ManagementClusters)
	}
	for _, m := range c.ManagementClusters {
		if !strings.Contains(m.Why, "6 others were not compared, of the same management cluster as those (--last 10 compares more)") {
			t.Errorf("%s: %s", m.Best, m.Why)
		}
	}
	if said := b.sentence(w.reach()...); !strings.HasPrefix(said, "Restore none yet: these are of 2 management clusters") {
		t.Error(said)
	}
	out := filepath.Join(t.TempDir(), "r.json")
	b.run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--report", newest, "-o", out}, w.reach()...)...).demand(t, cli.ExitOK)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), newest+".tar.gz") {
		t.Errorf("%.300s", text)
	}
	// One that is between those of the other one is found, as far as tarballs are read.
	late := hoursBefore(24*6 + 1)
	b.store(storedAs{name: "nightly-" + late.Format("20060102150405"), schedule: "nightly", phase: "Completed", began: late, tarball: body, objects: ofEast})
	if doc, _ = b.compare(w.reach()...); doc.Comparison.ManagementClusters[1].Best != "nightly-"+late.Format("20060102150405") {
		t.Errorf("%+v", doc.Comparison.ManagementClusters)
	}
	// A newer one of its own that has the same names is between: it is not taken for another's.
	b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/nightly-" + hoursBefore(24*10).Format("20060102150405"), "-o", out}, w.reach()...)...)
	if text, _ := os.ReadFile(out); !strings.Contains(string(text), `"NewerBackup"`) {
		t.Errorf("%.300s", text)
	}
}

// TestOthersWithoutKubeSystem: uids of Clusters tell, too, where the newest of another one is older
// than all that are compared.
func TestOthersWithoutKubeSystem(t *testing.T) {
	_, body := wellBody(t)
	b := newBucket(t)
	for i := range 7 {
		who := "west"
		if i > 5 {
			who = "east"
		}
		b.store(storedAs{name: fmt.Sprintf("n%d", i), phase: "Completed", began: hoursBefore(i), tarball: ofAnother(t, body, who, false)})
	}
	doc, _ := b.compare("--inventory", emptyInventory(t))
	if c := doc.Comparison; c.Best != "" || len(c.ManagementClusters) != 2 || !slices.Equal(c.ManagementClusters[1].Backups, []string{"n6"}) || c.NotCompared != 1 {
		t.Errorf("best %q, %d not compared: %+v", c.Best, c.NotCompared, c.ManagementClusters)
	}
}

// TestAWrongDateNeitherWinsNorLoses: what such a backup holds counts beside the others, also where
// more of its schedule have a date than are compared; its age does not.
func TestAWrongDateNeitherWinsNorLoses(t *testing.T) {
	w, body := wellBody(t)
	old := withoutWorkers(t, body)
	for what, began := range map[string]time.Time{
		"after now": time.Now().Add(1000 * time.Hour), "after it was stored": time.Now().Add(1000 * time.Hour),
		"before there was a Velero": time.Unix(0, 0), "more than 14 days before it was completed": hoursBefore(24 * 60),
	} {
		t.Run(what, func(t *testing.T) {
			b := newBucket(t)
			for i := range 30 {
				b.store(storedAs{name: fmt.Sprintf("right-%d", i), schedule: "n", phase: "Completed", began: hoursBefore(i), tarball: old, objects: ofClusters})
			}
			wrong := storedAs{name: "wrong", schedule: "n", phase: "Completed", began: began, tarball: body, objects: ofClusters}
			if strings.HasPrefix(what, "more than") {
				wrong.status = map[string]any{"completionTimestamp": hoursBefore(1).Format(time.RFC3339)}
			}
			b.store(wrong)
			if what == "after now" {
				b.Dated(func(string) time.Time { return time.Now().Add(2000 * time.Hour) })
			}
			doc, _ := b.compare(w.reach()...)
			c := doc.Comparison
			if c.Best != "wrong" || !strings.Contains(c.Why, "its own date is wrong") || doc.Summary.Newest != "right-0" {
				t.Errorf("best %s: %s; the newest %s", c.Best, c.Why, doc.Summary.Newest)
			}
			row := doc.Backups[slices.IndexFunc(doc.Backups, func(r *backups.Backup) bool { return r.Name == "wrong" })]
			if !row.Misdated || !strings.Contains(strings.Join(row.Why, " "), what) {
				t.Errorf("%q", row.Why)
			}
			b.store(storedAs{name: "right-0", schedule: "n", phase: "Completed", began: hoursBefore(0), tarball: body, objects: ofClusters})
			if doc, _ := b.compare(w.reach()...); doc.Comparison.Best != "right-0" {
				t.Errorf("as good, and dated: %s: %s", doc.Comparison.Best, doc.Comparison.Why)
			}
			for name, newer := range map[string]string{"right-0": "", "wrong": "right-0 may be younger (of this one it is said to have begun "} {
				out := filepath.Join(t.TempDir(), "r.json")
				o := b.run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/" + name, "-o", out}, w.reach()...)...)
				text, _ := os.ReadFile(out)
				if has := strings.Contains(string(text), `"NewerBackup"`); has != (newer != "") || !strings.Contains(string(text), newer) {
					t.Errorf("%s: a newer one: %t: %.300s", name, has, text)
				}
				if said := strings.Contains(o.stderr, "whether s3://velero/mgmt/backups/wrong is newer than this backup is not known"); said != (newer == "") {
					t.Errorf("%s: %s", name, o.stderr)
				}
			}
		})
	}
}

// TestOlderOnesAreNotCalledEmpty: of a schedule that has backed up no cluster for a while, nothing is
// said of those that were not looked at but that, and samples find the ones that have clusters.
func TestOlderOnesAreNotCalledEmpty(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	x := func(i int, tarball []byte, objects string) {
		b.store(storedAs{name: fmt.Sprintf("x-%03d", 200-i), schedule: "x", phase: "Completed", began: hoursBefore(i), tarball: tarball, objects: objects})
	}
	for i := range 60 {
		x(i, []byte("x"), ofApplication)
	}
	b.store(storedAs{name: "m", schedule: "m", phase: "Completed", began: hoursBefore(-1), tarball: withoutWorkers(t, body), objects: ofClusters})
	list := b.run("backups", "s3://velero/mgmt")
	said := strings.Join(strings.Fields(list.stdout), " ")
	if !strings.Contains(said, "The newest that can be restored is m;") || !strings.Contains(said, "not known whether a cluster is in it: of its schedule 15 backups were looked at, the newest and some of the others, and none has one; --schedule x looks at all") {
		t.Error(said)
	}
	if doc, _ := b.compare(w.reach()...); doc.Comparison.NotCompared != 45 {
		t.Errorf("%d not compared", doc.Comparison.NotCompared)
	}
	for i := range 6 {
		x(60+i, body, ofClusters)
	}
	doc, _ := b.compare(w.reach()...)
	if doc.Summary.Newest != "m" || doc.Comparison.Best != "x-140" {
		t.Errorf("newest %s, best %s", doc.Summary.Newest, doc.Comparison.Best)
	}
}

// TestTooManySchedulesToCompare: the bound is in the first sentence, nothing is said to be restored,
// and the flag that raises it does.
func TestTooManySchedulesToCompare(t *testing.T) {
	w, body := wellBody(t)
	before := maxCompared
	t.Cleanup(func() { maxCompared = before })
	maxCompared = 2
	b := newBucket(t)
	for i, tarball := range [][]byte{body, withoutWorkers(t, body), body} {
		b.store(storedAs{name: fmt.Sprintf("s%d", i), schedule: fmt.Sprintf("s%d", i), phase: "Completed", began: hoursBefore(i), tarball: tarball, objects: ofClusters})
	}
	doc, o := b.compare(w.reach()...)
	if o.code != cli.ExitIncomplete || doc.Comparison.Complete || doc.Comparison.NotCompared != 1 {
		t.Errorf("status %d, %+v", o.code, doc.Comparison)
	}
	if said := b.sentence(w.reach()...); !strings.HasPrefix(said, "The best is s0: ") || !strings.Contains(said, "1 other was not compared, and may be better: too many schedules are here (--last 1 compares more)") {
		t.Error(said)
	}
	if doc, o := b.compare(append(w.reach(), "--last", "1")...); o.code != cli.ExitOK || len(doc.Comparison.Compared) != 3 {
		t.Errorf("status %d, %d compared", o.code, len(doc.Comparison.Compared))
	}
}

// TestTheBestHasExpired: that is in the sentence that recommends it, and in the list's.
func TestTheBestHasExpired(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.store(
		storedAs{name: "new", phase: "Completed", began: hoursBefore(0), tarball: withoutWorkers(t, body), objects: ofClusters},
		storedAs{name: "old", phase: "Completed", began: hoursBefore(24), tarball: body, objects: ofClusters, status: map[string]any{"expiration": hoursBefore(1).Format(time.RFC3339)}},
	)
	if said := b.sentence(w.reach()...); !strings.Contains(said, " is old: ") && !strings.Contains(said, "Restore old: ") || !strings.Contains(said, "it has expired, and a Velero that gets this store deletes it: copy its folder first") {
		t.Error(said)
	}
	list := b.run("backups", "s3://velero/mgmt", "--since", backuptest.Written.Add(-25*time.Hour).Format(time.RFC3339), "--schedule", "")
	if said := strings.Join(strings.Fields(list.stdout), " "); strings.Contains(said, "It has expired") {
		t.Error(said)
	}
	b.store(storedAs{name: "newest", phase: "Completed", began: hoursBefore(-1), tarball: body, objects: ofClusters, status: map[string]any{"expiration": hoursBefore(1).Format(time.RFC3339)}})
	if said := strings.Join(strings.Fields(b.run("backups", "s3://velero/mgmt").stdout), " "); !strings.Contains(said, "is newest; it need not be the best. It has expired: a Velero that gets this store deletes it.") {
		t.Error(said)
	}
}

// TestACertificateAuthorityThatIsAbsent: the plan takes it from elsewhere, and workers that a backup lacks
// are nowhere else; where nothing else differs, it decides.
func TestACertificateAuthorityThatIsAbsent(t *testing.T) {
	w, body := wellBody(t)
	without := backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		resource, name := itemOf(item)
		return body, resource != "secrets" || name != "alpha-prod-ca"
	})
	fewer := backuptest.Rewrite(t, body, func(item string, body []byte) ([]byte, bool) {
		_, name := itemOf(item)
		return body, !strings.HasPrefix(name, "alpha-prod-md-0-")
	})
	for best, old := range map[string][]byte{"old": body, "new": fewer} {
		b := newBucket(t)
		b.store(
			storedAs{name: "old", phase: "Completed", began: hoursBefore(24), tarball: old, objects: ofClusters},
			storedAs{name: "new", phase: "Completed", began: hoursBefore(0), tarball: without, objects: ofClusters},
		)
		doc, _ := b.compare(w.reach()...)
		c := doc.Comparison
		if c.Best != best || !slices.Equal(c.Compared[0].Lacks, []string{"CertificateAbsent"}) {
			t.Errorf("best %s, want %s: %s, lacks %q", c.Best, best, c.Why, c.Compared[0].Lacks)
		}
		if said := b.sentence(w.reach()...); best == "new" && (!strings.HasPrefix(said, "The best is new: ") || !strings.Contains(said, "even so the answer is NO")) {
			t.Error(said)
		}
	}
}

// TestAListThatVelerosCountContradicts: it says nothing of what is in the backup.
func TestAListThatVelerosCountContradicts(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.store(
		storedAs{name: "old", phase: "Completed", began: hoursBefore(24), tarball: withoutWorkers(t, body), objects: ofClusters},
		storedAs{name: "new", phase: "Completed", began: hoursBefore(0), tarball: body, objects: ofApplication, status: map[string]any{"progress": map[string]any{"itemsBackedUp": 387}}},
	)
	doc, _ := b.compare(w.reach()...)
	if doc.Comparison.Best != "new" || doc.Backups[0].Empty || !strings.Contains(strings.Join(doc.Backups[0].Why, " "), "its list of objects is not used: it has 10 objects, and Velero counted 387") {
		t.Errorf("best %s, %+v", doc.Comparison.Best, doc.Backups[0])
	}
	b.store(storedAs{name: "new", phase: "Completed", began: hoursBefore(0), tarball: body, objects: `{"v1/ConfigMap":["shop/one"]}`, status: map[string]any{"progress": map[string]any{"itemsBackedUp": 1}}})
	for _, name := range []string{"small", "smaller"} { // the same list, believed
		b.store(storedAs{name: name, phase: "Completed", began: hoursBefore(-1), tarball: bareOf(t, body)[:20_000], objects: `{"v1/ConfigMap":["shop/one"]}`})
	}
	doc, _ = b.compare(w.reach()...)
	if doc.Comparison.Best != "new" || doc.Backups[2].Empty || !strings.Contains(strings.Join(doc.Backups[2].Why, " "), fmt.Sprintf("its list of objects is not used: it has 1 object, which do not make a tarball of %d bytes", len(body))) {
		t.Errorf("best %s, %+v", doc.Comparison.Best, doc.Backups[2])
	}
	if why := strings.Join(doc.Backups[0].Why, " "); !doc.Backups[0].Empty || !strings.Contains(why, "by what Velero noted, no cluster is in it: its list of objects has nothing of Cluster API") {
		t.Errorf("%+v", doc.Backups[0])
	}
	if report, _ := b.detected(w, "old"); !strings.Contains(report, `"NewerBackup"`) {
		t.Error("the newer one does not count")
	}
}

// TestWhatIsNotRecordedIsSaid: a time that is that of the tarball, or of a name, and a phase.
func TestWhatIsNotRecordedIsSaid(t *testing.T) {
	b := newBucket(t)
	b.store(
		storedAs{name: "bare", tarball: []byte("x")},
		storedAs{name: "n-20261119040600", tarball: []byte("x")},
		storedAs{name: "n-99991231000000", tarball: []byte("x")},
		storedAs{name: "silent", phase: "x", began: hoursBefore(3), tarball: []byte("x"), status: map[string]any{"phase": nil}},
		storedAs{name: "undated", phase: "Completed", tarball: []byte("x"), status: map[string]any{"startTimestamp": nil}},
	)
	list := b.run("backups", "s3://velero/mgmt")
	said := strings.Join(strings.Fields(list.stdout), " ")
	for _, want := range []string{"nothing says when it began: its time is when it was stored", "nothing says when it began but its name", "2026-11-19 04:06", "it was not finished (no phase is recorded)", "Left out: n-99991231000000, whose date is wrong: velero-backup.json is not beside the tarball"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, list.stdout)
		}
	}
}

// TestOfferedCommandsOfOddNames: a folder that looks like a flag, and names with bytes that no
// terminal shows, are read back by a shell as they are; which backups are meant is repeated.
func TestOfferedCommandsOfOddNames(t *testing.T) {
	_, body := wellBody(t)
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
		list := runProgram(t, "backups", "./"+root, "--schedule", "n", "--last", "3", "--since", "2026-01-01")
		list.demand(t, cli.ExitOK)
		offered := offeredIn(t, list.stdout)
		if len(offered) != 2 || !slices.Contains(offered[0], "--schedule") || !slices.Contains(offered[0], "--last") || !slices.Contains(offered[0], "--since") {
			t.Errorf("%q", offered)
		}
		for _, args := range offered {
			if o := runProgram(t, append(args, "--inventory", emptyInventory(t))...); o.code != cli.ExitOK && o.code != cli.ExitIncomplete {
				t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
			}
		}
	}
	refused := runProgram(t, "backups", "--", "-r")
	refused.demand(t, cli.ExitOK)
	for _, args := range offeredIn(t, refused.stdout) {
		if o := runProgram(t, append(args, "--inventory", emptyInventory(t))...); o.code != cli.ExitOK && o.code != cli.ExitIncomplete {
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
}
