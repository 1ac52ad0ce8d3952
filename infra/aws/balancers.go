package aws

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// loadBalancers returns those before the API server of each cluster, its own first. An
// EKS cluster has none: AWS serves its API.
func (objs *objects) loadBalancers() map[backup.ClusterID][]infra.LoadBalancer {
	all := map[backup.ClusterID][]infra.LoadBalancer{}
	for id, s := range objs.locations {
		if s.record == nil || s.kind != clusterKind {
			continue
		}
		d := &s.record.Data
		for _, lb := range []loadBalancer{d.LB, d.Secondary} {
			if lb.Type+lb.Name+lb.ARN != "" {
				all[id] = append(all[id], infra.LoadBalancer{Type: lb.Type, Name: lb.Name, ARN: lb.ARN})
			}
		}
	}
	return all
}
