package openstack

import (
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// Ports may have suffixes of their own, with dashes in them.
func TestPortsWithSuffixes(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	const own, shared = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	s.Like(living, "web-prod-md-0-46mng-zzzzz", own, true)
	s.Like(unrecorded, "data-gpu-n8485-zzzzz", shared, true) // on a network of others
	s.Edit("ports", func(o openstacklab.Object) bool {
		if name := o["name"].(string); o["device_id"] == own || o["device_id"] == shared {
			o["name"] = name[:len(name)-len(firstPort)] + "-storage-net"
		}
		return true
	})
	w := decide(t, data)
	for _, id := range []string{own, shared} {
		if !w.ghosts[id] {
			t.Errorf("%s is no ghost: %+v", id, w.unattributed[id])
		}
	}
	// A server with a name of ours has a port that CAPO made for another one.
	s.Rename(own, "web-prod")
	if w := decide(t, data); w.ghosts[own] {
		t.Error("by its name alone it is a ghost")
	}
}

// The machine's own port says that a server of its name is not the machine, also under a
// suffix of its own.
func TestNameBesidePortWithSuffix(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	s.Edit("ports", func(o openstacklab.Object) bool {
		if o["name"] == remade+firstPort {
			o["name"] = remade + "-storage-net"
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Unknown, code.IdentityChanged)
	data = edit(t, data, func(resource string, object map[string]any) bool {
		if resource == osServers && backuptest.Inside(object, "metadata")["name"] == remade {
			ports := backuptest.Inside(object, "spec")["ports"].([]any)
			ports[0].(map[string]any)["nameSuffix"] = "storage-net"
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Stale, code.InstanceNotFound)
}
