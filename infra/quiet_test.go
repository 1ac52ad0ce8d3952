package infra_test

import (
	"testing"

	"drift-detector/infra"
)

// TestQuiet: so many pages in a row without news end a list, and no fewer.
func TestQuiet(t *testing.T) {
	var q infra.Quiet
	for range 3 {
		for range infra.MaxQuiet - 1 {
			if err := q.Page(false); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Page(true); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; ; n++ {
		if err := q.Page(false); err != nil {
			if n != 100 || err.Error() != "100 pages in a row hold nothing new" {
				t.Errorf("after %d: %v", n, err)
			}
			return
		}
	}
}
