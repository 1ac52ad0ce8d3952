package openstack

import (
	"encoding/json"
	"strings"

	"drift-detector/infra"
)

// param is how an object says which thing of OpenStack it means.
type param struct {
	given    bool
	id, name string
	query    string // of an image, see imageOf
	vague    bool   // by more than a name, which is not followed here
}

// given reports whether JSON holds anything.
func given(raw string) bool {
	return raw != "" && raw != "null" && raw != "{}" && raw != "[]" && raw != `""`
}

// paramOf reads the forms of all API versions: a name, {id}, {filter: {name}}, or {name}.
// What a filter asks for beside a name, and other objects of Kubernetes, make it vague.
func paramOf(raw string) param {
	p := param{given: given(raw)}
	if !p.given {
		return p
	}
	if json.Unmarshal([]byte(raw), &p.name) == nil {
		if uuidOf(p.name) != "" {
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
	p.id, p.name = text(fields, "id"), text(fields, "name")
	switch {
	case fields["filter"] != nil:
		p.vague = json.Unmarshal(fields["filter"], &filter) != nil || len(filter) > 1
		p.name = text(filter, "name")
	default:
		p.vague = p.id == "" && len(fields) > 1
	}
	return p
}

// byName is before the name of what is looked up by it.
const byName = "name="

// key is the probe of what is meant, or zero where it cannot be looked up.
func (p param) key(kind infra.KeyKind) infra.Key {
	switch {
	case p.id != "":
		return infra.Key{Kind: kind, Value: p.id}
	case p.query != "":
		return infra.Key{Kind: kind, Value: byQuery + p.query}
	case p.vague || p.name == "":
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: byName + p.name}
}

// idKey is the probe of what a status records by id.
func idKey(kind infra.KeyKind, id string) infra.Key {
	if id = strings.ToLower(id); id == "" {
		return infra.Key{}
	}
	return infra.Key{Kind: kind, Value: id}
}
