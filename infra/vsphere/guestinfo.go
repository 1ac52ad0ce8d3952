package vsphere

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"maps"
	"net/url"
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
// extraConfig, bootstrap tokens and keys among it, is dropped on the spot. look
// tells where in instances a managed object id is; the number of candidates
// that could not be read is returned. The name of such a one ties it to nothing:
// nobody knows what its metadata would have said against that.
func (v *vcenter) readGuestinfo(ctx context.Context, look map[string]int, instances []infra.Instance) (left int) {
	read := make(map[string]bool, len(look))
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
			at, ok := look[o.Obj.Value]
			if !ok || !addGuestinfo(&instances[at], o) {
				return
			}
			read[o.Obj.Value] = true
		})
		if err != nil && ctx.Err() != nil {
			break
		}
	}
	for ref, at := range look {
		if !read[ref] {
			instances[at].Keys = append(instances[at].Keys, infra.Key{Kind: keyNamed, Value: "unread"})
		}
	}
	return len(look) - len(read)
}

// addGuestinfo reads one answer; it is false when extraConfig was not given.
func addGuestinfo(i *infra.Instance, o types.ObjectContent) bool {
	for _, p := range o.PropSet {
		options, ok := p.Val.(types.ArrayOfOptionValue)
		if p.Name != propExtra || !ok {
			continue
		}
		said := fromExtraConfig(options.OptionValue)
		i.Keys = append(i.Keys, said.keys(i)...)
		if said.host == "" {
			return true
		}
		i.Host = infra.Key{Kind: keyHost, Value: said.host}
		if said.endpoint != "" && said.host == i.Name {
			for _, k := range slices.Clone(i.Keys) {
				if k.Kind == keyFolder {
					i.Keys = append(i.Keys, endpointKey(k.Value, said.endpoint))
				}
			}
		}
		return true
	}
	return false
}

var (
	hostLine     = regexp.MustCompile(`(?m)^[ \t]*"?local-hostname"?:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]*)`)
	endpointLine = regexp.MustCompile(`(?:apiServerEndpoint|controlPlaneEndpoint)\\?"?:[ \t]*\\?["']?([A-Za-z0-9._\[\]:-]+:[0-9]{1,5})`)
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

// keys are what ties by the name of a VM expect of it: that its own metadata gives
// it that name, and that it joins the API of that cluster. Where the VM says
// nothing of the kind it has no such key, and nothing is contradicted.
func (g guest) keys(i *infra.Instance) []infra.Key {
	var out []infra.Key
	switch {
	case g.host == i.Name || strings.HasPrefix(g.host, i.Name+"."):
		out = append(out, ownName)
	case g.host != "", !g.metadata:
		out = append(out, infra.Key{Kind: keyNamed, Value: "another"})
	}
	if g.endpoint != "" {
		out = append(out, infra.Key{Kind: keyJoins, Value: g.endpoint})
	}
	return out
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

// endpointIn finds the endpoint in kubeadm's join or init configuration, inside
// cloud-init's YAML or, percent-encoded, Ignition's JSON. Bootstrap data that
// names two endpoints proves none.
func endpointIn(data string) string {
	found := ""
	texts := []string{data}
	if plain, err := url.PathUnescape(data); err == nil && plain != data {
		texts = append(texts, plain)
	}
	for _, text := range texts {
		for _, m := range endpointLine.FindAllStringSubmatch(text, -1) {
			e := strings.ToLower(m[1])
			if found != "" && found != e {
				return ""
			}
			found = e
		}
	}
	return found
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
