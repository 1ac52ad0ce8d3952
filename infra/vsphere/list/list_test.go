package list

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"drift-detector/infra/vsphere"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/infra/vsphere/vspheretest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// one lists the fleet's only target.
func one(t *testing.T, ctx context.Context, data []byte, a infra.Access) infra.Listing {
	t.Helper()
	p := small()
	s, secrets := load(t, data)
	targets := p.Targets(s, secrets, a)
	if len(targets) != 1 {
		t.Fatalf("%d targets, want 1", len(targets))
	}
	return p.List(ctx, targets[0])
}

func instance(t *testing.T, l infra.Listing, name string) infra.Instance {
	t.Helper()
	i := slices.IndexFunc(l.Instances, func(i infra.Instance) bool { return i.Name == name })
	if i < 0 {
		t.Fatalf("%s is not listed", name)
	}
	return l.Instances[i]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func faultOf(l infra.Listing) infra.Fault {
	if l.Fault == nil {
		return infra.Fault{}
	}
	return *l.Fault
}

func TestPasswordWithTrailingNewline(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{fleetUser: "secret"}})
	l := one(t, t.Context(), withPassword(t, fleet(t), "secret\n"), reach(v))
	if got := v.Logins(); l.State != code.ScopeComplete || got != (lab.Logins{OK: 1, Failed: 1, Logouts: 1}) {
		t.Errorf("%s %+v, logins %+v", l.State, faultOf(l), got)
	}
}

func TestAccountIsNotLocked(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{fleetUser: "current"}})
	n := 0
	data := edit(t, fleet(t), func(resource string, object map[string]any) bool {
		// Each cluster remembers another old password of the same user.
		if values := backuptest.Inside(object, "data"); resource == "secrets" && values["username"] != nil && values["password"] != nil {
			n++
			values["password"] = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "old %s \n", vspheretest.NameOf(object)))
		}
		return true
	})
	if n < 4 {
		t.Fatalf("%d Secrets changed", n)
	}
	p := New()
	s, secrets := load(t, data)
	targets := p.Targets(s, secrets, reach(v))
	if len(targets) < 3 {
		t.Fatalf("%d targets", len(targets))
	}
	r := infra.NewRegistry(p)
	inv := r.Collect(t.Context(), targets, nil)
	for _, l := range inv.Listings {
		if l.State != code.ScopeFailed || faultOf(l).Reason != "AuthenticationFailed" {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, faultOf(l))
		}
	}
	if got := v.Logins(); got.Failed != infra.MaxFailedLogins {
		t.Errorf("%d logins failed", got.Failed)
	}
}

func TestTwoUsersOfOneVCenter(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{fleetUser: "pass", "gamma": "pass"}})
	data := edit(t, fleet(t), func(resource string, object map[string]any) bool {
		if resource == "secrets" && vspheretest.NameOf(object) == "gamma-edge" {
			backuptest.Inside(object, "data")["username"] = base64.StdEncoding.EncodeToString([]byte("gamma"))
		}
		return true
	})
	s, secrets := load(t, data)
	all := listAll(t, small(), s, secrets, reach(v))
	if len(all) != 2 || len(all[0].Instances) != fleetVMs || len(all[1].Instances) != fleetVMs {
		t.Fatalf("%d listings", len(all))
	}
	for i := range all[0].Instances {
		if a, b := all[0].Instances[i].Identity, all[1].Instances[i].Identity; a != b {
			t.Errorf("one VM is %s to one user and %s to the other", a, b)
		}
	}
	if got := v.Logins(); got != (lab.Logins{OK: 2, Logouts: 2}) {
		t.Errorf("logins %+v", got)
	}
}

func TestHiddenFolderIsNoLandmark(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	must(t, v.Hide("/DC0/vm/capi/tenant-beta"))
	l := one(t, t.Context(), fleet(t), reach(v))
	var found []string
	for _, k := range ofKind(l.ProbesFound, vsphere.KeyFolder) {
		found = append(found, strings.TrimPrefix(k.Value, fleetServer))
	}
	if want := []string{"/DC0/vm/capi/tenant-alpha", "/DC0/vm/capi/tenant-gamma"}; l.State != code.ScopeComplete || !slices.Equal(found, want) {
		t.Errorf("%s: probes %v, want %v", l.State, found, want)
	}
}

func TestWhoSeesNoVMHasSeenNothing(t *testing.T) {
	t.Run("another vCenter", func(t *testing.T) {
		l := one(t, t.Context(), fleet(t), reach(serve(t, lab.VCenterOptions{})))
		if l.State != code.ScopeComplete || len(l.Instances) != 0 || len(l.ProbesFound) != 0 {
			t.Errorf("%s, %d VMs, probes %v", l.State, len(l.Instances), l.ProbesFound)
		}
	})
	t.Run("no VM visible", func(t *testing.T) {
		v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
		for _, m := range v.VMs() {
			must(t, v.Remove(m.Path))
		}
		if l := one(t, t.Context(), fleet(t), reach(v)); len(l.ProbesFound) != 0 {
			t.Errorf("probes %v", l.ProbesFound)
		}
	})
}

func TestCertificates(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	reroute := []infra.Reroute{{From: fleetServer, To: v.Addr}}
	unpinned := edit(t, fleet(t), func(_ string, object map[string]any) bool {
		delete(backuptest.Inside(object, "spec"), "thumbprint")
		return true
	})
	renewed := edit(t, fleet(t), func(resource string, object map[string]any) bool {
		if resource == vspheretest.Clusters && vspheretest.NameOf(object) == "gamma-edge" {
			backuptest.Inside(object, "spec")["thumbprint"] = v.Thumbprint
		}
		return true
	})
	malformed := edit(t, fleet(t), func(_ string, object map[string]any) bool {
		if spec := backuptest.Inside(object, "spec"); spec["thumbprint"] != nil {
			spec["thumbprint"] = "AB:CD"
		}
		return true
	})
	for _, c := range []struct {
		name   string
		data   []byte
		access infra.Access
		state  code.ScopeState
	}{
		{"another than the pinned one", fleet(t), infra.Access{}, code.ScopeFailed},
		{"nothing pinned and no known authority", unpinned, infra.Access{}, code.ScopeFailed},
		{"a pin that is none", malformed, infra.Access{}, code.ScopeFailed},
		{"renewed, and one object knows", renewed, infra.Access{}, code.ScopeComplete},
		{"the operator's authority", fleet(t), infra.Access{Credentials: []infra.Credential{{Endpoint: fleetServer, CA: v.CA}}}, code.ScopeComplete},
		{"verification turned off", fleet(t), infra.Access{InsecureSkipVerify: true}, code.ScopeComplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := v.Logins()
			c.access.Reroutes = reroute
			l := one(t, t.Context(), c.data, c.access)
			if l.State != c.state {
				t.Fatalf("%s: %+v", l.State, faultOf(l))
			}
			if c.state == code.ScopeComplete {
				return
			}
			if faultOf(l).Reason != "UntrustedCertificate" || faultOf(l).Hint == "" {
				t.Errorf("%+v", faultOf(l))
			}
			if v.Logins() != before {
				t.Error("a credential went to a server that is not trusted")
			}
		})
	}
	l := one(t, t.Context(), fleet(t), infra.Access{Reroutes: reroute})
	if !strings.Contains(faultOf(l).Message, v.Thumbprint) || !strings.Contains(faultOf(l).Hint, fleetServer) {
		t.Errorf("neither what to compare nor what to add: %+v", faultOf(l))
	}
}

func TestUnreadableVMs(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	must(t, v.SetConnection("alpha-prod-kcn2q", types.VirtualMachineConnectionStateInaccessible))
	must(t, v.SetConnection("alpha-prod-nnxbq", types.VirtualMachineConnectionStateDisconnected))
	must(t, v.Deny("alpha-prod-jzxnt"))
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopeComplete || len(l.Instances) != fleetVMs {
		t.Fatalf("%s, %d VMs: %+v", l.State, len(l.Instances), faultOf(l))
	}
	lost := instance(t, l, "alpha-prod-kcn2q")
	for _, k := range []infra.Key{
		{Kind: keyRef, Value: "vm-280"},
		{Kind: keyName, Value: "alpha-prod-kcn2q"},
		{Kind: keyVMX, Value: "alpha-prod-kcn2q"},
		{Kind: keyDatacenter, Value: "DC0"},
	} {
		if !lost.Unreadable || !lost.HasKey(k) {
			t.Errorf("inaccessible: unreadable %t, keys %v, want %s", lost.Unreadable, lost.Keys, k)
		}
	}
	if i := instance(t, l, "alpha-prod-nnxbq"); i.Unreadable || !slices.Contains(i.Warnings, "Disconnected") {
		t.Errorf("disconnected: %+v", i)
	}
	denied := instance(t, l, "")
	for _, k := range []infra.Key{{Kind: keyRef, Value: "vm-382"}, nameless, {Kind: keyDatacenter, Value: "DC0"}} {
		if !denied.Unreadable || !denied.HasKey(k) {
			t.Errorf("denied: keys %v, want %s: it may be in any datacenter", denied.Keys, k)
		}
	}
}

func TestExcludedAndPoweredOff(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	l := one(t, t.Context(), fleet(t), reach(v))
	templates := 0
	for _, i := range l.Instances {
		if i.Exclude == "template" {
			templates++
		}
	}
	if templates != 10 {
		t.Errorf("%d templates", templates)
	}
	if i := instance(t, l, "alpha-prod-md-0-cjzhw-7z9bm"); !slices.Equal(i.Warnings, []code.Reason{"PoweredOff"}) {
		t.Errorf("warnings %v", i.Warnings)
	}
}

// on calls a function whenever the simulator is about to serve a method.
func on(v *lab.VCenter, method string, do func()) {
	v.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: method, ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true,
		InclusionPropertyFilter: func(mo.Reference) bool { do(); return false },
	})
}

func TestInterruptedRunLogsOut(t *testing.T) {
	for _, method := range []string{"Login", "CreateContainerView", "ContinueRetrievePropertiesEx", "RetrievePropertiesEx"} {
		t.Run(method, func(t *testing.T) {
			v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			on(v, method, cancel)
			l := one(t, ctx, fleet(t), reach(v))
			if l.State == code.ScopeComplete || faultOf(l).Reason != "Interrupted" {
				t.Errorf("%s: %+v", l.State, faultOf(l))
			}
			if got := v.Logins(); got.OK != 1 || got.Open() != 0 {
				t.Errorf("sessions %+v", got)
			}
			if method == "ContinueRetrievePropertiesEx" && (l.State != code.ScopePartial || len(l.Instances) == 0) {
				t.Errorf("what was read is lost: %s, %d VMs", l.State, len(l.Instances))
			}
		})
	}
}

func TestBrokenFolderListingIsPartial(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	v.Service.AddFaultRule(&simulator.FaultInjectionRule{
		MethodName: "RetrievePropertiesEx", ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true, SkipCount: 1, MaxCount: 1,
	})
	l := one(t, t.Context(), fleet(t), reach(v))
	if l.State != code.ScopePartial || len(l.Instances) != fleetVMs || len(ofKind(l.ProbesFound, vsphere.KeyFolder))+len(ofKind(l.ProbesFound, vsphere.KeyInhabited)) != 0 {
		t.Errorf("%s, %d VMs, probes %v: %+v", l.State, len(l.Instances), l.ProbesFound, faultOf(l))
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	elsewhere, contacts := infratest.Listen(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://"+elsewhere+"/sdk", http.StatusFound)
	}))
	defer server.Close()
	l := one(t, t.Context(), fleet(t), infra.Access{
		Reroutes:    []infra.Reroute{{From: fleetServer, To: server.Listener.Addr().String()}},
		Credentials: []infra.Credential{{Endpoint: fleetServer, Thumbprint: infra.Thumbprint(server.Certificate())}},
	})
	if l.State != code.ScopeFailed || contacts() != 0 {
		t.Errorf("%s, %d contacts: %+v", l.State, contacts(), faultOf(l))
	}
}

// What cannot be reached is named once, with the way to it.
func TestUnreachableServerIsNamedOnce(t *testing.T) {
	const at = "127.0.0.1:1" // nobody listens there
	f := faultOf(one(t, t.Context(), fleet(t), infra.Access{
		InsecureSkipVerify: true, Reroutes: []infra.Reroute{{From: fleetServer, To: at}},
	}))
	if n := strings.Count(f.Message, at); f.Reason != "Unreachable" || n != 1 || strings.Contains(f.Message, "https://") || !strings.Contains(f.Message, "): dial: ") {
		t.Errorf("%d times: %s", n, f.Message)
	}
}

func TestServerThatIsNoVCenter(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>It works!</html>")
	}))
	defer server.Close()
	l := one(t, t.Context(), fleet(t), infra.Access{
		InsecureSkipVerify: true, Reroutes: []infra.Reroute{{From: fleetServer, To: server.Listener.Addr().String()}},
	})
	if l.State != code.ScopeFailed || faultOf(l).Reason != "Unreachable" {
		t.Errorf("%s: %+v", l.State, faultOf(l))
	}
}
