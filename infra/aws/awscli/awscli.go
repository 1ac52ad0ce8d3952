// Package awscli makes lines for the AWS command line interface.
package awscli

import (
	"cmp"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
)

// Tool is the AWS CLI. It implements [shell.Tool].
type Tool struct{}

var (
	instanceForm = lazyregexp.New(`^i-[0-9a-f]+$`)
	regionForm   = lazyregexp.New(`^[a-z0-9-]*$`)
	accountForm  = lazyregexp.New(`^[0-9]{12}$`)
	vpcForm      = lazyregexp.New(`^vpc-[0-9a-f]+$`)
)

// Variable holds the profile for an account and region.
func (Tool) Variable(s shell.Scope) (prefix, meaning string, ok bool) {
	return "AWS", "profile of the AWS CLI for account " + cmp.Or(s.Account, "of "+s.Endpoint) + ", region " + s.Region, regionForm.MatchString(s.Region)
}

// Identifies reports whether id is that of an EC2 instance.
func (Tool) Identifies(id string) bool { return instanceForm.MatchString(id) }

// Addresses reports whether the instance has the id of one.
func (t Tool) Addresses(i shell.Instance) bool { return t.Identifies(i.ID) }

// Requires nothing: both releases of the AWS CLI have all that is used here.
func (Tool) Requires() (check shell.Command, why string) { return shell.Command{}, "" }

func line(s shell.Scope, words ...any) shell.Command {
	head := []any{shell.Raw("aws --profile"), shell.Variable(s.Variable)}
	if s.Region != "" {
		head = append(head, "--region="+s.Region)
	}
	return shell.Line(append(head, words...)...)
}

// IsPlace reports whether identity is the number of an account.
func (Tool) IsPlace(identity string) bool { return accountForm.MatchString(identity) }

// Landmark takes a VPC: who may list instances at all lists every instance of the account's
// region, and the VPC says that it is that region.
func (Tool) Landmark(kind, name string) bool { return kind == "VPC" && vpcForm.MatchString(name) }

// Show prints all of an instance.
func (Tool) Show(i shell.Instance) shell.Command {
	return line(i.Scope, "ec2", "describe-instances", "--instance-ids="+i.ID, "--output=json")
}

// Start starts an instance.
func (Tool) Start(i shell.Instance) shell.Command {
	return line(i.Scope, "ec2", "start-instances", "--instance-ids="+i.ID)
}

// Stop stops an instance.
func (Tool) Stop(i shell.Instance) shell.Command {
	return line(i.Scope, "ec2", "stop-instances", "--instance-ids="+i.ID)
}

// Destroy terminates an instance.
func (Tool) Destroy(i shell.Instance) shell.Command {
	return line(i.Scope, "ec2", "terminate-instances", "--instance-ids="+i.ID)
}

// Detach saves the volumes beside the root volume.
func (Tool) Detach(i shell.Instance) []shell.Step {
	return []shell.Step{{
		Text: "Detach, and do not delete, every EBS volume beside the root volume; one with DeleteOnTermination would end with the instance.",
		Look: []shell.Command{
			line(i.Scope, "ec2", "describe-volumes", "--filters=Name=attachment.instance-id,Values="+i.ID,
				"--query=Volumes[].[VolumeId,Attachments[0].Device,Attachments[0].DeleteOnTermination]", "--output=table"),
			shell.Ask("VOLUME", "a volume of that list that is not the root volume; repeat for each"),
		},
		Change: line(i.Scope, "ec2", "detach-volume", "--instance-id="+i.ID, "--volume-id", shell.Variable("VOLUME")),
	}}
}

// Remove takes the instance out of an Auto Scaling group first, which would replace
// it, and lets the group want one less.
func (Tool) Remove(i shell.Instance) shell.Removal {
	return shell.Removal{
		Before: []shell.Step{{
			Text: "See that no Auto Scaling group holds it, which would replace it. If the list is empty, there is nothing to do; else detach it there. A group at its minimum refuses that: lower the minimum first.",
			Look: []shell.Command{
				line(i.Scope, "autoscaling", "describe-auto-scaling-instances", "--instance-ids="+i.ID, "--output=table"),
				shell.Ask("GROUP", "the AutoScalingGroupName that this printed"),
			},
			Change: line(i.Scope, "autoscaling", "detach-instances", "--instance-ids="+i.ID, "--auto-scaling-group-name", shell.Variable("GROUP"), "--should-decrement-desired-capacity"),
		}},
		Stop:    "Stop the instance and check that nothing depends on it (reversible).",
		Destroy: "Terminate it when it has stopped; the line does nothing before. One that can't be stopped (instance store) is left to the console. Elastic addresses and network interfaces of its own may be left over.",
	}
}
