package vsphere

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// device is a network device of a clone spec.
type device struct {
	Skip     bool      `json:"skipIPAllocation"`
	DHCP4    bool      `json:"dhcp4"`
	DHCP6    bool      `json:"dhcp6"`
	Addrs    []string  `json:"ipAddrs"`
	Pools    []poolRef `json:"addressesFromPools"`
	Gateway4 string    `json:"gateway4"`
	Gateway6 string    `json:"gateway6"`
}

// devices returns those that CAPV writes into the VSphereVM of a machine.
func (objs *objects) devices(m *member) []device { return objs.devicesIn(objs.devicesOf(m)) }

// devicesOf returns them in JSON: those of its VSphereMachine, with what the failure domain says of
// one after the other.
func (objs *objects) devicesOf(m *member) string {
	_, zone := objs.zoneOfMachine(m)
	if zone == nil {
		return m.machine.Data.Devices
	}
	domain := objs.domainOf(zone)
	if domain == nil || domain.Data.Networks == "" {
		return m.machine.Data.Devices
	}
	return objs.devicesWith(m.machine.Data.Devices, domain.Data.Networks)
}

// devicesWith returns devices with networks of a failure domain, in one form. Equal texts are read once.
func (objs *objects) devicesWith(text, networks string) string {
	key := [2]string{text, networks}
	out, known := objs.merged[key]
	if !known {
		out = mergedDevices(text, networks)
		if objs.merged == nil {
			objs.merged = map[[2]string]string{}
		}
		objs.merged[key] = out
	}
	return out
}

func mergedDevices(text, networks string) string {
	var of struct {
		Devices []map[string]any `json:"devices"`
	}
	var with []any // names, or networkConfigurations
	_, _ = json.Unmarshal([]byte(text), &of), json.Unmarshal([]byte(networks), &with)
	for i, network := range with {
		if i == len(of.Devices) {
			of.Devices = append(of.Devices, nil)
		}
		d := maps.Clone(of.Devices[i])
		if d == nil {
			d = map[string]any{}
		}
		if of.Devices[i] = d; said(network) == "" {
			continue
		}
		says, configures := network.(map[string]any)
		if !configures {
			says = map[string]any{"networkName": network}
		}
		for name, value := range says {
			if said(value) != "" || value == false {
				d[name] = value
			}
		}
	}
	for _, d := range of.Devices {
		maps.DeleteFunc(d, func(_ string, value any) bool { return said(value) == "" })
	}
	form, _ := json.Marshal(of)
	return string(form)
}

// devicesIn reads equal texts once.
func (objs *objects) devicesIn(text string) []device {
	if text == "" {
		return nil
	}
	list, known := objs.parsed[text]
	if !known {
		var of struct{ Devices []device }
		if json.Unmarshal([]byte(text), &of) == nil {
			list = of.Devices
		}
		if objs.parsed == nil {
			objs.parsed = map[string][]device{}
		}
		objs.parsed[text] = list
	}
	return list
}

// rewritten reports whether CAPV writes other network devices into the VSphereVM than it has.
func (objs *objects) rewritten(m *member) bool {
	if m.vm == nil {
		return false
	}
	have, want := m.vm.Data.Devices, objs.devicesOf(m)
	return have != want && objs.devicesWith(have, "") != objs.devicesWith(want, "")
}

// fixedAddresses returns the addresses of each network device that has some of the spec or of pools
// and no others, with their networks where these are known, and whether all devices are such ones.
func (objs *objects) fixedAddresses(m *member) (devices [][]netip.Prefix, all bool) {
	at := m.vmAt()
	all = true
	for i, d := range objs.devices(m) {
		if d.Skip || d.DHCP4 || d.DHCP6 {
			all = false
			continue
		}
		texts := slices.Clone(d.Addrs)
		for pool := range d.Pools {
			a := addresses.In(objs.snapshot).Named(at.Backup, at.Namespace, fmt.Sprintf("%s-%d-%d", at.Name, i, pool))
			if a == nil {
				return nil, false // one is not known
			}
			texts = append(texts, fmt.Sprintf("%s/%d", a.Data.Address, a.Data.Prefix.N))
		}
		var of []netip.Prefix
		for _, text := range texts {
			written, _, _ := strings.Cut(text, "/")
			alone, err := netip.ParseAddr(written)
			if err != nil {
				return nil, false
			}
			p, err := netip.ParsePrefix(text)
			if err != nil || p.Bits() == 0 {
				p = netip.PrefixFrom(alone, alone.BitLen())
			}
			of = append(of, p)
		}
		if of != nil {
			devices = append(devices, of)
		}
	}
	return devices, all
}

// membersOf returns the members of a JSON object, each in one form, without those that say
// nothing, as CAPV's types leave them out.
func membersOf(text string) map[string]string {
	var all map[string]any
	out := map[string]string{}
	if json.Unmarshal([]byte(text), &all) != nil {
		return out
	}
	for name, value := range all {
		if form := said(value); form != "" {
			out[name] = form
		}
	}
	return out
}

// said returns a value in JSON, or nothing for one that says nothing.
func said(value any) string {
	form, _ := json.Marshal(value)
	switch s := string(form); s {
	case "null", `""`, "0", "false", "[]", "{}":
		return ""
	default:
		return s
	}
}

// cloneRest is what steps ask of the fixed members of a clone spec.
type cloneRest struct {
	HardwareVersion string      `json:"hardwareVersion"`
	TagIDs          []string    `json:"tagIDs"`
	PCIDevices      []pciDevice `json:"pciDevices"`
	StoragePolicy   string      `json:"storagePolicyName"`
}

// restOf reads equal texts once.
func (objs *objects) restOf(m *member) *cloneRest {
	text := m.machine.Data.Rest
	r := objs.rests[text]
	if r == nil {
		r = &cloneRest{}
		_ = json.Unmarshal([]byte(cmp.Or(text, "{}")), r)
		if objs.rests == nil {
			objs.rests = map[string]*cloneRest{}
		}
		objs.rests[text] = r
	}
	return r
}
