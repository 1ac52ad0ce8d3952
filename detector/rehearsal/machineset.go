package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Kinds of groups.
const (
	machineSet        = "MachineSet"
	machineDeployment = "MachineDeployment"
	machinePool       = "MachinePool"
)

// Machines are wanted at several levels: by the topology of the Cluster, by the
// MachineDeployment or control plane, by each MachineSet. After a restore each
// controller sets what is below it to what it wants itself, so that any difference
// between two levels makes or deletes Machines (Cluster API v1.14.0:
// exp/topology/reconcilers, core/reconcilers/machinedeployment, …/machineset).

// step returns one level's difference to the one below.
func (s *set) step(wanted backup.Number, below int, mayCreate bool) int {
	if !wanted.Known {
		return below
	}
	want := int(wanted.N)
	if want > below && !mayCreate {
		return below
	}
	s.created += max(0, want-below)
	s.deleted += max(0, below-want)
	return want
}

// templateDeeds are asked of each owner of machines.
var templateDeeds = []deed[*set]{
	planeTemplateDeed,
	{walk.Row{
		ID: "core.S1", Of: "owner of machines",
		Asks:    "the templates that it creates a Machine from, and what their instances are created with",
		None:    walk.Does{Effect: walk.OwnerHalts, Code: code.CannotReplace, What: "it creates none of the machines that it has to create"},
		Differs: walk.Does{Effect: walk.Replaces, Code: code.OutcomeUnknown, What: "it creates none of the machines of a rollout, and may delete others for it"},
		Source:  "getTemplatesAndSetOwner, reconcileInfrastructure, reconcileBootstrapConfig: core/reconcilers/machinedeployment, core/reconcilers/machineset v1.14.0",
	}, templatesThere},
}

// templatesThere asks core.S1. Where nothing has to be made it is a condition that this stays so.
func templatesThere(p *actions, s *set) bool {
	switch {
	case s.unmakeable == "":
		return s.plane != nil || s.group() != nil
	case s.idle():
	case s.due != "":
		p.finds(walk.Differs, fmt.Sprintf("A rollout of %s is due, for which it can create no machine: %s. How many running ones it deletes all the same is up to maxSurge and maxUnavailable", s.title(), s.unmakeable))
	case s.created > 0 || slices.ContainsFunc(s.members, func(f *machine) bool { return f.Machine != nil && f.unhealthy && f.remedied }):
		p.finds(walk.None, fmt.Sprintf("%s has to create machines and cannot: %s", s.title(), s.unmakeable))
	}
	return false
}

// replicaDeeds are asked of each owner of machines.
var replicaDeeds = []deed[*set]{
	{walk.Row{
		ID: "core.S6", Of: "MachineSet",
		Asks:    "the number of its Machines",
		None:    walk.Makes.Says("it creates those that it is short of"),
		Several: walk.Deletes.Says("it deletes those that are too many, with their instances: first those without a Node"),
		Source:  "syncReplicas: internal/controllers/machineset v1.5.8 to v1.13.6; core/reconcilers/machineset v1.14.0; deletion_order.go",
	}, groupReplicas},
	planeReplicasDeed,
}

// groupReplicas asks core.S6, with what the topology and the MachineDeployment above it want.
func groupReplicas(p *actions, s *set) bool {
	if s.plane != nil || s.Kind == machinePool || s == &s.cluster.control {
		return false
	}
	return p.replicas(s)
}

// replicas finds what the owners of a set make and delete.
func (p *actions) replicas(s *set) bool {
	if s.created > 0 && s.unmakeable == "" {
		p.finds(walk.None, fmt.Sprintf("%s creates %s, because the backup holds fewer Machines than its replicas", s.title(), plural(s.created, "machine", "machines")))
	}
	if s.deleted > 0 && s.removed == "" {
		p.finds(walk.Several, fmt.Sprintf("%s deletes %s with %s, because the backup holds more Machines than its replicas", s.title(),
			plural(s.deleted, "machine", "machines"), verb(s.deleted, "its instance", "their instances")))
	}
	if s.Reason == code.MachinesNotInBackup {
		p.says(code.MachinesMissing, p.notes(walk.None, fmt.Sprintf("%s had more machines than the backup holds: it creates others, and the instances of those may run on", s.title())))
	}
	return true
}

// groupOwners compares what the owners of a group of workers want with what they have.
func (s *set) owners() {
	if s.Kind == machinePool {
		s.pool()
		return
	}
	c := s.cluster
	itself := s.group()
	if itself == nil {
		return // a MachineSet without its MachineDeployment does nothing, too
	}
	s.managedBy = managedBy(itself)
	s.makes(itself.Infrastructure, itself.Bootstrap)
	sets := []*backup.Group{itself}
	if s.Kind == machineDeployment {
		sets = c.counted(owner{s.Kind, s.Name}).sets
	}
	wanted := 0
	for _, one := range sets {
		s.sets = append(s.sets, one.Name)
		by := c.counted(owner{one.Kind, one.Name})
		have := by.machines
		switch {
		case one.Paused && one.Desired.Known:
			have = int(one.Desired.N) // nothing is made or deleted until it is unpaused
		case !one.Paused:
			deleted := s.deleted
			have = s.step(one.Desired, have, !one.NoCreate)
			if by.living == 0 {
				s.empty, s.deleted = s.empty+s.deleted-deleted, deleted
			}
		}
		wanted += have
	}
	switch {
	case s.Kind != machineDeployment:
	case itself.Paused:
		s.leave(itself, itself.Version, sets)
	default:
		s.deployment(itself, sets, wanted)
	}
}

// makes notes why the owner could not make a machine from its templates, if it could not.
func (s *set) makes(infrastructure, bootstrap backup.Ref) {
	for _, ref := range []backup.Ref{infrastructure, bootstrap} {
		if strings.HasSuffix(ref.Kind, "Template") && s.cluster.lacks(ref) {
			s.unmakeable = fmt.Sprintf("%s %s is not in the backup", ref.Kind, ref.Name)
			return
		}
	}
	s.unmakeable = s.cluster.gone(infrastructure.Kind + " " + infrastructure.Namespace + "/" + infrastructure.Name)
	if s.unmakeable == "" && (s.plane != nil || bootstrap.Kind == "KubeadmConfigTemplate") {
		s.unmakeable = s.cluster.unsigned(s.plane != nil)
	}
}

// managedBy says who sets the replicas of a group.
func managedBy(g *backup.Group) string {
	switch {
	case g.ReplicasManagedBy != "":
		return g.ReplicasManagedBy
	case g.Autoscaled:
		return "cluster autoscaler"
	}
	return g.AppliedBy
}

// spared says why the MachineSet of an unhealthy machine does not replace it, or is empty
// (Cluster API reconcileUnhealthyMachines in core/reconcilers/machineset v1.9.0 to v1.14.0;
// before that a MachineSet of an older revision did, so that only of a machine that is gone
// the worse is said), or makes none in its place (syncReplicas there, v1.8.0 to v1.14.0).
func (f *machine) spared() string {
	s := f.set
	if md := s.group(); md != nil && s.Kind == machineDeployment && md.NoRemediation {
		return "spec.remediation.maxInFlight of MachineDeployment " + s.Name + " lets no unhealthy machine be replaced"
	}
	of := f.cluster.group(f.by)
	switch {
	case !f.stale():
		return ""
	case of != nil && of.NoCreate:
		return "annotation " + clusterv1.DisableMachineCreateAnnotation + " keeps MachineSet " + of.Name + " from creating another"
	case s.current != nil && s.current.Name != f.by.name:
		return "MachineSet " + f.by.name + " is of an older revision, and from Cluster API 1.9 on leaves it to a rollout of MachineDeployment " + s.Name + ", which does none"
	}
	return f.cluster.skewed(of)
}

// skewed says why a MachineSet replaces no machine although it would be asked to, or is
// empty: its preflight checks compare its version with that of the control plane, by default
// from Cluster API 1.9 on, and that of a topology as a whole from 1.10 on
// (machineset_preflight.go in core/reconcilers/machineset v1.9.0 to v1.14.0). A bootstrap
// template may skip them, too, which is not seen here.
func (c *cluster) skewed(g *backup.Group) string {
	if g == nil {
		return ""
	}
	skipped := strings.Split(strings.ReplaceAll(g.SkippedChecks, " ", ""), ",")
	runs := func(check clusterv1.MachineSetPreflightCheck) bool {
		return !slices.Contains(skipped, string(check)) && !slices.Contains(skipped, string(clusterv1.MachineSetPreflightCheckAll))
	}
	const none = "%s %s creates none from Cluster API 1.9 on until %s says which version it runs"
	switch lost, paused := c.lostPlane(), c.pausedPlane(); {
	case lost != "" && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable):
		return fmt.Sprintf(none, g.Kind, g.Name, lost+", which the backup lacks,")
	case paused != "" && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable):
		return fmt.Sprintf(none, g.Kind, g.Name, paused+", which is paused,")
	case c.plane == nil:
		return ""
	}
	wanted := c.wantedVersion(c.plane)
	set, err := version.ParseGeneric(g.Version)
	plane, otherwise := version.ParseGeneric(wanted)
	if err != nil || otherwise != nil {
		return ""
	}
	ahead := int(set.Minor()) - int(plane.Minor())
	if c.behind && c.waitsForNodes() && runs(clusterv1.MachineSetPreflightCheckControlPlaneIsStable) {
		return fmt.Sprintf("%s %s creates none from Cluster API 1.9 on until its control plane runs Kubernetes %s, and that waits for %s without a Node", g.Kind, g.Name, wanted, plural(c.nodeless, "Machine", "Machines"))
	}
	switch {
	case c.topology != nil && g.Version != wanted && runs(clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew):
	case g.Bootstrap.Kind == "KubeadmConfigTemplate" && ahead != 0 && runs(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew):
	case (ahead > 0 || ahead < -3) && runs(clusterv1.MachineSetPreflightCheckKubernetesVersionSkew):
	default:
		return ""
	}
	return fmt.Sprintf("%s %s is of Kubernetes %s and its control plane of %s, for which Cluster API from 1.9 or 1.10 on creates no machine", g.Kind, g.Name, g.Version, wanted)
}

// workerMarkedDeed is asked of each worker that a health check covers.
var workerMarkedDeed = deed[*machine]{walk.Row{
	ID: "core.S3", Of: "MachineSet",
	Asks:    "its Machines that a health check has marked",
	Differs: walk.Replaces.Says("it deletes the Machine, with the instance that it has, and creates another"),
	None:    walk.OwnerHalts.Says("it deletes none: it is paused or of an older revision, its versions do not fit those of the control plane, or nobody owns the Machine"),
	Source:  "reconcileUnhealthyMachines: core/reconcilers/machineset v1.9.0 to v1.14.0; machineset_preflight.go",
}, workerMarked}

// workerMarked asks core.S3.
func workerMarked(p *actions, f *machine) bool { return !f.verdict.ControlPlane && p.remedy(f) }
