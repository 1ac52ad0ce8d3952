package list

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi"
	"github.com/vmware/govmomi/find"
	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/infra/walk"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// asOperator logs in with an account of the operator's.
func asOperator(v *lab.VCenter, user, password string) infra.Access {
	a := reach(v)
	a.Credentials[0].Username, a.Credentials[0].Password = user, backup.NewSensitive(password)
	return a
}

// withUser gives one Secret of the fleet another user.
func withUser(t *testing.T, secret, user string) []byte {
	return edit(t, fleet(t), func(resource string, object map[string]any) bool {
		if resource == "secrets" && vspheretest.NameOf(object) == secret {
			backuptest.Inside(object, "data")["username"] = base64.StdEncoding.EncodeToString([]byte(user))
		}
		return true
	})
}

// The backup's own credentials are tried, each once, whoever listed the place.
func TestOwnCredentialsAreTried(t *testing.T) {
	const gamma = "vsphere/" + fleetServer + "/Secret/tenant-gamma/gamma-edge"
	const alpha = "vsphere/" + fleetServer + "/Secret/tenant-alpha/alpha-prod"
	for name, c := range map[string]struct {
		accounts       map[string]string
		data           []byte
		access         func(*lab.VCenter) infra.Access
		by, own, other string
		logins         lab.Logins
	}{
		"the backup's own": {
			map[string]string{fleetUser: "pass"}, fleet(t), reach, infra.OfBackup, infra.OwnAccepted, infra.OwnAccepted, lab.Logins{OK: 1, Logouts: 1},
		},
		"the backup's own is refused": {
			map[string]string{fleetUser: "rotated"}, fleet(t), reach, infra.OfBackup, infra.OwnRefused, infra.OwnRefused, lab.Logins{Failed: 1},
		},
		"it ends in a newline, which CAPV sends": {
			map[string]string{fleetUser: "secret"}, withPassword(t, fleet(t), "secret\n"), reach, infra.OfBackup, infra.OwnRefused, infra.OwnRefused, lab.Logins{OK: 1, Failed: 1, Logouts: 1},
		},
		"an operator's, and the backup's would do": {
			map[string]string{"ops": "mine", fleetUser: "pass"},
			fleet(t), func(v *lab.VCenter) infra.Access { return asOperator(v, "ops", "mine") },
			infra.OfOperator, infra.OwnAccepted, infra.OwnAccepted,
			lab.Logins{OK: 2, Logouts: 2},
		},
		"an operator's, and the backup's was rotated": {
			map[string]string{"ops": "mine", fleetUser: "rotated"},
			fleet(t), func(v *lab.VCenter) infra.Access { return asOperator(v, "ops", "mine") },
			infra.OfOperator, infra.OwnRefused, infra.OwnRefused,
			lab.Logins{OK: 1, Failed: 1, Logouts: 1},
		},
		"an operator's, and one of two of the backup's": {
			map[string]string{"ops": "mine", fleetUser: "pass"},
			withUser(t, "gamma-edge", "gone"), func(v *lab.VCenter) infra.Access { return asOperator(v, "ops", "mine") },
			infra.OfOperator, infra.OwnRefused, infra.OwnAccepted,
			lab.Logins{OK: 2, Failed: 1, Logouts: 2},
		},
		"an operator's, sent to whoever answers: the backup's is not": {
			map[string]string{"ops": "mine", fleetUser: "pass"},
			fleet(t), func(v *lab.VCenter) infra.Access {
				a := asOperator(v, "ops", "mine")
				a.Credentials[0].Thumbprint, a.InsecureSkipVerify = "", true
				return a
			},
			infra.OfOperator, infra.OwnUntried, infra.OwnUntried,
			lab.Logins{OK: 1, Logouts: 1},
		},
		"an operator's that is the backup's": {
			map[string]string{fleetUser: "pass"},
			fleet(t), func(v *lab.VCenter) infra.Access { return asOperator(v, fleetUser, "pass") },
			infra.OfOperator, infra.OwnAccepted, infra.OwnAccepted,
			lab.Logins{OK: 1, Logouts: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: c.accounts})
			l := one(t, t.Context(), c.data, c.access(v))
			if by := l.AccessFact(infra.FactCredential, ""); by != c.by || l.AccessFact(infra.FactOwn, gamma) != c.own || l.AccessFact(infra.FactOwn, alpha) != c.other {
				t.Errorf("facts %v, want %s %s %s", l.Facts, c.by, c.own, c.other)
			}
			if got := v.Logins(); got != c.logins {
				t.Errorf("logins %+v, want %+v", got, c.logins)
			}
		})
	}
}

// What the server shows is compared with what the backup pins, whatever made it trusted here.
func TestServedCertificateIsNoted(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	renewed := one(t, t.Context(), fleet(t), reach(v))
	if got := renewed.AccessFact(infra.FactCertificate, ""); got != infra.CertificateDiffers || !slices.Contains(renewed.Facts.All(vsphere.FactThumbprint), v.Thumbprint) {
		t.Errorf("a renewed certificate: %q, %v", got, renewed.Facts)
	}
	insecure := reach(v)
	insecure.Credentials, insecure.InsecureSkipVerify = nil, true
	if l := one(t, t.Context(), fleet(t), insecure); l.State != code.ScopeComplete || l.AccessFact(infra.FactCertificate, "") != infra.CertificateDiffers {
		t.Errorf("a check that was turned off: %s %v", l.State, l.Facts)
	}
	pinned := edit(t, fleet(t), func(_ string, object map[string]any) bool {
		for _, spec := range []map[string]any{backuptest.Inside(object, "spec"), backuptest.Inside(object, "spec", "template", "spec")} {
			if spec["thumbprint"] != nil {
				spec["thumbprint"] = strings.ToLower(v.Thumbprint)
			}
		}
		return true
	})
	if got := one(t, t.Context(), pinned, infra.Access{Reroutes: reach(v).Reroutes}); got.AccessFact(infra.FactCertificate, "") != infra.CertificatePinned {
		t.Errorf("the pinned one: %s %v", got.State, got.Facts)
	}
	unknown := one(t, t.Context(), fleet(t), infra.Access{Reroutes: reach(v).Reroutes})
	if unknown.State != code.ScopeFailed || unknown.AccessFact(infra.FactCertificate, "") != infra.CertificateDiffers {
		t.Errorf("refused: %s %v", unknown.State, unknown.Facts)
	}
}

const aWorker = "alpha-prod-md-0-cjzhw-dm6x8"

// The VMs of machines are asked for what CAPV asks for, and no others.
func TestMachineVMsAreAsked(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	vm := func() *simulator.VirtualMachine {
		for _, o := range v.Service.Context.Map.All(vmType) {
			if m := o.(*simulator.VirtualMachine); m.Name == aWorker {
				return m
			}
		}
		t.Fatal("no such VM")
		return nil
	}()
	nic := func(config int32, addresses ...string) types.GuestNicInfo {
		return types.GuestNicInfo{MacAddress: "00:0c:29:00:00:01", DeviceConfigId: config, IpAddress: addresses}
	}
	vm.Guest.Net = []types.GuestNicInfo{nic(4000, "fe80::1", "10.1.2.3"), nic(-1, "172.17.0.1"), nic(4001, "127.0.0.1", "nonsense")}
	l := one(t, t.Context(), fleet(t), reach(v))
	got := instance(t, l, aWorker).Facts
	for name, want := range map[string][]string{
		vsphere.FactHardware: {"vmx-13"}, vsphere.FactCards: {"1"}, vsphere.FactAddress: {"10.1.2.3"}, vsphere.FactHost: {"DC0_C0_H2"},
	} {
		if have := got.All(name); name != vsphere.FactHost && !slices.Equal(have, want) || len(have) != 1 {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	if dc := l.Facts.All(vsphere.FactDatacenter); len(dc) != 1 || !strings.HasSuffix(dc[0], " /DC0") {
		t.Errorf("datacenters %q", dc)
	}
	for i := range l.Instances {
		if vm := &l.Instances[i]; vm.Facts != nil && (vm.Exclude == infra.Template || strings.HasPrefix(vm.Path, "/DC0/vm/DC0_")) {
			t.Errorf("%s, which is no machine's, was asked", vm.Name)
		}
	}
	must(t, v.AddDatacenter("DC1"))
	if dc := one(t, t.Context(), fleet(t), reach(v)).Facts.All(vsphere.FactDatacenter); len(dc) != 2 {
		t.Errorf("datacenters %q", dc)
	}
}

// PCI devices and VM groups are asked for where the backup names some.
func TestPCIDevicesAndVMGroupsAreAsked(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	var members []types.ManagedObjectReference
	for _, o := range v.Service.Context.Map.All(vmType) {
		if m := o.(*simulator.VirtualMachine); m.Name == aWorker {
			members = append(members, m.Self)
			device := func(backing types.BaseVirtualDeviceBackingInfo) types.BaseVirtualDevice {
				return &types.VirtualPCIPassthrough{VirtualDevice: types.VirtualDevice{Key: 13000, Backing: backing}}
			}
			m.Config.Hardware.Device = append(slices.Clone(m.Config.Hardware.Device),
				device(&types.VirtualPCIPassthroughVmiopBackingInfo{Vgpu: "grid"}),
				device(&types.VirtualPCIPassthroughDynamicBackingInfo{CustomLabel: "gpu a", AllowedDevice: []types.VirtualPCIPassthroughAllowedDevice{{DeviceId: 7864, VendorId: 4318}}}))
		}
	}
	for _, o := range v.Service.Context.Map.All(clusterType) {
		c := o.(*simulator.ClusterComputeResource)
		c.ConfigurationEx.(*types.ClusterConfigInfoEx).Group = []types.BaseClusterGroupInfo{
			&types.ClusterVmGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: "rack 1"}, Vm: members}, &types.ClusterHostGroup{ClusterGroupInfo: types.ClusterGroupInfo{Name: "hosts"}},
		}
	}
	plain := one(t, t.Context(), fleet(t), reach(v))
	if plain.Facts.All(vsphere.FactGroup) != nil || instance(t, plain, aWorker).Facts.All(vsphere.FactPCI) != nil {
		t.Error("what nobody names was asked for")
	}
	data := edit(t, fleet(t), func(resource string, object map[string]any) bool {
		if strings.HasPrefix(resource, "vspheremachines") && vspheretest.NameOf(object) == aWorker {
			backuptest.Inside(object, "spec")["pciDevices"] = []any{map[string]any{"vGPUProfile": "grid"}}
		}
		return true
	})
	p := small()
	snapshot, secrets := load(t, data)
	target := p.Targets(snapshot, secrets, reach(v))[0]
	target.Detail.(*vsphere.Detail).Recorded.Groups = true // as a failure domain would
	l := p.List(t.Context(), target)
	if got := l.Facts.All(vsphere.FactGroup); !slices.Equal(got, []string{"", "/DC0/host/DC0_C0//rack 1"}) || !slices.Equal(l.Facts.All(vsphere.FactCluster), []string{"/DC0/host/DC0_C0"}) {
		t.Errorf("VM groups %q of %q", got, l.Facts.All(vsphere.FactCluster))
	}
	if got := instance(t, l, aWorker).Facts.All(vsphere.FactGroup); !slices.Equal(got, []string{"/DC0/host/DC0_C0//rack 1"}) || l.Facts.All(vsphere.FactMembers) == nil {
		t.Errorf("it is in the groups %q", got)
	}
	for i := range l.Instances {
		if vm := &l.Instances[i]; vm.Name != aWorker && vm.Facts.All(vsphere.FactGroup) != nil {
			t.Errorf("%s is in a group", vm.Name)
		}
	}
	if got := instance(t, l, aWorker).Facts.All(vsphere.FactPCI); !slices.Equal(got, []string{"", "grid", "7864-4318 gpu a"}) {
		t.Errorf("PCI devices %q", got)
	}
}

// What is refused is noted, and a step that needs it is not passed.
func TestRefusedPropertiesAreUnread(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	v.Front(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "<pathSet>"+propNet+"</pathSet>") {
			http.Error(w, "not for you", http.StatusForbidden)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
	data := fleet(t)
	l := one(t, t.Context(), data, reach(v))
	if why, refused := l.FactsUnread.Get(vsphere.FactVMs); !refused || l.State != code.ScopeComplete {
		t.Fatalf("%s, unread %v %q", l.State, l.FactsUnread, why)
	}
	s, _ := load(t, data)
	c := small().Expected(s)
	for i := range s.Machines {
		if s.Machines[i].Name != aWorker {
			continue
		}
		vm := instance(t, l, aWorker)
		var found []walk.Found
		for _, step := range c.OnInstance[vsphere.Name](i, infra.Sight{Instance: &vm, Listing: &l}) {
			if step.Row.ID == "vsphere.R6" {
				found = append(found, step.Found)
			}
		}
		if !slices.Equal(found, []walk.Found{walk.Unread}) {
			t.Errorf("R6 is %q", found)
		}
	}
}

// What is counted is what govmomi's finder makes of the same vCenter.
func TestDefaultsAreCountedAsTheFinderDoes(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	data := edit(t, fleet(t), func(_ string, object map[string]any) bool {
		if spec := backuptest.Inside(object, "spec", "template", "spec"); spec["resourcePool"] != nil {
			spec["resourcePool"], spec["datastore"], spec["storagePolicyName"] = "", "", ""
		}
		return true
	})
	l := one(t, t.Context(), data, reach(v))
	c, err := govmomi.NewClient(t.Context(), &url.URL{Scheme: "https", Host: v.Addr, Path: "/sdk", User: url.UserPassword("a", "b")}, true)
	must(t, err)
	f := find.NewFinder(c.Client)
	dc, err := f.DefaultDatacenter(t.Context())
	must(t, err)
	f.SetDatacenter(dc)
	_, pools := f.DefaultResourcePool(t.Context())
	_, datastores := f.DefaultDatastore(t.Context())
	for kind, err := range map[infra.KeyKind]error{vsphere.KeyPool: pools, vsphere.KeyDatastore: datastores} {
		k := infra.Key{Kind: kind, Value: fleetServer + "/DC0" + vsphere.Separator}
		var several *find.DefaultMultipleFoundError
		if errors.As(err, &several) != slices.Contains(l.Ambiguous, k) || err == nil != (slices.Contains(l.ProbesFound, k) && !slices.Contains(l.Ambiguous, k)) {
			t.Errorf("%v: the finder says %v, ambiguous are %v", k, err, l.Ambiguous)
		}
	}
}
