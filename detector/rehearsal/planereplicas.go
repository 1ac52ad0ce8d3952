package rehearsal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/backup/owners"
	"drift-detector/detector"
	"drift-detector/infra/walk"
)

// planeReplicasDeed and planeRolloutDeed are asked of each control plane.
var (
	planeReplicasDeed = deed[*set]{walk.Row{
		ID: "core.K20", Of: "control plane",
		Asks:    "the number of its Machines",
		None:    walk.Makes.Says("it creates those that it is short of, one after the other, once all of its own are well"),
		Several: walk.Deletes.Says("it deletes those that are too many, with their instances, one after the other"),
		Source:  "scaleUpControlPlane, scaleDownControlPlane: controlplane/kubeadm/internal/controllers/scale.go v1.5.8 to v1.14.0",
	}, planeReplicas}
	planeRolloutDeed = deed[*set]{walk.Row{
		ID: "core.K19", Of: "control plane",
		Asks:    "its Machines, which are to be as it specifies them: version, template, configuration, age of certificates",
		Differs: walk.Replaces.Says("it rolls out: it creates a Machine and deletes another, one after the other"),
		Source:  "MachinesNeedingRollout: controlplane/kubeadm/internal/control_plane.go; UpToDate: filters.go v1.5.8 to v1.14.0; calculateMachineState: internal/controller/controlplane/k0s_controlplane_controller.go v2.1.0 of k0smotron",
	}, planeRollout}
)

// planeReplicas asks core.K20.
func planeReplicas(p *actions, s *set) bool {
	return s == &s.cluster.control && p.replicas(s) && s.plane != nil
}

// planeRollout asks core.K19.
func planeRollout(p *actions, s *set) bool { return s == &s.cluster.control && p.rollout(s) }

// planeOwner compares what a control plane wants with what it has.
func (c *cluster) planeOwner() {
	p, s := c.plane, &c.control
	kind, _ := owners.Of(p.Kind)
	if p.Paused || kind.Finds == owners.Pods || kind.Finds == owners.Hosted {
		return
	}
	s.makes(p.Infrastructure, backup.Ref{})
	if (kind.Finds == owners.ByOwner && c.hasPlaneMachines() && !c.ownsPlane() || c.withoutMachines()) && !c.world.byPlan {
		return // it does nothing until its Machines are its own
	}
	have := s.step(p.Desired, c.counted(owner{p.Kind, p.Name}).machines, true)
	t := c.topology
	if t.works() {
		s.step(t.plane(), have, true)
	}
	for i := range s.members {
		f := s.members[i]
		if f.Machine == nil || f.Machine.Unlabelled && owners.Labelled(p.Kind) || f.verdict.ControlPlane && f.by.name != p.Name {
			continue
		}
		f.rolled = c.outdated(f)
		s.due = cmp.Or(s.due, f.rolled)
	}
	if s.due == "" && p.RolloutAfter.IsZero() && p.Rolling != "" && !slices.Contains(kind.OnDelete, p.Strategy) {
		s.due = "when the backup was taken it said that machines are not as it specifies them: " + oneLine(p.Rolling)
	}
	if s.due == "" && p.RolloutAfter.IsZero() && p.Updated.Known && p.Replicas.Known && p.Updated.N < min(p.Replicas.N, int64(c.counted(owner{p.Kind, p.Name}).machines)) {
		s.due = fmt.Sprintf("of %s it called %d up to date when the backup was taken", plural(int(p.Replicas.N), "machine", "machines"), p.Updated.N)
	}
}

// wantedVersion returns the Kubernetes version that a control plane is to have.
func (c *cluster) wantedVersion(p *backup.ControlPlane) string {
	if c.topology.works() {
		return cmp.Or(c.topology.Version, p.Version)
	}
	return p.Version
}

// outdated says why the control plane replaces one of its machines, or is empty. Its
// creation time is no reason: a restore makes it new (Cluster API
// controlplane/kubeadm/pkg/filters.go UpToDate v1.14.0).
func (c *cluster) outdated(f *machine) string {
	p, m, kind := c.plane, f.Machine, ownerKind(c.plane)
	if slices.Contains(kind.OnDelete, p.Strategy) {
		return ""
	}
	wanted := c.wantedVersion(p)
	if c.updatesInPlace(p) || kind.Minor && (m.Version == "" || sameMinor(m.Version, wanted)) || kind.Runs(m.Version, wanted) {
		wanted = "" // is brought to the machines that run, or is no other
	}
	switch r := f.restore; {
	case m.Version == "" && wanted != "":
		return "it names no version of Kubernetes, and " + wanted + " is specified"
	case wanted != "":
		return fmt.Sprintf("it runs Kubernetes %s, and %s is specified", m.Version, wanted)
	case (r == nil || r.Template == "") && p.Infrastructure.Name != "" && kind.Cloned && !f.bare:
		return fmt.Sprintf("its infrastructure object does not name what it was created from, and %s %s is specified", p.Infrastructure.Kind, p.Infrastructure.Name)
	case r == nil || r.Template == "" || p.Infrastructure.Name == "":
	// What is cloned is of the kind of its template, without its last word (GenerateTemplate:
	// controllers/external/util.go v1.5.8 to v1.14.0).
	case r.Template != p.Infrastructure.Name:
		return fmt.Sprintf("it was created from %s%s %s, and %s %s is specified", m.Infrastructure.Kind, clusterv1.TemplateSuffix, r.Template, p.Infrastructure.Kind, p.Infrastructure.Name)
	case strings.TrimSuffix(p.Infrastructure.Kind, clusterv1.TemplateSuffix) != m.Infrastructure.Kind || p.Infrastructure.Group != m.Infrastructure.Group:
		return fmt.Sprintf("it was created from %s%s.%s %s, and %s.%s of that name is specified", m.Infrastructure.Kind, clusterv1.TemplateSuffix, m.Infrastructure.Group, r.Template, p.Infrastructure.Kind, p.Infrastructure.Group)
	}
	if p.CertificateDays.Known && p.CertificateDays.N > 0 && !m.CertificatesExpire.IsZero() && c.world.in.Now.AddDate(0, 0, int(p.CertificateDays.N)).After(m.CertificatesExpire) {
		return fmt.Sprintf("its certificates expire on %s, and %s %s replaces machines %s before", m.CertificatesExpire.UTC().Format("2006-01-02"), p.Kind, p.Name, plural(int(p.CertificateDays.N), "day", "days"))
	}
	return cmp.Or(c.reconfigured(m), complaints(m.Outdated))
}

// withoutMachines reports whether the control plane stands still before its Machines are its own,
// and nothing else is in doubt of them.
func (c *cluster) withoutMachines() bool {
	known := !slices.ContainsFunc(c.control.members, func(m *machine) bool { return !m.healthy() || m.verdict.Finds != detector.FindsByID })
	return c.plane != nil && (c.finds("owners.1", walk.Differs) || known && c.finds("core.K4", walk.Differs))
}

// updatesInPlace reports whether the control plane brings another version to its machines as they
// are.
func (c *cluster) updatesInPlace(p *backup.ControlPlane) bool {
	kind := ownerKind(p)
	return slices.Contains(kind.InPlace, p.Strategy) || slices.Contains(kind.Fewer, p.Strategy) && len(c.control.members) < 3
}

// complaints returns the reasons that condition UpToDate gave, one line each, without
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

// sameMinor reports whether two versions have the same major and minor one.
func sameMinor(a, b string) bool {
	x, err := version.ParseGeneric(a)
	y, otherwise := version.ParseGeneric(b)
	return err == nil && otherwise == nil && x.Major() == y.Major() && x.Minor() == y.Minor()
}

// planeTemplateDeed is asked of each control plane.
var planeTemplateDeed = deed[*set]{walk.Row{
	ID: "core.K7", Of: "control plane",
	Asks:   "its infrastructure template, with which it compares its Machines, and which it makes its own",
	None:   walk.OwnerHalts.Says("it fails before anything else, and does nothing for its machines and their etcd"),
	Source: "reconcileExternalReference: controller.go; matchesInfraMachine: controlplane/kubeadm/internal/filters.go v1.12.0; reconcile of the control planes of RKE2, k3s, Talos and MicroK8s",
}, planeTemplate}

// planeTemplate asks core.K7.
func planeTemplate(p *actions, s *set) bool {
	if s.unmakeable != "" && s.idle() {
		p.finds(walk.None, fmt.Sprintf("%s does nothing for its machines and their etcd until its template exists again: %s", s.title(), s.unmakeable))
	}
	return s.asksForTemplate()
}
