// The packages of a release, whose folder DIST names, can be installed.
package package_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sassoftware/go-rpmutils"
)

// made returns the packages of the release with an extension.
func made(t *testing.T, extension string) []string {
	t.Helper()
	dist := os.Getenv("DIST")
	if dist == "" && os.Getenv("CI") == "" {
		t.Skip("DIST names no folder of a release")
	}
	found, err := filepath.Glob(filepath.Join(dist, "*-linux-*."+extension))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s has no .%s: %v", dist, extension, err)
	}
	return found
}

// installed demands that a root holds the program, which runs where it is made for this
// machine, and what belongs to it, and nothing else.
func installed(t *testing.T, root, file string, places ...string) {
	t.Helper()
	places = append(places,
		"usr/bin/drift-detector", "usr/share/bash-completion/completions/drift-detector", "usr/share/doc/drift-detector/THIRD-PARTY-LICENSES.txt",
		"usr/share/doc/drift-detector/changelog.gz", "usr/share/doc/drift-detector/drift-detector.cdx.json",
		"usr/share/fish/vendor_completions.d/drift-detector.fish", "usr/share/man/man1/drift-detector.1.gz")
	var got []string
	err := filepath.WalkDir(filepath.Join(root, "usr"), func(place string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, place)
		got = append(got, name)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if want := map[bool]os.FileMode{true: 0o755, false: 0o644}[name == "usr/bin/drift-detector"]; info.Mode() != want || info.Size() == 0 {
			t.Errorf("%s: %v, %d bytes", name, info.Mode(), info.Size())
		}
		return nil
	})
	slices.Sort(places)
	if err != nil || !slices.Equal(got, places) {
		t.Fatalf("%s installs %q, want %q: %v", file, got, places, err)
	}
	for name, has := range map[string]string{"man/man1/drift-detector.1.gz": ".SH NAME", "doc/drift-detector/changelog.gz": "# Changelog"} {
		packed, err := os.Open(filepath.Join(root, "usr/share", name))
		if err != nil {
			t.Fatal(err)
		}
		zr, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(zr)
		if _ = packed.Close(); err != nil || !bytes.Contains(text, []byte(has)) {
			t.Errorf("%s lacks %q: %v", name, has, err)
		}
	}
	if strings.Contains(file, "-linux-"+runtime.GOARCH+".") && runtime.GOOS == "linux" {
		said, err := exec.Command(filepath.Join(root, "usr/bin/drift-detector"), "version").Output()
		if version, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), "drift-detector-"), "-linux-"); err != nil || !strings.HasPrefix(string(said), "drift-detector "+version+" ") {
			t.Errorf("version prints %q: %v", said, err)
		}
	}
}

// dpkg installs the deb in an empty root, and knows it there.
func TestDeb(t *testing.T) {
	for _, file := range made(t, "deb") {
		if _, err := exec.LookPath("dpkg"); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		}
		root := t.TempDir()
		for _, name := range []string{"status", "updates/", "info/", "triggers/"} {
			place := filepath.Join(root, "var/lib/dpkg", name)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(name, "/") {
				if err := os.WriteFile(place, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if err := os.MkdirAll(place, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		dpkg := func(args ...string) string {
			said, err := exec.Command("dpkg", append([]string{"--root=" + root, "--force-not-root", "--force-script-chrootless", "--force-architecture", "--path-include=*", "--log=" + os.DevNull}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("dpkg %v: %v\n%s", args, err, said)
			}
			return string(said)
		}
		dpkg("--install", file)
		if status := dpkg("--status", "drift-detector"); !strings.Contains(status, "Status: install ok installed\n") {
			t.Errorf("dpkg knows it as %s", status)
		}
		installed(t, root, file, "usr/share/doc/drift-detector/copyright", "usr/share/zsh/vendor-completions/_drift-detector")
		dpkg("--remove", "drift-detector")
		if _, err := os.Stat(filepath.Join(root, "usr/bin/drift-detector")); err == nil {
			t.Error("it was removed, and is there")
		}
	}
}

// The rpm holds the same, and nothing of the machine that made it.
func TestRPM(t *testing.T) {
	for _, file := range made(t, "rpm") {
		packed, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = packed.Close() }()
		rpm, err := rpmutils.ReadRpm(packed)
		if err != nil {
			t.Fatal(err)
		}
		for tag, want := range map[int]string{rpmutils.NAME: "drift-detector", rpmutils.OS: "linux", rpmutils.LICENSE: "Apache-2.0", rpmutils.BUILDHOST: "drift-detector"} {
			if got, err := rpm.Header.GetString(tag); err != nil || got != want {
				t.Errorf("tag %d is %q, want %q: %v", tag, got, want, err)
			}
		}
		root := t.TempDir()
		if err := rpm.ExpandPayload(root); err != nil {
			t.Fatal(err)
		}
		list, err := rpm.Header.GetFiles()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.UserName() != "root" || f.Mtime() != list[0].Mtime() {
				t.Errorf("%s is of %s, time %d", f.Name(), f.UserName(), f.Mtime())
			}
			if err := os.Chmod(filepath.Join(root, f.Name()), os.FileMode(f.Mode()).Perm()); err != nil { // which ExpandPayload does not
				t.Fatal(err)
			}
		}
		installed(t, root, file, "usr/share/licenses/drift-detector/LICENSE", "usr/share/zsh/site-functions/_drift-detector")
	}
}
