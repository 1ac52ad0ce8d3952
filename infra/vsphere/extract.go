package vsphere

import (
	"errors"

	"drift-detector/infra"
	"drift-detector/infra/shell"
)

// Extract returns the variables with which govc logs in to the vCenter of a target.
func (p *Provider) Extract(t infra.Target, path func(name string) string) (infra.Extract, error) {
	c, ok := t.Credential.(Credential)
	if !ok {
		return infra.Extract{}, errors.New("it has no user and password")
	}
	text, err := infra.Exports("GOVC_URL", "https://"+t.Endpoint, "GOVC_USERNAME", c.User.Reveal(), "GOVC_PASSWORD", c.Password.Reveal())
	if err != nil {
		return infra.Extract{}, err
	}
	name := "vsphere." + t.Endpoint + ".env"
	word, _ := shell.Quote(path(name))
	return infra.Extract{Files: []infra.LoginFile{{Name: name, Text: text}}, Use: ". " + word}, nil
}
