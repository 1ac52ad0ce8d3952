package azure

import (
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// detail is what a listing needs beside the credential. It holds no secret.
type detail struct {
	ways     infra.Access                   // without credentials
	trusts   map[infra.Endpoint]infra.Trust // what the operator says of certificates
	insecure bool
	seek     seek
}

// Same reports whether another listing is of the same subscription.
func (d *detail) Same(any) bool { return true }

// Targets returns which subscriptions to list, with which credential. Homes that share
// subscription and credential are one target.
func (p *Provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	all := detail{ways: a.Ways(), trusts: trustsOf(a), insecure: a.InsecureSkipVerify}
	var targets []infra.Target
	listed := map[lister]int{}
	for _, h := range objs.homeScopes() {
		t := p.target(objs, h, secrets, a, all)
		if c, ok := t.Credential.(credential); ok && t.Refused == nil {
			of := c.lister()
			if i, ok := listed[of]; ok {
				targets[i].Join(t)
				targets[i].Detail.(*detail).seek.add(&t.Detail.(*detail).seek)
				continue
			}
			listed[of] = len(targets)
		}
		targets = append(targets, t)
	}
	for i := range targets {
		finish(&targets[i])
	}
	return targets
}

func (p *Provider) target(objs *objects, h *homeScope, secrets *backup.Secrets, a infra.Access, d detail) infra.Target {
	t := infra.Target{
		IDs: []string{h.id()}, Provider: Name, Endpoint: "Azure", Account: h.subscription,
		Clusters: h.clusters, Probes: slices.Collect(maps.Keys(h.probes)),
	}
	at, known := clouds[h.cloud]
	if known {
		t.Endpoint, t.Authority = at.manager.String(), at.authority.String()
	}
	f, fault := p.credentialOf(objs, h.home, secrets, a)
	if fault != nil {
		fault.Message = "no login to the Azure subscription of " + h.what() + ": " + fault.Message
		t.Refused = fault
		return t
	}
	if dial := a.DialAddress(at.manager); dial != at.manager.String() {
		t.Dial = dial
	}
	t.Credential, t.Source, t.Warnings = f.credential, f.source, f.warnings
	t.Redaction = infra.NewRedaction(f.secrets()...)
	if f.given {
		t.Own = []infra.Own{{IDs: t.IDs}}
		if f.unread {
			t.Own[0].Credential = f.source // none that can be tried
		}
	}
	d.seek = h.seek
	t.Detail = &d
	return t
}

// trustsOf returns the certificates that the operator gave for endpoints.
func trustsOf(a infra.Access) map[infra.Endpoint]infra.Trust {
	all := map[infra.Endpoint]infra.Trust{}
	for _, c := range a.Credentials {
		at, err := infra.ParseEndpoint(c.Endpoint)
		if err != nil || c.Thumbprint == "" && len(c.CA) == 0 {
			continue
		}
		if _, taken := all[at]; !taken {
			all[at] = infra.Trust{Thumbprint: c.Thumbprint, CA: c.CA}
		}
	}
	return all
}

func finish(t *infra.Target) {
	capi.Tidy(t)
	c, ok := t.Credential.(credential)
	if !ok {
		return
	}
	at := clouds[c.cloud]
	where := at.authority.Host
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = fmt.Sprintf("Azure %s: %s, from %s, at %s", c.subscription, c.who(), t.Source, where)
	if c.instead != nil {
		t.Use += "; if refused, " + c.insteadSource
	}
}
