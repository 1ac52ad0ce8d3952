package aws

import (
	"errors"

	"drift-detector/infra"
	"drift-detector/infra/shell"
)

// Extract returns the variables with which the AWS CLI signs its calls as a target does. Roles
// are not assumed by variables.
func (p *Provider) Extract(t infra.Target, path func(name string) string) (infra.Extract, error) {
	c, ok := t.Credential.(Credential)
	if !ok || c.Operator {
		return infra.Extract{}, errors.New("it has no access key of the backup")
	}
	text, err := infra.Exports("AWS_REGION", t.Location, "AWS_ACCESS_KEY_ID", c.ID.Reveal(), "AWS_SECRET_ACCESS_KEY", c.Secret.Reveal(), "AWS_SESSION_TOKEN", c.Token.Reveal())
	if err != nil {
		return infra.Extract{}, err
	}
	name := "aws." + t.Location + ".env"
	word, _ := shell.Quote(path(name))
	out := infra.Extract{Files: []infra.LoginFile{{Name: name, Text: text}}, Use: ". " + word}
	for _, r := range c.Roles {
		out.Lacks = append(out.Lacks, "the key is used to assume role "+r.ARN+": do so with 'aws sts assume-role'")
	}
	return out, nil
}
