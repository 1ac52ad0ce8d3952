package openstack

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Reach leads to the project that the openstack command is at with an entry of clouds.yaml.
func (p *provider) Reach(at string, s infra.Sought) infra.Target {
	t := infra.Target{Provider: Name, Endpoint: "OpenStack", Location: s.Location}
	f, err := p.ofOperator(infra.Access{Options: map[string]string{flagCloud: at}})
	if err != nil {
		t.Refused = &infra.Fault{Reason: code.NoCredential, Message: err.Error(), Hint: "give the entry that the openstack command gets with --os-cloud"}
		return t
	}
	c := f.credential
	c.region = cmp.Or(s.Location, c.region)
	t.Endpoint, t.Location, t.Account = c.endpoint.String(), c.region, c.project
	d := &detail{recorded: newObjects(new(backup.Snapshot)).recorded()}
	d.recorded.sought = s.Name
	for _, id := range s.IDs {
		if id = uuidOf(id); id != "" {
			d.ids = append(d.ids, id)
		}
	}
	slices.Sort(d.ids)
	d.ids = slices.Compact(d.ids)
	for name, kind := range s.Present {
		if id := uuidOf(name); kind == thingSubnet && id != "" {
			t.Probes = append(t.Probes, infra.Key{Kind: keySubnet, Value: id})
		}
	}
	slices.SortFunc(t.Probes, capi.CompareKeys)
	t.Detail, t.Credential, t.Source, t.Redaction = d, c, f.source, infra.NewRedaction(c.secrets()...)
	t.Own = []infra.Own{{IDs: t.IDs}} // it is the operator's
	t.Use = fmt.Sprintf("OpenStack project at %s: %s", t.Endpoint, f.source)
	p.accounts.note(&c)
	return t
}

// noteHolder notes to which server a port is attached that is named after a server that is
// looked for: CAPO makes the ports of its servers so, and takes and deletes them by these names
// (getPortName in pkg/cloud/services/networking/port.go v0.14.7).
func (l *listing) noteHolder(p *portAnswer) {
	of := l.recorded.sought
	if of == "" || len(p.Name) <= len(of)+1 || p.Name[:len(of)+1] != of+"-" {
		return
	}
	l.Facts = append(l.Facts, infra.Fact{Name: infra.FactHolder, Value: p.Name + " " + uuidOf(p.Device)})
}
