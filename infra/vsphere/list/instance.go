package list

import (
	"path"
	"slices"
	"strings"
	"time"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// Properties, as vSphere's API reference names them.
const (
	propName                = "name"
	propParent              = "parent"
	propVApp                = "parentVApp"
	propFolder              = "parentFolder"
	propUUID                = "config.uuid"
	propInstanceUUID        = "config.instanceUuid"
	propTemplate            = "config.template"
	propCreated             = "config.createDate"
	propManagedBy           = "config.managedBy"
	propSummaryUUID         = "summary.config.uuid"
	propSummaryInstanceUUID = "summary.config.instanceUuid"
	propSummaryTemplate     = "summary.config.template"
	propVMX                 = "summary.config.vmPathName"
	propCPUs                = "summary.config.numCpu"
	propMemory              = "summary.config.memorySizeMB"
	propDisk                = "summary.storage.committed"   // bytes; and what may be added:
	propThinDisk            = "summary.storage.uncommitted" // of disks that grow
	propConnection          = "runtime.connectionState"
	propPower               = "runtime.powerState"
	propAddress             = "guest.ipAddress"
	propExtra               = "config.extraConfig"
	propRole                = "effectiveRole"
)

// vm is what was read of one VM. What vCenter did not give is empty.
type vm struct {
	ref, name, parent, vapp string
	uuid, instanceUUID      string
	template                bool
	lacking                 bool // vCenter left out what it never leaves out of a VM that it can read
	created                 time.Time
	manager                 string // key of the extension that manages it
	vmx                     string
	connection, power       string
	address                 string
	cpus, memory, disk      int64 // in MiB and bytes
}

// readVM takes what is there. A property that the account may not read, or
// that vanished with its VM, is missing from the set and costs only itself.
func readVM(o types.ObjectContent) vm {
	m := vm{ref: o.Obj.Value}
	var summaryUUID, summaryInstance string
	kindKnown := false
	for _, p := range o.PropSet {
		switch p.Name {
		case propName:
			m.name = vsphere.PlainName(word(p.Val))
		case propParent:
			m.parent = reference(p.Val)
		case propVApp:
			m.vapp = reference(p.Val)
		case propUUID:
			m.uuid = vsphere.UUID(word(p.Val))
		case propSummaryUUID:
			summaryUUID = vsphere.UUID(word(p.Val))
		case propInstanceUUID:
			m.instanceUUID = vsphere.UUID(word(p.Val))
		case propSummaryInstanceUUID:
			summaryInstance = vsphere.UUID(word(p.Val))
		case propTemplate, propSummaryTemplate:
			b, ok := p.Val.(bool)
			m.template, kindKnown = m.template || b, kindKnown || ok
		case propCreated:
			if t, ok := p.Val.(time.Time); ok {
				m.created = dateOf(t)
			}
		case propManagedBy:
			if by, ok := p.Val.(types.ManagedByInfo); ok {
				m.manager = by.ExtensionKey
			}
		case propVMX:
			m.vmx = short(word(p.Val))
		case propCPUs:
			m.cpus = number(p.Val)
		case propMemory:
			m.memory = number(p.Val)
		case propDisk, propThinDisk:
			m.disk += max(0, number(p.Val))
		case propConnection:
			m.connection = word(p.Val)
		case propPower:
			m.power = word(p.Val)
		case propAddress:
			m.address = short(word(p.Val)) // the guest says it
		}
	}
	if m.uuid == "" {
		m.uuid = summaryUUID
	}
	if m.instanceUUID == "" {
		m.instanceUUID = summaryInstance
	}
	m.lacking = m.connection == "" || m.power == "" || !kindKnown
	return m
}

// word returns a property that is a string or an enumeration.
func word(v types.AnyType) string {
	switch s := v.(type) {
	case string:
		return s
	case types.VirtualMachineConnectionState:
		return string(s)
	case types.VirtualMachinePowerState:
		return string(s)
	default:
		return ""
	}
}

// number returns a property that is one.
func number(v types.AnyType) int64 {
	switch n := v.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	default:
		return 0
	}
}

func reference(v types.AnyType) string {
	if r, ok := v.(types.ManagedObjectReference); ok {
		return r.Value
	}
	return ""
}

// readable reports whether the VM's configuration was read, so that a key that it
// does not have is really not its own. Inaccessible and invalid VMs have none,
// and an orphaned one is only a memory of vCenter's (vim25/types/enum.go v0.56.0).
func (m *vm) readable() bool {
	switch types.VirtualMachineConnectionState(m.connection) {
	case types.VirtualMachineConnectionStateInaccessible,
		types.VirtualMachineConnectionStateInvalid,
		types.VirtualMachineConnectionStateOrphaned:
		return false
	default:
		return m.uuid != "" && !m.lacking
	}
}

// inventory is where instances are put: one vCenter as seen through one target.
type inventory struct {
	identity string // of the vCenter, see identityOf
	endpoint string
	folders  *finder
	asked    map[string][]string // forms of folders in the backup, by managed object id
	below    map[string][]string // those that are above a folder, by its managed object id, as they are asked for
}

// above returns the forms of the backup's folders that a folder is below.
func (in *inventory) above(folder string) []string {
	if forms, known := in.below[folder]; known {
		return forms
	}
	var forms []string
	nodes := in.folders.tree.nodes
	for at, n := nodes[folder].parent, 0; at != "" && n < maxDepth; at, n = nodes[at].parent, n+1 {
		if nodes[nodes[at].parent].kind != "Datacenter" { // everything is below its own folder
			forms = append(forms, in.asked[at]...)
		}
	}
	if in.below == nil {
		in.below = map[string][]string{}
	}
	in.below[folder] = forms
	return forms
}

func (in *inventory) instance(m vm) infra.Instance {
	folder := in.folders.tree.folderOf(m.parent, m.vapp)
	at := in.folders.paths[folder]
	i := infra.Instance{
		Identity: in.identity + "/" + m.ref, ID: m.uuid, Ref: m.ref, Name: m.name, State: m.power, Created: m.created,
		Size:    infra.NewSize(m.cpus, m.memory, m.disk>>30, ""),
		Exclude: exclude(m, at.path), Unreadable: !m.readable(), Warnings: warnings(m),
	}
	if at.path != "" && m.name != "" {
		i.Path = at.path + "/" + vsphere.Component(m.name)
	}
	if m.address != "" {
		i.Addresses = []string{m.address}
	}
	i.Keys = vsphere.VM{
		UUID: m.uuid, InstanceUUID: m.instanceUUID, Ref: m.ref, Name: m.name,
		Files: vmxFolders(m.vmx), Datacenters: in.datacentersOf(at, i.Unreadable), Folders: in.formsOf(folder, at), Above: in.above(folder),
		Unreadable: i.Unreadable,
	}.Keys()
	return i
}

// formsOf returns the forms of a VM's folder: its path, and what else the backup
// calls it.
func (in *inventory) formsOf(folder string, at folderPath) []string {
	forms := slices.Clone(in.asked[folder])
	if at.path != "" {
		forms = append(forms, in.endpoint+at.path)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// datacentersOf returns the forms in which a backup may name the VM's datacenter. A
// VM that is unreadable to the point that its place is unknown may be in any.
func (in *inventory) datacentersOf(at folderPath, unreadable bool) []string {
	ids := []string{at.datacenter}
	if at.datacenter == "" {
		if !unreadable {
			return nil
		}
		ids = in.folders.datacenters[vsphere.AnyDatacenter]
	}
	var forms []string
	for _, id := range ids {
		forms = append(forms, vsphere.PlainName(in.folders.tree.nodes[id].name), id)
		if p := in.folders.paths[id].path; p != "" {
			forms = append(forms, p)
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// vmxFolders returns the file name and the last folder of "[ds1] web-1/web-1.vmx".
// On vSAN the folder is a UUID.
func vmxFolders(vmx string) []string {
	_, file, ok := strings.Cut(vmx, "] ")
	if !ok || path.Ext(file) != ".vmx" {
		return nil
	}
	names := []string{strings.TrimSuffix(path.Base(file), ".vmx")}
	if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" && dir != names[0] {
		names = append(names, dir)
	}
	return names
}

const clusterServices = "vCLS"

// exclude says why a VM can be nobody's machine.
func exclude(m vm, folder string) string {
	switch {
	case m.template:
		return infra.Template
	case strings.HasPrefix(m.name, clusterServices) && (m.manager != "" || path.Base(folder) == clusterServices):
		// vSphere Cluster Services put agents into a folder of this name.
		return "vCLS"
	case m.manager != "":
		return infra.Managed
	default:
		return ""
	}
}

func warnings(m vm) []code.Reason {
	var w []code.Reason
	switch types.VirtualMachinePowerState(m.power) {
	case types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStateSuspended:
		w = append(w, code.PoweredOff)
	}
	if m.connection != "" && m.connection != string(types.VirtualMachineConnectionStateConnected) {
		w = append(w, code.Disconnected)
	}
	return w
}

// candidate reports whether the VM's own metadata may tell what it is: it is in
// a folder of the backup's clusters, or has a name of the backup, and no id tells.
func (in *inventory) candidate(folder string, i *infra.Instance, known *vsphere.RecordedMachines) bool {
	named := known.Note(i)
	if _, taken := known.Servers[i.ID]; taken || i.Exclude != "" || i.Unreadable {
		return false
	}
	return named || len(in.asked[folder]) > 0
}
