package openstacklab

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// collections are what neutron lists, by path, with what it calls one of them and what it
// says of one that it does not have.
var collections = map[string]struct{ kind, one, class, missing string }{
	"networks":        {"networks", "network", "NetworkNotFound", "Network %s could not be found."},
	"subnets":         {"subnets", "subnet", "SubnetNotFound", "Subnet %s could not be found."},
	"ports":           {"ports", "port", "PortNotFound", "Port %s could not be found."},
	"routers":         {"routers", "router", "RouterNotFound", "Router %s could not be found"},
	"floatingips":     {"floatingips", "floatingip", "FloatingIPNotFound", "Floating IP %s could not be found"},
	"security-groups": {"security_groups", "security_group", "SecurityGroupNotFound", "Security group %s does not exist"},
	// Octavia's, where the catalogue leads to neutron for it (see [Server.Endpoint]). None were recorded.
	"lbaas/loadbalancers": {"loadbalancers", "loadbalancer", "NotFound", "Load Balancer %s not found."},
	"trunks":              {"trunks", "trunk", "TrunkNotFound", "Trunk %s could not be found."},
}

func (s *Server) neutron() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, Object{"versions": []Object{{
			"id": "v2.0", "status": "CURRENT", "links": []Object{{"rel": "self", "href": s.Network + "/v2.0/"}},
		}}})
	})
	for path, c := range collections {
		mux.HandleFunc("GET /v2.0/"+path, s.known(func(w http.ResponseWriter, r *http.Request, project string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			query := r.URL.Query()
			page := s.listed(c.kind, project, query)
			body := Object{c.kind: page}
			if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 && len(page) == limit {
				query.Set("marker", text(page[len(page)-1], "id"))
				body[c.kind+"_links"] = []Object{{"rel": "next", "href": s.Network + "/v2.0/" + path + "?" + query.Encode()}}
			}
			answer(w, http.StatusOK, body)
		}))
		mux.HandleFunc("GET /v2.0/"+path+"/{id}", s.known(func(w http.ResponseWriter, r *http.Request, project string) {
			id := r.PathValue("id")
			s.mu.Lock()
			defer s.mu.Unlock()
			for i := range s.count(c.kind) {
				if o := s.at(c.kind, i); text(o, "id") == id && project != "" && visible(o, project) {
					answer(w, http.StatusOK, Object{c.one: o})
					return
				}
			}
			answer(w, http.StatusNotFound, Object{"NeutronError": Object{
				"type": c.class, "message": strings.Replace(c.missing, "%s", id, 1), "detail": "",
			}})
		}))
	}
	s.behind(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, Object{"NeutronError": Object{"type": "HTTPNotFound", "message": "The resource could not be found.", "detail": ""}})
	})
	return mux
}

// visible reports whether a project sees an object of neutron's: its own, what is shared,
// and external networks with their subnets.
func visible(o Object, project string) bool {
	return o["project_id"] == project || o["tenant_id"] == project || o["shared"] == true || o["router:external"] == true
}

// listed returns the objects of a kind that a query asks for. Values of one field are
// alternatives, fields are conditions that all must hold. A marker that neutron does not
// have is none: the listing begins again. A token without a project sees nothing, and is
// not refused.
func (s *Server) listed(kind, project string, query url.Values) []Object {
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit <= 0 {
		limit = s.count(kind)
	}
	page, from := []Object{}, 0
	if marker := query.Get("marker"); marker != "" {
		for i := range s.count(kind) {
			if text(s.at(kind, i), "id") == marker {
				from = i + 1
			}
		}
	}
	for i := from; i < s.count(kind) && len(page) < limit; i++ {
		if o := s.at(kind, i); project != "" && visible(o, project) && matches(o, query) {
			page = append(page, fields(o, query["fields"]))
		}
	}
	return page
}

func matches(o Object, query url.Values) bool {
	for field, values := range query {
		switch field {
		case "limit", "marker", "page_reverse", "fields", "sort_key", "sort_dir":
		case "tag": // of glance
			for _, tag := range values {
				if have, _ := o["tags"].([]any); !slices.Contains(have, any(tag)) {
					return false
				}
			}
		case "tags":
			for _, tag := range strings.Split(values[0], ",") {
				if have, _ := o["tags"].([]any); !slices.Contains(have, any(tag)) {
					return false
				}
			}
		default:
			if !slices.Contains(values, printed(o[field])) {
				return false
			}
		}
	}
	return true
}

func printed(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// fields returns those of an object that are asked for: all, when none is.
func fields(o Object, names []string) Object {
	if len(names) == 0 {
		return o
	}
	some := Object{}
	for _, name := range names {
		if v, has := o[name]; has {
			some[name] = v
		}
	}
	return some
}

func (s *Server) glance() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusMultipleChoices, Object{"versions": []Object{{
			"id": "v2.17", "status": "CURRENT", "links": []Object{{"rel": "self", "href": s.Image + "/v2/"}},
		}}})
	})
	mux.HandleFunc("GET /v2/images", s.known(func(w http.ResponseWriter, r *http.Request, _ string) {
		query := r.URL.Query()
		s.mu.Lock()
		defer s.mu.Unlock()
		all := []Object{}
		for _, o := range s.objects["images"] {
			if matches(o, query) {
				all = append(all, o)
			}
		}
		answer(w, http.StatusOK, Object{"images": all, "first": "/v2/images", "schema": "/v2/schemas/images"})
	}))
	mux.HandleFunc("GET /v2/images/{id}", s.known(func(w http.ResponseWriter, r *http.Request, _ string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if o := s.find("images", "id", r.PathValue("id")); o != nil {
			answer(w, http.StatusOK, o)
			return
		}
		says(w, http.StatusNotFound, "404 Not Found\n\nNo image found with ID "+r.PathValue("id")+"\n\n   ")
	}))
	return mux
}
