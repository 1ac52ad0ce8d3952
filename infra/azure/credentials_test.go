package azure

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab/azurelab"
	"drift-detector/report/code"
)

// lab is the fleet that CAPZ made on a fake Azure.
const lab = "../../testdata/azure/"

// finder finds credentials, of the operator among these variables.
func finder(env map[string]string) *Provider {
	return &Provider{Getenv: func(name string) string { return env[name] }}
}

// Each type of identity has its credential in the backup, or says what may be used instead.
func TestIdentities(t *testing.T) {
	pair := azurelab.SelfSigned(t)
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
		"ServicePrincipal":                      {azurelab.Secret, of(typeSecret), "", ""},
		"ManualServicePrincipal":                {azurelab.Secret, of(typeManual), "", ""},
		"ServicePrincipalCertificate":           {pair, of(typeCertificate), "", ""},
		"a certificate with a password":         {locked, of(typeCertificate), code.BadIdentity, "password"},
		"a certificate in PKCS #12 form":        {"\x30\x82\x01\x02", of(typeCertificate), code.BadIdentity, "PKCS #12"},
		"a certificate without its key":         {pair[strings.Index(pair, "-----BEGIN CERT"):], of(typeCertificate), code.BadIdentity, "no RSA key"},
		"a key of another certificate":          {pair[:strings.Index(pair, "-----BEGIN CERT")] + azurelab.SelfSigned(t)[1700:], of(typeCertificate), code.BadIdentity, "no certificate of its private key"},
		"a certificate in a file beside CAPZ":   {"x", func(s map[string]any) { s["type"], s["certPath"] = typeCertificate, "/etc/shadow" }, code.NoCredential, "certPath"},
		"WorkloadIdentity":                      {"x", of(typeWorkload), code.NoCredential, "only CAPZ's pod"},
		"UserAssignedMSI":                       {"x", of(typeMSI), code.NoCredential, "where CAPZ runs"},
		"UserAssignedIdentityCredential":        {"x", of(typeUserAssigned), code.NoCredential, "where CAPZ runs"},
		"a type that CAPZ does not know":        {"x", of("Magic"), code.BadIdentity, "Magic"},
		"a tenant that is no UUID":              {azurelab.Secret, set("tenantID", "contoso.example/../x"), code.BadIdentity, "tenantID"},
		"a client that is no UUID":              {azurelab.Secret, set("clientID", ""), code.BadIdentity, "clientID"},
		"no secret":                             {"", of(typeSecret), code.NoCredential, "is not in the backup"},
		"no namespace may use it":               {azurelab.Secret, set("allowedNamespaces", nil), code.NoCredential, "no namespace may use it"},
		"other namespaces may use it":           {azurelab.Secret, set("allowedNamespaces", map[string]any{"list": []any{"other"}}), code.NoCredential, "does not allow"},
		"the namespace may use it":              {azurelab.Secret, set("allowedNamespaces", map[string]any{"list": []any{"retail"}}), "", ""},
		"a selector of the namespace":           {azurelab.Secret, set("allowedNamespaces", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "retail"}}}), "", ""},
		"a selector of another namespace":       {azurelab.Secret, set("allowedNamespaces", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "ml"}}}), code.NoCredential, "does not allow"},
		"a selector that is empty selects none": {azurelab.Secret, set("allowedNamespaces", map[string]any{"selector": map[string]any{}}), code.NoCredential, "does not allow"},
	} {
		t.Run(name, func(t *testing.T) {
			target := azurelab.TargetOf(t, finder(nil), azurelab.WithIdentity(t, azurelab.Backup(t, lab), c.value, c.change), infra.Access{})
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
		"a subscription that is no UUID either": func(s map[string]any) { s["subscriptionID"] = azurelab.Retail + "/x" },
	} {
		data := azurelab.Edit(t, azurelab.Backup(t, lab), azurelab.Spec(clusterKind, "shop", change))
		if target := azurelab.TargetOf(t, finder(azurelab.Operator), data, infra.Access{Options: map[string]string{flagAmbient: "true"}}); target.Refused == nil || target.Refused.Hint == "" {
			t.Errorf("%s is not refused: %+v", name, target)
		}
	}
	for cloud, host := range map[string]string{"": "management.azure.com:443", "AzureChinaCloud": "management.chinacloudapi.cn:443", "AzureUSGovernmentCloud": "management.usgovcloudapi.net:443"} {
		data := azurelab.Edit(t, azurelab.Backup(t, lab), azurelab.Spec(clusterKind, "shop", func(s map[string]any) { s["azureEnvironment"] = cloud }))
		if target := azurelab.TargetOf(t, finder(nil), data, infra.Access{}); target.Refused != nil || target.Endpoint != host {
			t.Errorf("%q is %s, want %s: %+v", cloud, target.Endpoint, host, target.Refused)
		}
	}
}
