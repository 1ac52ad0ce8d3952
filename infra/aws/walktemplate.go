package aws

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// templateSpec is what an object wants of its launch template.
type templateSpec struct {
	AMI struct {
		ID string `json:"id"`
	} `json:"ami"`
	Type     string          `json:"instanceType"`
	Profile  string          `json:"iamInstanceProfile"`
	Key      string          `json:"sshKeyName"`
	Metadata json.RawMessage `json:"instanceMetadataOptions"`
	Spot     *struct {
		MaxPrice string `json:"maxPrice"`
	} `json:"spotMarketOptions"`
	Enclave *struct {
		Enabled bool `json:"enabled"`
	} `json:"enclaveOptions"`
	Reservation string `json:"capacityReservationId"`
	DNS         *struct {
		Hostname string `json:"hostnameType"`
		A        bool   `json:"enableResourceNameDnsARecord"`
		AAAA     bool   `json:"enableResourceNameDnsAAAARecord"`
	} `json:"privateDnsName"`
	Groups []struct {
		ID      string          `json:"id"`
		Filters json.RawMessage `json:"filters"`
	} `json:"additionalSecurityGroups"`
}

// differs names the members in which a template is not as it is wanted, as CAPA compares
// them (LaunchTemplateNeedsUpdate in pkg/cloud/services/ec2/launchtemplate.go v2.13.0), but for
// image and groups.
func (w *templateSpec) differs(f *TemplateFact) []string {
	want := TemplateFact{Type: w.Type, Profile: w.Profile, Key: w.Key, Reservation: w.Reservation}
	if m := readMetadata(string(w.Metadata)); m != nil {
		want.Metadata = m.String()
	}
	if w.Spot != nil {
		want.Spot = "spot " + w.Spot.MaxPrice
	}
	if w.Enclave != nil {
		want.Enclave = map[bool]string{true: "enabled", false: "disabled"}[w.Enclave.Enabled]
	}
	if w.DNS != nil {
		want.DNS = DNSText(w.DNS.Hostname, w.DNS.A, w.DNS.AAAA)
	}
	var out []string
	for _, m := range [...]struct{ name, have, want string }{
		{"instanceType", f.Type, want.Type},
		{"iamInstanceProfile", f.Profile, want.Profile},
		{"sshKeyName", f.Key, want.Key},
		{"instanceMetadataOptions", f.Metadata, want.Metadata},
		{"enclaveOptions", f.Enclave, want.Enclave},
		{"spotMarketOptions", strings.TrimSpace(f.Spot), strings.TrimSpace(want.Spot)},
		{"capacityReservationId", f.Reservation, want.Reservation},
		{"privateDnsName", f.DNS, want.DNS},
	} {
		if m.have != m.want {
			out = append(out, fmt.Sprintf("%s (%s, and the backup has %s)", m.name, said(m.have), said(m.want)))
		}
	}
	return out
}

func said(s string) string { return cmp.Or(s, "none") }
