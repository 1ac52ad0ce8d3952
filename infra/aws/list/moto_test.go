//go:build moto

package list

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	autoscalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"

	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
	"drift-detector/internal/moto"
	"drift-detector/report/code"
)

// seeder builds the lab's AWS through the SDK. AWS chooses the ids.
type seeder struct {
	t      *testing.T
	ec2    *ec2.Client
	groups *autoscaling.Client
	elb    *elb.Client
	ids    map[string]string // of moto, by those of the lab
	subnet *string
}

func (s *seeder) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// seedMoto builds what the lab's file says and returns moto's ids by the lab's.
func seedMoto(t *testing.T, url string) map[string]string {
	t.Helper()
	instances := fleetInstancesOf(t)
	conf := sdk.Config{Region: awstest.Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(awstest.LabKey, awstest.LabSecret, "")}
	s := &seeder{t, ec2.NewFromConfig(conf), autoscaling.NewFromConfig(conf), elb.NewFromConfig(conf), map[string]string{}, nil}
	s.startsEmpty()
	s.network(instances)
	pools := map[string][]lab.EC2Instance{}
	for _, i := range instances {
		if g := slices.IndexFunc(i.Tags, func(t lab.EC2Tag) bool { return t.Key == awstest.TagGroup }); g >= 0 {
			pools[i.Tags[g].Value] = append(pools[i.Tags[g].Value], i)
			continue
		}
		s.run(i)
	}
	for name, members := range pools {
		s.pool(name, members)
	}
	return s.ids
}

// fleetInstancesOf returns the lab's instances.
func fleetInstancesOf(t *testing.T) (all []lab.EC2Instance) {
	t.Helper()
	data, err := os.ReadFile(fleetInstances)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Reservations []struct{ Instances []lab.EC2Instance }
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range doc.Reservations {
		all = append(all, r.Instances...)
	}
	return all
}

// startsEmpty sees that moto has no instances of its own.
func (s *seeder) startsEmpty() {
	out, err := s.ec2.DescribeInstances(s.t.Context(), &ec2.DescribeInstancesInput{})
	s.must(err)
	if len(out.Reservations) != 0 {
		s.t.Fatal("moto has instances already")
	}
}

func (s *seeder) network(instances []lab.EC2Instance) {
	vpc, err := s.ec2.CreateVpc(s.t.Context(), &ec2.CreateVpcInput{
		CidrBlock: sdk.String("10.0.0.0/16"),
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeVpc, Tags: []types.Tag{{
			Key: sdk.String(capa.TagOwner + "aws-prod"), Value: sdk.String(capa.Owned),
		}}}},
	})
	s.must(err)
	subnet, err := s.ec2.CreateSubnet(s.t.Context(), &ec2.CreateSubnetInput{VpcId: vpc.Vpc.VpcId, CidrBlock: sdk.String("10.0.1.0/24")})
	s.must(err)
	s.subnet = subnet.Subnet.SubnetId
	for _, i := range instances {
		if i.VPC != "" {
			s.ids[i.VPC] = *vpc.Vpc.VpcId
		}
	}
	_, err = s.elb.CreateLoadBalancer(s.t.Context(), &elb.CreateLoadBalancerInput{
		LoadBalancerName: sdk.String("aws-prod-apiserver"), Subnets: []string{*s.subnet},
		Listeners: []elbtypes.Listener{{Protocol: sdk.String("TCP"), LoadBalancerPort: 6443, InstancePort: sdk.Int32(6443)}},
	})
	s.must(err)
}

const image = "ami-12c6146b" // one of those that moto knows

func (s *seeder) run(i lab.EC2Instance) {
	var tags []types.Tag
	for _, t := range i.Tags {
		tags = append(tags, types.Tag{Key: sdk.String(t.Key), Value: sdk.String(t.Value)})
	}
	out, err := s.ec2.RunInstances(s.t.Context(), &ec2.RunInstancesInput{
		ImageId: sdk.String(image), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), SubnetId: s.subnet,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: tags}},
	})
	s.must(err)
	id := *out.Instances[0].InstanceId
	s.ids[i.InstanceID] = id
	switch i.State.Name {
	case "stopped":
		_, err = s.ec2.StopInstances(s.t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}})
	case "terminated":
		_, err = s.ec2.TerminateInstances(s.t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	}
	s.must(err)
}

// pool lets an autoscaling group make the members, as it is in life: nobody but
// AWS may set its tags.
func (s *seeder) pool(name string, members []lab.EC2Instance) {
	_, err := s.groups.CreateLaunchConfiguration(s.t.Context(), &autoscaling.CreateLaunchConfigurationInput{
		LaunchConfigurationName: &name, ImageId: sdk.String(image), InstanceType: sdk.String("m5.large"),
	})
	s.must(err)
	n := sdk.Int32(int32(len(members)))
	in := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, LaunchConfigurationName: &name, MinSize: n, MaxSize: n, DesiredCapacity: n, VPCZoneIdentifier: s.subnet,
	}
	for _, t := range members[0].Tags {
		if !strings.HasPrefix(t.Key, "aws:") {
			in.Tags = append(in.Tags, autoscalingtypes.Tag{
				Key: sdk.String(t.Key), Value: sdk.String(t.Value), PropagateAtLaunch: sdk.Bool(true),
				ResourceId: &name, ResourceType: sdk.String("auto-scaling-group"),
			})
		}
	}
	_, err = s.groups.CreateAutoScalingGroup(s.t.Context(), in)
	s.must(err)
	out, err := s.groups.DescribeAutoScalingGroups(s.t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	s.must(err)
	made := out.AutoScalingGroups[0].Instances
	if len(made) != len(members) {
		s.t.Fatalf("the group made %d instances, want %d", len(made), len(members))
	}
	for i, m := range members {
		s.ids[m.InstanceID] = *made[i].InstanceId
	}
}

// The lab's verdicts hold over the wire, against an AWS that somebody else wrote.
func TestMoto(t *testing.T) {
	url := moto.Serve(t)
	t.Setenv("AWS_ENDPOINT_URL", url)
	ids := seedMoto(t, url)
	rename := func(data []byte) []byte {
		for from, to := range ids {
			data = bytes.ReplaceAll(data, []byte(from), []byte(to))
		}
		return data
	}
	data := backuptest.Rewrite(t, fleet(t, awstest.Profile(awstest.LabKey, awstest.LabSecret, awstest.LabToken)), func(_ string, body []byte) ([]byte, bool) { return rename(body), true })
	want := readVerdicts(t)
	for i := range want.Instances {
		want.Instances[i].ID = ids[want.Instances[i].ID]
	}
	s, secrets := load(t, data)
	pool := New().Expected(s).Pools[0]
	for name, page := range map[string]int32{"one page": pageSize, "pages of 5": 5} {
		t.Run(name, func(t *testing.T) {
			inv := listAll(t, small(page), s, secrets, infra.Access{})
			l := inv.Listings[0]
			if l.State != code.ScopeComplete || l.Account != fleetAccount || len(l.Instances) != 11 || len(l.Unread) > 0 {
				t.Fatalf("the listing is %s of %s with %d instances, unread %v, fault %+v", l.State, l.Account, len(l.Instances), l.Unread, l.Fault)
			}
			own := slices.ContainsFunc(l.ProbesFound, func(k infra.Key) bool { return k.Kind == capa.KeyOwnVPC })
			if len(l.ProbesFound) != 4 || !own || !slices.Contains(l.ProbesFound, pool.Probe) {
				t.Errorf("found are %v, want VPC, that CAPA created it in this account, load balancer and pool", l.ProbesFound)
			}
			if want := []infra.PoolSize{{Probe: pool.Probe, Desired: 3}}; len(l.PoolSizes) != 1 || l.PoolSizes[0].Probe != want[0].Probe || l.PoolSizes[0].Desired != 3 || *l.PoolSizes[0].Living != 3 {
				t.Errorf("the pool is set to %v, want %v", l.PoolSizes, want)
			}
			members := 0
			for i := range l.Instances {
				if l.Instances[i].HasKey(pool.Key) {
					members++
				}
			}
			if members != 3 {
				t.Errorf("%d instances are members of the pool, want 3", members)
			}
			outcomeOf(decide(t, s, inv)).agrees(t, want)
		})
	}
	t.Run("a role", func(t *testing.T) {
		s, secrets := load(t, awstest.One(awstest.RoleIdentity, "a").Keys().Identity(awstest.RoleIdentity, "a", awstest.RoleSpec(awstest.RoleA, "ext", "", "")).Bytes())
		l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
		if l.State != code.ScopeComplete || l.Account != "222222222222" {
			t.Errorf("it is %s of %s: %+v", l.State, l.Account, l.Fault)
		}
	})
}

// EKS, which speaks JSON, is understood too, and what a group is set to.
func TestMotoEKS(t *testing.T) {
	url := moto.Serve(t)
	t.Setenv("AWS_ENDPOINT_URL", url)
	conf := sdk.Config{Region: awstest.Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(awstest.LabKey, awstest.LabSecret, "")}
	s := &seeder{t, ec2.NewFromConfig(conf), autoscaling.NewFromConfig(conf), elb.NewFromConfig(conf), map[string]string{}, nil}
	s.network(nil)
	role := "arn:aws:iam::" + fleetAccount + ":role/eks"
	made, err := eks.NewFromConfig(conf).CreateCluster(t.Context(), &eks.CreateClusterInput{
		Name: sdk.String("ns_cp"), RoleArn: &role, ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{*s.subnet}},
	})
	s.must(err)
	for name, want := range map[string]int{"cp": 2, "gone": 0} {
		b := awstest.NewBackup().Keys().EKS("ns", "c", name, map[string]any{
			"region": awstest.Region, "controlPlaneEndpoint": map[string]any{"host": sdk.ToString(made.Cluster.Endpoint)},
		})
		snapshot, secrets := load(t, b.Bytes())
		l := listAll(t, New(), snapshot, secrets, infra.Access{}).Listings[0]
		if l.State != code.ScopeComplete || len(l.Unread) > 0 || len(l.ProbesFound) != want {
			t.Errorf("%s: it is %s, unread %v, found %v", name, l.State, l.Unread, l.ProbesFound)
		}
	}
}
