package list

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// A subscription that the cluster does not name is that of the ids that it records.
func TestSubscriptionOfIDs(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	data := azurelab.Edit(t, azurelab.Backup(t, lab), azurelab.Spec("AzureCluster", "shop", func(s map[string]any) { delete(s, "subscriptionID") }))
	w := decide(t, data, access(s))
	w.demand(t, living, healthy, "")
	w.demand(t, gone, stale, code.InstanceNotFound)
}

// A secret with a newline behind it is another one, as it is to CAPZ.
func TestPaddedSecret(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	data := azurelab.WithIdentity(t, azurelab.Backup(t, lab), azurelab.Secret+"\n", func(map[string]any) {})
	a := access(s)
	a.Options = nil
	p := small(nil)
	if l := p.List(t.Context(), azurelab.TargetOf(t, p, data, a)); l.Fault == nil || l.Fault.Reason != code.AuthenticationFailed || !strings.Contains(l.Fault.Message, "AADSTS7000215") {
		t.Errorf("%+v", l.Fault)
	}
	snapshot, secrets := azurelab.Load(t, p, data)
	found := p.Check(snapshot, secrets, time.Now())
	if len(found) != 1 || found[0].Code != "CredentialPadded" {
		t.Errorf("%+v", found)
	}
	// The operator's own is used instead, and said so.
	p = small(azurelab.Operator)
	a = access(s)
	l := p.List(t.Context(), azurelab.TargetOf(t, p, data, a))
	if own, _ := l.Facts.Get(infra.FactOwn); l.State != complete || own != infra.OwnRefused || len(l.Warnings) == 0 {
		t.Errorf("%s %+v %q", l.State, l.Fault, l.Facts)
	}
}

// A certificate logs in, too.
func TestCertificateLogsIn(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	s.Principals(func(p *azurelab.Principal) { p.Secret, p.Federated = "", true })
	a := access(s)
	a.Options = nil
	p := small(nil)
	l := p.List(t.Context(), azurelab.TargetOf(t, p, azurelab.WithIdentity(t, azurelab.Backup(t, lab), azurelab.SelfSigned(t), func(s map[string]any) { s["type"] = "ServicePrincipalCertificate" }), a))
	if l.State != complete {
		t.Errorf("%s: %+v", l.State, l.Fault)
	}
}

// A workload identity is used with the flag alone, and the flag says whose it is.
func TestWorkloadIdentityOfTheOperator(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a.federated.token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AZURE_TENANT_ID": azurelab.Operator["AZURE_TENANT_ID"], "AZURE_CLIENT_ID": "b90d64e3-7f1a-4c28-a5d6-38e21f7b0c49", "AZURE_FEDERATED_TOKEN_FILE": file}
	a := access(s)
	a.Options = nil
	w := func(a infra.Access) infra.Listing {
		p := small(env)
		snapshot, secrets := azurelab.Load(t, p, azurelab.Backup(t, lab))
		for _, target := range p.Targets(snapshot, secrets, a) {
			if target.Account == azurelab.ML {
				if target.Refused == nil && !strings.Contains(target.Use, "AZURE_ variables (--azure-ambient)") {
					t.Errorf("it is announced as %q", target.Use)
				}
				return p.List(t.Context(), target)
			}
		}
		return infra.Listing{}
	}
	if l := w(a); l.State != code.ScopeFailed || l.Fault.Reason != code.NoCredential {
		t.Errorf("without the flag it is %s: %+v", l.State, l.Fault)
	}
	a.Options = map[string]string{"azure-ambient": "true"}
	if l := w(a); l.State != complete {
		t.Errorf("with the flag it is %s: %+v", l.State, l.Fault)
	}
}

// The az command is run with ids alone, and only with its flag.
func TestAzCommand(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	p := small(nil)
	ran := filepath.Join(t.TempDir(), "ran")
	az := filepath.Join(t.TempDir(), "az")
	script := "#!/bin/sh\necho \"$@\" > " + ran + "\ncase $FAIL in '') echo '{\"accessToken\":\"not-a-token-of-the-lab\"}';; *) echo 'Please run az login' >&2; exit 1;; esac\n"
	if err := os.WriteFile(az, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Az = func() (string, error) { return az, nil }
	a := access(s)
	a.Options = map[string]string{"azure-cli": "true"}
	data := azurelab.WithIdentity(t, azurelab.Backup(t, lab), "x", func(s map[string]any) { s["type"] = "WorkloadIdentity" })
	l := p.List(t.Context(), azurelab.TargetOf(t, p, data, a))
	if l.Fault == nil || l.Fault.Reason != code.AuthenticationFailed {
		t.Errorf("the lab took its token: %+v", l.Fault)
	}
	text, err := os.ReadFile(ran)
	if want := "account get-access-token --output json --resource https://management.azure.com/ --subscription " + azurelab.Retail + "\n"; err != nil || string(text) != want {
		t.Errorf("it ran %q, want %q", text, want)
	}
	t.Setenv("FAIL", "yes")
	if l := p.List(t.Context(), azurelab.TargetOf(t, p, data, a)); l.Fault == nil || !strings.Contains(l.Fault.Message, "Please run az login") {
		t.Errorf("%+v", l.Fault)
	}
	p.Az = func() (string, error) { return "", errors.New("not found") }
	if target := azurelab.TargetOf(t, p, data, a); target.Refused == nil || !strings.Contains(target.Refused.Message, "no az command") {
		t.Errorf("%+v", target.Refused)
	}
}

// A login that is refused is tried twice at most, whatever needs it.
func TestRefusedLogins(t *testing.T) {
	for says, change := range map[string]func(*azurelab.Principal){
		"AADSTS7000215": func(p *azurelab.Principal) { p.Secret = "another" },
		"AADSTS700016":  func(p *azurelab.Principal) { p.ClientID = "00000000-0000-4000-8000-000000000000" },
		"AADSTS90002":   func(p *azurelab.Principal) { p.Tenant = "00000000-0000-4000-8000-000000000000" },
	} {
		s := azurelab.Serve(t, lab, azurelab.Options{})
		s.Principals(change)
		p := small(nil)
		a := access(s)
		a.Options = nil
		target := azurelab.TargetOf(t, p, azurelab.Backup(t, lab), a)
		for range 4 {
			if l := p.List(t.Context(), target); l.Fault == nil || l.Fault.Reason != code.AuthenticationFailed || l.Fault.Hint == "" {
				t.Errorf("%s: %+v", says, l.Fault)
			}
		}
		if _, refused := s.Logins(); refused > infra.MaxFailedLogins {
			t.Errorf("%s: %d logins failed", says, refused)
		}
	}
}

// Nothing is sent to a server whose certificate nobody trusts.
func TestUntrustedServer(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	a := access(s)
	a.Options, a.Credentials = nil, nil
	p := small(nil)
	l := p.List(t.Context(), azurelab.TargetOf(t, p, azurelab.Backup(t, lab), a))
	if l.Fault == nil || l.Fault.Reason != code.UntrustedCertificate || !strings.Contains(l.Fault.Hint, azurelab.Authority) {
		t.Errorf("%+v", l.Fault)
	}
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("it was asked %q", asked)
	}
	addr, contacts := infratest.Listen(t)
	a.Reroutes = []infra.Reroute{{From: "evil.example", To: addr}}
	_ = azurelab.TargetOf(t, p, azurelab.Backup(t, lab), a)
	if contacts() > 0 {
		t.Error("another server was contacted")
	}
}
