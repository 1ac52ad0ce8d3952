package lab

import (
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// collector is the simulator's PropertyCollector, except for objects that Deny
// named. The simulator makes one per session by reflection, so it can't hold
// the VCenter: it finds it through the registry.
type collector struct {
	simulator.PropertyCollector
}

// anchor puts the VCenter into the simulator's registry.
type anchor struct {
	mo.ServiceManager
	vcenter *VCenter
}

var anchorRef = types.ManagedObjectReference{Type: "ServiceManager", Value: "drift-detector-lab"}

func (v *VCenter) wrapCollector() {
	registry := v.Service.Context.Map
	c := &collector{}
	c.Self = registry.Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content.PropertyCollector
	registry.Put(c)
	a := &anchor{vcenter: v}
	a.Self = anchorRef
	registry.Put(a)
}

func (c *collector) RetrievePropertiesEx(ctx *simulator.Context, req *types.RetrievePropertiesEx) soap.HasFault {
	res := c.PropertyCollector.RetrievePropertiesEx(ctx, req)
	if body, ok := res.(*methods.RetrievePropertiesExBody); ok && body.Res != nil && body.Res.Returnval != nil {
		blank(ctx, body.Res.Returnval.Objects)
	}
	return res
}

func (c *collector) ContinueRetrievePropertiesEx(ctx *simulator.Context, req *types.ContinueRetrievePropertiesEx) soap.HasFault {
	res := c.PropertyCollector.ContinueRetrievePropertiesEx(ctx, req)
	if body, ok := res.(*methods.ContinueRetrievePropertiesExBody); ok && body.Res != nil {
		blank(ctx, body.Res.Returnval.Objects)
	}
	return res
}

// blank moves every property of denied objects into their MissingSet, as a
// vCenter answers an account that may see an object and not read it.
func blank(ctx *simulator.Context, objects []types.ObjectContent) {
	v := ctx.Map.Get(anchorRef).(*anchor).vcenter
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range objects {
		o := &objects[i]
		if !v.denied[o.Obj] {
			continue
		}
		for _, p := range o.PropSet {
			o.MissingSet = append(o.MissingSet, types.MissingProperty{
				Path: p.Name,
				Fault: types.LocalizedMethodFault{
					Fault:            &types.NoPermission{Object: &o.Obj, PrivilegeId: "System.Read"},
					LocalizedMessage: "Permission to perform this operation was denied.",
				},
			})
		}
		o.PropSet = nil
	}
}

// countLogouts counts the logouts of sessions that are open.
func (v *VCenter) countLogouts(ctx *simulator.Context, method *simulator.Method) (mo.Reference, types.BaseMethodFault) {
	if method.Name == "Logout" && ctx.Session != nil {
		v.mu.Lock()
		v.logins.Logouts++
		v.mu.Unlock()
	}
	return nil, nil
}
