package rehearsal

import "slices"

// clusterRows are asked once for each cluster: by the controllers of Cluster, its
// topology, its control plane and its workers' owners, in this order.
var clusterRows = slices.Concat(planeRows)
