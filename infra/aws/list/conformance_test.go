package list

import (
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/infra/infratest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

func TestConformance(t *testing.T) {
	infratest.Run(t, infratest.Harness{
		New: func() infra.Provider { return small(pageSize) }, Start: startWorld,
		// An instance that can be seen and not read does not exist in EC2, and a
		// backup names regions, no URLs.
		Conditions: []infratest.Condition{
			infratest.Whole, infratest.Broken, infratest.WrongPassword, infratest.Down, infratest.Hanging,
		},
	})
}

func startWorld(t *testing.T, c infratest.Condition) infratest.World {
	data := fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken))
	w := infratest.World{Count: 11, Markers: []string{awstest.LabSecret, awstest.LabToken, awstest.LabKey}}
	w.Load = func() (*backup.Snapshot, *backup.Secrets) { return load(t, data) }
	switch c {
	case infratest.Down:
		t.Setenv("AWS_ENDPOINT_URL", "http://"+infratest.ClosedPort(t))
	case infratest.Hanging:
		addr, _ := infratest.Listen(t)
		t.Setenv("AWS_ENDPOINT_URL", "http://"+addr)
	default:
		o := fleetEC2()
		o.PageSize = 3
		if c == infratest.WrongPassword {
			o.Keys = []lab.EC2Key{{ID: awstest.LabKey, Secret: "changed since", Token: awstest.LabToken}}
		}
		f := serve(t, o, func(got call) *trouble {
			if c == infratest.Broken && got.action == "DescribeInstances" && got.n > 2 {
				return &trouble{code: "InternalFailure"}
			}
			return nil
		})
		w.Sessions = func() (int, int) {
			if c == infratest.WrongPassword {
				return 0, f.counts()["GetCallerIdentity"]
			}
			return 0, 0
		}
	}
	return w
}

// A name of a region that would lead elsewhere is not contacted.
func TestBadRegionsAreRefused(t *testing.T) {
	addr, contacts := infratest.Listen(t)
	t.Setenv("AWS_ENDPOINT_URL", "http://"+addr)
	for _, region := range []string{"x.evil.example/", "us-east-1.evil.example", "us-east-1@evil.example", "US-EAST-1", "", "-1", strings.Repeat("a-", 500)} {
		b := awstest.NewBackup().Cluster("ns", "alpha", region, "vpc-1").Set("ns", "alpha", "alpha-md", 0).Keys()
		s, secrets := load(t, b.Bytes())
		for _, l := range listAll(t, New(), s, secrets, infra.Access{}).Listings {
			if l.State != code.ScopeFailed || l.Fault.Reason != "BadEndpoint" || l.Fault.Hint == "" {
				t.Errorf("region %q: %s, %+v", region, l.State, l.Fault)
			}
		}
	}
	if n := contacts(); n > 0 {
		t.Errorf("it was contacted %d times", n)
	}
}
