package vsphere

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// conditionFree is the condition of addresses that a pool believes to be free.
const conditionFree = code.PoolAddressesTaken

// rowVM6 is the part of the claims that neither the pool nor the claim shows.
var rowVM6 = &walk.Row{
	ID: "vsphere.VM6", Of: vmKind,
	Asks:      "the first address of its pool without an IPAddress, for each new claim, which no VM may have",
	Condition: conditionFree,
	Source:    "reconcileIPAddressClaims: controllers/vspherevm_ipaddress_reconciler.go v1.6.0 to v1.16.1; FindFreeAddress: cluster-api-ipam-provider-in-cluster internal/poolutil/pool.go v1.1.0",
}

// rowVM6b is the part of the claims that exist.
var rowVM6b = &walk.Row{
	ID: "vsphere.VM6b", Of: vmKind,
	Asks:    "leave to write the pool of each network device into the claim for it",
	Differs: walk.Waits.Says("Cluster API's webhook lets nobody change a claim, and CAPV goes no further"),
	Source:  "createOrPatchIPAddressClaim: controllers/vspherevm_ipaddress_reconciler.go v1.6.0 to v1.16.1; ValidateUpdate: internal/webhooks/ipaddressclaim.go of Cluster API v1.5.8 to v1.13.6",
}

var rowR8 = &walk.Row{
	ID: "vsphere.R8", Of: vmKind,
	Asks:    "the addresses that pools gave it: one address once on a device, and on each device one gateway of a family",
	Several: walk.Waits.Says("CAPV refuses the addresses of the device"),
	Differs: walk.Waits.Says("CAPV refuses the addresses of the device"),
	Source:  "BuildState: pkg/services/govmomi/ipam/status.go; parseGateway: pkg/services/govmomi/ipam/parse.go v1.6.3 to v1.16.1",
}

// ofPools asks VM6b.
func (objs *objects) ofPools(m *member) (found walk.Answer) {
	at := m.vmAt()
	for i, d := range objs.devices(m) {
		for n, pool := range d.Pools {
			name := fmt.Sprintf("%s-%d-%d", at.Name, i, n)
			c := addressClaims.In(objs.snapshot).Named(at.Backup, at.Namespace, name)
			if c == nil {
				continue // that it is absent is said elsewhere
			}
			if found = pass; c.Data != pool {
				object := claimKind + " " + c.Namespace + "/" + name
				return answer(walk.Differs, object, fmt.Sprintf("%s is of %s %s, and network device %d of %s %s", object, c.Data.Kind, c.Data.Name, i, pool.Kind, pool.Name), "is of the same pool")
			}
		}
	}
	return found
}

// claimed asks R8, of addresses that have the names of their claims, as a restore leaves them.
func (objs *objects) claimed(m *member) walk.Answer {
	found, at := walk.Answer{}, m.vmAt()
	for i, d := range objs.devices(m) {
		gateways, seen := [2]string{d.Gateway4, d.Gateway6}, map[string]bool{}
		for pool := range d.Pools {
			name := fmt.Sprintf("%s-%d-%d", at.Name, i, pool)
			a := addresses.In(objs.snapshot).Named(at.Backup, at.Namespace, name)
			if a == nil {
				continue // that it is absent is said elsewhere
			}
			if bad := a.Data.onDevice(&gateways, seen); bad.Found != "" {
				object := "IPAddress " + a.Namespace + "/" + name
				return answer(bad.Found, object, object+" of "+vmKind+" "+at.Name+" "+bad.Why, "suits its device")
			}
			found = pass
		}
	}
	return found
}

// onDevice adds an address to those of a device, and says what is wrong with it there.
func (a *ipAddress) onDevice(gateways *[2]string, seen map[string]bool) walk.Answer {
	address, err := netip.ParsePrefix(fmt.Sprintf("%s/%d", a.Address, a.Prefix.N))
	if err != nil {
		return walk.Answer{Found: walk.Differs, Why: "has no valid address"}
	}
	if seen[address.String()] {
		return walk.Answer{Found: walk.Several, Why: "is " + address.String() + " like another one of the device"}
	}
	seen[address.String()] = true
	if a.Gateway == "" {
		return walk.Answer{}
	}
	gateway, err := netip.ParseAddr(a.Gateway)
	if err != nil || gateway.Is4() != address.Addr().Is4() {
		return walk.Answer{Found: walk.Differs, Why: "has no valid gateway"}
	}
	family := 0
	if !gateway.Is4() {
		family = 1
	}
	if other := gateways[family]; other != "" && other != a.Gateway {
		return walk.Answer{Found: walk.Differs, Why: fmt.Sprintf("has the gateway %s, and its device %s", a.Gateway, other)}
	}
	gateways[family] = a.Gateway
	return walk.Answer{}
}

// askPools asks VM6 once for each pool: whether a VM has an address that is free there.
func (q *questions) askPools() {
	for _, kind := range []*backup.Kind[ipPool]{ipPools, globalIPPools} {
		for p := range kind.In(q.objs.snapshot).All() {
			in := rangesOf(p.Data.Ranges)
			if len(in) == 0 {
				continue
			}
			known := q.objs.addressesOf(p)
			title := "InClusterIPPool " + p.Namespace + "/" + p.Name
			if kind == globalIPPools {
				title = "GlobalInClusterIPPool " + p.Name
			}
			out := rangesOf(p.Data.Excluded)
			q.Steps = append(q.Steps, infra.Step{
				Step: walk.Step{Row: rowVM6, Subject: title, Machine: -1},
				Look: func(inv *infra.Inventory) walk.Answer {
					return poolAnswer(inv, title, func(a netip.Addr) bool { return in.has(a) && !out.has(a) && !known[a] })
				},
			})
		}
	}
}

// addressesOf returns the addresses that a pool has given.
func (objs *objects) addressesOf(p *backup.Record[ipPool]) map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for a := range addresses.In(objs.snapshot).All() {
		if given, err := netip.ParseAddr(a.Data.Address); err == nil && a.Backup == p.Backup && a.Data.Pool == p.Name {
			all[given] = true
		}
	}
	return all
}

// poolAnswer looks for VMs, of machines or not, with an address that is free.
func poolAnswer(inv *infra.Inventory, pool string, free func(netip.Addr) bool) walk.Answer {
	var taken []string
	look := func(vm *infra.Instance) {
		for _, text := range slices.Concat(vm.Addresses, vm.Facts.All(FactAddress)) {
			if a, err := netip.ParseAddr(text); err == nil && !vm.Gone && free(a) {
				taken = append(taken, fmt.Sprintf("%s of VM %s in %s", a, vm.Name, pool))
				return
			}
		}
	}
	listed := false
	for i := range inv.Listings {
		l := &inv.Listings[i]
		if l.Provider != Name {
			continue
		}
		listed = true
		for j := range l.Instances {
			look(&l.Instances[j])
		}
		for vm := range l.Unrelated.All() {
			look(&vm)
		}
	}
	switch {
	case !listed:
		return walk.Answer{}
	case taken == nil:
		return pass
	}
	slices.Sort(taken)
	return walk.Answer{Found: walk.Unseen, Objects: slices.Compact(taken)}
}

// addressRanges are ranges of addresses, both ends included.
type addressRanges [][2]netip.Addr

// rangesOf reads what a pool writes: an address, "a-b", or a network.
func rangesOf(texts []string) addressRanges {
	var all addressRanges
	for _, text := range texts {
		first, last, isRange := strings.Cut(text, "-")
		if prefix, err := netip.ParsePrefix(text); err == nil {
			all = append(all, [2]netip.Addr{prefix.Masked().Addr(), lastOf(prefix)})
			continue
		}
		if !isRange {
			last = first
		}
		a, err := netip.ParseAddr(strings.TrimSpace(first))
		b, otherwise := netip.ParseAddr(strings.TrimSpace(last))
		if err == nil && otherwise == nil {
			all = append(all, [2]netip.Addr{a, b})
		}
	}
	return all
}

// lastOf returns the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

func (r addressRanges) has(a netip.Addr) bool {
	return slices.ContainsFunc(r, func(ends [2]netip.Addr) bool {
		return a.BitLen() == ends[0].BitLen() && a.Compare(ends[0]) >= 0 && a.Compare(ends[1]) <= 0
	})
}
