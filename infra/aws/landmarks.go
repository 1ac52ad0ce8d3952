package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"

	"drift-detector/infra"
)

// lookup finds out which resources of one kind exist. Each kind may fail by
// itself: it is then unread, which says neither present nor absent.
type lookup struct {
	kind, action, what string
	batch              int
	// find returns those of the names that exist.
	find func(ctx context.Context, l *listing, names []string) ([]string, error)
}

// Filters, unlike ids, do not make a call fail that names something unknown;
// load balancers have no filter, so each is asked for by itself.
var lookups = []lookup{
	{keyVPC, "ec2:DescribeVpcs", "VPCs", idBatch, findVPCs},
	{keySubnet, "ec2:DescribeSubnets", "subnets", idBatch, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.subnets(ctx, &ec2.DescribeSubnetsInput{Filters: filter("subnet-id", names)})
		if err == nil {
			for i := range out.Subnets {
				found = append(found, aws.ToString(out.Subnets[i].SubnetId))
			}
		}
		return found, err
	}},
	{keySecurityGroup, "ec2:DescribeSecurityGroups", "security groups", idBatch, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.securityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filter("group-id", names)})
		if err == nil {
			for i := range out.SecurityGroups {
				found = append(found, aws.ToString(out.SecurityGroups[i].GroupId))
			}
		}
		return found, err
	}},
	{keyNAT, "ec2:DescribeNatGateways", "NAT gateways", idBatch, findNATs},
	{keyClassicLB, "elasticloadbalancing:DescribeLoadBalancers", "load balancers", 1, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.classicLBs(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: names})
		if err == nil {
			for i := range out.LoadBalancerDescriptions {
				found = append(found, aws.ToString(out.LoadBalancerDescriptions[i].LoadBalancerName))
			}
		}
		return found, unlessMissing(err)
	}},
	{keyLB, "elasticloadbalancing:DescribeLoadBalancers", "load balancers", 1, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.lbs(ctx, &elbv2.DescribeLoadBalancersInput{Names: names})
		if err == nil {
			for i := range out.LoadBalancers {
				found = append(found, aws.ToString(out.LoadBalancers[i].LoadBalancerName))
			}
		}
		return found, unlessMissing(err)
	}},
}

// findVPCs notes, too, which of them the caller's account owns and CAPA made, by
// the cluster in CAPA's tag. Of a VPC that accounts share, its owner and all others
// see the VPC, and of the instances in it nobody sees but his own (VPC user guide,
// "Share your VPC subnets with other accounts"); what CAPA made for a cluster is in
// the account of the cluster's instances.
func findVPCs(ctx context.Context, l *listing, names []string) (found []string, err error) {
	out, err := l.api.vpcs(ctx, &ec2.DescribeVpcsInput{Filters: filter("vpc-id", names)})
	if err != nil {
		return nil, err
	}
	for i := range out.Vpcs {
		v := &out.Vpcs[i]
		id, owner := aws.ToString(v.VpcId), aws.ToString(v.OwnerId)
		found = append(found, id)
		if owner == "" || owner != l.Account {
			continue
		}
		tags := readTags(v.Tags)
		for _, cluster := range tags.owners {
			l.found(keyOwnVPC, join(id, cluster))
		}
	}
	return found, nil
}

// findNATs counts gateways that work or come to: deleted ones are listed for
// about an hour.
func findNATs(ctx context.Context, l *listing, names []string) (found []string, err error) {
	out, err := l.api.nats(ctx, &ec2.DescribeNatGatewaysInput{Filter: filter("nat-gateway-id", names)})
	if err != nil {
		return nil, err
	}
	for i := range out.NatGateways {
		switch n := &out.NatGateways[i]; n.State {
		case ec2types.NatGatewayStateAvailable, ec2types.NatGatewayStatePending:
			found = append(found, aws.ToString(n.NatGatewayId))
		}
	}
	return found, nil
}

func filter(name string, values []string) []ec2types.Filter {
	return []ec2types.Filter{{Name: aws.String(name), Values: values}}
}

// unlessMissing takes the error that says that a load balancer does not exist
// for the answer that it is.
func unlessMissing(err error) error {
	switch code, _ := codeOf(err); code {
	case "LoadBalancerNotFound", "LoadBalancerNotFoundException", "AccessPointNotFound", "AccessPointNotFoundException":
		return nil
	}
	return err
}

// readLandmarks looks for the resources that the backup names.
func (l *listing) readLandmarks(ctx context.Context) {
	for _, look := range lookups {
		var names []string
		for k := range l.marks {
			if k.Kind == look.kind {
				names = append(names, k.Value)
			}
		}
		slices.Sort(names)
		for batch := range slices.Chunk(names, look.batch) {
			found, err := look.find(ctx, l, batch)
			if err != nil {
				l.unread(ctx, look.action, what(look, names), err, look.kind)
				break
			}
			for _, name := range found {
				l.found(look.kind, name)
			}
		}
	}
}

// found notes a landmark, if it is one that is looked for.
func (l *listing) found(kind, name string) {
	if k := (infra.Key{Kind: kind, Value: name}); l.marks[k] {
		l.Landmarks = append(l.Landmarks, k)
	}
}

func what(l lookup, names []string) string {
	const shown = 3
	if len(names) > shown {
		return "the " + l.what + " that the backup names"
	}
	return "the " + l.what + " " + strings.Join(names, ", ")
}
