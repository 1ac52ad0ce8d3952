package aws

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"drift-detector/infra"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// Tags that CAPA and AWS put on instances (CAPA api/v1beta2/tags.go v2.11.1; Auto
// Scaling and EKS name the other three).
const (
	tagOwner       = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	tagCloud       = "kubernetes.io/cluster/"
	tagRole        = "sigs.k8s.io/cluster-api-provider-aws/role"
	tagMachineName = "MachineName"
	tagName        = "Name"
	tagGroup       = "aws:autoscaling:groupName"
	tagEKSCluster  = "eks:cluster-name"
	tagNodegroup   = "eks:nodegroup-name"
	tagKarpenter   = "karpenter.sh/nodepool" // and of Karpenter before v0.33: GetTags: pkg/utils/utils.go of karpenter-provider-aws
	tagProvisioner = "karpenter.sh/provisioner-name"
	owned          = "owned"
)

// Causes for which an instance is nobody's machine, by CAPA's role tag.
const bastion = "bastion"

var excludedRoles = map[string]string{bastion: bastion, "common": "NAT"}

// karpenter is the cause for which an instance is that of Karpenter, which runs in the cluster: a
// restore of the management cluster changes nothing of it.
const karpenter = "Karpenter"

// tags are an instance's tags, as far as they matter here.
type tags struct {
	name, role, machineName      string
	group, eksCluster, nodegroup string
	karpenter                    bool
	owners                       []string
	marks                        []string // clusters that CAPA's tag or that of the cloud provider names
}

func readTags(all []types.Tag) tags {
	var t tags
	for i := range all {
		key, value := aws.ToString(all[i].Key), aws.ToString(all[i].Value)
		switch key {
		case tagName:
			t.name = value
		case tagRole:
			t.role = value
		case tagMachineName:
			t.machineName = value
		case tagGroup:
			t.group = value
		case tagEKSCluster:
			t.eksCluster = value
		case tagNodegroup:
			t.nodegroup = value
		case tagKarpenter, tagProvisioner:
			t.karpenter = value != ""
		default:
			if owner, ok := strings.CutPrefix(key, tagOwner); ok {
				t.marks = append(t.marks, owner)
				if value == owned {
					t.owners = append(t.owners, owner)
				}
			} else if owner, ok := strings.CutPrefix(key, tagCloud); ok {
				t.marks = append(t.marks, owner)
			}
		}
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

// owner returns the only owner, or empty: of two nobody can say which one is right.
func (t *tags) owner() string {
	if len(t.owners) != 1 {
		return ""
	}
	return t.owners[0]
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
	t := readTags(i.Tags)
	id, vpc := aws.ToString(i.InstanceId), aws.ToString(i.VpcId)
	out := infra.Instance{
		Identity: l.Account + "/" + id, ID: id, Name: t.name, Path: pathOf(i), Created: created(i), Size: sizeOf(i),
		Addresses: addresses(i), Exclude: excludedRoles[t.role], Tags: allTags(i.Tags),
	}
	var state types.InstanceStateName
	if i.State != nil {
		state = i.State.Name
	}
	out.State = string(state)
	switch state {
	case types.InstanceStateNamePending, types.InstanceStateNameRunning:
	case types.InstanceStateNameTerminated, types.InstanceStateNameShuttingDown:
		out.Gone = true
	case types.InstanceStateNameStopped, types.InstanceStateNameStopping:
		out.Warnings = []code.Reason{code.PoweredOff}
	default: // EC2 has no other state, and never leaves it out: it may run, or have ended
		out.Unreadable = true
	}
	if len(t.owners) == 0 {
		out.Exclude = "" // the role means something only beside CAPA's own tag
		if t.karpenter && t.machineName == "" && t.group == "" && t.nodegroup == "" {
			out.Exclude = karpenter
		}
	}
	if t.role == bastion && !out.Gone {
		for _, owner := range t.owners {
			l.found(keyBastion, owner)
		}
	}
	add := func(kind infra.KeyKind, value string) {
		if value != "" {
			out.Keys = append(out.Keys, infra.Key{Kind: kind, Value: value})
		}
	}
	add(keyInstance, strings.ToLower(id))
	add(keyVPC, vpc)
	add(keyName, t.name)
	out.Keys = append(out.Keys, t.ownedKeys(vpc)...)
	out.Keys = append(out.Keys, t.searchedKeys(i.State)...)
	out.Keys = append(out.Keys, t.nameKeys(vpc, t.group != "" || t.nodegroup != "")...)
	l.addPoolKeys(&out, &t)
	return out
}

// ownedKeys returns those by which an instance is found without its id: what CAPA's
// tags say of its cluster and its machine.
func (t *tags) ownedKeys(vpc string) (keys []infra.Key) {
	add := func(kind infra.KeyKind, value string) { keys = append(keys, infra.Key{Kind: kind, Value: value}) }
	namespace, machine, tagged := strings.Cut(t.machineName, "/")
	owner := t.owner()
	if owner != "" {
		add(infra.OwnerTag, owner)
	}
	if tagged {
		add(keyTag, infra.Join(namespace, machine))
		for _, owner := range t.owners {
			add(keyNamesake, infra.Join(owner, namespace, machine))
		}
		if len(t.owners) == 0 {
			add(keyNamesake, infra.Join("", namespace, machine))
		}
	}
	switch {
	case owner == "":
	case tagged:
		add(keyOwnedTag, infra.Join(owner, namespace, machine))
	case t.machineName == "" && t.name != "":
		add(keyOwnedAnywhere, infra.Join(owner, t.name))
	}
	if owner != "" && vpc != "" {
		// Where the machine's name is in a tag of its own, that is the name: CAPA
		// writes it on all that it makes. And what a group made is nobody's machine.
		if t.name != "" && t.machineName == "" && t.group == "" && t.nodegroup == "" {
			add(keyOwnedName, infra.Join(owner, vpc, t.name))
		}
		if tagged {
			add(keyMachineName, infra.Join(owner, vpc, namespace, machine))
		}
		// What an autoscaling group made is nobody's single machine, whether or not
		// the backup knows the group.
		if t.group == "" && t.nodegroup == "" {
			keys = append(keys, markedKeys(owner, t.role, vpc, t.machineName, t.name)...)
		}
	}
	return keys
}

// searchedKeys returns those by which CAPA's search by name finds the instance.
func (t *tags) searchedKeys(state *types.InstanceState) (keys []infra.Key) {
	if state == nil || t.name == "" {
		return nil
	}
	switch state.Name {
	case types.InstanceStateNamePending, types.InstanceStateNameRunning:
		for _, owner := range t.owners {
			keys = append(keys, searchKey(owner, t.name))
		}
	}
	return keys
}

// addPoolKeys adds the keys of the backup's pools that the instance says it is
// a member of.
func (l *listing) addPoolKeys(i *infra.Instance, t *tags) {
	for _, id := range l.target.IDs {
		if t.group != "" {
			l.addKnown(i, asgKey(id, t.group))
		}
		if t.nodegroup != "" {
			l.addKnown(i, nodegroupKey(id, t.eksCluster, t.nodegroup))
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
