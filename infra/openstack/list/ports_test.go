package list

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/openstack"
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
			o["name"] = name[:len(name)-len("-0")] + "-storage-net"
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
		if o["name"] == remade+"-0" {
			o["name"] = remade + "-storage-net"
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Unknown, code.IdentityChanged)
	data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
		if resource == "openstackservers.infrastructure.cluster.x-k8s.io" && backuptest.Inside(object, "metadata")["name"] == remade {
			ports := backuptest.Inside(object, "spec")["ports"].([]any)
			ports[0].(map[string]any)["nameSuffix"] = "storage-net"
		}
		return true
	})
	decide(t, data).demand(t, remade, code.Stale, code.InstanceNotFound)
}

// A port keeps its device where a server is gone that Neutron did not hear of, and where a server
// was renamed: Nova refuses both for a new server.
func TestTakenPorts(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	taken := func(machine string) bool {
		l := only(t, data, infra.Access{})
		return slices.ContainsFunc(l.ProbesFound, func(k infra.Key) bool {
			return k.Kind == openstack.KeyTaken && strings.HasSuffix(k.Value, "/"+machine+"-0")
		})
	}
	if taken(living) {
		t.Error("the machine's own server has the port")
	}
	id := idOfServer(t, s, living)
	s.Status("SOFT_DELETED", id)
	if !taken(living) {
		t.Error("a server that is deleted for now keeps the port")
	}
	s.Status("ACTIVE", id)
	s.Rename(id, "spare")
	if !taken(living) {
		t.Error("the server was renamed, and has the port")
	}
	s.Edit("servers", func(o openstacklab.Object) bool { return o["id"] != id })
	if !taken(living) {
		t.Error("the server is gone, and Neutron did not hear of it")
	}
}
