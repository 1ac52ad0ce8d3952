package reporttest

import (
	"bytes"
	"testing"

	"drift-detector/report"
)

// What is generated must be a report as detect writes it: read and written again
// it is the same.
func TestReportsAreReports(t *testing.T) {
	for seed := range uint64(50) {
		var first, second bytes.Buffer
		if err := report.JSON(&first, Random(seed)); err != nil {
			t.Fatal(err)
		}
		r, err := report.Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := report.JSON(&second, r); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("seed %d: the report changes when it is read", seed)
		}
		if n := r.Summary.Machines; n.Healthy+n.Stale+n.Ghost+n.Unknown != n.Total {
			t.Fatalf("seed %d: %+v", seed, n)
		}
	}
	if n := Sized(50, 100).Summary.Machines; n.Total != 5000 || n.Healthy < 4500 {
		t.Errorf("a calm fleet of 5,000 machines has %+v", n)
	}
}
