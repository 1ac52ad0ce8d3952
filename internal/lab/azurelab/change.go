package azurelab

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Edit visits all resources and may change them; one for which it returns false is deleted.
func (s *Server) Edit(visit func(id string, o Object) (keep bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.res {
		if !visit(id, o) {
			delete(s.res, id)
		}
	}
}

// VM edits the VMs of a name, of scale sets, too.
func (s *Server) VM(name string, edit func(o, properties Object) (keep bool)) (found int) {
	s.Edit(func(id string, o Object) bool {
		if o["name"] != name || !strings.Contains(id, "/virtualmachines/") {
			return true
		}
		found++
		return edit(o, o["properties"].(Object))
	})
	return found
}

// Put adds a resource, or takes its place, and its resource group.
func (s *Server) Put(id, kind string, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	low := strings.ToLower(id)
	o["id"], o["type"], o["name"] = id, kind, id[strings.LastIndex(id, "/")+1:]
	s.res[low] = o
	group := strings.Join(strings.Split(id, "/")[:5], "/")
	if s.groups[strings.ToLower(group)] == nil {
		s.groups[strings.ToLower(group)] = Object{"id": group, "name": group[strings.LastIndex(group, "/")+1:], "properties": Object{"provisioningState": "Succeeded"}}
	}
}

// WithoutStatus leaves a VM out of lists of power states.
func (s *Server) WithoutStatus(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateless = append(s.stateless, name)
}

// DeleteGroup deletes a resource group with all that is in it.
func (s *Server) DeleteGroup(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id = strings.ToLower(id)
	delete(s.groups, id)
	for r := range s.res {
		if strings.HasPrefix(r, id+"/") {
			delete(s.res, r)
		}
	}
}

// Deny refuses everybody what is at and below an id.
func (s *Server) Deny(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, strings.ToLower(id))
}

// Principals changes who may log in.
func (s *Server) Principals(change func(*Principal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.principals {
		change(&s.principals[i])
	}
}

// Expire lets each token that is given from now on end after so many calls.
func (s *Server) Expire(calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expires = calls
}

// CallOf names a call by the action that an account must be allowed: "token",
// "Microsoft.Compute/virtualMachines/read"; a single resource is "one" of them, and the list
// of power states has a word of its own.
func CallOf(r *http.Request) string {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if strings.HasSuffix(r.URL.Path, "/token") {
		return "token"
	}
	switch at := slices.IndexFunc(parts, func(p string) bool { return strings.EqualFold(p, "providers") }); {
	case len(parts) == 2:
		return "Microsoft.Resources/subscriptions/read"
	case at < 0:
		return "Microsoft.Resources/subscriptions/resourceGroups/read"
	default:
		rest := parts[at+1:]
		of := rest[0]
		for i := 1; i < len(rest); i += 2 {
			of += "/" + rest[i]
		}
		of = actions.Replace(strings.ToLower(of)) + "/read"
		switch {
		case r.URL.Query().Get("statusOnly") != "":
			return "states " + of
		case len(rest)%2 == 1:
			return "one " + of
		}
		return of
	}
}

// actions are words of types of resources as actions write them.
var actions = strings.NewReplacer(
	"microsoft.", "Microsoft.", "compute/", "Compute/", "network/", "Network/", "virtualmachinescalesets", "virtualMachineScaleSets", "virtualmachines", "virtualMachines",
	"instanceview", "instanceView", "virtualnetworks", "virtualNetworks", "networksecuritygroups", "networkSecurityGroups", "routetables", "routeTables",
	"natgateways", "natGateways", "loadbalancers", "loadBalancers", "publicipaddresses", "publicIPAddresses", "privatednszones", "privateDnsZones",
	"bastionhosts", "bastionHosts",
)

// Fault is what goes wrong with calls whose path and query match. Of Hang, Cut, Change and
// Status the first that is given is done.
type Fault struct {
	Match string // RE2, looked for in path and query in any case
	From  int    // the first call that it is done with, from 1; zero: the first
	To    int    // the last; zero: no last

	Hang       bool         // no answer until the client goes away
	Cut        bool         // the connection ends in the middle of the real answer
	Change     func(Object) // edits the real answer
	Status     int          // answered instead, with Body
	Body       string
	RetryAfter int // seconds, for the header; zero leaves it out

	seen int
}

// Fail replaces the faults. The first that applies to a call spoils it.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults
}

func (s *Server) fault(uri string) *Fault {
	for i := range s.faults {
		f := &s.faults[i]
		if !regexp.MustCompile("(?i)" + f.Match).MatchString(uri) {
			continue
		}
		f.seen++
		if f.seen >= f.From && (f.To == 0 || f.seen <= f.To) {
			applied := *f
			return &applied
		}
	}
	return nil
}

func (f *Fault) spoil(w http.ResponseWriter, r *http.Request, service http.Handler) {
	if f.Hang {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		panic(http.ErrAbortHandler)
	}
	if f.Status != 0 && !f.Cut && f.Change == nil {
		if f.RetryAfter != 0 {
			w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
		}
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	real := httptest.NewRecorder()
	service.ServeHTTP(real, r)
	for name, values := range real.Header() {
		w.Header()[name] = values
	}
	body := real.Body.Bytes()
	if f.Cut {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(real.Code)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	var o Object
	if json.Unmarshal(body, &o) == nil && f.Change != nil {
		f.Change(o)
		body, _ = json.Marshal(o)
	}
	w.WriteHeader(real.Code)
	_, _ = w.Write(body)
}
