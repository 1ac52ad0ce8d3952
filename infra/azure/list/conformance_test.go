package list

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab/azurelab"
)

func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{
		New: func() infra.Provider { return small(azurelab.Operator) }, Start: startWorld,
		Conditions: []infratest.Condition{
			infratest.Whole, infratest.Broken, infratest.Unreadable, infratest.WrongPassword, infratest.Down, infratest.Hanging,
		},
	})
}

// fleetVMs is how many VMs both subscriptions have.
const fleetVMs = 26

func startWorld(t *testing.T, c infratest.Condition) infratest.World {
	const secret = "m4rk3r-of-the-principal"
	w := infratest.World{Count: fleetVMs, Markers: []string{secret}}
	data := azurelab.Edit(t, azurelab.Backup(t, lab), func(resource string, object map[string]any) bool {
		if resource == "secrets" {
			if values, ok := object["data"].(map[string]any); ok && values["clientSecret"] != nil {
				values["clientSecret"] = []byte(secret)
			}
		}
		return true
	})
	w.Load = func() (*backup.Snapshot, *backup.Secrets) { return azurelab.Load(t, New(), data) }
	switch c {
	case infratest.Down, infratest.Hanging:
		addr, contacts := infratest.Listen(t)
		if c == infratest.Down {
			addr = infratest.ClosedPort(t)
		}
		w.Access, w.Contacts = access(&azurelab.Server{Address: addr}), contacts
		return w
	}
	s := azurelab.Serve(t, lab, azurelab.Options{PageSize: 5})
	w.Access = access(s)
	w.Sessions = func() (int, int) {
		_, refused := s.Logins()
		return 0, refused
	}
	s.Principals(func(p *azurelab.Principal) {
		switch {
		case c == infratest.WrongPassword:
			p.Secret = "changed since"
		case p.Secret != azurelab.Operator["AZURE_CLIENT_SECRET"]:
			p.Secret = secret
		}
	})
	switch c {
	case infratest.WrongPassword:
		w.Access.Options = nil // one account, so that its failures are counted
		data = azurelab.Edit(t, data, func(_ string, object map[string]any) bool {
			if object["kind"] == "AzureClusterIdentity" {
				spec := object["spec"].(map[string]any)
				spec["type"], spec["clientID"] = "ServicePrincipal", "5e2b7a94-0c3d-4f61-b8e7-914da6c03f28"
				spec["clientSecret"] = map[string]any{"namespace": "retail", "name": "retail-sp-secret"}
			}
			return true
		})
	case infratest.Broken:
		s.Fail(azurelab.Fault{Match: "skiptoken=5&api-version=2024-03-01$", Status: 500, Body: "{}"})
	case infratest.Unreadable:
		s.VM("shop-md-0-w66kl-wxqkz", func(_, p azurelab.Object) bool {
			p["provisioningState"] = "Deleting"
			return true
		})
	}
	return w
}
