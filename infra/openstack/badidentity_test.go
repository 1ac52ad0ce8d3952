package openstack

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
)

// Of an identity it is said what keeps CAPO from logging in with it, be it the cluster's or
// a machine's own, and the operator's credential may be used for it all the same.
func TestIdentitiesOfClustersAndMachines(t *testing.T) {
	selector := map[string]any{"matchLabels": map[string]any{"team": "b"}}
	refs := func(data []byte, ofResource string, fields map[string]any) []byte {
		return openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			if backuptest.Inside(object, "metadata")["namespace"] == "tenant-os-b" && strings.HasPrefix(resource, ofResource) {
				ref := backuptest.Inside(object, "spec", "identityRef")
				for k, v := range fields {
					ref[k] = v
				}
			}
			return true
		})
	}
	secret := map[string]any{"type": "Secret", "name": "cloud-config"}
	machines := func(data []byte) []byte { return refs(data, "openstackclusters.", secret) }
	well := machines(refs(withIdentity(t, nil, nil, true), "openstackservers.", secret))
	for name, c := range map[string]struct {
		data    []byte
		codes   string
		says    string
		halted  bool
		refused string
	}{
		"well":                          {well, "", "", false, ""},
		"of an unknown type":            {refs(well, "openstack", map[string]any{"type": "Vault"}), "BadIdentity", "identityRef of type Vault is unknown", true, "identityRef of type Vault is unknown"},
		"no cloud":                      {refs(well, "openstack", map[string]any{"cloudName": ""}), "BadIdentity", "names no cloud of its clouds.yaml", true, "names no cloud"},
		"a machine's, of unknown type":  {refs(well, "openstackservers.", map[string]any{"type": "Vault"}), "BadIdentity IdentityDiffers", "identityRef of type Vault is unknown", false, "identityRef of type Vault is unknown"},
		"a machine's, not for it":       {machines(withIdentity(t, selector, map[string]any{"team": "c"}, true)), "IdentityDiffers IdentityForbidden", "does not select Namespace tenant-os-b", false, "does not select Namespace tenant-os-b"},
		"a machine's, for it":           {machines(withIdentity(t, selector, map[string]any{"team": "b"}, true)), "IdentityDiffers", "", false, ""},
		"a machine's, not in backup":    {machines(withIdentity(t, nil, nil, false)), "IdentityDiffers", "", false, "OpenStackClusterIdentity shared is not in the backup"},
		"the cluster's, not in backup":  {withIdentity(t, nil, nil, false), "", "", true, "OpenStackClusterIdentity shared is not in the backup"},
		"the cluster's, not for it":     {withIdentity(t, selector, map[string]any{"team": "c"}, true), "IdentityForbidden", "does not select", true, "does not select"},
		"a machine's, without its keys": {machines(refs(withIdentity(t, nil, nil, true), "openstackservers.", map[string]any{"type": "Secret"})), "CredentialAbsent IdentityDiffers", "Secret tenant-os-b/shared with clouds.yaml is not in the backup", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, secrets := openstacklab.Load(t, new(Provider), c.data)
			p := new(Provider)
			var codes []string
			text := ""
			for _, f := range p.Check(s, secrets, time.Now()) {
				if !strings.Contains(string(f.Code), "Version") {
					codes, text = append(codes, string(f.Code)), text+f.Message
				}
			}
			slices.Sort(codes)
			if got := strings.Join(codes, " "); got != c.codes || !strings.Contains(text, c.says) {
				t.Errorf("check says %q, want %q: %s", got, c.codes, text)
			}
			e := p.Expected(s)
			halted := len(e.Halts) > 0
			for _, a := range e.Absent {
				halted = halted || len(a.Halts) > 0
				if a.HaltsMachines == halted || len(a.Clusters) == 0 {
					t.Errorf("absent is %+v", a)
				}
			}
			if halted != c.halted || (len(e.Absent) > 0) != strings.HasSuffix(name, "not in backup") {
				t.Errorf("halts %+v, absent %+v", e.Halts, e.Absent)
			}
			refused := ""
			for _, m := range e.Machines {
				if m.Machine >= 0 && s.Machines[m.Machine].Namespace == "tenant-os-b" && m.Restore != nil {
					refused = m.Restore.Refused
				}
			}
			if !strings.Contains(refused, c.refused) || (refused == "") != (c.refused == "") {
				t.Errorf("its machines are left alone because %q, want %q", refused, c.refused)
			}
			p.Getenv = func(name string) string {
				return map[string]string{"OS_AUTH_URL": "https://mine.example/v3", "OS_USERNAME": "me", "OS_PASSWORD": "p", "OS_PROJECT_NAME": "web"}[name]
			}
			for _, target := range p.Targets(s, secrets, infra.Access{Options: map[string]string{flagCloud: ofVariables}}) {
				if target.Refused != nil {
					t.Errorf("the operator's own credential is not used: %+v", target.Refused)
				}
			}
		})
	}
}
