package program

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
)

// TestTooManySchedulesToCompare: the bound is in the first sentence, nothing is said to be restored,
// and the flag that raises it does.
func TestTooManySchedulesToCompare(t *testing.T) {
	w, body := runs.WellBody(t)
	before := maxCompared
	t.Cleanup(func() { maxCompared = before })
	maxCompared = 2
	b := runs.NewBucket(t)
	for i, tarball := range [][]byte{body, runs.WithoutWorkers(t, body), body} {
		b.Add(runs.StoredAs{Name: fmt.Sprintf("s%d", i), Schedule: fmt.Sprintf("s%d", i), Phase: "Completed", Began: runs.HoursBefore(i), Tarball: tarball, Objects: runs.OfClusters})
	}
	doc, o := b.Compare(w.Reach()...)
	if o.Code != cli.ExitIncomplete || doc.Comparison.Complete || doc.Comparison.NotCompared != 1 {
		t.Errorf("status %d, %+v", o.Code, doc.Comparison)
	}
	if said := b.Sentence(w.Reach()...); !strings.HasPrefix(said, "The best is s0: ") || !strings.Contains(said, "1 other was not compared, and may be better: too many schedules are here (--last 1 compares more)") {
		t.Error(said)
	}
	if doc, o := b.Compare(append(w.Reach(), "--last", "1")...); o.Code != cli.ExitOK || len(doc.Comparison.Compared) != 3 {
		t.Errorf("status %d, %d compared", o.Code, len(doc.Comparison.Compared))
	}
}
