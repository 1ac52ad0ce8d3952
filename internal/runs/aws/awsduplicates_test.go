package aws_test

import (
	"regexp"
	"strings"
	"testing"

	"drift-detector/backup/backuptest"
	"drift-detector/internal/cli"
	"drift-detector/internal/lab"
	"drift-detector/internal/runs"
	"drift-detector/report"
)

// awsDuplicate turns aws-prod into another cluster of the same name: in namespace
// tenant-copy, with ids of its own, in a VPC of its own.
type awsDuplicate struct{ region string }

var (
	uids   = regexp.MustCompile(`"uid": ?"[0-9a-f]`)
	awsIDs = regexp.MustCompile(`\b(i|vpc|subnet)-0([0-9a-f]{16})\b`)
)

func (tw awsDuplicate) text(s string) string {
	s = strings.ReplaceAll(s, "tenant-aws", "tenant-copy")
	s = strings.ReplaceAll(s, "us-east-1", tw.region)
	s = awsIDs.ReplaceAllString(s, "$1-f$2")
	// A uid is opaque: a longer one is another one.
	return uids.ReplaceAllStringFunc(s, func(m string) string { return m[:len(m)-1] + "ff" + m[len(m)-1:] })
}

// withDuplicate returns the lab with the duplicate of aws-prod in backup and account.
func withDuplicate(t *testing.T, tw awsDuplicate, o lab.EC2Options) (*runs.World, *lab.EC2) {
	t.Helper()
	w := runs.Fleet(t)
	original := runs.MustRead(t, w.Backups[0])
	w.Added("copy", func(b *backuptest.Tarball) {
		backuptest.Rewrite(t, original, func(item string, body []byte) ([]byte, bool) {
			if strings.Contains(item, "/tenant-aws/") || strings.HasSuffix(item, "/tenant-aws.json") {
				b.Raw(tw.text(item), []byte(tw.text(string(body))))
			}
			return body, true
		})
	})
	o.Backup = w.Backups[0]
	ec2 := runs.ServeEC2(t, o)
	var more []lab.EC2Instance
	ec2.Change(func(i *lab.EC2Instance) bool {
		copied := *i
		copied.InstanceID, copied.VPC, copied.Subnet = tw.text(i.InstanceID), tw.text(i.VPC), tw.text(i.Subnet)
		copied.Placement.AvailabilityZone = tw.text(i.Placement.AvailabilityZone)
		more = append(more, copied)
		return true
	})
	ec2.Add(more...)
	return w, ec2
}

// duplicateOracle returns the oracle of aws-prod, said of its duplicate.
func duplicateOracle(t *testing.T, tw awsDuplicate) runs.AWSOracle {
	o := runs.ReadAWSOracle(t)
	o.Namespace = "tenant-copy"
	for i := range o.Machines {
		o.Machines[i].Namespace = o.Namespace
	}
	for i := range o.Pool.Now {
		o.Pool.Now[i] = tw.text(o.Pool.Now[i])
	}
	for i := range o.Instances {
		o.Instances[i].ID = tw.text(o.Instances[i].ID)
	}
	return o
}

// Two clusters of one name in two namespaces are distinguished, in one region and
// in two.
func TestAWSClustersOfOneName(t *testing.T) {
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		t.Run(region, func(t *testing.T) {
			tw := awsDuplicate{region}
			w, _ := withDuplicate(t, tw, runs.FleetEC2())
			o := w.Detect()
			o.Demand(t, cli.ExitOK)
			o.AgreesWith(t, runs.ReadAWSOracle(t))
			o.AgreesWith(t, duplicateOracle(t, tw))
			scopes := map[string]bool{}
			for _, s := range o.Report.Scopes {
				if s.Provider == "aws" {
					scopes[s.Location] = true
				}
			}
			if !scopes["us-east-1"] || !scopes[region] {
				t.Errorf("scopes %v", scopes)
			}
		})
	}
}

// Of two regions one is forbidden: the machines there become Unknown, those in
// the other keep their verdicts.
func TestAWSDeniedInOneRegionOfTwo(t *testing.T) {
	tw := awsDuplicate{"eu-west-1"}
	options := runs.FleetEC2()
	options.Faults.DenyRegions = []string{tw.region}
	w, _ := withDuplicate(t, tw, options)
	o := w.Detect()
	o.Demand(t, cli.ExitIncomplete)
	o.AgreesWith(t, runs.ReadAWSOracle(t))
	n := 0
	for _, c := range o.Report.Clusters {
		if c.Namespace != "tenant-copy" {
			continue
		}
		for _, m := range runs.MachinesOf(c) {
			if n++; m.Status != "Unknown" {
				t.Errorf("%s is %s (%s)", m.Name, m.Status, m.Reason)
			}
		}
	}
	if n != len(runs.ReadAWSOracle(t).Machines) {
		t.Errorf("%d machines of the copy are listed", n)
	}
	first := runs.ErrorLines(o.Stderr)[0]
	if !strings.Contains(first, "ec2.eu-west-1.amazonaws.com") || strings.Contains(first, "us-east-1") || !strings.Contains(first, "ec2:DescribeInstances") {
		t.Errorf("the first error line does not name host and action: %s", first)
	}
}

// Another team's cluster of the same name, in the same account: what is in a VPC of its
// own has our name and gets a line, and in ours the namespace in tag MachineName decides.
func TestAWSClusterOfAnotherTeam(t *testing.T) {
	w := runs.Fleet(t)
	before := w.Detect()
	ec2 := runs.ServeEC2(t, runs.FleetEC2())
	instance := func(id, vpc, machine string) lab.EC2Instance {
		i := lab.EC2Instance{InstanceID: id, State: lab.EC2State{Code: 16, Name: "running"}, VPC: vpc, Tags: []lab.EC2Tag{
			{Key: "Name", Value: "aws-prod-md-1a-f7mmd-bcdfg"},
			{Key: "sigs.k8s.io/cluster-api-provider-aws/cluster/aws-prod", Value: "owned"},
			{Key: "sigs.k8s.io/cluster-api-provider-aws/role", Value: "node"},
		}}
		i.Placement.AvailabilityZone = "us-east-1a"
		if machine != "" {
			i.Tags = append(i.Tags, lab.EC2Tag{Key: "MachineName", Value: machine})
		}
		return i
	}
	const theirs, shared, ours = "i-0aaaaaaaaaaaaaaa1", "i-0aaaaaaaaaaaaaaa2", "i-0aaaaaaaaaaaaaaa3"
	ec2.Add(
		instance(theirs, "vpc-0bbbbbbbbbbbbbbbb", ""),
		instance(shared, "vpc-0a1b2c3d4e5f60718", "other-team/aws-prod-md-1a-f7mmd-bcdfg"),
		instance(ours, "vpc-0a1b2c3d4e5f60718", "tenant-aws/aws-prod-md-1a-f7mmd-bcdfg"),
	)
	o := w.Detect()
	o.Demand(t, cli.ExitOK)
	o.AgreesWith(t, runs.ReadAWSOracle(t))
	for id, want := range map[string]string{theirs: "infraMachines", shared: "infraMachines", ours: "Ghost"} {
		if where, cluster, _ := runs.PlacementOfID(o.Report, id); where != want {
			t.Errorf("%s is %s of %q, want %s", id, where, cluster, want)
		}
	}
	if strength(o.Report, ours) != "strong" {
		t.Errorf("the evidence for %s is %s", ours, strength(o.Report, ours))
	}
	if a, b := o.Report.Summary.OutOfScope, before.Report.Summary.OutOfScope; a != b {
		t.Errorf("%d instances are out of scope, were %d", a, b)
	}
}

func strength(r *report.Report, id string) string {
	_, _, s := runs.PlacementOfID(r, id)
	return string(s)
}
