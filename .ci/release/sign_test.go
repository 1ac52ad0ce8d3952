package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A signature that minisign wrote is verified by install.sh, and what was changed since, or
// is signed with another key, is refused.
func TestSigned(t *testing.T) {
	d, _ := laid(t)
	t.Chdir("../..")
	minisign, err := tool("minisign")
	if err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	key := func(name string) (secret, public string) { // without a password, which takes seconds and a gigabyte to try
		secret = filepath.Join(keys, name)
		if said, err := exec.Command(minisign, "-G", "-W", "-s", secret, "-p", secret+".pub").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		text, err := os.ReadFile(secret + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return secret, lines[len(lines)-1]
	}
	secret, public := key("ours")
	_, other := key("another")
	path := "PATH=" + filepath.Dir(minisign) + string(filepath.ListSeparator) + os.Getenv("PATH")
	signed := func() string {
		t.Helper()
		if err := d.sign(options{version: "v1.2.3", key: secret}); err != nil {
			t.Fatal(err)
		}
		return d.read(t, "SHA256SUMS.minisig")
	}
	if first := signed(); first != signed() || !strings.Contains(first, "trusted comment: drift-detector v1.2.3\n") {
		t.Errorf("signed twice, it differs, or lacks its version: %s", first)
	}
	if said, ok := d.installing(t, t.TempDir(), []string{path}, []string{"--from", d.folder, "--key", public}); !ok || !strings.Contains(said, "whose signature was verified") {
		t.Errorf("%v: %s", ok, said)
	}
	for _, c := range []struct{ name, key, file, from, to string }{
		{"another key", other, "", "", ""},
		{"a changed sum", public, "SHA256SUMS", "  drift", " *drift"},
		{"a changed version", public, "SHA256SUMS.minisig", "v1.2.3", "v1.2.4"},
		{"no signature", public, "SHA256SUMS.minisig", "untrusted", ""},
	} {
		signature, sums := signed(), d.read(t, "SHA256SUMS")
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(d.folder, c.file), []byte(strings.Replace(d.read(t, c.file), c.from, c.to, 2)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if signature+sums == d.read(t, "SHA256SUMS.minisig")+d.read(t, "SHA256SUMS") && c.file != "" {
			t.Errorf("%s: nothing was changed", c.name)
		}
		if said, ok := d.installing(t, t.TempDir(), []string{path}, []string{"--from", d.folder, "--key", c.key}); ok || !strings.Contains(said, "is not signed with this key: nothing was installed") {
			t.Errorf("%s: %v: %s", c.name, ok, said)
		}
		if err := os.WriteFile(filepath.Join(d.folder, "SHA256SUMS"), []byte(sums), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, empty := range []string{"--key", "--prefix"} {
		if said, ok := d.installing(t, t.TempDir(), []string{path}, []string{"--from", d.folder, empty, ""}); ok || !strings.Contains(said, empty+" is empty") {
			t.Errorf("%s of a variable that is not set: %v: %s", empty, ok, said)
		}
	}
	if said, ok := d.installing(t, t.TempDir(), nil, []string{"--from", d.folder, "--key", public}); ok && exec.Command("minisign", "-v").Run() != nil {
		t.Errorf("without minisign: %s", said)
	}
	if err := d.sign(options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.folder, "SHA256SUMS.minisig")); err == nil {
		t.Error("a release without a key keeps the signature of another")
	}
}
