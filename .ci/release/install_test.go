package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installing runs install.sh, and returns what it said and whether it succeeded. It demands
// that its temporary folder is gone, and that after a failure nothing is installed.
func (d *dist) installing(t *testing.T, prefix string, env, args []string) (string, bool) {
	t.Helper()
	tmp := t.TempDir()
	cmd := exec.Command("sh", append([]string{filepath.Join(d.folder, "install.sh")}, args...)...)
	cmd.Env = append(os.Environ(), append(env, "TMPDIR="+tmp, "PREFIX="+prefix)...)
	said, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("%q leaves %v", args, left)
	}
	if _, there := os.Stat(filepath.Join(prefix, "bin", "drift-detector")); (err == nil) != (there == nil) {
		t.Errorf("%q ends with %v, and the program: %v", args, err, there)
	}
	return string(said), err == nil
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
