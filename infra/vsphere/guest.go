package vsphere

import (
	"slices"
	"strings"

	"drift-detector/infra"
)

// Guest is all that is ever taken out of extraConfig.
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
type Guest struct {
	Metadata bool   // CAPV's metadata is there, whether or not it could be understood
	Host     string // host name in it
	Endpoint string // of the API in the bootstrap data; empty where that names two
}

// AddTo adds what the metadata says to a VM.
func (g Guest) AddTo(i *infra.Instance) {
	i.Keys = append(i.Keys, g.keys(i)...)
	if g.Host == "" {
		return
	}
	i.Keys = append(i.Keys, hostKeys(i, g.Host)...)
	i.Host = hostKey(g.Host)
	if g.Endpoint == "" || !g.named(i) {
		return
	}
	for _, k := range slices.Clone(i.Keys) {
		if k.Kind == KeyFolder {
			i.Keys = append(i.Keys, endpointKey(k.Value, joinsKey(g.Endpoint)))
		}
	}
}

// keys returns what ties by the name of a VM expect of it: that its own metadata gives
// it that name, and that it joins the API of that cluster. Where the VM says
// nothing of the kind it has no such key, and nothing is contradicted.
func (g Guest) keys(i *infra.Instance) []infra.Key {
	var out []infra.Key
	switch {
	case g.named(i):
		out = append(out, ownName)
	case g.Host != "", !g.Metadata:
		out = append(out, infra.Key{Kind: keyNamed, Value: "another"})
	}
	if g.Endpoint != "" {
		out = append(out, joinsKey(g.Endpoint))
	}
	return out
}

// named reports whether the metadata gives a VM the name that it has.
func (g Guest) named(i *infra.Instance) bool {
	host, name := strings.ToLower(g.Host), strings.ToLower(i.Name)
	return host != "" && (host == name || strings.HasPrefix(host, name+".") || strings.HasPrefix(name, host+"."))
}
