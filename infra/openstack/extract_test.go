package openstack

import (
	"strings"
	"testing"

	"drift-detector/infra"
)

// The clouds.yaml that is written leads to the same login as that of the backup.
func TestExtractedCloudIsTheSame(t *testing.T) {
	for name, auth := range map[string]authEntry{
		"password":    {AuthURL: "https://keystone.corp:5000/v3", Username: "u: [", Password: "p'\"$(x)", ProjectName: "p", UserDomainName: "d", ProjectDomainName: "e"},
		"ids":         {AuthURL: "https://keystone.corp/identity", UserID: "1", Password: "p", ProjectID: "2"},
		"application": {AuthURL: "https://keystone.corp", AppID: "i", AppSecret: "s"},
		"named":       {AuthURL: "https://keystone.corp", AppName: "n", AppSecret: "s", Username: "u", UserDomainID: "default"},
	} {
		no := false
		c, fault := (&cloudEntry{Auth: auth, Region: "r", Interface: "internal", Verify: &no}).credential("Secret")
		if fault != nil {
			t.Fatal(fault.Message)
		}
		c.CA = []byte("PEM")
		e, err := new(Provider).Extract(infra.Target{Endpoint: "keystone.corp", Credential: c}, func(name string) string { return "/x/" + name })
		if err != nil || len(e.Files) != 2 || e.Files[1].Text.Reveal() != "PEM" || len(e.Lacks) != 1 {
			t.Fatalf("%s: %v, %+v", name, err, e)
		}
		text := e.Files[0].Text.Reveal()
		entry, _, why := readCloud(text, "", "backup")
		if why != "" {
			t.Fatalf("%s: %s\n%s", name, why, text)
		}
		again, fault := entry.credential("Secret")
		if fault != nil || again.Options != c.Options || again.Region != c.Region || again.Service != c.Service {
			t.Errorf("%s: %v\n%+v\n%+v", name, fault, again.Options, c.Options)
		}
		if entry.CACert != "/x/"+e.Files[1].Name || strings.Contains(text, "verify") || strings.Contains(text, `""`) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if _, err := new(Provider).Extract(infra.Target{Credential: Credential{Operator: &OperatorTLS{}}}, func(string) string { return "" }); err == nil {
		t.Error("the operator's own login is written")
	}
}
