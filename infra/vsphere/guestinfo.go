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
// that could not be read is returned.
func (v *vcenter) readGuestinfo(ctx context.Context, look map[string]int, instances []infra.Instance) (left int) {
	read := 0
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
			read++
		})
		if err != nil {
			break
		}
	}
	return len(look) - read
}

// addGuestinfo reads one answer; it is false when extraConfig was not given.
func addGuestinfo(i *infra.Instance, o types.ObjectContent) bool {
	for _, p := range o.PropSet {
		options, ok := p.Val.(types.ArrayOfOptionValue)
		if p.Name != propExtra || !ok {
			continue
		}
		host, endpoint := fromExtraConfig(options.OptionValue)
		if host == "" {
			return true
		}
		i.Host = infra.Key{Kind: keyHost, Value: host}
		if endpoint != "" && host == i.Name {
			for _, k := range slices.Clone(i.Keys) {
				if k.Kind == keyFolder {
					i.Keys = append(i.Keys, endpointKey(k.Value, endpoint))
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

// fromExtraConfig is all that is ever taken out of extraConfig.
func fromExtraConfig(options []types.BaseOptionValue) (host, endpoint string) {
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
			if m := hostLine.FindStringSubmatch(decoded(value)); m != nil {
				host = m[1]
			}
		case guestUserdata, guestIgnition:
			if e := endpointIn(decoded(value)); e != "" {
				endpoint = e
			}
		}
	}
	return host, endpoint
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
