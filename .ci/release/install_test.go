package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// installing runs install.sh, and returns what it said and whether it succeeded. It demands
// that its temporary folder is gone, and that after a failure all files are as they were.
func (d *dist) installing(t *testing.T, prefix string, env, args []string) (string, bool) {
	t.Helper()
	tmp, before := t.TempDir(), tree(t, prefix)
	cmd := exec.Command("sh", append([]string{filepath.Join(d.folder, "install.sh")}, args...)...)
	cmd.Env = append(os.Environ(), append(env, "TMPDIR="+tmp, "PREFIX="+prefix)...)
	said, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("%q leaves %v", args, left)
	}
	if after := tree(t, prefix); err != nil && !maps.Equal(before, after) {
		t.Errorf("%q ends with %v, and of %v has made %v", args, err, before, after)
	}
	return string(said), err == nil
}

// tree returns the content of each file below a place, by its name.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(place string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(place)
		name, _ := filepath.Rel(root, place)
		files[name] = string(content)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// What an installation consists of, and what uninstalling removes.
var places = []string{
	"bin/drift-detector", "share/bash-completion/completions/drift-detector", "share/fish/vendor_completions.d/drift-detector.fish",
	"share/man/man1/drift-detector.1", "share/zsh/site-functions/_drift-detector",
}

// put makes a file, with the folders that it is in.
func put(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// An installation replaces an older one whole, each file in one step: a program that runs keeps
// its own. Where it can't be whole, or is not verified, the old one stays.
func TestInstallReplaces(t *testing.T) {
	older := func() string {
		prefix := t.TempDir()
		for _, place := range places {
			put(t, filepath.Join(prefix, place), "old "+place)
		}
		put(t, filepath.Join(prefix, "bin/drift-detector.new"), "another's")
		return prefix
	}
	d, _ := laid(t)
	prefix := older()
	runs, err := os.Open(filepath.Join(prefix, "bin/drift-detector"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = runs.Close() }()
	if said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder}); !ok {
		t.Fatal(said)
	}
	if content, err := io.ReadAll(runs); err != nil || string(content) != "old bin/drift-detector" {
		t.Errorf("the program that runs is %q: %v", content, err)
	}
	after := tree(t, prefix)
	if after["bin/drift-detector.new"] != "another's" || len(after) != len(places)+1 {
		t.Errorf("there is %v", after)
	}
	for _, place := range places {
		if strings.HasPrefix(after[place], "old") {
			t.Errorf("%s is the old one", place)
		}
	}
	for _, place := range places {
		prefix := older()
		if err := errors.Join(os.Remove(filepath.Join(prefix, place)), os.Mkdir(filepath.Join(prefix, place), 0o755)); err != nil {
			t.Fatal(err)
		}
		if said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder}); ok || !strings.Contains(said, place+" is a folder: nothing was installed") {
			t.Errorf("a folder is in %s: ok %v, it says %s", place, ok, said)
		}
	}
	prefix = older()
	if err := errors.Join(os.RemoveAll(filepath.Join(prefix, "share/zsh")), os.WriteFile(filepath.Join(prefix, "share/zsh"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder}); ok || !strings.Contains(said, "nothing was installed; choose another place") {
		t.Errorf("ok %v, it says %s", ok, said)
	}
	put(t, filepath.Join(d.folder, "drift-detector-v1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz"), "changed")
	if said, ok := d.installing(t, older(), nil, []string{"--from", d.folder}); ok || !strings.Contains(said, "nothing was installed") {
		t.Errorf("ok %v, it says %s", ok, said)
	}
}

// install.sh --uninstall removes what install.sh installs, and nothing else.
func TestUninstall(t *testing.T) {
	d, _ := laid(t)
	prefix := t.TempDir()
	put(t, filepath.Join(prefix, "bin/another"), "another's")
	uninstall := []string{"--uninstall", "--prefix", prefix}
	if said, ok := d.installing(t, prefix, nil, uninstall); ok || !strings.Contains(said, "nothing of drift-detector is in "+prefix) {
		t.Errorf("nothing is installed: ok %v, it says %s", ok, said)
	}
	if said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder}); !ok || len(tree(t, prefix)) != len(places)+1 {
		t.Fatal(said)
	}
	if said, ok := d.installing(t, prefix, nil, uninstall); !ok || !strings.Contains(said, "no longer in "+prefix) {
		t.Errorf("ok %v, it says %s", ok, said)
	}
	if left := tree(t, prefix); len(left) != 1 {
		t.Errorf("it leaves %v", left)
	}
}

// modes demands that what was installed is for everybody: each file below a place can be read, and each folder entered.
func modes(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(place string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o644)
		if d.IsDir() || d.Name() == "drift-detector" && filepath.Base(filepath.Dir(place)) == "bin" {
			want = 0o755
		}
		if place != root && d.Name() != "another" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", place, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// With a umask of root's that keeps all from others, what is installed is for them all the same.
func TestInstallIsForEverybody(t *testing.T) {
	d, _ := laid(t)
	root := t.TempDir()
	cmd := exec.Command("sh", "-c", `umask 077; exec sh "$0" "$@"`, filepath.Join(d.folder, "install.sh"), "--from", d.folder, "--prefix", filepath.Join(root, "usr"))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	modes(t, root)
}

// What a run that was killed has left is swept by the next, and what one that runs has put there is not.
// A place for temporary files may have any name; a flag is no value of another, and --help is no error.
func TestInstallMeetsWhatIsThere(t *testing.T) {
	d, _ := laid(t)
	prefix, tmp := t.TempDir(), filepath.Join(t.TempDir(), `a\b`)
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command("true")
	if err := killed.Run(); err != nil {
		t.Fatal(err)
	}
	left := func(pid int) string { return fmt.Sprintf("bin/drift-detector.new.%d", pid) }
	for _, place := range []string{left(killed.Process.Pid), left(os.Getpid()), "bin/drift-detector.new.txt"} {
		put(t, filepath.Join(prefix, place), "staged")
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{filepath.Join(d.folder, "install.sh")}, args...)...)
		cmd.Env, cmd.Dir = append(os.Environ(), "TMPDIR="+tmp), t.TempDir()
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	for _, args := range [][]string{{"--from", d.folder, "--prefix", prefix}, {"--uninstall", "--prefix", prefix}} {
		if said, err := run(args...); err != nil {
			t.Fatalf("%q: %v: %s", args, err, said)
		}
		all := tree(t, prefix)
		if all[left(killed.Process.Pid)] != "" || all[left(os.Getpid())] == "" || all["bin/drift-detector.new.txt"] == "" {
			t.Errorf("%q leaves %v", args, all)
		}
		put(t, filepath.Join(prefix, left(killed.Process.Pid)), "staged")
	}
	if said, err := run("--help"); err != nil || !strings.HasPrefix(said, "usage: ") {
		t.Errorf("--help: %v: %s", err, said)
	}
	if said, err := run("--prefix", "--uninstall"); err == nil || !strings.Contains(said, "--prefix has no value") {
		t.Errorf("--prefix --uninstall: %v: %s", err, said)
	}
}

// An interrupt between two moves leaves no half of a version.
func TestInstallIsNotHalf(t *testing.T) {
	d, _ := laid(t)
	tools, prefix := t.TempDir(), t.TempDir()
	mv, err := exec.LookPath("mv")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(tools, "mv"), "#!/bin/sh\nkill -INT $PPID\nexec "+mv+" \"$@\"\n")
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder})
	if all := tree(t, prefix); !ok || len(all) != len(places) {
		t.Errorf("ok %v, it says %s, and there is %v", ok, said, slices.Sorted(maps.Keys(all)))
	}
}

// A folder in one of the places keeps all of an installation: a half of one is no use to anybody.
func TestUninstallWhole(t *testing.T) {
	d, _ := laid(t)
	prefix := t.TempDir()
	if said, ok := d.installing(t, prefix, nil, []string{"--from", d.folder}); !ok {
		t.Fatal(said)
	}
	program := filepath.Join(prefix, "bin/drift-detector")
	if err := errors.Join(os.Remove(program), os.Mkdir(program, 0o755)); err != nil {
		t.Fatal(err)
	}
	said, ok := d.installing(t, prefix, nil, []string{"--uninstall", "--prefix", prefix})
	if ok || !strings.Contains(said, program+" is a folder") || len(tree(t, prefix)) != len(places)-1 {
		t.Errorf("ok %v, it says %s, and leaves %v", ok, said, tree(t, prefix))
	}
}

// make install puts the same into the same places, also over an older one, and make uninstall removes it.
func TestMakeInstall(t *testing.T) {
	// Neither what a shell reads as several words or as a command, nor a umask, changes what is installed and removed.
	folder, root := t.TempDir(), filepath.Join(t.TempDir(), "it's a; false; place")
	precious := filepath.Join(filepath.Dir(root), "it's")
	put(t, precious, "another's")
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder, "Makefile"), string(makefile))
	put(t, filepath.Join(folder, "bin/drift-detector"), "#!/bin/sh\necho \"$@\"\n")
	run := func(target string, more ...string) error {
		cmd := exec.Command("sh", append([]string{"-c", `umask 077; exec make "$@"`, "sh", "-o", "build", target, "PREFIX=/usr", "DESTDIR=" + root}, more...)...)
		cmd.Dir = folder
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("make %s: %w\n%s", target, err, said)
		}
		return err
	}
	program := filepath.Join(root, "usr/bin/drift-detector")
	put(t, program, "old")
	put(t, filepath.Join(root, "usr/bin/another"), "another's")
	if err := run("install"); err != nil {
		t.Fatal(err)
	}
	for _, place := range places {
		if content, err := os.ReadFile(filepath.Join(root, "usr", place)); err != nil || len(content) == 0 || string(content) == "old" {
			t.Errorf("%s: %q, %v", place, content, err)
		}
	}
	modes(t, root)
	if all := tree(t, root); len(all) != len(places)+1 {
		t.Errorf("there is %v", all)
	}
	if err := run("uninstall"); err != nil {
		t.Error(err)
	}
	if left := tree(t, root); len(left) != 1 {
		t.Errorf("it leaves %v", left)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	put(t, filepath.Join(folder, "bin/drift-detector"), "#!/nowhere\n")
	if err := run("install"); err == nil || !strings.Contains(err.Error(), "nothing was installed") || len(tree(t, root)) != 1 {
		t.Errorf("a program of another machine: %v, %v", err, tree(t, root))
	}
	if err := os.Mkdir(program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run("install"); err == nil || !strings.Contains(err.Error(), program+" is a folder") || len(tree(t, root)) != 1 {
		t.Errorf("a folder is in the program's place: %v, %v", err, tree(t, root))
	}
}

// install.sh uses nothing of its tools that only GNU's have: macOS has others. Here it runs with those of
// busybox, which take what POSIX has and little more.
func TestInstallWithoutGNU(t *testing.T) {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	d, _ := laid(t)
	tools := t.TempDir()
	for name := range strings.FieldsSeq("sh awk cat chmod cp cut mkdir mktemp mv rm sha256sum tar uname") {
		if err := os.Symlink(busybox, filepath.Join(tools, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", tools) // and no others
	if said, ok := d.installing(t, filepath.Join(t.TempDir(), "a place"), nil, []string{"--from", d.folder}); !ok {
		t.Error(said)
	}
}

// install.sh puts the archive of this machine in its places, from a folder or a server.
func TestInstall(t *testing.T) {
	d, _ := laid(t)
	if said, err := exec.Command("shellcheck", filepath.Join(d.folder, "install.sh")).CombinedOutput(); err != nil && os.Getenv("CI") != "" {
		t.Errorf("shellcheck: %v\n%s", err, said)
	}
	server := httptest.NewTLSServer(http.StripPrefix("/v1.2.3", http.FileServer(http.Dir(d.folder))))
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{d.folder, server.URL + "/v1.2.3/"} {
		prefix := filepath.Join(t.TempDir(), "a place")
		said, ok := d.installing(t, prefix, []string{"CURL_CA_BUNDLE=" + authority, "NO_PROXY=127.0.0.1"}, []string{"--from", from})
		if !ok || strings.Count(said, "\n") != 1 || !strings.Contains(said, "drift-detector v1.2.3 is in "+prefix+"/bin") {
			t.Fatalf("from %s: %s", from, said)
		}
		ran, err := exec.Command(filepath.Join(prefix, "bin", "drift-detector")).Output()
		if want := runtime.GOOS + "/" + runtime.GOARCH + " drift-detector\n"; err != nil || string(ran) != want {
			t.Errorf("it prints %q, want %q: %v", ran, want, err)
		}
		for _, name := range []string{"man/man1/drift-detector.1", "bash-completion/completions/drift-detector", "zsh/site-functions/_drift-detector", "fish/vendor_completions.d/drift-detector.fish"} {
			if _, err := os.Stat(filepath.Join(prefix, "share", name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is not the release's is not installed, and it says why.
func TestInstallRefuses(t *testing.T) {
	archive := "drift-detector-v1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	for _, c := range []struct {
		name, file string
		spoil      func(content string) string
		args       []string
		says       string
	}{
		{"a changed archive", archive, func(c string) string { return c[:20] + "x" + c[21:] }, nil, archive + " is not what SHA256SUMS has"},
		{"an archive that is longer", archive, func(c string) string { return c + "x" }, nil, archive + " is not what SHA256SUMS has"},
		{"a list without it", "SHA256SUMS", func(c string) string { return strings.ReplaceAll(c, archive, "x"+archive) }, nil, "SHA256SUMS has no line for " + archive},
		{"two sums", "SHA256SUMS", func(c string) string { return c + strings.Repeat("0", 64) + "  " + archive + "\n" }, nil, archive + " is not what SHA256SUMS has"},
		{"no list", "SHA256SUMS", func(string) string { return "" }, nil, "SHA256SUMS has no line"},
		{"no encryption", "", nil, []string{"--from", "http://127.0.0.1/"}, "only https:// is taken"},
		{"no address", "install.sh", func(c string) string { return strings.ReplaceAll(c, "/fleet/", "/OWNER/") }, []string{"--prefix", "@"}, "made without its address"},
		{"no such folder", "", nil, []string{"--from", "/nowhere"}, "cannot read SHA256SUMS of /nowhere"},
		{"no such option", "", nil, []string{"--force", "yes"}, "no option --force"},
		{"no value", "", nil, []string{"--from"}, "usage: "},
		{"an empty prefix", "", nil, []string{"--prefix", ""}, "--prefix is empty"},
		{"an empty key", "", nil, []string{"--key", ""}, "--key is empty"},
		{"an empty folder's name", "", nil, []string{"--from", ""}, "--from is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := laid(t)
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(d.folder, c.file), []byte(c.spoil(d.read(t, c.file))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			prefix, args := t.TempDir(), c.args
			if args == nil {
				args = []string{"--from", d.folder}
			}
			if said, ok := d.installing(t, prefix, nil, args); ok || !strings.Contains(said, c.says) {
				t.Errorf("ok %v, it says %s", ok, said)
			}
		})
	}
	d, _ := laid(t)
	file := filepath.Join(t.TempDir(), "file") // below which nobody can write, not even root
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, ok := d.installing(t, file, nil, []string{"--from", d.folder}); ok || !strings.Contains(said, "or run this as root") {
		t.Errorf("ok %v, it says %s", ok, said)
	}
}
