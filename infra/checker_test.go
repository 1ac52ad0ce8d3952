package infra_test

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/check"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// checking is a provider that has something to say about a backup.
type checking struct{ tiny }

func (checking) Check(_ *backup.Snapshot, _ *backup.Secrets, now time.Time) []check.Finding {
	return []check.Finding{{Code: "Own", Message: now.Format(time.DateOnly)}}
}

// Providers may have findings or none; infrastructure machines without Machine
// are found for all of them.
func TestRegistryChecks(t *testing.T) {
	orphan := infra.Orphan{Kind: "AMachine", Namespace: "n", Name: "m", Cluster: backup.ClusterID{Backup: 1}}
	expected := infra.Expected{Machines: []infra.ExpectedMachine{{Machine: 0}, {Machine: -1, Orphan: &orphan}}}
	r := infra.NewRegistry(tiny{name: "a"}, checking{tiny{name: "b"}})
	found := r.Check(&backup.Snapshot{}, nil, expected, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
	if len(found) != 2 || found[0].Message != "2026-11-21" {
		t.Fatalf("found %+v", found)
	}
	if f := found[1]; f.Code != "MachineAbsent" || f.Object != "AMachine n/m" || f.Backup != 1 || f.Absent.Namespace != "n" || f.Severity != code.CheckWarning {
		t.Errorf("found %+v", f)
	}
}
