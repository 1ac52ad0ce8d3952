package vsphere

import (
	"slices"
	"strings"
	"testing"
)

func TestServers(t *testing.T) {
	for raw, want := range map[string]string{
		"vc1.example": "vc1.example:443", "https://VC1.Example/sdk": "vc1.example:443", "vc1.example:8443": "vc1.example:8443",
		"https://admin:secret@vc1.example/sdk": "vc1.example:443", "2001:db8::1": "[2001:db8::1]:443", "https://[2001:DB8::1]:443/sdk": "[2001:db8::1]:443",
	} {
		if got, err := serverOf(raw); got != want || err != nil {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"http://admin:m4rk3r@vc1/sdk", "https://u:m4rk3r@/x", "ftp://m4rk3r@vc1", "admin:m4rk3r@vc1:99999", ""} {
		got, err := serverOf(raw)
		if err == nil || slices.Contains([]byte(got), '@') || len(got) > 300 || strings.Contains(got, "m4rk3r") || strings.Contains(err.Error(), "m4rk3r") {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
}

// The forms of a folder are those that a listing finds it by, see TestFoldersMeet of
// package list.
func TestFormsOfAFolder(t *testing.T) {
	for _, c := range []struct {
		datacenter, folder, form string
		root                     bool
	}{
		{"DC0", "/DC0/vm/capi/prod", "vc:443/DC0/vm/capi/prod", false},
		{"DC0", "/DC0/vm/capi/prod/", "vc:443/DC0/vm/capi/prod", false},
		{"/DC0", " /DC0//vm/capi/prod", "vc:443/DC0/vm/capi/prod", false},
		{"DC0", "capi/prod", "vc:443/DC0/vm/capi/prod", false},
		{"DC0", "vm/capi/prod", "vc:443/DC0/vm/capi/prod", false},
		{"DC0", "./capi/prod", "vc:443/DC0/vm/capi/prod", false},
		{"DC0", "prod", "vc:443/DC0/vm/.../prod", false},
		{"datacenter-2", "prod", "vc:443/datacenter-2/vm/.../prod", false},
		{"Datacenter:datacenter-2", "capi/prod", "vc:443/datacenter-2/vm/capi/prod", false},
		{"", "prod", "vc:443/*/vm/.../prod", false},
		{"*", "capi/prod", "vc:443/*/vm/capi/prod", false},
		{"DC0", "group-v5", "vc:443/group-v5", false},
		{"DC0", "Folder:group-v5", "vc:443/group-v5", false},
		{"DC0", "/DC0/vm/capi/a%2fb 100%25", "vc:443/DC0/vm/capi/a%2fb 100%", false},
		{"DC1", "/Europe/DC1/vm/prod", "vc:443/Europe/DC1/vm/prod", false},
		{"Europe/DC1", "prod", "vc:443/Europe/DC1/vm/.../prod", false},
		{"/Europe/DC1", "vm/prod", "vc:443/Europe/DC1/vm/prod", false},
		{"DC0", "", "vc:443/DC0/vm", true},
		{"DC0", "vm", "vc:443/DC0/vm", true},
		{"DC0", "/DC0/vm", "vc:443/DC0/vm", true},
		{"DC1", "/Europe/DC1/vm", "vc:443/Europe/DC1/vm", true},
		{"/Europe/DC1", "", "vc:443/Europe/DC1/vm", true},
		{"/Europe/DC1", "/Europe/DC1/vm/prod/vm", "vc:443/Europe/DC1/vm/prod/vm", false},
		{"", "", "vc:443/*/vm", true},
	} {
		if form, root := folderOf("vc:443", datacenterOf(c.datacenter), c.folder); form != c.form || root != c.root {
			t.Errorf("%q in %q: %s, root %t; want %s, %t", c.folder, c.datacenter, form, root, c.form, c.root)
		}
	}
}

// The operator writes a folder as vCenter shows it, and the backup in its own ways.
func TestFoldersAsOperatorsWriteThem(t *testing.T) {
	for _, c := range []struct {
		key, written string
		is           bool
	}{
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm/prod", true},
		{"vc1.example:443/DC0/vm/prod", "vc1.example/DC0/vm/prod/", true},
		{"vc1.example:443/DC0/vm/prod", "vc2.example/DC0/vm/prod", false},
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm/prod/eu", false},
		{"vc1.example:443/DC0/vm/prod", "/DC0/vm", false},
		{"vc1.example:443/DC0/vm/.../eu", "/DC0/vm/prod/eu", true},
		{"vc1.example:443/DC0/vm/.../eu", "/DC1/vm/prod/eu", false},
		{"vc1.example:443/*/vm/.../eu", "/DC1/vm/prod/eu", true},
		{"vc1.example:443/*/vm/prod", "/DC1/vm/prod", true},
		{"vc1.example:443/*/vm/prod", "/DC1/vm/other", false},
		{"vc1.example:443/group-v12", "group-v12", true},
		{"vc1.example:443/group-v12", "group-v1", false},
		{"vc1.example:443/DC0/vm/prod", "", false},
	} {
		if got := isFolder(c.key, c.written); got != c.is {
			t.Errorf("%s for %s: %v, want %v", c.written, c.key, got, c.is)
		}
	}
}
