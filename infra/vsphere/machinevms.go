package vsphere

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// Properties of the VMs of machines that steps of the walk ask for.
const (
	propVersion = "config.version"
	propCards   = "summary.config.numEthernetCards"
	propHost    = "runtime.host"
	propNet     = "guest.net"
)

// readMachineVMs asks for what CAPV asks of the VMs of the backup's machines, and of no
// others: a call for each page of them, and one for their hosts. Where it is refused, that
// is noted.
func (v *vcenter) readMachineVMs(ctx context.Context, t infra.Target, d *detail, l *infra.Listing) {
	at := map[string]int{}
	for i := range l.Instances {
		if vm := &l.Instances[i]; vm.Ref != "" && !vm.Unreadable && d.recorded.servers[vm.ID] != "" {
			at[vm.Ref] = i
		}
	}
	hosts := map[string][]int{}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(at)), int(v.page)) {
		err := v.pages(ctx, asking(vmType, batch, propVersion, propCards, propHost, propNet), func(o types.ObjectContent) {
			if i, ok := at[o.Obj.Value]; ok {
				l.Instances[i].Facts = append(l.Instances[i].Facts, machineFacts(o)...)
				for _, p := range o.PropSet {
					if p.Name == propHost {
						hosts[reference(p.Val)] = append(hosts[reference(p.Val)], i)
					}
				}
			}
		})
		if err != nil {
			l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: factVMs, Value: t.Redaction.Brief(err.Error())})
			return
		}
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(hosts)), int(v.page)) {
		err := v.pages(ctx, asking("HostSystem", batch, propName), func(o types.ObjectContent) {
			for _, p := range o.PropSet {
				for _, i := range hosts[o.Obj.Value] {
					l.Instances[i].Facts = append(l.Instances[i].Facts, infra.Fact{Name: factHost, Value: begin(word(p.Val))})
				}
			}
		})
		if err != nil {
			l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: factHost, Value: t.Redaction.Brief(err.Error())})
			break
		}
	}
	l.Facts = append(l.Facts, infra.Fact{Name: factVMs, Value: "read"})
}

// asking is a call for properties of some objects. One that is gone by now does not take
// the others along.
func asking(kind string, refs []string, properties ...string) []types.PropertyFilterSpec {
	objects := make([]types.ObjectSpec, len(refs))
	for i, ref := range refs {
		objects[i].Obj = types.ManagedObjectReference{Type: kind, Value: ref}
	}
	return []types.PropertyFilterSpec{{
		ObjectSet: objects, PropSet: []types.PropertySpec{{Type: kind, PathSet: properties}},
		ReportMissingObjectsInResults: types.NewBool(true),
	}}
}

// machineFacts are the Facts of a VM. What was refused is absent; who may not read
// how many network cards there are has read nothing, see [sight].
func machineFacts(o types.ObjectContent) infra.Facts {
	var all infra.Facts
	for _, p := range o.PropSet {
		switch p.Name {
		case propVersion:
			all = append(all, infra.Fact{Name: factHardware, Value: begin(word(p.Val))})
		case propCards:
			if n, ok := p.Val.(int32); ok {
				all = append(all, infra.Fact{Name: factCards, Value: strconv.Itoa(int(n))})
			}
		case propNet:
			nics, _ := p.Val.(types.ArrayOfGuestNicInfo)
			for _, a := range addressesOn(nics.GuestNicInfo) {
				all = append(all, infra.Fact{Name: factAddress, Value: a})
			}
		}
	}
	return all
}

// maxAddresses bounds what a guest may make of its addresses.
const maxAddresses = 16

// addressesOn are the addresses on network cards that CAPV counts: not those of bridges and
// tunnels, which are on no card of the VM, and none that is for this host or link alone
// (ErrOnLocalOnlyIPAddr in pkg/services/govmomi/net/net.go v1.16.1).
func addressesOn(nics []types.GuestNicInfo) []string {
	var all []string
	for i := range nics {
		if nics[i].DeviceConfigId < 0 || nics[i].MacAddress == "" {
			continue
		}
		for _, text := range nics[i].IpAddress {
			a, err := netip.ParseAddr(text)
			if err == nil && !a.IsUnspecified() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsLinkLocalMulticast() && len(all) < maxAddresses {
				all = append(all, a.String())
			}
		}
	}
	return all
}
