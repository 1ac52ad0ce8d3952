package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// saved is what the command line of AWS printed, of all calls.
type saved struct {
	Vpcs []struct {
		VpcID string `json:"VpcId"`
		Tags  []EC2Tag
	}
	Subnets []struct {
		SubnetID  string `json:"SubnetId"`
		VpcID     string `json:"VpcId"`
		CidrBlock string
	}
	SecurityGroups []struct {
		GroupID   string `json:"GroupId"`
		VpcID     string `json:"VpcId"`
		GroupName string
		Tags      []EC2Tag
	}
	NatGateways []struct {
		NatGatewayID string `json:"NatGatewayId"`
		VpcID        string `json:"VpcId"`
		SubnetID     string `json:"SubnetId"`
		State        string
	}
	LoadBalancerDescriptions []struct{ LoadBalancerName, DNSName, VPCId, Scheme string }
	LoadBalancers            []struct {
		LoadBalancerName, DNSName, Scheme string
		VpcID                             string `json:"VpcId"`
	}
	LaunchTemplateVersions []struct {
		LaunchTemplateName string
		LaunchTemplateData struct {
			ImageID            string `json:"ImageId"`
			InstanceType       string
			KeyName            string
			IamInstanceProfile struct{ Name string }
			SecurityGroupIDs   []string `json:"SecurityGroupIds"`
		}
	}
	AutoScalingGroups []struct {
		AutoScalingGroupName, AutoScalingGroupARN, VPCZoneIdentifier string
		DesiredCapacity                                              int
		Tags                                                         []EC2Tag
	}
}

// readState adds what the files of a folder say: "us-east-1-describe-vpcs.json". A
// region without a file of instances has none.
func (e *EC2) readState(folder string) error {
	if folder == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("%s holds no saved answers of AWS", folder), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		region := name[:strings.IndexAny(name, "0123456789")+1]
		switch strings.TrimPrefix(name, region+"-") {
		case "describe-instances.json":
			some, err := readInstances(file)
			if err != nil {
				return err
			}
			e.instances = append(e.instances, some...)
		case "eks.json":
			err = e.readEKS(file, region)
		case "nodegroups.json":
			err = e.readNodegroups(file, region)
		default:
			err = e.readAnswer(file, region)
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return nil
}

func (e *EC2) readAnswer(file, region string) error {
	var s saved
	if err := decodeFile(file, &s); err != nil {
		return err
	}
	add := func(p networkObject) {
		p.region = region
		e.network = append(e.network, p)
	}
	for _, v := range s.Vpcs {
		p := networkObject{kind: "ec2:DescribeVpcs", id: v.VpcID}
		p.owners = ownersIn(v.Tags)
		add(p)
	}
	for _, x := range s.Subnets {
		add(networkObject{kind: "ec2:DescribeSubnets", id: x.SubnetID, vpc: x.VpcID, cidr: x.CidrBlock})
	}
	for _, x := range s.SecurityGroups {
		p := networkObject{kind: "ec2:DescribeSecurityGroups", id: x.GroupID, vpc: x.VpcID, name: x.GroupName, owners: ownersIn(x.Tags)}
		if x.Tags == nil { // it was saved without them; CAPA's own have its tag
			p.owners = ownersBy(x.GroupName)
		}
		add(p)
	}
	for _, x := range s.NatGateways {
		add(networkObject{kind: "ec2:DescribeNatGateways", id: x.NatGatewayID, vpc: x.VpcID, state: x.State, subnet: x.SubnetID})
	}
	for _, x := range s.LoadBalancerDescriptions {
		add(networkObject{kind: classicLB, id: x.LoadBalancerName, vpc: x.VPCId, dns: x.DNSName, scheme: x.Scheme})
	}
	for _, x := range s.LoadBalancers {
		add(networkObject{kind: newLB, id: x.LoadBalancerName, vpc: x.VpcID, dns: x.DNSName, scheme: x.Scheme})
	}
	for _, x := range s.LaunchTemplateVersions {
		d := &x.LaunchTemplateData
		of := map[string]any{"ami": map[string]any{"id": d.ImageID}, "instanceType": d.InstanceType, "iamInstanceProfile": d.IamInstanceProfile.Name, "sshKeyName": d.KeyName}
		add(networkObject{kind: templatesAction, id: x.LaunchTemplateName, eks: map[string]any{"of": of, "groups": d.SecurityGroupIDs}})
	}
	for _, x := range s.AutoScalingGroups {
		e.groups = append(e.groups, EC2Group{
			Name: x.AutoScalingGroupName, ARN: x.AutoScalingGroupARN, Subnets: strings.Split(x.VPCZoneIdentifier, ","),
			Tags: x.Tags, Region: region, Desired: &x.DesiredCapacity,
		})
	}
	return nil
}

func ownersIn(tags []EC2Tag) (out []string) {
	for _, t := range tags {
		if owner, ok := strings.CutPrefix(t.Key, "sigs.k8s.io/cluster-api-provider-aws/cluster/"); ok {
			out = append(out, owner)
		}
	}
	return out
}

// ownersBy returns the cluster of one of CAPA's security groups, by its name.
func ownersBy(name string) []string {
	for _, role := range []string{"-apiserver-lb", "-controlplane", "-node-eks-additional", "-node", "-lb", "-bastion"} {
		if cluster, ok := strings.CutSuffix(name, role); ok {
			return []string{cluster}
		}
	}
	return nil
}

// readEKS reads control planes by their names.
func (e *EC2) readEKS(file, region string) error {
	var planes map[string]struct {
		Cluster struct {
			Endpoint, Status string
			VPC              struct {
				ID string `json:"vpcId"`
			} `json:"resourcesVpcConfig"`
		}
	}
	if err := decodeFile(file, &planes); err != nil {
		return err
	}
	for name, p := range planes {
		e.network = append(e.network, networkObject{
			kind: eksAction, region: region, id: name, vpc: p.Cluster.VPC.ID, dns: p.Cluster.Endpoint, state: p.Cluster.Status,
		})
	}
	return nil
}

// readNodegroups reads node groups by the names of their control planes and their own.
func (e *EC2) readNodegroups(file, region string) error {
	var groups map[string]struct{ Nodegroup map[string]any }
	if err := decodeFile(file, &groups); err != nil {
		return err
	}
	for name, g := range groups {
		e.network = append(e.network, networkObject{kind: nodegroupAction, region: region, id: name, eks: g.Nodegroup})
	}
	return nil
}

func decodeFile(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
