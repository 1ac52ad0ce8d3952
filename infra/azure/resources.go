package azure

import (
	"cmp"
	"encoding/json"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/capi"
	"drift-detector/report/code"
)

// What CAPZ does without a thing, as seen with v1.26.0 when a whole group was gone: ASO makes
// resource group, network, subnets and NAT gateway again, CAPZ the rest.
const (
	emptyGroup   = "ASO creates a new, empty one within seconds, and CAPZ a whole network in it, with other public addresses; the VMs are not created again"
	peer         = "Azure refuses the peering that CAPZ creates (azure/services/vnetpeerings v1.26.0), and CAPZ does nothing more for the cluster"
	givenGroup   = "ASO does not create it, because its object has reconcile-policy skip, and CAPZ can create nothing in it"
	otherAddress = "CAPZ creates a new one, with another address"
	givenNetwork = "the cluster was given it, and new network interfaces need it"
)

// resources returns what the clusters' machines depend on.
func (objs *objects) resources() []infra.Resource {
	var list []infra.Resource
	for _, id := range objs.order() {
		if l := objs.locations[id]; l.record != nil && l.groupID() != "" {
			list = append(list, objs.resourcesOf(id, l)...)
		}
	}
	return append(list, objs.images()...)
}

// gatherer collects what one cluster needs, each once.
type gatherer struct {
	cluster backup.ClusterID
	at      *location
	seen    map[string]bool
	list    []infra.Resource
}

// add notes something by its ARM id, unless nothing is called so, or it is in another
// subscription.
func (g *gatherer) add(kind, arm, name string, when code.WhenGone, consequence string) {
	id, ok := ParseID(arm)
	if name == "" || !ok || id.Subscription != g.at.subscription || g.seen[id.Text] {
		return
	}
	g.seen[id.Text] = true
	g.list = append(g.list, infra.Resource{
		Cluster: g.cluster, Target: g.at.target, Kind: kind, Name: name, Keys: []infra.Key{{Kind: KeyResource, Value: id.Text}},
		UsedBy: g.at.kind + " " + g.at.record.Namespace + "/" + g.at.record.Name, WhenGone: when, Consequence: consequence,
	})
}

// again notes something in the cluster's own group that CAPZ makes again.
func (g *gatherer) again(kind, name, consequence string) {
	g.add(kind, g.at.groupID()+"/providers/"+typeOf[kind]+"/"+name, name, code.MadeAgain, consequence)
}

func (objs *objects) resourcesOf(id backup.ClusterID, l *location) []infra.Resource {
	g := gatherer{cluster: id, at: l, seen: map[string]bool{}}
	if l.kind != clusterKind {
		g.add(thingGroup, l.groupID(), l.record.Data.Group, code.MadeAgain, "")
		return g.list
	}
	if objs.skips(id, l.groupID()) {
		g.add(thingGroup, l.groupID(), l.record.Data.Group, code.HaltsCluster, givenGroup)
	} else {
		g.add(thingGroup, l.groupID(), l.record.Data.Group, code.MadeAgain, emptyGroup)
	}
	n := l.record.Data.network()
	in, when, why := l.networkGroup(&n), code.MadeAgain, ""
	if !l.made(&n, id.Name) {
		when, why = code.FailsReplacement, givenNetwork
	}
	vnet := in + "/providers/" + typeOf[thingNetwork] + "/" + n.VNet.Name
	g.add(thingNetwork, vnet, n.VNet.Name, when, why)
	for _, p := range n.VNet.Peerings {
		g.add(thingNetwork, groupID(l.subscription, p.ResourceGroup)+"/providers/"+typeOf[thingNetwork]+"/"+p.RemoteVnetName, p.RemoteVnetName, code.HaltsCluster, peer)
	}
	for i := range n.Subnets {
		s := &n.Subnets[i]
		g.add(thingSubnet, cmp.Or(s.ID, vnet+"/subnets/"+s.Name), n.VNet.Name+"/"+s.Name, when, why)
		if when == code.MadeAgain { // CAPZ leaves those of a network that it was given alone
			g.add(thingSecurity, thing(in, thingSecurity, s.SecurityGroup.Name), s.SecurityGroup.Name, when, "")
			g.add(thingRoutes, thing(in, thingRoutes, s.RouteTable.Name), s.RouteTable.Name, when, "")
		}
		g.again(thingGateway, s.NATGateway.Name, "")
		g.again(thingAddress, s.NATGateway.IP.Name, otherAddress)
	}
	for _, lb := range n.balancers() {
		g.again(thingBalancer, lb.Name, "")
		for i := range lb.FrontendIPs {
			g.again(thingAddress, lb.FrontendIPs[i].PublicIP.Name, otherAddress)
		}
	}
	if b := l.record.Data.bastion(); b.Name != "" {
		g.again(thingBastion, b.Name, "")
		g.again(thingAddress, b.PublicIP.Name, otherAddress)
		g.add(thingSubnet, vnet+"/subnets/"+b.Subnet.Name, n.VNet.Name+"/"+b.Subnet.Name, when, why)
	}
	g.zone(id, &n)
	return g.list
}

// zone returns the name of the private DNS zone of a private API server; CAPZ gives it one where none
// is said (PrivateDNSSpec in azure/scope/cluster.go v1.26.0).
func (n *network) zone(cluster string) string {
	if n.APIServerLB.Type != "Internal" || n.PrivateDNSZone == "None" {
		return ""
	}
	return cmp.Or(n.PrivateDNSZoneName, cluster+".capz.io")
}

// zone adds that zone.
func (g *gatherer) zone(id backup.ClusterID, n *network) {
	name, in := n.zone(id.Name), cmp.Or(trimmed(n.PrivateDNSZoneResourceGroup), g.at.group)
	g.add(thingZone, groupID(g.at.subscription, in)+"/providers/"+typeOf[thingZone]+"/"+name, name, code.MadeAgain, "")
}

// images returns those that templates name by an id in the subscription of their cluster.
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
		if at, ok := ParseID(image.ID); ok && at.Subscription == l.subscription {
			list = append(list, infra.Resource{
				Cluster: id, Target: l.target, Kind: thingImage, Name: at.Text, Keys: []infra.Key{{Kind: KeyResource, Value: at.Text}},
				UsedBy: "AzureMachineTemplate " + r.Namespace + "/" + r.Name, WhenGone: code.FailsReplacement,
			})
		}
	}
	return list
}

// loadBalancers returns those before the API servers.
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
