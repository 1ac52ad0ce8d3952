package aws

import (
	"strings"

	"drift-detector/backup/naming"
	"drift-detector/infra"
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

// bastion is the role of a host that CAPA makes for people to log in at, and the cause for which it
// is nobody's machine.
const bastion = "bastion"

// excludedRoles are the causes for which an instance is nobody's machine, by CAPA's role tag.
var excludedRoles = map[string]string{bastion: bastion, "common": "NAT"}

// karpenter is the cause for which an instance is that of Karpenter, which runs in the cluster: a
// restore of the management cluster changes nothing of it.
const karpenter = "Karpenter"

// tags are those of an instance, or of something else, as far as they matter here.
type tags struct {
	name, role, machineName      string
	group, eksCluster, nodegroup string
	karpenter                    bool
	owners                       []string // clusters that own it, by CAPA's tag
	marks                        []string // clusters that CAPA's tag or that of the cloud provider names
}

// add notes one tag.
func (t *tags) add(key, value string) {
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

// excluded returns why an instance with the tags is nobody's machine, or "".
func (t *tags) excluded() string {
	switch {
	case len(t.owners) > 0:
		return excludedRoles[t.role] // the role means something only beside CAPA's own tag
	case t.karpenter && t.machineName == "" && t.group == "" && t.nodegroup == "":
		return karpenter
	}
	return ""
}

// keys returns those of an instance with the tags, by its id, its VPC and whether it is pending or
// running. Those of the pools of the backup are not among them.
func (t *tags) keys(id, vpc string, runs bool) (keys []infra.Key) {
	add := func(kind infra.KeyKind, value string) {
		if value != "" {
			keys = append(keys, infra.Key{Kind: kind, Value: value})
		}
	}
	add(keyInstance, strings.ToLower(id))
	add(keyVPC, vpc)
	add(keyName, t.name)
	keys = append(keys, t.ownedKeys(vpc)...)
	if runs {
		keys = append(keys, t.searchedKeys()...)
	}
	return append(keys, t.nameKeys(vpc, t.group != "" || t.nodegroup != "")...)
}

// owner returns the only owner, or empty: of two nobody can say which one is right.
func (t *tags) owner() string {
	if len(t.owners) != 1 {
		return ""
	}
	return t.owners[0]
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

// searchedKeys returns those by which CAPA's search by name finds an instance that runs.
func (t *tags) searchedKeys() (keys []infra.Key) {
	if t.name == "" {
		return nil
	}
	for _, owner := range t.owners {
		keys = append(keys, searchKey(owner, t.name))
	}
	return keys
}

// nameKeys returns those that an instance has for its names, wherever it is: the other
// side of beside and named. grouped reports that a group made it, and not for
// a single machine.
func (t *tags) nameKeys(vpc string, grouped bool) (keys []infra.Key) {
	add := func(kind infra.KeyKind, parts ...string) {
		keys = append(keys, infra.Key{Kind: kind, Value: infra.Join(parts...)})
	}
	seen := map[string]bool{}
	for _, mark := range append(t.marks, t.eksCluster) {
		if mark != "" && !seen[mark] {
			seen[mark] = true
			keys = append(keys, infra.Key{Kind: keyMark, Value: mark})
		}
	}
	namespace, machine, tagged := strings.Cut(t.machineName, "/")
	one, two := naming.Stems(machine)
	if tagged && !grouped && (t.role == roleNode || t.role == roleControlPlane) {
		if owner := t.owner(); owner != "" && vpc != "" {
			add(keyOwnedVPC, owner, vpc)
		}
		if one != "" {
			add(keyRoleStem1, t.role, namespace, one)
		}
		if two != "" {
			add(keyRoleStem2, t.role, namespace, two)
		}
	}
	if !tagged {
		one, two = naming.Stems(t.name)
	}
	if one != "" {
		add(keyStem1, one)
	}
	if two != "" {
		add(keyStem2, two)
	}
	return keys
}
