package releases_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/runs"
	"drift-detector/internal/terminal"
)

// fleetWith returns the lab's fleet without its release, and with the objects of other backups
// about that release.
func fleetWith(t *testing.T, shops ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	out := tar.NewWriter(z)
	for i, from := range append([]string{runs.Testdata + "fleet-data.tar.gz"}, shops...) {
		in, err := os.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(unpacked); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(h.Name, "/namespaces/shop/") != (i > 0) {
				continue
			}
			if err := out.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(out, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(out.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// check has one line about releases that need action, and its status stays.
func TestCheckPointsToReleases(t *testing.T) {
	t.Parallel()
	path := fleetWith(t, runs.ShopBackup)
	o := runs.Run(t, "check", "--backup", path)
	o.Demand(t, cli.ExitOK)
	if !strings.Contains(o.Stdout, "\nReleases: 1 of 1 Helm release needs action: drift-detector releases --backup") {
		t.Error(o.Stdout)
	}
	if o := runs.Run(t, "check", "--backup", path, "--format", "json"); !strings.Contains(o.Stdout, `"stalled": 1`) {
		t.Error(o.Stdout)
	}
	if o := runs.Run(t, "check", "--backup", runs.Testdata+"fleet-data.tar.gz"); strings.Contains(o.Stdout, "Releases:") {
		t.Error("a release in sync has a line")
	}
}

// A backup without releases says so, and that is no fault.
func TestNoRelease(t *testing.T) {
	t.Parallel()
	o := runs.Run(t, "releases", "--backup", fleetWith(t), "--fail-on", "drifted,stalled,added")
	if o.Demand(t, cli.ExitOK); !strings.HasPrefix(o.Stdout, "No Helm release: the backup has no release record.\n") {
		t.Error(o.Stdout)
	}
}

// What Velero says of its filters decides what an absence says.
func TestReleasesOfAFilteredBackup(t *testing.T) {
	t.Parallel()
	path := fleetWith(t, runs.ShopBackup)
	velero := filepath.Join(t.TempDir(), "velero-backup.json")
	for filter, want := range map[string]string{
		"{}": "ConfigMap/shop/shop-extra removed",
		`{"excludedNamespaceScopedResources":["configmaps"]}`: "ConfigMap/shop/shop-extra not in the backup: excludedNamespaceScopedResources",
	} {
		described := `{"kind":"Backup","apiVersion":"velero.io/v1","metadata":{"name":"b"},"spec":` + filter + `,"status":{"phase":"Completed"}}`
		if err := os.WriteFile(velero, []byte(described), 0o600); err != nil {
			t.Fatal(err)
		}
		o := runs.Run(t, "releases", "--backup", path, "--velero-backup", velero)
		if o.Demand(t, cli.ExitOK); !strings.Contains(strings.Join(strings.Fields(o.Stdout), " "), want) {
			t.Errorf("%s: no %q in\n%s", filter, want, o.Stdout)
		}
	}
}

// Lines have 80 columns, except commands and values.
func TestReleasesAreNarrow(t *testing.T) {
	t.Parallel()
	o := runs.Run(t, "releases", "--backup", runs.ShopBackup)
	for line := range strings.Lines(o.Stdout) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Width(line) > 80 && !strings.HasPrefix(line, "      ") {
			t.Errorf("%d columns: %s", terminal.Width(line), line)
		}
	}
}

// Two runs write the same bytes.
func TestReleasesAreStable(t *testing.T) {
	t.Parallel()
	first := runs.Run(t, "releases", "--backup", runs.ShopBackup)
	if second := runs.Run(t, "releases", "--backup", runs.ShopBackup); first.Stdout != second.Stdout {
		t.Error("another run, another text")
	}
}
