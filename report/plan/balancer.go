package plan

import (
	"cmp"
	"regexp"
	"strings"

	"drift-detector/report"
)

// targetGroups are the types of load balancers that have target groups (CAPA
// api/v1beta2/awscluster_types.go v2.11.1). Of the others a classic one is the default.
var targetGroups = map[string]bool{"nlb": true, "alb": true, "elb": true}

// balancerForm is the ARN of one of them.
var balancerForm = regexp.MustCompile(`^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:loadbalancer/[A-Za-z0-9/-]+$`)

// leaveBalancer takes a control-plane instance out of what stands before the API
// server. Nobody else does: an instance without a Machine stays where it is, and goes
// on to get requests after its member has left etcd.
func (a awsCLI) leaveBalancer(d *draft, c *report.Cluster, v *vm) {
	known := false
	for _, lb := range c.APILoadBalancers {
		switch {
		case lb.Type == "disabled", lb.Name == "" && !balancerForm.MatchString(lb.ARN):
		case targetGroups[lb.Type], lb.ARN != "":
			known = true
			a.leaveTargetGroups(d, v, lb)
		default:
			known = true
			a.leaveClassic(d, v, lb.Name)
		}
	}
	if !known {
		d.after("Take it out of whatever stands before the API server: its own API server has lost etcd. The backup does not say what that is: look for a classic load balancer and for target groups that hold instance " + v.ID + ".")
	}
}

const whyLeave = " It stays there when its member has left etcd, and its API server then answers with errors."

func (a awsCLI) leaveTargetGroups(d *draft, v *vm, lb report.LoadBalancer) {
	arn, lines := any(lb.ARN), []command{}
	if !balancerForm.MatchString(lb.ARN) {
		arn = variable("BALANCER")
		lines = append(lines, a.line(v.scope, "elbv2", "describe-load-balancers", "--names="+lb.Name, "--query=LoadBalancers[].LoadBalancerArn", "--output=text"),
			ask("BALANCER", "the ARN that this printed"))
	}
	groups := []any{"elbv2", "describe-target-groups"}
	of := compare(a.line(v.scope, append(groups, "--target-group-arns", variable("TARGET_GROUP"), "--query=TargetGroups[].LoadBalancerArns[]", "--output=text")...), arn)
	d.after("Take it out of the target groups of the API server's load balancer"+named(lb)+"."+whyLeave, append(lines,
		a.line(v.scope, append(groups, "--load-balancer-arn", arn, "--query=TargetGroups[].TargetGroupArn", "--output=text")...),
		ask("TARGET_GROUP", "an ARN of those that this printed; repeat for each"),
		v.guarded(of.stop("this target group is not of that load balancer").then(a.line(v.scope, "elbv2", "deregister-targets", "--target-group-arn", variable("TARGET_GROUP"), "--targets=Id="+v.ID))))...)
}

func (a awsCLI) leaveClassic(d *draft, v *vm, name string) {
	d.after("Take it out of the API server's classic load balancer "+name+"."+whyLeave,
		v.guarded(a.line(v.scope, "elb", "deregister-instances-from-load-balancer", "--load-balancer-name="+name, "--instances="+v.ID)))
}

func named(lb report.LoadBalancer) string {
	return strings.TrimRight(" "+cmp.Or(lb.Name, lb.ARN), " ")
}
