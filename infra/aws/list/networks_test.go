package list

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
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
