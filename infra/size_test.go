package infra

import (
	"strings"
	"testing"
)

// What no machine has is not said of one.
func TestSizeOfAServerThatLies(t *testing.T) {
	if got := NewSize(-1, 1<<40, -5, strings.Repeat("x", 300)); got != (Size{}) {
		t.Errorf("%+v", got)
	}
	if got := NewSize(2, 4096, 20, "m1"); got != (Size{VCPUs: 2, MemoryMiB: 4096, DiskGiB: 20, Type: "m1"}) {
		t.Errorf("%+v", got)
	}
}
