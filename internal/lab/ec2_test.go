package lab

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
)

// awsFleet returns cluster aws-prod of the lab.
func awsFleet() EC2Options {
	return EC2Options{Instances: filepath.Join(testdata, "aws/describe-instances.json"), Backup: filepath.Join(testdata, "fleet-data.tar.gz")}
}

const (
	awsVPC       = "vpc-0a1b2c3d4e5f60718"
	awsInstances = 11
)

func startEC2(t *testing.T, o EC2Options) *EC2 {
	t.Helper()
	e, err := StartEC2(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// client returns a configuration of the real SDK for one region and key, without retries.
func client(e *EC2, region string, k EC2Key) aws.Config {
	return aws.Config{
		Region: region, BaseEndpoint: &e.URL, Credentials: credentials.NewStaticCredentialsProvider(k.ID, k.Secret, k.Token),
		Retryer:    func() aws.Retryer { return aws.NopRetryer{} },
		HTTPClient: &http.Client{Transport: plainBody{}},
	}
}

// plainBody hides the method WriteTo of the SDK's request bodies. Closed bodies
// answer it with io.EOF, which net/http takes for a failed write when a server
// answers at once, and closes the connection (smithy-go
// transport/http/internal/io/safe.go v1.28.8).
type plainBody struct{}

func (plainBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r = r.Clone(r.Context())
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return http.DefaultTransport.RoundTrip(r)
}

var goodKey = EC2Key{ID: EC2KeyID, Secret: EC2Secret}

// listAll reads all pages and returns the ids and the number of pages.
func listAll(t *testing.T, c aws.Config, in *ec2.DescribeInstancesInput) (ids []string, pages int, err error) {
	t.Helper()
	p := ec2.NewDescribeInstancesPaginator(ec2.NewFromConfig(c), in)
	for p.HasMorePages() {
		out, err := p.NextPage(t.Context())
		if err != nil {
			return ids, pages, err
		}
		pages++
		for _, r := range out.Reservations {
			for _, i := range r.Instances {
				ids = append(ids, *i.InstanceId)
			}
		}
	}
	return ids, pages, nil
}

func code(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return fmt.Sprint(err)
	}
	return api.ErrorCode()
}

func TestEC2ServesTheSavedInstances(t *testing.T) {
	e := startEC2(t, awsFleet())
	saved, err := readInstances(awsFleet().Instances)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ec2.NewFromConfig(client(e, "us-east-1", goodKey)).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	if err != nil {
		t.Fatal(err)
	}
	if len(saved) != awsInstances || len(out.Reservations) != awsInstances {
		t.Fatalf("%d instances were saved and %d are served, want %d", len(saved), len(out.Reservations), awsInstances)
	}
	for n, r := range out.Reservations {
		got, want := r.Instances[0], saved[n]
		served := EC2Instance{
			InstanceID: aws.ToString(got.InstanceId), ImageID: aws.ToString(got.ImageId), State: EC2State{int(*got.State.Code), string(got.State.Name)},
			InstanceType: string(got.InstanceType), LaunchTime: got.LaunchTime.UTC(), VPC: aws.ToString(got.VpcId), Subnet: aws.ToString(got.SubnetId),
			PrivateIPAddress: aws.ToString(got.PrivateIpAddress), PrivateDNSName: aws.ToString(got.PrivateDnsName),
		}
		served.Placement.AvailabilityZone = aws.ToString(got.Placement.AvailabilityZone)
		for _, tag := range got.Tags {
			served.Tags = append(served.Tags, EC2Tag{*tag.Key, *tag.Value})
		}
		want.LaunchTime = want.LaunchTime.UTC()
		if !reflect.DeepEqual(served, want) {
			t.Errorf("served %+v, saved was %+v", served, want)
		}
	}
}

func TestEC2Pages(t *testing.T) {
	for _, c := range []struct{ size, synthetic, instances, pages int }{
		{0, 0, awsInstances, 1}, {3, 0, awsInstances, 4}, {0, 2500 - awsInstances, 2500, 3},
	} {
		o := awsFleet()
		o.PageSize, o.Synthetic = c.size, c.synthetic
		e := startEC2(t, o)
		ids, pages, err := listAll(t, client(e, "us-east-1", goodKey), &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000)})
		if err != nil || pages != c.pages || len(ids) != c.instances {
			t.Errorf("%+v: %d instances on %d pages, error %v", c, len(ids), pages, err)
		}
		if slices.Sort(ids); len(slices.Compact(ids)) != c.instances {
			t.Errorf("%+v: some instances come twice", c)
		}
		if got := e.Calls(); !reflect.DeepEqual(got, map[string]int{"ec2:DescribeInstances": c.pages}) {
			t.Errorf("%+v: calls %v", c, got)
		}
	}
}

func TestEC2FiltersInstances(t *testing.T) {
	e := startEC2(t, awsFleet())
	c := client(e, "us-east-1", goodKey)
	filter := func(name string, values ...string) types.Filter {
		return types.Filter{Name: &name, Values: values}
	}
	for _, f := range []struct {
		filters []types.Filter
		ids     []string
		n       int
		code    string
	}{
		{filters: []types.Filter{filter("instance-id", "i-0888c4ded0c78e6b6", "i-0189badd56bb10537")}, n: 1},
		{filters: []types.Filter{filter("instance-state-name", "stopped", "terminated")}, n: 2},
		{filters: []types.Filter{filter("tag:sigs.k8s.io/cluster-api-provider-aws/cluster/aws-prod", "owned")}, n: 9},
		{filters: []types.Filter{filter("tag:Name", "aws-prod-md-1?-*")}, n: 5},
		{filters: []types.Filter{filter("tag-key", "kubernetes.io/cluster/*")}, n: 10},
		{filters: []types.Filter{filter("vpc-id", awsVPC)}, n: 10}, // one that is terminated has left it
		{filters: []types.Filter{filter("vpc-id", awsVPC), filter("tag:Name", "corp-bastion")}, n: 1},
		{filters: []types.Filter{filter("colour", "red")}, code: "InvalidParameterValue"},
		{filters: []types.Filter{filter("instance-id", make([]string, 201)...)}, code: "FilterLimitExceeded"},
		{ids: []string{"i-0189badd56bb10537"}, n: 1},
		{ids: []string{"i-0189badd56bb10537", "i-0888c4ded0c78e6b6"}, code: "InvalidInstanceID.NotFound"},
	} {
		ids, _, err := listAll(t, c, &ec2.DescribeInstancesInput{Filters: f.filters, InstanceIds: f.ids})
		switch {
		case f.code != "" && code(err) != f.code:
			t.Errorf("%+v: error %v, want %s", f, err, f.code)
		case f.code == "" && (err != nil || len(ids) != f.n):
			t.Errorf("%+v: %d instances, error %v", f, len(ids), err)
		}
	}
	_, err := ec2.NewFromConfig(c).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{MaxResults: aws.Int32(3)})
	if code(err) != "InvalidParameterValue" {
		t.Errorf("MaxResults 3: %v", err)
	}
}

func TestEC2AsksForAKey(t *testing.T) {
	o := awsFleet()
	other := EC2Key{ID: "AKIAOTHERACCOUNT0001", Secret: "s", Account: "999999999999"}
	session := EC2Key{ID: "ASIASESSION000000001", Secret: "s", Token: "right"}
	o.Keys = []EC2Key{goodKey, other, session}
	e := startEC2(t, o)
	wrongToken := session
	wrongToken.Token = "wrong"
	for name, c := range map[string]struct {
		key      EC2Key
		ec2, sts string // codes
		account  string
		n        int
	}{
		"known":          {key: goodKey, account: EC2Account, n: awsInstances},
		"with a token":   {key: session, account: EC2Account, n: awsInstances},
		"other account":  {key: other, account: "999999999999"},
		"unknown id":     {key: EC2Key{ID: "AKIAUNKNOWN000000001", Secret: EC2Secret}, ec2: "AuthFailure", sts: "InvalidClientTokenId"},
		"wrong secret":   {key: EC2Key{ID: EC2KeyID, Secret: "wrong"}, ec2: "AuthFailure", sts: "SignatureDoesNotMatch"},
		"wrong token":    {key: wrongToken, ec2: "AuthFailure", sts: "InvalidClientTokenId"},
		"token too many": {key: EC2Key{ID: EC2KeyID, Secret: EC2Secret, Token: "x"}, ec2: "AuthFailure", sts: "InvalidClientTokenId"},
	} {
		conf := client(e, "us-east-1", c.key)
		ids, _, err := listAll(t, conf, &ec2.DescribeInstancesInput{})
		me, stsErr := sts.NewFromConfig(conf).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		if c.ec2 != "" {
			if code(err) != c.ec2 || code(stsErr) != c.sts {
				t.Errorf("%s: EC2 says %v, STS %v", name, err, stsErr)
			}
			continue
		}
		if err != nil || stsErr != nil || len(ids) != c.n || *me.Account != c.account {
			t.Errorf("%s: %d instances, %v, account %+v, %v", name, len(ids), err, me, stsErr)
		}
	}
}

// TestEC2Environment: a process with nothing but that environment gets in.
func TestEC2Environment(t *testing.T) {
	e := startEC2(t, awsFleet())
	for _, setting := range e.Environment() {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	conf, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"))
	if err != nil {
		t.Fatal(err)
	}
	conf.HTTPClient = &http.Client{Transport: plainBody{}}
	if ids, _, err := listAll(t, conf, &ec2.DescribeInstancesInput{}); err != nil || len(ids) != awsInstances {
		t.Errorf("%d instances, error %v", len(ids), err)
	}
}

func TestEC2RegionsAndEdits(t *testing.T) {
	e := startEC2(t, awsFleet())
	far := EC2Instance{InstanceID: "i-0000000000000000f", State: EC2State{16, "running"}}
	far.Placement.AvailabilityZone = "eu-west-1b"
	e.Add(far)
	e.Change(func(i *EC2Instance) bool {
		i.Tags = append(i.Tags, EC2Tag{"seen", "yes"})
		return i.InstanceID != "i-0189badd56bb10537"
	})
	for region, want := range map[string]int{"us-east-1": awsInstances - 1, "eu-west-1": 1, "eu-west-2": 0} {
		ids, _, err := listAll(t, client(e, region, goodKey), &ec2.DescribeInstancesInput{
			Filters: []types.Filter{{Name: aws.String("tag:seen"), Values: []string{"yes"}}},
		})
		if err != nil || len(ids) != want {
			t.Errorf("%s: %v, error %v, want %d", region, ids, err, want)
		}
	}
}

func TestEC2ServesWhatTheBackupNames(t *testing.T) {
	type found struct {
		vpcs         int
		lbs, newLBs  string // error codes
		groupMembers int
	}
	look := func(e *EC2, region string) (f found) {
		ctx, conf := t.Context(), client(e, region, goodKey)
		vpcs, err := ec2.NewFromConfig(conf).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{
			Filters: []types.Filter{{Name: aws.String("vpc-id"), Values: []string{awsVPC, "vpc-00000000000000000"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.vpcs = len(vpcs.Vpcs)
		names := []string{"aws-prod-apiserver"}
		_, err = elb.NewFromConfig(conf).DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: names})
		f.lbs = code(err)
		_, err = elbv2.NewFromConfig(conf).DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{Names: names})
		f.newLBs = code(err)
		groups, err := autoscaling.NewFromConfig(conf).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range groups.AutoScalingGroups {
			if *g.AutoScalingGroupName != "aws-prod-mp-0" || int(*g.DesiredCapacity) != len(g.Instances) {
				t.Errorf("group %s wants %d of %d", *g.AutoScalingGroupName, *g.DesiredCapacity, len(g.Instances))
			}
			f.groupMembers += len(g.Instances)
		}
		return f
	}
	const none, missing = "<nil>", "LoadBalancerNotFound"
	e := startEC2(t, awsFleet())
	if got, want := look(e, "us-east-1"), (found{1, none, missing, 3}); got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if got, want := look(e, "eu-west-1"), (found{0, missing, missing, 0}); got != want {
		t.Errorf("in another region: found %+v, want %+v", got, want)
	}
	_, err := ec2.NewFromConfig(client(e, "us-east-1", goodKey)).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-1"}})
	if code(err) != "InvalidSubnetID.NotFound" {
		t.Errorf("an unknown subnet: %v", err)
	}
	bent := awsFleet()
	bent.Absent = []string{awsVPC, "aws-prod-apiserver"}
	if got, want := look(startEC2(t, bent), "us-east-1"), (found{0, missing, missing, 3}); got != want {
		t.Errorf("without what is absent: found %+v, want %+v", got, want)
	}
}

// A VPC shows to the account that owns it, and to every account when it is shared.
func TestEC2SharesVPCs(t *testing.T) {
	other := EC2Key{ID: "AKIAOTHERACCOUNT0001", Secret: "s", Account: "999999999999"}
	for _, shared := range []bool{false, true} {
		o := awsFleet()
		o.Keys = []EC2Key{goodKey, other}
		owner := EC2Account
		if shared {
			owner = "888888888888"
			o.SharedVPCs = map[string]string{awsVPC: owner}
		}
		e := startEC2(t, o)
		for _, key := range o.Keys {
			vpcs, err := ec2.NewFromConfig(client(e, "us-east-1", key)).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
			sees := shared || key.Account != other.Account
			if err != nil || len(vpcs.Vpcs) > 1 || (len(vpcs.Vpcs) == 1) != sees || sees && aws.ToString(vpcs.Vpcs[0].OwnerId) != owner {
				t.Errorf("shared %t, account %q: %+v, %v", shared, key.Account, vpcs, err)
			}
		}
	}
}

func TestEC2NetworkOfEveryKind(t *testing.T) {
	var p placement
	p.Spec.Region = "us-east-1"
	p.Spec.Network.Subnets = append(p.Spec.Network.Subnets, placedSubnet{ID: "made-by-capa", Resource: "subnet-1", NAT: "nat-1"})
	p.Status.Network.SecurityGroups = map[string]placedGroup{"node": {ID: "sg-1"}}
	p.Status.Network.LB.Name, p.Status.Network.LB.ARN = "nlb", "arn:aws:elasticloadbalancing:x"
	e := startEC2(t, EC2Options{})
	e.network = p.parts()
	conf := client(e, "us-east-1", goodKey)
	ctx, client := t.Context(), ec2.NewFromConfig(conf)
	subnets, err := client.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-1"}})
	if err != nil || len(subnets.Subnets) != 1 {
		t.Error(subnets, err)
	}
	groups, err := client.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{"sg-1"}})
	if err != nil || len(groups.SecurityGroups) != 1 {
		t.Error(groups, err)
	}
	nats, err := client.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{})
	if err != nil || len(nats.NatGateways) != 1 || nats.NatGateways[0].State != types.NatGatewayStateAvailable {
		t.Error(nats, err)
	}
	lbs, err := elbv2.NewFromConfig(conf).DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{Names: []string{"nlb"}})
	if err != nil || len(lbs.LoadBalancers) != 1 {
		t.Error(lbs, err)
	}
}
