package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Expected returns which instances the backup expects, and what ties others to its clusters.
func (p *Provider) Expected(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	c := infra.Expected{Providers: capi.Providers(objs.locations, Name)}
	c.Machines = make([]infra.ExpectedMachine, len(objs.members))
	for i := range objs.members {
		c.Machines[i] = objs.expectedMachine(&objs.members[i])
	}
	c.OwnershipHints = objs.ownershipHints()
	c.Pools = objs.expectedOfPool()
	c.Proofs = objs.proofs(c.Machines, c.Pools)
	c.Exclude = objs.exclusions()
	c.Resources = objs.resources()
	c.LoadBalancers = objs.loadBalancers()
	c.Absent = objs.absent()
	c.Steps = objs.steps()
	if len(objs.members) > 0 {
		c.OnInstance = map[string]func(int, infra.Sight) []walk.Step{Name: objs.onInstance()}
	}
	for _, id := range objs.order() {
		c.OwnerTags = append(c.OwnerTags, infra.Key{Kind: infra.OwnerTag, Value: objs.locations[id].tag})
	}
	return c
}

// order returns the clusters that are CAPA's, sorted.
func (objs *objects) order() []backup.ClusterID {
	return slices.SortedFunc(maps.Keys(objs.locations), capi.CompareClusters)
}

// Survey returns what checks need of Expected.
func (p *Provider) Survey(s *backup.Snapshot) infra.Expected {
	objs := newObjects(s)
	return infra.Expected{Providers: capi.Providers(objs.locations, Name), Absent: objs.absent(), Machines: capi.Orphans(objs.members, objs.orphan)}
}

func (objs *objects) expectedMachine(m *member) infra.ExpectedMachine {
	s := objs.locations[m.cluster]
	c := infra.ExpectedMachine{
		Machine:      m.index,
		Provider:     Name,
		Home:         infra.HomeScope{Target: s.target},
		InfraMissing: m.machine == nil,
		Pool:         objs.poolOf(m),
	}
	names := []string{objs.name(m)}
	if m.machine != nil && m.machine.Name != names[0] {
		names = append(names, m.machine.Name)
	}
	for _, n := range names {
		c.Names = append(c.Names, infra.Key{Kind: keyName, Value: n})
		for _, owner := range []string{s.tag, ""} {
			c.Names = append(c.Names, infra.Key{Kind: keyNamesake, Value: infra.Join(owner, m.cluster.Namespace, n)})
		}
	}
	c.Orphan = objs.orphan(m)
	c.Strong, c.Source, c.Conflict, c.Doubted = objs.strong(m)
	s.secondKeys(&c, m.cluster.Namespace, names)
	if m.machine != nil {
		c.Expect = objs.nameTag(m, s)
		c.Reads = "AWSMachine.spec.providerID"
		c.ReadsID = providerIDKeys(m.machine.Data.ProviderID) != nil
		// By the name of the Cluster, also where instances have another as EKS's do
		// (GetRunningInstanceByTags in pkg/cloud/services/ec2/instances.go v2.11.1).
		c.Searches = []infra.Key{searchKey(m.cluster.Name, m.machine.Name)}
	}
	c.Restore = m.restore()
	return c
}

// orphan describes a member without Machine; of one that has it, it returns nil.
func (objs *objects) orphan(m *member) *infra.Orphan {
	if m.index >= 0 {
		return nil
	}
	o := capi.Orphan(machineKind, &m.machine.Meta, &m.machine.Data.Labels, objs.controlPlanes)
	o.ProviderID = m.machine.Data.ProviderID
	return o
}

// nameTag returns what an instance's tag Name says, unless somebody changed it: the name of
// the AWSMachine, where additionalTags do not say otherwise. What a group made is
// called as the group.
func (objs *objects) nameTag(m *member, s *clusterLocation) []infra.Expectation {
	if !objs.poolOf(m).IsZero() {
		return nil
	}
	name := m.machine.Name
	if s.record != nil {
		name = cmp.Or(s.record.Data.NameTag, name)
	}
	return []infra.Expectation{{Key: infra.Key{Kind: keyName, Value: cmp.Or(m.machine.Data.NameTag, name)}, Warning: code.Renamed}}
}

// searchKey returns what CAPA's search by name finds: an instance that is owned by the
// cluster, has the name in tag Name and is pending or running, in any VPC.
func searchKey(cluster, name string) infra.Key {
	return infra.Key{Kind: keySearched, Value: infra.Join(cluster, name)}
}

// secondKeys adds the keys that identify an instance other than by the recorded id.
// names are the Machine's name and, if that differs, the AWSMachine's.
func (s *clusterLocation) secondKeys(c *infra.ExpectedMachine, namespace string, names []string) {
	if s.vpc != "" {
		c.Identity = infra.Key{Kind: keyMachineName, Value: infra.Join(s.tag, s.vpc, namespace, names[0])}
		// CAPA itself finds an instance that it has not recorded by owner and name
		// (pkg/cloud/services/ec2/instances.go GetRunningInstanceByTags v2.9.3).
		for i, n := range names {
			c.Weak = append(c.Weak, infra.Key{Kind: keyOwnedName, Value: infra.Join(s.tag, s.vpc, n)})
			if i > 0 {
				c.Weak = append(c.Weak, infra.Key{Kind: keyMachineName, Value: infra.Join(s.tag, s.vpc, namespace, n)})
			}
		}
		c.Witness = c.Weak
		return
	}
	// In any VPC: too little to call an instance the machine's, and enough not to
	// say that the machine has none.
	tagged := infra.Key{Kind: keyOwnedTag, Value: infra.Join(s.tag, namespace, names[0])}
	if s.record == nil {
		// Of an EKS cluster nothing says its name in tags then.
		tagged = infra.Key{Kind: keyTag, Value: infra.Join(namespace, names[0])}
	}
	for _, n := range names {
		c.Witness = append(c.Witness, infra.Key{Kind: keyOwnedAnywhere, Value: infra.Join(s.tag, n)})
	}
	if !c.Strong.IsZero() {
		c.Identity = tagged
		return
	}
	c.Weak = append([]infra.Key{tagged}, c.Witness...)
}

// unjoin returns one part of what infra.Join made.
func unjoin(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "%2f", "/"), "%25", "%")
}

// strong returns the instance id that the backup records. CAPA writes it in three
// places; if two of them differ, which instance is meant is not known.
func (objs *objects) strong(m *member) (key infra.Key, source, conflict string, others []infra.Key) {
	var all []infra.Recorded
	if m.machine != nil {
		all = append(all, infra.Recorded{Source: "AWSMachine.spec.instanceID", Raw: m.machine.Data.InstanceID})
		all = append(all, infra.Recorded{Source: "AWSMachine.spec.providerID", Raw: m.machine.Data.ProviderID})
	}
	if m.index >= 0 {
		all = append(all, infra.Recorded{Source: "Machine.spec.providerID", Raw: objs.snapshot.Machines[m.index].ProviderID})
	}
	return infra.Agreed(keyInstance, "instance id", all, func(raw string) string {
		if keys := providerIDKeys(raw); keys != nil {
			return keys[0].Value
		}
		return instanceIDOf(raw)
	})
}

// exclusions returns the instances that CAPA makes for no machine: bastions.
func (objs *objects) exclusions() []infra.Exclusion {
	var list []infra.Exclusion
	for _, id := range objs.order() {
		if r := objs.locations[id].record; r != nil {
			if i := instanceIDOf(r.Data.Bastion); i != "" {
				list = append(list, infra.Exclusion{Key: infra.Key{Kind: keyInstance, Value: i}, Cause: Bastion})
			}
		}
	}
	return list
}
