package openstack

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
)

const wholeCloud = `clouds:
  other: {auth: {token: gAAAA-other}, cert: /tls.crt, unknown: [1]}
  mine:
    auth:
      auth_url: https://keystone.example:5000/v3
      username: capo
      password: 0123-m4rk3r
      project_name: web
      user_domain_name: Default
      project_domain_id: default
    region_name: RegionOne
    interface: internal
    identity_api_version: 3
    volume_api_version: "3"
`

// What a clouds.yaml says is followed where it is a password or an application
// credential, and refused by its name in every other way. Nothing of a value is shown.
func TestReadCloud(t *testing.T) {
	edited := func(old, with string) string { return strings.Replace(wholeCloud, old, with, 1) }
	for name, c := range map[string]struct{ text, why string }{
		"a password":                {wholeCloud, ""},
		"a number as password":      {edited("0123-m4rk3r", "12345"), ""},
		"an application credential": {edited("username: capo\n      password: 0123-m4rk3r\n      project_name: web", "application_credential_id: a1\n      application_credential_secret: m4rk3r"), ""},
		"its type, too":             {edited("region_name", "auth_type: v3applicationcredential\n    region_name"), "no whole application credential"},
		"half of one":               {edited("username: capo\n      password: 0123-m4rk3r", "application_credential_id: a1"), "no whole application credential"},
		"one by name alone":         {edited("username: capo\n      password: 0123-m4rk3r", "application_credential_name: a\n      application_credential_secret: m4rk3r"), "without its id and without its user"},
		"a token":                   {edited("password: 0123-m4rk3r", "token: m4rk3r"), "has token, which is a token"},
		"a passcode":                {edited("password: 0123-m4rk3r", "passcode: m4rk3r"), "has passcode"},
		"OpenID":                    {edited("password: 0123-m4rk3r", "identity_provider: idp\n      password: m4rk3r"), "has identity_provider"},
		"Kerberos":                  {edited("region_name", "auth_type: v3kerberos\n    region_name"), "auth_type v3kerberos"},
		"a type that is no name":    {edited("region_name", "auth_type: \"m4rk3r !\"\n    region_name"), "has an auth_type that is not followed"},
		"a TLS client":              {edited("region_name", "cert: /m4rk3r.crt\n    key: /m4rk3r.key\n    region_name"), "has cert and key"},
		"a profile":                 {edited("region_name", "profile: m4rk3r\n    region_name"), "has profile"},
		"the whole cloud":           {edited("project_name: web", "system_scope: all"), "has system_scope"},
		"an unknown setting":        {edited("project_name: web", "project_name: web\n      new_way: m4rk3r"), "has new_way in auth"},
		"a password as setting":     {edited("project_name: web", "project_name: web\n      \"m4rk3r hunter2!\": x"), "has a setting in auth"},
		"no project":                {edited("project_name: web\n", "\n"), "names no project"},
		"no password":               {edited("password: 0123-m4rk3r\n", "\n"), "no password"},
		"no user":                   {edited("username: capo\n", "\n"), "no username"},
		"no address":                {edited("auth_url: https://keystone.example:5000/v3\n", "\n"), "no auth_url"},
		"another cloud":             {strings.Replace(wholeCloud, "mine:", "yours:", 1), `has no cloud "mine"`},
		"no YAML":                   {"clouds: {m4rk3r: [", "is no YAML"},
		"a list":                    {"clouds: {mine: [m4rk3r]}", "not of the kinds"},
		"too long":                  {wholeCloud + strings.Repeat("#", maxClouds), "is longer than"},
	} {
		entry, _, why := readCloud(c.text, "", "mine")
		if !strings.Contains(why, c.why) || (c.why == "") != (why == "") || (entry == nil) != (why != "") {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
		if strings.Contains(why, "m4rk3r") || strings.Contains(why, "hunter2") {
			t.Errorf("%s: a value is shown: %s", name, why)
		}
	}
	entry, warnings, _ := readCloud(edited("region_name", "verify: false\n    cacert: /ca.pem\n    region_name"), "", "mine")
	if len(warnings) != 2 || entry.catalogueInterface() != "internal" {
		t.Errorf("%q, %s", warnings, entry.catalogueInterface())
	}
	if entry, _, _ := readCloud(wholeCloud, "clouds: {mine: {auth: {password: other}}}", "mine"); entry.Auth.Password != "other" || entry.Auth.Username != "capo" {
		t.Errorf("the second file does not come first: %+v", entry)
	}
}

// What the operator gives for the endpoint replaces user and password, and the operator's
// own cloud what the backup lacks.
func TestOperatorsCredentials(t *testing.T) {
	data := openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), "https://keystone.example:5000/v3", nil, "m4rk3r")
	s, secrets := openstacklab.Load(t, new(Provider), data)
	p := new(Provider)
	first := func(secrets *backup.Secrets, a infra.Access) infra.Target { return p.Targets(s, secrets, a)[0] }
	given := infra.Credential{Endpoint: "keystone.example:5000", Username: "me", Password: backup.NewSensitive("mine"), Source: "--credentials f"}
	if got := first(secrets, infra.Access{Credentials: []infra.Credential{given}}); !strings.Contains(got.Use, "user me, project tenant-os, from --credentials f") {
		t.Errorf("%s, %+v", got.Use, got.Refused)
	}
	given.Endpoint = "keystone.example"
	if got := first(secrets, infra.Access{Credentials: []infra.Credential{given}}); !strings.Contains(got.Use, "user capo-public") {
		t.Errorf("another port's: %s", got.Use)
	}
	own := infra.Access{Options: map[string]string{flagCloud: ofVariables}}
	env := map[string]string{"OS_AUTH_URL": "http://mine.example/v3", "OS_USERNAME": "me", "OS_PASSWORD": "own-m4rk3r", "OS_PROJECT_NAME": "web", "OS_USER_DOMAIN_NAME": "D"}
	p.Getenv = func(name string) string { return env[name] }
	if got := first(nil, infra.Access{}); got.Refused == nil || got.Refused.Reason != "NoCredential" || !strings.Contains(got.Refused.Hint, "--openstack-cloud") {
		t.Errorf("%+v", got.Refused)
	}
	got := first(nil, own)
	if got.Refused != nil || got.Endpoint != "mine.example:80" || len(got.Warnings) == 0 || !slices.Contains(got.IDs, "openstack/Secret/tenant-os-a/web-prod-cloud-config/openstack/-") {
		t.Errorf("%+v", got)
	}
	if got := first(secrets, own); got.Endpoint != "keystone.example:5000" || !strings.Contains(got.Use, "if Keystone refuses that, your own OS_ variables") {
		t.Errorf("the backup's comes first: %s", got.Use)
	}
	delete(env, "OS_PASSWORD")
	if got := first(nil, own); got.Refused == nil || !strings.Contains(got.Refused.Message, "no password") {
		t.Errorf("%+v", got.Refused)
	}
	if got := first(secrets, own); got.Refused != nil || !strings.Contains(strings.Join(got.Warnings, " "), "no password") {
		t.Errorf("%+v", got)
	}
}

// A clouds.yaml may hold anything: what is refused says nothing of it, and what is
// followed leads to an https:// address.
func FuzzReadCloud(f *testing.F) {
	f.Add(wholeCloud, "mine")
	f.Add("clouds: {a: {auth: {auth_url: 'https://x', username: u, password: p, project_id: p}}}", "a")
	f.Add("clouds: &a {b: *a}", "b")
	f.Fuzz(func(t *testing.T, text, name string) {
		entry, _, why := readCloud(text, "", name)
		if (entry == nil) == (why == "") {
			t.Fatalf("%+v, %q", entry, why)
		}
		if entry == nil {
			return
		}
		c, fault := entry.credential("Secret")
		if fault == nil && (!strings.HasPrefix(c.Options.IdentityEndpoint, "https://"+c.Endpoint.String()+"/") || strings.ContainsAny(c.Options.IdentityEndpoint, "@?# \n")) {
			t.Errorf("it leads to %q", c.Options.IdentityEndpoint)
		}
	})
}
