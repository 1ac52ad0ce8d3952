package list

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/infra"
	capa "drift-detector/infra/aws"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// tagsOf reads tags of EC2.
func tagsOf(all []types.Tag) (t capa.Tags) {
	for i := range all {
		t.Add(aws.ToString(all[i].Key), aws.ToString(all[i].Value))
	}
	return t
}

// allTags returns all tags of an instance, as people gave them; AWS allows 50. Their
// keys are few and mostly long: all instances share them.
func allTags(all []types.Tag) []infra.Tag {
	out := make([]infra.Tag, len(all))
	for i := range all {
		out[i] = infra.Tag{Key: unique.Make(aws.ToString(all[i].Key)).Value(), Value: aws.ToString(all[i].Value)}
	}
	sorting.By(out, func(a, b infra.Tag) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value)) })
	return out
}

// sizeOf returns what a listing says of the size: EC2 does not say the memory of a type there.
func sizeOf(i *types.Instance) infra.Size {
	vcpus := int64(0)
	if o := i.CpuOptions; o != nil {
		vcpus = int64(aws.ToInt32(o.CoreCount)) * int64(aws.ToInt32(o.ThreadsPerCore))
	}
	return infra.NewSize(vcpus, 0, 0, string(i.InstanceType))
}

func (l *listing) instance(i *types.Instance) infra.Instance {
	t := tagsOf(i.Tags)
	id, runs := aws.ToString(i.InstanceId), false
	out := infra.Instance{
		Identity: l.Account + "/" + id, ID: id, Name: t.Name, Path: pathOf(i), Created: created(i), Size: sizeOf(i),
		Addresses: addresses(i), Exclude: t.Excluded(), Tags: allTags(i.Tags),
	}
	var state types.InstanceStateName
	if i.State != nil {
		state = i.State.Name
	}
	out.State = string(state)
	switch state {
	case types.InstanceStateNamePending, types.InstanceStateNameRunning:
		runs = true
	case types.InstanceStateNameTerminated, types.InstanceStateNameShuttingDown:
		out.Gone = true
	case types.InstanceStateNameStopped, types.InstanceStateNameStopping:
		out.Warnings = []code.Reason{code.PoweredOff}
	default: // EC2 has no other state, and never leaves it out: it may run, or have ended
		out.Unreadable = true
	}
	if t.Role == capa.Bastion && !out.Gone {
		for _, owner := range t.Owners {
			l.found(capa.KeyBastion, owner)
		}
	}
	out.Keys = t.Keys(id, aws.ToString(i.VpcId), runs)
	l.addPoolKeys(&out, &t)
	return out
}

// addPoolKeys adds the keys of the backup's pools that the instance says it is
// a member of.
func (l *listing) addPoolKeys(i *infra.Instance, t *capa.Tags) {
	for _, id := range l.target.IDs {
		if t.Group != "" {
			l.addKnown(i, capa.ASGKey(id, t.Group))
		}
		if t.Nodegroup != "" {
			l.addKnown(i, capa.NodegroupKey(id, t.EKSCluster, t.Nodegroup))
		}
	}
}

// addKnown adds a key of a pool of the backup, once.
func (l *listing) addKnown(i *infra.Instance, k infra.Key) {
	if l.marks[k] && !slices.Contains(i.Keys, k) {
		i.Keys = append(i.Keys, k)
	}
}

// pathOf returns where the instance is, for people: zone, VPC and subnet are what
// folders are elsewhere, and the id is what it is found by.
func pathOf(i *types.Instance) string {
	var parts []string
	if i.Placement != nil {
		parts = append(parts, aws.ToString(i.Placement.AvailabilityZone))
	}
	parts = append(parts, aws.ToString(i.VpcId), aws.ToString(i.SubnetId), aws.ToString(i.InstanceId))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}

// created returns when the instance came to be. LaunchTime moves when an instance is
// stopped and started, its first disk and network interface stay.
func created(i *types.Instance) time.Time {
	first := aws.ToTime(i.LaunchTime)
	earlier := func(t *time.Time) {
		if t != nil && !t.IsZero() && t.Before(first) {
			first = *t
		}
	}
	for _, b := range i.BlockDeviceMappings {
		if b.Ebs != nil {
			earlier(b.Ebs.AttachTime)
		}
	}
	for _, n := range i.NetworkInterfaces {
		if n.Attachment != nil {
			earlier(n.Attachment.AttachTime)
		}
	}
	first = first.UTC()
	if year := first.Year(); first.IsZero() || year < 1 || year > 9999 {
		return time.Time{} // none that an inventory can be saved with
	}
	return first
}

func addresses(i *types.Instance) []string {
	var list []string
	for _, a := range []*string{i.PrivateIpAddress, i.PublicIpAddress} {
		if s := aws.ToString(a); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// walkFacts returns what rows ask of the instance of a machine: the groups of its first network
// interface, and its metadata options. Equal ones are kept once.
func (l *listing) walkFacts(i *types.Instance) infra.Facts {
	ids := make([]string, len(i.SecurityGroups))
	for n := range i.SecurityGroups {
		ids[n] = aws.ToString(i.SecurityGroups[n].GroupId)
	}
	slices.Sort(ids)
	groups, options := strings.Join(ids, ","), ""
	if o := i.MetadataOptions; o != nil {
		m := capa.Metadata{Endpoint: string(o.HttpEndpoint), Tokens: string(o.HttpTokens), Tags: cmp.Or(string(o.InstanceMetadataTags), "disabled"), Hops: int64(aws.ToInt32(o.HttpPutResponseHopLimit))}
		options = m.String()
	}
	key := [2]string{groups, options}
	facts := l.facts[key]
	if facts == nil {
		facts = capa.FactsOf(groups, options)
		l.facts[key] = facts
	}
	return facts
}
