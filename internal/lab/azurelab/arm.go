package azurelab

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// arm answers Azure Resource Manager's GET.
func (s *Server) arm(of Principal, r *http.Request) (int, any) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	low := strings.ToLower(path)
	parts := strings.Split(low, "/")
	q := r.URL.Query()
	if q.Get("api-version") == "" {
		return http.StatusBadRequest, refusal("MissingApiVersionParameter", "The api-version query parameter (?api-version=) is required for all requests.")
	}
	if len(parts) < 3 || parts[1] != "subscriptions" || s.subs[parts[2]] == nil {
		return http.StatusNotFound, refusal("SubscriptionNotFound", "The subscription could not be found.")
	}
	if !s.mayRead(of, low) {
		return http.StatusForbidden, refusal("AuthorizationFailed", "The client '"+of.ClientID+"' does not have authorization to perform action over scope '"+path+"' or the scope is invalid.")
	}
	sub := "/subscriptions/" + parts[2]
	if len(parts) == 3 {
		return http.StatusOK, s.subs[parts[2]]
	}
	group := ""
	if parts[3] == "resourcegroups" {
		if len(parts) < 5 {
			return http.StatusNotFound, refusal("InvalidResourceType", "unknown path")
		}
		group = sub + "/resourcegroups/" + parts[4]
		if s.groups[group] == nil {
			return http.StatusNotFound, refusal("ResourceGroupNotFound", "Resource group '"+parts[4]+"' could not be found.")
		}
		if len(parts) == 5 {
			return http.StatusOK, s.groups[group]
		}
	}
	under := sub
	if group != "" {
		under = group
	}
	rest := strings.Split(strings.TrimPrefix(low, under+"/providers/"), "/")
	view := strings.EqualFold(q.Get("$expand"), "instanceView")
	switch parent := low[:strings.LastIndex(low, "/")]; {
	case strings.HasSuffix(low, "/instanceview"):
		if o := s.res[parent]; o != nil {
			return http.StatusOK, instanceView(o)
		}
		return notFound(parent)
	case len(rest)%2 == 1: // a single one
		if o := s.res[low]; o != nil {
			return http.StatusOK, s.printed(o, view, false, false)
		}
		return notFound(low)
	case len(rest) > 2 && s.res[parent] == nil:
		return notFound(parent)
	}
	if view && low == under+"/providers/microsoft.compute/virtualmachines" {
		return http.StatusBadRequest, refusal("InvalidParameter", "The '$expand' parameter is only supported with a virtualMachineScaleSet filter.")
	}
	var all []any
	for _, id := range slices.Sorted(maps.Keys(s.res)) {
		o := s.res[id]
		if name, _ := o["name"].(string); !s.mayRead(of, id) || q.Get("statusOnly") == "true" && slices.Contains(s.stateless, name) {
			continue // a list holds what its reader may read
		}
		if strings.HasPrefix(id, under+"/") && strings.EqualFold(o["type"].(string), typeOf(rest)) && (len(rest) == 2 || strings.HasPrefix(id, low+"/")) {
			all = append(all, s.printed(o, view, true, q.Get("statusOnly") == "true"))
		}
		if flexible := low[:strings.LastIndex(low, "/")]; len(rest) > 2 && memberOf(o) == flexible {
			member := s.printed(o, view, true, false)
			member["id"] = fmt.Sprint(s.res[flexible]["id"], "/virtualMachines/", o["name"])
			all = append(all, member)
		}
	}
	return http.StatusOK, s.page(all, r.URL)
}

func typeOf(rest []string) string {
	of := rest[0]
	for i := 1; i < len(rest); i += 2 {
		of += "/" + rest[i]
	}
	return of
}

func notFound(id string) (int, any) {
	return http.StatusNotFound, refusal("ResourceNotFound", "The Resource '"+id+"' was not found.")
}

// mayRead reports whether an account may read what is at a path.
func (s *Server) mayRead(of Principal, path string) bool {
	if slices.ContainsFunc(s.denied, func(d string) bool { return path == d || strings.HasPrefix(path, d+"/") }) {
		return false
	}
	return len(of.Scopes) == 0 || slices.ContainsFunc(of.Scopes, func(scope string) bool {
		scope = strings.ToLower(scope)
		return path == scope || strings.HasPrefix(path, scope+"/")
	})
}

// memberOf returns the id of the scale set that a VM of its own is a member of.
func memberOf(o Object) string {
	p, _ := o["properties"].(Object)
	set, _ := p["virtualMachineScaleSet"].(Object)
	id, _ := set["id"].(string)
	return strings.ToLower(id)
}

func instanceView(o Object) Object {
	p, _ := o["properties"].(Object)
	power, _ := o["_power"].(string)
	if power == "" {
		power = "running"
	}
	state, _ := p["provisioningState"].(string)
	return Object{"statuses": []any{
		Object{"code": "ProvisioningState/" + strings.ToLower(state), "level": "Info"}, Object{"code": "PowerState/" + power, "level": "Info"},
	}}
}

var groupInID = regexp.MustCompile(`(?i)(/resourceGroups/)([^/]+)`)

// printed returns a resource as Azure prints it.
func (s *Server) printed(o Object, view, listed, statusOnly bool) Object {
	var out Object
	text, _ := json.Marshal(o)
	_ = json.Unmarshal(text, &out)
	for k := range out {
		if strings.HasPrefix(k, "_") {
			delete(out, k)
		}
	}
	p, _ := out["properties"].(Object)
	if strings.EqualFold(o["type"].(string), "Microsoft.Network/virtualNetworks") {
		var subnets []any
		for _, id := range slices.Sorted(maps.Keys(s.res)) {
			if strings.HasPrefix(id, strings.ToLower(o["id"].(string))+"/subnets/") {
				subnets = append(subnets, Object{"id": s.res[id]["id"], "name": s.res[id]["name"], "properties": s.res[id]["properties"]})
			}
		}
		p["subnets"] = subnets
	}
	if statusOnly {
		out = Object{"id": out["id"], "name": out["name"], "location": out["location"], "properties": Object{"instanceView": instanceView(o)}}
	} else if view {
		p["instanceView"] = instanceView(o)
	}
	if listed && s.options.UpperCase && strings.HasPrefix(strings.ToLower(o["type"].(string)), "microsoft.compute/") {
		out["id"] = groupInID.ReplaceAllStringFunc(out["id"].(string), func(m string) string {
			head, tail, _ := strings.Cut(m[1:], "/")
			return "/" + head + "/" + strings.ToUpper(tail)
		})
	}
	return out
}

// page returns the part of a list that a link asks for.
func (s *Server) page(all []any, at *url.URL) Object {
	if all == nil {
		all = []any{}
	}
	n := s.options.PageSize
	if n == 0 {
		return Object{"value": all}
	}
	q := at.Query()
	from, _ := strconv.Atoi(q.Get("$skiptoken"))
	from = min(from, len(all))
	out := Object{"value": all[from:min(from+n, len(all))]}
	if from+n < len(all) {
		q.Set("$skiptoken", strconv.Itoa(from+n))
		out["nextLink"] = "https://" + Manager + at.Path + "?" + q.Encode()
	}
	return out
}
