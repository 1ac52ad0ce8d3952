package list

import (
	"bufio"
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"drift-detector/infra/vsphere"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Reach leads to the vCenter that govc is at with a GOVC_URL.
func (p *provider) Reach(at string, _ infra.Sought) infra.Target {
	t := infra.Target{Provider: vsphere.Name, Endpoint: "vCenter"}
	given, ok := p.Spec().Environment.Read(func(name string) string {
		if name == "GOVC_URL" {
			return at
		}
		return os.Getenv(name)
	})
	server, err := infra.ParseEndpoint(given.Endpoint)
	if !ok || err != nil || !isRoot(at) {
		t.Refused = &infra.Fault{
			Reason: code.NoCredential, Message: "the URL of the vCenter for govc is not an https:// one of no path but /sdk, or user or password are missing",
			Hint: "set GOVC_USERNAME and GOVC_PASSWORD, as govc needs them, or have both in the URL",
		}
		return t
	}
	t.Endpoint, t.Account, t.Source = server.String(), given.Username, given.Source
	trust, err := govcTrust(server)
	if err != nil {
		t.Refused = &infra.Fault{Reason: code.UntrustedCertificate, Message: fmt.Sprintf("vCenter %s: %v", server, err), Hint: "correct GOVC_TLS_CA_CERTS or GOVC_TLS_KNOWN_HOSTS"}
		return t
	}
	c := vsphere.Credential{User: backup.NewSensitive(given.Username), Password: given.Password}
	t.Credential, t.Redaction = c, infra.NewRedaction(c.Password)
	t.Detail = &vsphere.Detail{Server: server, Trust: trust, Recorded: new(vsphere.RecordedMachines)}
	t.Own = []infra.Own{{}} // it is the operator's
	t.Use = fmt.Sprintf("vCenter %s: user %s from %s", server, t.Account, t.Source)
	return t
}

// isRoot reports whether a URL leads to the vCenter of its host: govc follows any path, behind
// which may be another one (govmomi vim25/soap/client.go v0.56.0), and only /sdk is looked at.
func isRoot(at string) bool {
	if !strings.Contains(at, "://") {
		at = "https://" + at
	}
	u, err := url.Parse(strings.TrimSpace(at))
	return err == nil && (u.Path == "" || u.Path == "/sdk")
}

// govcTrust returns what govc's variables say of certificates (govmomi cli/flags/client.go and
// vim25/soap/client.go v0.56.0).
func govcTrust(server infra.Endpoint) (infra.Trust, error) {
	trust := infra.Trust{ServerName: server.Host}
	trust.Insecure, _ = strconv.ParseBool(os.Getenv("GOVC_INSECURE"))
	for _, file := range filepath.SplitList(os.Getenv("GOVC_TLS_CA_CERTS")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return trust, fmt.Errorf("GOVC_TLS_CA_CERTS: %w", err)
		}
		trust.CA = append(append(trust.CA, text...), '\n')
	}
	for _, file := range filepath.SplitList(os.Getenv("GOVC_TLS_KNOWN_HOSTS")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return trust, fmt.Errorf("GOVC_TLS_KNOWN_HOSTS: %w", err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			host, print, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
			if e, err := infra.ParseEndpoint(host); err == nil && e == server {
				trust.Thumbprint = strings.TrimSpace(print)
			}
		}
	}
	return trust, nil
}
