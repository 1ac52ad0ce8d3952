package azure

import (
	"fmt"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
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
	asoRows = []*walk.Row{rowO1}
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

// askASO asks what the objects of ASO do.
func (q *questions) askASO(id backup.ClusterID, l *location) {
	if l.groupID() == "" {
		return
	}
	if q.objs.skips(id, l.groupID()) {
		object := thingGroup + " " + l.record.Data.Group
		q.look(of(rowO1, id, infra.ClusterTitle(id)), func(at *infra.Lookup) walk.Answer {
			if at.Lacks(resourceKey(l.groupID())) {
				return answer(walk.Differs, object, fmt.Sprintf("%s is gone, and its object has reconcile-policy skip", object), "exists")
			}
			return pass
		})
	} else {
		q.Note(rowO1, id, pass)
	}
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
	q.look(of(rowC1, id, infra.ClusterTitle(id)), func(at *infra.Lookup) walk.Answer {
		here := at.Finds(resourceKey(l.groupID()))
		if at.Lacks(key) && here {
			return answer(walk.None, object, object+" is gone", "exists, with the control plane behind it")
		}
		return pass
	})
}
