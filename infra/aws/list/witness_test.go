package list

import (
	"slices"
	"testing"

	"drift-detector/infra"
	"drift-detector/infra/aws/awstest"
	"drift-detector/internal/lab"
)

// What has a machine's place and name has a key of its claim: by tag MachineName the
// second key, by tag Name that of a witness. What a group made, what is in another
// VPC and what another cluster owns does not.
func TestLaw2WitnessesOfAMachine(t *testing.T) {
	grouped := capaInstance(awstest.InstanceID(5), "vpc-1", "prod", awstest.RoleNode, "", "m")
	grouped.Tags = append(grouped.Tags, lab.EC2Tag{Key: awstest.TagGroup, Value: "g"})
	for name, c := range map[string]struct {
		vpc      string
		instance lab.EC2Instance
		identity bool
		witness  bool
	}{
		"tag MachineName":          {"vpc-1", capaInstance(awstest.InstanceID(2), "vpc-1", "prod", awstest.RoleNode, "ns/m", "x"), true, false},
		"tag Name":                 {"vpc-1", capaInstance(awstest.InstanceID(3), "vpc-1", "prod", awstest.RoleNode, "", "m"), false, true},
		"tag Name, another VPC":    {"vpc-1", capaInstance(awstest.InstanceID(4), "vpc-2", "prod", awstest.RoleNode, "", "m"), false, false},
		"tag Name, of a group":     {"vpc-1", grouped, false, false},
		"tag Name, of others":      {"vpc-1", capaInstance(awstest.InstanceID(6), "vpc-1", "other", awstest.RoleNode, "", "m"), false, false},
		"tag MachineName, no VPC":  {"", capaInstance(awstest.InstanceID(2), "vpc-9", "prod", awstest.RoleNode, "ns/m", "x"), true, false},
		"tag Name, no VPC":         {"", capaInstance(awstest.InstanceID(3), "vpc-9", "prod", awstest.RoleNode, "", "m"), false, true},
		"another machine's":        {"vpc-1", capaInstance(awstest.InstanceID(7), "vpc-1", "prod", awstest.RoleNode, "ns/other", "m"), false, false},
		"another namespace's name": {"vpc-1", capaInstance(awstest.InstanceID(8), "vpc-1", "prod", awstest.RoleNode, "else/m", "m"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := awstest.NewBackup().Keys().Cluster("ns", "prod", awstest.Region, c.vpc).Machine("ns", "prod", "m", awstest.InstanceID(1))
			s, secrets := load(t, b.Bytes())
			expected := New().Expected(s).Machines[0]
			serve(t, lab.EC2Options{}, nil, c.instance)
			i := listAll(t, New(), s, secrets, infra.Access{}).Listings[0].Instances[0]
			if i.HasKey(expected.Identity) != c.identity || slices.ContainsFunc(expected.Witness, i.HasKey) != c.witness {
				t.Errorf("it has %v; the second key is %v, witnesses have %v", i.Keys, expected.Identity, expected.Witness)
			}
		})
	}
}
