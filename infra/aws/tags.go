package aws

import (
	"strings"

	"drift-detector/backup/naming"
	"drift-detector/infra"
)

// Tags that CAPA and AWS put on instances (CAPA api/v1beta2/tags.go v2.11.1; Auto
// Scaling and EKS name the other three).
const (
	TagOwner       = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	TagCloud       = "kubernetes.io/cluster/"
	tagRole        = "sigs.k8s.io/cluster-api-provider-aws/role"
	tagMachineName = "MachineName"
	tagName        = "Name"
	tagGroup       = "aws:autoscaling:groupName"
	tagEKSCluster  = "eks:cluster-name"
	tagNodegroup   = "eks:nodegroup-name"
	tagKarpenter   = "karpenter.sh/nodepool" // and of Karpenter before v0.33: GetTags: pkg/utils/utils.go of karpenter-provider-aws
	tagProvisioner = "karpenter.sh/provisioner-name"
	Owned          = "owned"
)

// Bastion is the role of a host that CAPA makes for people to log in at, and the cause for which it
// is nobody's machine.
const Bastion = "bastion"

// excludedRoles are the causes for which an instance is nobody's machine, by CAPA's role tag.
var excludedRoles = map[string]string{Bastion: Bastion, "common": "NAT"}

// karpenter is the cause for which an instance is that of Karpenter, which runs in the cluster: a
// restore of the management cluster changes nothing of it.
const karpenter = "Karpenter"

// Tags are those of an instance, or of something else, as far as they matter here.
type Tags struct {
	Name, Role, machineName      string
	Group, EKSCluster, Nodegroup string
	karpenter                    bool
	Owners                       []string // clusters that own it, by CAPA's tag
	marks                        []string // clusters that CAPA's tag or that of the cloud provider names
}

// Add notes one tag.
func (t *Tags) Add(key, value string) {
	switch key {
	case tagName:
		t.Name = value
	case tagRole:
		t.Role = value
	case tagMachineName:
		t.machineName = value
	case tagGroup:
		t.Group = value
	case tagEKSCluster:
		t.EKSCluster = value
	case tagNodegroup:
		t.Nodegroup = value
	case tagKarpenter, tagProvisioner:
		t.karpenter = value != ""
	default:
		if owner, ok := strings.CutPrefix(key, TagOwner); ok {
			t.marks = append(t.marks, owner)
			if value == Owned {
				t.Owners = append(t.Owners, owner)
			}
		} else if owner, ok := strings.CutPrefix(key, TagCloud); ok {
			t.marks = append(t.marks, owner)
		}
	}
}

// Excluded returns why an instance with the tags is nobody's machine, or "".
func (t *Tags) Excluded() string {
	switch {
	case len(t.Owners) > 0:
		return excludedRoles[t.Role] // the role means something only beside CAPA's own tag
	case t.karpenter && t.machineName == "" && t.Group == "" && t.Nodegroup == "":
		return karpenter
	}
	return ""
}

// Keys returns those of an instance with the tags, by its id, its VPC and whether it is pending or
// running. Those of the pools of the backup are not among them.
func (t *Tags) Keys(id, vpc string, runs bool) (keys []infra.Key) {
	add := func(kind infra.KeyKind, value string) {
		if value != "" {
			keys = append(keys, infra.Key{Kind: kind, Value: value})
		}
	}
	add(keyInstance, strings.ToLower(id))
	add(KeyVPC, vpc)
	add(keyName, t.Name)
	keys = append(keys, t.ownedKeys(vpc)...)
	if runs {
		keys = append(keys, t.searchedKeys()...)
	}
	return append(keys, t.nameKeys(vpc, t.Group != "" || t.Nodegroup != "")...)
}

// owner returns the only owner, or empty: of two nobody can say which one is right.
func (t *Tags) owner() string {
	if len(t.Owners) != 1 {
		return ""
	}
	return t.Owners[0]
}

// ownedKeys returns those by which an instance is found without its id: what CAPA's
// tags say of its cluster and its machine.
func (t *Tags) ownedKeys(vpc string) (keys []infra.Key) {
	add := func(kind infra.KeyKind, value string) { keys = append(keys, infra.Key{Kind: kind, Value: value}) }
	namespace, machine, tagged := strings.Cut(t.machineName, "/")
	owner := t.owner()
	if owner != "" {
		add(infra.OwnerTag, owner)
	}
	if tagged {
		add(keyTag, infra.Join(namespace, machine))
		for _, owner := range t.Owners {
			add(keyNamesake, infra.Join(owner, namespace, machine))
		}
		if len(t.Owners) == 0 {
			add(keyNamesake, infra.Join("", namespace, machine))
		}
	}
	switch {
	case owner == "":
	case tagged:
		add(keyOwnedTag, infra.Join(owner, namespace, machine))
	case t.machineName == "" && t.Name != "":
		add(keyOwnedAnywhere, infra.Join(owner, t.Name))
	}
	if owner != "" && vpc != "" {
		// Where the machine's name is in a tag of its own, that is the name: CAPA
		// writes it on all that it makes. And what a group made is nobody's machine.
		if t.Name != "" && t.machineName == "" && t.Group == "" && t.Nodegroup == "" {
			add(keyOwnedName, infra.Join(owner, vpc, t.Name))
		}
		if tagged {
			add(keyMachineName, infra.Join(owner, vpc, namespace, machine))
		}
		// What an autoscaling group made is nobody's single machine, whether or not
		// the backup knows the group.
		if t.Group == "" && t.Nodegroup == "" {
			keys = append(keys, markedKeys(owner, t.Role, vpc, t.machineName, t.Name)...)
		}
	}
	return keys
}

// searchedKeys returns those by which CAPA's search by name finds an instance that runs.
func (t *Tags) searchedKeys() (keys []infra.Key) {
	if t.Name == "" {
		return nil
	}
	for _, owner := range t.Owners {
		keys = append(keys, searchKey(owner, t.Name))
	}
	return keys
}

// nameKeys returns those that an instance has for its names, wherever it is: the other
// side of beside and named. grouped reports that a group made it, and not for
// a single machine.
func (t *Tags) nameKeys(vpc string, grouped bool) (keys []infra.Key) {
	add := func(kind infra.KeyKind, parts ...string) {
		keys = append(keys, infra.Key{Kind: kind, Value: infra.Join(parts...)})
	}
	seen := map[string]bool{}
	for _, mark := range append(t.marks, t.EKSCluster) {
		if mark != "" && !seen[mark] {
			seen[mark] = true
			keys = append(keys, infra.Key{Kind: keyMark, Value: mark})
		}
	}
	namespace, machine, tagged := strings.Cut(t.machineName, "/")
	one, two := naming.Stems(machine)
	if tagged && !grouped && (t.Role == roleNode || t.Role == roleControlPlane) {
		if owner := t.owner(); owner != "" && vpc != "" {
			add(keyOwnedVPC, owner, vpc)
		}
		if one != "" {
			add(keyRoleStem1, t.Role, namespace, one)
		}
		if two != "" {
			add(keyRoleStem2, t.Role, namespace, two)
		}
	}
	if !tagged {
		one, two = naming.Stems(t.Name)
	}
	if one != "" {
		add(keyStem1, one)
	}
	if two != "" {
		add(keyStem2, two)
	}
	return keys
}
