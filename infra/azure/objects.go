package azure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
)

// objects is what the Azure objects of a Snapshot say together.
type objects struct {
	snapshot      *backup.Snapshot
	clusters      map[capi.Object]*backup.Record[object]
	planes        map[capi.Object]*backup.Record[object]
	identities    map[capi.Object]*backup.Record[object]
	namespaces    map[capi.Object]*backup.Record[namespace]
	known         map[backup.ClusterID]*backup.Cluster
	controlPlanes backup.ControlPlanes
	members       []member
	pools         []pool
	poolNamed     map[poolName]*pool
	locations     map[backup.ClusterID]*location // of the clusters that are CAPZ's
	machinesOf    map[backup.ClusterID][]*member // with machineKind
	served        map[backup.ClusterID][]served  // by label
	skipped       map[capi.Object]bool           // ARM ids, in place of names, of served objects with policySkip
}

// served is an object of ASO that is one of serviceObjects.
type served struct {
	*backup.Record[object]
	kind int
}

// member is one machine that the backup expects: a Machine with what is behind it, or
// what is left of one.
type member struct {
	index   int // into Snapshot.Machines, -1 without Machine
	cluster backup.ClusterID
	kind    string // machineKind or memberKind
	record  *backup.Record[object]
}

// location is where a cluster's machines are: one resource group of one subscription.
type location struct {
	record       *backup.Record[object]
	kind         string // of record
	subscription string // as objects say it, in lower case; empty: none does
	stated       bool   // the cluster's own object says it
	group        string // resource group of its machines, in lower case; empty: unknown
	home         home
	target       string
}

func newObjects(s *backup.Snapshot) *objects {
	objs := &objects{
		snapshot: s, controlPlanes: s.ControlPlanesByCluster(), known: capi.Clusters(s),
		clusters: capi.Index(clusters.In(s)), planes: capi.Index(planes.In(s)),
		identities: capi.Index(identities.In(s)), namespaces: capi.Index(namespaces.In(s)),
		locations:  map[backup.ClusterID]*location{},
		machinesOf: map[backup.ClusterID][]*member{}, served: map[backup.ClusterID][]served{}, skipped: map[capi.Object]bool{},
	}
	for i, k := range serviceObjects {
		for r := range k.In(s).All() {
			id := capi.ClusterOf(&r.Meta)
			objs.served[id] = append(objs.served[id], served{r, i})
			if at, ok := ParseID(r.Data.ProviderID); ok && r.Data.Policy == policySkip {
				objs.skipped[capi.Object{Backup: r.Backup, Namespace: r.Namespace, Name: at.Text}] = true
			}
		}
	}
	objs.join()
	for i := range objs.members {
		if m := &objs.members[i]; m.kind == machineKind {
			objs.machinesOf[m.cluster] = append(objs.machinesOf[m.cluster], m)
		}
	}
	objs.joinPools()
	objs.locate()
	return objs
}

// skips reports whether an object of ASO for the thing, in the cluster's namespace, says that ASO writes
// nothing.
func (objs *objects) skips(id backup.ClusterID, arm string) bool {
	return objs.skipped[capi.Object{Backup: id.Backup, Namespace: id.Namespace, Name: arm}]
}

// join makes a member of every Machine that is CAPZ's, and of every infrastructure machine
// that is left over.
func (objs *objects) join() {
	capi.EachMachine(objs.snapshot, infra.GroupKind{Group: group, Kind: machineKind}, machines.In(objs.snapshot),
		func(i int, id backup.ClusterID, _ capi.Object, r *backup.Record[object]) {
			objs.members = append(objs.members, member{i, id, machineKind, r})
		})
	capi.EachMachine(objs.snapshot, infra.GroupKind{Group: group, Kind: memberKind}, members.In(objs.snapshot),
		func(i int, id backup.ClusterID, _ capi.Object, r *backup.Record[object]) {
			objs.members = append(objs.members, member{i, id, memberKind, r})
		})
}

// locate finds the clusters that are CAPZ's, and where each is.
func (objs *objects) locate() {
	at := func(id backup.ClusterID) *location {
		l := objs.locations[id]
		if l == nil {
			l = &location{}
			objs.locations[id] = l
		}
		return l
	}
	for id, c := range objs.known {
		infrastructure := capi.Referred(c.Backup, c.Namespace, c.Infrastructure)
		plane := capi.Referred(c.Backup, c.Namespace, c.ControlPlane)
		ofPlane := c.ControlPlane.Group == group || strings.HasPrefix(c.ControlPlane.Kind, "Azure")
		switch kind := c.Infrastructure.Kind; {
		case c.Infrastructure.Group == group && kind == clusterKind:
			l := at(id)
			l.record, l.kind = objs.clusters[infrastructure], clusterKind
		case c.Infrastructure.Group == group && (kind == managedKind || kind == asoClusterKind), ofPlane && c.ControlPlane.Kind == planeKind, ofPlane && c.ControlPlane.Kind == asoPlaneKind:
			l := at(id)
			l.kind = cmp.Or(c.ControlPlane.Kind, kind)
			if l.kind == planeKind {
				l.record = objs.planes[plane]
			}
		}
	}
	for i := range objs.members {
		at(objs.members[i].cluster)
	}
	for i := range objs.pools {
		at(objs.pools[i].cluster)
	}
	labelled := map[backup.ClusterID]*backup.Record[object]{} // by the label, the first of each
	for r := range clusters.In(objs.snapshot).All() {
		if id := capi.ClusterOf(&r.Meta); labelled[id] == nil {
			labelled[id] = r
		}
	}
	for id, l := range objs.locations {
		if c := objs.known[id]; l.record == nil && (c == nil || c.Infrastructure.IsZero()) && labelled[id] != nil {
			l.record, l.kind = labelled[id], clusterKind
		}
		if l.record != nil {
			l.subscription, l.group = trimmed(l.record.Data.Subscription), trimmed(l.record.Data.Group)
			l.stated = l.subscription != ""
		}
	}
	objs.deduce()
	for id, l := range objs.locations {
		l.home = objs.homeOf(id, l)
		l.target = l.home.id()
	}
}

// deduce takes subscription and group of the clusters whose own object does not say them
// from the recorded ids of their machines, where those agree. CAPZ takes a subscription that
// no object names from its own environment (setCredentialsWithProvider in
// azure/scope/clients.go v1.26.0), which no default backup holds.
func (objs *objects) deduce() {
	subscriptions, groups := map[backup.ClusterID]map[string]bool{}, map[backup.ClusterID]map[string]bool{}
	note := func(id backup.ClusterID, raw string, machine bool) {
		arm, ok := ParseID(vmOf(raw))
		if !ok {
			if arm, ok = ParseID(strings.TrimPrefix(strings.TrimSpace(raw), providerIDPrefix)); !ok {
				return
			}
		}
		if subscriptions[id] == nil {
			subscriptions[id], groups[id] = map[string]bool{}, map[string]bool{}
		}
		subscriptions[id][arm.Subscription] = true
		if machine {
			groups[id][arm.Group] = true
		}
	}
	for i := range objs.members {
		for _, r := range objs.recorded(&objs.members[i]) {
			note(objs.members[i].cluster, r.Raw, true)
		}
	}
	for i := range objs.pools {
		for _, raw := range objs.pools[i].providerIDs {
			note(objs.pools[i].cluster, raw, false)
		}
	}
	for id, l := range objs.locations {
		if l.record != nil && l.subscription == "" {
			note(id, l.record.Data.network().VNet.ID, false)
		}
		if l.subscription == "" && len(subscriptions[id]) == 1 {
			l.subscription = slices.Collect(maps.Keys(subscriptions[id]))[0]
		}
		if l.group == "" && l.record == nil && len(groups[id]) == 1 {
			l.group = slices.Collect(maps.Keys(groups[id]))[0]
		}
	}
}

// order returns the clusters that are CAPZ's, sorted.
func (objs *objects) order() []backup.ClusterID {
	return slices.SortedFunc(maps.Keys(objs.locations), capi.CompareClusters)
}

// recorded returns the places where the backup records the id of a machine's VM.
func (objs *objects) recorded(m *member) (all []infra.Recorded) {
	if m.record != nil {
		all = append(all, infra.Recorded{Source: m.kind + ".spec.providerID", Raw: m.record.Data.ProviderID})
	}
	if m.index >= 0 {
		all = append(all, infra.Recorded{Source: "Machine.spec.providerID", Raw: objs.snapshot.Machines[m.index].ProviderID})
	}
	return all
}

// vmName returns what CAPZ calls the machine's VM where no id is recorded: as the AzureMachine,
// shortened for Windows (Name in CAPZ azure/scope/machine.go v1.26.0). It is empty where
// the backup does not say.
func (m *member) vmName() string {
	if m.record == nil || m.kind != machineKind {
		return ""
	}
	name := m.record.Name
	if strings.EqualFold(m.record.Data.OS, "Windows") && len(name) > 15 {
		name = strings.TrimSuffix(name[:9], "-") + "-" + name[len(name)-5:]
	}
	return lower(name)
}
