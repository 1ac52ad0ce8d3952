package azuresdk

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"drift-detector/internal/lab/azurelab"
)

// machines answers what is asked of VMs and scale sets of one subscription.
type machines struct {
	*cloud
	subscription string
}

const (
	kindVM     = "Microsoft.Compute/virtualMachines"
	kindSet    = "Microsoft.Compute/virtualMachineScaleSets"
	kindMember = kindSet + "/virtualMachines"
)

func (m *machines) get(_ context.Context, group, name string, _ *armcompute.VirtualMachinesClientGetOptions) (azfake.Responder[armcompute.VirtualMachinesClientGetResponse], azfake.ErrorResponder) {
	return single(m.cloud, idIn(m.subscription, group, kindVM, name), func(v armcompute.VirtualMachine) armcompute.VirtualMachinesClientGetResponse {
		return armcompute.VirtualMachinesClientGetResponse{VirtualMachine: v}
	})
}

func (m *machines) instanceView(_ context.Context, group, name string, _ *armcompute.VirtualMachinesClientInstanceViewOptions) (azfake.Responder[armcompute.VirtualMachinesClientInstanceViewResponse], azfake.ErrorResponder) {
	id := idIn(m.subscription, group, kindVM, name)
	return single(m.cloud, id, func(armcompute.VirtualMachine) armcompute.VirtualMachinesClientInstanceViewResponse {
		return armcompute.VirtualMachinesClientInstanceViewResponse{VirtualMachineInstanceView: armcompute.VirtualMachineInstanceView{Statuses: m.statuses(m.resources[strings.ToLower(id)])}}
	})
}

// statuses returns what an instance view says. The power state is the lab's own note.
func (m *machines) statuses(o azurelab.Object) []*armcompute.InstanceViewStatus {
	power, _ := o["_power"].(string)
	if power == "" {
		power = "running"
	}
	if m.odd {
		power = strings.ToUpper(power[:1]) + power[1:]
	}
	state := o["properties"].(azurelab.Object)["provisioningState"].(string)
	level, since := armcompute.StatusLevelTypesInfo, time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	return []*armcompute.InstanceViewStatus{
		{Code: to.Ptr("ProvisioningState/" + strings.ToLower(state)), Level: &level, DisplayStatus: to.Ptr("Provisioning " + strings.ToLower(state)), Time: &since},
		{Code: to.Ptr("PowerState/" + power), Level: &level, DisplayStatus: to.Ptr("VM " + power)},
	}
}

// listAll lists the VMs of the subscription, or their power states.
func (m *machines) listAll(o *armcompute.VirtualMachinesClientListAllOptions) (resp azfake.PagerResponder[armcompute.VirtualMachinesClientListAllResponse]) {
	states := o != nil && o.StatusOnly != nil && *o.StatusOnly == "true"
	broken := m.broken
	if states {
		broken = 0
	} else if m.throttled > 0 {
		m.throttled--
		resp.AddResponseError(http.StatusTooManyRequests, "TooManyRequests")
	}
	paged(m.cloud, &resp, m.subscription+"/providers/"+kindVM, m.list(m.subscription, states), broken, func(page []*armcompute.VirtualMachine, end *string) (r armcompute.VirtualMachinesClientListAllResponse) {
		r.Value, r.NextLink = page, end
		return r
	})
	return resp
}

func (m *machines) listGroup(group string, _ *armcompute.VirtualMachinesClientListOptions) (resp azfake.PagerResponder[armcompute.VirtualMachinesClientListResponse]) {
	in := m.subscription + "/resourceGroups/" + group
	paged(m.cloud, &resp, in+"/providers/"+kindVM, m.list(in, false), 0, func(page []*armcompute.VirtualMachine, end *string) (r armcompute.VirtualMachinesClientListResponse) {
		r.Value, r.NextLink = page, end
		return r
	})
	return resp
}

// list returns VMs, or what a list of power states says of them.
func (m *machines) list(under string, states bool) (all []*armcompute.VirtualMachine) {
	for _, o := range m.find(under, kindVM) {
		v := read[armcompute.VirtualMachine](m.cloud, o)
		switch {
		case states && slices.Contains(m.stateless, *v.Name):
			continue
		case states:
			v = &armcompute.VirtualMachine{ID: v.ID, Name: v.Name, Location: v.Location, Properties: &armcompute.VirtualMachineProperties{
				InstanceView: &armcompute.VirtualMachineInstanceView{Statuses: m.statuses(o)},
			}}
		case m.odd:
			oddVM(v)
		}
		if m.odd {
			v.ID = oddID(v.ID)
		}
		all = append(all, v)
	}
	return all
}

// oddVM writes a VM in other ways.
func oddVM(v *armcompute.VirtualMachine) {
	p := v.Properties
	p.VMID, p.TimeCreated = to.Ptr(strings.ToUpper(*p.VMID)), oddTime(p.TimeCreated)
	v.Identity, v.Plan, p.InstanceView = azcore.NullValue[*armcompute.VirtualMachineIdentity](), azcore.NullValue[*armcompute.Plan](), azcore.NullValue[*armcompute.VirtualMachineInstanceView]()
	if p.Priority == nil {
		p.Priority = azcore.NullValue[*armcompute.VirtualMachinePriorityTypes]()
	}
	if p.VirtualMachineScaleSet == nil {
		p.VirtualMachineScaleSet = azcore.NullValue[*armcompute.SubResource]()
	}
	if len(v.Zones) == 0 {
		v.Zones = azcore.NullValue[[]*string]()
	}
	if len(v.Tags) == 0 {
		v.Tags = azcore.NullValue[map[string]*string]()
	}
}

// oddID writes the resource group in upper case, as Azure's lists do at times.
func oddID(id *string) *string {
	parts := strings.Split(*id, "/")
	parts[4] = strings.ToUpper(parts[4])
	return to.Ptr(strings.Join(parts, "/"))
}

func oddTime(t *time.Time) *time.Time {
	return to.Ptr(t.In(time.FixedZone("", 5*60*60+30*60)))
}

func (m *machines) getSet(_ context.Context, group, name string, _ *armcompute.VirtualMachineScaleSetsClientGetOptions) (azfake.Responder[armcompute.VirtualMachineScaleSetsClientGetResponse], azfake.ErrorResponder) {
	return single(m.cloud, idIn(m.subscription, group, kindSet, name), func(v armcompute.VirtualMachineScaleSet) armcompute.VirtualMachineScaleSetsClientGetResponse {
		return armcompute.VirtualMachineScaleSetsClientGetResponse{VirtualMachineScaleSet: v}
	})
}

func (m *machines) sets(under string) (all []*armcompute.VirtualMachineScaleSet) {
	for _, o := range m.find(under, kindSet) {
		v := read[armcompute.VirtualMachineScaleSet](m.cloud, o)
		if m.odd {
			v.ID = oddID(v.ID)
		}
		all = append(all, v)
	}
	return all
}

func (m *machines) listSets(*armcompute.VirtualMachineScaleSetsClientListAllOptions) (resp azfake.PagerResponder[armcompute.VirtualMachineScaleSetsClientListAllResponse]) {
	paged(m.cloud, &resp, m.subscription+"/providers/"+kindSet, m.sets(m.subscription), 0, func(page []*armcompute.VirtualMachineScaleSet, end *string) (r armcompute.VirtualMachineScaleSetsClientListAllResponse) {
		r.Value, r.NextLink = page, end
		return r
	})
	return resp
}

func (m *machines) listGroupSets(group string, _ *armcompute.VirtualMachineScaleSetsClientListOptions) (resp azfake.PagerResponder[armcompute.VirtualMachineScaleSetsClientListResponse]) {
	in := m.subscription + "/resourceGroups/" + group
	paged(m.cloud, &resp, in+"/providers/"+kindSet, m.sets(in), 0, func(page []*armcompute.VirtualMachineScaleSet, end *string) (r armcompute.VirtualMachineScaleSetsClientListResponse) {
		r.Value, r.NextLink = page, end
		return r
	})
	return resp
}

func (m *machines) getMember(_ context.Context, group, set, instance string, o *armcompute.VirtualMachineScaleSetVMsClientGetOptions) (azfake.Responder[armcompute.VirtualMachineScaleSetVMsClientGetResponse], azfake.ErrorResponder) {
	id := idIn(m.subscription, group, kindSet, set) + "/virtualMachines/" + instance
	return single(m.cloud, id, func(v armcompute.VirtualMachineScaleSetVM) armcompute.VirtualMachineScaleSetVMsClientGetResponse {
		if o != nil && o.Expand != nil && *o.Expand == armcompute.InstanceViewTypesInstanceView {
			v.Properties.InstanceView = &armcompute.VirtualMachineScaleSetVMInstanceView{Statuses: m.statuses(m.resources[strings.ToLower(id)])}
		}
		return armcompute.VirtualMachineScaleSetVMsClientGetResponse{VirtualMachineScaleSetVM: v}
	})
}

// listMembers lists the members of a scale set. Those of a flexible one are VMs of their own,
// which it calls by ids below its own.
func (m *machines) listMembers(group, set string, o *armcompute.VirtualMachineScaleSetVMsClientListOptions) (resp azfake.PagerResponder[armcompute.VirtualMachineScaleSetVMsClientListResponse]) {
	of := idIn(m.subscription, group, kindSet, set)
	var all []*armcompute.VirtualMachineScaleSetVM
	add := func(v *armcompute.VirtualMachineScaleSetVM, of azurelab.Object) {
		if o != nil && o.Expand != nil && *o.Expand == string(armcompute.InstanceViewTypesInstanceView) {
			v.Properties.InstanceView = &armcompute.VirtualMachineScaleSetVMInstanceView{Statuses: m.statuses(of)}
		}
		if m.odd {
			v.ID, v.Properties.TimeCreated, v.Identity = oddID(v.ID), oddTime(v.Properties.TimeCreated), azcore.NullValue[*armcompute.VirtualMachineIdentity]()
		}
		all = append(all, v)
	}
	for _, member := range m.find(of, kindMember) {
		add(read[armcompute.VirtualMachineScaleSetVM](m.cloud, member), member)
	}
	for _, vm := range m.find(m.subscription, kindVM) {
		in := read[armcompute.VirtualMachine](m.cloud, vm).Properties.VirtualMachineScaleSet
		if in == nil || !strings.EqualFold(*in.ID, of) {
			continue
		}
		v := read[armcompute.VirtualMachineScaleSetVM](m.cloud, vm)
		v.ID = to.Ptr(*in.ID + "/virtualMachines/" + *v.Name)
		add(v, vm)
	}
	paged(m.cloud, &resp, of, all, 0, func(page []*armcompute.VirtualMachineScaleSetVM, end *string) (r armcompute.VirtualMachineScaleSetVMsClientListResponse) {
		r.Value, r.NextLink = page, end
		return r
	})
	return resp
}
