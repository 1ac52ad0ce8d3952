package backups_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// stored returns when a file was stored: when the backup was made.
func stored(key string) time.Time {
	name := strings.Split(key, "/")[2]
	at, _ := time.Parse("20060102150405", name[strings.LastIndexByte(name, '-')+1:])
	return at
}

// TestAnotherScheduleThatWasNotAskedForIsSaid: what --schedule names is no more than the newest of
// that schedule; what is newer is counted by its name, and few of those are described.
func TestAnotherScheduleThatWasNotAskedForIsSaid(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	end := backuptest.Written
	b.Scheduled("weekly", end.Add(-100*time.Hour), 7*24*time.Hour, 12, body, runs.OfClusters)
	b.Scheduled("nightly", end, 24*time.Hour, 120, body, runs.OfClusters)
	b.Scheduled("hourly", end, time.Hour, 200, []byte("x"), runs.OfApplication)
	b.Calls()
	newest := runs.NameAt("weekly", end.Add(-100*time.Hour))
	t.Chdir(t.TempDir())
	for _, last := range []string{"", "--last 1"} {
		list := b.Run(append([]string{"backups", "s3://velero/mgmt", "--schedule", "weekly"}, strings.Fields(last)...)...)
		list.Demand(t, cli.ExitOK)
		if n := b.Descriptions(); n > 40 {
			t.Errorf("%s: %d descriptions were read", last, n)
		}
		said := strings.Join(strings.Fields(list.Stdout), " ")
		for _, want := range []string{
			strings.TrimSpace("The newest that can be restored with --schedule weekly "+last) + " is " + newest + ";",
			" of other schedules, or of none, were not asked for, ", " newer ones among them: the newest is ", ". With those: drift-detector backups s3://velero/mgmt --compare --s3-profile dr --s3-endpoint " + b.URL + strings.TrimRight(" "+last, " ") + " ",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in\n%s", want, list.Stdout)
			}
		}
		if strings.Contains(list.Stdout, "nightly-") && strings.Contains(list.Stdout, "\nnightly-") {
			t.Error(list.Stdout)
		}
	}
	doc, _ := b.List("--schedule", "weekly")
	if o := doc.Summary.Roots[0].Others; o == nil || o.Backups != 312 || o.Newer != 97 || o.Newest != runs.NameAt("nightly", end) || doc.Summary.Left != 0 {
		t.Errorf("%+v, %d older", o, doc.Summary.Left)
	}
	compared, _ := b.Compare(append(w.Reach(), "--schedule", "weekly", "--last", "1")...)
	if why := compared.Comparison.Why; !strings.HasPrefix(why, "it is the newest with --schedule weekly, and no other that was compared is better") || !strings.Contains(why, "312 backups of other schedules, or of none, were not asked for, 97 newer ones among them: the newest is "+runs.NameAt("nightly", end)) {
		t.Error(why)
	}
	if report, _ := b.Detected(w, newest); !strings.Contains(report, `"NewerBackup"`) || compared.Comparison.Compared[0].Safe != "unknown" {
		t.Errorf("compared it is %s", compared.Comparison.Compared[0].Safe)
	}
}

// TestBehindAnotherManagementClusterIsANewerOne: the newest of a schedule may be of a management cluster
// that goes on, and those of the lost one are behind more than are described at first. What compare
// says of a backup is what detect says of it alone.
func TestBehindAnotherManagementClusterIsANewerOne(t *testing.T) {
	w, body := runs.WellBody(t)
	west := runs.OfAnother(t, body, "west", true)
	b := runs.NewBucket(t)
	b.Scheduled("nightly", runs.HoursBefore(0), 24*time.Hour, 40, west, runs.OfWest)
	b.Scheduled("nightly", runs.HoursBefore(24*40), 24*time.Hour, 3, body, runs.OfEast)
	b.Scheduled("weekly", runs.HoursBefore(24*41+1), 7*24*time.Hour, 2, body, runs.OfEast)
	b.Dated(stored)
	newest := runs.NameAt("weekly", runs.HoursBefore(24*41+1))
	alone, _ := b.Detected(w, newest)
	if !strings.Contains(alone, `"NewerBackup"`) {
		t.Fatal("detect does not find it")
	}
	for _, args := range [][]string{{"--schedule", "weekly"}, {"--schedule", "weekly", "--last", "1"}, {"--last", "1"}} {
		doc, _ := b.Compare(append(w.Reach(), args...)...)
		for _, row := range doc.Comparison.Compared {
			if row.Name == newest && row.Safe != "unknown" {
				t.Errorf("%s: %s is %s: %s", args, row.Name, row.Safe, doc.Comparison.Why)
			}
		}
	}
}

// TestAScheduleThatIsNot: --schedule is a name as it is typed, and no pattern; that none was found says
// how far was looked.
func TestAScheduleThatIsNot(t *testing.T) {
	b := runs.NewBucket(t)
	for _, schedule := range []string{"weekly", "nightly"} {
		b.Scheduled(schedule, runs.HoursBefore(0), 24*time.Hour, 3, []byte("x"), runs.OfClusters)
	}
	b.Dated(stored)
	for args, want := range map[string]string{
		"--schedule nope":              "--schedule nope: s3://velero/mgmt holds no backup of such a schedule; it holds those of nightly, weekly",
		"--schedule week*":             "--schedule week*: s3://velero/mgmt holds no backup of such a schedule;",
		"--schedule {weekly,nightly}":  "holds no backup of such a schedule;",
		"--schedule weekly --since 1h": "--schedule weekly: s3://velero/mgmt holds no backup of such a schedule begun since 1h;",
	} {
		if o := b.Run(append([]string{"backups", "s3://velero/mgmt"}, strings.Fields(args)...)...); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: status %d: %s", args, o.Code, o.Stderr)
		}
	}
}

// TestAScheduleIsNoName: a person may name a backup as another schedule does.
func TestAScheduleIsNoName(t *testing.T) {
	b := runs.NewBucket(t)
	end := backuptest.Written
	b.Scheduled("nightly", end.Add(-24*time.Hour), 24*time.Hour, 30, []byte("x"), runs.OfClusters)
	b.Add(
		runs.StoredAs{Name: runs.NameAt("nightly", end), Schedule: "weekly", Phase: "Completed", Began: end, Tarball: []byte("x"), Objects: runs.OfClusters},
		runs.StoredAs{Name: runs.NameAt("nightly", end.Add(-29*24*time.Hour-time.Minute)), Schedule: "weekly", Phase: "Completed", Began: end.Add(-29 * 24 * time.Hour), Tarball: []byte("x"), Objects: runs.OfClusters},
		runs.StoredAs{Name: "mine", Schedule: "weekly", Phase: "Completed", Began: end.Add(-time.Hour), Tarball: []byte("x"), Objects: runs.OfClusters},
	)
	doc, _ := b.List("--schedule", "weekly", "--last", "5")
	var names []string
	for _, row := range doc.Backups {
		names = append(names, row.Name)
	}
	if !slices.Contains(names, "mine") || !slices.Contains(names, runs.NameAt("nightly", end)) || doc.Summary.Newest != runs.NameAt("nightly", end) {
		t.Errorf("%q, newest %s", names, doc.Summary.Newest)
	}
}

// TestWhatSinceLeavesOutIsComparedByAnOlderSince: the flags that are offered are those of the run, and
// compare more each time, until nothing is left out.
func TestWhatSinceLeavesOutIsComparedByAnOlderSince(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Scheduled("weekly", runs.HoursBefore(0), 7*24*time.Hour, 6, body, runs.OfClusters)
	b.Scheduled("nightly", runs.HoursBefore(1), 24*time.Hour, 3, body, runs.OfClusters)
	b.Dated(stored)
	t.Chdir(t.TempDir())
	args := append([]string{"backups", "s3://velero/mgmt", "--compare", "--schedule", "weekly", "--since", runs.HoursBefore(24).UTC().Format(time.RFC3339), "--last", "1"}, w.Reach()...)
	args = append(args, b.Args...)
	before := 100
	for range 8 {
		o := runs.Run(t, args...)
		o.Demand(t, cli.ExitOK)
		var more []string
		for _, offered := range offeredIn(t, o.Stdout) {
			if offered[0] == "backups" {
				more = offered
			}
		}
		n := 0
		said := strings.Join(strings.Fields(o.Stdout), " ")
		_, rest, found := strings.Cut(said, "no other that was compared is better; ")
		if _, err := fmt.Sscanf(rest, "%d other", &n); !found || err != nil {
			if more != nil {
				t.Errorf("%q for nothing:\n%s", more, o.Stdout)
			}
			return
		}
		if n >= before || more == nil || !slices.Contains(more, "--since") || !slices.Contains(more, "weekly") {
			t.Fatalf("%d, before %d: %q\n%s", n, before, more, o.Stdout)
		}
		before, args = n, more
	}
	t.Error("it does not end")
}

// TestOneClusterOfABucketIsSaid: the best for one cluster need not be the best.
func TestOneClusterOfABucketIsSaid(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	b.Add(runs.StoredAs{Name: "one", Phase: "Completed", Began: runs.HoursBefore(1), Tarball: body, Objects: runs.OfClusters})
	const said = "no other cluster was looked at than those of --cluster tenant-alpha/alpha-prod"
	if all := b.Sentence(w.Reach()...); strings.Contains(all, said) {
		t.Error(all)
	}
	if one := b.Sentence(append(w.Reach(), "--cluster", "tenant-alpha/alpha-prod")...); !strings.Contains(one, said) {
		t.Error(one)
	}
}

// TestPlacesWithPatternsAreMeantAsTyped: braces and the like in a prefix, a folder, a schedule or the name
// of a backup are letters, a shell reads the commands back so, and what is not there is said.
func TestPlacesWithPatternsAreMeantAsTyped(t *testing.T) {
	w, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	odd := "mgmt-{a,b}*[x]"
	for _, prefix := range []string{odd, "mgmt-a"} {
		b.Add(runs.StoredAs{Prefix: prefix, Name: "n{1,2}*", Schedule: "night{ly}", Phase: "Completed", Began: runs.HoursBefore(1), Tarball: body, Objects: runs.OfClusters})
	}
	t.Chdir(t.TempDir())
	list := b.Run("backups", "s3://velero/"+odd, "--schedule", "night{ly}")
	list.Demand(t, cli.ExitOK)
	if strings.Contains(list.Stdout, "mgmt-a") || !strings.Contains(list.Stdout, "1 backup with --schedule night{ly}, 1 can be") {
		t.Error(list.Stdout)
	}
	for _, args := range offeredIn(t, list.Stdout) {
		if o := runs.Run(t, append(args, w.Reach()...)...); o.Code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
	for _, args := range [][]string{
		{"backups", "s3://velero/mgmt-*"},
		{"backups", "s3://velero/mgmt-{a,c}"},
		{"backups", "mgmt-*"},
		{"backups", "./{a,b}"},
		{"detect", "--backup", "s3://velero/mgmt-a/backups/n*"},
		{"detect", "--backup", "*.tar.gz"},
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--report", "n*", "-o", "r.json"}, w.Reach()...),
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--cluster", "tenant-alpha/{alpha,beta}-prod"}, w.Reach()...),
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--cluster", "tenant-alpha/alpha-*"}, w.Reach()...),
	} {
		if o := b.Run(args...); o.Code != cli.ExitUsage || !strings.Contains(o.Stderr, "error: ") {
			t.Errorf("%q: status %d\n%s%s", args, o.Code, o.Stdout, o.Stderr)
		}
	}
}
