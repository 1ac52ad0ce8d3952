package azure

import (
	"strings"
	"testing"
)

func TestNamesOfGroups(t *testing.T) {
	for name, want := range map[string]bool{
		"capz-prod":               true,
		"größe_(1).":              true,
		strings.Repeat("ü", 260):  true,
		strings.Repeat("ü", 261):  false,
		strings.Repeat("a", 261):  false,
		"":                        false,
		"a/b":                     false,
		"a\xffb":                  false,
		"a b":                     false,
		strings.Repeat("\xff", 2): false,
	} {
		if isGroup(name) != want {
			t.Errorf("isGroup(%q) = %v", name, !want)
		}
	}
}

func TestNamesInGroups(t *testing.T) {
	for name, want := range map[string]bool{
		"capz-prod-md-0_(1).":    true,
		strings.Repeat("a", 260): true,
		strings.Repeat("a", 261): false,
		"":                       false,
		"Capz":                   false,
		"größe":                  false,
	} {
		if isSegment(name) != want {
			t.Errorf("isSegment(%q) = %v", name, !want)
		}
	}
}
