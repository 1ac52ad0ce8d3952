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
	Asks:      "for each new claim the first address of its pool without an IPAddress, which no VM may have",
	Condition: conditionFree,
	Source:    "reconcileIPAddressClaims: controllers/vspherevm_ipaddress_reconciler.go v1.6.0 to v1.16.1; FindFreeAddress: cluster-api-ipam-provider-in-cluster internal/poolutil/pool.go v1.1.0",
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

// addressesOf are the addresses that a pool has given.
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
		for _, text := range slices.Concat(vm.Addresses, vm.Facts.All(factAddress)) {
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

// lastOf is the last address of a network.
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
