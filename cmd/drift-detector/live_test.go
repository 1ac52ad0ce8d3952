package main

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab"
)

// management serves the objects of the world's backup as the management cluster that runs.
func (w *world) management(t *testing.T) (*lab.Management, []string) {
	t.Helper()
	m, err := lab.StartManagement(w.backups[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	file, err := m.WriteKubeconfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return m, []string{"--kubeconfig", file}
}


// A management cluster that runs with the objects of a backup gives the verdicts of the backup.
func TestLiveVerdictsAreThoseOfTheBackup(t *testing.T) {
	t.Parallel()
	w := fleet(t)
	m, from := w.management(t)
	tarball := w.detect()
	live := w.run(slices.Concat(from, w.reach())...)
	live.demand(t, exitOK)
	live.agreesWith(t, readOracle(t, testdata+"verdicts.json"))
	for _, path := range m.Asked() {
		if strings.Contains(path, "watch") || strings.Contains(path, "/events") {
			t.Errorf("asked for %s", path)
		}
	}
	_ = tarball
}
