package program

import (
	"os"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
)

// The newest that Velero can restore is read, of the schedule that is asked for, from a bucket and
// from a copy of it; what is newer and not offered is said.
func TestTheNewestIsRead(t *testing.T) {
	body, err := os.ReadFile(testdata + "fleet-data.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	b := newBucket(t)
	b.shapes(body, body)
	b.store(storedAs{name: "app-1", schedule: "app", phase: "Completed", began: backuptest.Written.Add(31 * time.Hour), tarball: backuptest.NewFormat("").Bytes(), objects: ofApplication})
	for _, tt := range []struct{ schedule, name string }{{"", "nightly-5"}, {"weekly", "weekly-2"}, {"nightly", "nightly-5"}} {
		run := []string{"check", "--backup", "s3://velero/mgmt", "--newest", "--format", "json"}
		if tt.schedule != "" {
			run = append(run, "--schedule", tt.schedule)
		}
		o := b.run(run...)
		if o.code != cli.ExitOK || !strings.Contains(o.stdout, tt.name+".tar.gz") || !strings.Contains(o.stderr, "backups/"+tt.name+" is the newest that Velero can restore: begun ") {
			t.Errorf("schedule %q: status %d, no %s in\n%s%.300s", tt.schedule, o.code, tt.name, o.stderr, o.stdout)
		}
		if tt.schedule != "weekly" && !strings.Contains(o.stderr, "nightly-7 is newer than this backup, and Velero does not offer it") {
			t.Errorf("schedule %q: what is newer is not said:\n%s", tt.schedule, o.stderr)
		}
	}
	o := runProgram(t, "check", "--backup", testdata+"bucket/mgmt-cluster-1", "--newest", "--format", "json")
	if o.code != cli.ExitOK || !strings.Contains(o.stdout, "mgmt-full.tar.gz") {
		t.Errorf("a folder: status %d: %s%.300s", o.code, o.stderr, o.stdout)
	}
}

// Two management clusters have a newest backup each, and nobody knows which is meant.
func TestTheNewestOfTwoIsRefused(t *testing.T) {
	b := newBucket(t)
	body := backuptest.NewFormat("").Bytes()
	b.store(
		storedAs{prefix: "east", name: "nightly-1", schedule: "nightly", phase: "Completed", began: backuptest.Written, tarball: body},
		storedAs{prefix: "west", name: "nightly-1", schedule: "nightly", phase: "Completed", began: backuptest.Written, tarball: body},
		storedAs{prefix: "one", name: "failed", phase: "Failed", began: backuptest.Written, tarball: body},
		storedAs{prefix: "two", name: "a", phase: "Completed", began: backuptest.Written, tarball: body, objects: `{"cluster.x-k8s.io/v1beta2/Cluster":["t/a"]}`},
		storedAs{prefix: "two", name: "b", phase: "Completed", began: backuptest.Written.Add(1), tarball: body, objects: `{"cluster.x-k8s.io/v1beta2/Cluster":["t/b"]}`},
	)
	for place, says := range map[string]string{
		"s3://velero/":     "holds backups of several management clusters",
		"s3://velero/two":  "holds backups of several management clusters",
		"s3://velero/one":  "holds no backup that Velero can restore",
		"s3://velero/none": "no backup of Velero is here",
	} {
		o := b.run("check", "--backup", place, "--newest")
		if o.code != cli.ExitUsage || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: status %d, no %q in\n%s", place, o.code, says, o.stderr)
		}
	}
	for _, args := range [][]string{{"--backup", "-", "--newest"}, {"--backup", "x", "--schedule", "nightly"}, {"--backup", "x", "--max-age", "soon"}, {"--backup", "x", "--max-age", "-1h"}} {
		if o := runProgram(t, append([]string{"check"}, args...)...); o.code != cli.ExitUsage {
			t.Errorf("%q: status %d: %s", args, o.code, o.stderr)
		}
	}
}

// Without lists of objects the tarballs tell whether the newest is of the only management cluster, and where
// they do not, it is not chosen: a schedule, or a warning, is what is left.
func TestTheNewestWithoutLists(t *testing.T) {
	_, body := wellBody(t)
	west := ofAnother(t, body, "west", true)
	bare := func(who string) []byte { return ofAnother(t, body, who, false) }
	at := backuptest.Written
	for name, tt := range map[string]struct {
		stored []storedAs
		code   cli.ExitCode
		says   string
	}{
		"one":                               {[]storedAs{{name: "a", began: at.Add(-time.Hour), tarball: body}, {name: "b", began: at, tarball: body}}, cli.ExitOK, "backups/b is the newest"},
		"one, and applications":             {[]storedAs{{name: "a", began: at.Add(-time.Hour), tarball: bareOf(t, body)}, {name: "b", began: at, tarball: body}}, cli.ExitOK, "backups/b is the newest"},
		"two":                               {[]storedAs{{name: "a", began: at.Add(-time.Hour), tarball: west}, {name: "b", began: at, tarball: body}}, cli.ExitUsage, "holds backups of several management clusters: the newest are s3://velero/mgmt/backups/b and s3://velero/mgmt/backups/a"},
		"two of one schedule":               {[]storedAs{{name: "a", schedule: "nightly", began: at.Add(-time.Hour), tarball: west}, {name: "b", schedule: "nightly", began: at, tarball: body}}, cli.ExitUsage, "holds backups of several management clusters"},
		"two of two schedules":              {[]storedAs{{name: "a", schedule: "weekly", began: at.Add(-time.Hour), tarball: west}, {name: "b", schedule: "nightly", began: at, tarball: body}}, cli.ExitUsage, "holds backups of several management clusters"},
		"a list of one of them":             {[]storedAs{{name: "a", schedule: "weekly", began: at.Add(-time.Hour), tarball: west}, {name: "b", schedule: "nightly", began: at, tarball: body, objects: ofEast}}, cli.ExitUsage, "holds backups of several management clusters"},
		"the oldest is another's":           {[]storedAs{{name: "a", began: at.Add(-3 * time.Hour), tarball: west}, {name: "b", began: at.Add(-2 * time.Hour), tarball: body}, {name: "c", began: at.Add(-time.Hour), tarball: body}, {name: "d", began: at, tarball: body}}, cli.ExitUsage, "the newest are s3://velero/mgmt/backups/d and s3://velero/mgmt/backups/a"},
		"nobody knows":                      {[]storedAs{{name: "a", schedule: "weekly", began: at.Add(-time.Hour), tarball: bare("west")}, {name: "b", schedule: "nightly", began: at, tarball: bare("east")}}, cli.ExitUsage, "whether s3://velero/mgmt/backups/b and s3://velero/mgmt/backups/a are of one management cluster is not known"},
		"one can't be read":                 {[]storedAs{{name: "a", schedule: "weekly", began: at.Add(-time.Hour), tarball: []byte("x")}, {name: "b", schedule: "nightly", began: at, tarball: body}}, cli.ExitUsage, "is not known: no list of objects (NAME-resource-list.json.gz) is beside both, and their tarballs do not tell ("},
		"two of one schedule, asked for":    {[]storedAs{{name: "a", schedule: "nightly", began: at.Add(-time.Hour), tarball: west}, {name: "b", schedule: "nightly", began: at, tarball: body}}, cli.ExitUsage, "give the backup itself, without --newest and --schedule, such as --backup s3://velero/mgmt/backups/b"},
		"nobody knows, and it is asked for": {[]storedAs{{name: "a", schedule: "nightly", began: at.Add(-time.Hour), tarball: bare("west")}, {name: "b", schedule: "nightly", began: at, tarball: bare("east")}}, cli.ExitOK, "their tarballs do not tell; the newest of schedule nightly is read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			for i := range tt.stored {
				tt.stored[i].phase = "Completed"
			}
			b.store(tt.stored...)
			run := []string{"check", "--backup", "s3://velero/mgmt", "--newest"}
			if strings.Contains(name, "asked for") {
				run = append(run, "--schedule", "nightly")
			}
			if o := b.run(run...); o.code != tt.code || !strings.Contains(o.stderr, tt.says) {
				t.Errorf("status %d, no %q in\n%s", o.code, tt.says, o.stderr)
			}
		})
	}
}

// A backup is old after --max-age, and --fail-on stale-backup fails then.
func TestAStaleBackupFails(t *testing.T) {
	w := well(t)
	for age, want := range map[string]cli.ExitCode{"1h": cli.ExitFailOn, "1000000h": cli.ExitOK} {
		o := w.detect("--max-age", age, "--fail-on", "stale-backup")
		if o.code != want || strings.Contains(o.stderr, " is stale: written ") != (want == cli.ExitFailOn) || strings.Contains(o.stderr, " old, more than 1h00m") != (want == cli.ExitFailOn) {
			t.Errorf("%s: status %d, want %d: %s", age, o.code, want, o.stderr)
		}
	}
}

// check and releases fail of the same backups; inventory, which has no findings, warns.
func TestAStaleBackupFailsEverywhere(t *testing.T) {
	t.Parallel()
	fleet := testdata + "fleet-data.tar.gz"
	for _, command := range []string{"check", "releases"} {
		for age, want := range map[string]cli.ExitCode{"1m": cli.ExitFailOn, "1000000h": cli.ExitOK} {
			o := runProgram(t, command, "--backup", fleet, "--max-age", age, "--fail-on", "stale-backup")
			if o.code != want || strings.Contains(o.stderr, "--fail-on stale-backup: ") != (want == cli.ExitFailOn) || strings.Contains(o.stderr+o.stdout, " old, more than 1m00s") != (want == cli.ExitFailOn) {
				t.Errorf("%s %s: status %d, want %d: %s%s", command, age, o.code, want, o.stderr, o.stdout)
			}
		}
		if o := runProgram(t, command, "--kubeconfig", "missing", "--fail-on", "stale-backup"); o.code != cli.ExitUsage || !strings.Contains(o.stderr, "--fail-on stale-backup is about a restore") {
			t.Errorf("%s: status %d: %s", command, o.code, o.stderr)
		}
	}
	both := runProgram(t, "check", "--backup", fleet, "--max-age", "1m", "--fail-on", "error, stale-backup")
	if both.code != cli.ExitFailOn || !strings.Contains(both.stderr, "--fail-on error,stale-backup: found ") || !strings.Contains(both.stderr, " is stale: ") {
		t.Errorf("status %d: %s", both.code, both.stderr)
	}
	o := runProgram(t, "releases", "--backup", fleet, "--max-age", "1m", "--format", "json")
	if o.code != cli.ExitOK || !strings.Contains(o.stdout, `"stale": "written `) {
		t.Errorf("status %d: %s%s", o.code, o.stderr, o.stdout)
	}
}
