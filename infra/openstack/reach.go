package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Reach leads to the project that the openstack command is at with an entry of clouds.yaml.
func (p *Provider) Reach(at string, s infra.Sought) infra.Target {
	t := infra.Target{Provider: Name, Endpoint: "OpenStack", Location: s.Location}
	f, err := p.ofOperator(infra.Access{Options: map[string]string{flagCloud: at}})
	if err != nil {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: err.Error(), Hint: "give the entry that the openstack command gets with --os-cloud"}
		return t
	}
	if set := p.overrides(at, s.Location); set != "" {
		t.Refused = &infra.Fault{
			Reason: code.NoCredential, Message: set + " is set, which the openstack command takes instead of what entry " + at + " of clouds.yaml says",
			Hint: "unset the OS_ variables of logins, such as those of an openrc file, and run the line again",
		}
		return t
	}
	c := f.Credential
	c.Region = cmp.Or(s.Location, c.Region)
	t.Endpoint, t.Location, t.Account = c.Endpoint.String(), c.Region, c.Project
	d := &Detail{Recorded: newObjects(new(backup.Snapshot)).recorded()}
	d.Recorded.Sought = s.Name
	for _, id := range s.IDs {
		if id = UUIDOf(id); id != "" {
			d.IDs = append(d.IDs, id)
		}
	}
	slices.Sort(d.IDs)
	d.IDs = slices.Compact(d.IDs)
	for name, kind := range s.Present {
		if id := UUIDOf(name); kind == thingSubnet && id != "" {
			t.Probes = append(t.Probes, infra.Key{Kind: KeySubnet, Value: id})
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	t.Detail, t.Credential, t.Source, t.Redaction = d, c, f.source, infra.NewRedaction(c.secrets()...)
	t.Own = []infra.Own{{IDs: t.IDs}} // it is the operator's
	t.Use = fmt.Sprintf("OpenStack project at %s: %s", t.Endpoint, f.source)
	return t
}

// overrides names a variable that leads the openstack command elsewhere than an entry of
// clouds.yaml: it prefers what its environment says (openstacksdk openstack/config/loader.py,
// _fix_backwards_auth).
func (p *Provider) overrides(cloud, region string) string {
	names := []string{"tenant_id", "tenant_name", "endpoint_override", "auth_type"}
	for name := range knownAuth {
		names = append(names, name)
	}
	if region == "" { // else the line says it
		names = append(names, "region_name")
	}
	slices.Sort(names)
	for _, name := range names {
		if name = "OS_" + strings.ToUpper(name); cloud != ofVariables && p.Getenv(name) != "" {
			return name
		}
	}
	return ""
}
