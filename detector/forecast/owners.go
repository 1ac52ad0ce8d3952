package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/backup/owners"
	"drift-detector/detector"
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

// step is one level's difference to the one below.
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

// planeOwner compares what a control plane wants with what it has.
func (x *index) planeOwner(s *set) {
	p, c := s.plane, s.cluster
	kind, _ := owners.Of(p.Kind)
	if p.Paused || kind.Finds == owners.Pods || kind.Finds == owners.Hosted {
		return
	}
	s.makes(x, p.Infrastructure, backup.Ref{})
	if kind.Finds == owners.ByOwner {
		return // it stands still, see owners.1 of the rehearsal
	}
	have := s.step(p.Desired, x.counts[owner{c.ID, p.Kind, p.Name}], true)
	t := c.managed
	if t.works() {
		s.step(t.plane(), have, true)
	}
	for i := range s.members {
		f := &s.members[i]
		if f.machine == nil || f.machine.Unlabelled && p.Kind == kubeadm || f.verdict.ControlPlane && f.by.name != p.Name {
			continue
		}
		f.rolled = x.outdated(p, f)
		s.due = cmp.Or(s.due, f.rolled)
	}
	if s.due == "" && p.RolloutAfter.IsZero() && p.Updated.Known && p.Replicas.Known && p.Updated.N < min(p.Replicas.N, int64(x.counts[owner{c.ID, p.Kind, p.Name}])) {
		s.due = fmt.Sprintf("of %s it called %d up to date when the backup was taken", plural(int(p.Replicas.N), "machine", "machines"), p.Updated.N)
	}
}

// wantedVersion is the Kubernetes version that a control plane is to have.
func (c *cluster) wantedVersion(p *backup.ControlPlane) string {
	if c.managed.works() {
		return cmp.Or(c.managed.Version, p.Version)
	}
	return p.Version
}

// outdated says why the control plane replaces one of its machines, or is empty. Its
// creation time is no reason: a restore makes it new (Cluster API
// controlplane/kubeadm/pkg/filters.go UpToDate v1.14.0).
func (x *index) outdated(p *backup.ControlPlane, f *facts) string {
	m, kind := f.machine, ownerKind(p)
	if slices.Contains(kind.OnDelete, p.Strategy) {
		return ""
	}
	version := f.cluster.wantedVersion(p)
	if slices.Contains(kind.InPlace, p.Strategy) || sameRelease(m.Version, version) {
		version = "" // is brought to the machines that run, or is no other
	}
	switch r := f.restore; {
	case m.Version != "" && version != "" && m.Version != version:
		return fmt.Sprintf("it runs Kubernetes %s, and %s is wanted", m.Version, version)
	case m.Version == "" && version != "" && p.Kind == "KubeadmControlPlane":
		return "it names no version of Kubernetes, and " + version + " is wanted"
	case r != nil && r.Template != "" && p.Infrastructure.Name != "" && r.Template != p.Infrastructure.Name:
		return fmt.Sprintf("it was made from %s %s, and %s is wanted", p.Infrastructure.Kind, r.Template, p.Infrastructure.Name)
	case p.CertificateDays.Known && p.CertificateDays.N > 0 && !m.CertificatesExpire.IsZero() && x.in.Now.AddDate(0, 0, int(p.CertificateDays.N)).After(m.CertificatesExpire):
		return fmt.Sprintf("its certificates expire on %s, and %s %s replaces machines %s before", m.CertificatesExpire.UTC().Format("2006-01-02"), p.Kind, p.Name, plural(int(p.CertificateDays.N), "day", "days"))
	}
	return complaints(m.Outdated)
}

// ownerKind is what is known of the kind of a control plane; zero when nothing is.
func ownerKind(p *backup.ControlPlane) owners.Kind {
	k, _ := owners.Of(p.Kind)
	return k
}

// sameRelease reports whether two versions name one release of Kubernetes: k0s and RKE2 write
// their own build behind it (versionMatches: internal/controller/controlplane/status.go of
// k0smotron v2.1.0).
func sameRelease(a, b string) bool {
	release, _, _ := strings.Cut(a, "+")
	other, _, _ := strings.Cut(b, "+")
	return release == other && (release == a || other == b)
}

// complaints are the reasons that condition UpToDate gave, one line each, without
// those that a restore or the clock decides again.
func complaints(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "*"))
		if line != "" && !strings.Contains(line, "rolloutAfter") && !strings.Contains(line, "Certificates will expire") {
			out = append(out, line)
		}
	}
	if out == nil {
		return ""
	}
	return "its owner said that it is not up to date: " + strings.Join(out, "; ")
}

// groupOwners compares what the owners of a group of workers want with what they have.
func (x *index) groupOwners(s *set) {
	if s.Kind == machinePool {
		x.pool(s)
		return
	}
	itself := x.groups[owner{s.cluster.ID, s.Kind, s.Name}]
	if itself == nil {
		return // a MachineSet without its MachineDeployment does nothing, too
	}
	s.managedBy = managedBy(itself)
	s.makes(x, itself.Infrastructure, itself.Bootstrap)
	sets := []*backup.Group{itself}
	if s.Kind == machineDeployment {
		sets = x.sets[owner{s.cluster.ID, s.Kind, s.Name}]
	}
	wanted := 0
	for _, one := range sets {
		s.sets = append(s.sets, one.Name)
		have := x.counts[owner{s.cluster.ID, one.Kind, one.Name}]
		switch {
		case one.Paused && one.Desired.Known:
			have = int(one.Desired.N) // nothing is made or deleted until it is unpaused
		case !one.Paused:
			deleted := s.deleted
			have = s.step(one.Desired, have, !one.NoCreate)
			if x.living[owner{s.cluster.ID, one.Kind, one.Name}] == 0 {
				s.deleted = deleted // Machines without instances alone
			}
		}
		wanted += have
	}
	if s.Kind == machineDeployment && !itself.Paused {
		x.deployment(s, itself, sets, wanted)
	}
}

// deployment compares a MachineDeployment with its MachineSets, and the topology of
// the Cluster with the MachineDeployment. What an older MachineSet may not make the one that
// is kept makes, for which the MachineDeployment takes the annotation away (reconcileNewMachineSet
// and computeDesiredNewMS in core/reconcilers/machinedeployment v1.14.0;
// cleanupDisableMachineCreateAnnotation before v1.12.0).
func (x *index) deployment(s *set, md *backup.Group, sets []*backup.Group, have int) {
	current, deleted := currentSet(md, sets), s.deleted
	have = s.step(md.Desired, have, true)
	if s.deleted-deleted <= x.deadOf(sets, current) && !md.Halted {
		s.deleted = deleted // it scales older MachineSets down first
	}
	version := md.Version
	if t, name := s.cluster.managed, md.Topology(); t.works() && name != "" {
		i, wanted := t.names[name]
		if !wanted {
			s.removed = fmt.Sprintf("MachineDeployment %s is not in the topology of its Cluster any more", md.Name)
			s.deleted += have
			return
		}
		s.step(t.replicas(i), have, true)
		if !at(t.deferred, i) {
			version = cmp.Or(t.Version, version)
		}
	}
	switch {
	case md.Halted:
		s.current = current
		return
	case md.OnDelete:
		s.current = cmp.Or(current, &backup.Group{}) // which is made
	}
	s.rolledSets = map[string]string{}
	for _, one := range sets {
		why := ""
		switch {
		case one == current && (md.OnDelete || version == md.Version):
			continue
		case md.OnDelete:
			// planOnDelete in core/reconcilers/machinedeployment v1.12.0 to v1.14.0; before
			// that the Machines themselves were counted.
			why = fmt.Sprintf("its MachineSet %s is of an older revision: Cluster API from 1.12 on deletes what the status of such a set does not count yet, and a restore empties that status", one.Name)
		case version != md.Version:
			why = fmt.Sprintf("it runs Kubernetes %s, and the topology of its Cluster wants %s", md.Version, version)
		case one.Version != md.Version:
			why = fmt.Sprintf("it runs Kubernetes %s, and MachineDeployment %s wants %s", one.Version, md.Name, md.Version)
		default:
			why = fmt.Sprintf("its MachineSet %s does not match what MachineDeployment %s wants", one.Name, md.Name)
		}
		if x.counts[owner{s.cluster.ID, machineSet, one.Name}] > 0 {
			s.rolledSets[one.Name] = why
			s.due = cmp.Or(s.due, why)
		}
	}
	for name, why := range s.rolledSets {
		if !md.OnDelete {
			x.rolled[owner{s.cluster.ID, machineSet, name}] = why
		}
	}
}

// deadOf counts the Machines of older MachineSets where none of those has an instance.
func (x *index) deadOf(sets []*backup.Group, current *backup.Group) int {
	dead := 0
	for _, one := range sets {
		by := owner{one.Cluster, one.Kind, one.Name}
		switch {
		case one == current:
		case x.living[by] > 0:
			return 0
		default:
			dead += x.counts[by]
		}
	}
	return dead
}

// currentSet is the MachineSet that a MachineDeployment keeps: of those that match it
// the one with the most replicas (Cluster API mdutil FindNewAndOldMachineSets v1.14.0).
func currentSet(md *backup.Group, sets []*backup.Group) *backup.Group {
	var best *backup.Group
	for _, one := range sets {
		if one.SameTemplate(md) && (best == nil || one.Desired.N > best.Desired.N) {
			best = one
		}
	}
	return best
}

// makes notes why the owner could not make a machine from its templates, if it could not.
func (s *set) makes(x *index, infrastructure, bootstrap backup.Ref) {
	for _, ref := range []backup.Ref{infrastructure, bootstrap} {
		if strings.HasSuffix(ref.Kind, "Template") && x.lacks(s.cluster.ID.Backup, ref) {
			s.unmakeable = fmt.Sprintf("%s %s is not in the backup", ref.Kind, ref.Name)
			return
		}
	}
	s.unmakeable = s.cluster.gone(infrastructure.Kind + " " + infrastructure.Namespace + "/" + infrastructure.Name)
}

// managedBy says who sets the replicas of a group.
func managedBy(g *backup.Group) string {
	switch {
	case g.ReplicasManagedBy != "":
		return g.ReplicasManagedBy
	case g.Autoscaled:
		return "cluster autoscaler"
	}
	return ""
}

// bounds compares the size of a pool that somebody else sets with the bounds of the
// backup. The controller sets those alone, and AWS moves a size that is outside of them
// (CAPA UpdateASG in pkg/cloud/services/autoscaling/autoscalinggroup.go v2.13.0;
// UpdateAutoScalingGroup in the API reference of Auto Scaling).
func (s *set) bounds(p *detector.PoolState) {
	now := p.DesiredNow
	switch {
	case !now.Known || p.State != code.Present:
	case p.Max.Known && now.N > p.Max.N:
		s.bounded = true
		s.step(p.Max, int(now.N), true)
	case p.Min.Known && now.N < p.Min.N:
		s.bounded = true
		s.step(p.Min, int(now.N), true)
	}
}

// pool compares what a MachinePool wants with what its pool is set to. Its controller
// sets the pool to the replicas of the backup, unless somebody else sets those (CAPA
// exp/controllers/awsmachinepool_controller.go and pkg/cloud/services/eks/nodegroup.go
// v2.13.0).
func (x *index) pool(s *set) {
	itself := x.groups[owner{s.cluster.ID, machinePool, s.Name}]
	p, managed := s.Pool, false
	switch {
	case itself != nil:
		s.managedBy, managed = managedBy(itself), itself.ReplicasManagedBy != ""
	case p != nil:
		managed = p.ManagedBy != ""
	}
	if s.pausedPool() != "" || s.haltedPool() {
		return
	}
	want := backup.Number{}
	if p != nil {
		want = p.Desired
	}
	if t, name := s.cluster.managed, topologyPool(itself); t.works() && name != "" {
		i, wanted := t.poolNames[name]
		if !wanted {
			s.removed = fmt.Sprintf("MachinePool %s is not in the topology of its Cluster any more", s.Name)
			return
		}
		if n := t.poolReplicas(i); n.Known {
			want = n
		}
		if t.Version != "" && itself.Version != "" && t.Version != itself.Version && !at(t.poolsDeferred, i) {
			s.due = fmt.Sprintf("it runs Kubernetes %s, and the topology of its Cluster wants %s", itself.Version, t.Version)
		}
	}
	switch {
	case p == nil:
	case managed:
		s.bounds(p)
	case p.State == code.Absent:
		s.step(p.Desired, 0, true)
	case p.State == code.Present && p.DesiredNow.Known:
		s.step(want, int(p.DesiredNow.N), true)
	}
	s.living(p)
}

// living takes away from the members that end those that are not there: a pool may be set to
// more than it could launch.
func (s *set) living(p *detector.PoolState) {
	if p == nil || s.deleted == 0 {
		return
	}
	s.poolWants = int(p.DesiredNow.N) - s.deleted
	if p.Living.Known {
		s.deleted = max(0, int(p.Living.N)-s.poolWants)
	}
}

// haltedPool reports whether a step of the walk keeps the pool's controller from it.
func (s *set) haltedPool() bool {
	return slices.ContainsFunc(s.cluster.walked, func(w *walk.Step) bool { return w.Does().Effect == walk.OwnerHalts && w.Subject == s.title() })
}
