package openstackcloud

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/lab/openstacklab"
)

// Hold holds what the cloud says after the drift against what was recorded in data, and
// what it refuses against what the lab's own server says.
func (f *Fleet) Hold(t *testing.T, data string) {
	t.Run("servers as recorded", func(t *testing.T) { f.holdServers(t, data) })
	t.Run("ports as recorded", func(t *testing.T) { f.holdPorts(t, data) })
	t.Run("refusals as in the lab", func(t *testing.T) { f.holdRefusals(t, data) })
	t.Run("backup of this cloud", func(t *testing.T) { f.holdBackup(t, data) })
}

// what returns fields of an object that a replay repeats.
func what(o Object, fields ...string) string {
	s := ""
	for _, field := range fields {
		v, _ := json.Marshal(o[field])
		s += field + ":" + string(v) + " "
	}
	return s
}

func (f *Fleet) holdServers(t *testing.T, data string) {
	said := func(o Object) string {
		ips := ""
		for network, all := range addresses(o) {
			for _, ip := range all.([]any) {
				if ip := ip.(Object); ip["OS-EXT-IPS:type"] == "fixed" {
					ips += fmt.Sprint(network, " ", ip["addr"])
				}
			}
		}
		return what(o, "name", "status", "tags", "metadata", "OS-EXT-SRV-ATTR:hostname", "OS-EXT-STS:vm_state") + ips
	}
	want, got := map[string]string{}, map[string]string{}
	for _, o := range read(t, filepath.Join(data, "after"))["servers"] {
		want[f.IDs[text(o, "id")]] = said(o)
	}
	for _, a := range []openstacklab.Account{f.A, f.B} {
		s := f.sessions[a.Project]
		for _, o := range list(s.call("GET", "compute", "/servers/detail", nil), "servers") {
			got[text(o, "id")] = said(o)
			if o["tenant_id"] != a.ProjectID {
				t.Errorf("%s is of project %v", o["name"], o["tenant_id"])
			}
		}
	}
	delete(got, f.IDs[OtherProject])
	differ(t, want, got)
}

func (f *Fleet) holdPorts(t *testing.T, data string) {
	said := func(o Object) string {
		ips := ""
		for _, ip := range list(o, "fixed_ips") {
			ips += fmt.Sprint(ip["ip_address"])
		}
		return what(o, "name", "description", "tags", "device_owner", "status") + ips
	}
	want, got := map[string]string{}, map[string]string{}
	for _, o := range read(t, filepath.Join(data, "after"))["ports"] {
		want[said(o)+string(f.Now([]byte(text(o, "device_id"))))] = ""
	}
	for _, a := range []openstacklab.Account{f.A, f.B} {
		for _, o := range list(f.sessions[a.Project].call("GET", "network", "/ports", nil), "ports") {
			if o["device_id"] != f.IDs[OtherProject] {
				got[said(o)+text(o, "device_id")] = ""
			}
		}
	}
	differ(t, want, got)
}

func differ(t *testing.T, want, got map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[key]; !ok || g != want[key] {
			t.Errorf("%s:\n%s, want\n%s", key, g, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %s was not recorded", key, got[key])
		}
	}
}

// holdRefusals asks the cloud and the lab's server the same, for what is not there.
func (f *Fleet) holdRefusals(t *testing.T, data string) {
	const nothing = "11111111-1111-4111-8111-111111111111"
	lab := openstacklab.Serve(t, filepath.Join(data, "after"), openstacklab.Options{Accounts: []openstacklab.Account{f.A}})
	bases := map[string]string{"identity": lab.Identity, "compute": lab.Compute, "network": lab.Network + "/v2.0", "image": lab.Image + "/v2"}
	real := f.sessions[f.A.Project]
	_, header, _ := f.send("POST", lab.Identity+"/auth/tokens", "", loginOf(f.A))
	token := header.Get("X-Subject-Token")
	for _, ask := range []struct{ service, path string }{
		{"compute", "/servers/" + nothing},
		{"compute", "/servers/detail?all_tenants=1"},
		{"compute", "/servers/detail?marker=" + nothing},
		{"compute", "/servers/detail?limit=x"},
		{"compute", "/servers/detail?name=%5B"},
		{"compute", "/os-server-groups/" + nothing},
		{"compute", "/flavors/nope"},
		{"compute", "/nope"},
		{"network", "/networks/" + nothing},
		{"network", "/subnets/" + nothing},
		{"network", "/ports/" + nothing},
		{"network", "/routers/" + nothing},
		{"network", "/floatingips/" + nothing},
		{"network", "/security-groups/" + nothing},
		{"network", "/nope"},
		{"image", "/images/" + nothing},
	} {
		status, want := real.try("GET", ask.service, ask.path, nil)
		labStatus, _, got := f.send("GET", bases[ask.service]+ask.path, token, nil)
		if status != labStatus || status < 400 || !reflect.DeepEqual(want, got) {
			t.Errorf("%s: the lab says %d %v, the cloud %d %v", ask.path, labStatus, got, status, want)
		}
	}
	wrong, nowhere := f.A, f.A
	wrong.Password, nowhere.Project = "no", "no-such"
	for _, a := range []openstacklab.Account{wrong, nowhere} {
		status, _, want := f.send("POST", f.direct+"/auth/tokens", "", loginOf(a))
		labStatus, _, got := f.send("POST", lab.Identity+"/auth/tokens", "", loginOf(a))
		if status != 401 || labStatus != 401 || !reflect.DeepEqual(want, got) {
			t.Errorf("login: the lab says %d %v, the cloud %d %v", labStatus, got, status, want)
		}
	}
}

func (f *Fleet) holdBackup(t *testing.T, data string) {
	out := f.Backup(t, filepath.Join(data, "openstack-data.tar.gz"))
	zipped, err := gzip.NewReader(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range read(t, filepath.Join(data, "before"))["servers"] {
		if recorded := text(o, "id"); bytes.Contains(whole, []byte(recorded)) || !bytes.Contains(whole, []byte(f.IDs[recorded])) {
			t.Errorf("server %s has its recorded id", o["name"])
		}
	}
	truth, err := os.ReadFile(filepath.Join(data, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	if back := f.Recorded(f.Now(truth)); !bytes.Equal(back, truth) || strings.Contains(string(f.Now(truth)), "92d1d28c") {
		t.Error("ids are not exchanged there and back")
	}
}
