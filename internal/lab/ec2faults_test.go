package lab

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

func TestEC2Roles(t *testing.T) {
	const near, far = "arn:aws:iam::123456789012:role/near", "arn:aws:iam::999999999999:role/far"
	o := awsFleet()
	o.Roles = []EC2Role{{ARN: near, ExternalID: "tenant", Trusts: []string{EC2KeyID}}, {ARN: far, Trusts: []string{near}}}
	e := startEC2(t, o)
	assume := func(conf aws.Config, arn, external string) (aws.Config, error) {
		in := &sts.AssumeRoleInput{RoleArn: &arn, RoleSessionName: aws.String("test")}
		if external != "" {
			in.ExternalId = &external
		}
		out, err := sts.NewFromConfig(conf).AssumeRole(t.Context(), in)
		if err == nil {
			k := out.Credentials
			conf.Credentials = credentials.NewStaticCredentialsProvider(*k.AccessKeyId, *k.SecretAccessKey, *k.SessionToken)
		}
		return conf, err
	}
	own := client(e, "us-east-1", goodKey)
	for _, refused := range [][2]string{{near, ""}, {near, "other"}, {far, ""}, {"arn:aws:iam::1:role/none", ""}} {
		if _, err := assume(own, refused[0], refused[1]); code(err) != "AccessDenied" {
			t.Errorf("%v: %v", refused, err)
		}
	}
	asNear, err := assume(own, near, "tenant")
	if err != nil {
		t.Fatal(err)
	}
	if ids, _, err := listAll(t, asNear, &ec2.DescribeInstancesInput{}); err != nil || len(ids) != awsInstances {
		t.Errorf("as near: %v, %v", ids, err)
	}
	asFar, err := assume(asNear, far, "")
	if err != nil {
		t.Fatal(err)
	}
	if ids, _, err := listAll(t, asFar, &ec2.DescribeInstancesInput{}); err != nil || len(ids) != 0 {
		t.Errorf("as far: %v, %v", ids, err)
	}
	if got := e.Assumed(); !slices.Equal(got, []string{near, far}) {
		t.Errorf("assumed %v", got)
	}
}

func TestEC2Faults(t *testing.T) {
	o := awsFleet()
	o.PageSize = 3
	e := startEC2(t, o)
	for name, f := range map[string]struct {
		faults EC2Faults
		code   string
		n      int
	}{
		"none":          {n: awsInstances},
		"other region":  {faults: EC2Faults{DenyRegions: []string{"eu-west-1"}, ZoneOutage: []string{"eu-west-1"}}, n: awsInstances},
		"region denied": {faults: EC2Faults{DenyRegions: []string{"us-east-1"}}, code: "UnauthorizedOperation"},
		"action denied": {faults: EC2Faults{DenyActions: []string{"ec2:DescribeInstances"}}, code: "UnauthorizedOperation"},
		"expired":       {faults: EC2Faults{Expired: true}, code: "RequestExpired"},
		"throttled":     {faults: EC2Faults{ThrottleEvery: 2}, code: "RequestLimitExceeded", n: 3},
		"zone":          {faults: EC2Faults{ZoneOutage: []string{"us-east-1"}}, code: "Unavailable"},
	} {
		e.Bend(f.faults)
		ids, _, err := listAll(t, client(e, "us-east-1", goodKey), &ec2.DescribeInstancesInput{})
		if len(ids) != f.n || f.code == "" && err != nil || f.code != "" && code(err) != f.code {
			t.Errorf("%s: %d instances, error %v", name, len(ids), err)
		}
	}
	e.Bend(EC2Faults{DenyRegions: []string{"us-east-1"}})
	_, err := sts.NewFromConfig(client(e, "us-east-1", goodKey)).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if err != nil {
		t.Errorf("STS, which is in no region: %v", err)
	}
	e.Bend(EC2Faults{Expired: true})
	_, err = sts.NewFromConfig(client(e, "us-east-1", goodKey)).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	if code(err) != "ExpiredToken" {
		t.Errorf("STS with an expired key: %v", err)
	}
	e.Bend(EC2Faults{ZoneOutage: []string{"us-east-1"}})
	ids, _, err := listAll(t, client(e, "us-east-1", goodKey), &ec2.DescribeInstancesInput{InstanceIds: []string{"i-0189badd56bb10537"}})
	if err != nil || len(ids) != 1 {
		t.Errorf("one instance while a zone is disturbed: %v, %v", ids, err)
	}
}

func TestEC2CutsAPage(t *testing.T) {
	o := awsFleet()
	o.PageSize, o.Faults.CutPage = 3, 3
	e := startEC2(t, o)
	ids, pages, err := listAll(t, client(e, "us-east-1", goodKey), &ec2.DescribeInstancesInput{})
	if err == nil || !strings.Contains(err.Error(), "EOF") || pages != 2 || len(ids) != 6 {
		t.Errorf("%d instances on %d pages, error %v", len(ids), pages, err)
	}
}

// TestEC2ThrottlingIsRetried: what the SDK does by itself gets all pages.
func TestEC2ThrottlingIsRetried(t *testing.T) {
	o := awsFleet()
	o.PageSize, o.Faults.ThrottleEvery = 3, 2
	e := startEC2(t, o)
	conf := client(e, "us-east-1", goodKey)
	conf.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
	}
	ids, _, err := listAll(t, conf, &ec2.DescribeInstancesInput{})
	if err != nil || len(ids) != awsInstances || e.Calls()["ec2:DescribeInstances"] != 7 {
		t.Errorf("%d instances after %v, error %v", len(ids), e.Calls(), err)
	}
}

func TestEC2Close(t *testing.T) {
	e := startEC2(t, EC2Options{})
	e.Close()
	e.Close()
	if _, err := ec2.NewFromConfig(client(e, "us-east-1", goodKey)).DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{}); err == nil {
		t.Error("it still serves")
	}
}
