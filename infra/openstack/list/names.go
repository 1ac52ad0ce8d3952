package list

import (
	"maps"
	"slices"
	"strings"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// noteManaged notes of a thing that exists whether it has its name, and whether another one
// has it. An administrator sees those that the backup's user may not.
func (l *listing) noteManaged(kind, id string, t *thingAnswer) {
	if k, asked := l.managed[kind+"/"+id]; asked && k.Value != kind+"/"+id+"/"+t.Name {
		l.ProbesFound = append(l.ProbesFound, k)
	}
	k := infra.Key{Kind: openstack.KeyNamesakes, Value: kind + "/" + t.Name}
	l.noteUsed(kind, id, t)
	if !l.marks[k] || !l.noteForeign(kind, id, t) {
		return
	}
	if first, seen := l.named[k]; !seen {
		l.named[k] = id
		l.found(openstack.KeyManaged, k.Value)
	} else if first != id {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

// noteForeign notes a thing of another project that has a name which is looked for, and reports whether
// CAPO sees the thing: an operator's account may be an administrator's, and the backup's none.
func (l *listing) noteForeign(kind, id string, t *thingAnswer) bool {
	if t.Project == l.Identity {
		return true
	}
	if !l.cloud.own {
		id = ""
	}
	if name := openstack.FactForeign + "/" + kind + "/" + t.Name; t.Project != "" || !l.cloud.own {
		if _, noted := l.Facts.Get(name); !noted {
			l.Facts = append(l.Facts, infra.Fact{Name: name, Value: id})
		}
	}
	return l.cloud.own
}

// noteUsed notes a security group of a name that is asked for whether anything is in it, and
// several of the name. An administrator sees those of other projects, too.
func (l *listing) noteUsed(kind, id string, t *thingAnswer) {
	name := t.Name
	k := infra.Key{Kind: openstack.KeyUsed, Value: name}
	if kind != openstack.KeySecurity.String() || !l.marks[k] || !l.noteForeign(kind, id, t) {
		return
	}
	if first := l.named[k]; first != "" && first != id {
		l.several(k)
	}
	l.named[k] = id
	if l.ports.used[id] {
		l.found(openstack.KeyUsed, name)
	}
}

// noteExternal notes an external network, and that it is not the only one. An administrator
// sees those that the backup's user may not: of several that may see one, or none.
func (l *listing) noteExternal(t *thingAnswer) {
	switch one := (infra.Key{Kind: openstack.KeyExternal, Value: openstack.OneExternal}); {
	case !t.External, slices.Contains(l.Unread, one.Kind):
	case l.external == "" || l.external == t.ID:
		l.external = t.ID
		l.found(one.Kind, one.Value)
	case l.cloud.own:
		l.found(one.Kind, openstack.SeveralExternal)
	default:
		l.ProbesFound = slices.DeleteFunc(l.ProbesFound, func(k infra.Key) bool { return k == one })
		l.refuse(one.Kind, "several external networks are seen, and which of them the account of "+l.target.Subject.The()+" sees is not known", false)
	}
}

// noteLost notes the floating IPs that a server is to have and has not.
func (l *listing) noteLost(server string, has []string) {
	for _, ip := range l.kept[server] {
		if !slices.Contains(has, ip) {
			l.found(openstack.KeyLost, infra.Join(server, ip))
		}
	}
}

// noteRules notes the rules of a security group that CAPO made, in the answer that names it.
func (l *listing) noteRules(t *thingAnswer) {
	id := strings.ToLower(t.ID)
	if k := (infra.Key{Kind: openstack.KeyNamesakes, Value: openstack.KeySecurity.String() + "/" + t.Name}); t.Rules == nil || !l.marks[k] || l.named[k] != id {
		return
	}
	f := openstack.GroupFact{ID: id, Rules: []string{}}
	for i := range t.Rules {
		f.Rules = append(f.Rules, infra.Brief(t.Rules[i].Text()+" "+t.Rules[i].Description))
	}
	slices.Sort(f.Rules)
	l.noteJSON(openstack.FactRules+"/"+t.Name, f)
	l.noteTags(infra.Key{Kind: openstack.KeyManaged, Value: openstack.KeySecurity.String() + "/" + t.Name}, t.Tags)
}

// noteTags notes the tags of what CAPO sets them on.
func (l *listing) noteTags(of infra.Key, tags []string) {
	for i := range tags {
		tags[i] = infra.Brief(tags[i])
	}
	l.noteJSON(openstack.FactTags+"/"+of.Kind.String()+"/"+of.Value, append([]string{}, tags...))
}

// noteRouted notes, of each network that CAPO made, what has a port in it and is no server: routers.
func (l *listing) noteRouted() {
	devices := map[string][]string{}
	for network := range l.recorded.Networks {
		devices[network] = nil
	}
	for device, at := range l.ports.at {
		if id, _ := idOf(device); !l.seen[id] {
			for _, network := range at.Networks {
				devices[network] = append(devices[network], device)
			}
		}
	}
	for _, network := range slices.Sorted(maps.Keys(devices)) {
		l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactRouted + "/" + network, Value: strings.Join(slices.Sorted(slices.Values(devices[network])), " ")})
	}
}

// noteGateway notes the external addresses of a router whose id is looked for.
func (l *listing) noteGateway(id string, t *thingAnswer) {
	name := openstack.FactGateway + "/" + id
	if _, noted := l.Facts.Get(name); noted || !l.marks[infra.Key{Kind: openstack.KeyRouter, Value: id}] {
		return
	}
	addresses := []string{}
	for _, ip := range t.Gateway.IPs {
		addresses = append(addresses, infra.Brief(ip.Address))
	}
	l.noteJSON(name, addresses)
}
