package openstacklab

import (
	"net/http"
	"strings"
)

// behind answers for what is behind load balancers, as CAPO makes it where "listeners" and
// "pools" were not added: a listener and a pool for each port that is asked for, of which all
// servers are members; and for the extensions of neutron.
func (s *Server) behind(mux *http.ServeMux) {
	const pool = "id-pool-"
	made := func(kind, name string) []Object {
		if s.objects[kind] != nil {
			return s.objects[kind]
		}
		var all []Object
		for _, lb := range s.objects["loadbalancers"] {
			if strings.HasPrefix(name, text(lb, "name")+"-") {
				all = append(all, Object{"id": pool + name, "name": name, "loadbalancers": []Object{{"id": lb["id"]}}, "default_pool_id": pool + name, "allowed_cidrs": nil})
			}
		}
		return all
	}
	handle := func(path string, serve func(name, id string) Object) {
		mux.HandleFunc("GET /v2.0/"+path, s.known(func(w http.ResponseWriter, r *http.Request, _ string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			answer(w, http.StatusOK, serve(r.URL.Query().Get("name"), r.PathValue("id")))
		}))
	}
	named := func(kind string) func(string, string) Object {
		return func(name, _ string) Object {
			all := []Object{}
			for _, o := range made(kind, name) {
				if text(o, "name") == name {
					all = append(all, o)
				}
			}
			return Object{kind: all}
		}
	}
	handle("lbaas/listeners", named("listeners"))
	handle("lbaas/pools", named("pools"))
	handle("lbaas/pools/{id}/members", func(_, id string) Object {
		all := []Object{}
		for _, server := range s.objects["servers"] {
			for _, network := range server["addresses"].(Object) {
				address := network.([]any)[0].(Object)["addr"]
				all = append(all, Object{"id": "id-" + text(server, "id"), "name": strings.TrimPrefix(id, pool) + "-" + text(server, "name"), "address": address})
			}
		}
		return Object{"members": all}
	})
	handle("extensions", func(string, string) Object {
		return Object{"extensions": []Object{{"alias": "trunk", "name": "Trunk Extension"}, {"alias": "security-group", "name": "security-group"}}}
	})
}
