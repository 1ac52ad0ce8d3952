package aws

import (
	"drift-detector/backup"
	"drift-detector/infra"
)

// loadBalancers are those before the API server of each cluster, its own first. An
// EKS cluster has none: AWS serves its API.
func (e *estate) loadBalancers() map[backup.ClusterID][]infra.LoadBalancer {
	all := map[backup.ClusterID][]infra.LoadBalancer{}
	for id, s := range e.sites {
		if s.record == nil || s.kind != clusterKind {
			continue
		}
		d := &s.record.Data
		first := infra.LoadBalancer{Type: d.LBType, Name: d.LBName, ARN: d.LBARN}
		for _, lb := range []infra.LoadBalancer{first, d.SecondLB} {
			if lb != (infra.LoadBalancer{}) {
				all[id] = append(all[id], lb)
			}
		}
	}
	return all
}
