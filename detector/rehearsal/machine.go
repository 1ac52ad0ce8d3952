package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// machineRows are asked for each machine, in this order.
var machineRows = slices.Concat(ownerMachineRows, adoptionMachineRows, addressRows, ownMachineRows)

// ownMachineRows are those of the controller of Machine
// (internal/controllers/machine; core/reconcilers/machine from v1.14.0).
var ownMachineRows = []row[*machine]{
	{walk.Row{
		ID: "core.M3", Of: "Machine",
		Asks:    "its bootstrap object, which it makes its own",
		Several: walk.NotReady.Says("the bootstrap object has one owner alone: the other Machine fails on it again and again"),
		Source:  "reconcileBootstrap, ensureExternalOwnershipAndWatch: machine_controller_phases.go v1.5.8 to v1.14.0",
	}, bootstrapOwned},
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

// bootstrapOwned asks core.M3. One that is absent is known to the forecast.
func bootstrapOwned(m *machine) walk.Answer {
	if m.Bootstrap.IsZero() || m.verdict == nil || m.verdict.Status != code.Healthy {
		return notAsked
	}
	if n := m.cluster.world.sharing(m.Backup, m.Bootstrap); n > 1 {
		object := named(m.Bootstrap.Kind, m.Bootstrap.Namespace, m.Bootstrap.Name)
		return several(fmt.Sprintf("%d Machines refer to %s", n, object), "one alone does", m.title())
	}
	return passed
}

// sharing counts the Machines that refer to a bootstrap object.
func (w *world) sharing(n int, ref backup.Ref) int {
	if w.bootstraps == nil {
		w.bootstraps = map[owned]int{}
		for i := range w.in.Snapshot.Machines {
			if m := &w.in.Snapshot.Machines[i]; !m.Bootstrap.IsZero() {
				w.bootstraps[owned{m.Backup, m.Namespace, m.Bootstrap.Name}]++
			}
		}
	}
	return w.bootstraps[owned{n, ref.Namespace, ref.Name}]
}
