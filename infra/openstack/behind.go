package openstack

import (
	"context"
	"net/url"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra"
)

// maxMembers bounds a pool that is made up: a control plane has a handful of members.
const maxMembers = 1000

// memberAnswer is what is read of a member of a pool.
type memberAnswer struct{ ID, Name, Address string }

// readMembers reads the members of the pools that are looked for and there.
func (l *listing) readMembers(ctx context.Context, service *gophercloud.ServiceClient, base string) error {
	for _, name := range sortedNames(l.pools) {
		members := map[string]string{}
		at := base + "/" + url.PathEscape(l.pools[name]) + "/members"
		page, err := readPage[memberAnswer](ctx, l, service, at, "members")
		switch {
		case err != nil:
			return err
		case page.more || len(page.items) > maxMembers:
			return answerError("a pool of an API server has more members than one page holds")
		}
		for _, m := range page.items {
			if _, taken := members[m.Name]; !taken { // CAPO takes the first of a name
				members[m.Name] = m.Address
			}
		}
		l.noteJSON(factMembers+"/"+name, members)
	}
	return nil
}

// trunks returns the probes of the trunks that CAPO wants for the ports of a machine.
func (objs *objects) trunks(m *member) (keys []infra.Key) {
	w := m.resolved()
	if w == nil || m.index < 0 || !w.trunks() {
		return nil
	}
	for i, p := range w.ports() {
		if p.isTrunk(w) {
			keys = append(keys, infra.Key{Kind: keyTrunk, Value: byName + p.named(objs.serverName(m), i)})
		}
	}
	return keys
}
