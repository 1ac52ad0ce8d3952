package plan

import (
	"cmp"
	"regexp"

	"drift-detector/report"
)

// managedPlane is the control plane of an EKS cluster. CAPA reads its identity
// there, not in an AWSCluster (CAPA controlplane/eks/api/v1beta2 v2.11.1).
const managedPlane = "AWSManagedControlPlane"

var aws = provider{
	tool:         awsCLI{},
	noun:         "AWS account",
	controller:   "CAPA",
	deletes:      "deleting a Machine makes CAPA terminate the instance that has its id",
	accounts:     true,
	machineKinds: []string{"awsmachines.infrastructure.cluster.x-k8s.io"},
	clusterKind:  "awsclusters.infrastructure.cluster.x-k8s.io",
	planeKinds:   map[string]string{managedPlane: "awsmanagedcontrolplanes.controlplane.cluster.x-k8s.io"},
	identities: map[string]string{
		"AWSClusterControllerIdentity": "awsclustercontrolleridentities.infrastructure.cluster.x-k8s.io",
		"AWSClusterRoleIdentity":       "awsclusterroleidentities.infrastructure.cluster.x-k8s.io",
		"AWSClusterStaticIdentity":     "awsclusterstaticidentities.infrastructure.cluster.x-k8s.io",
	},
}

var (
	ec2Form     = regexp.MustCompile(`^i-[0-9a-f]+$`)
	regionForm  = regexp.MustCompile(`^[a-z0-9-]*$`)
	accountForm = regexp.MustCompile(`^[0-9]{12}$`)
	vpcForm     = regexp.MustCompile(`^vpc-[0-9a-f]+$`)
)

// awsCLI is the AWS command line interface.
type awsCLI struct{}

func (awsCLI) scope(s *report.Scope) (prefix, meaning string, ok bool) {
	return "AWS", "profile of the AWS CLI for account " + cmp.Or(s.Account, "of "+s.Endpoint) + ", region " + s.Location, regionForm.MatchString(s.Location)
}

func (awsCLI) identifies(id string) bool { return ec2Form.MatchString(id) }

func (awsCLI) addresses(i *report.Instance) bool { return ec2Form.MatchString(i.ID) }

func (awsCLI) line(p *scope, words ...any) command {
	head := []any{raw("aws --profile"), variable(p.variable)}
	if p.region != "" {
		head = append(head, "--region="+p.region)
	}
	return line(append(head, words...)...)
}

func (a awsCLI) show(v *vm) command {
	return a.line(v.scope, "ec2", "describe-instances", "--instance-ids="+v.ID, "--output=json")
}

// requires is empty: both releases of the AWS CLI have all that is used here.
func (awsCLI) requires() (command, string) { return command{}, "" }

// same looks for the instance id in the account of the report.
func (a awsCLI) same(v *vm) command {
	return compare(a.line(v.scope, "ec2", "describe-instances", "--filters", "Name=instance-id,Values="+v.ID, "Name=owner-id,Values="+v.identity,
		"--query=Reservations[].Instances[].InstanceId", "--output=text"), v.ID)
}

func (a awsCLI) off(v *vm) command { return a.state(v, "stopped") }
func (a awsCLI) on(v *vm) command  { return a.state(v, "running") }

func (a awsCLI) state(v *vm, want string) command {
	return compare(a.line(v.scope, "ec2", "describe-instances", "--instance-ids="+v.ID, "--query=Reservations[].Instances[].State.Name", "--output=text"), want)
}

func (a awsCLI) start(v *vm) command {
	return a.line(v.scope, "ec2", "start-instances", "--instance-ids="+v.ID)
}

func (a awsCLI) stop(v *vm) command {
	return a.line(v.scope, "ec2", "stop-instances", "--instance-ids="+v.ID)
}

func (a awsCLI) destroy(v *vm) command {
	return a.line(v.scope, "ec2", "terminate-instances", "--instance-ids="+v.ID)
}

func (a awsCLI) find(p *scope, id string) command {
	return a.line(p, "ec2", "describe-instances",
		"--filters=Name=instance-id,Values="+id, "--query=Reservations[].Instances[?State.Name!='terminated'].InstanceId", "--output=text")
}

func (a awsCLI) here(p *scope) command {
	if !accountForm.MatchString(p.identity) {
		return command{}
	}
	return compare(a.line(p, "sts", "get-caller-identity", "--query=Account", "--output=text"), p.identity)
}

// sees falls back on the cluster's VPC: who may list instances at all lists every
// instance of the account's region, and the VPC says that it is that region.
func (a awsCLI) sees(p *scope, c *report.Cluster, i *report.Instance) (check command, what string) {
	if i != nil && ec2Form.MatchString(i.ID) {
		return compare(a.line(p, "ec2", "describe-instances", "--filters=Name=instance-id,Values="+i.ID,
			"--query=Reservations[].Instances[].InstanceId", "--output=text"), i.ID), "instance " + i.ID
	}
	for _, r := range c.Resources {
		if r.Kind == "VPC" && r.State == report.Present && vpcForm.MatchString(r.Name) {
			return compare(a.line(p, "ec2", "describe-vpcs", "--filters=Name=vpc-id,Values="+r.Name, "--query=Vpcs[].VpcId", "--output=text"), r.Name), r.Name
		}
	}
	return command{}, ""
}

func (a awsCLI) groupSize(p *scope, member string) command {
	return a.line(p, "autoscaling", "describe-auto-scaling-groups", "--query=AutoScalingGroups[?Instances[?InstanceId=='"+member+"']].DesiredCapacity", "--output=text")
}

func (a awsCLI) detach(d *draft, v *vm) {
	d.after("Detach, and do not delete, every EBS volume beside the root volume; one with DeleteOnTermination would end with the instance.",
		a.line(v.scope, "ec2", "describe-volumes", "--filters=Name=attachment.instance-id,Values="+v.ID,
			"--query=Volumes[].[VolumeId,Attachments[0].Device,Attachments[0].DeleteOnTermination]", "--output=table"),
		ask("VOLUME", "a volume of that list that is not the root volume; repeat for each"),
		v.guarded(a.line(v.scope, "ec2", "detach-volume", "--instance-id="+v.ID, "--volume-id", variable("VOLUME"))))
}

// remove takes the instance out of an Auto Scaling group first, which would replace
// it, and lets the group want one less.
func (a awsCLI) remove(d *draft, v *vm, first command) {
	d.after("See that no Auto Scaling group holds it, which would replace it. If the list is empty, there is nothing to do; else detach it there. A group at its minimum refuses that: lower the minimum first.",
		a.line(v.scope, "autoscaling", "describe-auto-scaling-instances", "--instance-ids="+v.ID, "--output=table"),
		ask("GROUP", "the AutoScalingGroupName that this printed"),
		v.guarded(a.line(v.scope, "autoscaling", "detach-instances", "--instance-ids="+v.ID, "--auto-scaling-group-name", variable("GROUP"), "--should-decrement-desired-capacity")))
	d.after("Stop the instance and see that nothing is missed: this can be undone.", first.then(v.powerOff()))
	d.after("Terminate it when it has stopped; the line does nothing before. One that can't be stopped (instance store) is left to the console. Elastic addresses and network interfaces of its own may be left over.", v.destroy())
}
