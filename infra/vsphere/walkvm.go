package vsphere

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// conditionAsked is the condition of what an inventory does not say, because it was saved
// before it was asked for.
const conditionAsked = code.VCenterUnasked

// conditionNamed is the condition of what is named by ids that only vCenter's other APIs know.
const conditionNamed = code.NamedInVCenter

// Rows of VSphereVM that a listing answers, of the VM that is found by its id.
var (
	rowVM1 = &walk.Row{
		ID: "vsphere.VM1", Of: vmKind,
		Asks:      "the one datacenter that spec.datacenter names; \"*\" names all of them",
		None:      walk.Waits.Says("CAPV has no session for the VM"),
		Several:   walk.Waits.Says("CAPV has no session for the VM: the name resolves to multiple datacenters"),
		Refused:   "which of several datacenters CAPV's account sees, where another account listed",
		Condition: conditionAsked,
		Source:    "retrieveVcenterSession: controllers/vspherevm_controller.go; GetOrCreate: pkg/session/session.go v1.16.1; Datacenter: govmomi find/finder.go v0.53.0",
	}
	rowR4 = &walk.Row{
		ID: "vsphere.R4", Of: vmKind,
		Asks:    "a hardware version of the VM that is not below spec.hardwareVersion",
		Differs: walk.Waits.Says("CAPV asks vCenter to upgrade the VM, which refuses that while it is on"),
		Source:  "reconcileHardwareVersion: pkg/services/govmomi/service.go v1.5.8 to v1.16.1",
	}
	rowR5 = &walk.Row{
		ID: "vsphere.R5", Of: vmKind,
		Asks:      "every one of spec.pciDevices among the VM's devices, with its label",
		None:      walk.Waits.Says("CAPV attaches no PCI device to a VM that is on, and goes no further"),
		Condition: conditionAsked,
		Source:    "reconcilePCIDevices: pkg/services/govmomi/service.go; CalculateDevicesToBeAdded: pkg/services/govmomi/pci/device.go v1.5.8 to v1.16.1",
	}
	rowR11 = &walk.Row{
		ID: "vsphere.R11", Of: vmKind,
		Asks:      "the VM group of its failure domain, in the one compute cluster of the name in its datacenter, with the VM in it",
		None:      walk.Waits.Says("CAPV finds no VM group to put the VM into, and goes no further"),
		Several:   walk.Waits.Says("CAPV takes none of several compute clusters, and goes no further"),
		Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPV puts the VM into its group again, and DRS moves it to the hosts of the group"},
		Refused:   "the VM groups of compute clusters",
		Condition: conditionAsked,
		Source:    "reconcileVMGroupInfo: pkg/services/govmomi/service.go; FindVMGroup: pkg/services/govmomi/cluster/vmgroup.go v1.5.8 to v1.16.1",
	}
	rowR6 = &walk.Row{
		ID: "vsphere.R6", Of: vmKind,
		Asks:      "the devices and the guest's addresses of the VM",
		Refused:   "these properties of the VMs of machines",
		Condition: conditionAsked,
		Source:    "GetNetworkStatus: pkg/services/govmomi/net/net.go v1.5.8 to v1.16.1",
	}
	rowR7 = &walk.Row{
		ID: "vsphere.R7", Of: vmKind,
		Asks:     "a network card of the VM for every one of spec.network.devices",
		None:     walk.Waits.Says("CAPV waits for devices to have a MAC address"),
		Versions: "v1.7 and later; before, where addresses come from pools",
		Source:   "buildIPAMDeviceConfigs: pkg/services/govmomi/ipam/status.go v1.7.7 to v1.16.1",
	}
	rowR9 = &walk.Row{
		ID: "vsphere.R9", Of: vmKind,
		Asks:    "the VM's metadata, as it makes that of network devices: the VSphereVM had those that VSphereMachine and failure domain say, and the VM has no other address in the network of a device without DHCP; where no device has DHCP, it has one of the addresses that they say",
		Differs: walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPV writes the network devices of the VSphereMachine into the VM's metadata, and the VM has their addresses when it starts again"},
		Source:  "reconcileMetadata: pkg/services/govmomi/service.go; GetMachineMetadata: pkg/util/machines.go; generateOverrideFunc: pkg/services/vimmachine.go v1.5.8 to v1.16.1",
	}
	rowR15 = &walk.Row{
		ID: "vsphere.R15", Of: vmKind,
		Asks:      "the tags and the module that it attaches to the VM, and of a VM that is off the storage policy",
		Condition: conditionNamed,
		Source:    "reconcileTags, reconcileClusterModuleMembership, reconcileStoragePolicy: pkg/services/govmomi/service.go v1.5.8 to v1.16.1",
	}
	rowR17 = &walk.Row{
		ID: "vsphere.R17", Of: vmKind,
		Asks:   "an address of one of the VM's network cards, as its guest says, that is neither link-local nor of the loopback",
		None:   walk.Waits.Says("the VM does not become ready, and CAPV asks again every 10 seconds"),
		Source: "reconcileNormal: controllers/vspherevm_controller.go; sanitizeIPAddrs: pkg/services/govmomi/net/net.go v1.5.8 to v1.16.1",
	}
	vmRows    = []*walk.Row{rowVM1, rowVM1b, rowVM1c, rowVM3, rowVM4, rowVM4b, rowVM5, rowVM6, rowVM6b, rowR2}
	foundRows = []*walk.Row{rowR3, rowR4, rowR5, rowR6, rowR7, rowR8, rowR9, rowR11, rowR14, rowR15, rowR17, rowM9}
)

// inspection answers the rows of VMs. Machines one after the other mostly get the same
// answers, so that those of a VM that passes are made once.
type inspection struct {
	members []wanted // by index into Snapshot.Machines
	asks    []inspected
	sight   sight                // of the machine that is asked about
	passing map[uint][]walk.Step // by the rows, as bits
	places  map[placedAt]walk.Answer
	centers map[*infra.Listing][]string // datacenters
	labels  map[string]bool             // names of hosts, and whether they are values of labels
}

type placedAt struct {
	place   *place
	listing *infra.Listing
}

// onInstance returns what asks the rows of the VM that a machine's controller takes.
func (objs *objects) onInstance() func(int, infra.Sight) []walk.Step {
	x := &inspection{members: make([]wanted, len(objs.snapshot.Machines)), passing: map[uint][]walk.Step{}, places: map[placedAt]walk.Answer{}, centers: map[*infra.Listing][]string{}, labels: map[string]bool{}}
	groups := map[*backup.Record[vsphereZone]]*vmGroup{}
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.machine != nil && !m.machine.Paused && (m.vm != nil && !m.vm.Paused || objs.madeAgain(m)) {
			x.members[m.index] = objs.wanted(m, groups)
		}
	}
	x.asks = []inspected{
		{rowVM1, x.datacenter},
		{rowR6, (*sight).readable},
		{rowR4, (*sight).hardware},
		{rowR5, (*sight).pci},
		{rowR7, (*sight).networkCards},
		{rowR9, (*sight).metadata},
		{rowR11, x.inGroup},
		{rowR14, (*sight).host},
		{rowR15, (*sight).named},
		{rowR17, (*sight).address},
		{rowM9, x.hostLabel},
	}
	return x.inspect
}

// wanted is what the backup says of the VM of a machine. It is all that is kept of its objects
// until the rows are asked; without a place nothing is.
type wanted struct {
	*place
	*cloneRest
	group     *vmGroup // nil: none
	cards     int32
	modular   bool // its VSphereCluster has modules
	rewritten bool
	fixed     bool             // see fixedAddresses, of all devices
	addresses [][]netip.Prefix // likewise
	name      string           // of the VSphereVM, in the namespace of the cluster
}

// vmGroup is the group of VMs of a failure domain, and the compute cluster that has it.
type vmGroup struct{ name, cluster string }

func (objs *objects) wanted(m *member, groups map[*backup.Record[vsphereZone]]*vmGroup) wanted {
	at := m.vmAt()
	w := wanted{place: m.place, cloneRest: objs.restOf(m), cards: int32(len(objs.devices(m))), modular: m.modular, rewritten: objs.rewritten(m), name: at.Name}
	w.addresses, w.fixed = objs.fixedAddresses(m)
	_, zone := objs.zoneOfMachine(m)
	if zone == nil {
		return w
	}
	group, known := groups[zone]
	if domain := objs.domainOf(zone); !known && domain != nil {
		group = &vmGroup{domain.Data.Group, domain.Data.Cluster}
		groups[zone] = group
	}
	w.group = group
	return w
}

// inspect asks them in CAPV's order, which ends at the first that keeps it from going on.
func (x *inspection) inspect(machine int, at infra.Sight) []walk.Step {
	m := &x.members[machine]
	if m.place == nil || at.Listing == nil {
		return nil
	}
	vm := &x.sight
	*vm = sightOf(m, at)
	var passed uint
	var open []walk.Step
	for i, ask := range x.asks {
		a := ask.of(vm)
		switch a.Found {
		case "":
		case walk.Passed:
			passed |= 1 << i
		default:
			open = append(open, walk.Step{Row: ask.row, Answer: a})
		}
		if e := (&walk.Step{Row: ask.row, Answer: a}).Does().Effect; e != "" && e != walk.Writes {
			break
		}
	}
	if open == nil {
		return x.allPassed(passed)
	}
	return append(slices.Clip(x.allPassed(passed)), open...)
}

type inspected struct {
	row *walk.Row
	of  func(*sight) walk.Answer
}

func (x *inspection) allPassed(rows uint) []walk.Step {
	list, known := x.passing[rows]
	if !known {
		for i, ask := range x.asks {
			if rows&(1<<i) != 0 {
				list = append(list, walk.Step{Row: ask.row, Answer: pass})
			}
		}
		x.passing[rows] = list
	}
	return list
}

// sight is the VM of a machine.
type sight struct {
	*infra.Instance
	m       *wanted
	listing *infra.Listing
	off     bool
	read    bool // its Facts were read
}

func sightOf(m *wanted, at infra.Sight) sight {
	s := sight{Instance: at.Instance, m: m, listing: at.Listing, off: !at.Instance.Runs()}
	_, s.read = at.Instance.Facts.Get(FactCards)
	return s
}

func (s *sight) title() string { return "VM " + s.Name }

// datacenter asks VM1, once for each place.
func (x *inspection) datacenter(s *sight) walk.Answer {
	k := placedAt{s.m.place, s.listing}
	a, known := x.places[k]
	if !known {
		a = datacenterAnswer(s.listing, x.datacentersOf(s.listing), s.m.spec.Datacenter)
		x.places[k] = a
	}
	return a
}

// datacentersOf returns the datacenters of a listing, nil where it does not say which there are.
func (x *inspection) datacentersOf(l *infra.Listing) []string {
	all, read := x.centers[l]
	if !read {
		all = l.Facts.All(FactDatacenter)
		x.centers[l] = all
	}
	return all
}

// datacenterAnswer returns what govmomi's finder makes of a datacenter's name. Without one, and for
// "*", it takes the only one.
func datacenterAnswer(l *infra.Listing, all []string, written string) walk.Answer {
	if all == nil {
		if l.State == code.ScopeFailed {
			return walk.Answer{}
		}
		return walk.Answer{Found: walk.Unseen, Objects: []string{"vCenter " + l.Endpoint}}
	}
	found := datacentersNamed(all, written)
	if written == "" {
		written = AnyDatacenter
	}
	object := fmt.Sprintf("datacenter %q", written)
	switch len(found) {
	case 0:
		return answer(walk.None, object, "vCenter "+l.Endpoint+" has no "+object, "exists")
	case 1:
		return pass
	}
	why := fmt.Sprintf("%s names %d datacenters of vCenter %s, %s and %s among them", object, len(found), l.Endpoint, found[0], found[1])
	if of, _ := l.Facts.Get(infra.FactCredential); of == infra.OfOperator {
		return walk.Answer{Found: walk.Unread, Why: why + ", to an account that is not CAPV's", Objects: []string{object}}
	}
	return answer(walk.Several, object, why, "names one alone")
}

// datacentersNamed returns the paths of those that a datacenter's name may mean.
func datacentersNamed(all []string, written string) (found []string) {
	for _, dc := range all {
		ref, path, _ := strings.Cut(dc, " ")
		switch name := datacenterOf(written); {
		case name == "", name == ref, strings.HasPrefix(name, "/") && name == path, Component(name) == path[strings.LastIndexByte(path, '/')+1:]:
			found = append(found, path)
		}
	}
	return found
}

// readable asks R6.
func (s *sight) readable() walk.Answer {
	if s.read {
		return pass
	}
	if why, refused := s.listing.FactsUnread.Get(FactVMs); refused {
		return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{"vCenter " + s.listing.Endpoint}}
	}
	if v, asked := s.listing.Facts.Get(FactVMs); asked && v == "read" {
		return walk.Answer{Found: walk.Unread, Why: "vCenter " + s.listing.Endpoint + " did not say it of " + s.title(), Objects: []string{s.title()}}
	}
	return walk.Answer{Found: walk.Unseen, Objects: []string{"vCenter " + s.listing.Endpoint}}
}

// hardware asks R4.
func (s *sight) hardware() walk.Answer {
	want := s.m.HardwareVersion
	have, seen := s.Facts.Get(FactHardware)
	if want == "" || !s.read || s.off {
		return walk.Answer{}
	}
	if !seen {
		return walk.Answer{Found: walk.Differs, Why: s.title() + " says no hardware version", Objects: []string{s.title()}}
	}
	if h, known := hardwareNumber(have); !known || h < numberOf(want) {
		return answer(walk.Differs, s.title(), fmt.Sprintf("%s has hardware version %s, and %s is specified", s.title(), have, want), "is upgraded while it is off")
	}
	return pass
}

func numberOf(version string) int { n, _ := hardwareNumber(version); return n }

// hardwareNumber returns 19 of "vmx-19".
func hardwareNumber(version string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(version, "vmx-"))
	return n, err == nil
}

// pciDevice is one of spec.pciDevices.
type pciDevice struct {
	Device  int32  `json:"deviceId"`
	Vendor  int32  `json:"vendorId"`
	Profile string `json:"vGPUProfile"`
	Label   string `json:"customLabel"`
}

func (d pciDevice) String() string {
	return cmp.Or(d.Profile, fmt.Sprintf("%d-%d", d.Device, d.Vendor))
}

// is reports whether a device of a VM is such a one, by its fact: what it is, and its label.
func (d pciDevice) is(fact string) bool {
	if d.Profile != "" {
		return fact == d.Profile
	}
	what, label, _ := strings.Cut(fact, " ")
	return what == d.String() && (d.Label == "" || d.Label == label)
}

// pci asks R5. Of devices that are the same but for their labels CAPV counts all that are specified,
// and those of the VM that have one label. A VM that is off is given what it lacks.
func (s *sight) pci() walk.Answer {
	want := s.m.PCIDevices
	if len(want) == 0 || !s.read || s.off {
		return walk.Answer{}
	}
	have := s.Facts.All(FactPCI)
	if have == nil {
		return walk.Answer{Found: walk.Unseen, Objects: []string{s.title()}}
	}
	for _, d := range want {
		lacking := 0
		for _, other := range want {
			if other.String() == d.String() {
				lacking++
			}
		}
		for _, fact := range have {
			if d.is(fact) {
				lacking--
			}
		}
		if lacking > 0 {
			return answer(walk.None, s.title(), strings.TrimSpace(fmt.Sprintf("%s lacks PCI device %s %s", s.title(), d, d.Label)), "has it")
		}
	}
	return pass
}

// metadata asks R9.
func (s *sight) metadata() walk.Answer {
	if s.m.rewritten {
		object := vmKind + " " + s.m.cluster.Namespace + "/" + s.m.name
		return answer(walk.Differs, object, "spec.network.devices of "+object+" is not what its VSphereMachine and failure domain say", "is the same")
	}
	have := s.Facts.All(FactAddress)
	if len(s.m.addresses) == 0 || s.off || len(have) == 0 || len(have) == MaxAddresses {
		return pass // without any the VM is asked for one later
	}
	none := s.m.fixed
	for _, device := range s.m.addresses {
		if slices.ContainsFunc(device, func(p netip.Prefix) bool { return slices.Contains(have, p.Addr().String()) }) {
			none = false
		} else if text := s.inNetworkOf(device, have); text != "" {
			return s.hasOther(text, device[0])
		}
	}
	if none {
		return s.hasOther(have[0], s.m.addresses[0][0])
	}
	return pass
}

func (s *sight) hasOther(address string, want netip.Prefix) walk.Answer {
	return answer(walk.Differs, s.title(), fmt.Sprintf("%s has the address %s, and %s is specified", s.title(), address, want.Addr()), "has a specified address")
}

// inNetworkOf returns an address in the network of a device that no device is to have.
func (s *sight) inNetworkOf(device []netip.Prefix, have []string) string {
	for _, text := range have {
		a, err := netip.ParseAddr(text)
		if err != nil || slices.ContainsFunc(slices.Concat(s.m.addresses...), func(p netip.Prefix) bool { return p.Addr() == a }) {
			continue
		}
		if slices.ContainsFunc(device, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return text
		}
	}
	return ""
}

// inGroup asks R11.
func (x *inspection) inGroup(s *sight) walk.Answer {
	group := s.m.group
	if group == nil || group.name == "" {
		return walk.Answer{}
	}
	object := fmt.Sprintf("VM group %s of compute cluster %s", group.name, group.cluster)
	if why, refused := s.listing.FactsUnread.Get(FactGroup); refused {
		return walk.Answer{Found: walk.Unread, Why: why, Objects: []string{object}}
	}
	groups := s.listing.Facts.All(FactGroup)
	if groups == nil {
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	written, within := CleanPath(group.cluster), datacentersNamed(x.datacentersOf(s.listing), s.m.spec.Datacenter)
	in := slices.DeleteFunc(s.listing.Facts.All(FactCluster), func(path string) bool {
		return !strings.HasSuffix(path, written) || // a name, or a path below the datacenter's hosts
			len(within) == 1 && !strings.HasPrefix(path, within[0]+"/")
	})
	switch {
	case len(in) > 1:
		return answer(walk.Several, object, fmt.Sprintf("%d compute clusters answer to %s", len(in), group.cluster), "is in one alone")
	case len(in) == 0 || !slices.Contains(groups, in[0]+Separator+group.name):
		return answer(walk.None, object, "vCenter "+s.listing.Endpoint+" has no "+object, "exists")
	}
	switch _, asked := s.listing.Facts.Get(FactMembers); {
	case slices.Contains(s.Facts.All(FactGroup), in[0]+Separator+group.name):
		return pass
	case !asked || !s.read:
		return walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	return answer(walk.Differs, s.title(), s.title()+" is not in "+object, "is in the group")
}

// networkCards asks R7.
func (s *sight) networkCards() walk.Answer {
	if s.m.cards == 0 || !s.read {
		return walk.Answer{}
	}
	have, _ := s.Facts.Get(FactCards)
	if n, _ := strconv.Atoi(have); n < int(s.m.cards) {
		return answer(walk.None, s.title(), fmt.Sprintf("%s has %s network cards, and %d network devices are specified", s.title(), have, s.m.cards), "has as many")
	}
	return pass
}

// named asks R15.
func (s *sight) named() walk.Answer {
	if len(s.m.TagIDs) == 0 && !s.m.modular && (!s.off || s.m.StoragePolicy == "") {
		return pass
	}
	return walk.Answer{Found: walk.Unseen, Objects: []string{vmKind + " " + s.m.cluster.Namespace + "/" + s.m.name}}
}

// address asks R17. A VM that is off is started before.
func (s *sight) address() walk.Answer {
	if !s.read || s.off {
		return walk.Answer{}
	}
	if _, ok := s.Facts.Get(FactAddress); !ok {
		return answer(walk.None, s.title(), s.title()+" has no address on a network card", "has one")
	}
	return pass
}
