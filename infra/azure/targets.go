package azure

import (
	"fmt"
	"maps"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Detail is what a listing needs beside the credential. It holds no secret.
type Detail struct {
	Ways     infra.Access // without credentials
	Seek     Seek
	trusts   map[infra.Endpoint]infra.Trust // what the operator says of certificates
	insecure bool
}

// Trust returns what decides whether the certificate of a server is trusted.
func (d *Detail) Trust(e infra.Endpoint) infra.Trust {
	trust := d.trusts[e]
	trust.ServerName, trust.Insecure = e.Host, d.insecure
	return trust
}

// Same reports whether another listing is of the same subscription.
func (d *Detail) Same(any) bool { return true }

// Targets returns which subscriptions to list, with which credential. Homes that share
// subscription and credential are one target.
func (p *Provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	all := Detail{Ways: a.Ways(), trusts: a.Trusts(), insecure: a.InsecureSkipVerify}
	var targets []infra.Target
	listed := map[lister]int{}
	for _, h := range objs.homeScopes() {
		t := p.target(objs, h, secrets, a, all)
		if c, ok := t.Credential.(Credential); ok && t.Refused == nil {
			of := c.lister()
			if i, ok := listed[of]; ok {
				targets[i].Join(t)
				targets[i].Detail.(*Detail).Seek.add(&t.Detail.(*Detail).Seek)
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

func (p *Provider) target(objs *objects, h *homeScope, secrets *backup.Secrets, a infra.Access, d Detail) infra.Target {
	t := infra.Target{
		IDs: []string{h.id()}, Provider: Name, Endpoint: "Azure", Account: h.subscription,
		Clusters: h.clusters, Probes: slices.Collect(maps.Keys(h.probes)),
	}
	at, known := Clouds[h.cloud]
	if known {
		t.Endpoint, t.Authority = at.Manager.String(), at.Authority.String()
	}
	f, fault := p.credentialOf(objs, h.home, secrets, a)
	if fault != nil {
		fault.Message = "no login to the Azure subscription of " + h.what() + ": " + fault.Message
		t.Refused = fault
		return t
	}
	if dial := a.DialAddress(at.Manager); dial != at.Manager.String() {
		t.Dial = dial
	}
	t.Credential, t.Source, t.Warnings = f.Credential, f.source, f.warnings
	t.Redaction = infra.NewRedaction(f.secrets()...)
	if f.given {
		t.Own = []infra.Own{{IDs: t.IDs}}
		if f.unread {
			t.Own[0].Credential = f.source // none that can be tried
		}
	}
	d.Seek = h.seek
	t.Detail = &d
	return t
}

func finish(t *infra.Target) {
	capi.Tidy(t)
	c, ok := t.Credential.(Credential)
	if !ok {
		return
	}
	at := Clouds[c.Cloud]
	where := at.Authority.Host
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = fmt.Sprintf("Azure %s: %s, from %s, at %s", c.Subscription, c.Who(), t.Source, where)
	if c.Instead != nil {
		t.Use += "; if refused, " + c.InsteadSource
	}
}
