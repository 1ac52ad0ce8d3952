package awscli

import (
	"strings"
	"testing"

	"drift-detector/infra/shell"
	"drift-detector/infra/shell/shelltest"
)

var instance = shell.Instance{
	Scope: shell.Scope{Endpoint: "ec2.us-east-1.amazonaws.com", Region: "us-east-1", Account: "123456789012", Identity: "123456789012", Variable: "SCOPE_1"},
	ID:    "i-0e09aee8835a36969", Name: "alpha",
}

func TestTool(t *testing.T) {
	shelltest.Tool(t, Tool{}, instance)
	for _, region := range append(shelltest.Hostile, shelltest.Unprintable...) {
		if _, _, ok := (Tool{}).Variable(shell.Scope{Region: region}); ok && region != "" && region != "-rf" && region != "--all" {
			t.Errorf("it addresses region %q", region)
		}
	}
}

// Without an instance the VPC shows that the account's region is the right one.
func TestAVPCIsALandmark(t *testing.T) {
	if !(Tool{}).Landmark("VPC", "vpc-0123") || (Tool{}).Landmark("subnet", "vpc-0123") || (Tool{}).Landmark("VPC", "subnet-1") {
		t.Error("a VPC is none, or something else is one")
	}
}

func TestLeaveBalancer(t *testing.T) {
	const arn = "arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/x/1"
	for name, c := range map[string]struct {
		lb         shell.LoadBalancer
		look       int
		says, does string
	}{
		"none known":      {shell.LoadBalancer{Type: "disabled", Name: "a"}, 0, "look for a classic load balancer", ""},
		"classic":         {shell.LoadBalancer{Name: "a"}, 0, "classic load balancer a.", "elb deregister-instances-from-load-balancer --load-balancer-name=a "},
		"network":         {shell.LoadBalancer{Type: "nlb", Name: "a"}, 4, "load balancer a.", "deregister-targets"},
		"network, by ARN": {shell.LoadBalancer{Type: "nlb", ARN: arn}, 2, arn, "= " + arn},
		"a hostile ARN":   {shell.LoadBalancer{Type: "nlb", ARN: "$(touch x)"}, 0, "look for a classic load balancer", ""},
	} {
		steps := Tool{}.LeaveBalancer(instance, []shell.LoadBalancer{c.lb})
		if len(steps) != 1 || len(steps[0].Look) != c.look || !strings.Contains(steps[0].Text, c.says) || !strings.Contains(steps[0].Change.Text(), c.does) || (c.does == "") != steps[0].Change.IsZero() {
			t.Errorf("%s: %+v", name, steps)
		}
	}
}
