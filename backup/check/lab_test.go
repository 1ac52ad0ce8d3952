package check_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/backup/archive"
	"drift-detector/backup/backuptest"
	"drift-detector/backup/check"
	"drift-detector/infra/all"
)

const lab = "../../testdata/fleet-data.tar.gz"

// afterwards is an hour after the lab's backup was written.
var afterwards = time.Date(2026, 11, 21, 5, 6, 32, 0, time.UTC)

// check is what the check command does: core checks and those of providers.
func checked(t testing.TB, tarball []byte, now time.Time, v *check.VeleroBackup) []check.Finding {
	t.Helper()
	return checkAll(t, now, []*check.VeleroBackup{v}, backuptest.Source("backup.tar.gz", tarball))
}

// checkOnly runs check with some clusters shown.
func checkOnly(t testing.TB, tarball []byte, v *check.VeleroBackup, only func(backup.ClusterID) bool) []check.Finding {
	t.Helper()
	return checkShown(t, only, afterwards, []*check.VeleroBackup{v}, backuptest.Source("backup.tar.gz", tarball))
}

func checkAll(t testing.TB, now time.Time, v []*check.VeleroBackup, sources ...backup.Source) []check.Finding {
	t.Helper()
	return checkShown(t, nil, now, v, sources...)
}

func checkShown(t testing.TB, only func(backup.ClusterID) bool, now time.Time, v []*check.VeleroBackup, sources ...backup.Source) []check.Finding {
	t.Helper()
	registry := all.Registry()
	want, own := registry.Want(), check.Want()
	want.Kinds, want.Secrets = append(want.Kinds, own.Kinds...), append(want.Secrets, own.Secrets...)
	want.Beside = func(i int) archive.Visitor {
		if i < len(v) {
			return v[i].Referrers()
		}
		return archive.Visitor{}
	}
	s, secrets, err := backup.Load(t.Context(), sources, want)
	if err != nil {
		t.Fatal(err)
	}
	claims := registry.Expected(s)
	return check.Check(s, secrets, check.Options{
		Now: now, Velero: v, Only: only, Absent: claims.Absent, Findings: registry.Check(s, secrets, claims, now), Controllers: registry.Makers(claims),
	})
}

// line returns a finding as the goldens write it.
func line(f check.Finding) string {
	return fmt.Sprintf("%s %s: %s: %s", f.Severity, f.Code, f.Object, f.Message)
}

// TestLab holds the findings on the untouched backup to a list in which each
// has a line that says why it is right.
func TestLab(t *testing.T) {
	golden, err := os.ReadFile("testdata/lab.golden")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for pair := range slices.Chunk(strings.Split(strings.TrimSpace(string(golden)), "\n"), 2) {
		if reason, ok := strings.CutPrefix(pair[len(pair)-1], "    right: "); !ok || len(reason) < 20 {
			t.Errorf("no reason why this is right: %s", pair[0])
		}
		want = append(want, pair[0])
	}
	tarball, err := os.ReadFile(lab)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range checked(t, tarball, afterwards, nil) {
		if f.Why == "" || f.Do == "" {
			t.Errorf("%s says neither why nor what to do", line(f))
		}
		got = append(got, line(f))
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
