package openstack

import (
	"cmp"
	"errors"

	"sigs.k8s.io/yaml"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/shell"
)

// Extract returns a clouds.yaml with the login of a target as its only cloud, and the
// certificate authority that the Secret holds beside it.
func (p *Provider) Extract(t infra.Target, path func(name string) string) (infra.Extract, error) {
	c, ok := t.Credential.(Credential)
	if !ok || c.Operator != nil {
		return infra.Extract{}, errors.New("it has no login of the backup")
	}
	o := &c.Options
	entry := cloudEntry{Region: c.Region, Interface: c.Service, AuthType: "password", Auth: authEntry{
		AuthURL: o.IdentityEndpoint + "v3", Username: o.Username, UserID: o.UserID, Password: o.Password,
		UserDomainID: o.DomainID, UserDomainName: o.DomainName,
		ProjectID: o.Scope.ProjectID, ProjectName: o.Scope.ProjectName, ProjectDomainID: o.Scope.DomainID, ProjectDomainName: o.Scope.DomainName,
		AppID: o.ApplicationCredentialID, AppName: o.ApplicationCredentialName, AppSecret: o.ApplicationCredentialSecret,
	}}
	if o.ApplicationCredentialID != "" || o.ApplicationCredentialName != "" {
		entry.AuthType = "v3applicationcredential"
	}
	base := "openstack." + t.Endpoint + "." + cmp.Or(c.Project, "project")
	var out infra.Extract
	if len(c.CA) > 0 {
		name := base + ".ca.pem"
		out.Files, entry.CACert = append(out.Files, infra.LoginFile{Name: name, Text: backup.NewSensitive(string(c.CA))}), path(name)
	}
	if c.Any {
		out.Lacks = append(out.Lacks, "verify: false is not written: certificates are checked")
	}
	text, err := yaml.Marshal(map[string]any{"clouds": map[string]any{"backup": written(entry)}})
	if err != nil {
		return infra.Extract{}, errors.New("it cannot be written as clouds.yaml")
	}
	name := base + ".clouds.yaml"
	out.Files = append([]infra.LoginFile{{Name: name, Text: backup.NewSensitive(string(text))}}, out.Files...)
	word, _ := shell.Quote(path(name))
	out.Use = "export OS_CLIENT_CONFIG_FILE=" + word + " OS_CLOUD=backup"
	return out, nil
}

// written returns an entry without what is empty, which the openstack command line takes for set.
func written(entry cloudEntry) map[string]any {
	var all map[string]any
	text, err := yaml.Marshal(entry)
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil {
		panic(err) // a struct of texts
	}
	return withoutEmpty(all)
}

func withoutEmpty(all map[string]any) map[string]any {
	for name, value := range all {
		if inner, ok := value.(map[string]any); ok {
			withoutEmpty(inner)
		} else if value == nil || value == "" {
			delete(all, name)
		}
	}
	return all
}
