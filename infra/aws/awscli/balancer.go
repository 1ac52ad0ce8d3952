package awscli

import (
	"cmp"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
)

// targetGroups are the types of load balancers that have target groups (CAPA
// api/v1beta2/awscluster_types.go v2.11.1). Of the others a classic one is the default.
var targetGroups = map[string]bool{"nlb": true, "alb": true, "elb": true}

// arnForm is the ARN of one of them.
var arnForm = lazyregexp.New(`^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:loadbalancer/[A-Za-z0-9/-]+$`)

// LeaveBalancer takes an instance out of each load balancer of the API server.
func (Tool) LeaveBalancer(i shell.Instance, balancers []shell.LoadBalancer) []shell.Step {
	var steps []shell.Step
	for _, lb := range balancers {
		switch {
		case lb.Type == "disabled", lb.Name == "" && !arnForm.MatchString(lb.ARN):
		case targetGroups[lb.Type], lb.ARN != "":
			steps = append(steps, leaveTargetGroups(i, lb))
		default:
			steps = append(steps, shell.Step{
				Text:   "Take it out of the API server's classic load balancer " + lb.Name + "." + whyLeave,
				Change: line(i.Scope, "elb", "deregister-instances-from-load-balancer", "--load-balancer-name="+lb.Name, "--instances="+i.ID),
			})
		}
	}
	if steps == nil {
		steps = []shell.Step{{Text: "Take it out of the load balancer of the API server: its own API server has lost etcd. The backup does not say what that is: look for a classic load balancer and for target groups that hold instance " + i.ID + "."}}
	}
	return steps
}

const whyLeave = " It stays there when its member has left etcd, and its API server then answers with errors."

// leaveTargetGroups compares the load balancer of the target group that the operator
// names, and looks its ARN up where the backup does not record one.
func leaveTargetGroups(i shell.Instance, lb shell.LoadBalancer) shell.Step {
	arn, look := any(lb.ARN), []shell.Command{}
	if !arnForm.MatchString(lb.ARN) {
		arn = shell.Variable("BALANCER")
		look = append(look, line(i.Scope, "elbv2", "describe-load-balancers", "--names="+lb.Name, "--query=LoadBalancers[].LoadBalancerArn", "--output=text"),
			shell.Ask("BALANCER", "the ARN that this printed"))
	}
	group := shell.Variable("TARGET_GROUP")
	isOf := line(i.Scope, "elbv2", "describe-target-groups", "--target-group-arns", group, "--query=TargetGroups[].LoadBalancerArns[]", "--output=text").
		Prints(arn).OrStop("this target group is not of that load balancer")
	return shell.Step{
		Text: "Take it out of the target groups of the API server's load balancer" + strings.TrimRight(" "+cmp.Or(lb.Name, lb.ARN), " ") + "." + whyLeave,
		Look: append(look,
			line(i.Scope, "elbv2", "describe-target-groups", "--load-balancer-arn", arn, "--query=TargetGroups[].TargetGroupArn", "--output=text"),
			shell.Ask("TARGET_GROUP", "an ARN of those that this printed; repeat for each")),
		Change: isOf.Then(line(i.Scope, "elbv2", "deregister-targets", "--target-group-arn", group, "--targets=Id="+i.ID)),
	}
}
