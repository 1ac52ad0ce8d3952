package list

import (
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
)

// The lab's backup, and the AWS that it is of.
const (
	fleetBackup    = "../../../testdata/fleet-data.tar.gz"
	fleetInstances = "../../../testdata/aws/describe-instances.json"
	fleetAccount   = lab.EC2Account
	fleetTarget    = "aws/us-east-1/AWSClusterControllerIdentity/default"
)

// fleet returns the lab's backup with a controller's credential, which the lab lacks.
func fleet(t *testing.T, profile string) []byte {
	t.Helper()
	out := backuptest.NewFormat("")
	backuptest.Rewrite(t, fleetBackup, func(path string, body []byte) ([]byte, bool) {
		out.Raw(path, body)
		return body, true
	})
	if profile != "" {
		out.Add("secrets", awstest.ManagerSecret(profile))
	}
	return out.Bytes()
}

// load reads a backup as the program does.
func load(t *testing.T, data []byte) (*backup.Snapshot, *backup.Secrets) {
	t.Helper()
	return awstest.Load(t, New().Spec().Want, data)
}

// fleetEC2 returns what the lab's EC2 answers.
func fleetEC2() lab.EC2Options {
	return lab.EC2Options{Instances: fleetInstances, Backup: fleetBackup}
}

// small returns the provider with short pages and short waits.
func small(page int32) infra.Provider {
	p := New().(*provider)
	p.page, p.maxBackoff = page, time.Millisecond
	return p
}

// listAll lists all targets one after the other, refused ones as the registry does.
func listAll(t *testing.T, p infra.Provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) infra.Inventory {
	t.Helper()
	return infra.NewRegistry(p).Collect(t.Context(), p.Targets(s, secrets, a), nil)
}

// listRelated lists as detect does it: what the backup has no key for is packed.
func listRelated(t *testing.T, p infra.Provider, s *backup.Snapshot, secrets *backup.Secrets, a infra.Access) infra.Inventory {
	t.Helper()
	expected, targets := p.Expected(s), p.Targets(s, secrets, a)
	for i := range targets {
		targets[i].IsRelated = expected.IsRelated()
	}
	return infra.NewRegistry(p).Collect(t.Context(), targets, nil)
}

// capaInstance returns an instance with the tags that CAPA gives it.
func capaInstance(id, vpc, owner, role, machineName, name string) lab.EC2Instance {
	i := instanceWith(id, vpc, lab.EC2Tag{Key: awstest.TagName, Value: name}, lab.EC2Tag{Key: capa.TagOwner + owner, Value: capa.Owned}, lab.EC2Tag{Key: awstest.TagRole, Value: role})
	if machineName != "" {
		i.Tags = append(i.Tags, lab.EC2Tag{Key: awstest.TagMachineName, Value: machineName})
	}
	return i
}

// instanceWith returns a running instance in the fleet's region.
func instanceWith(id, vpc string, tags ...lab.EC2Tag) lab.EC2Instance {
	i := lab.EC2Instance{InstanceID: id, VPC: vpc, State: lab.EC2State{Code: 16, Name: "running"}, Tags: tags}
	i.Placement.AvailabilityZone = awstest.Region + "a"
	return i
}

// sdkInstance returns an instance that was launched at one time and whose disk was
// attached at another.
func sdkInstance(launched, attached time.Time) types.Instance {
	return types.Instance{
		LaunchTime:          &launched,
		BlockDeviceMappings: []types.InstanceBlockDeviceMapping{{Ebs: &types.EbsInstanceBlockDevice{AttachTime: &attached}}},
	}
}

// ambientAccess lets the operator's own credential be used, and makes it the lab's.
func ambientAccess(t *testing.T) infra.Access {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": awstest.LabKey, "AWS_SECRET_ACCESS_KEY": awstest.LabSecret, "AWS_SESSION_TOKEN": awstest.LabToken,
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return infra.Access{Options: map[string]string{awstest.FlagAmbient: "true"}}
}
