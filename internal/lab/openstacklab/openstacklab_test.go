package openstacklab

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
)

const data = "../../../testdata/openstack/"

// client asks a server, after a login.
type client struct {
	t     *testing.T
	s     *Server
	token string
}

func serve(t *testing.T, o Options) *client {
	t.Helper()
	c := &client{t: t, s: Serve(t, data+"after", o)}
	c.token = c.login(passwordOf(Recorded)).Header.Get("X-Subject-Token")
	return c
}

func passwordOf(a Account) Object {
	domain := Object{"id": "default"}
	return Object{
		"identity": Object{"methods": []string{"password"}, "password": Object{"user": Object{"name": a.User, "domain": domain, "password": a.Password}}},
		"scope":    Object{"project": Object{"name": a.Project, "domain": domain}},
	}
}

// reply is an answer with its body.
type reply struct {
	*http.Response
	text []byte
	body Object
}

func (c *client) send(method, address string, body any, header ...string) *reply {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, address, bytes.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("X-Auth-Token", c.token)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.s.served[0].Client().Transport.RoundTrip(r)
	if err != nil {
		return &reply{Response: &http.Response{Status: err.Error()}}
	}
	defer func() { _ = resp.Body.Close() }()
	a := &reply{Response: resp}
	a.text, err = io.ReadAll(resp.Body)
	if err != nil {
		a.StatusCode, a.Status = 0, err.Error()
	}
	_ = json.Unmarshal(a.text, &a.body)
	return a
}

func (c *client) get(address string) *reply {
	c.t.Helper()
	return c.send("GET", address, nil, "OpenStack-API-Version", "compute 2.104")
}

func (c *client) login(auth Object) *reply {
	c.t.Helper()
	return c.send("POST", c.s.Identity+"/auth/tokens", Object{"auth": auth})
}

// servers follows the pages of a listing and returns the names.
func (c *client) servers(query, version string) (names []string, pages int) {
	c.t.Helper()
	next := c.s.Compute + "/servers/detail" + query
	for next != "" && pages < 100 {
		a := c.send("GET", next, nil, "OpenStack-API-Version", "compute "+version)
		if a.StatusCode != 200 {
			c.t.Fatalf("%s: %s %s", next, a.Status, a.text)
		}
		pages++
		next = ""
		for _, s := range list(a.body, "servers") {
			names = append(names, text(s, "name"))
		}
		for _, l := range list(a.body, "servers_links") {
			next = text(l, "href")
		}
	}
	return names, pages
}

// here returns a text of the recorded cloud with the addresses of this server.
func (c *client) here(text string) string {
	for service, to := range map[string]string{"identity": c.s.Identity, "compute": c.s.Compute, "network": c.s.Network, "image": c.s.Image} {
		text = strings.ReplaceAll(text, "http://"+host(c.s.recorded[service]), to[:strings.Index(to, "//")+2]+host(to))
	}
	return text
}

// TestAnswersAsRecorded asks what was asked of the real cloud: what it refuses has the
// same words and headers, what it lists the same form.
func TestAnswersAsRecorded(t *testing.T) {
	c := serve(t, Options{})
	var recorded []struct {
		Note    string
		Request struct {
			Method, URL, Microversion string
			Body                      any
		}
		Status  int
		Headers map[string]string
		Body    Object
	}
	if err := decode(data+"answers.json", &recorded); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorded {
		header := []string{"X-OpenStack-Nova-API-Version", r.Request.Microversion}
		if r.Request.Microversion == "" {
			header = nil
		}
		if r.Note == "bad token" {
			header = append(header, "X-Auth-Token", "gAAAAABad")
		}
		a := c.send(r.Request.Method, c.here(r.Request.URL), r.Request.Body, header...)
		if a.StatusCode != r.Status {
			t.Errorf("%s: %d, want %d", r.Note, a.StatusCode, r.Status)
		}
		for name, want := range r.Headers {
			if got := a.Header.Get(name); got != c.here(want) {
				t.Errorf("%s: header %s is %q, want %q", r.Note, name, got, want)
			}
		}
		if want := plain(t, r.Body); r.Status >= 400 && !reflect.DeepEqual(a.body, want) {
			t.Errorf("%s: %s, want %v", r.Note, a.text, want)
		}
		if !reflect.DeepEqual(form(a.body), form(r.Body)) {
			t.Errorf("%s: form\n%v, want\n%v", r.Note, form(a.body), form(r.Body))
		}
	}
}

// plain returns JSON as it is read.
func plain(t *testing.T, v any) (o Object) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// form returns the fields of an answer and of the first thing in its list, without the address.
func form(o Object) map[string]int {
	f := map[string]int{}
	for k, v := range o {
		f[k] = 1
		items, _ := v.([]any)
		if strings.HasSuffix(k, "_links") || len(items) == 0 {
			continue
		}
		f[k] = len(items)
		for field := range items[0].(Object) {
			f[k+"."+field]++
		}
	}
	return f
}

// TestServersOfAMicroversion holds the oldest form of servers against the recorded one.
func TestServersOfAMicroversion(t *testing.T) {
	c := serve(t, Options{})
	for file, version := range map[string]string{"servers-detail-2.1.json": "2.1", "servers-detail.json": "2.104"} {
		var want Object
		if err := decode(filepath.Join(data, "after", file), &want); err != nil {
			t.Fatal(err)
		}
		a := c.send("GET", c.s.Compute+"/servers/detail", nil, "OpenStack-API-Version", "compute "+version)
		got := c.here(string(a.text))
		whole, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		// Links name the address that was asked.
		var one, other any
		_ = json.Unmarshal([]byte(got), &one)
		_ = json.Unmarshal([]byte(c.here(string(whole))), &other)
		if !reflect.DeepEqual(one, other) {
			t.Errorf("%s: not as recorded\n%.2000s\n%.2000s", version, got, c.here(string(whole)))
		}
	}
}

func TestPagesOfServers(t *testing.T) {
	c := serve(t, Options{PageSize: 10})
	all, pages := c.servers("", "2.104")
	if len(all) != 29 || pages != 3 || c.s.Calls()["nova GET /v2.1/servers/detail"] != 3 {
		t.Errorf("%d servers on %d pages, calls %v", len(all), pages, c.s.Calls())
	}
	// A full page says that another follows, also when none does.
	c.s.Delete("servers", text(c.s.Objects("servers")[0], "id"))
	if some, pages := c.servers("?limit=7", "2.104"); len(some) != 28 || pages != 5 {
		t.Errorf("%d servers on %d pages", len(some), pages)
	}
	c.s.Fail(Fault{Call: "nova GET /v2.1/servers/detail", Change: Repeats})
	if some, pages := c.servers("", "2.104"); pages != 100 || len(some) != 1000 {
		t.Errorf("%d servers on %d pages that repeat", len(some), pages)
	}
	c.s.Fail(Fault{Call: "nova GET /v2.1/servers/detail", From: 2, To: 2, Change: WithoutServers})
	if some, pages := c.servers("", "2.104"); pages != 3 || len(some) != 18 {
		t.Errorf("%d servers on %d pages without the second", len(some), pages)
	}
}

// TestCellDown: nova lists servers of a cell that is down only when it is asked for all.
func TestCellDown(t *testing.T) {
	c := serve(t, Options{})
	id := text(c.s.Objects("servers")[3], "id")
	c.s.CellDown(id)
	if names, _ := c.servers("", "2.104"); len(names) != 29 || names[0] != "" {
		t.Errorf("all: %q", names)
	}
	for query, version := range map[string]string{"": "2.68", "?limit=1000": "2.104", "?sort_key=uuid": "2.104"} {
		if names, _ := c.servers(query, version); len(names) != 28 || slices.Contains(names, "") {
			t.Errorf("%s with %s: %q", query, version, names)
		}
	}
	if a := c.get(c.s.Compute + "/servers/" + id); a.StatusCode != 200 || a.body["server"].(Object)["status"] != "UNKNOWN" {
		t.Errorf("one: %s", a.text)
	}
}

func TestLogins(t *testing.T) {
	other := Account{User: "other", Password: "x", Project: "edge-fleet", ProjectID: strings.Repeat("e", 32)}
	c := serve(t, Options{Accounts: []Account{Recorded, other}})
	secret := func(id, secret string) Object {
		return Object{"identity": Object{"methods": []string{"application_credential"}, "application_credential": Object{"id": id, "secret": secret}}}
	}
	unscoped, withScope := passwordOf(other), secret(Recorded.Credential, Recorded.Secret)
	delete(unscoped, "scope")
	withScope["scope"] = passwordOf(Recorded)["scope"]
	mixed := passwordOf(other)
	mixed["scope"] = passwordOf(Recorded)["scope"]
	for name, want := range map[string]struct {
		auth   Object
		status int
		says   string
	}{
		"credential":        {secret(Recorded.Credential, Recorded.Secret), 201, Recorded.ProjectID},
		"its secret":        {secret(Recorded.Credential, "no"), 401, "requires authentication"},
		"unknown":           {secret("abc", "no"), 404, "Could not find Application Credential: abc."},
		"with scope":        {withScope, 401, "cannot request a scope"},
		"other project":     {mixed, 401, "requires authentication"},
		"other account":     {passwordOf(other), 201, other.ProjectID},
		"without a project": {unscoped, 201, `"name":"other"`},
	} {
		if a := c.login(want.auth); a.StatusCode != want.status || !strings.Contains(string(a.text), want.says) {
			t.Errorf("%s: %s %s", name, a.Status, a.text)
		}
	}
	if given, refused := c.s.Logins(); given != 4 || refused != 4 {
		t.Errorf("%d given, %d refused", given, refused)
	}
	// Neutron does not refuse a token without a project; it shows nothing.
	c.token = c.login(unscoped).Header.Get("X-Subject-Token")
	if a := c.get(c.s.Network + "/v2.0/networks"); a.StatusCode != 200 || len(list(a.body, "networks")) != 0 {
		t.Errorf("neutron, unscoped: %s", a.text)
	}
	if a := c.get(c.s.Compute + "/servers/detail"); a.StatusCode != 403 {
		t.Errorf("nova, unscoped: %s", a.text)
	}
	c.token = c.login(passwordOf(other)).Header.Get("X-Subject-Token")
	if names, _ := c.servers("", "2.104"); len(names) != 0 {
		t.Errorf("the other project sees %q", names)
	}
	if a := c.get(c.s.Network + "/v2.0/networks"); len(list(a.body, "networks")) != 1 {
		t.Errorf("the other project sees more than the external network: %s", a.text)
	}
	c.s.ExpireTokens()
	if a := c.get(c.s.Compute + "/servers/detail"); a.StatusCode != 401 {
		t.Errorf("expired: %s", a.text)
	}
}

func TestChanges(t *testing.T) {
	c := serve(t, Options{TLS: true})
	id, port := text(c.s.Objects("servers")[3], "id"), ""
	for _, p := range c.s.Objects("ports") {
		if p["device_id"] == id {
			port = text(p, "id")
		}
	}
	c.s.Stop(id)
	c.s.Rename(id, "web-maint")
	o := c.get(c.s.Compute + "/servers/" + id).body["server"].(Object)
	if o["status"] != "SHUTOFF" || o["name"] != "web-maint" || o["OS-EXT-SRV-ATTR:hostname"] == "web-maint" {
		t.Errorf("after: %v", o)
	}
	c.s.Delete("servers", id)
	a := c.get(c.s.Network + "/v2.0/ports?id=" + port + "&fields=device_id&fields=id")
	if p := list(a.body, "ports"); len(p) != 1 || p[0]["device_id"] != "" || len(p[0]) != 2 {
		t.Errorf("port of the deleted one: %s", a.text)
	}
	c.s.Like("web-prod-bastion", "twin", "11111111-2222-4333-8444-555555555555", true)
	if a := c.get(c.s.Network + "/v2.0/ports?name=twin-0"); len(list(a.body, "ports")) != 1 {
		t.Errorf("port of the copy: %s", a.text)
	}
	c.s.Endpoint("compute", "https://elsewhere.example/v2.1")
	c.s.Endpoint("load-balancer", "https://lb.example")
	catalog := string(c.login(passwordOf(Recorded)).text)
	if !strings.Contains(catalog, "elsewhere.example") || !strings.Contains(catalog, "lb.example") || strings.Contains(catalog, "9774") {
		t.Errorf("catalogue: %s", catalog)
	}
}

// TestNotFound: the words of nova 34, neutron 29 and glance 33.
func TestNotFound(t *testing.T) {
	c := serve(t, Options{})
	const id = "11111111-1111-1111-1111-111111111111"
	for path, want := range map[string]string{
		c.s.Compute + "/os-server-groups/" + id:      "Instance group " + id + " could not be found.",
		c.s.Compute + "/os-keypairs/nope":            "Keypair nope not found for user 36eb4d77b02d4d579e69dd5b4aa2c128",
		c.s.Compute + "/flavors/nope":                "Flavor nope could not be found.",
		c.s.Network + "/v2.0/subnets/" + id:          "Subnet " + id + " could not be found.",
		c.s.Network + "/v2.0/ports/" + id:            "Port " + id + " could not be found.",
		c.s.Network + "/v2.0/routers/" + id:          "Router " + id + " could not be found",
		c.s.Network + "/v2.0/floatingips/" + id:      "Floating IP " + id + " could not be found",
		c.s.Network + "/v2.0/security-groups/" + id:  "Security group " + id + " does not exist",
		c.s.Image + "/v2/images/" + id:               "No image found with ID " + id,
		c.s.Compute + "/nope":                        "The resource could not be found.",
		c.s.Compute + "/servers/detail?marker=" + id: "marker [" + id + "] not found",
	} {
		if a := c.get(path); a.StatusCode != 404 && a.StatusCode != 400 || !strings.Contains(string(a.text), want) {
			t.Errorf("%s: %s %s", path, a.Status, a.text)
		}
	}
}

func TestFaults(t *testing.T) {
	c := serve(t, Options{})
	const call = "nova GET /v2.1/servers/detail"
	ask := func() *reply { return c.get(c.s.Compute + "/servers/detail") }
	c.s.Fail(Fault{Call: call, From: 2, To: 2, Status: 429, RetryAfter: 7, Body: "later"})
	first, second, third := ask(), ask(), ask()
	if first.StatusCode != 200 || second.StatusCode != 429 || second.Header.Get("Retry-After") != "7" || third.StatusCode != 200 {
		t.Errorf("%s, %s, %s", first.Status, second.Status, third.Status)
	}
	c.s.Fail(Fault{Cut: true})
	if a := ask(); a.StatusCode != 0 || !strings.Contains(a.Status, "EOF") {
		t.Errorf("cut: %s", a.Status)
	}
	c.s.Fail()
	if a := ask(); a.StatusCode != 200 {
		t.Errorf("without faults: %s", a.Status)
	}
}

// TestManyServers: of servers that no test names there may be as many as a test wants.
func TestManyServers(t *testing.T) {
	c := serve(t, Options{Synthetic: 10000 - 29})
	names, pages := c.servers("", "2.104")
	if len(names) != 10000 || pages != 11 {
		t.Errorf("%d servers on %d pages", len(names), pages)
	}
	slices.Sort(names)
	if unique := slices.Compact(names); len(unique) != 9999 { // two of one name were recorded
		t.Errorf("%d names", len(unique))
	}
	if a := c.get(c.s.Network + "/v2.0/ports?" + url.Values{"fields": {"id", "device_id"}}.Encode()); len(list(a.body, "ports")) < 9971 {
		t.Errorf("%d ports", len(list(a.body, "ports")))
	}
}

func TestBackup(t *testing.T) {
	c := serve(t, Options{TLS: true})
	found := 0
	backuptest.Rewrite(t, c.s.Backup(t, data+"openstack-data.tar.gz", nil), func(path string, body []byte) ([]byte, bool) {
		var secret struct{ Data map[string][]byte }
		if strings.HasSuffix(path, "cloud-config.json") && json.Unmarshal(body, &secret) == nil {
			found++
			if !strings.Contains(string(secret.Data["clouds.yaml"]), c.s.Identity+"\n") || !bytes.Equal(secret.Data["cacert"], c.s.CA) {
				t.Errorf("%s: %s", path, secret.Data)
			}
		}
		return body, true
	})
	if found != 4 {
		t.Errorf("%d Secrets", found)
	}
}
