package list

import (
	"os"
	"path/filepath"
	"testing"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/report/code"
)

// Another look goes where the AWS CLI goes with a profile: not to what the environment has.
func TestReachIsWhereTheProfileLeads(t *testing.T) {
	serve(t, lab.EC2Options{Instances: "../../../testdata/aws/describe-instances.json", Backup: "../../../testdata/fleet-data.tar.gz"}, nil)
	file := filepath.Join(t.TempDir(), "config")
	text := "[profile good]\naws_access_key_id = " + awstest.LabKey + "\naws_secret_access_key = " + awstest.LabSecret + "\naws_session_token = " + awstest.LabToken + "\n[profile bad]\naws_access_key_id = AKIAAAAAAAAAAAAAAAAA\naws_secret_access_key = wr0ng\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AWS_CONFIG_FILE": file, "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_ACCESS_KEY_ID": awstest.LabKey, "AWS_SECRET_ACCESS_KEY": awstest.LabSecret, "AWS_SESSION_TOKEN": awstest.LabToken} {
		t.Setenv(name, value)
	}
	look := func(profile, region string, s infra.Sought) infra.Listing {
		r := infra.NewRegistry(New())
		s.Location = region
		return r.Collect(t.Context(), []infra.Target{r.Reach(capa.Name, profile, s)}, nil).Listings[0]
	}
	l := look("good", "us-east-1", infra.Sought{IDs: []string{"i-0e09aee8835a36969", "i-0888c4ded0c78e6b6"}, Member: "i-002e263aadef727c1", Present: map[string]string{"vpc-0a1b2c3d4e5f60718": "VPC"}})
	if l.State != code.ScopeComplete || l.Identity != lab.EC2Account || l.Count() < 5 {
		t.Fatalf("%s, %+v, %s with %d", l.State, l.Fault, l.Identity, l.Count())
	}
	if len(l.PoolSizes) != 1 || l.PoolSizes[0].Desired != 3 {
		t.Errorf("the group of the member has %+v", l.PoolSizes)
	}
	vpc := false
	for _, k := range l.ProbesFound {
		vpc = vpc || k.Value == "vpc-0a1b2c3d4e5f60718"
	}
	if !vpc {
		t.Errorf("the VPC is not found: %v", l.ProbesFound)
	}
	for name, l := range map[string]infra.Listing{
		"another's keys": look("bad", "us-east-1", infra.Sought{}), "no such profile": look("other", "us-east-1", infra.Sought{}),
		"no profile": look("", "us-east-1", infra.Sought{}), "no region": look("good", "$(touch x)", infra.Sought{}),
	} {
		if l.State != code.ScopeFailed || l.Fault == nil || l.Fault.Hint == "" {
			t.Errorf("%s: %s, %+v", name, l.State, l.Fault)
		}
	}
}
