package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// packages writes a deb and an rpm of what the archive of a Linux holds, and of the
// changelog, where .ci/package/nfpm.yaml says.
func (d *dist) packages(o options, a archived, files []file) error {
	nfpm, err := tool("nfpm")
	if err != nil {
		return err
	}
	config, err := filepath.Abs(filepath.Join(".ci", "package", "nfpm.yaml"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "drift-detector-package-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	all := []file{{"changelog.gz", gzipped(changes), 0o644}}
	for _, f := range files {
		f.name = strings.TrimPrefix(f.name, a.Folder+"/")
		if f.name == "drift-detector.1" {
			f.name, f.content = f.name+".gz", gzipped(f.content)
		}
		all = append(all, f)
	}
	if err := lay(dir, o, all); err != nil {
		return err
	}
	for _, packager := range []string{"deb", "rpm"} {
		made := filepath.Join(dir, "made")
		cmd := exec.Command(nfpm, "package", "-f", config, "-p", packager, "-t", made)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ARCH="+a.GOARCH, "VERSION="+packageVersion(o.version), "HOMEPAGE="+home(o.releases), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", o.when.Unix()))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("making the %s: %w\n%s", packager, err, said)
		}
		content, err := os.ReadFile(made)
		if err != nil {
			return err
		}
		if _, err := d.announce(file{a.Folder + "." + packager, content, 0o644}); err != nil {
			return err
		}
	}
	return nil
}

// lay writes files below a folder, with the time and the modes that they are to have.
func lay(dir string, o options, files []file) error {
	for _, f := range files {
		place := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, f.content, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(place, f.mode); err != nil { // whatever the umask
			return err
		}
		if err := os.Chtimes(place, o.when, o.when); err != nil {
			return err
		}
	}
	return nil
}

func gzipped(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one
	}
	_, _ = w.Write(content) // to memory
	_ = w.Close()
	return out.Bytes()
}

var described = regexp.MustCompile(`^(v[0-9].*)-([0-9]+)-(g[0-9a-f]+)$`) // by git, after a tag

// packageVersion returns a version as dpkg and rpm order it: what comes before a release has "~",
// commits after it have "+".
func packageVersion(version string) string {
	v, dirty := strings.CutSuffix(semver(version), "-dirty")
	after := ""
	if m := described.FindStringSubmatch(v); m != nil {
		v, after = m[1], "+"+m[2]+"."+m[3]
	}
	if dirty {
		after += "+dirty"
	}
	return strings.ReplaceAll(v, "-", "~")[1:] + after
}
