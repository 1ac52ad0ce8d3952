package lab

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"
)

// only returns the VM that a client sees under the name.
func only(t *testing.T, vms []mo.VirtualMachine, name string) mo.VirtualMachine {
	t.Helper()
	var found []mo.VirtualMachine
	for _, vm := range vms {
		if vm.Name == name {
			found = append(found, vm)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d VMs called %s", len(found), name)
	}
	return found[0]
}

// hostName returns the guestinfo.metadata of a VM in clear.
func hostName(vm mo.VirtualMachine) string {
	for _, o := range vm.Config.ExtraConfig {
		if v := o.GetOptionValue(); v.Key == "guestinfo.metadata" {
			text, err := base64.StdEncoding.DecodeString(v.Value.(string))
			if err != nil {
				return err.Error()
			}
			return string(text)
		}
	}
	return ""
}

func TestClone(t *testing.T) {
	v := start(t, fleet())
	const source, name = "alpha-prod-md-0-cjzhw-zk8zm", "alpha-prod-md-0-bcdfg-hjklm"
	made, err := v.Clone(source, CloneSpec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	byHand, err := v.Clone(source, CloneSpec{
		Name: "copy", Folder: "/DC0/vm/restored", BIOSUUID: made.BIOSUUID, KeepHostName: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	vms, _ := readVMs(t, v)
	if len(vms) != 55 {
		t.Errorf("%d VMs, want 53 and two clones", len(vms))
	}
	was, is, copied := only(t, vms, source), only(t, vms, name), only(t, vms, "copy")
	if is.Config.Uuid == was.Config.Uuid || is.Config.InstanceUuid == was.Config.InstanceUuid || is.Self == was.Self {
		t.Error("the clone shares an id with its source")
	}
	if copied.Config.Uuid != is.Config.Uuid || v.pathOf(copied.Self) != "/DC0/vm/restored/copy" || byHand.Ref != copied.Self.Value {
		t.Errorf("the copy is %s at %s", copied.Config.Uuid, v.pathOf(copied.Self))
	}
	if h := hostName(was); !strings.Contains(h, `"`+source+`"`) {
		t.Errorf("the source's metadata became %s", h)
	}
	if h := hostName(is); !strings.Contains(h, `local-hostname: "`+name+`"`) || strings.Contains(h, source) {
		t.Errorf("the clone's metadata is %s", h)
	}
	if h := hostName(copied); h != hostName(was) {
		t.Errorf("the copy's metadata became %s", h)
	}
}

func TestChanges(t *testing.T) {
	v := start(t, fleet())
	for _, err := range []error{
		v.Rename("jumphost-01", "jump"),
		v.SetPower("beta-prod-qpdfs", false),
		v.SetPower("/DC0/vm/capi/tenant-alpha/alpha-prod-md-0-cjzhw-7z9bm", true),
		v.SetUUIDs("alpha-prod-db", "11111111-2222-4333-8444-555555555555", ""),
		v.Move("gamma-edge-xk72k", "/DC0/vm/restored"),
		v.Remove("DC0_H0_VM0"),
		v.SetConnection("beta-new-4sf74", types.VirtualMachineConnectionStateInaccessible),
		v.Deny("beta-prod-dttkj"),
		v.Hide("/DC0/vm/capi/decommissioned"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	vms, raw := readVMs(t, v)
	if len(raw) != 50 || len(vms) != 49 {
		t.Errorf("%d VMs, %d readable; want 50 after one was removed and two were hidden, and 49", len(raw), len(vms))
	}
	if only(t, vms, "jump").Config.Name != "jump" {
		t.Error("renamed in half")
	}
	if s := only(t, vms, "beta-prod-qpdfs").Runtime.PowerState; s != types.VirtualMachinePowerStatePoweredOff {
		t.Errorf("switched off is %s", s)
	}
	if s := only(t, vms, "alpha-prod-md-0-cjzhw-7z9bm").Runtime.PowerState; s != types.VirtualMachinePowerStatePoweredOn {
		t.Errorf("switched on is %s", s)
	}
	if u := only(t, vms, "alpha-prod-db").Config.Uuid; u != "11111111-2222-4333-8444-555555555555" {
		t.Errorf("BIOS UUID is %s", u)
	}
	if p := v.pathOf(only(t, vms, "gamma-edge-xk72k").Self); p != "/DC0/vm/restored/gamma-edge-xk72k" {
		t.Errorf("moved to %s", p)
	}
	if vm := only(t, vms, "beta-new-4sf74"); vm.Config != nil || vm.Runtime.ConnectionState != "inaccessible" {
		t.Errorf("inaccessible VM: config %v, state %s", vm.Config, vm.Runtime.ConnectionState)
	}
	denied := slices.DeleteFunc(raw, func(o types.ObjectContent) bool { return len(o.MissingSet) == 0 })
	if len(denied) != 1 || len(denied[0].PropSet) != 0 || denied[0].Obj.Value != "vm-291" {
		t.Errorf("denied: %v", denied)
	}
}

func TestChangesOfWhatIsNotThere(t *testing.T) {
	v := start(t, VCenterOptions{})
	_, cloned := v.Clone("nobody", CloneSpec{Name: "x"})
	for _, err := range []error{cloned, v.Rename("nobody", "x"), v.Remove("nobody"), v.Deny("nobody"), v.Hide("/DC0/vm/none"), v.HideVMs("/DC0/vm/none")} {
		if err == nil {
			t.Error("a change of nothing succeeds")
		}
	}
}

// Two of one archive are one vCenter, an empty one is another; both serve at
// once, and neither writes outside of temporary directories that it removes.
func TestSeveralVCenters(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	o := fleet()
	a, b := start(t, o), start(t, VCenterOptions{})
	o.InstanceUUID = "99999999-2bdc-5d42-8e52-4fe55ea54cf6"
	c := start(t, o)
	if err := c.Remove("jumphost-01"); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, want := range []int{53, 0, 52} {
		v := []*VCenter{a, b, c}[i]
		if vms, _ := readVMs(t, v); len(vms) != want {
			t.Errorf("vCenter %d shows %d VMs, want %d", i, len(vms), want)
		}
		ids[connect(t, v).ServiceContent.About.InstanceUuid] = true
	}
	if len(ids) != 3 || !ids["34e42877-2bdc-5d42-8e52-4fe55ea54cf6"] || !ids[o.InstanceUUID] {
		t.Errorf("instance UUIDs: %v", ids)
	}
	for _, v := range []*VCenter{a, b, c} {
		v.Close()
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	after, err := os.ReadDir(".")
	if err != nil || len(after) != len(before) {
		t.Errorf("the working directory held %d entries and holds %d, %v", len(before), len(after), err)
	}
}
