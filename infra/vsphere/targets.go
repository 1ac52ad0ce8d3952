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

// Detail is what a listing needs beside the credential: the Detail of a Target. It holds no
// secret.
type Detail struct {
	Server      infra.Endpoint
	Trust       infra.Trust
	Thumbprints []string // to be tried in this order; empty: trust as it is
	Pins        []string // those of the backup, whatever the operator gave
	Recorded    *RecordedMachines
}

// Borrow takes the certificates that go with a credential, see [infra.Target.Borrow].
func (d *Detail) Borrow(from any) {
	if o, ok := from.(*Detail); ok {
		d.Thumbprints, d.Trust = o.Thumbprints, o.Trust
	}
}

// RecordedMachines are the machines that the backup records. The zero value records none.
type RecordedMachines struct {
	// Servers are vCenters by the BIOS UUID of a machine: a VM that has one is
	// known, and its own metadata is left alone.
	Servers map[string]string
	// Folders are the BIOS UUIDs of the machines in each folder, empty for a
	// machine without one.
	Folders map[string][]string
	PCI     map[string]bool // BIOS UUIDs of the machines that name PCI devices
	Groups  bool            // a failure domain names a VM group
	marks   *marks
}

func (objs *objects) recordedMachines() *RecordedMachines {
	c := &RecordedMachines{Servers: map[string]string{}, Folders: map[string][]string{}, PCI: map[string]bool{}, marks: objs.marks()}
	for d := range domains.In(objs.snapshot).All() {
		c.Groups = c.Groups || d.Data.Group != ""
	}
	for i := range objs.members {
		m := &objs.members[i]
		if _, taken := c.Servers[m.strong.Value]; !taken && !m.strong.IsZero() {
			c.Servers[m.strong.Value] = m.at.Server
		}
		if m.machine != nil && len(objs.restOf(m).PCIDevices) > 0 {
			c.PCI[m.strong.Value] = true
		}
		if m.unplaced == "" {
			c.Folders[m.at.Folder] = append(c.Folders[m.at.Folder], m.strong.Value)
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
		if c, ok := t.Credential.(Credential); ok && t.Refused == nil {
			k := login{h.server, c.User.Reveal(), c.Password.Reveal()}
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

func (objs *objects) target(h *homeScope, secrets *backup.Secrets, a infra.Access, known *RecordedMachines) infra.Target {
	t := infra.Target{IDs: h.ids(), Provider: Name, Endpoint: h.server, Clusters: h.clusters}
	for _, f := range h.folders {
		t.Probes = append(t.Probes, infra.Key{Kind: KeyFolder, Value: f}, inhabitedKey(f), readKey(f))
	}
	t.Probes = append(append(t.Probes, KnownKey(h.server)), h.needed...)
	server, err := infra.ParseEndpoint(h.raw)
	if err != nil {
		t.Endpoint, t.Refused = objs.refusedServer(h, err)
		return t
	}
	if dial := a.DialAddress(server); dial != server.String() {
		t.Dial = dial
	}
	given, ok := a.CredentialFor(server.String())
	d := &Detail{
		Server: server, Thumbprints: h.thumbprints, Pins: h.thumbprints, Recorded: known,
		Trust: infra.Trust{ServerName: server.Host, Thumbprint: given.Thumbprint, CA: given.CA, Insecure: a.InsecureSkipVerify},
	}
	if given.Thumbprint != "" || len(given.CA) > 0 {
		d.Thumbprints = nil // the operator knows better than the backup
	}
	t.Detail = d
	own, fault := objs.credentialOf(h, secrets)
	f, overridden := override(given, ok)
	switch {
	case overridden && fault == nil:
		t.Own = []infra.Own{{IDs: t.IDs, Source: own.source, Credential: own.Credential}}
	case overridden:
		t.Own = []infra.Own{{IDs: t.IDs}}
	case fault != nil:
		d.Thumbprints, d.Pins = nil, nil // whoever may not log in names no certificate either
		t.Refused = fault
		t.Refused.Message = fmt.Sprintf("no credential for vCenter %s: %s", server, t.Refused.Message)
		return t
	default:
		f = own
	}
	t.Credential, t.Source, t.Warnings = f.Credential, f.source, slices.Concat(f.warnings, h.ignored)
	t.Redaction = infra.NewRedaction(f.Password, own.Password)
	t.Account = strings.TrimSpace(f.User.Reveal())
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
	to, from := into.Detail.(*Detail), t.Detail.(*Detail)
	to.Thumbprints, to.Pins = append(to.Thumbprints, from.Thumbprints...), append(to.Pins, from.Pins...)
	for _, own := range t.Own {
		if c, ok := own.Credential.(Credential); ok {
			into.Redaction.Add(c.Password)
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
	d, ok := t.Detail.(*Detail)
	if !ok || t.Refused != nil {
		return
	}
	var distinct []string
	for _, tp := range d.Thumbprints {
		if !slices.Contains(distinct, tp) && len(distinct) < maxThumbprints {
			distinct = append(distinct, tp)
		}
	}
	d.Thumbprints = distinct
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
