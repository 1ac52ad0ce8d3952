package list

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/fault"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
)

// Properties of the VMs of machines that steps of the walk ask for.
const (
	propVersion = "config.version"
	propCards   = "summary.config.numEthernetCards"
	propHost    = "runtime.host"
	propNet     = "guest.net"
	propDevices = "config.hardware.device"
	propGroup   = "configurationEx.group"
)

const clusterType = "ClusterComputeResource"

// readMachineVMs asks for what CAPV asks of the VMs that are or may be machines, and of no
// others: a call for each page of them, and one for their hosts; where a machine names PCI
// devices or a failure domain a VM group, one for those, too. What is refused is noted.
func (v *vcenter) readMachineVMs(ctx context.Context, t infra.Target, d *vsphere.Detail, g *gathering, l *infra.Listing) {
	at := maps.Clone(g.candidates) // a machine without an id is found by its name
	for i := range l.Instances {
		if vm := &l.Instances[i]; vm.Ref != "" && !vm.Unreadable && d.Recorded.Servers[vm.ID] != "" {
			at[vm.Ref] = i
		}
	}
	if d.Recorded.Groups {
		v.readGroups(ctx, t, g.in.folders, l, at)
	}
	if !v.readPCI(ctx, t, d, l, at) {
		return
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
			l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: vsphere.FactVMs, Value: t.Redaction.Brief(err.Error())})
			return
		}
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(hosts)), int(v.page)) {
		err := v.pages(ctx, asking("HostSystem", batch, propName), func(o types.ObjectContent) {
			for _, p := range o.PropSet {
				for _, i := range hosts[o.Obj.Value] {
					l.Instances[i].Facts = append(l.Instances[i].Facts, infra.Fact{Name: vsphere.FactHost, Value: begin(word(p.Val))})
				}
			}
		})
		if err != nil {
			l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: vsphere.FactHost, Value: t.Redaction.Brief(err.Error())})
			break
		}
	}
	l.Facts = append(l.Facts, infra.Fact{Name: vsphere.FactVMs, Value: "read"})
}

// readPCI asks for the PCI devices of the VMs whose machines name some.
func (v *vcenter) readPCI(ctx context.Context, t infra.Target, d *vsphere.Detail, l *infra.Listing, at map[string]int) bool {
	var refs []string
	for _, ref := range slices.Sorted(maps.Keys(at)) {
		if d.Recorded.PCI[l.Instances[at[ref]].ID] {
			refs = append(refs, ref)
		}
	}
	for batch := range slices.Chunk(refs, guestBatch) { // whole lists of devices
		err := v.pages(ctx, asking(vmType, batch, propDevices), func(o types.ObjectContent) {
			if i, ok := at[o.Obj.Value]; ok && len(o.PropSet) > 0 {
				list, _ := o.PropSet[0].Val.(types.ArrayOfVirtualDevice)
				l.Instances[i].Facts = append(l.Instances[i].Facts, pciFacts(list.VirtualDevice)...)
			}
		})
		if err != nil {
			l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: vsphere.FactVMs, Value: t.Redaction.Brief(err.Error())})
			return false
		}
	}
	return true
}

// pciFacts returns the PCI devices of a VM as a backup names them, after one that says that they
// were read.
func pciFacts(devices []types.BaseVirtualDevice) infra.Facts {
	all := infra.Facts{{Name: vsphere.FactPCI, Value: ""}}
	for _, d := range devices {
		if d == nil {
			continue // of a type that is not known here
		}
		switch backing := d.GetVirtualDevice().Backing.(type) {
		case *types.VirtualPCIPassthroughVmiopBackingInfo:
			all = append(all, infra.Fact{Name: vsphere.FactPCI, Value: backing.Vgpu})
		case *types.VirtualPCIPassthroughDynamicBackingInfo:
			for _, a := range backing.AllowedDevice {
				all = append(all, infra.Fact{Name: vsphere.FactPCI, Value: strings.TrimSpace(fmt.Sprintf("%d-%d %s", a.DeviceId, a.VendorId, begin(backing.CustomLabel)))})
			}
		}
	}
	return all
}

// readGroups asks for the VM groups of all compute clusters, and notes which VMs of machines are in
// them.
func (v *vcenter) readGroups(ctx context.Context, t infra.Target, folders *finder, l *infra.Listing, at map[string]int) {
	var found infra.Facts
	hidden := false
	spec := []types.PropertySpec{{Type: clusterType, PathSet: []string{propName, propParent, propGroup}}}
	err := v.eachObject(ctx, spec, v.limits.things, func(o types.ObjectContent) {
		var name, parent string
		var groups []types.BaseClusterGroupInfo
		for _, p := range o.PropSet {
			switch p.Name {
			case propName:
				name = word(p.Val)
			case propParent:
				parent = reference(p.Val)
			case propGroup:
				of, _ := p.Val.(types.ArrayOfClusterGroupInfo)
				groups = of.ClusterGroupInfo
			}
		}
		for _, p := range o.MissingSet {
			hidden = hidden || p.Path == propGroup
		}
		path := folders.paths[parent].path + "/" + vsphere.Component(name)
		found = append(found, infra.Fact{Name: vsphere.FactCluster, Value: path})
		for _, g := range groups {
			of, ok := g.(*types.ClusterVmGroup)
			if !ok {
				continue
			}
			found = append(found, infra.Fact{Name: vsphere.FactGroup, Value: path + vsphere.Separator + of.Name})
			for _, vm := range of.Vm {
				if i, ok := at[vm.Value]; ok {
					l.Instances[i].Facts = append(l.Instances[i].Facts, found[len(found)-1])
				}
			}
		}
	})
	switch {
	case fault.Is(err, &types.InvalidProperty{}):
		return // a vCenter that names no property of a subtype: nobody could ask
	case err != nil:
		l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: vsphere.FactGroup, Value: t.Redaction.Brief(err.Error())})
		return
	case hidden || found == nil:
		l.FactsUnread = append(l.FactsUnread, infra.Fact{Name: vsphere.FactGroup, Value: "the account may not read the compute clusters of vCenter " + t.Endpoint})
		return
	}
	l.Facts = append(append(l.Facts, infra.Fact{Name: vsphere.FactGroup, Value: ""}, infra.Fact{Name: vsphere.FactMembers, Value: "read"}), found...)
}

// asking returns a call for properties of some objects. One that is gone by now does not take
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

// machineFacts returns the Facts of a VM. What was refused is absent; who may not read
// how many network cards there are has read nothing, to the rows of a walk.
func machineFacts(o types.ObjectContent) infra.Facts {
	var all infra.Facts
	for _, p := range o.PropSet {
		switch p.Name {
		case propVersion:
			all = append(all, infra.Fact{Name: vsphere.FactHardware, Value: begin(word(p.Val))})
		case propCards:
			if n, ok := p.Val.(int32); ok {
				all = append(all, infra.Fact{Name: vsphere.FactCards, Value: strconv.Itoa(int(n))})
			}
		case propNet:
			nics, _ := p.Val.(types.ArrayOfGuestNicInfo)
			for _, a := range addressesOn(nics.GuestNicInfo) {
				all = append(all, infra.Fact{Name: vsphere.FactAddress, Value: a})
			}
		}
	}
	return all
}

// addressesOn returns the addresses on network cards that CAPV counts: not those of bridges and
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
			if err == nil && !a.IsUnspecified() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsLinkLocalMulticast() && len(all) < vsphere.MaxAddresses {
				all = append(all, a.String())
			}
		}
	}
	return all
}
