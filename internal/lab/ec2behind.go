package lab

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// targets returns the control-plane instances in the VPC of a load balancer.
func (e *EC2) targets(lb *networkObject, name string, one func(id string) element) element {
	set := branch(name)
	for _, i := range e.instances {
		if role, _ := i.Tag("sigs.k8s.io/cluster-api-provider-aws/role"); role == "control-plane" && i.VPC == lb.vpc && i.State.Name == "running" {
			set.Children = append(set.Children, branch("member", one(i.InstanceID)))
		}
	}
	return set
}

// describeBehind answers for what is behind a load balancer that is not classic: the target
// group and the listener that CAPA makes for an API server.
func (e *EC2) describeBehind(c *apiCall) (element, *refusal) {
	name := cmp.Or(c.form.Get("LoadBalancerArn"), strings.Replace(c.form.Get("TargetGroupArn"), ":tg/", ":lb/", 1), c.form.Get("ResourceArns.member.1"))
	known := e.visible(c, newLB)
	i := slices.IndexFunc(known, func(p networkObject) bool { return "arn:lb/"+p.id == name })
	if i < 0 {
		return element{}, refuse(http.StatusBadRequest, "LoadBalancerNotFound", "One or more load balancers not found")
	}
	lb := &known[i]
	group := leaf("TargetGroupArn", "arn:tg/"+lb.id)
	switch c.action {
	case "DescribeTags":
		tags := branch("Tags")
		for _, owner := range lb.owners {
			tags.Children = append(tags.Children, branch("member", leaf("Key", "sigs.k8s.io/cluster-api-provider-aws/cluster/"+owner), leaf("Value", "owned")))
		}
		return result(c.action, branch("TagDescriptions", branch("member", leaf("ResourceArn", name), tags))), nil
	case "DescribeTargetGroups":
		return result(c.action, branch("TargetGroups", branch("member", group, leaf("TargetGroupName", "apiserver-target-lab"), leaf("Protocol", "TCP"), leaf("Port", "6443")))), nil
	case "DescribeListeners":
		return result(c.action, branch("Listeners", branch("member", leaf("ListenerArn", "arn:listener/"+lb.id), leaf("Port", "6443"), branch("DefaultActions", branch("member", leaf("Type", "forward"), group))))), nil
	}
	return result(c.action, e.targets(lb, "TargetHealthDescriptions", func(id string) element { return branch("Target", leaf("Id", id), leaf("Port", "6443")) })), nil
}

// describeHooks answers with no lifecycle hooks.
func (e *EC2) describeHooks(c *apiCall) (element, *refusal) {
	return result(c.action, branch("LifecycleHooks")), nil
}

// getRole answers for an IAM role that the backup names, in whatever region that is.
func (e *EC2) getRole(c *apiCall) (element, *refusal) {
	name := c.form.Get("RoleName")
	if c.caller.Account != EC2Account || !slices.ContainsFunc(e.network, func(p networkObject) bool { return p.kind == roleAction && p.id == name }) {
		return element{}, refuse(http.StatusNotFound, "NoSuchEntity", "The role with name %s cannot be found.", name)
	}
	return result(c.action, branch("Role", leaf("RoleName", name), leaf("Arn", "arn:aws:iam::"+EC2Account+":role/"+name))), nil
}
