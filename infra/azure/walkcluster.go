package azure

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Policies of an object of ASO: whether it writes to Azure.
const (
	policyManage = "manage"
	policySkip   = "skip"
)

// Rows of the objects of ASO. Without the AzureCluster as their owner, which a restore takes
// away, CAPZ takes them for somebody else's and goes on, whatever they say (skipping reconcile
// for unmanaged resource); ASO goes by its annotation alone. What is not in the backup CAPZ
// creates, and takes over if its tags are on the resource. Whether the resources exist is a
// resource of the report.
var (
	rowO1 = &walk.Row{
		ID: "azure.O1", Of: "ResourceGroup",
		Asks:    "its reconcile-policy, which a restore brings back, where its resource group is gone: with manage ASO creates that again within seconds, and CAPZ a whole network in it",
		Differs: walk.Halts.Says("ASO creates no resource group, CAPZ can create nothing in it and never calls the cluster ready"),
		Source:  "CreateOrUpdateResource: azure/services/aso/aso.go v1.13.0 to v1.26.0; reconcile-policy of ASO v2.18.0; seen with manage",
	}
	rowO2 = &walk.Row{
		ID: "azure.O2", Of: "VirtualNetwork",
		Asks:      "what Azure has of it, of its subnets, of NAT gateways, bastion host, private endpoints and the tags of the resource group: with reconcile-policy manage ASO writes again what the backup says, for clusters that live, and for paused ones; of what has no object CAPZ makes one, and lets ASO write where Azure has the cluster's tag",
		Condition: code.InfrastructureUnasked,
		Source:    "CreateOrUpdate of the generic ARM reconciler of ASO v2.18.0; CreateOrUpdateResource: azure/services/aso/aso.go v1.13.0 to v1.26.0; seen with CAPZ v1.26.0",
	}
	rowO3 = &walk.Row{
		ID: "azure.O3", Of: "an object of ASO",
		Asks:      "the thing that it describes, and makes it again where that is gone, or as the object says where it was changed, unless its policy is skip: of those that are no cluster's none is looked for here",
		Condition: code.InfrastructureUnasked,
		Source:    "CreateOrUpdate of the generic ARM reconciler of ASO v2.18.0",
	}
	asoRows = []*walk.Row{rowO1, rowO2, rowO3}
)

// Rows of AzureCluster.
var (
	rowC1 = &walk.Row{
		ID: "azure.C1", Of: clusterKind,
		Asks: "the load balancer of the API server",
		None: walk.Does{
			Effect: walk.Makes, Code: code.ControlPlaneDown,
			What: "CAPZ creates it again without what is behind it, since it changes no network interface that exists: nobody reaches the API server until the network interfaces of the control plane are put into its backend pool by hand",
		},
		Source: "Parameters: azure/services/loadbalancers/spec.go, azure/services/networkinterfaces/spec.go v1.13.0 to v1.26.0",
	}
	clusterRows = []*walk.Row{rowC1}
)

// policyOf returns the reconcile-policy of the object that stands for the cluster's resource group, or
// "": the backup has none, and CAPZ creates it.
func (objs *objects) policyOf(id backup.ClusterID, l *location) string {
	for r := range serviceObjects[0].In(objs.snapshot).All() {
		at, ok := ParseID(r.Data.ProviderID)
		if ok && at.Text == l.groupID() && r.Backup == id.Backup && r.Namespace == id.Namespace {
			return r.Data.Policy
		}
	}
	return ""
}

// askASO asks what the objects of ASO do.
func (q *questions) askASO(id backup.ClusterID, l *location) {
	if l.groupID() == "" {
		return
	}
	if q.objs.policyOf(id, l) == policySkip {
		object := thingGroup + " " + l.record.Data.Group
		q.look(of(rowO1, id, infra.ClusterTitle(id)), func(at *infra.Listing) walk.Answer {
			if _, absent := presence(at, resourceKey(l.groupID())); absent {
				return answer(walk.Differs, object, fmt.Sprintf("%s is gone, and its object has reconcile-policy skip", object), "exists")
			}
			return pass
		})
	} else {
		q.Note(rowO1, id, pass)
	}
}

// askWritten asks O2, of a paused cluster, too: ASO knows nothing of that.
func (q *questions) askWritten(id backup.ClusterID, l *location) {
	if l.groupID() != "" {
		q.noteUnseen(rowO2, id, q.objs.isWritten(id, l))
	}
}

// isWritten reports whether ASO writes what an object of the cluster says, or one that CAPZ makes.
func (objs *objects) isWritten(id backup.ClusterID, l *location) bool {
	skipped := map[string]bool{} // by ARM id
	for _, k := range serviceObjects {
		for r := range k.In(objs.snapshot).All() {
			if r.Backup != id.Backup || r.Namespace != id.Namespace {
				continue
			}
			if at, ok := ParseID(r.Data.ProviderID); ok && r.Data.Policy == policySkip {
				skipped[at.Text] = true
			} else if r.ClusterName == id.Name && r.Data.Policy != policySkip {
				return true
			}
		}
	}
	return !l.record.Paused && slices.ContainsFunc(l.served(id.Name), func(arm string) bool { return !skipped[arm] })
}

// served returns the ids of what CAPZ makes objects of ASO for, and lets ASO write: of a network that
// it was given, and of that network's resource group, it lets ASO write nothing.
func (l *location) served(cluster string) []string {
	n, all := l.record.Data.network(), []string{l.groupID()}
	in := l.groupID()
	add := func(arm, name string) {
		if name != "" {
			all = append(all, trimmed(arm+name))
		}
	}
	b := l.record.Data.bastion()
	add(in+"/providers/"+typeOf[thingBastion]+"/", b.Name)
	for i := range n.Subnets {
		for _, e := range n.Subnets[i].PrivateEndpoints {
			add(in+"/providers/"+typeOf[thingEndpoint]+"/", e.Name)
		}
	}
	if !l.made(&n, cluster) {
		return all
	}
	vnet := thing(l.networkGroup(&n), thingNetwork, n.VNet.Name)
	all = append(all, vnet)
	add(vnet+"/subnets/", b.Subnet.Name)
	for i := range n.Subnets {
		add(vnet+"/subnets/", n.Subnets[i].Name)
		add(in+"/providers/"+typeOf[thingGateway]+"/", n.Subnets[i].NATGateway.Name)
	}
	return all
}

// askServed asks O3 once for each backup that holds clusters of CAPZ's.
func (q *questions) askServed() {
	asked := map[int]bool{}
	for _, id := range q.objs.order() {
		if asked[id.Backup] {
			continue
		}
		asked[id.Backup] = true
		list := q.objs.others(id.Backup)
		if len(list) == 0 {
			q.Note(rowO3, id, pass)
		}
		for _, object := range list {
			q.Keep(walk.Step{Row: rowO3, Cluster: id, Subject: object, Machine: -1, Answer: unseen(object)})
		}
	}
}

// others returns the objects of ASO of a backup that it writes, and that are of no cluster.
func (objs *objects) others(in int) (list []string) {
	add := func(kind string, r *backup.Record[object]) {
		of := objs.locations[capi.ClusterOf(&r.Meta)]
		if r.Backup == in && r.Data.Policy != policySkip && (of == nil || of.kind == "") {
			list = append(list, kind+" "+r.Namespace+"/"+r.Name)
		}
	}
	for i, kind := range []string{"ResourceGroup", "VirtualNetwork", "VirtualNetworksSubnet", "NatGateway", "BastionHost", "PrivateEndpoint"} {
		for r := range serviceObjects[i].In(objs.snapshot).All() {
			add(kind, r)
		}
	}
	for _, kind := range sortedNames(otherObjects) {
		for r := range otherObjects[kind].In(objs.snapshot).All() {
			add(kind, r)
		}
	}
	return list
}

// askBalancer asks C1, where there is a group for the balancer to be in: of a cluster without one
// nothing runs.
func (q *questions) askBalancer(id backup.ClusterID, l *location) {
	name := l.record.Data.network().APIServerLB.Name
	if name == "" || l.groupID() == "" {
		return
	}
	key := resourceKey(thing(l.groupID(), thingBalancer, name))
	object := thingBalancer + " " + name
	q.look(of(rowC1, id, infra.ClusterTitle(id)), func(at *infra.Listing) walk.Answer {
		here, _ := presence(at, resourceKey(l.groupID()))
		if _, absent := presence(at, key); absent && here {
			return answer(walk.None, object, object+" is gone", "exists, with the control plane behind it")
		}
		return pass
	})
}
