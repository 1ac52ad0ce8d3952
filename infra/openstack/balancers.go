package openstack

import (
	"encoding/json"

	"drift-detector/backup"
	"drift-detector/infra"
)

// balancerName returns that of the load balancer of the API server, whatever the status records
// (getLoadBalancerName in pkg/cloud/services/loadbalancer/loadbalancer.go v0.10.0 to
// v0.15.0-beta.0).
func balancerName(id backup.ClusterID) string {
	return networkPrefix + resourceName(id) + "-kubeapi"
}

// balancerPart is a network or a subnet that a load balancer was given.
type balancerPart struct {
	param
	kind  infra.KeyKind
	thing string
}

// balancerGiven returns the network and the subnets that the load balancer of the API server
// was given. CAPO looks them up again, and the subnets only in a network that is given
// (resolveLoadBalancerNetwork in controllers/openstackcluster_controller.go v0.10.0 to
// v0.14.7).
func (c *clusterRecord) balancerGiven() []balancerPart {
	network := paramOf(c.LBNetwork)
	if !network.given {
		return nil
	}
	list := []balancerPart{{network, KeyNetwork, thingNetwork}}
	var subnets []json.RawMessage
	_ = json.Unmarshal([]byte(c.LBSubnets), &subnets) // in another form it names none
	for _, s := range subnets {
		if p := paramOf(string(s)); p.given {
			list = append(list, balancerPart{p, KeySubnet, thingSubnet})
		}
	}
	return list
}

func (objs *objects) loadBalancers() map[backup.ClusterID][]infra.LoadBalancer {
	all := map[backup.ClusterID][]infra.LoadBalancer{}
	for id, l := range objs.locations {
		switch {
		case l.record == nil:
		case l.record.Data.balanced():
			all[id] = []infra.LoadBalancer{{Type: "octavia", Name: balancerName(id)}}
		default:
			all[id] = []infra.LoadBalancer{{Type: "disabled"}}
		}
	}
	return all
}
