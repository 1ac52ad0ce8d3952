package package_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// archive is one of the release, for a machine.
type archive struct{ file, goos, goarch string }

// archives returns those of the release.
func archives(t *testing.T) (all []archive) {
	t.Helper()
	for _, extension := range []string{"tar.gz", "zip"} {
		found, err := filepath.Glob(filepath.Join(os.Getenv("DIST"), "drift-detector-*."+extension))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			words := strings.Split(strings.TrimSuffix(filepath.Base(file), "."+extension), "-")
			all = append(all, archive{file, words[len(words)-2], words[len(words)-1]})
		}
	}
	if len(all) == 0 {
		if os.Getenv("CI") == "" {
			t.Skip("DIST names no folder of a release")
		}
		t.Fatal("DIST has no archive")
	}
	return all
}

// version returns that of the release.
func (a archive) version() string {
	version, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(a.file), "drift-detector-"), "-"+a.goos+"-")
	return version
}

// runsHere reports whether this machine runs the program.
func (a archive) runsHere() bool { return a.goos == runtime.GOOS && a.goarch == runtime.GOARCH }

// krew, as people run it, takes the manifest for every machine that there is an archive for, finds all that it names
// in the archive, and uninstalls it.
func TestKrew(t *testing.T) {
	for _, a := range archives(t) {
		root := t.TempDir()
		krew := func(args ...string) {
			t.Helper()
			cmd := exec.Command("go", append([]string{"tool", "krew"}, args...)...)
			cmd.Env = append(os.Environ(), "KREW_ROOT="+root, "KREW_OS="+a.goos, "KREW_ARCH="+a.goarch, "KREW_NO_UPGRADE_CHECK=1")
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s/%s: krew %v: %v\n%s", a.goos, a.goarch, args, err, said)
			}
		}
		if err := os.MkdirAll(filepath.Join(root, "index", "default", ".git"), 0o755); err != nil { // krew's own list, without which it uninstalls nothing
			t.Fatal(err)
		}
		krew("install", "--manifest="+filepath.Join(os.Getenv("DIST"), "drift-detector.yaml"), "--archive="+a.file)
		link := filepath.Join(root, "bin", "kubectl-drift_detector")
		if a.goos == "windows" {
			link += ".exe"
		}
		program, err := filepath.EvalSymlinks(link)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"LICENSE", "THIRD-PARTY-LICENSES.txt"} {
			if _, err := os.Stat(filepath.Join(filepath.Dir(program), name)); err != nil {
				t.Error(err)
			}
		}
		if a.runsHere() {
			if said, err := exec.Command(link, "version").Output(); err != nil || !strings.HasPrefix(string(said), "drift-detector "+a.version()+" ") {
				t.Errorf("version prints %q: %v", said, err)
			}
		}
		krew("uninstall", "drift-detector")
		if _, err := os.Lstat(link); err == nil {
			t.Errorf("%s/%s: it was uninstalled, and is there", a.goos, a.goarch)
		}
	}
}

// Ruby takes the formula, which names the archive of each machine with its sum, installs all that
// brew would link, and whose test passes.
func TestFormula(t *testing.T) {
	if _, err := exec.LookPath("ruby"); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	dist, err := filepath.Abs(os.Getenv("DIST"))
	if err != nil {
		t.Fatal(err)
	}
	double, err := filepath.Abs("homebrew.rb")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archives(t) {
		if a.goos == "windows" {
			continue
		}
		folder, prefix := t.TempDir(), t.TempDir()
		if said, err := exec.Command("tar", "-xzf", a.file, "-C", folder, "--strip-components=1").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		args := []string{"-w", double, filepath.Join(dist, "drift-detector.rb"), map[string]string{"darwin": "macos", "linux": "linux"}[a.goos], map[string]string{"amd64": "intel", "arm64": "arm"}[a.goarch], prefix}
		if a.runsHere() {
			args = append(args, "test")
		}
		cmd := exec.Command("ruby", args...)
		cmd.Dir = folder
		var said struct{ Desc, Homepage, Version, License, URL, SHA256 string }
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &said)
		}
		if err != nil || problems.Len() > 0 {
			t.Fatalf("%v: %v\n%s%s", args, err, out, problems.Bytes())
		}
		content, err := os.ReadFile(a.file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if said.SHA256 != hex.EncodeToString(sum[:]) || !strings.HasSuffix(said.URL, "/"+a.version()+"/"+filepath.Base(a.file)) || said.Desc == "" || len(said.Desc) > 80 || said.Version == "" || said.License != "Apache-2.0" {
			t.Errorf("it says %+v", said)
		}
		var got []string
		err = filepath.WalkDir(prefix, func(place string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				name, _ := filepath.Rel(prefix, place)
				got = append(got, name)
			}
			return err
		})
		if want := []string{
			"bin/drift-detector", "etc/bash_completion.d/drift-detector", "share/doc/drift-detector/THIRD-PARTY-LICENSES.txt", "share/doc/drift-detector/drift-detector.cdx.json",
			"share/fish/vendor_completions.d/drift-detector.fish", "share/man/man1/drift-detector.1", "share/zsh/site-functions/_drift-detector",
		}; err != nil || !slices.Equal(got, want) {
			t.Errorf("it installs %q, want %q: %v", got, want, err)
		}
	}
}
