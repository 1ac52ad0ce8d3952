package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/runs"
)

// TestNoMoreTarballsAreLookedInto than the bound, which is said; those whose clusters are of
// another management cluster that was met cost none.
func TestNoMoreTarballsAreLookedInto(t *testing.T) {
	w, body := runs.WellBody(t)
	west := runs.OfAnother(t, body, "west", true)
	for lists, want := range map[string]int{runs.OfWest: 1, "": mostLooks} {
		b := runs.NewBucket(t)
		b.Add(runs.StoredAs{Name: "old", Phase: "Completed", Began: backuptest.Written, Tarball: body, Objects: runs.OfEast})
		for i := range 12 {
			b.Add(runs.StoredAs{Name: fmt.Sprintf("west-%02d", i), Phase: "Completed", Began: backuptest.Written.Add(time.Duration(i+1) * time.Hour), Tarball: west, Objects: lists})
		}
		out := filepath.Join(t.TempDir(), "r.json")
		b.Run(append([]string{"detect", "--backup", "s3://velero/mgmt/backups/old", "-o", out}, w.Reach()...)...)
		looks := 0
		for _, call := range b.Calls() {
			if strings.Contains(call, "west-") && strings.HasSuffix(call, ".tar.gz") {
				looks++
			}
		}
		text, _ := os.ReadFile(out)
		if said := strings.Contains(string(text), "no more than 3 newer ones are"); looks != want || said != (lists == "") {
			t.Errorf("%d looks, want %d; the bound is said: %t", looks, want, said)
		}
	}
}

// TestBoundsAreSaid with their numbers, and cost no verdict.
func TestBoundsAreSaid(t *testing.T) {
	_, body := runs.WellBody(t)
	b := runs.NewBucket(t)
	for i := range 40 {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("hand-%02d", i), Phase: "Completed", Began: backuptest.Written.Add(-time.Duration(i) * time.Hour), Tarball: body, Objects: runs.OfApplication})
	}
	for i := range 60 { // of as many schedules
		s := fmt.Sprintf("s%02d", i)
		b.Add(runs.StoredAs{Name: s + "-20261101000000", Schedule: s, Phase: "Completed", Began: backuptest.Written.Add(-time.Duration(100+i) * time.Hour), Tarball: body, Objects: runs.OfEast})
	}
	before := maxLooked
	t.Cleanup(func() { maxLooked = before })
	maxLooked = 70
	doc, _ := b.Compare("--inventory", runs.EmptyInventory(t))
	said := strings.Join(doc.Summary.Bounds, "\n")
	if n := len(doc.Comparison.Compared); n != maxCompared || !strings.Contains(said, "backups left out: 50 are compared at most where --last is not given, of each schedule 1. --last N") || !strings.Contains(said, "70 are the most") {
		t.Errorf("%d compared: %s", n, said)
	}
	list := b.Run("backups", "s3://velero/mgmt")
	if flat := strings.Join(strings.Fields(list.Stdout), " "); !strings.Contains(flat, "70 are the most. A backup may hold clusters as long as nothing says that it does not; --last, --since, --schedule") {
		t.Errorf("%s", list.Stdout)
	}
}
