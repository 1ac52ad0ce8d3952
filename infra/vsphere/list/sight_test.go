package list

import (
	"testing"

	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// TestRightsOnAResourcePoolProveNoFolder: who may not read the folders themselves sees
// VMs there that are in some resource pool, and not those of other pools.
func TestRightsOnAResourcePoolProveNoFolder(t *testing.T) {
	const gone = "alpha-prod-kcn2q"
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter})
	must(t, v.Remove(gone))
	role := func(now string) bent {
		return instead(`(?s)(<name>effectiveRole</name><val[^>]*>\s*<int[^>]*>)-1(</int>)`, "${1}"+now+"${2}")
	}
	for name, c := range map[string]struct {
		bend bent
		want code.Status
	}{
		"Admin":     {role("-1"), code.Stale},
		"Read-only": {role("-2"), code.Stale},
		"View":      {role("-3"), code.Unknown},
		"No access": {role("-5"), code.Unknown},
		"no role":   {instead(`(?s)(<name>effectiveRole</name><val[^>]*>)\s*<int[^>]*>-1</int>`, "${1}"), code.Unknown},
		"refused": {instead(`(?s)<propSet><name>effectiveRole</name>.*?</propSet>`,
			`<missingSet><path>effectiveRole</path><fault><fault xmlns:XMLSchema-instance="http://www.w3.org/2001/XMLSchema-instance" XMLSchema-instance:type="NoPermission"></fault><localizedMessage></localizedMessage></fault></missingSet>`), code.Unknown},
	} {
		l, r := (&between{method: "RetrievePropertiesEx", n: 1, bend: c.bend}).list(t, v)
		if l.State != code.ScopeComplete {
			t.Errorf("%s: the listing is %s: %+v", name, l.State, l.Fault)
		}
		for _, m := range machinesOf(r) {
			if m.Name == gone && m.Status != c.want {
				t.Errorf("%s: %s is %s %s, want %s", name, m.Name, m.Status, m.Reason, c.want)
			}
		}
	}
}
