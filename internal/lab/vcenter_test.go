package lab

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/vmware/govmomi/session"
	"github.com/vmware/govmomi/view"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

const testdata = "../../testdata"

func start(t *testing.T, o VCenterOptions) *VCenter {
	t.Helper()
	v, err := StartVCenter(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func fleet() VCenterOptions {
	return VCenterOptions{Archive: filepath.Join(testdata, "vcenter-after.tar.gz")}
}

// connect returns a client that verifies the simulator by its CA.
func connect(t *testing.T, v *VCenter) *vim25.Client {
	t.Helper()
	sc := soap.NewClient(&url.URL{Scheme: "https", Host: v.Addr, Path: "/sdk"}, false)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, v.CA, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sc.SetRootCAs(ca); err != nil {
		t.Fatal(err)
	}
	c, err := vim25.NewClient(context.Background(), sc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readVMs reads VMs over the wire, as a client without knowledge of the simulator.
func readVMs(t *testing.T, v *VCenter) (vms []mo.VirtualMachine, raw []types.ObjectContent) {
	t.Helper()
	ctx := context.Background()
	c := connect(t, v)
	m := session.NewManager(c)
	if err := m.Login(ctx, url.UserPassword("someone", "secret")); err != nil {
		t.Fatal(err)
	}
	cv, err := view.NewManager(c).CreateContainerView(ctx, c.ServiceContent.RootFolder, []string{"VirtualMachine"}, true)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"name", "parent", "config", "runtime.powerState", "runtime.connectionState"}
	if err := cv.Retrieve(ctx, []string{"VirtualMachine"}, paths, &raw); err != nil {
		t.Fatal(err)
	}
	for _, o := range raw {
		var vm mo.VirtualMachine
		if len(o.MissingSet) > 0 {
			continue
		}
		if err := mo.LoadObjectContent([]types.ObjectContent{o}, &vm); err != nil {
			t.Fatal(err)
		}
		vms = append(vms, vm)
	}
	if err := m.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	return vms, raw
}

func TestServesTheSavedFleet(t *testing.T) {
	var saved []struct {
		Path, Name, Moref, BIOSUUID, InstanceUUID, PowerState string
		Template                                              bool
	}
	text, err := os.ReadFile(filepath.Join(testdata, "vcenter-inventory-after.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	var want []VM
	for _, s := range saved {
		want = append(want, VM{s.Path, s.Name, s.Moref, s.BIOSUUID, s.InstanceUUID, s.Template, s.PowerState})
	}
	slices.SortFunc(want, byPath)

	v := start(t, fleet())
	vms, _ := readVMs(t, v)
	var got []VM
	for _, m := range vms {
		got = append(got, VM{
			v.pathOf(m.Self), m.Name, m.Self.Value, m.Config.Uuid, m.Config.InstanceUuid,
			m.Config.Template, string(m.Runtime.PowerState),
		})
	}
	slices.SortFunc(got, byPath)
	if len(want) != 53 {
		t.Errorf("%d VMs were saved, want 53", len(want))
	}
	for _, list := range []struct {
		source string
		vms    []VM
	}{{"the wire", got}, {"VMs()", v.VMs()}} {
		if len(list.vms) != len(want) {
			t.Fatalf("%s shows %d VMs, %d were saved", list.source, len(list.vms), len(want))
		}
		for i := range want {
			if list.vms[i] != want[i] {
				t.Errorf("%s shows %+v, saved was %+v", list.source, list.vms[i], want[i])
			}
		}
	}
	if v.Named != "127.0.0.1:36459" {
		t.Errorf("Named = %q, and the backup calls it 127.0.0.1:36459", v.Named)
	}
}

func TestCountsLogins(t *testing.T) {
	o := fleet()
	o.Accounts = map[string]string{"reader": "right"}
	v := start(t, o)
	ctx := context.Background()
	for _, try := range []struct {
		user, password string
		ok             bool
	}{{"reader", "wrong", false}, {"nobody", "right", false}, {"reader", "right", true}} {
		m := session.NewManager(connect(t, v))
		err := m.Login(ctx, url.UserPassword(try.user, try.password))
		if (err == nil) != try.ok {
			t.Errorf("login as %s with password %s: %v", try.user, try.password, err)
		}
		if !try.ok {
			continue
		}
		if got := v.Logins(); got != (Logins{OK: 1, Failed: 2}) || got.Open() != 1 {
			t.Errorf("before the logout: %+v", got)
		}
		if err := m.Logout(ctx); err != nil {
			t.Error(err)
		}
	}
	if got := v.Logins(); got != (Logins{OK: 1, Failed: 2, Logouts: 1}) || got.Open() != 0 {
		t.Errorf("after the logout: %+v", got)
	}
}

func TestThumbprintIsTheServers(t *testing.T) {
	v := start(t, VCenterOptions{})
	sc := soap.NewClient(&url.URL{Scheme: "https", Host: v.Addr, Path: "/sdk"}, false)
	sc.SetThumbprint(v.Addr, v.Thumbprint)
	if _, err := vim25.NewClient(context.Background(), sc); err != nil {
		t.Error(err)
	}
	sc = soap.NewClient(&url.URL{Scheme: "https", Host: v.Addr, Path: "/sdk"}, false)
	if _, err := vim25.NewClient(context.Background(), sc); err == nil {
		t.Error("the certificate is trusted without anything said about it")
	}
}
