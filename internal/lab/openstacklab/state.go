package openstacklab

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// files are the recorded listings; the name of the listing is also that of the list in it.
var files = map[string]string{
	"servers": "servers-detail.json", "networks": "networks.json", "subnets": "subnets.json", "ports": "ports.json",
	"routers": "routers.json", "floatingips": "floatingips.json", "security_groups": "security-groups.json",
	"server_groups": "server-groups.json", "images": "images.json", "flavors": "flavors.json", "projects": "projects.json",
}

// read reads a folder of recorded answers.
func (s *Server) read(folder string) error {
	for kind, file := range files {
		var listing map[string]json.RawMessage
		if err := decode(filepath.Join(folder, file), &listing); err != nil {
			return err
		}
		var all []Object
		if err := json.Unmarshal(listing[kind], &all); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		s.objects[kind] = all
	}
	var token struct{ Token Object }
	if err := decode(filepath.Join(folder, "token.json"), &token); err != nil {
		return err
	}
	s.token = token.Token
	for _, service := range list(s.token, "catalog") {
		for _, endpoint := range list(service, "endpoints") {
			s.recorded[text(service, "type")] = text(endpoint, "url")
		}
	}
	versions, err := os.ReadFile(filepath.Join(folder, "versions-compute.json"))
	s.versions = string(versions)
	return err
}

func decode(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

// text returns a field that holds a string, or "".
func text(o Object, field string) string {
	v, _ := o[field].(string)
	return v
}

// list returns a field that holds objects.
func list(o Object, field string) []Object {
	var all []Object
	items, _ := o[field].([]any)
	for _, i := range items {
		if o, ok := i.(Object); ok {
			all = append(all, o)
		}
	}
	return all
}

// Edit calls edit for a copy of each object of a kind, "servers", and removes those that
// it does not keep. Key pairs are "keypairs"; none were recorded.
func (s *Server) Edit(kind string, edit func(Object) (keep bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []Object
	for _, o := range s.objects[kind] {
		o = copied(o)
		if edit(o) {
			kept = append(kept, o)
		}
	}
	s.objects[kind] = kept
}

// Objects returns copies of all objects of a kind, in order.
func (s *Server) Objects(kind string) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Object
	for _, o := range s.objects[kind] {
		all = append(all, copied(o))
	}
	return all
}

// Add adds objects before the others: nova lists the newest server first.
func (s *Server) Add(kind string, objects ...Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[kind] = append(slices.Clone(objects), s.objects[kind]...)
}

// Like adds a copy of the server of a name with another name and id: with a port, too, if
// made is true, as CAPO makes it.
func (s *Server) Like(server, name, id string, made bool) {
	o, port := s.server(server)
	o["name"], o["id"], o["OS-EXT-SRV-ATTR:hostname"] = name, id, name
	s.Add("servers", o)
	port["id"], port["device_id"], port["name"] = "5"+id[1:], id, name+"-0"
	if !made {
		port["name"], port["description"] = "", ""
	}
	s.Add("ports", port)
}

// server returns a copy of the server of a name, and of its port.
func (s *Server) server(name string) (server, port Object) {
	for _, o := range s.Objects("servers") {
		if text(o, "name") == name {
			server = o
		}
	}
	for _, o := range s.Objects("ports") {
		if server != nil && o["device_id"] == server["id"] {
			port = o
		}
	}
	if port == nil {
		panic("the lab's OpenStack has no server with a port: " + name)
	}
	return server, port
}

// Delete lets objects of a kind be gone, by their ids. The port of a deleted server
// stays, without a device, as it does when a server is deleted that came with a port.
func (s *Server) Delete(kind string, ids ...string) {
	s.Edit(kind, func(o Object) bool { return !slices.Contains(ids, text(o, "id")) })
	if kind == "servers" {
		s.Edit("ports", func(o Object) bool {
			if slices.Contains(ids, text(o, "device_id")) {
				o["device_id"], o["device_owner"], o["status"] = "", "", "DOWN"
			}
			return true
		})
	}
}

// Stop lets servers be stopped, by their ids.
func (s *Server) Stop(ids ...string) {
	s.Status("SHUTOFF", ids...)
}

// Status gives servers a status of nova's, "ERROR", with the states that go with it.
func (s *Server) Status(status string, ids ...string) {
	states := map[string]struct {
		vm    string
		power int
	}{
		"ACTIVE": {"active", 1}, "SHUTOFF": {"stopped", 4}, "ERROR": {"error", 1}, "BUILD": {"building", 0}, "PAUSED": {"paused", 3},
		"SUSPENDED": {"suspended", 4}, "SHELVED_OFFLOADED": {"shelved_offloaded", 4}, "SOFT_DELETED": {"soft-delete", 4},
	}
	s.Edit("servers", func(o Object) bool {
		if slices.Contains(ids, text(o, "id")) {
			o["status"] = status
			if known, ok := states[status]; ok {
				o["OS-EXT-STS:vm_state"], o["OS-EXT-STS:power_state"] = known.vm, known.power
			}
		}
		return true
	})
}

// Rename gives a server another name. Its port and its hostname keep the old one.
func (s *Server) Rename(id, name string) {
	s.Edit("servers", func(o Object) bool {
		if text(o, "id") == id {
			o["name"] = name
		}
		return true
	})
}

// CellDown lets the cell of some servers be down: from microversion 2.69 on they are
// listed with next to nothing, and before it not at all.
func (s *Server) CellDown(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.down[id] = true
	}
}

// ExpireTokens ends all tokens that were given.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Endpoint lets the catalogue name another URL for a service: "identity", "compute",
// "network", "image". A type that was not recorded is added, "" takes one away.
func (s *Server) Endpoint(service, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved[service] = url
}

// copied returns a copy of JSON, all the way down.
func copied(o Object) Object {
	c := maps.Clone(o)
	for k, v := range c {
		c[k] = copiedValue(v)
	}
	return c
}

func copiedValue(v any) any {
	switch v := v.(type) {
	case Object:
		return copied(v)
	case []any:
		c := slices.Clone(v)
		for i := range c {
			c[i] = copiedValue(c[i])
		}
		return c
	}
	return v
}

// count returns how many objects of a kind there are, the synthetic ones included.
func (s *Server) count(kind string) int {
	n := len(s.objects[kind])
	if kind == "servers" || kind == "ports" {
		n += s.options.Synthetic
	}
	return n
}

// at returns one of the objects of a kind. It must not be changed. Synthetic ones are made
// when they are asked for, so that many of them take no memory.
func (s *Server) at(kind string, i int) Object {
	have := s.objects[kind]
	if i < len(have) {
		return have[i]
	}
	i -= len(have)
	server := fmt.Sprintf("77777777-7777-4777-8777-%012x", i)
	project := text(s.token["project"].(Object), "id")
	first := maps.Clone(have[0])
	first["tenant_id"], first["created"] = project, time.Date(2025, 1, 1, 0, 0, -i, 0, time.UTC).Format(time.RFC3339)
	if kind == "ports" {
		first["id"], first["device_id"], first["name"], first["description"] = strings.Replace(server, "7", "8", 1), server, "", ""
		first["project_id"], first["fixed_ips"] = project, []any{}
		first["network_id"], first["security_groups"] = "99999999-9999-4999-8999-999999999999", []any{}
		return first
	}
	first["id"], first["name"], first["OS-EXT-SRV-ATTR:hostname"] = server, fmt.Sprintf("batch-%05d", i), fmt.Sprintf("batch-%05d", i)
	first["security_groups"], first["tags"], first["status"] = []any{Object{"name": "default"}}, []any{}, "ACTIVE"
	first["addresses"] = Object{"batch": []any{Object{"version": 4, "addr": fmt.Sprintf("10.64.%d.%d", i/250, i%250+1), "OS-EXT-IPS:type": "fixed"}}}
	return first
}
