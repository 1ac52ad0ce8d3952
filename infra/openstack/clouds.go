package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"drift-detector/internal/lazyregexp"
)

// maxClouds bounds a clouds.yaml in a backup.
const maxClouds = 256 << 10

// cloudEntry is one entry of a clouds.yaml, with what CAPO reads of one. Numbers become
// texts as they do in CAPO, which uses the same library (pkg/scope/provider.go v0.14.7).
type cloudEntry struct {
	Auth         authEntry `json:"auth"`
	AuthType     string    `json:"auth_type"`
	Region       string    `json:"region_name"`
	EndpointType string    `json:"endpoint_type"`
	Interface    string    `json:"interface"`
	Verify       *bool     `json:"verify"`
	CACert       string    `json:"cacert"`
	Cert         string    `json:"cert"`
	Key          string    `json:"key"`
	Profile      string    `json:"profile"`
	Cloud        string    `json:"cloud"`
}

type authEntry struct {
	AuthURL     string `json:"auth_url"`
	Username    string `json:"username"`
	UserID      string `json:"user_id"`
	Password    string `json:"password"`
	ProjectName string `json:"project_name"`
	ProjectID   string `json:"project_id"`
	TenantName  string `json:"tenant_name"`
	TenantID    string `json:"tenant_id"`

	UserDomainName    string `json:"user_domain_name"`
	UserDomainID      string `json:"user_domain_id"`
	ProjectDomainName string `json:"project_domain_name"`
	ProjectDomainID   string `json:"project_domain_id"`
	DomainName        string `json:"domain_name"`
	DomainID          string `json:"domain_id"`
	DefaultDomain     string `json:"default_domain"`

	AppID     string `json:"application_credential_id"`
	AppName   string `json:"application_credential_name"`
	AppSecret string `json:"application_credential_secret"`
}

// hazards are members of auth that log in in a way that is not followed: they need
// a user or a thing that is not in the backup, or lead to no project.
var hazards = map[string]string{
	"token":                 "is a token, which lives for hours",
	"passcode":              "asks its user",
	"totp":                  "asks its user",
	"system_scope":          "leads to the whole cloud, not to a project",
	"trust_id":              "goes by a trust",
	"identity_provider":     "logs in at another server",
	"protocol":              "logs in at another server",
	"client_id":             "logs in at another server",
	"client_secret":         "logs in at another server",
	"discovery_endpoint":    "logs in at another server",
	"access_token":          "is a token, which lives for hours",
	"access_token_type":     "logs in at another server",
	"openid_scope":          "logs in at another server",
	"identity_provider_url": "logs in at another server",
	"service_provider":      "logs in at another server",
	"mutual_auth":           "uses Kerberos",
	"oauth_consumer_key":    "logs in with OAuth",
	"access":                "logs in with EC2 keys",
	"secret":                "logs in with EC2 keys",
	"endpoint":              "names an endpoint beside the catalogue",
}

// authTypes are the ways to log in that are followed.
var authTypes = []string{"", "password", "v3password", "v3applicationcredential"}

// readCloud reads an entry of the clouds.yaml in a Secret. It takes passwords and
// application credentials and nothing else: nothing that it names is opened, and no other
// server is asked. secure is a second file whose members come first, as operators have.
// why says what is wrong, and never quotes the file; warnings say what is not followed
// although the rest is.
func readCloud(text, secure, name string) (c *cloudEntry, warnings []string, why string) {
	if len(text) > maxClouds || len(secure) > maxClouds {
		return nil, nil, fmt.Sprintf("is longer than %d bytes", maxClouds)
	}
	raw, why := entryOf(text, name)
	if raw == nil {
		return nil, nil, why
	}
	c = &cloudEntry{}
	var fields struct {
		Auth map[string]json.RawMessage `json:"auth"`
	}
	parts := []json.RawMessage{raw}
	if over, _ := entryOf(secure, name); over != nil {
		parts = append(parts, over)
	}
	for _, part := range parts {
		if yaml.Unmarshal(part, c) != nil || json.Unmarshal(part, &fields) != nil {
			return nil, nil, "has a cloud whose settings are not of the kinds that they should be"
		}
	}
	if why := c.refused(sortedNames(fields.Auth)); why != "" {
		return nil, nil, why
	}
	return c, c.ignored(), ""
}

// entryOf finds an entry of a clouds.yaml, in JSON.
func entryOf(text, name string) (raw json.RawMessage, why string) {
	var all struct {
		Clouds map[string]json.RawMessage `json:"clouds"`
	}
	// A parser's error quotes what it could not read: it must not get out.
	if yaml.Unmarshal([]byte(text), &all) != nil {
		return nil, "is no YAML that can be read"
	}
	if raw = all.Clouds[name]; raw == nil || string(raw) == "null" {
		return nil, fmt.Sprintf("has no cloud %q", name)
	}
	return raw, ""
}

// knownAuth are the members of auth that are read.
var knownAuth = func() map[string]bool {
	var empty map[string]any
	text, err := json.Marshal(authEntry{})
	if err == nil {
		err = json.Unmarshal(text, &empty)
	}
	if err != nil {
		panic(err) // a struct of texts
	}
	known := map[string]bool{"allow_reauth": true}
	for name := range maps.Keys(empty) {
		known[name] = true
	}
	return known
}()

// settingForm is what a setting's name may look like. A text with anything else may be a
// password that lost its setting.
var settingForm = lazyregexp.New(`^[a-z][a-z0-9]*(_[a-z0-9]+){0,5}$`)

// refused says why an entry is not followed.
func (c *cloudEntry) refused(auth []string) string {
	for _, name := range auth {
		if does, ok := hazards[name]; ok {
			return fmt.Sprintf("has %s, which %s: it is not followed", name, does)
		}
	}
	switch {
	case !slices.Contains(authTypes, c.AuthType):
		if settingForm.MatchString(c.AuthType) {
			return fmt.Sprintf("has auth_type %s: only passwords and application credentials are followed", c.AuthType)
		}
		return "has an auth_type that is not followed: only passwords and application credentials are"
	case c.Cert != "" || c.Key != "":
		return "has cert and key, which are files of a TLS client: they are not opened"
	case c.Profile != "" || c.Cloud != "":
		return "has profile, which refers to another file: it is not followed"
	}
	for _, name := range auth {
		if !knownAuth[name] {
			if settingForm.MatchString(name) {
				return fmt.Sprintf("has %s in auth, which drift-detector does not know: it is not followed", name)
			}
			return "has a setting in auth that drift-detector does not know: it is not followed"
		}
	}
	return c.lacks()
}

// lacks says what an entry has too little of.
func (c *cloudEntry) lacks() string {
	a := &c.Auth
	app := a.AppID != "" || a.AppName != "" || a.AppSecret != "" || c.AuthType == "v3applicationcredential"
	switch {
	case a.AuthURL == "":
		return "has no auth_url"
	case app && a.AppSecret == "", app && a.AppID == "" && a.AppName == "":
		return "has no whole application credential"
	case app && a.AppID == "" && a.UserID == "" && a.Username == "":
		return "has an application credential without its id and without its user"
	case app:
		return ""
	case a.Username == "" && a.UserID == "":
		return "has no username"
	case a.Password == "":
		return "has no password"
	case a.ProjectID == "" && a.ProjectName == "" && a.TenantID == "" && a.TenantName == "":
		return "names no project: a login without one sees no servers"
	}
	return ""
}

// ignored says what of an entry is not followed although the login is.
func (c *cloudEntry) ignored() (warnings []string) {
	if c.Verify != nil && !*c.Verify {
		warnings = append(warnings, "verify: false is not followed: certificates are checked; --insecure-skip-verify turns that off")
	}
	if c.CACert != "" {
		warnings = append(warnings, "cacert is not followed, as no file is opened; the CA is taken from member "+caKey+" of the Secret")
	}
	return warnings
}

// catalogueInterface returns which of a service's endpoints CAPO takes: it reads endpoint_type alone
// (NewProviderClient in pkg/scope/provider.go v0.14.7), and what it does not read is
// taken where that is empty, as nobody else can be meant.
func (c *cloudEntry) catalogueInterface() string {
	switch strings.TrimSuffix(cmp.Or(c.EndpointType, c.Interface), "URL") {
	case "internal":
		return "internal"
	case "admin":
		return "admin"
	}
	return "public"
}
