package list

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
)

// vpcBatch is how many VPCs one filter names; each has a handful of groups whose names are
// beside them in another.
const vpcBatch = 25

// readNetworks reads what is in the VPCs that the backup names: CAPA asks for all of it, and
// takes what is in the place of what the backup records.
func (l *listing) readNetworks(ctx context.Context) {
	var vpcs []string
	for k := range l.marks {
		if k.Kind == capa.KeyVPC {
			vpcs = append(vpcs, k.Value)
		}
	}
	slices.Sort(vpcs)
	subnets, nats := []infra.KeyKind{capa.KeySubnet, capa.KeySubnetCIDR}, []infra.KeyKind{capa.KeyNAT, capa.KeySubnetNAT}
	for _, read := range []struct {
		fact, action, what string
		wanted             []infra.KeyKind // any of them
		kinds              []infra.KeyKind // that are unread where it is
		of                 func(context.Context, []string) error
	}{
		{capa.FactSubnets, "ec2:DescribeSubnets", "the subnets of VPCs", subnets, subnets, l.readSubnets},
		{capa.FactGroup, "ec2:DescribeSecurityGroups", "the security groups of VPCs", []infra.KeyKind{capa.KeyVPC}, []infra.KeyKind{capa.KeySecurityGroup}, l.readSecurityGroups},
		{capa.FactNAT, "ec2:DescribeNatGateways", "the NAT gateways of VPCs", nats, nats, l.readNATs},
		{capa.FactRoutes, "ec2:DescribeRouteTables", "the route tables of VPCs", subnets, nil, l.readRoutes},
	} {
		if len(vpcs) == 0 || !slices.ContainsFunc(read.wanted, l.wants) {
			continue
		}
		var err error
		for batch := range slices.Chunk(vpcs, vpcBatch) {
			if err = read.of(ctx, batch); err != nil {
				break
			}
		}
		if err != nil {
			l.unread(ctx, read.action, read.what, err, read.kinds...)
			l.unreadFact(ctx, read.fact, read.action, read.what, err)
			continue
		}
		l.noteRead(read.fact)
	}
}

// pages asks for one page after the other until there is no more.
func pages(operation string, next func(token *string) (*string, error)) error {
	var token *string
	for range maxPages {
		more, err := next(token)
		if err != nil {
			return err
		}
		if aws.ToString(more) == "" {
			return nil
		}
		if err := repeats(operation, token, more); err != nil {
			return err
		}
		token = more
	}
	return errEndless
}

func (l *listing) readSubnets(ctx context.Context, vpcs []string) error {
	all := map[string][]capa.SubnetFact{}
	err := pages("DescribeSubnets", func(token *string) (*string, error) {
		out, err := l.api.subnets(ctx, &ec2.DescribeSubnetsInput{Filters: filter("vpc-id", vpcs), MaxResults: aws.Int32(pageSize), NextToken: token})
		if err != nil {
			return nil, err
		}
		for i := range out.Subnets {
			n := &out.Subnets[i]
			if !subnetServes(n) {
				continue
			}
			vpc, one := aws.ToString(n.VpcId), capa.SubnetFact{ID: aws.ToString(n.SubnetId), CIDR: aws.ToString(n.CidrBlock), Public: tagsOf(n.Tags).Role == "public"}
			all[vpc] = append(all[vpc], one)
			l.found(capa.KeySubnet, one.ID)
			l.found(capa.KeySubnetCIDR, infra.Join(vpc, one.CIDR))
		}
		return out.NextToken, nil
	})
	for _, vpc := range slices.Sorted(maps.Keys(all)) {
		l.note(capa.FactSubnets, vpc, all[vpc])
	}
	return err
}

// subnetServes reports whether CAPA takes a subnet (filter.EC2.SubnetStates in
// pkg/cloud/filter/ec2.go v2.13.0).
func subnetServes(n *types.Subnet) bool {
	return n.State == "" || n.State == types.SubnetStateAvailable || n.State == types.SubnetStatePending
}

// addRoutes adds where the routes of a table lead. One that leads nowhere makes a subnet public all
// the same (describeVpcSubnets in pkg/cloud/services/network/subnets.go v2.13.0).
func addRoutes(f *capa.RoutesFact, routes []types.Route) {
	if len(routes) > 0 {
		f.Internet = capa.Unrouted
	}
	for i := range routes {
		r := &routes[i]
		for _, id := range []string{aws.ToString(r.GatewayId), aws.ToString(r.CarrierGatewayId), aws.ToString(r.EgressOnlyInternetGatewayId)} {
			public := strings.HasPrefix(id, capa.Gateway) || strings.HasPrefix(id, capa.CarrierGateway)
			if public {
				f.Internet = capa.Routed
			}
			if (public || strings.HasPrefix(id, capa.EgressGateway)) && r.State != "" {
				if f.Gateways == nil {
					f.Gateways = map[string]bool{}
				}
				f.Gateways[id] = r.State != types.RouteStateBlackhole
			}
		}
	}
}

// mostRules bounds how many rules of a group are named: CAPA makes a dozen.
const mostRules = 60

func (l *listing) readSecurityGroups(ctx context.Context, vpcs []string) error {
	var names []string
	for _, vpc := range vpcs {
		names = append(names, l.detail.Groups[vpc]...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for batch := range slices.Chunk(names, idBatch) {
		err := pages("DescribeSecurityGroups", func(token *string) (*string, error) {
			out, err := l.api.securityGroups(ctx, &ec2.DescribeSecurityGroupsInput{
				Filters: append(filter("vpc-id", vpcs), filter("group-name", batch)...), MaxResults: aws.Int32(pageSize), NextToken: token,
			})
			if err != nil {
				return nil, err
			}
			for i := range out.SecurityGroups {
				l.takeSecurityGroup(&out.SecurityGroups[i])
			}
			return out.NextToken, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) takeSecurityGroup(g *types.SecurityGroup) {
	id, vpc, name := aws.ToString(g.GroupId), aws.ToString(g.VpcId), aws.ToString(g.GroupName)
	l.found(capa.KeySecurityGroup, id)
	if owner := aws.ToString(g.OwnerId); owner != "" && owner == l.Account {
		l.found(capa.KeyOwnGroup, id)
	}
	if !slices.Contains(l.detail.Groups[vpc], name) {
		return
	}
	f := capa.GroupFact{ID: id, Owners: clustersIn(g.Tags)}
	if !leftAlone(g.Tags) {
		f.Rules = rulesOf(g.IpPermissions)
	}
	l.note(capa.FactGroup, infra.Join(vpc, name), f)
}

// clustersIn returns the clusters that CAPA's tag names on something.
func clustersIn(tags []types.Tag) []string {
	var out []string
	for i := range tags {
		if cluster, ok := strings.CutPrefix(aws.ToString(tags[i].Key), capa.TagOwner); ok {
			out = append(out, cluster)
		}
	}
	slices.Sort(out)
	return out
}

// leftAlone reports whether CAPA leaves the rules of a group to others
// (ReconcileSecurityGroups in pkg/cloud/services/securitygroup/securitygroups.go v2.13.0).
func leftAlone(tags []types.Tag) bool {
	return slices.ContainsFunc(tags, func(t types.Tag) bool {
		key := aws.ToString(t.Key)
		return key == "aws:eks:cluster-name" || strings.HasPrefix(key, capa.TagCloud) && aws.ToString(t.Value) == capa.Owned
	})
}

// rulesOf returns the ingress rules of a group, one for each source, and an empty one in place of those
// that are too many to be named.
func rulesOf(all []types.IpPermission) []capa.RuleFact {
	var out []capa.RuleFact
	add := func(p *types.IpPermission, from, description *string) {
		rule := fmt.Sprintf("%s %d-%d from %s", aws.ToString(p.IpProtocol), aws.ToInt32(p.FromPort), aws.ToInt32(p.ToPort), aws.ToString(from))
		switch {
		case len(out) < mostRules:
			out = append(out, capa.RuleFact{Rule: rule, Description: aws.ToString(description)})
		case len(out) == mostRules:
			out = append(out, capa.RuleFact{})
		}
	}
	for i := range all {
		p := &all[i]
		for _, r := range p.IpRanges {
			add(p, r.CidrIp, r.Description)
		}
		for _, r := range p.Ipv6Ranges {
			add(p, r.CidrIpv6, r.Description)
		}
		for _, r := range p.UserIdGroupPairs {
			add(p, r.GroupId, r.Description)
		}
	}
	return out
}

func (l *listing) readNATs(ctx context.Context, vpcs []string) error {
	return pages("DescribeNatGateways", func(token *string) (*string, error) {
		out, err := l.api.nats(ctx, &ec2.DescribeNatGatewaysInput{Filter: filter("vpc-id", vpcs), MaxResults: aws.Int32(pageSize), NextToken: token})
		if err != nil {
			return nil, err
		}
		for i := range out.NatGateways {
			if n := &out.NatGateways[i]; natServes(n) {
				l.found(capa.KeyNAT, aws.ToString(n.NatGatewayId))
				l.found(capa.KeySubnetNAT, aws.ToString(n.SubnetId))
			}
		}
		return out.NextToken, nil
	})
}

// natServes reports whether a gateway works or comes to: deleted ones are listed for about
// an hour.
func natServes(n *types.NatGateway) bool {
	return n.State == types.NatGatewayStateAvailable || n.State == types.NatGatewayStatePending
}

func (l *listing) readRoutes(ctx context.Context, vpcs []string) error {
	all := map[string][]capa.RoutesFact{}
	err := pages("DescribeRouteTables", func(token *string) (*string, error) {
		out, err := l.api.routes(ctx, &ec2.DescribeRouteTablesInput{Filters: filter("vpc-id", vpcs), MaxResults: aws.Int32(routePage), NextToken: token})
		if err != nil {
			return nil, err
		}
		for i := range out.RouteTables {
			t := &out.RouteTables[i]
			f := capa.RoutesFact{ID: aws.ToString(t.RouteTableId), Owners: clustersIn(t.Tags)}
			addRoutes(&f, t.Routes)
			for _, a := range t.Associations {
				if id := aws.ToString(a.SubnetId); id != "" {
					f.Subnets = append(f.Subnets, id)
				}
			}
			if vpc := aws.ToString(t.VpcId); f.Subnets != nil {
				all[vpc] = append(all[vpc], f)
			}
		}
		return out.NextToken, nil
	})
	for _, vpc := range slices.Sorted(maps.Keys(all)) {
		l.note(capa.FactRoutes, vpc, all[vpc])
	}
	return err
}

// routePage is the most that DescribeRouteTables gives in one answer.
const routePage = 100
