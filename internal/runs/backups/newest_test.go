package backups_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// The newest that Velero can restore is read, of the schedule that is asked for, from a bucket and
// from a copy of it; what is newer and not offered is said.
func TestTheNewestIsRead(t *testing.T) {
	body, err := os.ReadFile(runs.Testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	b := runs.NewBucket(t)
	b.Shapes(body, body)
	b.Add(runs.StoredAs{Name: "app-1", Schedule: "app", Phase: "Completed", Began: backuptest.Written.Add(31 * time.Hour), Tarball: backuptest.NewFormat("").Bytes(), Objects: runs.OfApplication})
	for _, tt := range []struct{ schedule, name string }{{"", "nightly-5"}, {"weekly", "weekly-2"}, {"nightly", "nightly-5"}} {
		run := []string{"check", "--backup", "s3://velero/mgmt", "--newest", "--format", "json"}
		if tt.schedule != "" {
			run = append(run, "--schedule", tt.schedule)
		}
		o := b.Run(run...)
		if o.Code != cli.ExitOK || !strings.Contains(o.Stdout, tt.name+".tar.gz") || !strings.Contains(o.Stderr, "backups/"+tt.name+" is the newest that Velero can restore: begun ") {
			t.Errorf("schedule %q: status %d, no %s in\n%s%.300s", tt.schedule, o.Code, tt.name, o.Stderr, o.Stdout)
		}
		if tt.schedule != "weekly" && !strings.Contains(o.Stderr, "nightly-7 is newer than this backup, and Velero does not offer it") {
			t.Errorf("schedule %q: what is newer is not said:\n%s", tt.schedule, o.Stderr)
		}
	}
	o := runs.Run(t, "check", "--backup", runs.Testdata+"bucket/mgmt-cluster-1", "--newest", "--format", "json")
	if o.Code != cli.ExitOK || !strings.Contains(o.Stdout, "mgmt-full.tar.gz") {
		t.Errorf("a folder: status %d: %s%.300s", o.Code, o.Stderr, o.Stdout)
	}
}

// Two management clusters have a newest backup each, and nobody knows which is meant.
func TestTheNewestOfTwoIsRefused(t *testing.T) {
	b := runs.NewBucket(t)
	body := backuptest.NewFormat("").Bytes()
	b.Add(
		runs.StoredAs{Prefix: "east", Name: "nightly-1", Schedule: "nightly", Phase: "Completed", Began: backuptest.Written, Tarball: body},
		runs.StoredAs{Prefix: "west", Name: "nightly-1", Schedule: "nightly", Phase: "Completed", Began: backuptest.Written, Tarball: body},
		runs.StoredAs{Prefix: "one", Name: "failed", Phase: "Failed", Began: backuptest.Written, Tarball: body},
		runs.StoredAs{Prefix: "two", Name: "a", Phase: "Completed", Began: backuptest.Written, Tarball: body, Objects: `{"cluster.x-k8s.io/v1beta2/Cluster":["t/a"]}`},
		runs.StoredAs{Prefix: "two", Name: "b", Phase: "Completed", Began: backuptest.Written.Add(1), Tarball: body, Objects: `{"cluster.x-k8s.io/v1beta2/Cluster":["t/b"]}`},
	)
	for place, says := range map[string]string{
		"s3://velero/":     "holds backups of several management clusters",
		"s3://velero/two":  "holds backups of several management clusters",
		"s3://velero/one":  "holds no backup that Velero can restore",
		"s3://velero/none": "no backup of Velero is here",
	} {
		o := b.Run("check", "--backup", place, "--newest")
		if o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, says) {
			t.Errorf("%s: status %d, no %q in\n%s", place, o.Code, says, o.Stderr)
		}
	}
	for _, args := range [][]string{{"--backup", "-", "--newest"}, {"--backup", "x", "--schedule", "nightly"}, {"--backup", "x", "--max-age", "soon"}, {"--backup", "x", "--max-age", "-1h"}} {
		if o := runs.Run(t, append([]string{"check"}, args...)...); o.Code != cli.ExitUsage {
			t.Errorf("%q: status %d: %s", args, o.Code, o.Stderr)
		}
	}
}

// Without lists of objects the tarballs tell whether the newest is of the only management cluster, and where
// they do not, it is not chosen: a schedule, or a warning, is what is left.
func TestTheNewestWithoutLists(t *testing.T) {
	_, body := runs.WellBody(t)
	west := runs.OfAnother(t, body, "west", true)
	bare := func(who string) []byte { return runs.OfAnother(t, body, who, false) }
	at := backuptest.Written
	for name, tt := range map[string]struct {
		stored []runs.StoredAs
		code   cli.ExitCode
		says   string
	}{
		"one":                               {[]runs.StoredAs{{Name: "a", Began: at.Add(-time.Hour), Tarball: body}, {Name: "b", Began: at, Tarball: body}}, cli.ExitOK, "backups/b is the newest"},
		"one, and applications":             {[]runs.StoredAs{{Name: "a", Began: at.Add(-time.Hour), Tarball: bareOf(t, body)}, {Name: "b", Began: at, Tarball: body}}, cli.ExitOK, "backups/b is the newest"},
		"two":                               {[]runs.StoredAs{{Name: "a", Began: at.Add(-time.Hour), Tarball: west}, {Name: "b", Began: at, Tarball: body}}, cli.ExitUsage, "holds backups of several management clusters: the newest are s3://velero/mgmt/backups/b and s3://velero/mgmt/backups/a"},
		"two of one schedule":               {[]runs.StoredAs{{Name: "a", Schedule: "nightly", Began: at.Add(-time.Hour), Tarball: west}, {Name: "b", Schedule: "nightly", Began: at, Tarball: body}}, cli.ExitUsage, "holds backups of several management clusters"},
		"two of two schedules":              {[]runs.StoredAs{{Name: "a", Schedule: "weekly", Began: at.Add(-time.Hour), Tarball: west}, {Name: "b", Schedule: "nightly", Began: at, Tarball: body}}, cli.ExitUsage, "holds backups of several management clusters"},
		"a list of one of them":             {[]runs.StoredAs{{Name: "a", Schedule: "weekly", Began: at.Add(-time.Hour), Tarball: west}, {Name: "b", Schedule: "nightly", Began: at, Tarball: body, Objects: runs.OfEast}}, cli.ExitUsage, "holds backups of several management clusters"},
		"the oldest is another's":           {[]runs.StoredAs{{Name: "a", Began: at.Add(-3 * time.Hour), Tarball: west}, {Name: "b", Began: at.Add(-2 * time.Hour), Tarball: body}, {Name: "c", Began: at.Add(-time.Hour), Tarball: body}, {Name: "d", Began: at, Tarball: body}}, cli.ExitUsage, "the newest are s3://velero/mgmt/backups/d and s3://velero/mgmt/backups/a"},
		"nobody knows":                      {[]runs.StoredAs{{Name: "a", Schedule: "weekly", Began: at.Add(-time.Hour), Tarball: bare("west")}, {Name: "b", Schedule: "nightly", Began: at, Tarball: bare("east")}}, cli.ExitUsage, "whether s3://velero/mgmt/backups/b and s3://velero/mgmt/backups/a are of one management cluster is not known"},
		"one can't be read":                 {[]runs.StoredAs{{Name: "a", Schedule: "weekly", Began: at.Add(-time.Hour), Tarball: []byte("x")}, {Name: "b", Schedule: "nightly", Began: at, Tarball: body}}, cli.ExitUsage, "is not known: no list of objects (NAME-resource-list.json.gz) is beside both, and their tarballs do not tell ("},
		"two of one schedule, asked for":    {[]runs.StoredAs{{Name: "a", Schedule: "nightly", Began: at.Add(-time.Hour), Tarball: west}, {Name: "b", Schedule: "nightly", Began: at, Tarball: body}}, cli.ExitUsage, "give the backup itself, without --newest and --schedule, such as --backup s3://velero/mgmt/backups/b"},
		"nobody knows, and it is asked for": {[]runs.StoredAs{{Name: "a", Schedule: "nightly", Began: at.Add(-time.Hour), Tarball: bare("west")}, {Name: "b", Schedule: "nightly", Began: at, Tarball: bare("east")}}, cli.ExitOK, "their tarballs do not tell; the newest of schedule nightly is read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := runs.NewBucket(t)
			for i := range tt.stored {
				tt.stored[i].Phase = "Completed"
			}
			b.Add(tt.stored...)
			run := []string{"check", "--backup", "s3://velero/mgmt", "--newest"}
			if strings.Contains(name, "asked for") {
				run = append(run, "--schedule", "nightly")
			}
			if o := b.Run(run...); o.Code != tt.code || !strings.Contains(o.Stderr, tt.says) {
				t.Errorf("status %d, no %q in\n%s", o.Code, tt.says, o.Stderr)
			}
		})
	}
}

// A backup is old after --max-age, and --fail-on stale-backup fails then.
func TestAStaleBackupFails(t *testing.T) {
	w := runs.Well(t)
	for age, want := range map[string]cli.ExitCode{"1h": cli.ExitFailOn, "1000000h": cli.ExitOK} {
		o := w.Detect("--max-age", age, "--fail-on", "stale-backup")
		if o.Code != want || strings.Contains(o.Stderr, " is stale: written ") != (want == cli.ExitFailOn) || strings.Contains(o.Stderr, " old, more than 1h00m") != (want == cli.ExitFailOn) {
			t.Errorf("%s: status %d, want %d: %s", age, o.Code, want, o.Stderr)
		}
	}
}

// check and releases fail of the same backups; inventory, which has no findings, warns.
func TestAStaleBackupFailsEverywhere(t *testing.T) {
	t.Parallel()
	fleet := runs.Testdata + "fleet-data.tar.gz"
	for _, command := range []string{"check", "releases"} {
		for age, want := range map[string]cli.ExitCode{"1m": cli.ExitFailOn, "1000000h": cli.ExitOK} {
			o := runs.Run(t, command, "--backup", fleet, "--max-age", age, "--fail-on", "stale-backup")
			if o.Code != want || strings.Contains(o.Stderr, "--fail-on stale-backup: ") != (want == cli.ExitFailOn) || strings.Contains(o.Stderr+o.Stdout, " old, more than 1m00s") != (want == cli.ExitFailOn) {
				t.Errorf("%s %s: status %d, want %d: %s%s", command, age, o.Code, want, o.Stderr, o.Stdout)
			}
		}
		if o := runs.Run(t, command, "--kubeconfig", "missing", "--fail-on", "stale-backup"); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "--fail-on stale-backup is about a restore") {
			t.Errorf("%s: status %d: %s", command, o.Code, o.Stderr)
		}
	}
	both := runs.Run(t, "check", "--backup", fleet, "--max-age", "1m", "--fail-on", "error, stale-backup")
	if both.Code != cli.ExitFailOn || !strings.Contains(both.Stderr, "--fail-on error,stale-backup: found ") || !strings.Contains(both.Stderr, " is stale: ") {
		t.Errorf("status %d: %s", both.Code, both.Stderr)
	}
	o := runs.Run(t, "releases", "--backup", fleet, "--max-age", "1m", "--format", "json")
	if o.Code != cli.ExitOK || !strings.Contains(o.Stdout, `"stale": "written `) {
		t.Errorf("status %d: %s%s", o.Code, o.Stderr, o.Stdout)
	}
}
