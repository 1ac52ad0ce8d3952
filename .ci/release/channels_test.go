package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const releases = "https://example.com/fleet/drift-detector/releases/download"

// laid returns a release of programs that only print, in a folder.
func laid(t *testing.T) (*dist, []archived) {
	t.Helper()
	d := &dist{folder: t.TempDir()}
	var all []archived
	for _, target := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(target, "/")
		a := archived{GOOS: goos, GOARCH: goarch, Folder: "drift-detector-v1.2.3-" + goos + "-" + goarch}
		var files []file
		for _, name := range []string{
			"LICENSE", "THIRD-PARTY-LICENSES.txt", "completions/_drift-detector", "completions/drift-detector.bash",
			"completions/drift-detector.fish", "drift-detector", "drift-detector.1", "drift-detector.cdx.json",
		} {
			files = append(files, file{a.Folder + "/" + name, []byte("#!/bin/sh\necho " + target + " " + name + "\n"), 0o644})
		}
		content, err := tarred(files, when)
		if err != nil {
			t.Fatal(err)
		}
		a.File = a.Folder + ".tar.gz"
		if a.Sum, err = d.put(file{a.File, content, 0o644}); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	files, err := channels("v1.2.3", releases, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := d.put(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.seal(options{version: "v1.2.3", releases: releases, commit: strings.Repeat("a", 40)}); err != nil {
		t.Fatal(err)
	}
	return d, all
}

func (d *dist) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(d.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The manifest of krew names each archive with its sum, and only files that are in it.
func TestKrew(t *testing.T) {
	d, all := laid(t)
	var m struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version, ShortDescription, Description string

			Platforms []struct {
				Selector         struct{ MatchLabels struct{ OS, Arch string } }
				URI, Sha256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	if err := yaml.Unmarshal([]byte(d.read(t, "drift-detector.yaml")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Metadata.Name != "drift-detector" || m.Spec.Version != "v1.2.3" || len(m.Spec.Platforms) != len(all) {
		t.Fatalf("it has %+v", m)
	}
	// What krew-index asks for.
	for line := range strings.Lines(m.Spec.Description) {
		if len(line) > 80 || len(m.Spec.ShortDescription) > 50 || m.Spec.ShortDescription == "" {
			t.Errorf("its description has %d characters in %q", len(line), line)
		}
	}
	for i, p := range m.Spec.Platforms {
		a := all[i]
		if p.Selector.MatchLabels.OS != a.GOOS || p.Selector.MatchLabels.Arch != a.GOARCH || p.URI != releases+"/v1.2.3/"+a.File || p.Sha256 != a.Sum {
			t.Errorf("%s/%s: %+v", a.GOOS, a.GOARCH, p)
		}
		names := inArchive(t, d.read(t, a.File))
		for _, f := range p.Files {
			if name := strings.TrimSuffix(f.From, ".exe"); !slices.Contains(names, name) || f.To != "." {
				t.Errorf("%s has no %s", a.File, f.From)
			}
		}
	}
}

// The formula has the archives of macOS and Linux, and installs only files that are in them.
func TestFormula(t *testing.T) {
	d, all := laid(t)
	formula := d.read(t, "drift-detector.rb")
	var got []string
	for _, m := range regexp.MustCompile(`url "(.*)"\s+sha256 "(.*)"`).FindAllStringSubmatch(formula, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	var want []string
	for _, a := range all[:4] {
		want = append(want, releases+"/v1.2.3/"+a.File+" "+a.Sum)
	}
	if !slices.Equal(got, want) || strings.Contains(formula, "windows") {
		t.Errorf("it has %q, want %q", got, want)
	}
	if ends, begins := strings.Count(formula, "end\n"), len(regexp.MustCompile(`(?m)( do| install)$|^class`).FindAllString(formula, -1)); ends != begins {
		t.Errorf("%d blocks begin and %d end", begins, ends)
	}
	names := inArchive(t, d.read(t, all[0].File))
	for _, m := range regexp.MustCompile(`install "([^"]+)"(?:, "([^"]+)")?`).FindAllStringSubmatch(formula, -1) {
		for _, name := range m[1:] {
			if name != "" && !slices.Contains(names, all[0].Folder+"/"+name) {
				t.Errorf("it installs %s, which is in no archive", name)
			}
		}
	}
}

func inArchive(t *testing.T, content string) (names []string) {
	t.Helper()
	zr, err := gzip.NewReader(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

// The statement is about every file of the release but itself, and its digests are theirs.
func TestProvenance(t *testing.T) {
	d, _ := laid(t)
	made := slices.DeleteFunc(d.made, func(s summed) bool { return s.name == provenanceFile })
	o := options{version: "v1.2.3", releases: releases, commit: strings.Repeat("a", 40), builder: "https://example.com/ci", targets: []string{runtime.GOOS + "/amd64"}, build: []string{"-trimpath"}}
	f, err := provenance(o, "1.26.8", made)
	if err != nil {
		t.Fatal(err)
	}
	var s statement
	e := json.NewDecoder(bytes.NewReader(f.content))
	e.DisallowUnknownFields()
	if err := e.Decode(&s); err != nil {
		t.Fatal(err)
	}
	b := s.Predicate.BuildDefinition
	if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" || s.Predicate.RunDetails.Builder.ID != "https://example.com/ci" ||
		b.ResolvedDependencies[0].Digest["gitCommit"] != o.commit || b.ResolvedDependencies[1].URI != "pkg:golang/std@1.26.8" || b.ExternalParameters["version"] != "v1.2.3" {
		t.Errorf("it says %s", f.content)
	}
	sums := d.read(t, "SHA256SUMS")
	if len(s.Subject) != 8 {
		t.Errorf("it is about %d files", len(s.Subject))
	}
	for _, r := range s.Subject {
		if !strings.Contains(sums, r.Digest["sha256"]+"  "+r.Name+"\n") {
			t.Errorf("%s is not in SHA256SUMS as %s", r.Name, r.Digest["sha256"])
		}
	}
}

// What a shell would run is in no script.
func TestChannelsRefuse(t *testing.T) {
	for _, c := range [][2]string{{"v1;id", releases}, {"v1", releases + "$(id)"}, {"v1", "http://example.com/x"}, {"", releases}} {
		if _, err := channels(c[0], c[1], nil); err == nil {
			t.Errorf("%q is taken", c)
		}
	}
}

// dpkg and rpm order what comes before a release before it, and commits after it after it.
func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.0.0": "1.0.0", "v1.0.0-rc.1": "1.0.0~rc.1", "v1.0.0-4-gd56cc2ad": "1.0.0+4.gd56cc2ad",
		"v1.0.0-rc.1-4-gd56cc2ad-dirty": "1.0.0~rc.1+4.gd56cc2ad+dirty", "d56cc2ad": "0.0.0~gd56cc2ad", "d56cc2ad-dirty": "0.0.0~gd56cc2ad+dirty",
	} {
		if got := packageVersion(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
}
