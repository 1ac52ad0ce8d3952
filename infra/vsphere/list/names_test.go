package list

import (
	"encoding/base64"
	"fmt"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// One account under four names and four passwords: two logins fail.
func TestOneVCenterOfSeveralNames(t *testing.T) {
	v := serve(t, lab.VCenterOptions{Archive: fleetVCenter, Accounts: map[string]string{fleetUser: "current"}})
	p := New()
	var targets []infra.Target
	for i := range 4 {
		name := fmt.Sprintf("vc%d.example:443", i)
		data := edit(t, withServer(t, fleet(t), name), func(resource string, object map[string]any) bool {
			if values := backuptest.Inside(object, "data"); resource == "secrets" && values["password"] != nil {
				values["password"] = base64.StdEncoding.EncodeToString(fmt.Append(nil, "old ", i))
			}
			return true
		})
		s, secrets := load(t, data)
		targets = append(targets, p.Targets(s, secrets, reachAs(v, name))[0])
	}
	for _, l := range infra.NewRegistry(p).Collect(t.Context(), targets, nil).Listings {
		if l.State != code.ScopeFailed || faultOf(l).Reason != "AuthenticationFailed" {
			t.Errorf("%s is %s: %+v", l.Endpoint, l.State, faultOf(l))
		}
	}
	if got := v.Logins(); got.Failed != infra.MaxFailedLogins {
		t.Errorf("%d logins failed", got.Failed)
	}
}
