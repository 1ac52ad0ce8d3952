package list

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab/openstacklab"
	"drift-detector/report/code"
)

// underNames returns the targets of one Keystone under so many names, with another password for
// each, and what the operator says of them.
func underNames(t *testing.T, p infra.Provider, clouds []*openstacklab.Server, names int) []infra.Target {
	t.Helper()
	var all []infra.Target
	for i := range names {
		s, name := clouds[i%len(clouds)], fmt.Sprintf("keystone%d.example:5000", i)
		a := infra.Access{InsecureSkipVerify: true, Reroutes: []infra.Reroute{{From: name, To: strings.TrimSuffix(strings.TrimPrefix(s.Identity, "https://"), "/v3")}}}
		snapshot, secrets := openstacklab.Load(t, New(), openstacklab.LeadTo(t, openstacklab.Fleet(t, lab), "https://"+name+"/v3", nil, fmt.Sprintf("old-%d", i)))
		all = append(all, p.Targets(snapshot, secrets, a)...)
	}
	return all
}

// One account under four names and four passwords: two logins fail, all at once or one after
// the other; and at another Keystone it has two of its own.
func TestOneKeystoneOfSeveralNames(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		one := openstacklab.Serve(t, lab+"after", openstacklab.Options{TLS: true})
		other := openstacklab.Serve(t, lab+"after", openstacklab.Options{TLS: true})
		p := small()
		for i, clouds := range [][]*openstacklab.Server{{one}, {one, other}} {
			targets := underNames(t, p, clouds, 4)
			if len(targets) != 4 {
				t.Fatalf("%d targets", len(targets))
			}
			registry := infra.NewRegistry(p)
			for n := 0; n < len(targets); {
				upTo := n + 1
				if atOnce {
					upTo = len(targets)
				}
				for _, l := range registry.Collect(t.Context(), targets[n:upTo], nil).Listings {
					refused(t, l, code.ScopeFailed, "AuthenticationFailed", "")
				}
				n = upTo
			}
			_, first := one.Logins()
			_, second := other.Logins()
			if first != infra.MaxFailedLogins || second != i*infra.MaxFailedLogins {
				t.Errorf("at once %v: %d logins failed at one Keystone, %d at another", atOnce, first, second)
			}
		}
	}
}
