package lab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// What AWS printed is served again, EKS among it, each thing in its region.
func TestEC2ServesASavedState(t *testing.T) {
	e := startEC2(t, EC2Options{State: filepath.Join(testdata, "capa/aws"), Absent: []string{"vpc-098a32b94490732ee"}})
	east, west := client(e, "us-east-1", goodKey), client(e, "us-west-2", goodKey)
	if ids, _, err := listAll(t, west, &ec2.DescribeInstancesInput{}); err != nil || len(ids) != 2 {
		t.Errorf("in the west there are %v, %v", ids, err)
	}
	ctx := t.Context()
	plane, err := eks.NewFromConfig(east).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("team-c_eks-c-control-plane")})
	if err != nil || plane.Cluster.Status != "ACTIVE" || aws.ToString(plane.Cluster.Endpoint) != "https://58ZV3NirLUjLiOgpAuM3.GG9.us-east-1.eks.amazonaws.com/" ||
		aws.ToString(plane.Cluster.ResourcesVpcConfig.VpcId) != "vpc-a7fdb4f4ee2186e00" {
		t.Errorf("the control plane is %+v, %v", plane, err)
	}
	if _, err := eks.NewFromConfig(west).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("team-c_eks-c-control-plane")}); code(err) != "ResourceNotFoundException" {
		t.Errorf("in another region: %v", err)
	}
	e.Bend(EC2Faults{DenyActions: []string{eksAction}})
	if _, err := eks.NewFromConfig(east).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("x")}); code(err) != "AccessDeniedException" {
		t.Errorf("denied: %v", err)
	}
	groups, err := autoscaling.NewFromConfig(east).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"pool-b-mp-0"}})
	if err != nil || len(groups.AutoScalingGroups) != 1 || *groups.AutoScalingGroups[0].DesiredCapacity != 3 || len(groups.AutoScalingGroups[0].Instances) != 2 {
		t.Errorf("the group is %+v, %v", groups, err)
	}
	vpcs, err := ec2.NewFromConfig(east).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	if err != nil || len(vpcs.Vpcs) != 6 {
		t.Errorf("%d VPCs, %v", len(vpcs.Vpcs), err)
	}
	classic, err := elb.NewFromConfig(east).DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
	if err != nil || len(classic.LoadBalancerDescriptions) != 1 || aws.ToString(classic.LoadBalancerDescriptions[0].VPCId) != "vpc-9353354e4784467d8" {
		t.Errorf("classic load balancers: %+v, %v", classic, err)
	}
	others, err := elbv2.NewFromConfig(east).DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{})
	if err != nil || len(others.LoadBalancers) != 2 || aws.ToString(others.LoadBalancers[0].DNSName) == "" {
		t.Errorf("load balancers: %+v, %v", others, err)
	}
}

func TestEC2RefusesAStateThatIsNone(t *testing.T) {
	folder := t.TempDir()
	if _, err := StartEC2(EC2Options{State: folder}); err == nil {
		t.Error("an empty folder is a state")
	}
	if err := os.WriteFile(filepath.Join(folder, "us-east-1-describe-vpcs.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := StartEC2(EC2Options{State: folder}); err == nil {
		t.Error("what is no JSON is a state")
	}
}

// A zone is in its region, whatever kind it is of.
func TestEC2RegionOfAZone(t *testing.T) {
	for zone, want := range map[string]string{"us-west-2a": "us-west-2", "us-west-2-lax-1a": "us-west-2", "us-east-1-wl1-bos-wlz-1": "us-east-1", "": ""} {
		i := EC2Instance{}
		i.Placement.AvailabilityZone = zone
		if got := i.region(); got != want {
			t.Errorf("%q is in %q, want %q", zone, got, want)
		}
	}
}
