package list

import (
	"testing"

	"sigs.k8s.io/yaml"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/internal/lab/openstacklab"
)

// credentialWith returns the credential of a backup whose clouds.yaml have that auth.
func credentialWith(t *testing.T, auth map[string]any) openstack.Credential {
	t.Helper()
	auth["auth_url"] = "https://Keystone.example/identity/v3/"
	data := openstacklab.WithClouds(t, openstacklab.Fleet(t, lab), nil, func(text string) string {
		var all struct {
			Clouds map[string]map[string]any `json:"clouds"`
		}
		err := yaml.Unmarshal([]byte(text), &all)
		for name := range all.Clouds {
			all.Clouds[name] = map[string]any{"auth": auth}
		}
		out, failed := yaml.Marshal(all)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		return string(out)
	})
	s, secrets := openstacklab.Load(t, New(), data)
	target := small().Targets(s, secrets, infra.Access{})[0]
	if target.Refused != nil {
		t.Fatal(target.Refused)
	}
	return target.Credential.(openstack.Credential)
}

// A login holds one user and one project, each in one way.
func TestLogins(t *testing.T) {
	for account, auth := range map[string]map[string]any{
		"user/id/default//capo": {"username": "capo", "password": "p", "project_name": "web"},
		"user/id/d//capo":       {"username": "capo", "password": "p", "project_name": "web", "user_domain_id": "d", "project_domain_name": "P"},
		"user/id/u1":            {"user_id": "u1", "username": "capo", "password": "p", "project_id": "p1", "project_name": "web", "domain_name": "d"},
		"application/id/a1":     {"application_credential_id": "a1", "application_credential_secret": "s", "username": "capo", "user_domain_name": "d", "project_name": "web"},
		"application///user%2fname%2fn%2f%2fcapo/a": {
			"application_credential_name": "a", "application_credential_secret": "s", "username": "capo", "user_domain_name": "N",
		},
	} {
		c := credentialWith(t, auth)
		o := optionsOf(&c.Options)
		if o.IdentityEndpoint != "https://keystone.example:443/identity/" {
			t.Errorf("it is at %s", o.IdentityEndpoint)
		}
		if _, err := o.ToTokenV3CreateMap(nil); err != nil {
			t.Errorf("%+v: %v", auth, err)
		}
		if key := accountOf(&c).key(); key != account {
			t.Errorf("%s locks %s", account, key)
		}
		if _, err := o.ToTokenV3ScopeMap(); err != nil {
			t.Errorf("%s: %v", account, err)
		}
	}
}
