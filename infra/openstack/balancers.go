package openstack

import (
	"cmp"
	"encoding/json"

	"drift-detector/backup"
	"drift-detector/infra"
)

// balancerBlocks says that a load balancer is broken.
const balancerBlocks = "Octavia calls the load balancer of the API server broken (provisioning_status ERROR), and until it is ACTIVE again CAPO says of nothing in the cluster that it is ready (openstack loadbalancer failover repairs most)"

// balancerName is that of the load balancer of the API server.
func balancerName(id backup.ClusterID, l *location) string {
	return cmp.Or(l.record.Data.LB.Name, networkPrefix+resourceName(id)+"-kubeapi")
}

// brokenBalancer is the probe of a load balancer that keeps the cluster from being ready:
// CAPO waits until it is ACTIVE (ReconcileLoadBalancer in
// pkg/cloud/services/loadbalancer/loadbalancer.go v0.9.0 to v0.15.0-beta.0).
func (l *location) brokenBalancer() infra.Key {
	if l.record == nil || !l.record.Data.LBEnabled {
		return infra.Key{}
	}
	return idKey(keyBroken, l.record.Data.LB.ID)
}

// balancerPart is a network or a subnet that a load balancer was given.
type balancerPart struct {
	param
	kind  infra.KeyKind
	thing string
}

// balancerGiven are the network and the subnets that the load balancer of the API server
// was given. CAPO looks them up again, and the subnets only in a network that is given
// (resolveLoadBalancerNetwork in controllers/openstackcluster_controller.go v0.10.0 to
// v0.14.7).
func (c *clusterRecord) balancerGiven() []balancerPart {
	network := paramOf(c.LBNetwork)
	if !network.given {
		return nil
	}
	list := []balancerPart{{network, keyNetwork, thingNetwork}}
	var subnets []json.RawMessage
	_ = json.Unmarshal([]byte(c.LBSubnets), &subnets) // in another form it names none
	for _, s := range subnets {
		if p := paramOf(string(s)); p.given {
			list = append(list, balancerPart{p, keySubnet, thingSubnet})
		}
	}
	return list
}

func (objs *objects) loadBalancers() map[backup.ClusterID][]infra.LoadBalancer {
	all := map[backup.ClusterID][]infra.LoadBalancer{}
	for id, l := range objs.locations {
		switch {
		case l.record == nil:
		case l.record.Data.LBEnabled:
			all[id] = []infra.LoadBalancer{{Type: "octavia", Name: balancerName(id, l)}}
		default:
			all[id] = []infra.LoadBalancer{{Type: "disabled"}}
		}
	}
	return all
}
