package lab

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// VM is one virtual machine as the simulator holds it.
type VM struct {
	Path         string // "/DC0/vm/tenant-alpha/web-1"
	Name         string
	Ref          string // managed object id, "vm-136"
	BIOSUUID     string
	InstanceUUID string
	Template     bool
	PowerState   string // "poweredOn"
}

// VMs lists all virtual machines, in the order of their paths and ids.
func (v *VCenter) VMs() []VM {
	v.edit.Lock()
	defer v.edit.Unlock()
	var all []VM
	for _, e := range v.Service.Context.Map.All("VirtualMachine") {
		all = append(all, v.describe(e.(*simulator.VirtualMachine)))
	}
	slices.SortFunc(all, byPath)
	return all
}

func byPath(a, b VM) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Ref, b.Ref))
}

func (v *VCenter) describe(vm *simulator.VirtualMachine) VM {
	d := VM{
		Path:         v.pathOf(vm.Self),
		Name:         vm.Name,
		Ref:          vm.Self.Value,
		BIOSUUID:     vm.Summary.Config.Uuid,
		InstanceUUID: vm.Summary.Config.InstanceUuid,
		Template:     vm.Summary.Config.Template,
		PowerState:   string(vm.Runtime.PowerState),
	}
	if vm.Config != nil {
		d.BIOSUUID, d.InstanceUUID, d.Template = vm.Config.Uuid, vm.Config.InstanceUuid, vm.Config.Template
	}
	return d
}

// CloneSpec says what Clone makes.
type CloneSpec struct {
	Name   string
	Folder string // inventory path "/DC0/vm/x"; empty: the source's folder
	// BIOSUUID is the clone's; empty: a new one. A copy that was registered
	// keeps its source's.
	BIOSUUID string
	// KeepHostName leaves the source's name in guestinfo.metadata, as a clone
	// by hand does. Otherwise it becomes Name, as CAPV writes it.
	KeepHostName bool
	// Created is config.createDate; zero: now.
	Created time.Time
}

// Clone copies the record of a VM under a new name with a new managed object id
// and a new instance UUID. The source is named by VM name or inventory path.
func (v *VCenter) Clone(source string, spec CloneSpec) (VM, error) {
	v.edit.Lock()
	defer v.edit.Unlock()
	from, err := v.find(source)
	if err != nil {
		return VM{}, fmt.Errorf("cloning %s: %w", source, err)
	}
	folder := *from.Parent
	if spec.Folder != "" {
		if folder, err = v.folder(spec.Folder); err != nil {
			return VM{}, fmt.Errorf("cloning %s: %w", source, err)
		}
	}
	if spec.BIOSUUID == "" {
		spec.BIOSUUID = newUUID()
	}
	if spec.Created.IsZero() {
		spec.Created = time.Now()
	}
	to := &simulator.VirtualMachine{VirtualMachine: from.VirtualMachine}
	config := *from.Config
	config.Name, config.Uuid, config.InstanceUuid = spec.Name, spec.BIOSUUID, newUUID()
	config.CreateDate = &spec.Created
	config.Files.VmPathName = fmt.Sprintf("[LocalDS_0] %s/%s.vmx", spec.Name, spec.Name)
	if !spec.KeepHostName {
		config.ExtraConfig = renameHost(config.ExtraConfig, from.Name, spec.Name)
	}
	to.Config = &config
	to.Name = spec.Name
	to.Summary.Config.Name, to.Summary.Config.Uuid = spec.Name, config.Uuid
	to.Summary.Config.InstanceUuid, to.Summary.Config.VmPathName = config.InstanceUuid, config.Files.VmPathName
	registry := v.Service.Context.Map
	registry.NewEntity(to)
	to.Summary.Vm = &to.Self
	registry.PutEntity(registry.Get(folder).(mo.Entity), to)
	for _, l := range v.listsOf(to) {
		registry.AddReference(v.context(), l.owner, l.refs, to.Self)
	}
	return v.describe(to), nil
}

// renameHost writes another name into the host name and id of guestinfo.metadata.
func renameHost(extra []types.BaseOptionValue, from, to string) []types.BaseOptionValue {
	extra = slices.Clone(extra)
	for i, o := range extra {
		value := *o.GetOptionValue()
		text, _ := value.Value.(string)
		if value.Key != "guestinfo.metadata" {
			continue
		}
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			plain = []byte(strings.ReplaceAll(string(plain), fmt.Sprintf("%q", from), fmt.Sprintf("%q", to)))
			value.Value = base64.StdEncoding.EncodeToString(plain)
			extra[i] = &value
		}
	}
	return extra
}

// Rename gives a VM another name, as an administrator does: nothing else changes.
func (v *VCenter) Rename(vm, name string) error {
	return v.change("renaming", vm, func(m *simulator.VirtualMachine) {
		config := *m.Config
		config.Name = name
		m.Config = &config
		m.Name, m.Summary.Config.Name = name, name
	})
}

// SetPower turns a VM on or off.
func (v *VCenter) SetPower(vm string, on bool) error {
	state := types.VirtualMachinePowerStatePoweredOff
	if on {
		state = types.VirtualMachinePowerStatePoweredOn
	}
	return v.change("switching", vm, func(m *simulator.VirtualMachine) {
		m.Runtime.PowerState, m.Summary.Runtime.PowerState = state, state
	})
}

// SetUUIDs replaces the BIOS UUID and the instance UUID of a VM; an empty one stays.
func (v *VCenter) SetUUIDs(vm, bios, instance string) error {
	return v.change("identifying", vm, func(m *simulator.VirtualMachine) {
		config := *m.Config
		if bios != "" {
			config.Uuid, m.Summary.Config.Uuid = bios, bios
		}
		if instance != "" {
			config.InstanceUuid, m.Summary.Config.InstanceUuid = instance, instance
		}
		m.Config = &config
	})
}

// SetSuspended suspends a VM.
func (v *VCenter) SetSuspended(vm string) error {
	return v.change("suspending", vm, func(m *simulator.VirtualMachine) {
		state := types.VirtualMachinePowerStateSuspended
		m.Runtime.PowerState, m.Summary.Runtime.PowerState = state, state
	})
}

// MarkAsTemplate makes a template of a VM, which turns it off.
func (v *VCenter) MarkAsTemplate(vm string) error {
	return v.change("marking", vm, func(m *simulator.VirtualMachine) {
		config := *m.Config
		config.Template, m.Summary.Config.Template = true, true
		m.Config = &config
		state := types.VirtualMachinePowerStatePoweredOff
		m.Runtime.PowerState, m.Summary.Runtime.PowerState = state, state
	})
}

// SetConnection gives a VM a connection state. In any but connected and
// disconnected it loses its configuration, as in a vCenter that can't reach
// its storage.
func (v *VCenter) SetConnection(vm string, state types.VirtualMachineConnectionState) error {
	return v.change("disconnecting", vm, func(m *simulator.VirtualMachine) {
		m.Runtime.ConnectionState, m.Summary.Runtime.ConnectionState = state, state
		if state == types.VirtualMachineConnectionStateConnected || state == types.VirtualMachineConnectionStateDisconnected {
			return
		}
		m.Config = nil
		m.Guest = nil
		m.Summary.Config = types.VirtualMachineConfigSummary{
			Name: m.Summary.Config.Name, VmPathName: m.Summary.Config.VmPathName,
		}
	})
}

// Deny makes every property of a VM unreadable, for all accounts: the VM is
// listed, and its properties come back in MissingSet.
func (v *VCenter) Deny(vm string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	m, err := v.find(vm)
	if err != nil {
		return fmt.Errorf("denying %s: %w", vm, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.denied[m.Self] = true
	return nil
}

func (v *VCenter) change(doing, vm string, edit func(*simulator.VirtualMachine)) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	m, err := v.find(vm)
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, vm, err)
	}
	v.Service.Context.Map.WithLock(v.context(), m, func() { edit(m) })
	return nil
}

// newUUID makes a random UUID (version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
