package list

import (
	"encoding/base64"
	"os"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/vsphere"
	"drift-detector/internal/lab"
)

const (
	fleetBackup  = "../../../testdata/fleet-data.tar.gz"
	fleetVCenter = "../../../testdata/vcenter-after.tar.gz"
	fleetUser    = "user"
	fleetVMs     = 53
)

// What the provider asks of a backup, and keys that only it makes.
var (
	want = new(vsphere.Provider).Spec().Want

	keyBIOS       = infra.KeyKindOf("biosUUID")
	keyInstance   = infra.KeyKindOf("instanceUUID")
	keyRef        = infra.KeyKindOf("vmRef")
	keyName       = infra.KeyKindOf("name")
	keyVMX        = infra.KeyKindOf("vmxFolder")
	keyDatacenter = infra.KeyKindOf("datacenter")
	keyEndpoint   = infra.KeyKindOf("endpoint+ownhost")
	keyNamed      = infra.KeyKindOf("namedInMetadata")
	ownName       = infra.Key{Kind: keyNamed, Value: "itself"}
	nameless      = infra.Key{Kind: infra.KeyKindOf("unreadable"), Value: "nameless"}
)

type fields = map[string]any

// load reads a backup as the program does.
func load(t *testing.T, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	s, secrets, err := backup.Load(t.Context(), []backup.Source{backuptest.Source("backup.tar.gz", data)}, want)
	if err != nil {
		t.Fatal(err)
	}
	return s, secrets
}

// edit changes the Secrets and vSphere objects of a backup.
func edit(t *testing.T, data []byte, change func(resource string, object map[string]any) (keep bool)) []byte {
	t.Helper()
	return backuptest.Edit(t, data, change, "secrets", "vsphere")
}

func fleet(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(fleetBackup)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withPassword gives all vCenter Secrets of a backup another password.
func withPassword(t *testing.T, data []byte, password string) []byte {
	t.Helper()
	return edit(t, data, func(resource string, object map[string]any) bool {
		if values := backuptest.Inside(object, "data"); resource == "secrets" && values["username"] != nil && values["password"] != nil {
			values["password"] = base64.StdEncoding.EncodeToString([]byte(password))
		}
		return true
	})
}

// withServer gives all objects of a backup another vCenter.
func withServer(t *testing.T, data []byte, server string) []byte {
	t.Helper()
	return edit(t, data, func(_ string, object map[string]any) bool {
		for _, spec := range []map[string]any{backuptest.Inside(object, "spec"), backuptest.Inside(object, "spec", "template", "spec")} {
			if spec["server"] != nil {
				spec["server"] = server
			}
		}
		return true
	})
}

func serve(t *testing.T, o lab.VCenterOptions) *lab.VCenter {
	t.Helper()
	v, err := lab.StartVCenter(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

const fleetServer = "127.0.0.1:36459"

// reach sends what the fleet's backup calls its vCenter to another one, whose
// certificate the operator pins.
func reach(v *lab.VCenter) infra.Access {
	return infra.Access{
		Reroutes:    []infra.Reroute{{From: fleetServer, To: v.Addr}},
		Credentials: []infra.Credential{{Endpoint: fleetServer, Thumbprint: v.Thumbprint}},
	}
}

// sessions counts, for the suite, and for tests that count.
func sessions(v *lab.VCenter) (open, failed int) {
	l := v.Logins()
	return l.Open(), l.Failed
}

// listAll lists all targets one after the other.
func listAll(t *testing.T, p infra.Provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Listing {
	t.Helper()
	var all []infra.Listing
	for _, target := range p.Targets(s, secrets, a) {
		all = append(all, p.List(t.Context(), target))
	}
	return all
}

// small returns the provider with short pages.
func small() infra.Provider { return &provider{logins: &infra.Logins{}, page: 20, limits: standard} }
