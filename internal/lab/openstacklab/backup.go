package openstacklab

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
)

// Clouds returns a clouds.yaml with one cloud, for an account's password.
func (s *Server) Clouds(cloud string, a Account) string {
	return fmt.Sprintf(`clouds:
  %s:
    auth:
      auth_url: %s
      username: %s
      password: %q
      project_name: %s
      user_domain_id: default
      project_domain_id: default
    region_name: RegionOne
    interface: public
    identity_api_version: 3
`, cloud, s.Identity, a.User, a.Password, a.Project)
}

// Backup returns a backup whose Secrets name this server instead of the recorded one, with the
// certificate that verifies it. Those of a namespace in accounts get a clouds.yaml with
// that account, for the same name of a cloud.
func (s *Server) Backup(t testing.TB, tarball string, accounts map[string]Account) []byte {
	t.Helper()
	changed := 0
	out := backuptest.Rewrite(t, tarball, func(item string, body []byte) ([]byte, bool) {
		var secret struct {
			Data map[string][]byte `json:"data"`
		}
		if !strings.HasPrefix(item, "resources/secrets/") || json.Unmarshal(body, &secret) != nil || secret.Data["clouds.yaml"] == nil {
			return body, true
		}
		changed++
		var whole Object
		if err := json.Unmarshal(body, &whole); err != nil {
			t.Fatal(err)
		}
		data := whole["data"].(Object)
		clouds := bytes.ReplaceAll(secret.Data["clouds.yaml"], []byte(s.recorded["identity"]), []byte(s.Identity))
		if a, other := accounts[path.Base(path.Dir(item))]; other {
			clouds = []byte(s.Clouds(cloudName(clouds), a))
		}
		data["clouds.yaml"] = base64.StdEncoding.EncodeToString(clouds)
		if s.CA != nil {
			data["cacert"] = base64.StdEncoding.EncodeToString(s.CA)
		}
		body, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		return body, true
	})
	if changed == 0 {
		t.Fatalf("%s has no clouds.yaml", tarball)
	}
	return out
}

// cloudName returns the name of the first cloud of a clouds.yaml as it was recorded.
func cloudName(clouds []byte) string {
	lines := strings.Split(string(clouds), "\n")
	return strings.Trim(lines[1], " :")
}

// Reroutes returns what drift-detector's --endpoint flag takes to reach the services that
// were recorded, "FROM=TO" each.
func (s *Server) Reroutes() []string {
	var all []string
	for service, to := range map[string]string{"identity": s.Identity, "compute": s.Compute, "network": s.Network, "image": s.Image} {
		all = append(all, host(s.recorded[service])+"="+host(to))
	}
	return all
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Host
}
