package program

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
)

// scheduled stores backups of a schedule as Velero names them, the newest at a time, and each stored
// when it was made.
func (b *inBucket) scheduled(schedule string, from time.Time, every time.Duration, n int, tarball []byte, objects string) {
	for i := range n {
		at := from.Add(-time.Duration(i) * every)
		b.store(storedAs{name: nameAt(schedule, at), schedule: schedule, phase: "Completed", began: at, tarball: tarball, objects: objects})
	}
}

func nameAt(schedule string, at time.Time) string {
	return schedule + "-" + at.UTC().Format("20060102150405")
}

// stored returns when a file was stored: when the backup was made.
func stored(key string) time.Time {
	name := strings.Split(key, "/")[2]
	at, _ := time.Parse("20060102150405", name[strings.LastIndexByte(name, '-')+1:])
	return at
}

// descriptions returns how many were read since the last time.
func (b *inBucket) descriptions() (n int) {
	for _, call := range b.Calls() {
		if strings.HasSuffix(call, "velero-backup.json") {
			n++
		}
	}
	return n
}

// TestAnotherScheduleThatWasNotAskedForIsSaid: what --schedule names is no more than the newest of
// that schedule; what is newer is counted by its name, and few of those are described.
func TestAnotherScheduleThatWasNotAskedForIsSaid(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	end := backuptest.Written
	b.scheduled("weekly", end.Add(-100*time.Hour), 7*24*time.Hour, 12, body, ofClusters)
	b.scheduled("nightly", end, 24*time.Hour, 120, body, ofClusters)
	b.scheduled("hourly", end, time.Hour, 200, []byte("x"), ofApplication)
	b.Calls()
	newest := nameAt("weekly", end.Add(-100*time.Hour))
	t.Chdir(t.TempDir())
	for _, last := range []string{"", "--last 1"} {
		list := b.run(append([]string{"backups", "s3://velero/mgmt", "--schedule", "weekly"}, strings.Fields(last)...)...)
		list.demand(t, cli.ExitOK)
		if n := b.descriptions(); n > 40 {
			t.Errorf("%s: %d descriptions were read", last, n)
		}
		said := strings.Join(strings.Fields(list.stdout), " ")
		for _, want := range []string{
			strings.TrimSpace("The newest that can be restored with --schedule weekly "+last) + " is " + newest + ";",
			" of other schedules, or of none, were not asked for, ", " newer ones among them: the newest is ", ". With those: drift-detector backups s3://velero/mgmt --compare --s3-profile dr --s3-endpoint " + b.URL + strings.TrimRight(" "+last, " ") + " ",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("no %q in\n%s", want, list.stdout)
			}
		}
		if strings.Contains(list.stdout, "nightly-") && strings.Contains(list.stdout, "\nnightly-") {
			t.Error(list.stdout)
		}
	}
	doc, _ := b.list("--schedule", "weekly")
	if o := doc.Summary.Roots[0].Others; o == nil || o.Backups != 312 || o.Newer != 97 || o.Newest != nameAt("nightly", end) || doc.Summary.Left != 0 {
		t.Errorf("%+v, %d older", o, doc.Summary.Left)
	}
	compared, _ := b.compare(append(w.reach(), "--schedule", "weekly", "--last", "1")...)
	if why := compared.Comparison.Why; !strings.HasPrefix(why, "it is the newest with --schedule weekly, and no other that was compared is better") || !strings.Contains(why, "312 backups of other schedules, or of none, were not asked for, 97 newer ones among them: the newest is "+nameAt("nightly", end)) {
		t.Error(why)
	}
	if report, _ := b.detected(w, newest); !strings.Contains(report, `"NewerBackup"`) || compared.Comparison.Compared[0].Safe != "unknown" {
		t.Errorf("compared it is %s", compared.Comparison.Compared[0].Safe)
	}
}

// TestBehindAnotherManagementClusterIsANewerOne: the newest of a schedule may be of a management cluster
// that goes on, and those of the lost one are behind more than are described at first. What compare
// says of a backup is what detect says of it alone.
func TestBehindAnotherManagementClusterIsANewerOne(t *testing.T) {
	w, body := wellBody(t)
	west := ofAnother(t, body, "west", true)
	b := newBucket(t)
	b.scheduled("nightly", hoursBefore(0), 24*time.Hour, 40, west, ofWest)
	b.scheduled("nightly", hoursBefore(24*40), 24*time.Hour, 3, body, ofEast)
	b.scheduled("weekly", hoursBefore(24*41+1), 7*24*time.Hour, 2, body, ofEast)
	b.Dated(stored)
	newest := nameAt("weekly", hoursBefore(24*41+1))
	alone, _ := b.detected(w, newest)
	if !strings.Contains(alone, `"NewerBackup"`) {
		t.Fatal("detect does not find it")
	}
	for _, args := range [][]string{{"--schedule", "weekly"}, {"--schedule", "weekly", "--last", "1"}, {"--last", "1"}} {
		doc, _ := b.compare(append(w.reach(), args...)...)
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
	b := newBucket(t)
	for _, schedule := range []string{"weekly", "nightly"} {
		b.scheduled(schedule, hoursBefore(0), 24*time.Hour, 3, []byte("x"), ofClusters)
	}
	b.Dated(stored)
	for args, want := range map[string]string{
		"--schedule nope":              "--schedule nope: s3://velero/mgmt holds no backup of such a schedule; it holds those of nightly, weekly",
		"--schedule week*":             "--schedule week*: s3://velero/mgmt holds no backup of such a schedule;",
		"--schedule {weekly,nightly}":  "holds no backup of such a schedule;",
		"--schedule weekly --since 1h": "--schedule weekly: s3://velero/mgmt holds no backup of such a schedule begun since 1h;",
	} {
		if o := b.run(append([]string{"backups", "s3://velero/mgmt"}, strings.Fields(args)...)...); o.code != cli.ExitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: status %d: %s", args, o.code, o.stderr)
		}
	}
}

// TestAScheduleIsNoName: a person may name a backup as another schedule does.
func TestAScheduleIsNoName(t *testing.T) {
	b := newBucket(t)
	end := backuptest.Written
	b.scheduled("nightly", end.Add(-24*time.Hour), 24*time.Hour, 30, []byte("x"), ofClusters)
	b.store(
		storedAs{name: nameAt("nightly", end), schedule: "weekly", phase: "Completed", began: end, tarball: []byte("x"), objects: ofClusters},
		storedAs{name: nameAt("nightly", end.Add(-29*24*time.Hour-time.Minute)), schedule: "weekly", phase: "Completed", began: end.Add(-29 * 24 * time.Hour), tarball: []byte("x"), objects: ofClusters},
		storedAs{name: "mine", schedule: "weekly", phase: "Completed", began: end.Add(-time.Hour), tarball: []byte("x"), objects: ofClusters},
	)
	doc, _ := b.list("--schedule", "weekly", "--last", "5")
	var names []string
	for _, row := range doc.Backups {
		names = append(names, row.Name)
	}
	if !slices.Contains(names, "mine") || !slices.Contains(names, nameAt("nightly", end)) || doc.Summary.Newest != nameAt("nightly", end) {
		t.Errorf("%q, newest %s", names, doc.Summary.Newest)
	}
}

// TestWhatSinceLeavesOutIsComparedByAnOlderSince: the flags that are offered are those of the run, and
// compare more each time, until nothing is left out.
func TestWhatSinceLeavesOutIsComparedByAnOlderSince(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.scheduled("weekly", hoursBefore(0), 7*24*time.Hour, 6, body, ofClusters)
	b.scheduled("nightly", hoursBefore(1), 24*time.Hour, 3, body, ofClusters)
	b.Dated(stored)
	t.Chdir(t.TempDir())
	args := append([]string{"backups", "s3://velero/mgmt", "--compare", "--schedule", "weekly", "--since", hoursBefore(24).UTC().Format(time.RFC3339), "--last", "1"}, w.reach()...)
	args = append(args, b.args...)
	before := 100
	for range 8 {
		o := runProgram(t, args...)
		o.demand(t, cli.ExitOK)
		var more []string
		for _, offered := range offeredIn(t, o.stdout) {
			if offered[0] == "backups" {
				more = offered
			}
		}
		n := 0
		said := strings.Join(strings.Fields(o.stdout), " ")
		_, rest, found := strings.Cut(said, "no other that was compared is better; ")
		if _, err := fmt.Sscanf(rest, "%d other", &n); !found || err != nil {
			if more != nil {
				t.Errorf("%q for nothing:\n%s", more, o.stdout)
			}
			return
		}
		if n >= before || more == nil || !slices.Contains(more, "--since") || !slices.Contains(more, "weekly") {
			t.Fatalf("%d, before %d: %q\n%s", n, before, more, o.stdout)
		}
		before, args = n, more
	}
	t.Error("it does not end")
}

// TestOneClusterOfABucketIsSaid: the best for one cluster need not be the best.
func TestOneClusterOfABucketIsSaid(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	b.store(storedAs{name: "one", phase: "Completed", began: hoursBefore(1), tarball: body, objects: ofClusters})
	const said = "no other cluster was looked at than those of --cluster tenant-alpha/alpha-prod"
	if all := b.sentence(w.reach()...); strings.Contains(all, said) {
		t.Error(all)
	}
	if one := b.sentence(append(w.reach(), "--cluster", "tenant-alpha/alpha-prod")...); !strings.Contains(one, said) {
		t.Error(one)
	}
}

// TestPlacesWithPatternsAreMeantAsTyped: braces and the like in a prefix, a folder, a schedule or the name
// of a backup are letters, a shell reads the commands back so, and what is not there is said.
func TestPlacesWithPatternsAreMeantAsTyped(t *testing.T) {
	w, body := wellBody(t)
	b := newBucket(t)
	odd := "mgmt-{a,b}*[x]"
	for _, prefix := range []string{odd, "mgmt-a"} {
		b.store(storedAs{prefix: prefix, name: "n{1,2}*", schedule: "night{ly}", phase: "Completed", began: hoursBefore(1), tarball: body, objects: ofClusters})
	}
	t.Chdir(t.TempDir())
	list := b.run("backups", "s3://velero/"+odd, "--schedule", "night{ly}")
	list.demand(t, cli.ExitOK)
	if strings.Contains(list.stdout, "mgmt-a") || !strings.Contains(list.stdout, "1 backup with --schedule night{ly}, 1 can be") {
		t.Error(list.stdout)
	}
	for _, args := range offeredIn(t, list.stdout) {
		if o := runProgram(t, append(args, w.reach()...)...); o.code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
	for _, args := range [][]string{
		{"backups", "s3://velero/mgmt-*"},
		{"backups", "s3://velero/mgmt-{a,c}"},
		{"backups", "mgmt-*"},
		{"backups", "./{a,b}"},
		{"detect", "--backup", "s3://velero/mgmt-a/backups/n*"},
		{"detect", "--backup", "*.tar.gz"},
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--report", "n*", "-o", "r.json"}, w.reach()...),
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--cluster", "tenant-alpha/{alpha,beta}-prod"}, w.reach()...),
		append([]string{"backups", "s3://velero/mgmt-a", "--compare", "--cluster", "tenant-alpha/alpha-*"}, w.reach()...),
	} {
		if o := b.run(args...); o.code != cli.ExitUsage || !strings.Contains(o.stderr, "error: ") {
			t.Errorf("%q: status %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
}
