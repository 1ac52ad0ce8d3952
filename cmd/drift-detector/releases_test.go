package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shopBackup = "../../detector/releases/testdata/shop-drifted-data.tar.gz"

// withShop is the lab's fleet with the drifted release of another backup in the place
// of its own.
func withShop(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	out := tar.NewWriter(z)
	for from, shop := range map[string]bool{testdata + "fleet-data.tar.gz": false, shopBackup: true} {
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
			if strings.Contains(h.Name, "/namespaces/shop/") != shop {
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

// check has one line about releases that need somebody, and its status stays.
func TestCheckPointsToReleases(t *testing.T) {
	t.Parallel()
	path := withShop(t)
	o := runProgram(t, "check", "--backup", path)
	o.demand(t, exitOK)
	if !strings.Contains(o.stdout, "\nReleases: 1 of 1 Helm release needs somebody: drift-detector releases --backup") {
		t.Error(o.stdout)
	}
	if o := runProgram(t, "check", "--backup", path, "--format", "json"); !strings.Contains(o.stdout, `"stalled": 1`) {
		t.Error(o.stdout)
	}
	if o := runProgram(t, "check", "--backup", testdata+"fleet-data.tar.gz"); strings.Contains(o.stdout, "Releases:") {
		t.Error("a release in sync has a line")
	}
}

// Two runs write the same bytes.
func TestReleasesAreStable(t *testing.T) {
	t.Parallel()
	first := runProgram(t, "releases", "--backup", shopBackup)
	if second := runProgram(t, "releases", "--backup", shopBackup); first.stdout != second.stdout {
		t.Error("another run, another text")
	}
}
