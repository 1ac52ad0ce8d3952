package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/backups"
)

// TestABucketAsPeopleHaveIt: twelve months of three schedules of one management cluster, those
// of another one, applications, and what did not end well: the right one of each is in the
// first lines, on 80 columns, and compare says of each what detect says.
func TestABucketAsPeopleHaveIt(t *testing.T) {
	w, body := wellBody(t)
	app := bareOf(t, body)
	b := newBucket(t)
	end := backuptest.Written
	old := withoutWorkers(t, body)
	add := func(prefix, schedule string, every time.Duration, n int, tarball []byte, objects string) {
		for i := range n {
			at := end.Add(-time.Duration(i) * every)
			b.store(storedAs{prefix: prefix, name: schedule + "-" + at.Format("20060102150405"), schedule: schedule, phase: "Completed", began: at, tarball: tarball, objects: objects})
		}
	}
	add("mgmt", "monthly", 30*24*time.Hour, 12, old, ofClusters)
	add("mgmt", "weekly", 7*24*time.Hour, 52, old, ofClusters)
	add("mgmt", "nightly", 24*time.Hour, 30, old, ofClusters)
	add("mgmt", "shop", time.Hour, 48, app, ofApplication)
	add("other", "nightly", 24*time.Hour, 10, body, ofClusters)
	b.store(
		storedAs{name: "hand-made", phase: "PartiallyFailed", errors: 1, began: end.Add(time.Minute), tarball: body, results: volumeFailed, objects: ofClusters},
		storedAs{name: "nightly-failed", schedule: "nightly", phase: "Failed", began: end.Add(2 * time.Minute), tarball: app},
		storedAs{name: "nightly-final", schedule: "nightly", phase: "FinalizingPartiallyFailed", errors: 1, began: end.Add(3 * time.Minute), tarball: body, results: volumeFailed, objects: ofClusters},
		storedAs{name: "undescribed", tarball: body},
	)
	list := b.run("backups", "s3://velero")
	list.demand(t, cli.ExitOK)
	first := strings.Join(strings.Split(list.stdout, "\n")[:22], "\n")
	for _, want := range []string{"The newest that can be restored in s3://velero/mgmt is hand-made;", "The newest that can be restored in s3://velero/other is nightly-20261121040600;", "Left out: "} {
		if !strings.Contains(strings.Join(strings.Fields(first), " "), want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	t.Chdir(t.TempDir())
	for _, args := range offeredIn(t, list.stdout) {
		if args[0] == "backups" { // the newest of each schedule are enough here
			args = append(args, "--last", "1")
		}
		if o := runProgram(t, append(args, w.reach()...)...); o.code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.code, o.stderr)
		}
	}
	doc, _ := b.compare(append(w.reach(), "--last", "3")...)
	if n := len(doc.Backups); n > 17 || n+doc.Summary.Left != 146 {
		t.Errorf("%d backups shown, %d older", n, doc.Summary.Left)
	}
	if c := doc.Comparison; c.Best != "hand-made" || len(c.Skipped) == 0 {
		t.Errorf("best %s: %s, skipped %+v", c.Best, c.Why, c.Skipped)
	}
	text := b.run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--last", "3"}, w.reach()...)...)
	for line := range strings.Lines(list.stdout + text.stdout) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Width(line) > 80 && !strings.HasPrefix(line, "  drift-detector ") {
			t.Errorf("%d columns: %s", terminal.Width(line), line)
		}
	}
	for _, row := range doc.Comparison.Compared {
		out := filepath.Join(t.TempDir(), "alone.json")
		b.run(append([]string{"detect", "--backup", row.Place, "-o", out}, w.reach()...)...)
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := report.Read(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if want := backups.Of(row.Name, row.Place, alone); want.Machines != row.Machines || want.Safe != row.Safe || want.ByPlan != row.ByPlan {
			t.Errorf("%s: alone %+v, compared %+v", row.Name, want, row)
		}
	}
}
