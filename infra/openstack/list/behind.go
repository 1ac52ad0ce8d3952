package list

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// maxMembers bounds a pool that is made up: a control plane has a handful of members.
const maxMembers = 1000

// memberAnswer is what is read of a member of a pool.
type memberAnswer struct{ ID, Name, Address string }

// readMembers reads the members of the pools that are looked for and there.
func (l *listing) readMembers(ctx context.Context, service *gophercloud.ServiceClient, base string) error {
	for _, name := range slices.Sorted(maps.Keys(l.pools)) {
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
		l.noteJSON(openstack.FactMembers+"/"+name, members)
	}
	return nil
}

// noteBehind notes a listener or a pool of a name that is looked for: of several CAPO takes the
// first.
func (l *listing) noteBehind(kind infra.KeyKind, t *thingAnswer) {
	k := infra.Key{Kind: kind, Value: openstack.ByName + t.Name}
	if !l.marks[k] || l.named[k] != "" {
		return
	}
	l.named[k] = t.ID
	l.ProbesFound = append(l.ProbesFound, k)
	if kind == openstack.KeyPool {
		l.pools[t.Name] = t.ID
		return
	}
	f := openstack.Listener{Pool: t.Pool, CIDRs: t.CIDRs}
	for _, b := range t.Balancers[:min(1, len(t.Balancers))] {
		f.Balancer = b.ID
	}
	l.noteJSON(openstack.FactListener+"/"+t.Name, f)
}

func (l *listing) noteJSON(name string, of any) {
	text, _ := json.Marshal(of)
	l.Facts = append(l.Facts, infra.Fact{Name: name, Value: string(text)})
}
