package vsphere

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// Keys of config.extraConfig that CAPV writes (pkg/services/govmomi/extra/config.go v1.16.1).
const (
	guestMetadata = "guestinfo.metadata"
	guestUserdata = "guestinfo.userdata"
	guestIgnition = "guestinfo.ignition.config.data"
)

// guestBatch bounds one answer: userdata holds whole bootstrap scripts.
const guestBatch = 50

// readGuestinfo asks candidates for their own metadata and keeps two things of
// it: the host name, and the API endpoint that the VM was to join. All else in
// extraConfig, bootstrap tokens and keys among it, is dropped at once. look
// tells where in instances a managed object id is; the candidates that could not be
// read are returned, those not that are gone by now. The name of such a one ties it
// to nothing: nobody knows what its metadata would have said against that.
func (v *vcenter) readGuestinfo(ctx context.Context, look map[string]int, instances []infra.Instance) (unread []string) {
	done := make(map[string]bool, len(look))
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(look)), guestBatch) {
		var objects []types.ObjectSpec
		for _, ref := range batch {
			objects = append(objects, types.ObjectSpec{Obj: types.ManagedObjectReference{Type: "VirtualMachine", Value: ref}})
		}
		err := v.pages(ctx, []types.PropertyFilterSpec{{
			ObjectSet: objects, PropSet: []types.PropertySpec{{Type: "VirtualMachine", PathSet: []string{propExtra}}},
			// A VM that is gone by now must not take the others along.
			ReportMissingObjectsInResults: types.NewBool(true),
		}}, func(o types.ObjectContent) {
			if at, ok := look[o.Obj.Value]; ok {
				done[o.Obj.Value] = addGuestinfo(&instances[at], o) || isGone(o)
			}
		})
		if err != nil && ctx.Err() != nil {
			break
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(look)) {
		if !done[ref] {
			i := &instances[look[ref]]
			i.Keys = append(i.Keys, infra.Key{Kind: keyNamed, Value: "unread"})
			unread = append(unread, ref)
		}
	}
	return unread
}

// isGone reports whether an answer is about an object that exists no more.
func isGone(o types.ObjectContent) bool {
	return slices.ContainsFunc(o.MissingSet, func(p types.MissingProperty) bool {
		_, gone := p.Fault.Fault.(*types.ManagedObjectNotFound)
		return gone
	})
}

// addGuestinfo reads one answer; it is false when extraConfig was not given.
func addGuestinfo(i *infra.Instance, o types.ObjectContent) bool {
	for _, p := range o.PropSet {
		options, ok := p.Val.(types.ArrayOfOptionValue)
		if p.Name != propExtra || !ok {
			continue
		}
		fromExtraConfig(options.OptionValue).into(i)
		return true
	}
	return false
}

var hostLine = regexp.MustCompile(`(?m)^[ \t]*"?local-hostname"?:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]*)`)

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

func fromExtraConfig(options []types.BaseOptionValue) (g guest) {
	for _, o := range options {
		if o == nil {
			continue
		}
		option := o.GetOptionValue()
		value, ok := option.Value.(string)
		if !ok {
			continue
		}
		switch option.Key {
		case guestMetadata:
			g.metadata = g.metadata || value != ""
			if m := hostLine.FindStringSubmatch(decoded(value)); m != nil {
				g.host = begin(m[1])
			}
		case guestUserdata, guestIgnition:
			if e := endpointIn(decoded(value)); e != "" {
				g.endpoint = begin(e)
			}
		}
	}
	return g
}

// maxGuestinfo bounds what a compressed value may become.
const maxGuestinfo = 4 << 20

// decoded undoes base64, which may be applied several times (CAPV
// pkg/services/govmomi/extra/config.go v1.16.1), and gzip.
func decoded(s string) string {
	data := []byte(s)
	for range 4 {
		if plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), "")); err == nil && len(plain) > 0 {
			data = plain
			continue
		}
		zipped, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			break
		}
		plain, err := io.ReadAll(io.LimitReader(zipped, maxGuestinfo))
		if err != nil {
			break
		}
		data = plain
	}
	return string(data)
}
