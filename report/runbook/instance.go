package runbook

import (
	"regexp"
	"strings"

	"drift-detector/report"
)

var (
	uuidForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	refForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
	ec2Form    = regexp.MustCompile(`^i-[0-9a-f]+$`)
	regionForm = regexp.MustCompile(`^[a-z0-9-]*$`)
	awsForm    = regexp.MustCompile(`^[0-9]{12}$`)
)

// vm is an instance that commands can address by its id.
type vm struct {
	*report.Instance
	*place
}

// vm finds out how commands address an instance; nil when its ids or its place
// do not have the form that they must have.
func (b *book) vm(i *report.Instance) *vm {
	if i == nil || b.places[i.Scope] == nil {
		return nil
	}
	switch {
	case i.Provider == "vsphere" && uuidForm.MatchString(i.ID) && refForm.MatchString(i.Ref):
	case i.Provider == "aws" && ec2Form.MatchString(i.ID):
	default:
		return nil
	}
	return &vm{i, b.places[i.Scope]}
}

// only says that no other instance of the report bears the id.
func (b *book) only(i *report.Instance) bool { return b.bearers[strings.ToLower(i.ID)] == 1 }

// mo is how govc addresses a managed object by its id (govmomi find/finder.go v0.56.0).
func (v *vm) mo() string { return "VirtualMachine:" + v.Ref }

func (p *place) govc(words ...any) command {
	return line(append([]any{raw("GOVC_URL=" + string(variable(p.variable)) + " govc")}, words...)...)
}

func (p *place) aws(words ...any) command {
	head := []any{raw("aws --profile"), variable(p.variable)}
	if p.region != "" {
		head = append(head, "--region="+p.region)
	}
	return line(append(head, words...)...)
}

// show prints what there is to see of an instance.
func (v *vm) show() command {
	if v.Provider == "aws" {
		return v.aws("ec2", "describe-instances", "--instance-ids="+v.ID, "--output=yaml")
	}
	return v.govc("object.collect", v.mo(), "name", "config.uuid", "config.instanceUuid", "config.createDate", "runtime.powerState", "guest.hostName", "guest.ipAddress")
}

// same reads the instance again by its id and compares its strong key: on
// vSphere the BIOS UUID, on AWS the account and the instance id.
func (v *vm) same() command {
	read, want := v.govc("object.collect", "-s", v.mo(), "config.uuid"), v.ID
	if v.Provider == "aws" {
		query := "Reservations[].Instances[].InstanceId"
		if awsForm.MatchString(v.account) {
			query, want = "Reservations[].[OwnerId, Instances[0].InstanceId][]", v.account+"\t"+v.ID
		}
		read = v.aws("ec2", "describe-instances", "--instance-ids="+v.ID, "--query="+query, "--output=text")
		want = strings.ReplaceAll(want, "\t", " ")
		return compare(command{text: read.text + " | tr '\\t' ' '", refused: read.refused}, want)
	}
	return compare(read, want)
}

func compare(read command, want any) command {
	if read.refused != "" {
		return read
	}
	return line(raw(`test "$(`+read.text+`)" =`), want)
}

// guard is a line of its own before one that destroys.
func (v *vm) guard() command { return v.same().stop("stop: this is not the VM of the report") }

// off says that the instance does not run.
func (v *vm) off() command {
	if v.Provider == "aws" {
		return compare(v.aws("ec2", "describe-instances", "--instance-ids="+v.ID, "--query=Reservations[].Instances[].State.Name", "--output=text"), "stopped")
	}
	return compare(v.govc("object.collect", "-s", v.mo(), "runtime.powerState"), "poweredOff")
}

// start runs an instance that is off.
func (v *vm) start() command {
	if v.Provider == "aws" {
		return v.same().then(v.aws("ec2", "start-instances", "--instance-ids="+v.ID))
	}
	return v.same().then(v.govc("vm.power", "-on", v.mo()))
}

// startAs runs a VM that has been given another id.
func (v *vm) startAs(id string) command {
	renamed := *v.Instance
	renamed.ID = id
	return (&vm{&renamed, v.place}).start()
}

// rename gives a VM of vSphere another BIOS UUID, which vCenter takes only while
// the VM is off.
func (v *vm) rename(id any) command {
	return v.same().then(v.off()).then(v.govc("vm.change", "-vm", v.mo(), "-uuid", id))
}

// newID gives a copy an id of its own.
func (v *vm) newID() []command {
	return []command{ask("NEW_UUID", "a new one, such as uuidgen prints, for "+v.Name), v.rename(variable("NEW_UUID"))}
}

// powerOff and destroy compare once more, so that neither works without. What
// still runs is not destroyed: govc would power it off without a word (govmomi
// cli/vm/destroy.go v0.56.0), and the step that can be undone would be skipped.
func (v *vm) powerOff() command {
	if v.Provider == "aws" {
		return v.same().then(v.aws("ec2", "stop-instances", "--instance-ids="+v.ID))
	}
	return v.same().then(v.govc("vm.power", "-off", "-force", v.mo()))
}

func (v *vm) destroy() command {
	if v.Provider == "aws" {
		return v.same().then(v.off()).then(v.aws("ec2", "terminate-instances", "--instance-ids="+v.ID))
	}
	return v.same().then(v.off()).then(v.govc("vm.destroy", v.mo()))
}

// disks shows what is attached, and detaches without deleting.
func (v *vm) disks() []command {
	if v.Provider == "aws" {
		return []command{
			v.aws("ec2", "describe-volumes", "--filters=Name=attachment.instance-id,Values="+v.ID,
				"--query=Volumes[].[VolumeId,Attachments[0].Device,Attachments[0].DeleteOnTermination]", "--output=table"),
			ask("VOLUME", "a volume of that list that is not the root volume; repeat for each"),
			v.same().then(v.aws("ec2", "detach-volume", "--instance-id="+v.ID, "--volume-id", variable("VOLUME"))),
		}
	}
	return []command{
		v.govc("device.info", "-vm", v.mo(), "disk-*"),
		ask("DISK", "name of a disk of that list that is not the VM's own first disk; repeat for each"),
		v.same().then(v.govc("device.remove", "-vm", v.mo(), "-keep", variable("DISK"))),
	}
}

// leaveGroup takes an instance out of an Auto Scaling group, which would replace
// it, and lets the group want one less.
func (v *vm) leaveGroup() []command {
	return []command{
		v.aws("autoscaling", "describe-auto-scaling-instances", "--instance-ids="+v.ID, "--output=table"),
		ask("GROUP", "the AutoScalingGroupName that this printed"),
		v.same().then(v.aws("autoscaling", "detach-instances", "--instance-ids="+v.ID, "--auto-scaling-group-name", variable("GROUP"), "--should-decrement-desired-capacity")),
	}
}

// leaveBalancer takes a control-plane instance out of the API server's load
// balancer, which CAPA makes as a classic one by default (CAPA api/v1beta2 v2.11.1).
func (v *vm) leaveBalancer() []command {
	return []command{
		v.aws("elb", "describe-load-balancers", "--query=LoadBalancerDescriptions[?Instances[?InstanceId=='"+v.ID+"']].LoadBalancerName", "--output=text"),
		ask("BALANCER", "the name that this printed; of a target group use 'aws elbv2 deregister-targets' instead"),
		v.same().then(v.aws("elb", "deregister-instances-from-load-balancer", "--load-balancer-name", variable("BALANCER"), "--instances="+v.ID)),
	}
}

// find looks for an id everywhere in a place, and prints what bears it.
func (p *place) find(id string) command {
	if p.provider == "aws" {
		return p.aws("ec2", "describe-instances",
			"--filters=Name=instance-id,Values="+id, "--query=Reservations[].Instances[?State.Name!='terminated'].InstanceId", "--output=text")
	}
	return p.govc("find", "/", "-type", "m", "-config.uuid", strings.ToLower(id))
}

// absent says that nothing bears an id. A search that fails is no absence.
func (p *place) absent(id string) command {
	find := p.find(id)
	if find.refused != "" {
		return find
	}
	return command{text: "FOUND=$(" + find.text + `) && test -z "$FOUND"`}
}
