// Package openstackcloud repeats the recorded fleet of testdata/openstack on a real
// OpenStack, which `make test-openstack` starts: it makes networks, ports and servers as
// Cluster API's provider made them, in two projects, and lets them drift as they did.
package openstackcloud

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"

	"drift-detector/internal/lab/openstacklab"
)

// Object is a thing as a service prints it.
type Object = openstacklab.Object

// Cloud is a real OpenStack behind TLS proxies, whose addresses are those of the public
// endpoints in its catalogue.
type Cloud struct {
	// Identity is the URL of keystone, CA verifies it and the others.
	Identity string
	CA       []byte

	t      testing.TB
	direct string            // keystone without a proxy
	inner  map[string]string // endpoints without a proxy, by service type
	admin  *session
}

// Open puts proxies before the cloud that OPENSTACK_IDENTITY names, until the test ends.
func Open(t testing.TB) *Cloud {
	t.Helper()
	c := &Cloud{t: t, direct: os.Getenv("OPENSTACK_IDENTITY"), inner: map[string]string{}}
	if c.direct == "" {
		t.Fatal("OPENSTACK_IDENTITY names no cloud: run `make test-openstack`")
	}
	c.admin = c.login(openstacklab.Account{User: "admin", Password: "adminpw", Project: "admin"})
	services := map[string]string{}
	for _, s := range list(c.admin.call("GET", "identity", "/services", nil), "services") {
		services[text(s, "id")] = text(s, "type")
	}
	endpoints := list(c.admin.call("GET", "identity", "/endpoints", nil), "endpoints")
	for _, e := range endpoints {
		if e["interface"] == "internal" {
			c.inner[services[text(e, "service_id")]] = text(e, "url")
		}
	}
	for _, e := range endpoints {
		if e["interface"] == "public" {
			service := services[text(e, "service_id")]
			public := c.proxy(c.inner[service])
			if service == "identity" {
				c.Identity = public
			}
			c.admin.call("PATCH", "identity", "/endpoints/"+text(e, "id"), Object{"endpoint": Object{"url": public}})
		}
	}
	return c
}

// proxy serves a service over TLS and returns its URL there.
func (c *Cloud) proxy(address string) string {
	to, err := url.Parse(address)
	if err != nil {
		c.t.Fatal(err)
	}
	p := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
	})
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.StartTLS()
	c.t.Cleanup(p.Close)
	c.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	return p.URL + to.Path
}

// session is a token of one project.
type session struct {
	c       *Cloud
	token   string
	project string
}

// login logs in past the proxies.
func (c *Cloud) login(a openstacklab.Account) *session {
	c.t.Helper()
	status, header, body := c.send("POST", c.direct+"/auth/tokens", "", loginOf(a))
	if status != http.StatusCreated {
		c.t.Fatalf("logging in to the cloud as %s: %d %v", a.User, status, body)
	}
	token := body["token"].(Object)
	return &session{c, header.Get("X-Subject-Token"), text(token["project"].(Object), "id")}
}

func loginOf(a openstacklab.Account) Object {
	domain := Object{"id": "default"}
	return Object{"auth": Object{
		"identity": Object{"methods": []string{"password"}, "password": Object{"user": Object{"name": a.User, "domain": domain, "password": a.Password}}},
		"scope":    Object{"project": Object{"name": a.Project, "domain": domain}},
	}}
}

func (c *Cloud) send(method, address, token string, body any) (int, http.Header, Object) {
	c.t.Helper()
	var in bytes.Buffer
	kind := "application/json"
	if data, raw := body.(string); raw {
		in.WriteString(data)
		kind = "application/octet-stream"
	} else if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			c.t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, address, &in)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-Auth-Token", token)
	r.Header.Set("OpenStack-API-Version", "compute 2.104")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	o := Object{}
	_ = json.Unmarshal(answer, &o) // many answers are empty
	if resp.StatusCode >= 400 && len(o) == 0 {
		o["text"] = string(answer)
	}
	return resp.StatusCode, resp.Header, o
}

// versions are what the paths of a service begin with.
var versions = map[string]string{"network": "/v2.0", "image": "/v2"}

// try makes a call past the proxies.
func (s *session) try(method, service, path string, body any) (int, Object) {
	s.c.t.Helper()
	base := s.c.inner[service] + versions[service]
	if service == "identity" {
		base = s.c.direct
	}
	status, _, o := s.c.send(method, base+path, s.token, body)
	return status, o
}

// call makes a call that must succeed.
func (s *session) call(method, service, path string, body any) Object {
	s.c.t.Helper()
	status, o := s.try(method, service, path, body)
	if status >= 400 {
		s.c.t.Fatalf("%s %s %s: %d %v", method, service, path, status, o)
	}
	return o
}

// account makes a project and a user who is a member of it.
func (c *Cloud) account(name string) openstacklab.Account {
	c.t.Helper()
	a := openstacklab.Account{User: "capo-" + name, Password: "s3cret-" + name, Project: name}
	a.ProjectID = id(c.admin.call("POST", "identity", "/projects", Object{"project": Object{"name": name, "domain_id": "default"}}), "project")
	user := id(c.admin.call("POST", "identity", "/users", Object{"user": Object{"name": a.User, "domain_id": "default", "password": a.Password}}), "user")
	role := list(c.admin.call("GET", "identity", "/roles?name=member", nil), "roles")
	c.admin.call("PUT", "identity", fmt.Sprintf("/projects/%s/users/%s/roles/%s", a.ProjectID, user, text(role[0], "id")), nil)
	return a
}

func text(o Object, field string) string {
	v, _ := o[field].(string)
	return v
}

// id returns that of the only thing in an answer.
func id(o Object, kind string) string {
	thing, _ := o[kind].(Object)
	return text(thing, "id")
}

func list(o Object, field string) (all []Object) {
	items, _ := o[field].([]any)
	for _, i := range items {
		if o, ok := i.(Object); ok {
			all = append(all, o)
		}
	}
	return all
}
