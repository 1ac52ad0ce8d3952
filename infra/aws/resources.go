package aws

import (
	"fmt"
	"strings"

	"drift-detector/infra"
)

// resources are the parts of a cluster's network that CAPA does not make again
// when they are gone, or cannot make machines without.
func (e *estate) resources() []infra.Resource {
	var list []infra.Resource
	for _, id := range e.order() {
		s := e.sites[id]
		for _, k := range e.marks(s) {
			list = append(list, infra.Resource{
				Cluster: id, Target: s.target, Kind: resourceKinds[k.Kind], Name: k.Value, Keys: []infra.Key{k},
				UsedBy: fmt.Sprintf("%s %s/%s", s.kind, s.record.Namespace, s.record.Name),
			})
		}
	}
	return list
}

var resourceKinds = map[string]string{
	keyVPC: "VPC", keySubnet: "subnet", keySecurityGroup: "security group", keyNAT: "NAT gateway",
	keyClassicLB: "load balancer", keyLB: "load balancer",
}

// marks are the keys of a cluster's resources, each once, in order.
func (e *estate) marks(s *site) []infra.Key {
	if s.record == nil {
		return nil
	}
	d := &s.record.Data
	set := map[infra.Key]bool{}
	add := func(kind, prefix, id string) {
		if strings.HasPrefix(id, prefix) && id != "" {
			set[infra.Key{Kind: kind, Value: id}] = true
		}
	}
	add(keyVPC, "vpc-", d.VPC)
	for i, id := range d.Subnets {
		// Of a subnet that CAPA made the id is a placeholder
		// (api/v1beta2/network_types.go v2.11.1).
		if i < len(d.SubnetResources) && d.SubnetResources[i] != "" {
			id = d.SubnetResources[i]
		}
		add(keySubnet, "subnet-", id)
	}
	for _, id := range d.NATs {
		add(keyNAT, "nat-", id)
	}
	for _, id := range d.SecurityGroups {
		add(keySecurityGroup, "sg-", id)
	}
	switch d.LBType {
	case "disabled":
	case "nlb", "alb", "elb":
		add(keyLB, "", d.LBName)
	default:
		// CAPA's default is a classic load balancer, which has no ARN.
		if d.LBARN != "" {
			add(keyLB, "", d.LBName)
		} else {
			add(keyClassicLB, "", d.LBName)
		}
	}
	return sortedKeys(set)
}
