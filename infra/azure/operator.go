package azure

import (
	"fmt"

	"drift-detector/infra"
)

// The operator's own credentials. Each needs its flag: nothing here is used because it
// happens to be there.

// ofOperator returns what the operator allowed to be used for a home.
func (p *Provider) ofOperator(h home, a infra.Access) (found, error) {
	c := credential{cloud: h.cloud, subscription: h.subscription, operator: true}
	if a.Options[flagCLI] != "" {
		if _, err := p.az(); err != nil {
			return found{}, fmt.Errorf("--%s: there is no az command: %w", flagCLI, err)
		}
		c.cli = true
		return found{credential: c, source: "your az command (--" + flagCLI + ")"}, nil
	}
	c.tenant, c.client = uuidOf(p.getenv("AZURE_TENANT_ID")), uuidOf(p.getenv("AZURE_CLIENT_ID"))
	c.secret, c.federated = p.getenv("AZURE_CLIENT_SECRET"), p.getenv("AZURE_FEDERATED_TOKEN_FILE")
	switch {
	case c.tenant == "" || c.client == "":
		return found{}, fmt.Errorf("--%s: AZURE_TENANT_ID and AZURE_CLIENT_ID are not both set to a UUID", flagAmbient)
	case c.secret == "" && c.federated == "":
		return found{}, fmt.Errorf("--%s: neither AZURE_CLIENT_SECRET nor AZURE_FEDERATED_TOKEN_FILE is set", flagAmbient)
	case c.secret != "":
		c.federated = ""
	}
	return found{credential: c, source: "AZURE_ variables (--" + flagAmbient + ")"}, nil
}
