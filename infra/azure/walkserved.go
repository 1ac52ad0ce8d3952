package azure

import (
	"encoding/json"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what ASO writes.
var (
	rowO2 = &walk.Row{
		ID: "azure.O2", Of: "VirtualNetwork",
		Asks:      "what Azure has of it, of its subnets, of NAT gateways, bastion host, private endpoints and the tags of the resource group: with reconcile-policy manage ASO writes again what the backup says, for clusters that live, and for paused ones; of what has no object CAPZ makes one, and lets ASO write where Azure has the cluster's tag",
		Differs:   walk.Does{Effect: walk.Writes, Code: code.NetworkSetBack, What: "ASO sets the network back to what its object says, paused or not, and takes off what that does not name"},
		Condition: code.InfrastructureUnasked,
		Source:    "CreateOrUpdate of the generic ARM reconciler of ASO v2.18.0; CreateOrUpdateResource: azure/services/aso/aso.go v1.13.0 to v1.26.0; seen with CAPZ v1.26.0",
	}
	rowO3 = &walk.Row{
		ID: "azure.O3", Of: "an object of ASO",
		Asks:      "the thing that it describes, and makes it again where that is gone, or as the object says where it was changed, unless its policy is skip: of those that are no cluster's none is looked for here",
		Condition: code.InfrastructureUnasked,
		Source:    "CreateOrUpdate of the generic ARM reconciler of ASO v2.18.0",
	}
	servedRows = []*walk.Row{rowO2, rowO3}
)

// askWritten asks O2, of a paused cluster, too: ASO knows nothing of that. What else it writes, no
// call shows.
func (q *questions) askWritten(id backup.ClusterID, l *location) {
	if l.groupID() == "" {
		return
	}
	q.noteUnseen(rowO2, id, q.objs.isWritten(id, l))
	q.compare(rowO2, id, q.objs.networkParts(id))
}

// isWritten reports whether ASO writes what an object of the cluster says, or one that CAPZ makes.
func (objs *objects) isWritten(id backup.ClusterID, l *location) bool {
	return slices.ContainsFunc(objs.served[id], func(s served) bool { return s.Data.Policy != policySkip }) ||
		!objs.leftAlone(id, l) && slices.ContainsFunc(l.served(id.Name), func(arm string) bool { return !objs.skips(id, arm) })
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

// networkParts returns the virtual networks and subnets that ASO writes for a cluster, as their objects
// say.
func (objs *objects) networkParts(id backup.ClusterID) (parts []part) {
	for _, r := range objs.served[id] {
		kind := map[int]string{1: thingNetwork, 2: thingSubnet}[r.kind]
		at, ok := ParseID(r.Data.ProviderID)
		if kind == "" || !ok || r.Data.Policy == policySkip {
			continue
		}
		var spec struct {
			NetworkPart
			Tags map[string]string
		}
		if json.Unmarshal([]byte(r.Data.Network), &spec) != nil {
			continue
		}
		want := spec.Words(spec.Tags)
		vnet, subnet, _ := strings.Cut(at.Text, "/subnets/")
		parts = append(parts, part{kind + " " + at.Name, at.Text, func(l *infra.Lookup) (string, bool) {
			have, seen := readFact[Network](l, FactNetwork, vnet)
			words := have.Words
			if subnet != "" {
				words = have.Subnets[subnet]
			}
			if !seen || want == nil || words == nil {
				return "", false
			}
			return unlikeWords(want, words), true
		}})
	}
	return parts
}

// unlikeWords says in what something is not as its object says, or "". A tag too many is none: policies
// of Azure put such ones on whatever is written.
func unlikeWords(want, have []string) string {
	for _, w := range have {
		if !slices.Contains(want, w) && !strings.HasPrefix(w, "tag ") {
			return "has " + w + ", which its object does not name"
		}
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			return "lacks " + w
		}
	}
	return ""
}
