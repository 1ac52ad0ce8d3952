package aws

import (
	"strings"
	"testing"

	"drift-detector/infra/aws/awstest"
)

func TestStrongKeys(t *testing.T) {
	for id, want := range map[string]string{
		"aws:///us-east-1a/i-0123456789abcdef0":      "i-0123456789abcdef0",
		"aws:////i-0123456789abcdef0":                "i-0123456789abcdef0",
		" AWS:///us-east-1a/I-0123456789ABCDEF0 ":    "i-0123456789abcdef0",
		"aws:///us-east-1a/i-12345678":               "i-12345678",
		"aws:///us-east-1a/fargate-ip-10-0-0-1":      "",
		"vsphere://422f5bd1-0000-0000-0000-00000000": "",
		"aws://": "", "": "", "aws:///us-east-1a/i-": "",
	} {
		got := ""
		if keys := providerIDKeys(id); keys != nil {
			got = keys[0].Value
		}
		if got != want {
			t.Errorf("%q gives %q, want %q", id, got, want)
		}
	}
}

func TestConflictingIDs(t *testing.T) {
	b := awstest.NewBackup().Cluster("ns", "prod", awstest.Region, "vpc-1")
	b.Add("awsmachines."+group, awstest.Object(machineKind, "ns", "m", "prod", map[string]any{
		"instanceID": awstest.InstanceID(1), "providerID": "aws:///us-east-1a/" + awstest.InstanceID(2),
	}))
	s, _ := awstest.Load(t, want, b.Bytes())
	c := pure.Expected(s)
	if len(c.Machines) != 1 || c.Machines[0].Orphan == nil || !strings.Contains(c.Machines[0].Conflict, awstest.InstanceID(2)) {
		t.Errorf("the claims are %+v", c.Machines)
	}
}

// The region of a cluster whose own object is missing is that of its machines.
func TestRegionFromZones(t *testing.T) {
	for _, c := range []struct {
		zones []string
		want  string
	}{
		{[]string{"us-east-1a", "us-east-1b", ""}, "us-east-1"},
		{[]string{"us-east-1a", "eu-west-1a"}, ""},
		{[]string{"us-gov-west-1a"}, "us-gov-west-1"},
		{[]string{"us-west-2-lax-1a", "us-west-2-wl1-las-wlz-1", "us-west-2b"}, "us-west-2"},
		{[]string{"us-west-2-lax-1a", "us-east-1-bos-1a"}, ""},
		{[]string{"x.evil.example/a"}, ""},
		{nil, ""},
	} {
		if got := regionOfZones(c.zones); got != c.want {
			t.Errorf("%q give %q, want %q", c.zones, got, c.want)
		}
	}
}
