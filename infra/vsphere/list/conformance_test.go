package list

import (
	"fmt"
	"testing"

	"github.com/vmware/govmomi/simulator"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab"
)

func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{
		New: small, Start: startWorld,
		Conditions: []infratest.Condition{
			infratest.Whole, infratest.Broken, infratest.Unreadable, infratest.WrongPassword,
			infratest.Down, infratest.Hanging, infratest.PlainHTTP,
		},
	})
}

func startWorld(t *testing.T, c infratest.Condition) infratest.World {
	const password = "m4rk3r-of-the-vcenter"
	data := withPassword(t, fleet(t), password)
	w := infratest.World{Count: fleetVMs, Markers: []string{password}}
	switch c {
	case infratest.Down, infratest.Hanging, infratest.PlainHTTP:
		addr, contacts := infratest.Listen(t)
		switch c {
		case infratest.Down:
			addr = infratest.ClosedPort(t)
		case infratest.PlainHTTP:
			const inURL = "m4rk3r-in-the-url"
			data = withServer(t, data, fmt.Sprintf("http://admin:%s@%s/sdk", inURL, addr))
			w.Markers = append(w.Markers, inURL)
		}
		w.Access = infra.Access{Reroutes: []infra.Reroute{{From: fleetServer, To: addr}}}
		w.Contacts = contacts
	default:
		accounts := map[string]string{fleetUser: password}
		if c == infratest.WrongPassword {
			accounts[fleetUser] = "changed since"
		}
		v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: accounts})
		w.Access = reach(v)
		w.Sessions = func() (int, int) { return sessions(v) }
		if c == infratest.Broken {
			v.Service.AddFaultRule(&simulator.FaultInjectionRule{
				MethodName: "ContinueRetrievePropertiesEx", ObjectType: "*", ObjectName: "*", Probability: 1, Enabled: true,
			})
		}
		if c == infratest.Unreadable {
			if err := v.Deny("alpha-prod-nnxbq"); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Load = func() (*backup.Snapshot, *backup.Secrets) { return load(t, data) }
	return w
}
