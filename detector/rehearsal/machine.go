package rehearsal

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// machine is one Machine of the backup, or an instance that has none.
type machine struct {
	*backup.Machine // nil for Ghosts, and where only infrastructure objects are left
	cluster         *cluster
	set             *set              // that shows it; nil in a narrowed result
	index           int               // in Snapshot.Machines
	verdict         *detector.Verdict // nil in a narrowed result
	restore         *infra.Restore    // what its provider says of it; may be nil
	recipe          *infra.Recipe     // what it is made with; may be nil
	bare            bool              // the backup lacks its infrastructure object
	by              owner             // who adopts it
	stray           bool              // nobody does: its MachineSet does not select it
	node            *infra.Node       // a registered Node with the machine's provider id
	checks          []*check          // the MachineHealthChecks that cover the machine
	contested       *walk.Step        // the step for which several owners adopt it
	doubling        bool              // a step makes a second instance beside its own
	titled          string            // of title, once it was asked for
	fate
}

// fate is what becomes of a machine.
type fate struct {
	waiting   *walk.Step // the first step for which its controller does nothing for it
	check     *check     // of those that cover it the one that decides, or nil
	unhealthy bool       // a health check that covers the machine would call it unhealthy
	minded    string     // the condition of the Machine for which it does
	rolled    string     // why its owner replaces it, because it wants another one
	paused    bool
	remedied  bool         // something replaces the machine because it is unhealthy
	held      bool         // nothing does, for the limit of its health check
	remedy    string       // what, or why nothing does
	outcome   code.Outcome // once it is decided
}

// owner names what makes Machines of a cluster.
type owner struct{ kind, name string }

// owning is an owner with what is its own.
type owning struct {
	*backup.Group                 // nil: the backup lacks it, or it is a control plane
	selecting     *selecting      // nil: nothing is known of its selector
	sets          []*backup.Group // of a MachineDeployment, its MachineSets
	machines      int             // Machines in the backup that it adopts
	living        int             // of those, the ones that are not Stale
}

func (m *machine) title() string {
	if m.titled == "" {
		m.titled = named("Machine", m.Namespace, m.Name)
	}
	return m.titled
}

// machineRows are asked for each machine, in this order.
var machineRows = slices.Concat(ownerMachineRows, adoptionMachineRows, addressRows, ownMachineRows)

// ownMachineRows are those of the controller of Machine
// (internal/controllers/machine; core/reconcilers/machine from v1.14.0).
var ownMachineRows = []row[*machine]{
	{walk.Row{
		ID: "core.M3", Of: "Machine",
		Asks:    "its bootstrap object, which it makes its own",
		None:    walk.NotReady.Says("the Machine does not report Ready again; its instance is adopted all the same"),
		Several: walk.NotReady.Says("the bootstrap object has one owner alone: the other Machine fails on it again and again"),
		Source:  "reconcileBootstrap, ensureExternalOwnershipAndWatch: machine_controller_phases.go v1.5.8 to v1.14.0",
	}, bootstrapOwned},
	{walk.Row{
		ID: "core.M4", Of: "Machine",
		Asks:    "the name of its bootstrap data, for which the controller of its infrastructure waits, or its bootstrap object, whose controller creates it",
		None:    walk.Waits.Says("it gets no bootstrap data, and its instance is neither looked for nor created"),
		Differs: walk.Waits.Says("it gets no bootstrap data, and its instance is neither looked for nor created"),
		Source:  "reconcileBootstrap: machine_controller_phases.go v1.5.8 to v1.14.0; joinWorker, joinControlplane: bootstrap/kubeadm/internal/controllers v1.5.8 to v1.13.6; reconcileNormal of CAPV v1.16.1 (vspheremachine_controller.go), CAPA v2.11.1, CAPO v0.14.7 and CAPZ v1.26.0",
	}, bootstrapData},
	{walk.Row{
		ID: "core.B2", Of: "bootstrap config",
		Asks:    "whether the control plane is initialised, which a restore forgets, before it creates the bootstrap data of a Machine of the control plane: that of a KubeadmConfig, RKE2Config, KThreesConfig or MicroK8sConfig; that of a K0sControllerConfig, which Machine is the oldest",
		Differs: walk.Does{Effect: walk.Replaces, Code: code.SecondControlPlane, What: "before the control plane is called initialised again, bootstrap data of a first machine is created, which begins a new cluster with an empty etcd behind the endpoint of the one that runs"},
		Source: "handleClusterNotInitialized: bootstrap/kubeadm/internal/controllers/kubeadmconfig_controller.go v1.5.8 to v1.13.4; bootstrap/internal/controllers/rke2config_controller.go v0.25.0 of cluster-api-provider-rke2; " +
			"bootstrap/controllers/kthreesconfig_controller.go v0.3.1 of cluster-api-k3s; controllers/microk8sconfig_controller.go of cluster-api-bootstrap-provider-microk8s 71682d3; " +
			"generateBootstrapDataForController: internal/controller/bootstrap/controlplane_bootstrap_controller.go v1.5.0 to v2.1.0 of k0smotron",
	}, joinsAgain},
	{walk.Row{
		ID: "core.M9", Of: "Machine",
		Asks:    "the Node with exactly its provider id",
		Several: walk.NotReady.Says("the Machine gets no Node and does not become Ready"),
		None:    walk.NotReady.Says("the Machine gets no Node and does not become Ready"),
		Source:  "getNode: machine_controller_noderef.go v1.8.12 to v1.14.0",
	}, nodeOf},
	{walk.Row{
		ID: "core.M11", Of: "Machine",
		Asks:    "a Node that is Ready, where the infrastructure has lost sight of the instance's host",
		Refused: "whether the instance runs: its host is not connected, and what is known of it is old",
		Source:  "updateStatus: internal/controllers/machine v1.9.0 to v1.14.0; reconcilePowerState: pkg/services/govmomi/service.go of CAPV v1.16.1",
	}, runsUnseen},
	inPlaceRow,
}

// runsUnseen asks core.M11.
func runsUnseen(m *machine) walk.Answer {
	switch nodes := m.cluster.byID[m.ProviderID]; {
	case m.verdict == nil || !m.healthy() || !m.warned(code.Disconnected):
		return notAsked
	case len(nodes) == 1 && nodes[0].Ready:
		return passed
	}
	return unread("the host of its instance is not connected, and no Node that is Ready shows that it runs", m.title())
}

// nodeOf asks core.M9.
func nodeOf(m *machine) walk.Answer {
	if !m.cluster.nodesRead() || m.verdict == nil || m.verdict.Status != code.Healthy {
		return notAsked
	}
	if m.Owner.Kind == etcdadm || m.nodeless() { // its hosts run etcd or a control plane alone, and never were Nodes
		return notAsked
	}
	switch nodes := m.cluster.nodesOf(m); {
	case len(nodes) == 1:
		return passed
	case len(nodes) > 1:
		id := "the provider id " + m.ProviderID
		if m.ProviderID == "" {
			id = "the id of its instance"
		}
		return several(fmt.Sprintf("%d Nodes have %s, %s and %s among them", len(nodes), id, nodes[0].Name, nodes[1].Name),
			"all but its own are deleted", m.title())
	case m.ProviderID == "":
		return none("it was being made when the backup was taken, and no Node names it", "its Node is registered", m.title())
	default:
		return none("no Node has the provider id "+m.ProviderID, "its Node is registered with that id", m.title())
	}
}

// nodeless reports whether the machine is of a control plane whose machines need no Node, and had
// none.
func (m *machine) nodeless() bool {
	return m.ControlPlane && m.Node == "" && m.cluster.plane != nil && ownerKind(m.cluster.plane).Nodeless
}

// groupsThereDeed is of what makes Machines.
var groupsThereDeed = deed[*cluster]{walk.Row{
	ID: "core.M1", Of: "Machine",
	Asks:   "the MachineDeployment, MachineSet or MachinePool that created it",
	None:   walk.OwnerHalts.Says("nobody scales, rolls out or replaces its machines"),
	Source: "getOwnerMachineDeployment: internal/controllers/machineset v1.9.0 to v1.14.0",
}, groupsThere}

// groupsThere asks core.M1.
func groupsThere(p *actions, c *cluster) bool {
	for _, s := range c.groups {
		if title := s.title(); s.recorded > 0 && s.owned() && s.group() == nil {
			p.finds(walk.None, fmt.Sprintf("Nobody manages the machines of %s until it exists, which the backup lacks", title), title)
		}
	}
	return len(c.groups) > 0
}

// owned reports whether the set is a group that an object of the backup makes.
func (s *set) owned() bool {
	return s.Kind == machineSet || s.Kind == machineDeployment || s.Kind == machinePool
}

// ownerless reports whether the MachineSet of a machine is not in the backup, while
// its MachineDeployment is.
func (f *machine) ownerless() bool {
	if f.Machine == nil || f.Machine.Owner.Kind != machineSet || f.set.Kind != machineDeployment {
		return false
	}
	return f.cluster.group(owner{machineSet, f.Machine.Owner.Name}) == nil && f.set.group() != nil
}

// ownerDeeds are asked of each Machine.
var ownerDeeds = []deed[*machine]{
	{walk.Row{
		ID: "core.M2", Of: "Machine",
		Asks:    "a MachineSet that takes it for its own: the one that created it, by its selector, since a restore takes away whose it is",
		None:    walk.OwnerHalts.Says("nobody manages it: the MachineSet that created it is not in the backup"),
		Differs: walk.OwnerHalts.Says("nobody manages it: no MachineSet selects it"),
		Source:  "getAndAdoptMachinesForMachineSet: core/reconcilers/machineset v1.14.0; shouldAdopt: internal/controllers/machine v1.5.8 to v1.14.0",
	}, adopted},
}

// adopted asks core.M2.
func adopted(p *actions, f *machine) bool {
	switch {
	case f.Owner.Kind != machineSet:
		return false
	case f.ownerless():
		p.finds(walk.None, sayings[code.OwnerHalted])
	case f.stray:
		p.finds(walk.Differs, "Nobody manages these machines, because their MachineSet does not select them, and a restore takes away that it owns them")
	}
	return true
}
