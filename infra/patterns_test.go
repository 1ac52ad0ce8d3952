package infra

import (
	"slices"
	"testing"
)

func TestPatterns(t *testing.T) {
	var p Patterns
	for _, text := range []string{"^vm-a-[0-9]{2}$", "vm-a-.*", "[", "(?i)VM-A-12", "^(vm|pm)-a-12$", "^vm-a-[0-9]{2}$", "^$", "vm-a-1"} {
		p.Add(text)
	}
	for name, want := range map[string][]int{
		"vm-a-12": {0, 1, 3, 4, 5}, "vm-a-1": {1, 7}, "Vm-a-12": {3}, "x-vm-a-12": nil, "vm-a-12\n": nil, "vm": nil, "": {6},
	} {
		if got := p.Matching(name); !slices.Equal(got, want) {
			t.Errorf("%q is matched by %v, want %v", name, got, want)
		}
	}
	if got := new(Patterns).Matching("vm"); got != nil {
		t.Errorf("none of no patterns matches, and %v do", got)
	}
}
