package list

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab/openstacklab"
)

func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{
		New: small, Start: startWorld,
		Conditions: []infratest.Condition{
			infratest.Whole, infratest.Broken, infratest.Unreadable, infratest.WrongPassword,
			infratest.Down, infratest.Hanging, infratest.PlainHTTP,
		},
	})
}

// fleetServers is how many servers the fleet has.
const fleetServers = 29

// small does not wait.
func small() infra.Provider {
	p := New().(*provider)
	p.retry.Pause = 1
	return p
}

func startWorld(t *testing.T, c infratest.Condition) infratest.World {
	const password = "m4rk3r-of-the-cloud"
	w := infratest.World{Count: fleetServers, Markers: []string{password}}
	at := "https://keystone.example:5000/v3"
	var ca []byte
	switch c {
	case infratest.Down, infratest.Hanging, infratest.PlainHTTP:
		addr, contacts := infratest.Listen(t)
		switch c {
		case infratest.Down:
			addr = infratest.ClosedPort(t)
		case infratest.PlainHTTP:
			const inURL = "m4rk3r-in-the-url"
			at = fmt.Sprintf("http://admin:%s@%s/v3", inURL, addr)
			w.Markers = []string{password, inURL}
		}
		w.Access = infra.Access{Reroutes: []infra.Reroute{{From: "keystone.example:5000", To: addr}}}
		w.Contacts = contacts
	default:
		account := openstacklab.Recorded
		if account.Password = password; c == infratest.WrongPassword {
			account.Password = "changed since"
		}
		pages := 10
		if c == infratest.Unreadable {
			pages = 0 // in a page that is full Nova has no room for servers of a cell that is down
		}
		s := openstacklab.Serve(t, lab+"after", openstacklab.Options{TLS: true, PageSize: pages, Accounts: []openstacklab.Account{account}})
		at, ca = s.Identity, s.CA
		w.Sessions = func() (int, int) {
			given, refused := s.Logins()
			return given - s.Calls()["keystone DELETE /v3/auth/tokens"], refused
		}
		switch c {
		case infratest.Broken:
			s.Fail(openstacklab.Fault{Call: "nova GET /v2.1/servers/detail", From: 2, Status: 500, Body: "{}"})
		case infratest.Unreadable:
			s.CellDown(s.Objects("servers")[3]["id"].(string))
		}
	}
	data := openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), at, ca, password)
	w.Load = func() (*backup.Snapshot, *backup.Secrets) { return openstacklab.Load(t, New(), data) }
	return w
}

// A cloud's addresses that would lead elsewhere are not contacted.
func TestBadAddressesAreRefused(t *testing.T) {
	addr, contacts := infratest.Listen(t)
	for _, at := range []string{
		"ftp://" + addr, "http://" + addr, "https://", "keystone example", "https://user:secret@" + addr + "/../v3",
		"https://" + addr + "/%2e%2e/", strings.Repeat("a", 500), "https://" + url.PathEscape(addr) + ":x/",
	} {
		s, secrets := openstacklab.Load(t, New(), openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), at, nil, "p"))
		for _, target := range small().Targets(s, secrets, infra.Access{}) {
			if target.Refused == nil || target.Refused.Hint == "" {
				t.Errorf("%q is not refused: %+v", at, target)
			}
		}
	}
	if n := contacts(); n > 0 {
		t.Errorf("it was contacted %d times", n)
	}
}
