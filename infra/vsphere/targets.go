package vsphere

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// detail is what a listing needs beside the credential. It holds no secret.
type detail struct {
	server      infra.Endpoint
	trust       infra.Trust
	thumbprints []string // to be tried in this order; empty: trust as it is
	pins        []string // those of the backup, whatever the operator gave
	recorded    *recordedMachines
}

// Borrow takes the certificates that go with a credential, see [infra.Target.Borrow].
func (d *detail) Borrow(from any) {
	if o, ok := from.(*detail); ok {
		d.thumbprints, d.trust = o.thumbprints, o.trust
	}
}

// recordedMachines are the machines that the backup records.
type recordedMachines struct {
	// servers are vCenters by the BIOS UUID of a machine: a VM that has one is
	// known, and its own metadata is left alone.
	servers map[string]string
	// folders are the BIOS UUIDs of the machines in each folder, empty for a
	// machine without one.
	folders map[string][]string
	pci     map[string]bool // BIOS UUIDs of the machines that name PCI devices
	groups  bool            // a failure domain names a VM group
	marks   *marks
}

func (objs *objects) recordedMachines() *recordedMachines {
	c := &recordedMachines{servers: map[string]string{}, folders: map[string][]string{}, pci: map[string]bool{}, marks: objs.marks()}
	for d := range domains.In(objs.snapshot).All() {
		c.groups = c.groups || d.Data.Group != ""
	}
	for i := range objs.members {
		m := &objs.members[i]
		if _, taken := c.servers[m.strong.Value]; !taken && !m.strong.IsZero() {
			c.servers[m.strong.Value] = m.at.Server
		}
		if m.machine != nil && len(objs.restOf(m).PCIDevices) > 0 {
			c.pci[m.strong.Value] = true
		}
		if m.unplaced == "" {
			c.folders[m.at.Folder] = append(c.folders[m.at.Folder], m.strong.Value)
		}
	}
	return c
}

// Targets returns which vCenters to list, with which account. Places that share
// server, user and password are one target, so that there is one login.
func (p *Provider) Targets(s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) []infra.Target {
	objs := newObjects(s)
	known := objs.recordedMachines()
	type login struct{ server, user, password string }
	at := map[login]int{}
	var targets []infra.Target
	homes := objs.homeScopes()
	objs.addNeeded(homes)
	for _, h := range homes {
		t := objs.target(h, secrets, a, known)
		if c, ok := t.Credential.(credential); ok && t.Refused == nil {
			k := login{h.server, c.user.Reveal(), c.password.Reveal()}
			if i, merged := at[k]; merged {
				merge(&targets[i], t)
				continue
			}
			at[k] = len(targets)
		}
		targets = append(targets, t)
	}
	for i := range targets {
		finish(&targets[i])
	}
	return targets
}

func (objs *objects) target(h *homeScope, secrets *backup.Secrets, a infra.Access, known *recordedMachines) infra.Target {
	t := infra.Target{IDs: h.ids(), Provider: Name, Endpoint: h.server, Clusters: h.clusters}
	for _, f := range h.folders {
		t.Probes = append(t.Probes, infra.Key{Kind: keyFolder, Value: f}, inhabitedKey(f), readKey(f))
	}
	t.Probes = append(append(t.Probes, knownKey(h.server)), h.needed...)
	server, err := infra.ParseEndpoint(h.raw)
	if err != nil {
		t.Endpoint, t.Refused = objs.refusedServer(h, err)
		return t
	}
	if dial := a.DialAddress(server); dial != server.String() {
		t.Dial = dial
	}
	given, ok := a.CredentialFor(server.String())
	d := &detail{
		server: server, thumbprints: h.thumbprints, pins: h.thumbprints, recorded: known,
		trust: infra.Trust{ServerName: server.Host, Thumbprint: given.Thumbprint, CA: given.CA, Insecure: a.InsecureSkipVerify},
	}
	if given.Thumbprint != "" || len(given.CA) > 0 {
		d.thumbprints = nil // the operator knows better than the backup
	}
	t.Detail = d
	own, fault := objs.credentialOf(h, secrets)
	f, overridden := override(given, ok)
	switch {
	case overridden && fault == nil:
		t.Own = []infra.Own{{IDs: t.IDs, Source: own.source, Credential: own.credential}}
	case overridden:
		t.Own = []infra.Own{{IDs: t.IDs}}
	case fault != nil:
		d.thumbprints, d.pins = nil, nil // whoever may not log in names no certificate either
		t.Refused = fault
		t.Refused.Message = fmt.Sprintf("no credential for vCenter %s: %s", server, t.Refused.Message)
		return t
	default:
		f = own
	}
	t.Credential, t.Source, t.Warnings = f.credential, f.source, slices.Concat(f.warnings, h.ignored)
	t.Redaction = infra.NewRedaction(f.password, own.password)
	t.Account = strings.TrimSpace(f.user.Reveal())
	return t
}

// refusedServer says what to call a server that is not contacted, and why it is not.
func (objs *objects) refusedServer(h *homeScope, err error) (endpoint string, f *infra.Fault) {
	the := objs.snapshot.Subject().The()
	f = &infra.Fault{
		Reason: code.BadEndpoint, Message: fmt.Sprintf("a server in %s: %v", the, err),
		Hint: "correct the server of its VSphereCluster or VSphereVM; drift-detector contacts https:// servers only",
	}
	switch shown := shownHost(h.raw); {
	case strings.TrimSpace(h.raw) == "":
		f.Message = fmt.Sprintf("%s names no vCenter for %d of its clusters", the, len(h.clusters))
		f.Hint = "see which VSphereCluster or VSphereVM " + the + " lacks"
		return "(no server)", f
	case shown == "":
		return "(server not shown)", f
	default:
		f.Message = fmt.Sprintf("server %q in %s: %v", shown, the, err)
		return shown, f
	}
}

// merge adds a place to the target that logs in with the same credential.
func merge(into *infra.Target, t infra.Target) {
	into.Join(t)
	to, from := into.Detail.(*detail), t.Detail.(*detail)
	to.thumbprints, to.pins = append(to.thumbprints, from.thumbprints...), append(to.pins, from.pins...)
	for _, own := range t.Own {
		if c, ok := own.Credential.(credential); ok {
			into.Redaction.Add(c.password)
		}
	}
	into.Own = distinct(into.Own)
}

// distinct joins the last credential to one that is the same, so that each is tried once.
func distinct(all []infra.Own) []infra.Own {
	last := len(all) - 1
	for i := range max(last, 0) {
		if all[i].Credential == all[last].Credential {
			all[i].IDs = slices.Concat(all[i].IDs, all[last].IDs)
			return all[:last]
		}
	}
	return all
}

// maxThumbprints bounds how many certificates a target may try: a renewed one
// leaves its predecessor in older objects, more is no honest backup.
const maxThumbprints = 8

func finish(t *infra.Target) {
	capi.Tidy(t)
	d, ok := t.Detail.(*detail)
	if !ok || t.Refused != nil {
		return
	}
	var distinct []string
	for _, tp := range d.thumbprints {
		if !slices.Contains(distinct, tp) && len(distinct) < maxThumbprints {
			distinct = append(distinct, tp)
		}
	}
	d.thumbprints = distinct
	where := t.Endpoint
	if t.Dial != "" {
		where += " (reached at " + t.Dial + ")"
	}
	t.Use = fmt.Sprintf("vCenter %s: user %s from %s", where, t.Account, t.Source)
	var tried []string
	for _, own := range t.Own {
		if own.Source != "" {
			tried = append(tried, own.Source)
		}
	}
	if tried != nil {
		t.Use += "; it is asked, too, whether it accepts " + strings.Join(tried, ", ")
	}
}
