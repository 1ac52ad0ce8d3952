package aws

import (
	"testing"

	"drift-detector/infra"
	"drift-detector/internal/lab"
)

// Who made an instance that is not CAPA's is read from its tags: Karpenter, or a group that
// people made. Of a node group of EKS nobody knows, and what CAPA marks is CAPA's.
func TestMakers(t *testing.T) {
	tag := func(key, value string) lab.EC2Tag { return lab.EC2Tag{Key: key, Value: value} }
	want := map[string]string{}
	var all []lab.EC2Instance
	for i, c := range []struct {
		maker string
		tags  []lab.EC2Tag
	}{
		{"", nil},
		{"Karpenter", []lab.EC2Tag{tag("karpenter.sh/nodepool", "default"), tag(tagCloud+"c", owned)}},
		{"Karpenter", []lab.EC2Tag{tag(tagGroup, "x"), tag("karpenter.sh/provisioner-name", "default")}},
		{"autoscaling group x", []lab.EC2Tag{tag(tagGroup, "x")}},
		{"", []lab.EC2Tag{tag(tagGroup, "eks-x"), tag(tagNodegroup, "x"), tag(tagEKSCluster, "c")}},
		{"", []lab.EC2Tag{tag(tagGroup, "x"), tag(tagOwner+"c", owned)}},
		{"", []lab.EC2Tag{tag("karpenter.sh/nodepool", "default"), tag(tagMachineName, "ns/m")}},
	} {
		want[idOf(i)] = c.maker
		all = append(all, instanceWith(idOf(i), "vpc-1", c.tags...))
	}
	b := newMade().keys().cluster("ns", "c", fleetRegion, "vpc-1")
	s, secrets := load(t, b.Bytes())
	serve(t, lab.EC2Options{Backup: saved(t, b)}, nil, all...)
	l := listAll(t, New(), s, secrets, infra.Access{}).Listings[0]
	for _, i := range l.Instances {
		if i.Maker != want[i.ID] {
			t.Errorf("%s is made by %q, want %q", i.ID, i.Maker, want[i.ID])
		}
	}
	if len(l.Instances) != len(want) {
		t.Errorf("%d instances, want %d", len(l.Instances), len(want))
	}
}
