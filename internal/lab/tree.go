package lab

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// list is a list of references in an object of the simulator.
type list struct {
	owner mo.Reference
	refs  *[]types.ManagedObjectReference
}

// listsOf returns the lists that hold a VM: of its folder, pool, host and
// datastores. Containers are walked by these lists.
func (v *VCenter) listsOf(vm *simulator.VirtualMachine) []list {
	registry := v.Service.Context.Map
	var lists []list
	if f, ok := registry.Get(*vm.Parent).(*simulator.Folder); ok {
		lists = append(lists, list{f, &f.ChildEntity})
	}
	// A VM that was cloned is in the pool of the other one, too.
	for _, e := range registry.All("ResourcePool") {
		if p, ok := e.(*simulator.ResourcePool); ok && slices.Contains(p.Vm, vm.Self) {
			lists = append(lists, list{p, &p.Vm})
		}
	}
	if vm.Runtime.Host != nil {
		if h, ok := registry.Get(*vm.Runtime.Host).(*simulator.HostSystem); ok {
			lists = append(lists, list{h, &h.Vm})
		}
	}
	for _, ref := range vm.Datastore {
		if d, ok := registry.Get(ref).(*simulator.Datastore); ok {
			lists = append(lists, list{d, &d.Vm})
		}
	}
	return lists
}

// Remove takes a VM out of the inventory.
func (v *VCenter) Remove(vm string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	m, err := v.find(vm)
	if err != nil {
		return fmt.Errorf("removing %s: %w", vm, err)
	}
	v.drop(m)
	return nil
}

func (v *VCenter) drop(vm *simulator.VirtualMachine) {
	registry, ctx := v.Service.Context.Map, v.context()
	for _, l := range v.listsOf(vm) {
		registry.RemoveReference(ctx, l.owner, l.refs, vm.Self)
	}
	registry.Remove(ctx, vm.Self)
}

// Move puts a VM into another folder, given by inventory path.
func (v *VCenter) Move(vm, folder string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	m, err := v.find(vm)
	if err != nil {
		return fmt.Errorf("moving %s: %w", vm, err)
	}
	ref, err := v.folder(folder)
	if err != nil {
		return fmt.Errorf("moving %s: %w", vm, err)
	}
	registry, ctx := v.Service.Context.Map, v.context()
	from := registry.Get(*m.Parent).(*simulator.Folder)
	to := registry.Get(ref).(*simulator.Folder)
	registry.RemoveReference(ctx, from, &from.ChildEntity, m.Self)
	registry.WithLock(ctx, m, func() { m.Parent = &ref })
	registry.AddReference(ctx, to, &to.ChildEntity, m.Self)
	return nil
}

// Hide takes a folder with all that is in it out of the inventory, which is
// what an account without permission on it sees.
func (v *VCenter) Hide(folder string) error { return v.clear(folder, v.hide) }

// HideVMs takes the VMs in and below a folder out of the inventory and leaves the
// folders, which is what an account sees whose role on the folder is not
// propagated to its children. The permission that says so is on the folder.
func (v *VCenter) HideVMs(folder string) error {
	if err := v.EmptyFolder(folder); err != nil {
		return err
	}
	v.edit.Lock()
	defer v.edit.Unlock()
	ref, err := v.folder(folder)
	if err != nil {
		return fmt.Errorf("hiding %s: %w", folder, err)
	}
	registry := v.Service.Context.Map
	content := registry.Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content
	const readOnly = -2
	registry.Get(*content.AuthorizationManager).(*simulator.AuthorizationManager).SetEntityPermissions(&types.SetEntityPermissions{
		Entity: ref, Permission: []types.Permission{{Entity: &ref, Principal: "user", RoleId: readOnly}},
	})
	return nil
}

// EmptyFolder takes the VMs in and below a folder out of the inventory, as when they
// were deleted, and leaves the folders.
func (v *VCenter) EmptyFolder(folder string) error {
	return v.clear(folder, func(types.ManagedObjectReference) {})
}

// RenameDatacenter gives a datacenter, by its path, another name.
func (v *VCenter) RenameDatacenter(path, name string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	registry := v.Service.Context.Map
	for _, e := range registry.All("Datacenter") {
		if dc := e.(*simulator.Datacenter); v.pathOf(dc.Self) == path {
			registry.WithLock(v.context(), dc, func() { dc.Name = name })
			return nil
		}
	}
	return fmt.Errorf("renaming %s: no such datacenter in the lab's vCenter", path)
}

// AddDatacenter adds an empty datacenter.
func (v *VCenter) AddDatacenter(name string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	registry := v.Service.Context.Map
	content := registry.Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content
	res := registry.Get(content.RootFolder).(*simulator.Folder).CreateDatacenter(v.context(), &types.CreateDatacenter{This: content.RootFolder, Name: name})
	if f := res.Fault(); f != nil {
		return fmt.Errorf("adding datacenter %s: %s", name, f.String)
	}
	return nil
}

// AddFolder adds an empty VM folder at an inventory path whose parent exists.
func (v *VCenter) AddFolder(at string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	parent, err := v.folder(path.Dir(at))
	if err != nil {
		return fmt.Errorf("adding %s: %w", at, err)
	}
	res := v.Service.Context.Map.Get(parent).(*simulator.Folder).CreateFolder(v.context(), &types.CreateFolder{This: parent, Name: path.Base(at)})
	if f := res.Fault(); f != nil {
		return fmt.Errorf("adding %s: %s", at, f.String)
	}
	return nil
}

// RenameFolder gives a folder another name, as an administrator does.
func (v *VCenter) RenameFolder(folder, name string) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	ref, err := v.folder(folder)
	if err != nil {
		return fmt.Errorf("renaming %s: %w", folder, err)
	}
	registry := v.Service.Context.Map
	f := registry.Get(ref).(*simulator.Folder)
	registry.WithLock(v.context(), f, func() { f.Name = name })
	return nil
}

// clear drops the VMs in and below a folder; done is called for each folder when
// it is empty, the innermost first.
func (v *VCenter) clear(folder string, done func(types.ManagedObjectReference)) error {
	v.edit.Lock()
	defer v.edit.Unlock()
	ref, err := v.folder(folder)
	if err != nil {
		return fmt.Errorf("hiding %s: %w", folder, err)
	}
	v.walk(ref, done)
	return nil
}

func (v *VCenter) walk(ref types.ManagedObjectReference, done func(types.ManagedObjectReference)) {
	registry := v.Service.Context.Map
	for _, child := range slices.Clone(registry.Get(ref).(*simulator.Folder).ChildEntity) {
		switch x := registry.Get(child).(type) {
		case *simulator.VirtualMachine:
			v.drop(x)
		case *simulator.Folder:
			v.walk(child, done)
		}
	}
	done(ref)
}

func (v *VCenter) hide(ref types.ManagedObjectReference) {
	registry, ctx := v.Service.Context.Map, v.context()
	f := registry.Get(ref).(*simulator.Folder)
	if parent, ok := registry.Get(*f.Parent).(*simulator.Folder); ok {
		registry.RemoveReference(ctx, parent, &parent.ChildEntity, ref)
	}
	registry.Remove(ctx, ref)
}

// find returns the VM with this name or inventory path. A name that two VMs
// share is refused.
func (v *VCenter) find(vm string) (*simulator.VirtualMachine, error) {
	var found *simulator.VirtualMachine
	for _, e := range v.Service.Context.Map.All("VirtualMachine") {
		m := e.(*simulator.VirtualMachine)
		if m.Name != vm && v.pathOf(m.Self) != vm {
			continue
		}
		if found != nil {
			return nil, errors.New("several VMs have that name: give a path")
		}
		found = m
	}
	if found == nil {
		return nil, errors.New("no such VM in the lab's vCenter")
	}
	return found, nil
}

// folder returns the folder at an inventory path.
func (v *VCenter) folder(path string) (types.ManagedObjectReference, error) {
	for _, e := range v.Service.Context.Map.All("Folder") {
		if ref := e.Reference(); v.pathOf(ref) == path {
			return ref, nil
		}
	}
	return types.ManagedObjectReference{}, fmt.Errorf("no folder %s in the lab's vCenter", path)
}

// entity returns the managed entity behind a reference, or nil.
func (v *VCenter) entity(ref types.ManagedObjectReference) *mo.ManagedEntity {
	e, ok := v.Service.Context.Map.Get(ref).(mo.Entity)
	if !ok {
		return nil
	}
	return e.Entity()
}
