package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// Detail is what a listing needs beside the credential. It holds no secret.
type Detail struct {
	Ways     infra.Access                   // without credentials
	trusts   map[infra.Endpoint]infra.Trust // what the operator says of certificates
	Insecure bool
	IDs      []string // of servers that the backup records there, sorted
	Recorded *Recorded
}

// Trust returns what decides whether the certificate of a server is trusted, and whether the operator
// gave it for that server.
func (d *Detail) Trust(at infra.Endpoint) (trust infra.Trust, given bool) {
	trust, given = d.trusts[at]
	trust.ServerName, trust.Insecure = at.Host, d.Insecure
	return trust, given
}

// Recorded is what the backup knows of all OpenStack: only that is kept of the ports that
// a project has.
type Recorded struct {
	Clusters map[string]bool   // as descriptions of ports name them
	Names    map[string]bool   // of servers
	First    map[string]string // the same, by the name of the first port of each
	Groups   map[string]bool   // ids of security groups
	Networks map[string]bool   // ids of those that CAPO made
	planes   planes
	ids      map[string][]string // of the servers of machines, by name
	dots     [][]int             // where names have dots, each once
	Sought   string              // name of a server that is looked for once more
}

func (objs *objects) recorded() *Recorded {
	r := &Recorded{map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}, map[string]bool{}, objs.planes(), map[string][]string{}, nil, ""}
	for id, l := range objs.locations {
		for _, c := range clusterNames(id) {
			r.Clusters[c] = true
		}
		for _, g := range groupRoles {
			r.Groups[l.group(g.role)] = true
		}
		r.Networks[l.madeNetwork(id)] = true
	}
	for i := range objs.members {
		name := objs.serverName(&objs.members[i])
		if at := dotsOf(name); at != nil && !slices.ContainsFunc(r.dots, func(known []int) bool { return slices.Equal(known, at) }) {
			r.dots = append(r.dots, at)
		}
		r.Names[name] = true
		if key, _, _, _ := objs.strong(&objs.members[i]); !key.IsZero() {
			r.ids[name] = append(r.ids[name], key.Value)
		}
		if w := objs.members[i].resolved(); w != nil {
			r.First[w.ports()[0].named(name, 0)] = name
		} else {
			r.First[name+firstPort] = name
		}
	}
	delete(r.Groups, "")
	delete(r.Networks, "")
	return r
}

// soughtBy returns the names of machines that Nova finds a server of another name by. CAPO asks for ^NAME$,
// a regular expression in which a dot is any character (GetInstanceStatusByName in
// pkg/cloud/services/compute/instance.go v0.9.0 to v0.15.0-beta.0); and MySQL and MariaDB, which most clouds
// have, take upper and lower case for the same (_regex_instance_filter in nova/db/main/api.py). Of a machine's own
// server that is not counted on.
func (r *Recorded) soughtBy(server, name string) (names []string) {
	lower := sought(name)
	add := func(of string) {
		if of != name && r.Names[of] && !slices.Contains(names, of) && !slices.Contains(r.ids[of], server) {
			names = append(names, of)
		}
	}
	add(lower)
	for _, at := range r.dots {
		if of := dotted(lower, at); of != lower {
			add(of)
		}
	}
	return names
}

// sought returns a server's name as it is compared with those of machines, which have no capital letters: any
// other character is one that only a dot matches.
func sought(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return unicode.ToLower(r)
	}, name)
}

// dotsOf returns where a name has dots.
func dotsOf(name string) (at []int) {
	for i := range len(name) {
		if name[i] == '.' {
			at = append(at, i)
		}
	}
	return at
}

// dotted returns the one name with dots in those places that finds another one as a regular expression. What is
// too short no such name finds.
func dotted(name string, at []int) string {
	if len(at) == 0 || at[len(at)-1] >= len(name) {
		return name
	}
	of := []byte(name)
	for _, i := range at {
		of[i] = '.'
	}
	return string(of)
}

// lent reports whether a port is that of a machine which another server is: somebody gave it
// away, as one does to bring a Node back under its address. It says nothing of whose server has it.
func (r *Recorded) lent(p *Made, server, name string) bool {
	ids := r.ids[p.Name]
	return p.Name != name && len(ids) > 0 && !slices.Contains(ids, server)
}

// Targets returns which projects to list, with which credential. Homes that share
// identity endpoint, credential and region are one target.
func (p *Provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	all := Detail{Ways: a.Ways(), trusts: a.Trusts(), Insecure: a.InsecureSkipVerify, Recorded: objs.recorded()}
	var targets []infra.Target
	listed := map[lister]int{}
	for _, h := range objs.homeScopes() {
		t := p.target(objs, h, secrets, a, all)
		if c, ok := t.Credential.(Credential); ok && t.Refused == nil {
			of := c.lister()
			if i, ok := listed[of]; ok {
				targets[i].Join(t)
				targets[i].Own = distinct(targets[i].Own)
				to := targets[i].Detail.(*Detail)
				to.IDs = append(to.IDs, t.Detail.(*Detail).IDs...)
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
	c := f.Credential
	t.Endpoint, t.Location, t.Account = c.Endpoint.String(), c.Region, c.Project
	if dial := a.DialAddress(c.Endpoint); dial != c.Endpoint.String() {
		t.Dial = dial
	}
	t.Credential, t.Source, t.Warnings = c, f.source, f.warnings
	t.Redaction = infra.NewRedaction(c.secrets()...)
	if f.given {
		t.Own = []infra.Own{{IDs: t.IDs}}
	}
	if f.own != nil {
		t.Own[0].Source, t.Own[0].Credential = f.own.source, f.own.Credential
		t.Redaction.Add(f.own.secrets()...)
	}
	d.IDs = sortedNames(h.servers)
	t.Detail = &d
	return t
}

// secrets returns all that a login sends, also that of the credential that may be used instead.
func (c *Credential) secrets() []backup.Sensitive {
	all := []backup.Sensitive{backup.NewSensitive(c.Options.Password), backup.NewSensitive(c.Options.ApplicationCredentialSecret)}
	if c.Instead != nil {
		all = append(all, c.Instead.secrets()...)
	}
	return all
}

// distinct joins credentials that are the same, so that each is tried once.
func distinct(all []infra.Own) (out []infra.Own) {
	at := map[lister]int{}
	for _, own := range all {
		c, ok := own.Credential.(Credential)
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
	c, ok := t.Credential.(Credential)
	if !ok {
		return
	}
	if d, ok := t.Detail.(*Detail); ok {
		slices.Sort(d.IDs)
		d.IDs = slices.Compact(d.IDs)
	}
	where := t.Endpoint
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = fmt.Sprintf("OpenStack %s: %s, project %s, from %s", where, c.Who(), cmp.Or(c.Project, "of the credential"), t.Source)
	if tried := sources(t.Own); tried != "" {
		t.Use += "; it is asked, too, whether it accepts " + tried
	}
	if c.Instead != nil {
		t.Use += fmt.Sprintf("; if Keystone refuses that, %s at %s", c.InsteadSource, c.Instead.Endpoint)
	}
}
