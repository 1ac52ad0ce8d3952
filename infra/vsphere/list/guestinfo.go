package list

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"maps"
	"slices"
	"strings"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/internal/lazyregexp"
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
			i.Keys = append(i.Keys, vsphere.MetadataUnread)
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
		fromExtraConfig(options.OptionValue).AddTo(i)
		return true
	}
	return false
}

var hostLine = lazyregexp.New(`(?m)^[ \t]*"?local-hostname"?:[ \t]*["']?([A-Za-z0-9][A-Za-z0-9._-]*)`)

// fromExtraConfig takes out of extraConfig what a guest is made of, and nothing else.
func fromExtraConfig(options []types.BaseOptionValue) (g vsphere.Guest) {
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
			g.Metadata = g.Metadata || value != ""
			if m := hostLine.FindStringSubmatch(decoded(value)); m != nil {
				g.Host = begin(m[1])
			}
		case guestUserdata, guestIgnition:
			if e := endpointIn(decoded(value)); e != "" {
				g.Endpoint = begin(e)
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
