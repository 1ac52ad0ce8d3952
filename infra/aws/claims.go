package aws

import (
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
)

// Claims says which instances the backup expects, and what ties others to its clusters.
func (p *provider) Claims(s *backup.Snapshot) infra.Claims {
	e := newEstate(s)
	c := infra.Claims{Providers: map[backup.ClusterID]string{}}
	for id := range e.sites {
		c.Providers[id] = Name
	}
	c.Machines = make([]infra.Claim, len(e.members))
	for i := range e.members {
		c.Machines[i] = e.claim(&e.members[i])
	}
	c.Ties = e.ties()
	c.Pools = e.poolClaims()
	c.Proofs = e.proofs(c.Machines, c.Pools)
	c.Exclude = e.exclusions()
	c.Resources = e.resources()
	c.Absent = e.absent()
	for _, id := range e.order() {
		c.OwnerTags = append(c.OwnerTags, infra.Key{Kind: infra.OwnerTag, Value: e.sites[id].tag})
	}
	return c
}

// order is the clusters that are CAPA's, sorted.
func (e *estate) order() []backup.ClusterID {
	return slices.SortedFunc(maps.Keys(e.sites), compareClusters)
}

func (e *estate) claim(m *member) infra.Claim {
	s := e.sites[m.cluster]
	c := infra.Claim{
		Machine:      m.index,
		Provider:     Name,
		Home:         infra.Home{Target: s.target},
		InfraMissing: m.machine == nil,
		Pool:         e.poolOf(m),
	}
	names := []string{e.name(m)}
	if m.machine != nil && m.machine.Name != names[0] {
		names = append(names, m.machine.Name)
	}
	for _, n := range names {
		c.Names = append(c.Names, infra.Key{Kind: keyName, Value: n})
		for _, owner := range []string{s.tag, ""} {
			c.Names = append(c.Names, infra.Key{Kind: keyNamesake, Value: join(owner, m.cluster.Namespace, n)})
		}
	}
	if m.index < 0 {
		c.Orphan = e.orphan(m)
	}
	c.Strong, c.Source, c.Conflict, c.Doubted = e.strong(m)
	s.secondKeys(&c, m.cluster.Namespace, names)
	c.Restore = m.restore()
	return c
}

// secondKeys are those by which an instance is told that is not the recorded
// one, or whose id is not recorded. names are the Machine's and, where it has
// another, the AWSMachine's.
func (s *site) secondKeys(c *infra.Claim, namespace string, names []string) {
	if s.vpc != "" {
		c.Identity = infra.Key{Kind: keyMachineName, Value: join(s.tag, s.vpc, namespace, names[0])}
		// CAPA itself finds an instance that it has not recorded by owner and name
		// (pkg/cloud/services/ec2/instances.go GetRunningInstanceByTags v2.9.3).
		for i, n := range names {
			c.Weak = append(c.Weak, infra.Key{Kind: keyOwnedName, Value: join(s.tag, s.vpc, n)})
			if i > 0 {
				c.Weak = append(c.Weak, infra.Key{Kind: keyMachineName, Value: join(s.tag, s.vpc, namespace, n)})
			}
		}
		return
	}
	// In whichever VPC. That is too little to say that an instance is the
	// machine's for sure, and enough not to say that the machine has none.
	tagged := infra.Key{Kind: keyOwnedTag, Value: join(s.tag, namespace, names[0])}
	if s.record == nil {
		// Of an EKS cluster nothing says its name in tags then.
		tagged = infra.Key{Kind: keyTag, Value: join(namespace, names[0])}
	}
	if !c.Strong.IsZero() {
		c.Identity = tagged
		return
	}
	c.Weak = append(c.Weak, tagged)
	for _, n := range names {
		c.Weak = append(c.Weak, infra.Key{Kind: keyOwnedAnywhere, Value: join(s.tag, n)})
	}
}

// join makes one value of several. Parts from outside may hold the separator.
func join(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(p, "%", "%25"), "/", "%2f")
	}
	return strings.Join(escaped, "/")
}

// strong finds the instance id that the backup records. CAPA writes it in three
// places; where two differ nobody can say which instance is meant.
func (e *estate) strong(m *member) (key infra.Key, source, conflict string, others []infra.Key) {
	var all []infra.Recorded
	if m.machine != nil {
		all = append(all, infra.Recorded{Source: "AWSMachine.spec.instanceID", Raw: m.machine.Data.InstanceID})
		all = append(all, infra.Recorded{Source: "AWSMachine.spec.providerID", Raw: m.machine.Data.ProviderID})
	}
	if m.index >= 0 {
		all = append(all, infra.Recorded{Source: "Machine.spec.providerID", Raw: e.snapshot.Machines[m.index].ProviderID})
	}
	return infra.Agreed(keyInstance, "instance id", all, func(raw string) string {
		if keys := providerIDKeys(raw); keys != nil {
			return keys[0].Value
		}
		return instanceIDOf(raw)
	})
}

// orphan describes an AWSMachine without Machine by the labels that Cluster API
// puts on infrastructure machines (core/reconcilers/machineset v1.14.0).
func (e *estate) orphan(m *member) *infra.Orphan {
	d := &m.machine.Data
	o := &infra.Orphan{
		Kind: machineKind, Namespace: m.machine.Namespace, Name: m.machine.Name, UID: m.machine.UID, Cluster: m.cluster,
		ControlPlane: d.ControlPlane, Owner: infra.OwnerID{Cluster: m.cluster}, ProviderID: d.ProviderID,
	}
	switch {
	case d.ControlPlane:
		o.Owner = e.controlPlaneOf(m.cluster, d.ControlPlaneName)
	case d.Set != "":
		o.Owner.Kind, o.Owner.Name = "MachineSet", d.Set
	case d.Deployment != "":
		o.Owner.Kind, o.Owner.Name = "MachineDeployment", d.Deployment
	case d.Pool != "":
		o.Owner.Kind, o.Owner.Name = machinePoolKind, d.Pool
	}
	return o
}

// controlPlaneOf is the control plane of that name; a name that is no label
// value is hashed in the label, and then the cluster's only one is meant.
func (e *estate) controlPlaneOf(id backup.ClusterID, name string) infra.OwnerID {
	owner := infra.OwnerID{Cluster: id}
	found := 0
	for i := range e.snapshot.ControlPlanes {
		c := &e.snapshot.ControlPlanes[i]
		if c.Cluster != id {
			continue
		}
		if c.Name == name {
			return infra.OwnerID{Cluster: id, Kind: c.Kind, Name: c.Name}
		}
		owner.Kind, owner.Name = c.Kind, c.Name
		found++
	}
	if found != 1 {
		return infra.OwnerID{Cluster: id}
	}
	return owner
}

// ownVPC are the landmarks that prove a cluster's account: its VPC, made by CAPA
// for it. CAPA tags it with the name of the Cluster, also where instances bear
// another (pkg/cloud/services/network/vpc.go v1.5.0).
func (s *site) ownVPC(id backup.ClusterID) []infra.Key {
	if s.vpc == "" {
		return nil
	}
	keys := []infra.Key{{Kind: keyOwnVPC, Value: join(s.vpc, id.Name)}}
	if s.tag != id.Name {
		keys = append(keys, infra.Key{Kind: keyOwnVPC, Value: join(s.vpc, s.tag)})
	}
	return keys
}

// proofs says what a listing must show before absence may be concluded from it,
// per target. A target is one region under one identity, and an identity is of one
// account: what shows that account for one of its clusters shows it for all. That
// is an instance that the backup records, a pool that is told from a namesake in
// another account, or the VPC that CAPA made for a cluster, in the account that
// owns it. A VPC that was there before may be shared: then accounts see it that see
// none of the cluster's instances.
func (e *estate) proofs(claims []infra.Claim, pools []infra.Pool) []infra.Proof {
	sights := map[string]map[infra.Key]bool{} // by target
	note := func(id backup.ClusterID, keys ...infra.Key) {
		target := e.sites[id].target
		if sights[target] == nil {
			sights[target] = map[infra.Key]bool{}
		}
		for _, k := range keys {
			if !k.IsZero() {
				sights[target][k] = true
			}
		}
	}
	for id, s := range e.sites {
		note(id, s.ownVPC(id)...)
	}
	for i := range e.members {
		note(e.members[i].cluster, claims[i].Strong)
	}
	for i := range pools {
		note(pools[i].Cluster, pools[i].Members...)
	}
	for i := range e.pools {
		note(e.pools[i].cluster, e.ownPool(&e.pools[i])...)
	}
	shared := map[string][]infra.Key{}
	for target, keys := range sights {
		shared[target] = sortedKeys(keys)
	}
	var proofs []infra.Proof
	for _, id := range e.order() {
		target := e.sites[id].target
		proofs = append(proofs, infra.Proof{
			Cluster: id, Target: target, Any: shared[target],
			Hint: "of the clusters that are in this region under the same identity neither an instance nor a machine pool was seen, nor a VPC that Cluster API made for one of them in this account; any other VPC may be shared between accounts: check that the credential is of the AWS account that the cluster is in",
		})
	}
	return proofs
}

// exclusions are instances that CAPA makes and that are nobody's machine.
func (e *estate) exclusions() []infra.Exclusion {
	var list []infra.Exclusion
	for _, id := range e.order() {
		if r := e.sites[id].record; r != nil {
			if i := instanceIDOf(r.Data.Bastion); i != "" {
				list = append(list, infra.Exclusion{Key: infra.Key{Kind: keyInstance, Value: i}, Cause: bastion})
			}
		}
	}
	return list
}
