package azure

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Kinds of things beside VMs, as people call them, with their types in Azure.
const (
	thingGroup    = "resource group"
	thingNetwork  = "virtual network"
	thingSubnet   = "subnet"
	thingSecurity = "network security group"
	thingRoutes   = "route table"
	thingGateway  = "NAT gateway"
	thingBalancer = "load balancer"
	thingAddress  = "public IP address"
	thingZone     = "private DNS zone"
	thingImage    = "image"
)

var typeOf = map[string]string{
	thingNetwork: "microsoft.network/virtualnetworks", thingSecurity: "microsoft.network/networksecuritygroups",
	thingRoutes: "microsoft.network/routetables", thingGateway: "microsoft.network/natgateways",
	thingBalancer: "microsoft.network/loadbalancers", thingAddress: "microsoft.network/publicipaddresses",
	thingZone: "microsoft.network/privatednszones",
}

// What CAPZ does without a thing, as seen with v1.26.0 when a whole group was gone: ASO makes
// resource group, network, subnets and NAT gateway anew, CAPZ the rest.
const (
	emptyGroup   = "ASO creates a new, empty one within seconds, and CAPZ a whole network in it, with other public addresses; the VMs are not created again"
	givenGroup   = "ASO does not create it, because its object has reconcile-policy skip, and CAPZ can create nothing in it"
	otherAddress = "CAPZ creates a new one, with another address"
	givenNetwork = "the cluster was given it, and new network interfaces need it"
)

// resources are what the clusters' machines depend on.
func (objs *objects) resources() []infra.Resource {
	var list []infra.Resource
	for _, id := range objs.order() {
		if l := objs.locations[id]; l.record != nil && l.groupID() != "" {
			list = append(list, objs.resourcesOf(id, l)...)
		}
	}
	return append(list, objs.images()...)
}

func (objs *objects) resourcesOf(id backup.ClusterID, l *location) []infra.Resource {
	d := &l.record.Data
	var list []infra.Resource
	seen := map[string]bool{}
	add := func(kind, arm, name string, when code.WhenGone, consequence string) {
		at, ok := parseID(arm)
		if name == "" || !ok || at.subscription != l.subscription || seen[at.text] {
			return
		}
		seen[at.text] = true
		list = append(list, infra.Resource{
			Cluster: id, Target: l.target, Kind: kind, Name: name, Keys: []infra.Key{{Kind: keyResource, Value: at.text}},
			UsedBy: l.kind + " " + l.record.Namespace + "/" + l.record.Name, WhenGone: when, Consequence: consequence,
		})
	}
	here := func(kind, name string) string { return l.groupID() + "/providers/" + typeOf[kind] + "/" + name }
	if l.kind != clusterKind {
		add(thingGroup, l.groupID(), d.Group, code.MadeAgain, "")
		return list
	}
	if objs.policyOf(id, l) == policySkip {
		add(thingGroup, l.groupID(), d.Group, code.HaltsCluster, givenGroup)
	} else {
		add(thingGroup, l.groupID(), d.Group, code.MadeAgain, emptyGroup)
	}
	n := d.network()
	vnet, when, why := here(thingNetwork, n.VNet.Name), code.MadeAgain, ""
	if g := trimmed(n.VNet.ResourceGroup); g != "" && g != l.group {
		vnet, when, why = groupID(l.subscription, g)+"/providers/"+typeOf[thingNetwork]+"/"+n.VNet.Name, code.FailsReplacement, givenNetwork
	}
	again := func(kind, name, says string) { add(kind, here(kind, name), name, code.MadeAgain, says) }
	add(thingNetwork, vnet, n.VNet.Name, when, why)
	for i := range n.Subnets {
		s := &n.Subnets[i]
		add(thingSubnet, cmp.Or(s.ID, vnet+"/subnets/"+s.Name), n.VNet.Name+"/"+s.Name, when, why)
		again(thingSecurity, s.SecurityGroup.Name, "")
		again(thingRoutes, s.RouteTable.Name, "")
		again(thingGateway, s.NATGateway.Name, "")
		again(thingAddress, s.NATGateway.IP.Name, otherAddress)
	}
	for _, lb := range []string{n.APIServerLB.Name, n.NodeOutboundLB.Name, n.ControlPlaneOutboundLB.Name} {
		again(thingBalancer, lb, "")
	}
	for i := range n.APIServerLB.FrontendIPs {
		again(thingAddress, n.APIServerLB.FrontendIPs[i].PublicIP.Name, otherAddress)
	}
	again(thingZone, n.PrivateDNSZoneName, "")
	return list
}

// images are those that templates name by an id in the subscription of their cluster.
func (objs *objects) images() []infra.Resource {
	var list []infra.Resource
	for r := range templates.In(objs.snapshot).All() {
		owner, _ := capi.OwnerOf(&r.Meta, "Cluster")
		id := backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace, Name: cmp.Or(r.ClusterName, owner)}
		l := objs.locations[id]
		var image struct{ ID string }
		if l == nil || json.Unmarshal([]byte(r.Data.Image), &image) != nil {
			continue
		}
		if at, ok := parseID(image.ID); ok && at.subscription == l.subscription {
			list = append(list, infra.Resource{
				Cluster: id, Target: l.target, Kind: thingImage, Name: at.text, Keys: []infra.Key{{Kind: keyResource, Value: at.text}},
				UsedBy: "AzureMachineTemplate " + r.Namespace + "/" + r.Name, WhenGone: code.FailsReplacement,
			})
		}
	}
	return list
}

// loadBalancers are those before the API servers.
func (objs *objects) loadBalancers() map[backup.ClusterID][]infra.LoadBalancer {
	all := map[backup.ClusterID][]infra.LoadBalancer{}
	for id, l := range objs.locations {
		if l.record == nil {
			continue
		}
		if lb := l.record.Data.network().APIServerLB; lb.Name != "" {
			all[id] = []infra.LoadBalancer{{Type: strings.ToLower(lb.Type), Name: lb.Name}}
		}
	}
	return all
}

func sortedKeys(set map[infra.Key]bool) []infra.Key { return capi.SortedKeys(set) }
