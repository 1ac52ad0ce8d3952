package aws_test

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// What CAPA ends or leaves standing without a single Machine that says so.

const mp0 = "aws-prod-mp-0"

// CAPA deletes the Machines of living instances that their group does not list, and
// their instances with them (deleteOrphanedAWSMachines, v2.11.1).
func TestLivingMemberThatLeftItsPool(t *testing.T) {
	const mine, name = "i-255dc611cbcd8946d", "pool-b-mp-0-"
	w, ec2 := runs.CAPAFleet(t)
	find := func(o runs.Outcome) (key string) {
		for k, m := range runs.PlacementsOf(o.Report).Machines {
			if strings.HasPrefix(k, "team-b/"+name) && m.Machine.Instance != nil && m.Machine.Instance.ID == mine {
				key = k
			}
		}
		return key
	}
	member := find(w.DetectAWS())
	if m := w.DetectAWS().Machine(t, member); m.Status != "Healthy" || m.Forecast.Outcome != "Adopted" {
		t.Errorf("a member is %s %s, %s", m.Status, m.Reason, m.Forecast.Outcome)
	}
	two := 2
	ec2.SetGroup(lab.EC2Group{Name: "pool-b-mp-0", ARN: "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:9666ee68-b830-45b8-9cf9-0693a8c71fea:autoScalingGroupName/pool-b-mp-0", Desired: &two})
	onInstance(t, ec2, mine, func(i *lab.EC2Instance) { setTag(i, "aws:autoscaling:groupName", "") })
	o := w.DetectAWS()
	o.Demand(t, cli.ExitOK)
	if m := o.Machine(t, member); m.Status != "Unknown" || m.Reason != "LeftPool" || m.Forecast.Outcome != "DeletedByOwner" {
		t.Errorf("one that was detached is %s %s, %s: %s", m.Status, m.Reason, m.Forecast.Outcome, m.Message)
	}
	if !slices.ContainsFunc(o.Report.Summary.Answer.Reasons, func(r report.AnswerReason) bool {
		return r.Code == "MachinesDeleted" && slices.Contains(r.Objects, "Machine "+member)
	}) {
		t.Errorf("the answer does not name it: %+v", o.Report.Summary.Answer.Reasons)
	}
}

// CAPA terminates a bastion that the backup does not ask for, and sets the bounds of a
// group also where somebody else sets its size.
func TestAnswerOnWhatEndsBesideMachines(t *testing.T) {
	bastions := func(cluster string) func(*runs.World, *lab.EC2) {
		return func(_ *runs.World, ec2 *lab.EC2) {
			ec2.Add(runs.Tagged("i-0aaaaaaaaaaaaaaa1", "vpc-0a1b2c3d4e5f60718", "CAPA/cluster/"+cluster+"=owned", "CAPA/role=bastion", "Name=bastion"))
		}
	}
	bounds := func(size string, n int, grown bool) func(*runs.World, *lab.EC2) {
		return func(w *runs.World, ec2 *lab.EC2) {
			w.Set("machinepools", mp0, "external-autoscaler", "metadata", "annotations", "cluster.x-k8s.io/replicas-managed-by")
			w.Set("awsmachinepools", mp0, n, "spec", size)
			if grown {
				runs.GrowPool(ec2)
			}
		}
	}
	for title, c := range map[string]struct {
		change      func(*runs.World, *lab.EC2)
		safe, codes string
		says        string
	}{
		"bastion that was turned on since": {bastions("aws-prod"), "no", "MachinesDeleted", "CAPA deletes it"},
		"bastion of another cluster":       {bastions("another"), "yes", "", ""},
		"bastion that is asked for": {func(w *runs.World, ec2 *lab.EC2) {
			bastions("aws-prod")(w, ec2)
			w.Set("awsclusters", "aws-prod", true, "spec", "bastion", "enabled")
		}, "yes", "", ""},
		"autoscaled beyond maxSize":        {bounds("maxSize", 2, true), "no", "PoolScaledBack ChangesUndone", "allows 1 to 2: 1 running instance is terminated"},
		"autoscaled below maxSize":         {bounds("maxSize", 4, true), "yes", "", ""},
		"maxSize was raised beside CAPA":   {bounds("maxSize", 3, true), "withWork", "ChangesUndone", "allows 1 to 4 members"},
		"autoscaled down, minSize is more": {bounds("minSize", 3, false), "withWork", "PoolGrown ChangesUndone", "1 instance is created"},
	} {
		t.Run(title, func(t *testing.T) {
			a := runs.ChangedAWS(c.change)(t).Answer()
			a.Demand(t, c.safe, c.codes)
			if !a.Condition("PoolsUncompared") {
				t.Errorf("the answer is given under %+v", a.Conditions)
			}
			if c.says != "" && (len(a.Reasons) == 0 || !strings.Contains(a.Reasons[0].Message, c.says)) {
				t.Errorf("%+v does not say %q", a.Reasons, c.says)
			}
		})
	}
}
