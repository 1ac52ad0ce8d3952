package list

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/infra/openstack"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// cloudOf serves the fleet's cloud after its drift, and the fleet's backup for it.
func cloudOf(t *testing.T, o openstacklab.Options) (*openstacklab.Server, []byte) {
	t.Helper()
	o.TLS = true
	s := openstacklab.Serve(t, lab+"after", o)
	return s, openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), s.Identity, s.CA, openstacklab.Recorded.Password)
}

// listings lists all targets of a backup.
func listings(t *testing.T, p infra.Provider, data []byte, a infra.Access) []infra.Listing {
	t.Helper()
	s, secrets := openstacklab.Load(t, New(), data)
	var all []infra.Listing
	for _, target := range p.Targets(s, secrets, a) {
		all = append(all, p.List(t.Context(), target))
	}
	return all
}

// only returns the only listing of a backup.
func only(t *testing.T, data []byte, a infra.Access) infra.Listing {
	t.Helper()
	all := listings(t, small(), data, a)
	if len(all) != 1 {
		t.Fatalf("%d listings", len(all))
	}
	return all[0]
}

// refused holds that a listing failed for a reason, and says what to do.
func refused(t *testing.T, l infra.Listing, state code.ScopeState, reason, says string) {
	t.Helper()
	if l.State != state || l.Fault == nil || string(l.Fault.Reason) != reason || !strings.Contains(l.Fault.Message+" "+l.Fault.Hint, says) || l.Fault.Hint == "" {
		t.Errorf("it is %s, %+v; want %s, %s: %s", l.State, l.Fault, state, reason, says)
	}
}

// A wrong password, a project that does not exist and an account without a role are one
// answer of Keystone, and no account is asked for more often than twice.
func TestWrongLogins(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"password": func(s string) string { return strings.ReplaceAll(s, "s3cret-Public-7", "no") },
		"project": func(s string) string {
			return strings.ReplaceAll(s, "project_name: tenant-os", "project_name: nowhere")
		},
	} {
		s, data := cloudOf(t, openstacklab.Options{})
		data = openstacklab.WithClouds(t, data, nil, change)
		// Another project of the account beside it: the same account.
		data = openstacklab.Edit(t, data, func(resource string, object map[string]any) bool {
			if ref := backuptest.Inside(object, "spec", "identityRef"); resource == "openstackclusters.infrastructure.cluster.x-k8s.io" && ref["region"] == nil {
				ref["region"] = "RegionTwo"
			}
			return true
		})
		p := small()
		for range 2 {
			for _, l := range listings(t, p, data, infra.Access{}) {
				refused(t, l, code.ScopeFailed, "AuthenticationFailed", "does not exist, or the account has no role in it")
			}
		}
		if _, n := s.Logins(); n != infra.MaxFailedLogins {
			t.Errorf("%s: %d logins failed", name, n)
		}
	}
}

// A user whom one credential names by id, another by name, and a third in a domain that it
// names by name, may be one: no more than two logins fail.
func TestOneAccountOfSeveralNames(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{Accounts: []openstacklab.Account{}})
	named := []string{"username: capo-public", "user_id: 0123456789abcdef0123456789abcdef", "username: capo-public"}
	domains := []string{"user_domain_id: default", "", "user_domain_name: Default"}
	p := small()
	for i, user := range named {
		changed := openstacklab.WithClouds(t, data, nil, func(text string) string {
			return strings.NewReplacer("username: capo-public", user, "user_domain_id: default", domains[i]).Replace(text)
		})
		for _, l := range listings(t, p, changed, infra.Access{}) {
			refused(t, l, code.ScopeFailed, "AuthenticationFailed", "")
		}
	}
	if _, n := s.Logins(); n != infra.MaxFailedLogins {
		t.Errorf("%d logins failed", n)
	}
	by := func(id, name, domain, domainBy string) account {
		return account{id: id, name: name, domain: domain, domainBy: domainBy}
	}
	for _, c := range []struct {
		a, b account
		same bool
	}{
		{by("u1", "", "", ""), by("u2", "", "", ""), false},
		{by("u1", "", "", ""), by("", "capo", "default", "id"), true},
		{by("", "capo", "default", "id"), by("", "other", "default", "id"), false},
		{by("", "capo", "d1", "id"), by("", "capo", "d2", "id"), false},
		{by("", "capo", "d1", "id"), by("", "CAPO", "Corp", "name"), true},
		{by("u1", "", "", ""), account{application: true, id: "u1"}, false},
	} {
		if c.a.mayBe(c.b) != c.same || c.b.mayBe(c.a) != c.same {
			t.Errorf("%+v and %+v: want %v", c.a, c.b, c.same)
		}
	}
}

// An application credential logs in to the project that it is of.
func TestApplicationCredential(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	data = openstacklab.WithClouds(t, data, nil, func(text string) string {
		a := openstacklab.Recorded
		return strings.NewReplacer("username: capo-public", "application_credential_id: "+a.Credential,
			"password: \""+a.Password+"\"", "application_credential_secret: "+a.Secret, "project_name: tenant-os\n", "\n", "      project_domain_id: default\n", "", "      user_domain_id: default\n", "").Replace(text)
	})
	if l := only(t, data, infra.Access{}); l.State != code.ScopeComplete || l.Account != "tenant-os" {
		t.Errorf("%s of %q: %+v", l.State, l.Account, l.Fault)
	}
}

// A catalogue is foreign text: a token goes to the identity endpoint's own host, and to
// what the operator names.
func TestForeignCatalogue(t *testing.T) {
	s, data := cloudOf(t, openstacklab.Options{})
	compute := strings.TrimSuffix(strings.TrimPrefix(s.Compute, "https://"), "/v2.1")
	s.Endpoint("compute", "https://nova.example:8774/v2.1")
	refused(t, only(t, data, infra.Access{}), code.ScopeFailed, "BadEndpoint", "--endpoint nova.example:8774=nova.example:8774")
	reroute := infra.Access{Reroutes: []infra.Reroute{{From: "nova.example:8774", To: compute}}}
	refused(t, only(t, data, reroute), code.ScopeFailed, "UntrustedCertificate", `endpoint: "nova.example:8774"`) // it is for 127.0.0.1
	reroute.InsecureSkipVerify = true
	if l := only(t, data, reroute); l.State != code.ScopeComplete {
		t.Errorf("%s: %+v", l.State, l.Fault)
	}
	for url, reason := range map[string]string{
		"http://127.0.0.1:1/v2.1": "UnexpectedAnswer", "https://user:pw@127.0.0.1/": "UnexpectedAnswer", "https://127.0.0.1/../x": "UnexpectedAnswer", "": "UnexpectedAnswer",
	} {
		s.Endpoint("compute", url)
		refused(t, only(t, data, infra.Access{}), code.ScopeFailed, reason, "")
	}
	given, _ := s.Logins()
	if n := s.Calls()["keystone DELETE /v3/auth/tokens"]; n != given {
		t.Errorf("%d of %d tokens were revoked", n, given)
	}
}

// A region that the cloud does not have, and none where it has two.
func TestRegions(t *testing.T) {
	_, data := cloudOf(t, openstacklab.Options{})
	other := openstacklab.WithClouds(t, data, nil, func(text string) string { return strings.ReplaceAll(text, "RegionOne", "RegionTwo") })
	seen := 0
	for _, l := range listings(t, small(), other, infra.Access{}) {
		if l.State == code.ScopeFailed {
			refused(t, l, code.ScopeFailed, "BadIdentity", "in region RegionTwo: it has one in RegionOne")
			seen++
		}
	}
	if seen == 0 {
		t.Error("a region that does not exist is listed")
	}
}

// A certificate that nothing vouches for is refused before anything is sent, with what
// to do; the operator's fingerprint is enough.
func TestCertificates(t *testing.T) {
	s, _ := cloudOf(t, openstacklab.Options{})
	data := openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), s.Identity, nil, openstacklab.Recorded.Password)
	l := only(t, data, infra.Access{})
	refused(t, l, code.ScopeFailed, "UntrustedCertificate", "thumbprint")
	if given, n := s.Logins(); given+n > 0 {
		t.Error("somebody logged in")
	}
	var creds []infra.Credential
	for _, at := range []string{s.Identity, s.Compute, s.Network, s.Image} {
		creds = append(creds, infra.Credential{Endpoint: at, CA: s.CA})
	}
	if l := only(t, data, infra.Access{Credentials: creds}); l.State != code.ScopeComplete {
		t.Errorf("%s: %+v", l.State, l.Fault)
	}
}

// What servers say when they are busy, broken, or not themselves.
func TestFaults(t *testing.T) {
	const servers, ports = "nova GET /v2.1/servers/detail", "neutron GET /v2.0/ports"
	for name, c := range map[string]struct {
		fault  openstacklab.Fault
		state  code.ScopeState
		reason string
	}{
		"busy once":             {openstacklab.Fault{Call: servers, From: 1, To: 1, Status: 429, Body: "{}", RetryAfter: 1}, code.ScopeComplete, ""},
		"busy":                  {openstacklab.Fault{Call: servers, Status: 429, Body: "{}"}, code.ScopeFailed, "Throttled"},
		"away":                  {openstacklab.Fault{Call: servers, Status: 503, Body: "{}"}, code.ScopeFailed, "ListingBroken"},
		"over a limit":          {openstacklab.Fault{Call: servers, Status: 413, Body: `{"overLimit": {"message": "quota"}}`}, code.ScopeFailed, "Throttled"},
		"an unscoped token":     {openstacklab.Fault{Call: "keystone POST /v3/auth/tokens", Change: func(o openstacklab.Object) { delete(o["token"].(map[string]any), "project") }}, code.ScopeFailed, "NoPermission"},
		"forbidden":             {openstacklab.Fault{Call: servers, Status: 403, Body: `{"forbidden": {"message": "Policy doesn't allow it"}}`}, code.ScopeFailed, "NoPermission"},
		"a token that ended":    {openstacklab.Fault{Call: servers, Status: 401, Body: "{}"}, code.ScopeFailed, "ListingBroken"},
		"another page":          {openstacklab.Fault{Call: servers, Status: 200, Body: "<html>welcome</html>"}, code.ScopeFailed, "UnexpectedAnswer"},
		"an empty object":       {openstacklab.Fault{Call: servers, Status: 200, Body: "{}"}, code.ScopeFailed, "UnexpectedAnswer"},
		"nothing":               {openstacklab.Fault{Call: servers, Status: 200, Body: ""}, code.ScopeFailed, "ListingBroken"},
		"an empty page, more":   {openstacklab.Fault{Call: servers, Change: openstacklab.WithoutServers}, code.ScopeFailed, "UnexpectedAnswer"},
		"ports forbidden":       {openstacklab.Fault{Call: ports, Status: 403, Body: "{}"}, code.ScopePartial, "NoPermission"},
		"ports without a list":  {openstacklab.Fault{Call: ports, Status: 200, Body: "{}"}, code.ScopePartial, "UnexpectedAnswer"},
		"second page again":     {openstacklab.Fault{Call: servers, From: 2, Change: func(o openstacklab.Object) { o["servers"] = firstPage }}, code.ScopePartial, "UnexpectedAnswer"},
		"ports again and again": {openstacklab.Fault{Call: ports, Change: func(o openstacklab.Object) { o["ports"], o["ports_links"] = firstPage, nextLink }}, code.ScopePartial, "UnexpectedAnswer"},
		"a server of others":    {openstacklab.Fault{Call: servers, Change: func(o openstacklab.Object) { o["servers"].([]any)[0].(map[string]any)["tenant_id"] = "other" }}, code.ScopeFailed, "UnexpectedAnswer"},
		"a server without id":   {openstacklab.Fault{Call: servers, Change: func(o openstacklab.Object) { o["servers"].([]any)[0].(map[string]any)["id"] = "" }}, code.ScopeFailed, "UnexpectedAnswer"},
		"no networks":           {openstacklab.Fault{Call: "neutron GET /v2.0/networks", Status: 500, Body: "{}"}, code.ScopeComplete, ""},
		"a login without token": {openstacklab.Fault{Call: "keystone POST /v3/auth/tokens", Status: 201, Body: `{"token": {}}`}, code.ScopeFailed, "UnexpectedAnswer"},
		"no keystone":           {openstacklab.Fault{Call: "keystone POST /v3/auth/tokens", Status: 404, Body: "not here"}, code.ScopeFailed, "UnexpectedAnswer"},
	} {
		t.Run(name, func(t *testing.T) {
			s, data := cloudOf(t, openstacklab.Options{PageSize: 10})
			switch name {
			case "second page again":
				firstPage = firstOf(s, "servers", 10)
			case "ports again and again":
				firstPage = firstOf(s, "ports", 10)
			}
			s.Fail(c.fault)
			began := time.Now()
			l := only(t, data, infra.Access{})
			if c.reason == "" {
				if l.State != c.state || l.Fault != nil {
					t.Errorf("%s: %+v", l.State, l.Fault)
				}
			} else {
				says := ""
				if strings.HasSuffix(name, " again") {
					says = "its pages repeat"
				}
				refused(t, l, c.state, c.reason, says)
			}
			if c.fault.RetryAfter > 0 && time.Since(began) < time.Second {
				t.Error("it did not wait as long as it was asked to")
			}
			if name == "no networks" && (!slices.Contains(l.Unread, openstack.KeyNetwork) || len(l.Warnings) == 0) {
				t.Errorf("unread are %v, %q", l.Unread, l.Warnings)
			}
		})
	}
}

var (
	firstPage []any
	nextLink  = []any{map[string]any{"rel": "next"}}
)

func firstOf(s *openstacklab.Server, kind string, n int) (page []any) {
	for _, o := range s.Objects(kind)[:n] {
		page = append(page, o)
	}
	return page
}

// A cloud under load says 500 now and then: each call is made again, also those of the
// login and of every page.
func TestBusyCloud(t *testing.T) {
	calls := []string{"nova GET /v2.1/servers/detail", "neutron GET /v2.0/ports", "neutron GET /v2.0/networks", "keystone POST /v3/auth/tokens"}
	for _, call := range calls {
		for _, from := range []int{1, 2} {
			s, data := cloudOf(t, openstacklab.Options{PageSize: 10})
			s.Fail(openstacklab.Fault{Call: call, From: from, To: from, Status: 500, Body: `{"computeFault": {"message": "Unexpected API Error."}}`})
			if l := only(t, data, infra.Access{}); l.State != code.ScopeComplete || len(l.Unread) > 0 {
				t.Errorf("%s, the %d. time: %s, %v, %+v", call, from, l.State, l.Unread, l.Fault)
			}
		}
	}
	// One that stays so is asked for a few times, and says what it answers.
	s, data := cloudOf(t, openstacklab.Options{})
	s.Fail(openstacklab.Fault{Call: calls[0], Status: 500, Body: `{"computeFault": {"message": "Unexpected API Error."}}`})
	refused(t, only(t, data, infra.Access{}), code.ScopeFailed, "ListingBroken", "it answered 500: Unexpected API Error.")
	if n := s.Calls()[calls[0]]; n != infra.Patient.Attempts {
		t.Errorf("it was asked %d times", n)
	}
	// A login that fails so may have failed at the server, and counts.
	s, data = cloudOf(t, openstacklab.Options{})
	s.Fail(openstacklab.Fault{Call: calls[3], Status: 500})
	only(t, data, infra.Access{})
	if n := s.Calls()[calls[3]]; n != infra.MaxFailedLogins {
		t.Errorf("it logged in %d times", n)
	}
}

// A proxy that says 503 before Keystone has tried no password: it is asked again as any other
// server is, and locks nothing.
func TestKeystoneIsAway(t *testing.T) {
	const login = "keystone POST /v3/auth/tokens"
	s, data := cloudOf(t, openstacklab.Options{})
	s.Fail(openstacklab.Fault{Call: login, To: 3, Status: 503, Body: "away"})
	if l := only(t, data, infra.Access{}); l.State != code.ScopeComplete || s.Calls()[login] != 4 {
		t.Errorf("%s after %d logins: %+v", l.State, s.Calls()[login], l.Fault)
	}
}

// What a busy cloud asks for is waited for, in seconds or until a date, and no longer than
// there is time.
func TestRetryAfter(t *testing.T) {
	for _, asks := range []string{"1", time.Now().Add(2500 * time.Millisecond).UTC().Format(http.TimeFormat)} {
		began := time.Now()
		if wait(t.Context(), asks); time.Since(began) < time.Second/2 {
			t.Errorf("%q: it waited %s", asks, time.Since(began))
		}
	}
	for _, asks := range []string{"", "soon", "-1", "Mon, 02 Jan 2006 15:04:05 GMT"} {
		began := time.Now()
		if wait(t.Context(), asks); time.Since(began) > time.Second/2 {
			t.Errorf("%q: it waited %s", asks, time.Since(began))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if wait(ctx, "3600"); time.Since(began) > 5*time.Second {
		t.Errorf("it waited %s of 50ms", time.Since(began))
	}
}
