package azure

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
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

// withIdentity makes a backup whose identity retail-sp is another, with that value in its
// Secret.
func withIdentity(t *testing.T, value string, change func(spec map[string]any)) []byte {
	t.Helper()
	return edit(t, fleet(t), func(resource string, o map[string]any) bool {
		meta, _ := o["metadata"].(map[string]any)
		switch {
		case o["kind"] == identityKind && meta["name"] == "retail-sp":
			change(o["spec"].(map[string]any))
		case resource == "secrets" && meta["name"] == "retail-sp-secret":
			o["data"].(map[string]any)[secretKey] = []byte(value)
		}
		return true
	})
}

// targetOf returns the target of cluster shop.
func targetOf(t *testing.T, p *provider, data []byte, a infra.Access) infra.Target {
	t.Helper()
	s, secrets := load(t, data)
	for _, target := range p.Targets(s, secrets, a) {
		for _, id := range target.Clusters {
			if id.Name == "shop" {
				return target
			}
		}
	}
	t.Fatal("cluster shop has no target")
	return infra.Target{}
}

const labSecret = "lab~Secret8Q.retail"

// selfSigned returns a certificate with its key in PEM form.
func selfSigned(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "capz"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})) + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// Each type of identity has its credential in the backup, or says what may be used instead.
func TestIdentities(t *testing.T) {
	pair := selfSigned(t)
	locked := strings.ReplaceAll(pair, " PRIVATE KEY", " ENCRYPTED PRIVATE KEY")
	of := func(kind string) func(map[string]any) { return func(s map[string]any) { s["type"] = kind } }
	set := func(name string, value any) func(map[string]any) {
		return func(s map[string]any) { s[name] = value }
	}
	for name, c := range map[string]struct {
		value  string
		change func(map[string]any)
		want   code.Reason // of the refusal; empty: none
		says   string
	}{
		"ServicePrincipal":                      {labSecret, of(typeSecret), "", ""},
		"ManualServicePrincipal":                {labSecret, of(typeManual), "", ""},
		"ServicePrincipalCertificate":           {pair, of(typeCertificate), "", ""},
		"a certificate with a password":         {locked, of(typeCertificate), code.BadIdentity, "password"},
		"a certificate in PKCS #12 form":        {"\x30\x82\x01\x02", of(typeCertificate), code.BadIdentity, "PKCS #12"},
		"a certificate without its key":         {pair[strings.Index(pair, "-----BEGIN CERT"):], of(typeCertificate), code.BadIdentity, "no RSA key"},
		"a key of another certificate":          {pair[:strings.Index(pair, "-----BEGIN CERT")] + selfSigned(t)[1700:], of(typeCertificate), code.BadIdentity, "no certificate of its private key"},
		"a certificate in a file beside CAPZ":   {"x", func(s map[string]any) { s["type"], s["certPath"] = typeCertificate, "/etc/shadow" }, code.NoCredential, "certPath"},
		"WorkloadIdentity":                      {"x", of(typeWorkload), code.NoCredential, "only CAPZ's pod"},
		"UserAssignedMSI":                       {"x", of(typeMSI), code.NoCredential, "where CAPZ runs"},
		"UserAssignedIdentityCredential":        {"x", of(typeUserAssigned), code.NoCredential, "where CAPZ runs"},
		"a type that CAPZ does not know":        {"x", of("Magic"), code.BadIdentity, "Magic"},
		"a tenant that is no UUID":              {labSecret, set("tenantID", "contoso.example/../x"), code.BadIdentity, "tenantID"},
		"a client that is no UUID":              {labSecret, set("clientID", ""), code.BadIdentity, "clientID"},
		"no secret":                             {"", of(typeSecret), code.NoCredential, "is not in the backup"},
		"no namespace may use it":               {labSecret, set("allowedNamespaces", nil), code.NoCredential, "no namespace may use it"},
		"other namespaces may use it":           {labSecret, set("allowedNamespaces", map[string]any{"list": []any{"other"}}), code.NoCredential, "does not allow"},
		"the namespace may use it":              {labSecret, set("allowedNamespaces", map[string]any{"list": []any{"retail"}}), "", ""},
		"a selector of the namespace":           {labSecret, set("allowedNamespaces", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "retail"}}}), "", ""},
		"a selector of another namespace":       {labSecret, set("allowedNamespaces", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "ml"}}}), code.NoCredential, "does not allow"},
		"a selector that is empty selects none": {labSecret, set("allowedNamespaces", map[string]any{"selector": map[string]any{}}), code.NoCredential, "does not allow"},
	} {
		t.Run(name, func(t *testing.T) {
			target := targetOf(t, small(nil), withIdentity(t, c.value, c.change), infra.Access{})
			switch f := target.Refused; {
			case c.want == "" && f != nil:
				t.Errorf("it is refused: %+v", f)
			case c.want != "" && (f == nil || f.Reason != c.want || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Hint, "--"+flagCLI)):
				t.Errorf("%+v, want %s %q", f, c.want, c.says)
			}
			if c.value != "" && len(c.value) > 1 && strings.Contains(fmt.Sprintf("%+v", target), c.value) {
				t.Error("the secret is printed")
			}
		})
	}
}

// Where a cluster is, is taken from a name of Azure's own, and from ids.
func TestBadPlaces(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"a cloud that is none":                  func(s map[string]any) { s["azureEnvironment"] = "https://evil.example" },
		"a cloud that was closed":               func(s map[string]any) { s["azureEnvironment"] = "AzureGermanCloud" },
		"Azure Stack, whose servers are any":    func(s map[string]any) { s["azureEnvironment"] = "AzureStackCloud" },
		"a subscription that is no UUID":        func(s map[string]any) { s["subscriptionID"] = "../../x" },
		"a subscription that is no UUID either": func(s map[string]any) { s["subscriptionID"] = retail + "/x" },
	} {
		data := edit(t, fleet(t), spec(clusterKind, "shop", change))
		if target := targetOf(t, small(operator), data, infra.Access{Options: map[string]string{flagAmbient: "true"}}); target.Refused == nil || target.Refused.Hint == "" {
			t.Errorf("%s is not refused: %+v", name, target)
		}
	}
	for cloud, host := range map[string]string{"": "management.azure.com:443", "AzureChinaCloud": "management.chinacloudapi.cn:443", "AzureUSGovernmentCloud": "management.usgovcloudapi.net:443"} {
		data := edit(t, fleet(t), spec(clusterKind, "shop", func(s map[string]any) { s["azureEnvironment"] = cloud }))
		if target := targetOf(t, small(nil), data, infra.Access{}); target.Refused != nil || target.Endpoint != host {
			t.Errorf("%q is %s, want %s: %+v", cloud, target.Endpoint, host, target.Refused)
		}
	}
}

// A subscription that the cluster does not name is that of the ids that it records.
func TestSubscriptionOfIDs(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	data := edit(t, fleet(t), spec(clusterKind, "shop", func(s map[string]any) { delete(s, "subscriptionID") }))
	w := decide(t, data, access(s))
	w.demand(t, living, healthy, "")
	w.demand(t, gone, stale, code.InstanceNotFound)
}

// A secret with a newline behind it is another one, as it is to CAPZ.
func TestPaddedSecret(t *testing.T) {
	s := azurelab.Serve(t, lab, azurelab.Options{})
	data := withIdentity(t, labSecret+"\n", func(map[string]any) {})
	a := access(s)
	a.Options = nil
	p := small(nil)
	if l := p.List(t.Context(), targetOf(t, p, data, a)); l.Fault == nil || l.Fault.Reason != code.AuthenticationFailed || !strings.Contains(l.Fault.Message, "AADSTS7000215") {
		t.Errorf("%+v", l.Fault)
	}
	snapshot, secrets := load(t, data)
	found := p.Check(snapshot, secrets, time.Now())
	if len(found) != 1 || found[0].Code != ruleSecretPadded.Code {
		t.Errorf("%+v", found)
	}
	// The operator's own is used instead, and said so.
	p = small(operator)
	a = access(s)
	l := p.List(t.Context(), targetOf(t, p, data, a))
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
	l := p.List(t.Context(), targetOf(t, p, withIdentity(t, selfSigned(t), func(s map[string]any) { s["type"] = typeCertificate }), a))
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
	env := map[string]string{"AZURE_TENANT_ID": operator["AZURE_TENANT_ID"], "AZURE_CLIENT_ID": "b90d64e3-7f1a-4c28-a5d6-38e21f7b0c49", "AZURE_FEDERATED_TOKEN_FILE": file}
	a := access(s)
	a.Options = nil
	w := func(a infra.Access) infra.Listing {
		p := small(env)
		snapshot, secrets := load(t, fleet(t))
		for _, target := range p.Targets(snapshot, secrets, a) {
			if target.Account == ml {
				if target.Refused == nil && !strings.Contains(target.Use, "AZURE_ variables (--"+flagAmbient+")") {
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
	a.Options = map[string]string{flagAmbient: "true"}
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
	p.az = func() (string, error) { return az, nil }
	a := access(s)
	a.Options = map[string]string{flagCLI: "true"}
	data := withIdentity(t, "x", func(s map[string]any) { s["type"] = typeWorkload })
	l := p.List(t.Context(), targetOf(t, p, data, a))
	if l.Fault == nil || l.Fault.Reason != code.AuthenticationFailed {
		t.Errorf("the lab took its token: %+v", l.Fault)
	}
	text, err := os.ReadFile(ran)
	if want := "account get-access-token --output json --resource https://management.azure.com/ --subscription " + retail + "\n"; err != nil || string(text) != want {
		t.Errorf("it ran %q, want %q", text, want)
	}
	t.Setenv("FAIL", "yes")
	if l := p.List(t.Context(), targetOf(t, p, data, a)); l.Fault == nil || !strings.Contains(l.Fault.Message, "Please run az login") {
		t.Errorf("%+v", l.Fault)
	}
	p.az = func() (string, error) { return "", errors.New("not found") }
	if target := targetOf(t, p, data, a); target.Refused == nil || !strings.Contains(target.Refused.Message, "no az command") {
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
		target := targetOf(t, p, fleet(t), a)
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
	l := p.List(t.Context(), targetOf(t, p, fleet(t), a))
	if l.Fault == nil || l.Fault.Reason != code.UntrustedCertificate || !strings.Contains(l.Fault.Hint, azurelab.Authority) {
		t.Errorf("%+v", l.Fault)
	}
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("it was asked %q", asked)
	}
	addr, contacts := infratest.Listen(t)
	a.Reroutes = []infra.Reroute{{From: "evil.example", To: addr}}
	_ = targetOf(t, p, fleet(t), a)
	if contacts() > 0 {
		t.Error("another server was contacted")
	}
}
