package azure

import (
	"errors"

	"drift-detector/infra"
	"drift-detector/infra/shell"
)

// Extract returns the variables with which tools of Azure's SDKs, and drift-detector with
// --azure-ambient, log in as a target does.
func (p *Provider) Extract(t infra.Target, path func(name string) string) (infra.Extract, error) {
	c, ok := t.Credential.(Credential)
	if !ok || c.Operator || c.Secret == "" {
		return infra.Extract{}, errors.New("it has no secret of a service principal in the backup")
	}
	text, err := infra.Exports("AZURE_TENANT_ID", c.Tenant, "AZURE_CLIENT_ID", c.Client, "AZURE_CLIENT_SECRET", c.Secret, "AZURE_SUBSCRIPTION_ID", c.Subscription)
	if err != nil {
		return infra.Extract{}, err
	}
	name := "azure." + c.Subscription + ".env"
	word, _ := shell.Quote(path(name))
	return infra.Extract{Files: []infra.LoginFile{{Name: name, Text: text}}, Use: ". " + word}, nil
}
