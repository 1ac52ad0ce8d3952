package openstackcloud

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/internal/lab/openstacklab"
)

// Fleet is the recorded fleet in a real cloud, after its drift.
type Fleet struct {
	*Cloud
	// A has what the clusters of namespace tenant-os-a have, B that of tenant-os-b.
	A, B openstacklab.Account
	// IDs are what the cloud gave, by recorded ids: of servers, networks, groups and all
	// else, and the floating IP by its address.
	IDs map[string]string
	// Drifted is when the servers of the backup existed, and nothing had drifted yet.
	Drifted time.Time

	sessions map[string]*session // by project name
	state    map[string]Object   // what exists, as recorded, by recorded id
	defaults map[string]string   // the security group "default", by project name
}

// kinds are what is made, in an order in which each needs only what is before it.
var kinds = []string{"networks", "subnets", "security_groups", "routers", "ports", "servers", "floatingips"}

var files = map[string]string{"security_groups": "security-groups", "servers": "servers-detail"}

// world is one recorded state, by kind.
type world map[string][]Object

func read(t testing.TB, folder string) world {
	t.Helper()
	w := world{}
	for _, kind := range append([]string{"flavors", "images"}, kinds...) {
		file := files[kind]
		if file == "" {
			file = kind
		}
		data, err := os.ReadFile(filepath.Join(folder, file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var o Object
		if err := json.Unmarshal(data, &o); err != nil {
			t.Fatal(err)
		}
		w[kind] = list(o, kind)
	}
	return w
}

// OtherProject is the name of a Machine of project A whose server was deleted. After
// Replay, project B has a server of this name, whose id is in IDs under the name.
const OtherProject = "web-prod-md-0-46mng-9xd5m"

// Replay makes the fleet of data, testdata/openstack: first what was there at the time of
// the backup, then all that happened after it.
func Replay(t testing.TB, data string) *Fleet {
	t.Helper()
	c := Open(t)
	run := fmt.Sprint(time.Now().UnixNano())
	f := &Fleet{
		Cloud: c, A: c.account("tenant-os-a-" + run), B: c.account("tenant-os-b-" + run),
		IDs: map[string]string{}, sessions: map[string]*session{}, state: map[string]Object{}, defaults: map[string]string{},
	}
	for _, a := range []openstacklab.Account{f.A, f.B} {
		s := c.login(a)
		f.sessions[a.Project] = s
		groups := list(s.call("GET", "network", "/security-groups?name=default&project_id="+s.project, nil), "security_groups")
		f.defaults[a.Project] = text(groups[0], "id")
	}
	before, after := read(t, filepath.Join(data, "before")), read(t, filepath.Join(data, "after"))
	f.offers(before)
	f.make(before)
	f.Drifted = time.Now().Add(time.Second)
	time.Sleep(2 * time.Second) // the cloud's clock has seconds
	f.offers(after)
	f.remove(after)
	f.make(after)
	f.change(after)
	f.IDs[OtherProject] = f.byHand(f.sessions[f.B.Project], OtherProject, "corp-shared")
	return f
}

// isB reports whether an object is of the project of tenant-os-b.
func (f *Fleet) isB(o Object) bool {
	if network := f.state[text(o, "network_id")]; network != nil {
		o = network
	}
	for network := range addresses(o) {
		o = Object{"name": network}
	}
	name := text(o, "name")
	return strings.Contains(name, "tenant-os-b") || strings.HasPrefix(name, "corp-shared")
}

func addresses(o Object) Object {
	a, _ := o["addresses"].(Object)
	return a
}

// AsRecorded lets the lab's server have the same two projects with the same accounts, and
// what exists in each, with the recorded ids.
func (f *Fleet) AsRecorded(t testing.TB, data string) *openstacklab.Server {
	t.Helper()
	s := openstacklab.Serve(t, filepath.Join(data, "after"), openstacklab.Options{TLS: true, Accounts: []openstacklab.Account{f.A, f.B}})
	for _, kind := range kinds {
		s.Edit(kind, func(o Object) bool {
			if o["router:external"] == true {
				return true
			}
			project := f.A.ProjectID
			if f.isB(o) {
				project = f.B.ProjectID
			}
			for _, field := range []string{"tenant_id", "project_id"} {
				if _, has := o[field]; has {
					o[field] = project
				}
			}
			return true
		})
	}
	made := f.sessions[f.B.Project].call("GET", "compute", "/servers/"+f.IDs[OtherProject], nil)
	s.Add("servers", made["server"].(Object))
	return s
}

// of returns the project that has an object.
func (f *Fleet) of(o Object) *session {
	if f.isB(o) {
		return f.sessions[f.B.Project]
	}
	return f.sessions[f.A.Project]
}

// offers makes what the operator of the cloud offers: flavors, images, external networks.
func (f *Fleet) offers(w world) {
	have := map[string]bool{}
	for _, o := range list(f.admin.call("GET", "compute", "/flavors", nil), "flavors") {
		have[text(o, "id")] = true
	}
	for _, o := range w["flavors"] {
		if !have[text(o, "id")] {
			f.admin.call("POST", "compute", "/flavors", Object{"flavor": only(o, "id", "name", "ram", "disk", "vcpus")})
		}
	}
	for _, o := range w["images"] {
		if f.IDs[text(o, "id")] != "" {
			continue
		}
		made := text(f.admin.call("POST", "image", "/images", only(o, "name", "disk_format", "container_format", "visibility")), "id")
		f.admin.call("PUT", "image", "/images/"+made+"/file", strings.Repeat("x", 4096))
		f.IDs[text(o, "id")] = made
	}
}

func only(o Object, fields ...string) Object {
	some := Object{}
	for _, f := range fields {
		if v, ok := o[f]; ok {
			some[f] = v
		}
	}
	return some
}

// make makes all of a recorded state that is not there yet, and waits for its servers.
func (f *Fleet) make(w world) {
	var servers []Object
	for _, kind := range kinds {
		for _, o := range w[kind] {
			recorded := text(o, "id")
			if f.state[recorded] != nil {
				continue
			}
			f.state[recorded] = o
			made := f.makeOne(kind, o, w)
			if made == "" {
				delete(f.state, recorded)
				continue
			}
			f.IDs[recorded] = made
			if tags, _ := o["tags"].([]any); len(tags) > 0 && kind != "servers" {
				f.of(o).call("PUT", "network", "/"+strings.ReplaceAll(kind, "_", "-")+"/"+made+"/tags", Object{"tags": tags})
			}
			if kind == "servers" {
				servers = append(servers, o)
			}
		}
	}
	for _, o := range servers {
		f.wait(o, "ACTIVE")
	}
}

// wait waits until a server has a status; "" until it is gone.
func (f *Fleet) wait(o Object, status string) {
	f.t.Helper()
	for range 180 {
		code, answer := f.of(o).try("GET", "compute", "/servers/"+f.IDs[text(o, "id")], nil)
		server, _ := answer["server"].(Object)
		if code == 404 && status == "" || code == 200 && server["status"] == status && server["OS-EXT-STS:task_state"] == nil {
			return
		}
		if server["status"] == "ERROR" && status == "ACTIVE" {
			f.t.Fatalf("server %s: %v", o["name"], server["fault"])
		}
		time.Sleep(time.Second)
	}
	f.t.Fatalf("server %s does not become %q", o["name"], status)
}

// remove deletes what a recorded state has no more, what needs others first.
func (f *Fleet) remove(w world) {
	for _, kind := range slices.Backward(kinds) {
		left := map[string]bool{}
		for _, o := range w[kind] {
			left[text(o, "id")] = true
		}
		var gone []Object
		for recorded, o := range f.state {
			if !left[recorded] && kindOf(o) == kind {
				gone = append(gone, o)
			}
		}
		for _, o := range gone {
			f.removeOne(kind, o)
		}
		for _, o := range gone {
			if kind == "servers" {
				f.wait(o, "")
			}
			delete(f.state, text(o, "id"))
		}
	}
}

// kindOf tells a recorded object's kind by a field that only this kind has.
func kindOf(o Object) string {
	for field, kind := range map[string]string{
		"mtu": "networks", "cidr": "subnets", "stateful": "security_groups", "external_gateway_info": "routers",
		"mac_address": "ports", "hostId": "servers", "floating_ip_address": "floatingips",
	} {
		if _, ok := o[field]; ok {
			return kind
		}
	}
	return ""
}

func (f *Fleet) removeOne(kind string, o Object) {
	s, made := f.of(o), f.IDs[text(o, "id")]
	switch kind {
	case "servers":
		s.call("DELETE", "compute", "/servers/"+made, nil)
	case "routers":
		for _, p := range list(s.call("GET", "network", "/ports?device_id="+made, nil), "ports") {
			if p["device_owner"] == "network:router_interface" {
				s.call("PUT", "network", "/routers/"+made+"/remove_router_interface", Object{"port_id": p["id"]})
			}
		}
		s.call("DELETE", "network", "/routers/"+made, nil)
	default:
		s.call("DELETE", "network", "/"+strings.ReplaceAll(kind, "_", "-")+"/"+made, nil)
	}
}

// change gives servers the names and states of a recorded state.
func (f *Fleet) change(w world) {
	for _, o := range w["servers"] {
		s, was := f.of(o), f.state[text(o, "id")]
		path := "/servers/" + f.IDs[text(o, "id")]
		if was["name"] != o["name"] {
			s.call("PUT", "compute", path, Object{"server": Object{"name": o["name"]}})
		}
		switch o["status"] {
		case "SHUTOFF":
			s.call("POST", "compute", path+"/action", Object{"os-stop": nil})
			f.wait(o, "SHUTOFF")
		case "ERROR":
			f.admin.call("POST", "compute", path+"/action", Object{"os-resetState": Object{"state": "error"}})
		}
	}
}
