package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// detail is what a listing needs beside the credential. It holds no secret.
type detail struct {
	ways     infra.Access                   // without credentials
	trusts   map[infra.Endpoint]infra.Trust // what the operator says of certificates
	insecure bool
	ids      []string // of servers that the backup records there, sorted
	recorded *recorded
}

// recorded is what the backup knows of all OpenStack: only that is kept of the ports that
// a project has.
type recorded struct {
	clusters map[string]bool   // as descriptions of ports name them
	names    map[string]bool   // of servers
	first    map[string]string // the same, by the name of the first port of each
	groups   map[string]bool   // ids of security groups
	networks map[string]bool   // ids of those that CAPO made
	planes   planes
	ids      map[string][]string // of the servers of machines, by name
	sought   string              // name of a server that is looked for once more
}

func (objs *objects) recorded() *recorded {
	r := &recorded{map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}, map[string]bool{}, objs.planes(), map[string][]string{}, ""}
	for id, l := range objs.locations {
		for _, c := range clusterNames(id) {
			r.clusters[c] = true
		}
		for _, g := range groupRoles {
			r.groups[l.group(g.role)] = true
		}
		r.networks[l.madeNetwork(id)] = true
	}
	for i := range objs.members {
		name := objs.serverName(&objs.members[i])
		r.names[name] = true
		if key, _, _, _ := objs.strong(&objs.members[i]); !key.IsZero() {
			r.ids[name] = append(r.ids[name], key.Value)
		}
		if w := objs.members[i].resolved(); w != nil {
			r.first[w.ports()[0].named(name, 0)] = name
		} else {
			r.first[name+firstPort] = name
		}
	}
	delete(r.groups, "")
	delete(r.networks, "")
	return r
}

// lent reports whether a port is that of a machine which another server is: somebody gave it
// away, as one does to bring a Node back under its address. It says nothing of whose server has it.
func (r *recorded) lent(p *made, server, name string) bool {
	ids := r.ids[p.name]
	return p.name != name && len(ids) > 0 && !slices.Contains(ids, server)
}

// Targets returns which projects to list, with which credential. Homes that share
// identity endpoint, credential and region are one target.
func (p *provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	all := detail{ways: a.Ways(), trusts: trustsOf(a), insecure: a.InsecureSkipVerify, recorded: objs.recorded()}
	var targets []infra.Target
	listed := map[lister]int{}
	for _, h := range objs.homeScopes() {
		t := p.target(objs, h, secrets, a, all)
		if c, ok := t.Credential.(credential); ok {
			p.accounts.note(&c)
		}
		if c, ok := t.Credential.(credential); ok && t.Refused == nil {
			of := c.lister()
			if i, ok := listed[of]; ok {
				targets[i].Join(t)
				targets[i].Own = distinct(targets[i].Own)
				to := targets[i].Detail.(*detail)
				to.ids = append(to.ids, t.Detail.(*detail).ids...)
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

func (p *provider) target(objs *objects, h *homeScope, secrets *backup.Secrets, a infra.Access, d detail) infra.Target {
	t := infra.Target{IDs: []string{h.id()}, Provider: Name, Endpoint: "OpenStack", Location: h.region, Clusters: h.clusters, Probes: slices.Collect(maps.Keys(h.probes))}
	f, fault := p.credentialOf(objs, h.home, secrets, a)
	if fault != nil {
		fault.Message = "no credential for the OpenStack project of " + h.what() + ": " + fault.Message
		if fault.Reason == code.BadEndpoint {
			fault.Message = "the OpenStack project of " + h.what() + " cannot be contacted: " + fault.Message[len("no credential for the OpenStack project of "+h.what()+": "):]
		}
		t.Refused = fault
		return t
	}
	c := f.credential
	t.Endpoint, t.Location, t.Account = c.endpoint.String(), c.region, c.project
	if dial := a.DialAddress(c.endpoint); dial != c.endpoint.String() {
		t.Dial = dial
	}
	t.Credential, t.Source, t.Warnings = c, f.source, f.warnings
	t.Redaction = infra.NewRedaction(c.secrets()...)
	if f.given {
		t.Own = []infra.Own{{IDs: t.IDs}}
	}
	if f.own != nil {
		t.Own[0].Source, t.Own[0].Credential = f.own.source, f.own.credential
		t.Redaction.Add(f.own.secrets()...)
		p.accounts.note(&f.own.credential)
	}
	d.ids = sortedNames(h.servers)
	t.Detail = &d
	return t
}

// secrets returns all that a login sends, also that of the credential that may be used instead.
func (c *credential) secrets() []backup.Sensitive {
	all := []backup.Sensitive{
		backup.NewSensitive(c.options.Password), backup.NewSensitive(c.options.ApplicationCredentialSecret),
		backup.NewSensitive(c.options.TokenID), backup.NewSensitive(c.options.Passcode),
	}
	if c.instead != nil {
		all = append(all, c.instead.secrets()...)
	}
	return all
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

// distinct joins credentials that are the same, so that each is tried once.
func distinct(all []infra.Own) (out []infra.Own) {
	at := map[lister]int{}
	for _, own := range all {
		c, ok := own.Credential.(credential)
		if i, known := at[c.lister()]; ok && known {
			out[i].IDs = slices.Concat(out[i].IDs, own.IDs)
			continue
		}
		if ok {
			at[c.lister()] = len(out)
		}
		out = append(out, own)
	}
	return out
}

// sources names the objects that credentials come from.
func sources(all []infra.Own) string {
	var names []string
	for _, own := range all {
		if own.Source != "" {
			names = append(names, own.Source)
		}
	}
	return strings.Join(names, ", ")
}

func finish(t *infra.Target) {
	capi.Tidy(t)
	c, ok := t.Credential.(credential)
	if !ok {
		return
	}
	if d, ok := t.Detail.(*detail); ok {
		slices.Sort(d.ids)
		d.ids = slices.Compact(d.ids)
	}
	where := t.Endpoint
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = fmt.Sprintf("OpenStack %s: %s, project %s, from %s", where, c.who(), cmp.Or(c.project, "of the credential"), t.Source)
	if tried := sources(t.Own); tried != "" {
		t.Use += "; it is asked, too, whether it accepts " + tried
	}
	if c.instead != nil {
		t.Use += fmt.Sprintf("; if Keystone refuses that, %s at %s", c.insteadSource, c.instead.endpoint)
	}
}
