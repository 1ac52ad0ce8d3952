package rehearsal

import (
	"cmp"
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/owners"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// ownerRows are those of the kinds that own the Machines of a control plane, KubeadmControlPlane
// among them. What each kind does is in package owners.
var ownerRows = []row[*cluster]{
	{walk.Row{
		ID: "owners.1", Of: "control plane",
		Asks:    "its Machines, whose ownerReferences a restore takes away",
		Differs: walk.Does{Effect: walk.OwnerHalts, Code: code.MachinesUnowned, What: "it refuses to act while one of its control-plane Machines is not owned by it, and adopts none: no scaling, no rollout, no remediation, no new worker joins"},
		None:    walk.Does{Effect: walk.OwnerHalts, Code: code.OutcomeUnknown, What: "what its controller does with Machines that nobody owns is not known here"},
		Source:  "see package owners, kind by kind",
	}, takesMachinesBack},
	{walk.Row{
		ID: "owners.2", Of: "TalosControlPlane",
		Asks:   "a Machine for each etcd member",
		None:   walk.RemovesMember.Says("it removes the etcd members that have no Machine as soon as all its Machines have Nodes"),
		Source: "auditEtcd, forceEtcdLeave: controllers/etcd.go v0.5.12 of cluster-api-control-plane-provider-talos",
	}, auditsEtcd},
	{walk.Row{
		ID: "owners.3", Of: "EtcdadmCluster",
		Asks:   "the etcd Machines that it owns, by ownerReference, which a restore takes away",
		None:   walk.Does{Effect: walk.Replaces, Code: code.SecondControlPlane, What: "it counts none of its etcd Machines, and creates one that begins a new, empty etcd"},
		Source: "reconcile, intializeEtcdCluster: controllers/controller.go, scale.go v1.0.0 to v1.0.27 of etcdadm-controller",
	}, ownsEtcd},
	{walk.Row{
		ID: "owners.11", Of: "control plane that updates in place",
		Asks:    "the version of Kubernetes of its Machines, which it brings to another one as they run",
		Differs: walk.Does{Effect: walk.Writes, Code: code.OutcomeUnknown, What: "it updates Kubernetes on machines that run, in place, one after the other, and how that ends is not known here"},
		Source:  "internal/controller/controlplane/inplace.go v2.1.0 of k0smotron; reconcileMachines: controllers/reconcile.go v0.6.11 of cluster-api-control-plane-provider-microk8s",
	}, versionInPlace},
	{walk.Row{
		ID: "owners.14", Of: "KamajiControlPlane",
		Asks:    "the TenantControlPlane in another cluster, which it names by its own uid: a restore gives it another one",
		Differs: walk.Does{Effect: walk.Doubles, Code: code.SecondControlPlane, What: "it creates another control plane there, an empty one, and writes its kubeconfig, authority and endpoint over those of the one that runs"},
		Source:  "GenerateRemoteTenantControlPlaneNames: pkg/externalclusterreference/name_generator.go; createOrUpdateTenantControlPlane, createRequiredResources: controllers v0.10.0 to v0.20.0 of cluster-api-control-plane-provider-kamaji",
	}, namedByUID},
}

// kamajiPlane is what only the walk asks of a KamajiControlPlane.
type kamajiPlane struct{ Elsewhere bool }

var kamajiPlanes = backup.NewKind("kamajicontrolplanes.controlplane.cluster.x-k8s.io",
	backup.Present(func(p *kamajiPlane) *bool { return &p.Elsewhere }, "spec.deployment.externalClusterReference"))

// namedByUID asks owners.14. clusterctl gives it another uid, too.
func namedByUID(c *cluster) walk.Answer {
	if c.plane == nil || c.plane.Paused {
		return notAsked
	}
	r := kamajiPlanes.In(c.world.in.Snapshot).Named(c.ID.Backup, c.ID.Namespace, c.plane.Name)
	switch {
	case c.plane.Kind != "KamajiControlPlane" || r == nil:
		return notAsked
	case r.Data.Elsewhere:
		return differs(c.planeTitle()+" has spec.deployment.externalClusterReference", "", c.planeTitle())
	}
	return passed
}

// versionInPlace asks owners.11.
func versionInPlace(c *cluster) walk.Answer {
	if c.plane == nil || c.plane.Paused || !c.updatesInPlace(c.plane) {
		return notAsked
	}
	wanted, kind := c.wantedVersion(c.plane), ownerKind(c.plane)
	for i := range c.machines {
		m := &c.machines[i]
		if !m.ControlPlane || wanted == "" || kind.Runs(m.Version, wanted) || kind.Minor && (m.Version == "" || sameMinor(m.Version, wanted)) {
			continue
		}
		return differs(fmt.Sprintf("%s runs %s, and %s specifies %s", m.title(), cmp.Or(m.Version, "no version that it names"), c.planeTitle(), wanted), "", m.title())
	}
	return passed
}

// takesMachinesBack asks owners.1.
func takesMachinesBack(c *cluster) walk.Answer {
	if c.own == nil || c.own.ControlPlane.IsZero() || !c.hasPlaneMachines() {
		return notAsked
	}
	kind := c.own.ControlPlane.Kind
	k, known := owners.Of(kind)
	switch {
	case !known:
		return none("the kind "+kind+"."+c.own.ControlPlane.Group+" is none that is known here", "", named(kind, c.ID.Namespace, c.own.ControlPlane.Name))
	case k.Finds == owners.ByOwner && !c.ownsPlane():
		return differs(kind+" finds its Machines by ownerReference alone", "each of its Machines has its ownerReference again", named(kind, c.ID.Namespace, c.own.ControlPlane.Name))
	}
	return passed
}

// ownsPlane reports whether each Machine of the control plane comes back with its owner.
func (c *cluster) ownsPlane() bool {
	for i := range c.machines {
		if m := &c.machines[i]; m.ControlPlane && !m.Unlabelled && !c.controlled(&m.Meta) {
			return false
		}
	}
	return c.moved()
}

// hasPlaneMachines reports whether the control plane sees any Machine.
func (c *cluster) hasPlaneMachines() bool {
	for i := range c.machines {
		if m := &c.machines[i]; m.ControlPlane && !m.Unlabelled {
			return true
		}
	}
	return false
}

// auditsEtcd asks owners.2. KubeadmControlPlane's audit has rows of its own.
func auditsEtcd(c *cluster) walk.Answer {
	if c.own == nil {
		return notAsked
	}
	if k, known := owners.Of(c.own.ControlPlane.Kind); !known || !k.Audits || k.Name == kubeadm {
		return notAsked
	}
	var left []string
	for _, v := range c.ControlPlane.Machines {
		if v.Status == code.Ghost || v.Status == code.Unknown && v.UID == "" && v.Instance != nil {
			left = append(left, "instance "+v.Name)
		}
	}
	if left == nil {
		return passed
	}
	return none(left[0]+" has no Machine", "", left...)
}

const etcdadm = "EtcdadmCluster"

// etcdCluster is an EtcdadmCluster.
type etcdCluster struct{ Cluster string }

var etcdClusters = backup.NewKind("etcdadmclusters.etcdcluster.cluster.x-k8s.io",
	backup.Text(func(e *etcdCluster) *string { return &e.Cluster }, "label:cluster.x-k8s.io/cluster-name"),
)

// ownsEtcd asks owners.3.
func ownsEtcd(c *cluster) walk.Answer {
	w := c.world
	if w.etcds == nil {
		w.etcds = map[owned]string{}
		for r := range etcdClusters.In(w.in.Snapshot).All() {
			of := cmp.Or(r.Data.Cluster, strings.TrimSuffix(r.Name, "-etcd"))
			w.etcds[owned{r.Backup, r.Namespace, of}] = r.Name
		}
	}
	switch name := w.etcds[owned{c.ID.Backup, c.ID.Namespace, c.ID.Name}]; {
	case name == "":
		return notAsked
	case c.Paused:
		return passed // that is a condition of its own
	case c.moved():
		return unread("its Machines have their owner, and what it does without its status is not known here", named(etcdadm, c.ID.Namespace, name))
	default:
		title := named(etcdadm, c.ID.Namespace, name)
		return none(title+" owns no Machine after a restore", "each etcd Machine has its ownerReference again", title)
	}
}

// ownerMachineRows are asked for each machine.
var ownerMachineRows = []row[*machine]{
	{walk.Row{
		ID: "owners.4", Of: "K0sControlPlane",
		Asks:   "the infrastructure object of each of its Machines",
		None:   walk.Deletes.Says("it deletes a Machine whose infrastructure object is absent, after its node has left etcd"),
		Source: "reconcileManualDeletions: internal/controller/controlplane/k0s_controlplane_controller.go v2.0.4 to v2.1.0 of k0smotron; reconcileMachines v1.10.9",
	}, hasInfrastructure},
	{walk.Row{
		ID: "owners.5", Of: "owner of a worker",
		Asks:   "its Machines, whose ownerReferences a restore takes away",
		None:   walk.Does{Effect: walk.OwnerHalts, Code: code.OutcomeUnknown, What: "what its controller does with Machines that nobody owns is not known here"},
		Source: "ownerReferences in the backup; the kinds that are known: getAndAdoptMachinesForMachineSet of Cluster API",
	}, ownedByKnown},
	{walk.Row{
		ID: "owners.10", Of: "Karpenter with Cluster API",
		Asks:    "the Node of the NodeClaim that names the Machine, which a restore brings back without it: it runs where its NodeClaims are",
		Differs: walk.Deletes.Says("it gives the NodeClaim up a quarter of an hour later, and deletes the Machine with its instance"),
		Source:  "Reconcile: pkg/controllers/nodeclaim/lifecycle/liveness.go, finalize: controller.go v1.14.1 of Karpenter; Delete: pkg/cloudprovider/cloudprovider.go of karpenter-provider-cluster-api 2e0fec7",
	}, claimedByKarpenter},
}

// hasInfrastructure asks owners.4.
func hasInfrastructure(m *machine) walk.Answer {
	c := m.cluster
	if !m.ControlPlane || c.own == nil {
		return notAsked
	}
	if k, known := owners.Of(c.own.ControlPlane.Kind); !known || !k.NeedsInfrastructure {
		return notAsked
	}
	if m.bare {
		object := named(m.Infrastructure.Kind, m.Namespace, m.Infrastructure.Name)
		return none(object+" is not in the backup", object+" exists", object)
	}
	return passed
}

// ownedByKnown asks owners.5. What owns machines of a control plane is asked of the control
// plane, and a Machine without an owner is one of nobody's.
func ownedByKnown(m *machine) walk.Answer {
	if m.ControlPlane {
		return notAsked
	}
	switch m.Owner.Kind {
	case "", "MachineSet", "MachinePool", "MachineDeployment", "Cluster", etcdadm:
		return passed
	}
	if _, known := owners.Of(m.Owner.Kind); known {
		return passed
	}
	return none("it is owned by "+m.Owner.Kind+" "+m.Owner.Name+", a kind that is not known here", "", m.title())
}

// nodeClaim is one of Karpenter. Where it runs in the workload cluster, they are there.
type nodeClaim struct{ Machine string }

var nodeClaims = backup.NewKind("nodeclaims.karpenter.sh",
	backup.Text(func(c *nodeClaim) *string { return &c.Machine }, "annotation:cluster.x-k8s.io/machine"),
)

const claimsLeftOut = "nodeclaims.karpenter.sh are left out of the restore"

// claimedByKarpenter asks owners.10.
func claimedByKarpenter(m *machine) walk.Answer {
	w := m.cluster.world
	if w.claimed == nil {
		w.claimed = map[owned]string{}
		for r := range nodeClaims.In(w.in.Snapshot).All() {
			namespace, name, _ := strings.Cut(r.Data.Machine, "/")
			w.claimed[owned{r.Backup, namespace, name}] = r.Name
		}
	}
	if claim := w.claimed[owned{m.Backup, m.Namespace, m.Name}]; claim != "" {
		return differs("NodeClaim "+claim+" names it", claimsLeftOut, m.title(), "NodeClaim "+claim)
	}
	if strings.Contains(string(m.Labels), "node.cluster.x-k8s.io/karpenter-member") {
		return passed
	}
	return notAsked
}

// claimsLaunched asks owners.13.
func claimsLaunched(w *world) walk.Answer {
	var of []string
	found := notAsked
	for r := range nodeClaims.In(w.in.Snapshot).All() {
		found = passed
		if r.Data.Machine == "" {
			of = append(of, "NodeClaim "+r.Name)
		}
	}
	if of != nil {
		return none(of[0]+" names no Machine", claimsLeftOut, of...)
	}
	return found
}
