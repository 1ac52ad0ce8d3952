package openstack

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"drift-detector/infra"
)

// param is how an object says which thing of OpenStack it means.
type param struct {
	given    bool
	id, name string
	query    string // where it is more than a name
	called   string // for people, where there is a query
	vague    bool   // by more than is followed here
}

// given reports whether JSON holds anything.
func given(raw string) bool {
	return raw != "" && raw != "null" && raw != "{}" && raw != "[]" && raw != `""`
}

// paramOf reads the forms of all API versions: a name, {id}, {filter: {name}}, or {name}. Of
// a filter it follows what Neutron knows. Other objects of Kubernetes make it vague.
func paramOf(raw string) param {
	p := param{given: given(raw)}
	if !p.given {
		return p
	}
	if json.Unmarshal([]byte(raw), &p.name) == nil {
		if UUIDOf(p.name) != "" {
			p.id, p.name = p.name, ""
		}
		return p
	}
	var fields, filter map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil {
		p.vague = true
		return p
	}
	text := func(from map[string]json.RawMessage, name string) (s string) {
		_ = json.Unmarshal(from[name], &s)
		return s
	}
	p.id = text(fields, "id")
	switch {
	case p.id != "":
	case fields["filter"] == nil:
		p.follow(fields)
	case json.Unmarshal(fields["filter"], &filter) != nil:
		p.vague = true
	default:
		p.follow(filter)
	}
	return p
}

// neutron are the parameters of Neutron that the members of a filter become (pkg/utils/filterconvert/convert.go
// v0.14.7, and ToListOpt in api/v1alpha7/types.go).
var neutron = map[string]string{
	"name": "name", "description": "description", "projectID": "project_id", "projectId": "project_id",
	"tags": "tags", "tagsAny": "tags-any", "notTags": "not-tags", "notTagsAny": "not-tags-any",
	"ipVersion": "ip_version", "gatewayIP": "gateway_ip", "gateway_ip": "gateway_ip", "cidr": "cidr",
	"ipv6AddressMode": "ipv6_address_mode", "ipv6RAMode": "ipv6_ra_mode",
}

// follow makes a query of a filter, unless a name is all that it asks for.
func (p *param) follow(filter map[string]json.RawMessage) {
	query := url.Values{}
	var also []string
	for _, member := range sortedNames(filter) {
		var one string
		var list []string
		var number int
		switch raw := filter[member]; {
		case !given(string(raw)):
			continue
		case json.Unmarshal(raw, &one) == nil:
		case json.Unmarshal(raw, &list) == nil:
			one = strings.Join(list, ",")
		case json.Unmarshal(raw, &number) == nil && number > 0:
			one = strconv.Itoa(number)
		}
		if neutron[member] == "" || one == "" {
			p.vague = true
			continue
		}
		query.Set(neutron[member], one)
		if member == "name" {
			p.name = one
		} else {
			also = append(also, neutron[member]+" "+one)
		}
	}
	if also != nil && !p.vague {
		p.query, p.called = query.Encode(), strings.TrimSpace(p.name+" with "+strings.Join(also, ", "))
	}
}

// with returns the param with more to ask for; a name is then no longer all.
func (p param) with(parameter, value string) param {
	if p.id != "" || p.vague || p.name == "" && p.query == "" || value == "" {
		return p
	}
	query, _ := url.ParseQuery(p.query) // of our own making
	if p.query == "" {
		query, p.called = url.Values{"name": {p.name}}, p.name
	}
	query.Set(parameter, value)
	p.query = query.Encode()
	return p
}

// anywhere returns the param as a query, which several things of any network answer.
func (p param) anywhere() param { return p.with("name", p.name) }

// queryOf makes a query of names and values.
func queryOf(pairs ...string) string {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return query.Encode()
}

// people returns what people call it, or empty.
func (p param) people() string { return cmp.Or(p.called, p.name, p.id) }

// ByName is before the name of what is looked up by it.
const ByName = "name="

// ByQuery is before a query that is more than a name.
const ByQuery = "query="

// key returns the probe of what is meant, or zero where it cannot be looked up.
func (p param) key(kind infra.KeyKind) infra.Key {
	switch {
	case p.id != "":
		return infra.Key{Kind: kind, Value: p.id}
	case p.query != "":
		return infra.Key{Kind: kind, Value: ByQuery + p.query}
	case p.vague || p.name == "":
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: ByName + p.name}
}

// idKey returns the probe of what a status records by id.
func idKey(kind infra.KeyKind, id string) infra.Key {
	if id = strings.ToLower(id); id == "" {
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: id}
}
