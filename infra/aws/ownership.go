package aws

import (
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// Values of CAPA's role tag that machines have.
const (
	roleNode         = "node"
	roleControlPlane = "control-plane"
)

// ownershipHints returns what connects instances that no machine explains with the clusters of
// the backup: CAPA's ownership tag, in the cluster's own VPC or where instances of its
// recorded machines are. The owner of the machine is read off its name where that is
// possible, because a cluster is seldom in the backup as completely as one MachineSet.
// What has a cluster's mark or name elsewhere may belong to another owner.
func (objs *objects) ownershipHints() []infra.OwnershipHint {
	owners := capi.OwnersOf(objs.snapshot, objs.locations)
	var hints []infra.OwnershipHint
	for _, id := range objs.order() {
		s, whole := objs.locations[id], &infra.OwnerID{Cluster: id}
		for _, o := range owners[id] {
			hints = append(hints, beside(id, o), named(o))
		}
		for _, mark := range s.marks() {
			hints = append(hints, infra.OwnershipHint{
				Grade: infra.NameOnly, Key: infra.Key{Kind: keyMark, Value: mark}, Owner: whole,
				Detail: "it is tagged as one of cluster " + mark,
			})
		}
		if s.vpc == "" {
			continue
		}
		for _, role := range []string{roleControlPlane, roleNode} {
			owner := whole
			if role == roleControlPlane {
				plane := capi.ControlPlane(objs.controlPlanes, id, "")
				owner = &plane
			}
			hints = append(hints, s.markedHint(id, owner, role, "")...)
		}
		for _, o := range owners[id] {
			hints = append(hints, s.markedHint(id, o, roleOf(o), o.Name)...)
		}
		where := fmt.Sprintf("%s of cluster %s/%s", s.vpc, id.Namespace, id.Name)
		hints = append(hints, infra.OwnershipHint{
			Grade: infra.LocationOnly, Key: infra.Key{Kind: KeyVPC, Value: s.vpc},
			Owner: whole, Detail: "it is in VPC " + where,
		})
	}
	return hints
}

// roleOf returns the value of CAPA's role tag on the machines of an owner.
func roleOf(o *infra.OwnerID) string {
	if o.Kind == "MachineSet" || o.Kind == "MachineDeployment" {
		return roleNode
	}
	return roleControlPlane
}

// stemOfOwner returns what precedes the random characters in the names of an owner's
// machines, and how many parts those are.
func stemOfOwner(o *infra.OwnerID) (stem string, parts int) {
	if o.Kind == "MachineDeployment" {
		return o.Name, 2
	}
	return naming.Stem(o.Name), 1
}

// beside ties what CAPA made for an owner, wherever it is, as long as a recorded
// machine of the cluster is there under the same ownership tag. A cluster may have
// machines in other VPCs than its own (AWSMachine.spec.subnet), and the backup may
// name none.
func beside(id backup.ClusterID, o *infra.OwnerID) infra.OwnershipHint {
	stem, parts := stemOfOwner(o)
	kind := [...]infra.KeyKind{1: keyRoleStem1, 2: keyRoleStem2}[parts]
	return infra.OwnershipHint{
		Grade: infra.Strong, Owner: o, ControlPlane: roleOf(o) == roleControlPlane, Shares: keyOwnedVPC,
		Specificity: min(len(o.Name), len(stem)), Key: infra.Key{Kind: kind, Value: infra.Join(roleOf(o), id.Namespace, stem)},
		Detail: fmt.Sprintf("its tag MachineName has namespace %s and a name that %s %s gives, and it is in a VPC with recorded machines of the cluster, under the same ownership tag", id.Namespace, o.Kind, o.Name),
	}
}

// named says of an instance that its name is one that an owner gives.
func named(o *infra.OwnerID) infra.OwnershipHint {
	stem, parts := stemOfOwner(o)
	kind := [...]infra.KeyKind{1: keyStem1, 2: keyStem2}[parts]
	return infra.OwnershipHint{
		Grade: infra.NameOnly, Owner: o, ControlPlane: roleOf(o) == roleControlPlane, Specificity: len(stem),
		Key:    infra.Key{Kind: kind, Value: infra.Join(stem)},
		Detail: fmt.Sprintf("its name is one that %s %s gives", o.Kind, o.Name),
	}
}

// marks returns the names of a cluster in tags. Of a cluster of EKS whose object the
// backup lacks, the name is not known.
func (s *clusterLocation) marks() []string {
	if s.record == nil && s.eks {
		return nil
	}
	return []string{s.tag}
}

// markedHint makes the two hints of an owner: by tag MachineName, and for instances
// that lack it. Without a name of the owner any name matches.
func (s *clusterLocation) markedHint(id backup.ClusterID, owner *infra.OwnerID, role, name string) []infra.OwnershipHint {
	hint := infra.OwnershipHint{Owner: owner, ControlPlane: role == roleControlPlane}
	// Of owners whose names are cut to the same stem none is the more likely one.
	hint.Specificity = min(len(name), len(naming.Stem(name)))
	tagged := fmt.Sprintf("it is tagged as owned by %s, role %s, in the cluster's VPC %s", s.tag, role, s.vpc)
	parts := []string{s.tag, role, s.vpc}
	strong, medium := keyOwnedNS, keyOwned
	var tail []string
	if name != "" {
		strong, medium, tail = keyOwnedNSStem1, keyOwnedStem1, []string{naming.Stem(name)}
		how := fmt.Sprintf("%d characters", naming.SuffixLen)
		if owner.Kind == "MachineDeployment" {
			strong, medium, tail = keyOwnedNSStem2, keyOwnedStem2, []string{name}
			how = "a MachineSet's suffix + " + how
		}
		tagged += fmt.Sprintf("; its name is %s %s + %s", owner.Kind, name, how)
	}
	byMachine, byTag := hint, hint
	byMachine.Grade, byMachine.Detail = infra.Strong, tagged+"; tag MachineName has namespace "+id.Namespace
	byMachine.Key = infra.Key{Kind: strong, Value: infra.Join(append(append(parts[:3:3], id.Namespace), tail...)...)}
	byTag.Grade, byTag.Detail = infra.Medium, tagged+"; it has no tag MachineName"
	byTag.Key = infra.Key{Kind: medium, Value: infra.Join(append(parts[:3:3], tail...)...)}
	return []infra.OwnershipHint{byMachine, byTag}
}

// markedKeys returns the keys of an instance for its tags: the other side of tied.
func markedKeys(owner, role, vpc, machineName, name string) []infra.Key {
	if owner == "" || vpc == "" || (role != roleNode && role != roleControlPlane) {
		return nil
	}
	plain, stem1, stem2 := keyOwned, keyOwnedStem1, keyOwnedStem2
	parts := []string{owner, role, vpc}
	if namespace, machine, ok := strings.Cut(machineName, "/"); ok {
		plain, stem1, stem2 = keyOwnedNS, keyOwnedNSStem1, keyOwnedNSStem2
		parts = append(parts, namespace)
		name = machine
	} else if machineName != "" {
		return nil // CAPA does not write such a tag
	}
	keys := []infra.Key{{Kind: plain, Value: infra.Join(parts...)}}
	one, two := naming.Stems(name)
	if one != "" {
		keys = append(keys, infra.Key{Kind: stem1, Value: infra.Join(append(parts[:len(parts):len(parts)], one)...)})
	}
	if two != "" {
		keys = append(keys, infra.Key{Kind: stem2, Value: infra.Join(append(parts[:len(parts):len(parts)], two)...)})
	}
	return keys
}
