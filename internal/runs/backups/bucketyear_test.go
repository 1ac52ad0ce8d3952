package backups_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/internal/terminal"
	"drift-detector/report"
	"drift-detector/report/backups"
)

// TestABucketAsPeopleHaveIt: twelve months of three schedules of one management cluster, those
// of another one, applications, and what did not end well: the right one of each is in the
// first lines, on 80 columns, and compare says of each what detect says.
func TestABucketAsPeopleHaveIt(t *testing.T) {
	w, body := runs.WellBody(t)
	app := bareOf(t, body)
	b := runs.NewBucket(t)
	end := backuptest.Written
	old := runs.WithoutWorkers(t, body)
	add := func(prefix, schedule string, every time.Duration, n int, tarball []byte, objects string) {
		for i := range n {
			at := end.Add(-time.Duration(i) * every)
			b.Add(runs.StoredAs{Prefix: prefix, Name: schedule + "-" + at.Format("20060102150405"), Schedule: schedule, Phase: "Completed", Began: at, Tarball: tarball, Objects: objects})
		}
	}
	add("mgmt", "monthly", 30*24*time.Hour, 12, old, runs.OfClusters)
	add("mgmt", "weekly", 7*24*time.Hour, 52, old, runs.OfClusters)
	add("mgmt", "nightly", 24*time.Hour, 30, old, runs.OfClusters)
	add("mgmt", "shop", time.Hour, 48, app, runs.OfApplication)
	add("other", "nightly", 24*time.Hour, 10, body, runs.OfClusters)
	b.Add(
		runs.StoredAs{Name: "hand-made", Phase: "PartiallyFailed", Errors: 1, Began: end.Add(time.Minute), Tarball: body, Results: runs.VolumeFailed, Objects: runs.OfClusters},
		runs.StoredAs{Name: "nightly-failed", Schedule: "nightly", Phase: "Failed", Began: end.Add(2 * time.Minute), Tarball: app},
		runs.StoredAs{Name: "nightly-final", Schedule: "nightly", Phase: "FinalizingPartiallyFailed", Errors: 1, Began: end.Add(3 * time.Minute), Tarball: body, Results: runs.VolumeFailed, Objects: runs.OfClusters},
		runs.StoredAs{Name: "undescribed", Tarball: body},
	)
	list := b.Run("backups", "s3://velero")
	list.Demand(t, cli.ExitOK)
	first := strings.Join(strings.Split(list.Stdout, "\n")[:22], "\n")
	for _, want := range []string{"The newest that can be restored in s3://velero/mgmt is hand-made;", "The newest that can be restored in s3://velero/other is nightly-20261121040600;", "Left out: "} {
		if !strings.Contains(strings.Join(strings.Fields(first), " "), want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	t.Chdir(t.TempDir())
	for _, args := range offeredIn(t, list.Stdout) {
		if args[0] == "backups" { // the newest of each schedule are enough here
			args = append(args, "--last", "1")
		}
		if o := runs.Run(t, append(args, w.Reach()...)...); o.Code != cli.ExitOK {
			t.Errorf("%q: status %d\n%s", args, o.Code, o.Stderr)
		}
	}
	doc, _ := b.Compare(append(w.Reach(), "--last", "3")...)
	if n := len(doc.Backups); n > 17 || n+doc.Summary.Left != 146 {
		t.Errorf("%d backups shown, %d older", n, doc.Summary.Left)
	}
	if c := doc.Comparison; c.Best != "hand-made" || len(c.Skipped) == 0 {
		t.Errorf("best %s: %s, skipped %+v", c.Best, c.Why, c.Skipped)
	}
	text := b.Run(append([]string{"backups", "s3://velero/mgmt", "--compare", "--last", "3"}, w.Reach()...)...)
	for line := range strings.Lines(list.Stdout + text.Stdout) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Width(line) > 80 && !strings.HasPrefix(line, "  drift-detector ") {
			t.Errorf("%d columns: %s", terminal.Width(line), line)
		}
	}
	for _, row := range doc.Comparison.Compared {
		out := filepath.Join(t.TempDir(), "alone.json")
		b.Run(append([]string{"detect", "--backup", row.Place, "-o", out}, w.Reach()...)...)
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
