package list

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"drift-detector/infra"
	"drift-detector/infra/openstack"
)

// idBatch is how many ids one question asks for: more make a URL that some proxies refuse.
const idBatch = 40

// nameBatch is the same for names, which are longer, and of which Neutron takes several.
const nameBatch = 20

// lookup finds out which things of one kind exist. Each kind may fail by itself: it is
// then unread, which says neither present nor absent.
type lookup struct {
	kind    infra.KeyKind
	service string
	// path and member are where the things are listed: "networks", and under which name.
	path, member string
	// byName is the member of a thing by which it is looked up where no id is given.
	byName string
	// whole says that the list takes no filter.
	whole bool
	// each says that every id is asked for by itself: the list leaves out some.
	each bool
}

var lookups = []lookup{
	{kind: openstack.KeyNetwork, service: typeNetwork, path: "networks", member: "networks", byName: "name"},
	{kind: openstack.KeyExternal, service: typeNetwork, path: "networks?router:external=true", member: "networks", whole: true},
	{kind: openstack.KeySubnet, service: typeNetwork, path: "subnets", member: "subnets", byName: "name"},
	{kind: openstack.KeyInside, service: typeNetwork, path: "subnets", member: "subnets", each: true},
	{kind: openstack.KeyRouter, service: typeNetwork, path: "routers", member: "routers", byName: "name"},
	{kind: openstack.KeySecurity, service: typeNetwork, path: "security-groups", member: "security_groups", byName: "name"},
	{kind: openstack.KeyFloating, service: typeNetwork, path: "floatingips", member: "floatingips", byName: "floating_ip_address"},
	{kind: openstack.KeyBalancer, service: typeBalancer, path: "lbaas/loadbalancers", member: "loadbalancers", byName: "name"},
	{kind: openstack.KeyListener, service: typeBalancer, path: "lbaas/listeners", member: "listeners", byName: "name"},
	{kind: openstack.KeyPool, service: typeBalancer, path: "lbaas/pools", member: "pools", byName: "name"},
	{kind: openstack.KeyExtension, service: typeNetwork, path: "extensions", member: "extensions", whole: true},
	{kind: openstack.KeyTrunk, service: typeNetwork, path: "trunks", member: "trunks", byName: "name"},
	{kind: openstack.KeyZone, service: typeCompute, path: "os-availability-zone", member: "availabilityZoneInfo", whole: true},
	{kind: openstack.KeyImage, service: typeImage, path: "images", member: "images", byName: "name", each: true},
	{kind: openstack.KeyFlavor, service: typeCompute, path: "flavors/detail", member: "flavors", whole: true},
	{kind: openstack.KeyServerGroup, service: typeCompute, path: "os-server-groups", member: "server_groups", whole: true},
	{kind: openstack.KeyKeyPair, service: typeCompute, path: "os-keypairs", member: "keypairs", whole: true},
}

// thingAnswer is what is read of a thing.
type thingAnswer struct {
	ID, Name, Status string
	Provisioning     string                 `json:"provisioning_status"` // of a load balancer
	VIPPort          string                 `json:"vip_port_id"`         // likewise
	VIP              string                 `json:"vip_address"`         // likewise
	IPVersion        int                    `json:"ip_version"`          // of a subnet
	Project          string                 `json:"project_id"`
	Network          string                 `json:"network_id"` // of a subnet
	Address          string                 `json:"floating_ip_address"`
	Port             string                 `json:"port_id"` // of a floating IP
	External         bool                   `json:"router:external"`
	KeyPair          *struct{ Name string } `json:"keypair"`
	Rules            []openstack.GroupRule  `json:"security_group_rules"`
	Tags             []string
	Alias            string                // of an extension
	Balancers        []struct{ ID string } `json:"loadbalancers"`   // of a listener
	Pool             string                `json:"default_pool_id"` // likewise
	CIDRs            []string              `json:"allowed_cidrs"`   // likewise
	DNS              []string              `json:"dns_nameservers"` // of a subnet
	Gateway          struct {
		IPs []struct {
			Address string `json:"ip_address"`
		} `json:"external_fixed_ips"`
	} `json:"external_gateway_info"` // of a router
}

// readProbes looks for the things that the backup names.
func (l *listing) readProbes(ctx context.Context) {
	for i := range lookups {
		look := &lookups[i]
		ids, names, queries := l.askedOf(look.kind)
		if len(ids)+len(names)+len(queries) == 0 {
			continue
		}
		if err := l.lookUp(ctx, look, ids, names, queries); err != nil {
			// Of a name that is found there may be several.
			l.ProbesFound = slices.DeleteFunc(l.ProbesFound, func(k infra.Key) bool { return k.Kind == look.kind && strings.HasPrefix(k.Value, openstack.ByName) })
			l.unread(ctx, look, err)
		}
	}
}

// askedOf returns the ids, names and queries of the probes of a kind.
func (l *listing) askedOf(kind infra.KeyKind) (ids, names, queries []string) {
	for k := range l.marks {
		value := k.Value
		if k.Kind == openstack.KeyOwn || k.Kind == openstack.KeyNamesakes {
			of, rest, _ := strings.Cut(value, "/")
			if of != kind.String() {
				continue
			}
			if value = rest; k.Kind == openstack.KeyNamesakes {
				value = openstack.ByName + rest
			}
		} else if k.Kind == openstack.KeyUsed && kind == openstack.KeySecurity {
			value = openstack.ByName + value
		} else if k.Kind != kind {
			continue
		}
		if kind == openstack.KeyImage && (strings.HasPrefix(value, openstack.ByName) || strings.HasPrefix(value, openstack.ByQuery)) {
			names = append(names, value)
		} else if query, ok := strings.CutPrefix(value, openstack.ByQuery); ok {
			queries = append(queries, query)
		} else if name, ok := strings.CutPrefix(value, openstack.ByName); ok {
			names = append(names, name)
		} else if kind == openstack.KeyFloating || kind == openstack.KeyKeyPair {
			names = append(names, value)
		} else {
			ids = append(ids, value)
		}
	}
	slices.Sort(ids)
	slices.Sort(names)
	slices.Sort(queries)
	return slices.Compact(ids), slices.Compact(names), slices.Compact(queries)
}

// errNoService says that the catalogue has no such service, or one at a host that nobody
// allowed.
var errNoService = answerError("the cloud offers no such service that may be asked")

// errOtherUser says that key pairs are seen by the user who made them alone.
var errOtherUser = answerError("key pairs are their user's own, and that user is not the one who asks")

func (l *listing) lookUp(ctx context.Context, look *lookup, ids, names, queries []string) error {
	service := l.cloud.services[look.service]
	switch {
	case service == nil:
		return errNoService
	case look.kind == openstack.KeyKeyPair && !l.cloud.own:
		return errOtherUser
	}
	base := service.Endpoint
	switch look.service {
	case typeNetwork, typeBalancer:
		base = v2(base)
	case typeImage:
		if !strings.HasSuffix(base, "/v2/") {
			base += "v2/"
		}
	}
	base += look.path
	var questions []string
	switch {
	case look.whole:
		questions = append(questions, base)
	case look.kind == openstack.KeyInside:
		for _, id := range ids {
			if err := l.countSubnets(ctx, service, look, base, id); err != nil {
				return err
			}
		}
	case look.each:
		for _, id := range ids {
			if err := l.lookUpOne(ctx, service, look, base, id); err != nil {
				return err
			}
		}
		for _, asked := range names {
			if err := l.lookUpImages(ctx, service, look, base, asked); err != nil {
				return err
			}
		}
	default:
		for batch := range slices.Chunk(ids, idBatch) {
			questions = append(questions, base+"?"+url.Values{"id": batch}.Encode())
		}
	}
	if !look.whole && !look.each {
		batch := 1
		if look.service == typeNetwork {
			batch = nameBatch
		}
		for some := range slices.Chunk(names, batch) {
			questions = append(questions, base+"?"+url.Values{look.byName: some}.Encode())
		}
	}
	for _, q := range questions {
		if err := l.ask(ctx, service, look, q); err != nil {
			return err
		}
	}
	for _, query := range queries {
		if err := l.lookUpQuery(ctx, service, look, base, query); err != nil {
			return err
		}
	}
	switch look.kind {
	case openstack.KeyFloating:
		return l.followFloating(ctx, service)
	case openstack.KeyPool:
		return l.readMembers(ctx, service, base)
	}
	return nil
}

// lookUpQuery asks what CAPO asks where it has more than a name. Of security groups it asks
// for its own project's, and takes all that there are.
func (l *listing) lookUpQuery(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, base, query string) error {
	k, found := infra.Key{Kind: look.kind, Value: openstack.ByQuery + query}, map[string]bool{}
	if look.kind == openstack.KeySecurity && !strings.Contains(query, "project_id=") {
		query += "&project_id=" + url.QueryEscape(l.Identity)
	}
	var one thingAnswer
	err := l.pages(ctx, service, look, base+"?"+query, func(t *thingAnswer) {
		one = *t
		if found[strings.ToLower(t.ID)] = true; look.kind == openstack.KeySubnet && len(found) == 1 {
			l.noteJSON(openstack.FactNameservers+"/"+k.Value, append([]string{}, t.DNS...))
		}
	})
	if err == nil && len(found) == 1 {
		l.noteAnswer(k, strings.ToLower(one.ID), one.Network)
	}
	if err == nil && len(found) > 0 {
		l.ProbesFound = append(l.ProbesFound, k)
	}
	if err == nil && len(found) > 1 && look.kind != openstack.KeySecurity {
		l.several(k)
	}
	return err
}

// countSubnets notes the subnets of a network, by their versions of IP.
func (l *listing) countSubnets(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, base, network string) error {
	versions := map[string]string{}
	err := l.pages(ctx, service, look, base+"?"+url.Values{"network_id": {network}}.Encode(), func(t *thingAnswer) { versions[t.ID] = strconv.Itoa(t.IPVersion) })
	if err != nil {
		return err
	}
	l.found(openstack.KeyInside, network)
	l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactSubnets + "/" + network, Value: strings.Join(slices.Sorted(maps.Values(versions)), " ")})
	return nil
}

// several notes that more than one thing answers a probe of which CAPO takes the only one.
func (l *listing) several(k infra.Key) {
	if slices.Contains(l.Ambiguous, k) {
		return
	}
	l.ProbesFound, l.Ambiguous = append(l.ProbesFound, k), append(l.Ambiguous, k)
	name, isQuery := strings.CutPrefix(k.Value, openstack.ByQuery)
	if query, err := url.ParseQuery(name); isQuery && err == nil && query.Has("name") {
		name = query.Get("name")
	}
	name = strings.TrimPrefix(name, openstack.ByName)
	l.Warnings = append(l.Warnings, fmt.Sprintf("%s: there are several with the name %s (%s): CAPO takes none of them, so that one has to be renamed", where(l.target), l.target.Redaction.Brief(name), k.Kind))
}

// ask reads one list to its end and notes what is among the probes.
func (l *listing) ask(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, question string) error {
	return l.pages(ctx, service, look, question, func(t *thingAnswer) { l.noteThing(look.kind, t) })
}

// pages reads one list to its end.
func (l *listing) pages(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, question string, take func(*thingAnswer)) error {
	at, marker := question, ""
	var markers markers
	for range maxPages {
		page, err := readPage[thingAnswer](ctx, l, service, at, look.member)
		if err != nil {
			return err
		}
		for i := range page.items {
			take(&page.items[i])
		}
		if !page.more {
			return nil
		}
		marker = page.items[len(page.items)-1].ID
		if err := markers.add(marker); err != nil {
			return err
		}
		u, err := url.Parse(question)
		if err != nil {
			return err
		}
		query := u.Query()
		query.Set("marker", marker)
		u.RawQuery = query.Encode()
		at = u.String()
	}
	return answerError(fmt.Sprintf("there are more than %d pages", maxPages))
}

// lookUpOne asks for one thing by its id.
func (l *listing) lookUpOne(ctx context.Context, service *gophercloud.ServiceClient, look *lookup, base, id string) error {
	var one thingAnswer
	err := l.retry.Do(ctx, func() error {
		one = thingAnswer{}
		_, err := service.Get(ctx, base+"/"+url.PathEscape(id), &one, nil)
		return err
	})
	switch {
	case codeOf(err) == http.StatusNotFound:
		return nil
	case err != nil:
		return err
	case one.ID != id:
		return answerError("the answer is about something else than what was asked for")
	}
	l.noteThing(look.kind, &one)
	return nil
}

// noteThing notes a thing that exists, by its id and by its name, and that the project
// owns it.
func (l *listing) noteThing(kind infra.KeyKind, t *thingAnswer) {
	switch {
	case kind == openstack.KeyKeyPair && t.KeyPair != nil:
		l.found(kind, t.KeyPair.Name)
		return
	case kind == openstack.KeyExternal:
		l.noteExternal(t)
		return
	case kind == openstack.KeyFloating:
		l.found(kind, t.Address)
		if l.marks[infra.Key{Kind: kind, Value: t.Address}] {
			l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactFloating + "/" + t.Address, Value: strings.ToLower(t.Port)})
		}
		if t.Port != "" && l.marks[infra.Key{Kind: openstack.KeyElsewhere, Value: t.Address}] {
			l.floating[strings.ToLower(t.Port)] = t.Address
		}
		return
	case kind == openstack.KeyZone, kind == openstack.KeyExtension:
		l.found(kind, t.Alias) // of a zone none is asked for
		l.found(kind, openstack.Listed)
		return
	case kind == openstack.KeyListener, kind == openstack.KeyPool:
		l.noteBehind(kind, t)
		return
	case kind == openstack.KeyTrunk:
		k := infra.Key{Kind: kind, Value: openstack.ByName + t.Name}
		if l.found(k.Kind, k.Value); l.marks[k] {
			l.noteTags(k, t.Tags)
		}
		return
	case kind == openstack.KeyImage && t.Status != "active": // no server can be made of it
		l.Facts = append(l.Facts, infra.Fact{Name: openstack.FactInactive + "/" + t.ID, Value: infra.Brief(t.Status)})
		return
	case kind == openstack.KeyBalancer && !l.noteBalancer(t):
		return
	}
	id := strings.ToLower(t.ID)
	l.found(kind, t.ID)
	l.found(kind, id)
	if kind != openstack.KeySecurity || t.Project == l.Identity { // CAPO asks for its own project's
		l.noteName(infra.Key{Kind: kind, Value: openstack.ByName + t.Name}, id, t.Network)
	}
	if kind == openstack.KeySubnet {
		l.noteAnswer(infra.Key{Kind: kind, Value: id}, id, t.Network)
	}
	l.noteManaged(kind.String(), id, t)
	switch kind {
	case openstack.KeySecurity:
		l.noteRules(t)
	case openstack.KeyRouter:
		l.noteGateway(id, t)
	}
	if t.Project != "" && t.Project == l.Identity {
		l.found(openstack.KeyOwn, kind.String()+"/"+id)
	}
}

// noteBalancer notes a load balancer of a name that is looked for, and reports whether it is
// there to stay.
func (l *listing) noteBalancer(t *thingAnswer) bool {
	if l.marks[infra.Key{Kind: openstack.KeyBalancer, Value: openstack.ByName + t.Name}] {
		f := infra.Fact{Name: openstack.FactBalancer + "/" + t.Name, Value: infra.Brief(strings.ToLower(t.ID) + " " + t.Provisioning + " " + strings.ToLower(t.VIPPort) + " " + t.VIP)}
		if !slices.Contains(l.Facts, f) { // found by its id as well
			l.Facts = append(l.Facts, f)
		}
	}
	return t.Provisioning != "PENDING_DELETE" && t.Provisioning != "DELETED"
}

// noteName notes a name that is looked for. Of several things of one name CAPO takes none,
// except of security groups: which one is meant is not known. It looks for subnets in a
// network.
func (l *listing) noteName(k infra.Key, id, network string) {
	if !l.marks[k] {
		return
	}
	within := infra.Key{Kind: k.Kind, Value: infra.Join(network, k.Value)}
	first, seen := l.named[within]
	switch {
	case !seen:
		l.named[within] = id
		l.ProbesFound = append(l.ProbesFound, k)
		l.noteAnswer(k, id, network)
	case k.Kind == openstack.KeySecurity, k.Kind == openstack.KeyFlavor, k.Kind == openstack.KeyBalancer: // CAPO takes all of them, or the first
	case first != id:
		l.several(k)
	}
}

// noteAnswer notes what answers a probe of what CAPO writes into a cluster's status. Where things
// of several networks have the name, each of them does.
func (l *listing) noteAnswer(k infra.Key, id, network string) {
	f := infra.Fact{Name: openstack.FactFound + "/" + k.Kind.String() + "/" + k.Value, Value: strings.TrimSpace(infra.Brief(id + " " + strings.ToLower(network)))}
	switch k.Kind {
	case openstack.KeyNetwork, openstack.KeySubnet, openstack.KeyRouter:
		if l.marks[k] && !slices.Contains(l.Facts, f) { // found by its id and by its name
			l.Facts = append(l.Facts, f)
		}
	}
}

// found notes a probe, if it is one that is looked for.
func (l *listing) found(kind infra.KeyKind, name string) {
	if k := (infra.Key{Kind: kind, Value: name}); l.marks[k] {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

// unread notes that nothing is known of the things of a kind.
func (l *listing) unread(ctx context.Context, look *lookup, err error) {
	f := listFault(ctx, l.target, "reading the "+openstack.PeopleCall(look.kind)+" that "+l.target.Subject.The()+" names", err)
	if err == errNoService || err == errOtherUser {
		f.Hint = "whether they exist is not known"
		if foreign := (&foreignError{at: l.cloud.foreign}).flags(); err == errNoService && foreign != "" {
			f.Hint += "; services at other hosts are asked where you allow it: " + l.target.Redaction.Brief(foreign)
		}
	}
	why := fmt.Sprintf("%s; %s", f.Message, f.Hint)
	l.Warnings = append(l.Warnings, why)
	switch codeOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		l.refuse(look.kind, f.Message, true)
	default:
		l.refuse(look.kind, why, err == errNoService && l.cloud.absent[look.service])
	}
}
