package list

import (
	"fmt"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// One key with four secrets, in four regions: it is refused twice, and then not asked again.
func TestOneKeyOfSeveralSecrets(t *testing.T) {
	regions := []string{"us-east-1", "us-east-2", "eu-west-1", "eu-west-2"}
	for _, atOnce := range []bool{false, true} {
		f := serve(t, lab.EC2Options{}, func(c call) *trouble { return &trouble{code: "SignatureDoesNotMatch"} })
		p := small(pageSize)
		var targets []infra.Target
		for i, region := range regions {
			s, secrets := load(t, awstest.NewBackup().Cluster("ns", "a", region, "vpc-1", awstest.StaticIdentity, "same").Static("capa-system", "same", "same").Bytes())
			for _, target := range p.Targets(s, secrets, infra.Access{}) {
				c := target.Credential.(capa.Credential)
				c.Secret = backup.NewSensitive(fmt.Sprint("old-", i))
				target.Credential = c
				targets = append(targets, target)
			}
		}
		registry := infra.NewRegistry(p)
		var all []infra.Listing
		if atOnce {
			all = registry.Collect(t.Context(), targets, nil).Listings
		} else {
			for i := range targets {
				all = append(all, registry.Collect(t.Context(), targets[i:i+1], nil).Listings...)
			}
		}
		told := 0
		for _, l := range all {
			if l.State != code.ScopeFailed || l.Fault.Reason != "AuthenticationFailed" {
				t.Errorf("it is %s: %+v", l.State, l.Fault)
			}
			if strings.Contains(l.Fault.Message, "no further one is tried") {
				told++
			}
		}
		if n := f.counts()["GetCallerIdentity"]; n != infra.MaxFailedLogins || told != 2 || len(all) != 4 {
			t.Errorf("at once %v: %d logins failed, %d of %d say why they were not tried", atOnce, n, told, len(all))
		}
	}
}
