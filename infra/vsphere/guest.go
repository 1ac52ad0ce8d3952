package vsphere

import (
	"slices"
	"strings"

	"drift-detector/infra"
)

// guest is all that is ever taken out of extraConfig.
//
// A VM that CAPV made and powered on has metadata: every version writes it before
// the power goes on, for cloud-init and for Ignition alike (which it knows since
// v1.5.0), writes it again at each reconcile where it differs, and never takes it
// away (ReconcileVM and reconcileMetadata in pkg/services/govmomi/service.go,
// v0.7.0 to v1.16.1). One that is powered off may still wait for it: for an
// address, since v1.5.0, or because its controller stopped right after the clone.
//
// The endpoint is in the bootstrap data, which CAPV writes at the clone alone and
// never takes away either (pkg/services/govmomi/vcenter/clone.go). The guest may:
// Ignition deletes its own since v2.14.0 (GHSA-hj57-j5cw-2mwp), and VMs of the lab
// have none. So a VM without an endpoint is nobody's in particular.
type guest struct {
	metadata bool   // CAPV's metadata is there, whether or not it could be understood
	host     string // host name in it
	endpoint string // of the API in the bootstrap data; empty where that names two
}

// into adds what the metadata says to a VM.
func (g guest) into(i *infra.Instance) {
	i.Keys = append(i.Keys, g.keys(i)...)
	if g.host == "" {
		return
	}
	i.Keys = append(i.Keys, hostKeys(i, g.host)...)
	i.Host = hostKey(g.host)
	if g.endpoint == "" || !g.named(i) {
		return
	}
	for _, k := range slices.Clone(i.Keys) {
		if k.Kind == keyFolder {
			i.Keys = append(i.Keys, endpointKey(k.Value, joinsKey(g.endpoint)))
		}
	}
}

// keys returns what ties by the name of a VM expect of it: that its own metadata gives
// it that name, and that it joins the API of that cluster. Where the VM says
// nothing of the kind it has no such key, and nothing is contradicted.
func (g guest) keys(i *infra.Instance) []infra.Key {
	var out []infra.Key
	switch {
	case g.named(i):
		out = append(out, ownName)
	case g.host != "", !g.metadata:
		out = append(out, infra.Key{Kind: keyNamed, Value: "another"})
	}
	if g.endpoint != "" {
		out = append(out, joinsKey(g.endpoint))
	}
	return out
}

// named reports whether the metadata gives a VM the name that it has.
func (g guest) named(i *infra.Instance) bool {
	host, name := strings.ToLower(g.host), strings.ToLower(i.Name)
	return host != "" && (host == name || strings.HasPrefix(host, name+".") || strings.HasPrefix(name, host+"."))
}
