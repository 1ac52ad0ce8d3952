package list

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	capa "drift-detector/infra/aws"
)

// Each source of a permission is a rule, and what is too much to be named leaves an empty one, so that
// nobody takes the others for all.
func TestRulesOfAGroup(t *testing.T) {
	permission := types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(22), ToPort: aws.Int32(22)}
	permission.UserIdGroupPairs = []types.UserIdGroupPair{{GroupId: aws.String("sg-1"), Description: aws.String("SSH")}}
	permission.Ipv6Ranges = []types.Ipv6Range{{CidrIpv6: aws.String("::/0")}}
	few := rulesOf([]types.IpPermission{permission})
	if len(few) != 2 || few[0].Rule != "tcp 22-22 from ::/0" || few[1].Rule != "tcp 22-22 from sg-1" || few[1].Description != "SSH" {
		t.Errorf("%+v", few)
	}
	for range mostRules {
		permission.IpRanges = append(permission.IpRanges, types.IpRange{CidrIp: aws.String("192.0.2.0/24")})
	}
	many := rulesOf([]types.IpPermission{permission, permission})
	if len(many) != mostRules+1 || many[mostRules].Rule != "" || strings.Contains(many[mostRules-1].Rule, "::") {
		t.Errorf("%d rules, the last %+v", len(many), many[len(many)-1])
	}
}

// A route to a gateway that is not attached makes a subnet public all the same, and shows that
// the gateway is gone.
func TestRoutesOfATable(t *testing.T) {
	var f capa.RoutesFact
	addRoutes(&f, []types.Route{
		{GatewayId: aws.String("local"), State: types.RouteStateActive},
		{GatewayId: aws.String("igw-1"), State: types.RouteStateBlackhole},
		{EgressOnlyInternetGatewayId: aws.String("eigw-1"), State: types.RouteStateActive},
		{NatGatewayId: aws.String("nat-1"), State: types.RouteStateBlackhole},
	})
	if want := (map[string]bool{"igw-1": false, "eigw-1": true}); f.Internet != capa.Routed || !maps.Equal(f.Gateways, want) {
		t.Errorf("%+v", f)
	}
	f = capa.RoutesFact{}
	addRoutes(&f, []types.Route{{EgressOnlyInternetGatewayId: aws.String("eigw-1")}})
	if f.Internet != capa.Unrouted || f.Gateways != nil {
		t.Errorf("%+v", f)
	}
	addRoutes(&f, []types.Route{{CarrierGatewayId: aws.String("cagw-1"), State: types.RouteStateActive}})
	if f.Internet != capa.Routed || !f.Gateways["cagw-1"] {
		t.Errorf("%+v", f)
	}
}
