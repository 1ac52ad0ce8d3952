package list

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// Another look goes where govc goes, with the same user, password and trust, and nowhere else.
func TestReachIsWhereGovcIs(t *testing.T) {
	v, err := lab.StartVCenter(lab.VCenterOptions{Archive: "../../../testdata/vcenter-after.tar.gz", Accounts: map[string]string{"user": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	known := filepath.Join(t.TempDir(), "known_hosts")
	pin := func(host, print string) string {
		if err := os.WriteFile(known, []byte("other.example AA:BB\n"+host+" "+print+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return known
	}
	user := "user:secret@"
	for name, c := range map[string]struct {
		at               string
		env              map[string]string
		state            code.ScopeState
		reason, notShown string
	}{
		"as govc with GOVC_INSECURE":     {"https://" + user + v.Addr, map[string]string{"GOVC_INSECURE": "true"}, code.ScopeComplete, "", ""},
		"user and password beside it":    {v.Addr, map[string]string{"GOVC_INSECURE": "1", "GOVC_USERNAME": "user", "GOVC_PASSWORD": "secret"}, code.ScopeComplete, "", ""},
		"a certificate that is pinned":   {"https://" + user + v.Addr, map[string]string{"GOVC_TLS_KNOWN_HOSTS": pin(v.Addr, v.Thumbprint)}, code.ScopeComplete, "", ""},
		"nothing says what to trust":     {"https://" + user + v.Addr, nil, code.ScopeFailed, "UntrustedCertificate", "secret"},
		"no file of roots":               {"https://" + user + v.Addr, map[string]string{"GOVC_TLS_CA_CERTS": "/nowhere"}, code.ScopeFailed, "UntrustedCertificate", "secret"},
		"a wrong password":               {"https://user:wr0ng@" + v.Addr, map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "AuthenticationFailed", "wr0ng"},
		"no password":                    {"https://user@" + v.Addr, map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "NoCredential", ""},
		"without TLS":                    {"http://" + user + v.Addr, map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "NoCredential", "secret"},
		"as govc has it at last":         {"https://" + user + v.Addr + "/sdk", map[string]string{"GOVC_INSECURE": "true"}, code.ScopeComplete, "", ""},
		"another one behind a path":      {"https://" + user + v.Addr + "/other/sdk", map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "NoCredential", "secret"},
		"the same without a scheme":      {user + v.Addr + "/other/sdk", map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "NoCredential", "secret"},
		"nowhere":                        {"https://" + user + "127.0.0.1:1", map[string]string{"GOVC_INSECURE": "true"}, code.ScopeFailed, "Unreachable", "secret"},
		"the variables name another one": {"https://" + user + v.Addr, map[string]string{"GOVC_INSECURE": "true", "GOVC_URL": "https://127.0.0.1:1"}, code.ScopeComplete, "", ""},
	} {
		for _, name := range []string{"GOVC_URL", "GOVC_USERNAME", "GOVC_PASSWORD", "GOVC_INSECURE", "GOVC_TLS_CA_CERTS", "GOVC_TLS_KNOWN_HOSTS"} {
			t.Setenv(name, c.env[name])
		}
		r := infra.NewRegistry(New())
		l := r.Collect(t.Context(), []infra.Target{r.Reach(vsphere.Name, c.at, infra.Sought{})}, nil).Listings[0]
		if l.State != c.state || (l.Fault == nil) != (c.reason == "") || l.Fault != nil && string(l.Fault.Reason) != c.reason {
			t.Errorf("%s: %s, %+v", name, l.State, l.Fault)
		}
		if l.State == code.ScopeComplete && (l.Identity != v.InstanceUUID() || l.Count() < 40) {
			t.Errorf("%s: %s with %d VMs", name, l.Identity, l.Count())
		}
		if l.Fault != nil && c.notShown != "" && strings.Contains(l.Fault.Message+l.Fault.Hint, c.notShown) {
			t.Errorf("%s: it shows the password: %+v", name, l.Fault)
		}
	}
}
