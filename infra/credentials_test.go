package infra_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// secretWord stands for what must never be in an error or warning.
const secretWord = "hunter2"

// credentialsFolder returns a folder with a credentials file and what it may name.
func credentialsFolder(t *testing.T, text string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "credentials.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func caPEM(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestReadCredentials(t *testing.T) {
	ca := caPEM(t)
	pin := strings.Repeat("AB:", 31) + "AB"
	path := credentialsFolder(t, "\ufeff"+`
endpoints:
- endpoint: vc.example.com
  username: administrator@vsphere.local
  password: 0123 # as written, not as a number
- endpoint: https://VC2.example.com/sdk
  username: reader
  passwordFile: password
- endpoint: vc3.example.com:8443
  thumbprint: `+pin+`
- {endpoint: vc4.example.com, caFile: ca.pem}
- endpoint: 10.0.0.1:6443
  kubeconfig: prod.kubeconfig
`, map[string]string{"password": "\ufeff two words \r\n", "ca.pem": ca, "prod.kubeconfig": "kind: Config\n"})
	creds, warnings, err := infra.ReadCredentials(path)
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	source := "--credentials " + path
	want := []infra.Credential{
		{Endpoint: "vc.example.com", Source: source, Username: "administrator@vsphere.local", Password: backup.NewSensitive("0123")},
		{Endpoint: "https://VC2.example.com/sdk", Source: source, Username: "reader", Password: backup.NewSensitive(" two words ")},
		{Endpoint: "vc3.example.com:8443", Source: source, Thumbprint: pin},
		{Endpoint: "vc4.example.com", Source: source, CA: []byte(ca)},
		{Endpoint: "10.0.0.1:6443", Source: source, Kubeconfig: backup.NewSensitive("kind: Config\n")},
	}
	if len(creds) != len(want) {
		t.Fatalf("%d credentials, want %d", len(creds), len(want))
	}
	for i := range want {
		got := creds[i]
		if got.Endpoint != want[i].Endpoint || got.Source != source || got.Username != want[i].Username || got.Password != want[i].Password ||
			got.Thumbprint != want[i].Thumbprint || string(got.CA) != string(want[i].CA) || got.Kubeconfig != want[i].Kubeconfig {
			t.Errorf("credential %d is for %s with %q, differs from %s", i, got.Endpoint, got.Password.Reveal(), want[i].Endpoint)
		}
	}
}

func TestReadCredentialsRefuses(t *testing.T) {
	const head = "endpoints:\n- endpoint: vc.example.com\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "endpoints: is missing"},
		{"comment only", "# nothing\n", "endpoints: is missing"},
		{"no list", "endpoints: " + secretWord, "must be a list"},
		{"a scalar", secretWord, "line 1: expected fields"},
		{"a list on top", "- endpoint: a\n", "line 1: expected fields"},
		{"unknown on top", "endpoints: []\nversion: 1\n", "line 2: unknown field version; known are endpoints"},
		{"unknown field", head + "  user: a\n  password: " + secretWord, "line 3: unknown field user; known are endpoint, username"},
		{"other case", head + "  userName: a\n", "line 3: unknown field userName; known are"},
		{"a password for a field", head + "  " + secretWord + ": a\n", "line 3: unknown field; known are"},
		{"field twice", head + "  username: a\n  username: b\n", "line 4"},
		{"item is no mapping", "endpoints:\n- " + secretWord + "\n", "line 2: expected fields"},
		{"no endpoint", "endpoints:\n- username: a\n  password: " + secretWord, "line 2: endpoint is missing"},
		{"endpoint is no host", "endpoints:\n- endpoint: 'a b'\n  username: a\n", "line 2: endpoint a b"},
		{"plain http", "endpoints:\n- endpoint: http://a\n  username: a\n", "http:// is refused"},
		{"user info", "endpoints:\n- endpoint: https://a:" + secretWord + "@vc\n  username: a\n", "line 2: endpoint must not hold a user"},
		{"endpoint twice", head + "  thumbprint: " + strings.Repeat("ab", 20) + "\n- endpoint: https://VC.example.com:443/sdk\n  username: a\n  password: " + secretWord, "line 4: endpoint vc.example.com:443 is given twice, first on line 2"},
		{"nothing given", head, "vc.example.com: nothing is given"},
		{"password and file", head + "  username: a\n  password: " + secretWord + "\n  passwordFile: password\n", "not both"},
		{"no user", head + "  password: " + secretWord, "together"},
		{"no password", head + "  username: a\n", "together"},
		{"empty password", head + "  username: a\n  password: ''\n", "line 4: password must be a text"},
		{"password is a comment", head + "  username: a\n  password: #" + secretWord, "line 4: password must be a text"},
		{"password is null", head + "  username: a\n  password: ~\n", "line 4: password must be a text"},
		{"password is a tag", head + "  username: a\n  password: !" + secretWord, "line 4: password must be a text"},
		{"password is a tag and more", head + "  username: a\n  password: !x " + secretWord, "line 4: password must be a text"},
		{"password is an anchor", head + "  username: a\n  password: &" + secretWord + " b\n", "line 4: password must be a text"},
		{"password is an alias", head + "  username: a\n  password: *" + secretWord, "not valid YAML"},
		{"password is a mapping", head + "  username: a\n  password: {" + secretWord + ": b}\n", "line 4: password must be a text"},
		{"password breaks YAML", head + "  username: a\n  password: @" + secretWord, "line 4: it is not valid YAML; quote"},
		{"no passwordFile", head + "  username: a\n  passwordFile: none\n", "vc.example.com: passwordFile is no file that can be read: no such file"},
		{"password for its file", head + "  username: a\n  passwordFile: " + secretWord + "\n", "passwordFile is no file that can be read"},
		{"empty passwordFile", head + "  username: a\n  passwordFile: empty\n", "passwordFile is empty"},
		{"passwordFile of PowerShell", head + "  username: a\n  passwordFile: utf16\n", "utf16: this is UTF-16; save it as UTF-8"},
		{"giant passwordFile", head + "  username: a\n  passwordFile: giant\n", "larger than"},
		{"no caFile", head + "  caFile: none\n", "vc.example.com: caFile: open"},
		{"caFile without certificate", head + "  caFile: password\n", "no certificate in PEM form"},
		{"no kubeconfig", head + "  kubeconfig: none\n", "vc.example.com: kubeconfig is no file that can be read: "},
		{"thumbprint is no hex", head + "  thumbprint: xyz\n", "neither SHA-1 nor SHA-256"},
		{"thumbprint of wrong size", head + "  thumbprint: AB:CD\n", "neither SHA-1 nor SHA-256"},
		{"two documents", head + "  kubeconfig: password\n---\nendpoints: []\n", "more than one YAML document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := credentialsFolder(t, c.text, map[string]string{"password": secretWord, "empty": "\n", "utf16": "\xff\xfea\x00", "giant": strings.Repeat("x", 1<<20+1)})
			creds, warnings, err := infra.ReadCredentials(path)
			if err == nil || creds != nil {
				t.Fatalf("%d credentials, error %v", len(creds), err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %q, want the file and %q", err, c.want)
			}
			if strings.Contains(err.Error()+strings.Join(warnings, ""), secretWord) {
				t.Errorf("the secret shows in %q, %q", err, warnings)
			}
		})
	}
}

func TestReadCredentialsMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	if _, _, err := infra.ReadCredentials(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// A file of another account, which this one reads as a member of the file's group, is not open to
// others, and nobody can change its mode: so are Secrets mounted into a pod.
func TestReadCredentialsOfAnotherAccount(t *testing.T) {
	for mode, warns := range map[os.FileMode]bool{0o440: false, 0o640: false, 0o400: false, 0o444: true, 0o660: true} {
		path := credentialsFolder(t, "endpoints:\n- {endpoint: a, caFile: ca.pem}\n", map[string]string{"ca.pem": caPEM(t)})
		if err := errors.Join(os.Chmod(path, mode), os.Chown(path, os.Geteuid()+1, os.Getegid())); err != nil {
			t.Skip(err) // only root gives files away
		}
		if _, warnings, err := infra.ReadCredentials(path); err != nil || len(warnings) > 0 != warns {
			t.Errorf("mode %04o: error %v, warnings %q", mode, err, warnings)
		}
	}
}

// TestReadCredentialsWarnsOfOpenFiles holds that each file with a secret is
// warned of when others may read it, and no other file.
func TestReadCredentialsWarnsOfOpenFiles(t *testing.T) {
	path := credentialsFolder(t, `
endpoints:
- {endpoint: a, username: u, passwordFile: password}
- {endpoint: b, kubeconfig: kubeconfig}
- {endpoint: c, caFile: ca.pem}
`, map[string]string{"password": secretWord, "kubeconfig": secretWord, "ca.pem": caPEM(t)})
	var want []string
	for _, name := range []string{"credentials.yaml", "password", "kubeconfig", "ca.pem"} {
		file := filepath.Join(filepath.Dir(path), name)
		if err := os.Chmod(file, 0o640); err != nil {
			t.Fatal(err)
		}
		if name != "ca.pem" && runtime.GOOS != "windows" {
			want = append(want, file+" may be read by others (mode 0640)")
		}
	}
	_, warnings, err := infra.ReadCredentials(path)
	if err != nil || len(warnings) != len(want) {
		t.Fatalf("error %v, warnings %q, want %q", err, warnings, want)
	}
	for i := range want {
		if !strings.HasPrefix(warnings[i], want[i]) {
			t.Errorf("warning %q, want %q", warnings[i], want[i])
		}
	}
}
