package list

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// Another look goes where the openstack command goes with an entry of clouds.yaml, and says to
// which servers the ports are attached that are named after one.
func TestReachIsWhereTheCloudLeads(t *testing.T) {
	s := openstacklab.Serve(t, lab+"after", openstacklab.Options{TLS: true})
	dir := t.TempDir()
	ca, clouds := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "clouds.yaml")
	entry := func(name, password string) string {
		return fmt.Sprintf("  %s:\n    cacert: %s\n    auth: {auth_url: %q, username: %s, password: %q, project_name: %s, user_domain_name: Default, project_domain_name: Default}\n",
			name, ca, s.Identity, openstacklab.Recorded.User, password, openstacklab.Recorded.Project)
	}
	text := "clouds:\n" + entry("mine", openstacklab.Recorded.Password) + entry("old", "wr0ng")
	for file, text := range map[string]string{ca: string(s.CA), clouds: text} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"OS_CLIENT_CONFIG_FILE": clouds}
	look := func(cloud string, sought infra.Sought) infra.Listing {
		p := small().(*provider)
		p.Getenv = func(name string) string { return env[name] }
		r := infra.NewRegistry(p)
		return r.Collect(t.Context(), []infra.Target{r.Reach(openstack.Name, cloud, sought)}, nil).Listings[0]
	}
	first := look("mine", infra.Sought{})
	if first.State != code.ScopeComplete || openstack.UUIDOf(first.Identity) == "" && len(first.Identity) != 32 || first.Count() < 5 {
		t.Fatalf("%s, %+v, %q with %d", first.State, first.Fault, first.Identity, first.Count())
	}
	held := 0
	for _, i := range first.Instances {
		l := look("mine", infra.Sought{Name: i.Name, IDs: []string{i.ID}})
		holders := l.Facts.All(infra.FactHolder)
		if slices.ContainsFunc(holders, func(h string) bool { return !strings.HasPrefix(h, i.Name+"-") }) {
			t.Errorf("%s: %q", i.Name, holders)
		}
		if slices.Contains(holders, i.Name+"-0 "+i.ID) {
			held++
		}
	}
	if held < 3 {
		t.Errorf("of %d servers %d have ports that are named after them", first.Count(), held)
	}
	for name, cloud := range map[string]string{"a wrong password": "old", "no such entry": "other", "none": ""} {
		if l := look(cloud, infra.Sought{}); l.State != code.ScopeFailed || l.Fault == nil || l.Fault.Hint == "" || strings.Contains(l.Fault.Message, "wr0ng") {
			t.Errorf("%s: %s, %+v", name, l.State, l.Fault)
		}
	}
	for _, name := range []string{"OS_AUTH_URL", "OS_PROJECT_ID", "OS_PROJECT_NAME", "OS_TENANT_NAME", "OS_USERNAME", "OS_APPLICATION_CREDENTIAL_ID", "OS_REGION_NAME"} {
		env[name] = "0ther"
		if l := look("mine", infra.Sought{}); l.State != code.ScopeFailed || l.Fault == nil || !strings.Contains(l.Fault.Message, name) || strings.Contains(l.Fault.Message, "0ther") {
			t.Errorf("%s leads the openstack command elsewhere: %s, %+v", name, l.State, l.Fault)
		}
		delete(env, name)
	}
}
