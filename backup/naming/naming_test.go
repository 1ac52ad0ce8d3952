package naming_test

import (
	"strings"
	"testing"

	"drift-detector/backup/naming"
)

func TestStems(t *testing.T) {
	long := strings.Repeat("a", 52)
	for _, c := range []struct{ machine, set, deployment string }{
		{"cp-bcdfg", "cp-", ""},
		{"md-0-bcdfg-24567", "md-0-bcdfg-", "md-0"},
		{"md-0-bcdf-24567", "md-0-bcdf-", ""}, // no suffix of a MachineSet
		{"md-0-" + strings.Repeat("b", 16) + "-24567", "md-0-bbbbbbbbbbbbbbbb-", "md-0"},
		{"md-0-" + strings.Repeat("b", 17) + "-24567", "md-0-bbbbbbbbbbbbbbbbb-", ""},
		{"md-0-abcde-24567", "md-0-abcde-", ""}, // a vowel
		{"cp-bcdfa", "", ""},
		{"cpbcdfg", "", ""},
		{"bcdfg", "", ""},
		{long + "-bcdfg24567", long + "-bcdfg", long}, // 63: cut behind the MachineSet's suffix
		{long + "aaa-bc24567", long + "aaa-bc", long + "aaa"},
	} {
		if set, deployment := naming.Stems(c.machine); set != c.set || deployment != c.deployment {
			t.Errorf("Stems(%q) = %q, %q, want %q, %q", c.machine, set, deployment, c.set, c.deployment)
		}
	}
	if got := naming.Stem(long + "-bcdfg"); got != long+"-bcdfg" {
		t.Errorf("a stem of %d characters: %q", len(got), got)
	}
	if got := naming.Stem("cp"); got != "cp-" {
		t.Errorf("Stem(cp) = %q", got)
	}
}

// The hashes are those of Cluster API v1.14.2 (format.MustFormatValue).
func TestMeans(t *testing.T) {
	long := strings.Repeat("machineSetName", 12) // TestNameLabelValue in util/labels/format/helpers_test.go
	for _, c := range []struct {
		label, name string
		want        bool
	}{
		{"prod-cp", "prod-cp", true},
		{"prod-cp", "prod", false},
		{"", "prod-cp", false},
		{"hash_FR_ghQ_z", long, true},
		{"hash_FR_ghQ_z", long + "x", false},
		{"hash_abc_z", long, false},
	} {
		if got := naming.Means(c.label, c.name); got != c.want {
			t.Errorf("Means(%q, %q) = %v", c.label, c.name, got)
		}
	}
}
