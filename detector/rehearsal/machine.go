package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// machineRows are asked for each machine, in this order.
var machineRows = slices.Concat(ownerMachineRows, adoptionMachineRows, addressRows, ownMachineRows)

// ownMachineRows are those of the controller of Machine
// (internal/controllers/machine; core/reconcilers/machine from v1.14.0).
var ownMachineRows = []row[*machine]{
	{walk.Row{
		ID: "core.M9", Of: "Machine",
		Asks:    "the Node with exactly its provider id",
		Several: walk.NotReady.Says("the Machine gets no Node and does not become Ready"),
		None:    walk.NotReady.Says("the Machine gets no Node and does not become Ready"),
		Source:  "getNode: machine_controller_noderef.go v1.8.12 to v1.14.0",
	}, nodeOf},
	inPlaceRow,
}

// nodeOf asks core.M9.
func nodeOf(m *machine) walk.Answer {
	if !m.cluster.nodesRead() || m.ProviderID == "" || m.verdict == nil || m.verdict.Status != code.Healthy {
		return notAsked
	}
	switch nodes := m.cluster.byID[m.ProviderID]; len(nodes) {
	case 0:
		return none("no Node has the provider id "+m.ProviderID, "its Node is registered with that id", m.title())
	case 1:
		return passed
	default:
		return several(fmt.Sprintf("%d Nodes have the provider id %s, %s and %s among them", len(nodes), m.ProviderID, nodes[0].Name, nodes[1].Name),
			"all but its own are deleted", m.title())
	}
}
