package lab

import (
	"context"
	"net/url"
	"testing"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// readPages reads the names of all VMs, ten to a page.
func readPages(t *testing.T, v *VCenter) ([]types.ObjectContent, error) {
	t.Helper()
	ctx := context.Background()
	c := connect(t, v)
	if err := session.NewManager(c).Login(ctx, url.UserPassword("someone", "secret")); err != nil {
		t.Fatal(err)
	}
	set := types.PropertyFilterSpec{PropSet: []types.PropertySpec{{Type: "VirtualMachine", PathSet: []string{"name"}}}}
	for _, vm := range v.VMs() {
		ref := types.ManagedObjectReference{Type: "VirtualMachine", Value: vm.Ref}
		set.ObjectSet = append(set.ObjectSet, types.ObjectSpec{Obj: ref})
	}
	res, err := property.DefaultCollector(c).RetrieveProperties(ctx, types.RetrieveProperties{
		SpecSet: []types.PropertyFilterSpec{set},
	}, 10)
	if err != nil {
		return nil, err
	}
	return res.Returnval, nil
}

// A denied VM is blank on whatever page it comes.
func TestDenyOnEveryPage(t *testing.T) {
	v := start(t, fleet())
	all := v.VMs()
	for _, i := range []int{0, 25, 52} {
		if err := v.Deny(all[i].Path); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := readPages(t, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 53 {
		t.Errorf("%d VMs in all pages, want 53", len(objects))
	}
	for i, o := range objects {
		denied := i == 0 || i == 25 || i == 52
		if denied != (len(o.MissingSet) == 1 && len(o.PropSet) == 0) {
			t.Errorf("VM %d (denied: %t): %d properties, %d missing", i, denied, len(o.PropSet), len(o.MissingSet))
		}
	}
}

// Fault rules of the simulator hold for the lab's collector too.
func TestBrokenPage(t *testing.T) {
	v := start(t, fleet())
	v.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "ContinueRetrievePropertiesEx", ObjectType: "*", ObjectName: "*",
		Probability: 1, SkipCount: 1, Message: "the third page is torn", Enabled: true,
	})
	if objects, err := readPages(t, v); err == nil {
		t.Errorf("%d VMs and no error", len(objects))
	}
}
