package infra

import (
	"strings"
	"testing"
)

// A list ends after 100 pages in a row without anything new, and a fresh page begins the
// count again.
func TestQuietPagesEndAList(t *testing.T) {
	var q Quiet
	for n := range 3 * MaxQuiet {
		if err := q.Page(n%(MaxQuiet-1) == 0); err != nil {
			t.Fatalf("page %d: %v", n, err)
		}
	}
	var err error
	n := 0
	for q = 0; err == nil; n++ {
		err = q.Page(false)
	}
	if n != MaxQuiet || !strings.Contains(err.Error(), "100 pages in a row") {
		t.Errorf("%d pages: %v", n, err)
	}
}
