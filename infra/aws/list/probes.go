package list

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/report/code"
)

// lookup finds out which resources of one kind exist. Each kind may fail by
// itself: it is then unread, which says neither present nor absent.
type lookup struct {
	kind         infra.KeyKind
	action, what string
	batch        int
	// find returns those of the names that exist, as probes write them.
	find func(ctx context.Context, l *listing, names []string) ([]string, error)
}

// Filters, unlike ids, do not make a call fail that names something unknown;
// load balancers and control planes have no filter, so each is asked for by itself.
var lookups = []lookup{
	{capa.KeyVPC, "ec2:DescribeVpcs", "VPCs", idBatch, findVPCs},
	{capa.KeySubnet, "ec2:DescribeSubnets", "subnets", idBatch, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.subnets(ctx, &ec2.DescribeSubnetsInput{Filters: filter("subnet-id", names)})
		if err == nil {
			for i := range out.Subnets {
				if n := &out.Subnets[i]; subnetServes(n) {
					found = append(found, aws.ToString(n.SubnetId))
				}
			}
		}
		return found, err
	}},
	{capa.KeySecurityGroup, "ec2:DescribeSecurityGroups", "security groups", idBatch, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.securityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filter("group-id", names)})
		if err == nil {
			for i := range out.SecurityGroups {
				l.takeSecurityGroup(&out.SecurityGroups[i])
			}
		}
		return nil, err
	}},
	{capa.KeyNAT, "ec2:DescribeNatGateways", "NAT gateways", idBatch, findNATs},
	{capa.KeyClassicLB, "elasticloadbalancing:DescribeLoadBalancers", "load balancers", 1, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.classicLBs(ctx, &elb.DescribeLoadBalancersInput{LoadBalancerNames: names})
		if err == nil {
			for i := range out.LoadBalancerDescriptions {
				lb := &out.LoadBalancerDescriptions[i]
				found = append(found, l.balancer(lb.LoadBalancerName, lb.VPCId, lb.DNSName)...)
				l.note(capa.FactBalancer, "classic/"+aws.ToString(lb.LoadBalancerName), capa.BalancerFact{VPC: aws.ToString(lb.VPCId), Scheme: aws.ToString(lb.Scheme), DNS: aws.ToString(lb.DNSName)})
				l.note(capa.FactTargets, "classic/"+aws.ToString(lb.LoadBalancerName), classicTargets(lb))
			}
		}
		return found, unlessMissing(err)
	}},
	{capa.KeyLB, "elasticloadbalancing:DescribeLoadBalancers", "load balancers", 1, func(ctx context.Context, l *listing, names []string) (found []string, err error) {
		out, err := l.api.lbs(ctx, &elbv2.DescribeLoadBalancersInput{Names: names})
		if err == nil {
			for i := range out.LoadBalancers {
				lb := &out.LoadBalancers[i]
				found = append(found, l.balancer(lb.LoadBalancerName, lb.VpcId, lb.DNSName)...)
				l.note(capa.FactBalancer, "v2/"+aws.ToString(lb.LoadBalancerName), balancerFactOf(lb))
				l.lbs[aws.ToString(lb.LoadBalancerName)] = aws.ToString(lb.LoadBalancerArn)
			}
		}
		return found, unlessMissing(err)
	}},
	{capa.KeyEKS, "eks:DescribeCluster", "EKS control planes", 1, findPlane},
}

// fact returns the kind of Facts that a lookup notes; empty: none.
func (l *lookup) fact() string {
	switch l.kind {
	case capa.KeyVPC:
		return capa.FactVPC
	case capa.KeyClassicLB, capa.KeyLB:
		return capa.FactBalancer
	case capa.KeyEKS:
		return capa.FactPlane
	}
	return ""
}

func balancerFactOf(lb *elbv2types.LoadBalancer) capa.BalancerFact {
	f := capa.BalancerFact{VPC: aws.ToString(lb.VpcId), Scheme: string(lb.Scheme), DNS: aws.ToString(lb.DNSName)}
	if lb.State != nil {
		f.State = string(lb.State.Code)
	}
	return f
}

// balancer notes that the name which AWS gave a load balancer is seen, and returns
// the probes of its own name: in its VPC, and in any.
func (l *listing) balancer(name, vpc, dns *string) []string {
	l.found(capa.KeyLBName, capa.HostOf(aws.ToString(dns)))
	return []string{infra.Join(aws.ToString(vpc), aws.ToString(name)), infra.Join("", aws.ToString(name))}
}

// findPlane looks for one control plane. One that is being deleted is gone in a
// moment, and CAPA makes it again then.
func findPlane(ctx context.Context, l *listing, names []string) (found []string, err error) {
	out, err := l.api.plane(ctx, &eks.DescribeClusterInput{Name: &names[0]})
	if err != nil {
		return nil, unlessMissing(err)
	}
	l.found(capa.KeyEndpoint, capa.HostOf(aws.ToString(out.Cluster.Endpoint)))
	l.note(capa.FactPlane, names[0], planeFactOf(out.Cluster))
	if out.Cluster.Status == ekstypes.ClusterStatusDeleting {
		return nil, nil
	}
	l.planes = append(l.planes, names[0])
	return names, nil
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
		if v.State != "" && v.State != ec2types.VpcStateAvailable && v.State != ec2types.VpcStatePending {
			continue
		}
		found = append(found, id)
		tags := tagsOf(v.Tags)
		l.note(capa.FactVPC, id, capa.VPCFact{Owners: tags.Owners})
		if owner == "" || owner != l.Account {
			continue
		}
		for _, cluster := range tags.Owners {
			l.found(capa.KeyOwnVPC, infra.Join(id, cluster))
		}
	}
	return found, nil
}

// findNATs counts gateways that work or come to.
func findNATs(ctx context.Context, l *listing, names []string) (found []string, err error) {
	out, err := l.api.nats(ctx, &ec2.DescribeNatGatewaysInput{Filter: filter("nat-gateway-id", names)})
	if err != nil {
		return nil, err
	}
	for i := range out.NatGateways {
		if n := &out.NatGateways[i]; natServes(n) {
			found = append(found, aws.ToString(n.NatGatewayId))
		}
	}
	return found, nil
}

func filter(name string, values []string) []ec2types.Filter {
	return []ec2types.Filter{{Name: aws.String(name), Values: values}}
}

// unlessMissing takes the error that says that a load balancer or a control plane
// does not exist for the answer that it is.
func unlessMissing(err error) error {
	switch code, _ := codeOf(err); code {
	case "LoadBalancerNotFound", "LoadBalancerNotFoundException", "AccessPointNotFound", "AccessPointNotFoundException", "ResourceNotFoundException", "NoSuchEntity", "NoSuchEntityException":
		return nil
	}
	return err
}

// readProbes looks for the resources that the backup names, and that were not seen yet.
func (l *listing) readProbes(ctx context.Context) {
	seen := make(map[infra.Key]bool, len(l.ProbesFound))
	for _, k := range l.ProbesFound {
		seen[k] = true
	}
	for _, look := range lookups {
		if slices.Contains(l.Unread, look.kind) {
			continue
		}
		var names []string
		for k := range l.marks {
			if k.Kind == look.kind && !seen[k] {
				names = append(names, capa.NameIn(k))
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		for batch := range slices.Chunk(names, look.batch) {
			found, err := look.find(ctx, l, batch)
			if err != nil {
				if l.unread(ctx, look.action, what(look, names, l.target.Subject), err, look.kind); look.fact() != "" {
					l.unreadFact(ctx, look.fact(), look.action, what(look, names, l.target.Subject), err)
				}
				break
			}
			for _, name := range found {
				l.found(look.kind, name)
			}
		}
		if look.fact() != "" && l.wants(look.kind) && !slices.ContainsFunc(l.FactsUnread, func(f infra.Fact) bool { return f.Name == look.fact() }) {
			l.noteRead(look.fact())
		}
	}
}

// found notes a probe, if it is one that is looked for.
func (l *listing) found(kind infra.KeyKind, name string) {
	if k := (infra.Key{Kind: kind, Value: name}); l.marks[k] {
		l.ProbesFound = append(l.ProbesFound, k)
	}
}

func what(l lookup, names []string, of code.Subject) string {
	const shown = 3
	if len(names) > shown {
		return "the " + l.what + " that " + of.The() + " names"
	}
	return "the " + l.what + " " + strings.Join(names, ", ")
}
