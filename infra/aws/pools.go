package aws

import (
	"cmp"
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/backup/naming"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// pool is a MachinePool whose machines an autoscaling group or an EKS node group
// makes.
type pool struct {
	cluster     backup.ClusterID
	name        string // of the MachinePool
	kind        string // of the infrastructure object
	infraName   string
	record      *backup.Record[awsPool] // nil when it is not in the backup
	desired     backup.Number
	managedBy   string
	providerIDs []string
	zones       string        // of the MachinePool, in JSON
	group       *backup.Group // the MachinePool; nil when it is not in the backup
}

// joinPools makes a pool of every MachinePool that is CAPA's, then of every
// infrastructure pool that is left over.
func (objs *objects) joinPools() {
	infraPools := map[string]map[capi.Object]*backup.Record[awsPool]{
		poolKind: capi.Index(pools.In(objs.snapshot)), managedPoolKind: capi.Index(managedPools.In(objs.snapshot)),
	}
	extras := capi.Index(machinePools.In(objs.snapshot))
	used := map[*backup.Record[awsPool]]bool{}
	for i := range objs.snapshot.Groups {
		g := &objs.snapshot.Groups[i]
		ref := g.Infrastructure
		if g.Kind != machinePoolKind || ref.Group != group || infraPools[ref.Kind] == nil {
			continue
		}
		p := pool{cluster: g.Cluster, name: g.Name, kind: ref.Kind, infraName: ref.Name, desired: g.Desired, managedBy: g.ReplicasManagedBy, providerIDs: g.Members, group: g}
		p.record = infraPools[ref.Kind][capi.Referred(g.Backup, g.Namespace, ref)]
		used[p.record] = true
		if x := extras[capi.ObjectOf(&g.Meta)]; x != nil {
			p.zones = x.Data.Zones
		}
		objs.addPool(p)
	}
	for _, kind := range []string{poolKind, managedPoolKind} {
		table := pools.In(objs.snapshot)
		if kind == managedPoolKind {
			table = managedPools.In(objs.snapshot)
		}
		for r := range table.All() {
			if used[r] || r.ClusterName == "" {
				continue
			}
			name, ok := capi.OwnerOf(&r.Meta, machinePoolKind)
			if !ok {
				name = r.Name
			}
			objs.addPool(pool{cluster: capi.ClusterOf(&r.Meta), name: name, kind: kind, infraName: r.Name, record: r})
		}
	}
}

// addPool takes the members from where CAPA keeps them first.
func (objs *objects) addPool(p pool) {
	if p.record != nil {
		for _, list := range [][]string{p.record.Data.Instances, p.record.Data.ProviderIDs} {
			if len(list) > 0 {
				p.providerIDs = list
			}
		}
	}
	objs.pools = append(objs.pools, p)
}

// poolName is how a Machine names its pool.
type poolName struct {
	cluster backup.ClusterID
	name    string
}

// namePools indexes the pools, of several of one name the first.
func (objs *objects) namePools() {
	objs.poolNamed = make(map[poolName]*pool, len(objs.pools))
	for i := range objs.pools {
		k := poolName{objs.pools[i].cluster, objs.pools[i].name}
		if objs.poolNamed[k] == nil {
			objs.poolNamed[k] = &objs.pools[i]
		}
	}
}

// memberIDs returns the instance ids that the backup records, each once, sorted.
func (p *pool) memberIDs() []string {
	var ids []string
	for _, raw := range p.providerIDs {
		id := instanceIDOf(raw)
		if keys := providerIDKeys(raw); keys != nil {
			id = keys[0].Value
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// poolKey returns the key of a pool's members, which is also the probe of the pool
// itself. CAPA looks for an autoscaling group by the name of its AWSMachinePool, whatever spec.providerID
// says (GetASGByName in pkg/cloud/services/autoscaling/autoscalinggroup.go v2.13.0). That name is
// its own within account and region only, so the key names the target, too.
func (objs *objects) poolKey(p *pool) infra.Key {
	s := objs.locations[p.cluster]
	if p.kind == managedPoolKind {
		n := objs.nodegroupName(p)
		return NodegroupKey(s.target, n.Cluster, n.Name)
	}
	return ASGKey(s.target, p.infraName)
}

func (objs *objects) nodegroupName(p *pool) NodegroupName {
	n := NodegroupName{objs.locations[p.cluster].tag, eksName(p.cluster.Namespace, p.infraName)}
	if p.record != nil && p.record.Data.Nodegroup != "" {
		n.Name = p.record.Data.Nodegroup
	}
	return n
}

// templateName returns what CAPA calls the launch template (LaunchTemplateName in
// pkg/cloud/scope/machinepool.go and managednodegroup.go v2.13.0).
func (objs *objects) templateName(p *pool) string {
	if s := objs.locations[p.cluster]; p.kind == managedPoolKind && s.record != nil {
		return s.record.Name + "-" + p.infraName
	}
	return p.infraName
}

// ASGKey returns the key of the members of an autoscaling group, which is the probe of the group, too.
// target is the id of a home of the Target.
func ASGKey(target, name string) infra.Key {
	return infra.Key{Kind: KeyASG, Value: target + "/" + infra.Join(name)}
}

// NodegroupKey returns that of an EKS node group, by the name of its control plane and its own.
func NodegroupKey(target, cluster, name string) infra.Key {
	return infra.Key{Kind: KeyNodegroup, Value: target + "/" + infra.Join(cluster, name)}
}

// ownPool returns the probes by which a pool shows its account, where its name alone
// may be that of another account's pool: an autoscaling group by the account in the
// ARN that the backup records, a node group by the subnets that it is in.
func (objs *objects) ownPool(p *pool) []infra.Key {
	if p.kind != managedPoolKind {
		if p.record == nil {
			return nil
		}
		return accountIn(p.record.Data.ARN)
	}
	var subnets []string
	for _, part := range objs.locations[p.cluster].parts(p.cluster) {
		if part.key.Kind == KeySubnet {
			subnets = append(subnets, part.key.Value)
		}
	}
	if p.record != nil {
		subnets = append(subnets, p.record.Data.Subnets...)
	}
	var keys []infra.Key
	for _, subnet := range subnets {
		keys = append(keys, PlacedKey(objs.poolKey(p), subnet))
	}
	return keys
}

// PlacedKey returns the probe of a node group in a subnet.
func PlacedKey(nodegroup infra.Key, subnet string) infra.Key {
	return infra.Key{Kind: keyOwnNodegroup, Value: nodegroup.Value + "/" + subnet}
}

// poolOf returns the key of the pool that a member's Machine belongs to, or zero: CAPA goes by the
// label of the AWSMachine (getAWSMachines in exp/controllers/awsmachinepool_machines.go v2.6.0 to
// v2.13.0). Of a pool that is not in the backup, or whose name is hashed in the label, no
// instance has the key; the machine counts as one of a pool all the same.
func (objs *objects) poolOf(m *member) infra.Key {
	name := ""
	if m.index >= 0 {
		name = objs.snapshot.Machines[m.index].Pool
	}
	if m.machine != nil {
		owner, _ := capi.OwnerOf(&m.machine.Meta, machinePoolKind)
		name = cmp.Or(name, owner, m.machine.Data.Pool)
		if label := m.machine.Data.Pool; label != "" && !naming.Hashed(label) {
			name = label
		}
	}
	if name == "" {
		return infra.Key{}
	}
	if p := objs.poolNamed[poolName{m.cluster, name}]; p != nil {
		return objs.poolKey(p)
	}
	return infra.Key{Kind: keyLostPool, Value: infra.Join(m.cluster.Namespace, m.cluster.Name, name)}
}

// guessed returns why the name of a pool is not certain, or "". What CAPA calls it
// is in its own object, and an EKS cluster's name in its control plane's.
func (objs *objects) guessed(p *pool) string {
	switch s := objs.locations[p.cluster]; {
	case p.record == nil:
		return fmt.Sprintf("%s %s, which says what it is called, %s", p.kind, p.infraName, objs.snapshot.Lacks(p.cluster.Backup, p.kind))
	case p.kind == managedPoolKind && (s.record == nil || s.kind != planeKind):
		return "the " + planeKind + " of its cluster, which says what that is called, " + objs.snapshot.Lacks(p.cluster.Backup, planeKind)
	}
	return ""
}

func (objs *objects) expectedOfPool() []infra.Pool {
	var list []infra.Pool
	for i := range objs.pools {
		p := &objs.pools[i]
		key := objs.poolKey(p)
		c := infra.Pool{
			Cluster: p.cluster, Kind: machinePoolKind, Name: p.name, Target: objs.locations[p.cluster].target,
			Key: key, Probe: key, Guessed: objs.guessed(p), Desired: p.desired, ManagedBy: p.managedBy,
		}
		if p.record != nil { // of a node group AWS refuses bounds that its size is outside of
			c.Min, c.Max = p.record.Data.Min, p.record.Data.Max
			if p.record.Paused {
				c.Paused = p.kind + " " + p.infraName
			}
		}
		for _, id := range p.memberIDs() {
			c.Members = append(c.Members, infra.Key{Kind: keyInstance, Value: id})
		}
		list = append(list, c)
	}
	return list
}

// NodegroupName is how EKS names a node group, or a Fargate profile.
type NodegroupName struct{ Cluster, Name string }
