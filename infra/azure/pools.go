package azure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// pool is a MachinePool whose machines a scale set makes.
type pool struct {
	cluster     backup.ClusterID
	name        string // of the MachinePool
	kind        string // of the infrastructure object
	infraName   string
	record      *backup.Record[object] // nil when it is not in the backup
	desired     backup.Number
	managedBy   string
	providerIDs []string
}

// joinPools makes a pool of every MachinePool that is CAPZ's, then of every infrastructure
// pool that is left over.
func (objs *objects) joinPools() {
	tables := []struct {
		kind  string
		table *backup.Table[object]
	}{{poolKind, pools.In(objs.snapshot)}, {managedPoolKind, managedPools.In(objs.snapshot)}, {asoPoolKind, asoPools.In(objs.snapshot)}}
	named := map[string]map[capi.Object]*backup.Record[object]{}
	for _, t := range tables {
		named[t.kind] = capi.Index(t.table)
	}
	used := map[*backup.Record[object]]bool{}
	for i := range objs.snapshot.Groups {
		g := &objs.snapshot.Groups[i]
		ref := g.Infrastructure
		if g.Kind != machinePoolKind || ref.Group != group || named[ref.Kind] == nil {
			continue
		}
		p := pool{cluster: g.Cluster, name: g.Name, kind: ref.Kind, infraName: ref.Name, desired: g.Desired, managedBy: g.ReplicasManagedBy, providerIDs: g.Members}
		p.record = named[ref.Kind][capi.Referred(g.Backup, g.Namespace, ref)]
		used[p.record] = true
		objs.addPool(p)
	}
	for _, t := range tables {
		for r := range t.table.All() {
			if used[r] || r.ClusterName == "" {
				continue
			}
			name, ok := capi.OwnerOf(&r.Meta, machinePoolKind)
			if !ok {
				name = r.Name
			}
			objs.addPool(pool{cluster: capi.ClusterOf(&r.Meta), name: name, kind: t.kind, infraName: r.Name, record: r})
		}
	}
	objs.poolNamed = make(map[poolName]*pool, len(objs.pools))
	for i := range objs.pools {
		k := poolName{objs.pools[i].cluster, objs.pools[i].name}
		if objs.poolNamed[k] == nil {
			objs.poolNamed[k] = &objs.pools[i]
		}
	}
}

// poolName is how a Machine names its pool.
type poolName struct {
	cluster backup.ClusterID
	name    string
}

// addPool takes the members from where CAPZ keeps them first.
func (objs *objects) addPool(p pool) {
	if p.record != nil && len(p.record.Data.Members) > 0 {
		p.providerIDs = p.record.Data.Members
	}
	objs.pools = append(objs.pools, p)
}

// setName returns what CAPZ calls the scale set of an AzureMachinePool (Name in
// azure/scope/machinepool.go v1.26.0).
func (p *pool) setName() string {
	name := p.infraName
	if p.record != nil && strings.EqualFold(p.record.Data.OS, "Windows") && len(name) > 9 {
		name = "win-" + name[len(name)-5:]
	}
	return strings.ToLower(name)
}

// poolKey returns the id of the scale set, which its members have as a key and which is looked
// for. Of a pool of AKS, whose scale set AKS names, the recorded members say it; a pool
// of which nothing says it has a key that no instance has.
func (objs *objects) poolKey(p *pool) infra.Key {
	if p.record != nil {
		if id, ok := ParseID(strings.TrimPrefix(strings.TrimSpace(p.record.Data.ProviderID), providerIDPrefix)); ok && id.Kind == KindSet {
			return infra.Key{Kind: KeyPool, Value: id.Text}
		}
	}
	if p.kind == poolKind {
		if l := objs.locations[p.cluster]; l != nil && l.groupID() != "" && isSegment(p.setName()) {
			return infra.Key{Kind: KeyPool, Value: l.groupID() + "/providers/" + KindSet + "/" + p.setName()}
		}
	}
	sets := map[string]bool{}
	for _, raw := range p.providerIDs {
		sets[SetOf(vmOf(raw))] = true
	}
	delete(sets, "")
	if len(sets) == 1 {
		for set := range sets {
			return infra.Key{Kind: KeyPool, Value: set}
		}
	}
	return infra.Key{Kind: keyLostPool, Value: infra.Join(p.cluster.Namespace, p.cluster.Name, p.name)}
}

// poolOf returns the key of the pool that a member's Machine belongs to, or zero.
func (objs *objects) poolOf(m *member) infra.Key {
	name := ""
	if m.index >= 0 {
		name = objs.snapshot.Machines[m.index].Pool
	}
	if m.record != nil {
		owner, _ := capi.OwnerOf(&m.record.Meta, poolKind)
		name = cmp.Or(name, m.record.Data.Pool, owner)
	}
	if name == "" && m.kind != memberKind {
		return infra.Key{}
	}
	if p := objs.poolNamed[poolName{m.cluster, name}]; p != nil {
		return objs.poolKey(p)
	}
	return infra.Key{Kind: keyLostPool, Value: infra.Join(m.cluster.Namespace, m.cluster.Name, name)}
}

// expectedPools returns the pools as sets.
func (objs *objects) expectedPools() []infra.Pool {
	var list []infra.Pool
	for i := range objs.pools {
		p := &objs.pools[i]
		key := objs.poolKey(p)
		c := infra.Pool{
			Cluster: p.cluster, Kind: machinePoolKind, Name: p.name, Target: objs.locations[p.cluster].target,
			Key: key, Desired: p.desired, ManagedBy: p.managedBy,
		}
		if key.Kind == KeyPool {
			c.Probe = key
			if id, _ := ParseID(key.Value); id.Subscription != objs.locations[p.cluster].subscription {
				c.Guessed = "its scale set is recorded in another subscription than that of its cluster"
			}
		}
		if p.record == nil {
			c.Guessed = fmt.Sprintf("%s %s, which says what it is called, %s", p.kind, p.infraName, objs.snapshot.Lacks(p.cluster.Backup, p.kind))
		} else {
			c.Min, c.Max = p.record.Data.Min, p.record.Data.Max
			if p.record.Paused {
				c.Paused = p.kind + " " + p.infraName
			}
		}
		var ids []string
		for _, raw := range p.providerIDs {
			if vm := vmOf(raw); vm != "" {
				ids = append(ids, vm)
			}
		}
		slices.Sort(ids)
		for _, vm := range slices.Compact(ids) {
			c.Members = append(c.Members, infra.Key{Kind: keyVM, Value: vm})
		}
		list = append(list, c)
	}
	return list
}
