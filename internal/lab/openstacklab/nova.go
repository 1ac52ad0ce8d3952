package openstacklab

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

var aVersion = regexp.MustCompile(`^[1-9]\d*\.(0|[1-9]\d*)$`)

// minor returns the second number of a microversion: 104 of "2.104"; -1 when it is none.
func minor(version string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(version, "2."))
	if err != nil || !strings.HasPrefix(version, "2.") {
		return -1
	}
	return n
}

// microversion returns what a request asks for, or answers why it cannot have it.
func (s *Server) microversion(w http.ResponseWriter, r *http.Request) (minorVersion int, ok bool) {
	version, by := r.Header.Get("X-OpenStack-Nova-API-Version"), "X-OpenStack-Nova-API-Version"
	if v, is := strings.CutPrefix(r.Header.Get("OpenStack-API-Version"), "compute "); is {
		version, by = v, "OpenStack-API-Version"
	}
	switch version {
	case "":
		version = "2.1"
	case "latest":
		version = s.options.Microversion
	}
	if !aVersion.MatchString(version) {
		novaSays(w, http.StatusBadRequest, "badRequest", "API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", version)
		return 0, false
	}
	w.Header().Set("Vary", by)
	w.Header().Set("X-OpenStack-Nova-API-Version", version)
	w.Header().Set("OpenStack-API-Version", "compute "+version)
	n := minor(version)
	switch {
	case n < 1 || n > minor(s.options.Microversion):
		novaSays(w, http.StatusNotAcceptable, "computeFault",
			"Version %s is not supported by the API. Minimum is 2.1 and maximum is %s.", version, s.options.Microversion)
	default:
		return n, true
	}
	return 0, false
}

func novaSays(w http.ResponseWriter, status int, word, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	answer(w, status, refusal(word, status, format, args...))
}

func (s *Server) nova() http.Handler {
	mux := http.NewServeMux()
	// The address that nova's links have is the one that it was asked at.
	here := func(r *http.Request) string {
		if s.options.TLS {
			return "https://" + r.Host
		}
		return "http://" + r.Host
	}
	versions := func(r *http.Request) string {
		v := strings.ReplaceAll(s.versions, strings.TrimSuffix(s.recorded["compute"], "/v2.1"), here(r))
		return strings.ReplaceAll(v, `"2.104"`, strconv.Quote(s.options.Microversion))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(versions(r)))
	})
	for _, path := range []string{"GET /v2.1", "GET /v2.1/{$}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			answer(w, http.StatusOK, Object{"version": Object{
				"id": "v2.1", "status": "CURRENT", "version": s.options.Microversion, "min_version": "2.1", "updated": "2013-07-23T11:33:21Z",
				"links":       []Object{{"rel": "self", "href": here(r) + "/v2.1/"}},
				"media-types": []Object{{"base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1"}},
			}})
		})
	}
	handle := func(path string, serve func(*novaCall)) {
		mux.HandleFunc("GET /v2.1"+path, s.known(func(w http.ResponseWriter, r *http.Request, project string) {
			v, ok := s.microversion(w, r)
			switch {
			case !ok:
			case project == "":
				novaSays(w, http.StatusForbidden, "forbidden", "Policy doesn't allow os_compute_api:servers:detail to be performed.")
			default:
				s.mu.Lock()
				defer s.mu.Unlock()
				serve(&novaCall{s, w, r, project, v, here(r)})
			}
		}))
	}
	handle("/servers/detail", (*novaCall).servers)
	handle("/servers/{id}", (*novaCall).server)
	handle("/os-server-groups", (*novaCall).serverGroups)
	handle("/os-server-groups/{id}", (*novaCall).serverGroup)
	handle("/os-keypairs", (*novaCall).keyPairs)
	handle("/os-keypairs/{id}", (*novaCall).keyPair)
	handle("/os-availability-zone", func(c *novaCall) {
		answer(c.w, http.StatusOK, Object{"availabilityZoneInfo": []Object{{"zoneName": "nova", "zoneState": Object{"available": true}, "hosts": nil}}})
	})
	handle("/flavors/detail", func(c *novaCall) { answer(c.w, http.StatusOK, Object{"flavors": c.flavors()}) })
	handle("/flavors/{id}", (*novaCall).flavor)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		says(w, http.StatusNotFound, "404 Not Found\n\nThe resource could not be found.\n\n   ")
	})
	return mux
}

// novaCall is a call of nova by a user whom it knows.
type novaCall struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	project string
	version int // the minor one
	here    string
}

func (c *novaCall) notFound(format string, args ...any) {
	novaSays(c.w, http.StatusNotFound, "itemNotFound", format, args...)
}

// servers lists those of the project page by page. A page that is full says where the
// next begins, even when nothing follows.
func (c *novaCall) servers() {
	query := c.r.URL.Query()
	if query.Has("all_tenants") {
		novaSays(c.w, http.StatusForbidden, "forbidden", "Policy doesn't allow os_compute_api:servers:detail:get_all_tenants to be performed.")
		return
	}
	limit := c.s.options.PageSize
	if v := query.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			novaSays(c.w, http.StatusBadRequest, "badRequest", "Invalid input for query parameters limit. Value: %s. '%s' does not match '^[0-9]*$'", v, v)
			return
		}
		limit = min(limit, n)
	}
	name, err := regexp.Compile(query.Get("name"))
	if err != nil {
		novaSays(c.w, http.StatusBadRequest, "badRequest", "Invalid input for query parameters name. Value: %s. '%[1]s' is not a 'regex'", query.Get("name"))
		return
	}
	page, marker := []Object{}, query.Get("marker")
	for i := 0; i < c.s.count("servers") && len(page) < limit; i++ {
		o := c.s.at("servers", i)
		switch {
		case o["tenant_id"] != c.project:
		case marker != "":
			if text(o, "id") == marker {
				marker = ""
			}
		case c.s.down[text(o, "id")], !name.MatchString(text(o, "name")):
		case query.Has("status") && !strings.EqualFold(query.Get("status"), text(o, "status")):
		default:
			page = append(page, c.seen(o))
		}
	}
	if marker != "" {
		novaSays(c.w, http.StatusBadRequest, "badRequest", "marker [%s] not found", marker)
		return
	}
	if c.version >= 69 && len(query) == 0 {
		page = append(append([]Object{}, c.unreachable(limit-len(page))...), page...)
	}
	body := Object{"servers": page}
	if limit > 0 && len(page) == limit {
		query.Set("marker", text(page[limit-1], "id"))
		body["servers_links"] = []Object{{"rel": "next", "href": c.here + "/v2.1/servers/detail?" + query.Encode()}}
	}
	answer(c.w, http.StatusOK, body)
}

// unreachable returns the first servers of the project whose cell is down. Nova lists them
// before all others, up to its page size, and only when it is asked for no page, order or
// selection (nova/api/openstack/compute/servers.py, _is_cell_down_supported, 34.0.0).
func (c *novaCall) unreachable(limit int) []Object {
	var all []Object
	for i := 0; i < c.s.count("servers") && len(all) < limit; i++ {
		if o := c.s.at("servers", i); o["tenant_id"] == c.project && c.s.down[text(o, "id")] {
			all = append(all, unreachable(o))
		}
	}
	return all
}

// unreachable returns what nova knows of a server whose cell is down.
func unreachable(o Object) Object {
	return Object{"id": o["id"], "tenant_id": o["tenant_id"], "created": o["created"], "status": "UNKNOWN", "links": o["links"]}
}

// since are fields of a server, by the minor version that brought them.
var since = map[string]int{
	"locked": 9, "description": 19, "tags": 26, "trusted_image_certificates": 63, "locked_reason": 73,
	"OS-EXT-SRV-ATTR:hostname": 90, "pinned_availability_zone": 96, "scheduler_hints": 100,
}

// seen returns a server as a microversion has it.
func (c *novaCall) seen(o Object) Object {
	o = copied(o)
	for field, minor := range since {
		if c.version < minor {
			delete(o, field)
		}
	}
	if image, ok := o["image"].(Object); ok && c.version < 98 {
		delete(image, "properties")
	}
	if flavor, ok := o["flavor"].(Object); ok && c.version < 47 {
		for _, f := range c.s.objects["flavors"] {
			if f["name"] == flavor["original_name"] {
				o["flavor"] = Object{"id": f["id"], "links": []any{Object{"rel": "bookmark", "href": fmt.Sprintf("%s/flavors/%s", c.here, f["id"])}}}
			}
		}
	}
	return o
}

func (c *novaCall) server() {
	id := c.r.PathValue("id")
	for i := range c.s.count("servers") {
		o := c.s.at("servers", i)
		if text(o, "id") != id || o["tenant_id"] != c.project {
			continue
		}
		switch {
		case !c.s.down[id]:
			answer(c.w, http.StatusOK, Object{"server": c.seen(o)})
		case c.version >= 69:
			answer(c.w, http.StatusOK, Object{"server": unreachable(o)})
		default:
			novaSays(c.w, http.StatusInternalServerError, "computeFault", "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.")
		}
		return
	}
	c.notFound("Instance %s could not be found.", id)
}

func (c *novaCall) serverGroups() {
	answer(c.w, http.StatusOK, Object{"server_groups": append([]Object{}, c.s.objects["server_groups"]...)})
}

func (c *novaCall) serverGroup() {
	if g := c.s.find("server_groups", "id", c.r.PathValue("id")); g != nil {
		answer(c.w, http.StatusOK, Object{"server_group": g})
		return
	}
	c.notFound("Instance group %s could not be found.", c.r.PathValue("id"))
}

func (c *novaCall) keyPairs() {
	all := []Object{}
	for _, k := range c.s.objects["keypairs"] {
		all = append(all, Object{"keypair": k})
	}
	answer(c.w, http.StatusOK, Object{"keypairs": all})
}

func (c *novaCall) keyPair() {
	name := c.r.PathValue("id")
	if k := c.s.find("keypairs", "name", name); k != nil {
		answer(c.w, http.StatusOK, Object{"keypair": k})
		return
	}
	user := c.s.tokens[c.r.Header.Get("X-Auth-Token")].account
	c.notFound("Keypair %s not found for user %s", name, c.s.userID(user))
}

// flavors answers as a microversion has them.
func (c *novaCall) flavors() []Object {
	all := []Object{}
	for _, f := range c.s.objects["flavors"] {
		f = copied(f)
		for field, minor := range map[string]int{"description": 55, "extra_specs": 61} {
			if c.version < minor {
				delete(f, field)
			}
		}
		all = append(all, f)
	}
	return all
}

func (c *novaCall) flavor() {
	for _, f := range c.flavors() {
		if text(f, "id") == c.r.PathValue("id") {
			answer(c.w, http.StatusOK, Object{"flavor": f})
			return
		}
	}
	c.notFound("Flavor %s could not be found.", c.r.PathValue("id"))
}

// find returns the object of a kind with that value, or nil.
func (s *Server) find(kind, field, value string) Object {
	for _, o := range s.objects[kind] {
		if text(o, field) == value {
			return o
		}
	}
	return nil
}
