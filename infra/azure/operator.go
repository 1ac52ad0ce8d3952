package azure

import (
	"fmt"

	"drift-detector/infra"
)

// The operator's own credentials. Each needs its flag: nothing here is used because it
// happens to be there.

// ofOperator returns what the operator allowed to be used for a home.
func (p *Provider) ofOperator(h home, a infra.Access) (found, error) {
	c := Credential{Cloud: h.cloud, Subscription: h.subscription, Operator: true}
	if a.Options[flagCLI] != "" {
		if _, err := p.Az(); err != nil {
			return found{}, fmt.Errorf("--%s: there is no az command: %w", flagCLI, err)
		}
		c.CLI = true
		return found{Credential: c, source: "your az command (--" + flagCLI + ")"}, nil
	}
	c.Tenant, c.Client = UUIDOf(p.Getenv("AZURE_TENANT_ID")), UUIDOf(p.Getenv("AZURE_CLIENT_ID"))
	c.Secret, c.Federated = p.Getenv("AZURE_CLIENT_SECRET"), p.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	switch {
	case c.Tenant == "" || c.Client == "":
		return found{}, fmt.Errorf("--%s: AZURE_TENANT_ID and AZURE_CLIENT_ID are not both set to a UUID", flagAmbient)
	case c.Secret == "" && c.Federated == "":
		return found{}, fmt.Errorf("--%s: neither AZURE_CLIENT_SECRET nor AZURE_FEDERATED_TOKEN_FILE is set", flagAmbient)
	case c.Secret != "":
		c.Federated = ""
	}
	return found{Credential: c, source: "AZURE_ variables (--" + flagAmbient + ")"}, nil
}
