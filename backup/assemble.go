package backup

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"drift-detector/backup/archive"
	"drift-detector/backup/naming"
	"drift-detector/internal/sorting"
)

// assembly turns the tables of the core kinds into the values of a Snapshot.
type assembly struct {
	load     *loading
	snapshot *Snapshot
	infra    []infraCluster
	clusters map[ClusterID]int // index into snapshot.Clusters
	ownedBy  map[objectKey]ClusterID
	// resources of the kinds that are referred to
	resources map[Ref]string
	// controlPlanes are those that the backup holds.
	controlPlanes ControlPlanes
}

// objectKey names an object of a kind.
type objectKey struct {
	backup                int
	kind, namespace, name string
}

func key(m *Meta, kind, name string) objectKey {
	return objectKey{m.Backup, kind, m.Namespace, name}
}

// assemble makes the Snapshot once all tables are settled.
func (l *loading) assemble() *Snapshot {
	s := &Snapshot{Backups: l.infos, tables: l.tables, deleting: l.deleting, Restored: l.restored}
	slices.Sort(s.Restored)
	s.revive()
	clusters := clusterKind.In(s).Len()
	a := &assembly{
		load: l, snapshot: s,
		clusters: make(map[ClusterID]int, clusters),
		ownedBy:  make(map[objectKey]ClusterID, clusters), resources: map[Ref]string{},
	}
	a.readClusters()
	a.readControlPlanes()
	a.controlPlanes = s.ControlPlanesByCluster()
	a.readGroups()
	a.readMachines()
	a.readInfraClusters()
	a.derive()
	a.markSelf()
	for r := range namespaceKind.In(s).All() {
		s.Backups[r.Backup].KubeSystemUID = r.UID
	}
	a.findAbsent()
	for _, k := range slices.Concat(coreKinds, l.present) {
		delete(l.tables, k)
	}
	s.Problems = l.allProblems()
	return s
}

// hostPort joins an endpoint; it is empty while the controllers have not set it.
func (e *endpointFields) hostPort() string {
	if e.Host == "" || !e.Port.Known || e.Port.N == 0 {
		return ""
	}
	host := e.Host[strings.LastIndexByte(e.Host, '@')+1:] // what is before it may be a password
	if i := strings.IndexAny(host, "?#"); i >= 0 {        // and what is behind these a signature
		host = host[:i]
	}
	return net.JoinHostPort(host, strconv.FormatInt(e.Port.N, 10))
}

func (a *assembly) readClusters() {
	t := clusterKind.In(a.snapshot)
	a.snapshot.Clusters = make([]Cluster, 0, t.Len())
	for r := range t.All() {
		c := Cluster{
			Meta: r.Meta, Paused: r.Data.Paused && !a.snapshot.Moved(r.Backup),
			Endpoint:       r.Data.Endpoint.hostPort(),
			Labels:         r.Data.Labels,
			ControlPlane:   r.Data.ControlPlane.in(r.Namespace),
			Infrastructure: r.Data.Infrastructure.in(r.Namespace),
		}
		if ref := c.ControlPlane; !ref.IsZero() {
			a.ownedBy[objectKey{c.Backup, ref.Kind, ref.Namespace, ref.Name}] = c.ID()
		}
		a.clusters[c.ID()] = len(a.snapshot.Clusters)
		a.snapshot.Clusters = append(a.snapshot.Clusters, c)
	}
}

// onDelete is the strategy of a MachineDeployment that replaces no machine by itself.
const onDelete = "OnDelete"

// moment returns a time as Kubernetes writes it. One that is none is no reason to leave
// the object out: it counts as not set.
func moment(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// replicas returns those that an owner has after a restore. Webhooks of Cluster API write them
// where spec.replicas is absent: the least that the cluster autoscaler is allowed, else 1
// (core/webhooks/admission/machinedeployment.go, controlplane/kubeadm/webhooks/admission
// v1.14.0). Of other control planes it is not known.
func replicas(desired Number, kind, least string) Number {
	if desired.Known || strings.HasSuffix(kind, "ControlPlane") && kind != kubeadm {
		return desired
	}
	n, err := strconv.ParseInt(least, 10, 32)
	if err != nil {
		n = 1
	}
	return Number{N: n, Known: true}
}

// healthyPeriod returns how long KubeadmControlPlane takes a machine for the one that it made it
// in place of: by default an hour (Cluster API controlplane/kubeadm/api/v1beta1 v1.8.0,
// api/controlplane/kubeadm/v1beta2 v1.13.1). Up to v1beta1 it is a duration in words.
func healthyPeriod(text string) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if d, err := time.ParseDuration(strings.Trim(text, `"`)); err == nil {
		return d
	}
	return time.Hour
}

// clusterName returns the cluster that an object says it belongs to: in its spec,
// else by its label, else by the Cluster that owns it. It may be empty.
func clusterName(m *Meta, spec string) string {
	if name := cmp.Or(spec, m.ClusterName); name != "" {
		return name
	}
	for _, o := range m.Owners {
		if o.Kind == "Cluster" {
			return o.Name
		}
	}
	return ""
}

// namesakeOf returns the cluster of an object that is named like its cluster unless
// it says otherwise: an infrastructure cluster, a control plane.
func namesakeOf(m *Meta) ClusterID {
	return ClusterID{m.Backup, m.Namespace, cmp.Or(clusterName(m, ""), m.Name)}
}

// lacks reports an object that is left out because it is of no use without a field.
func (a *assembly) lacks(field, resource string, m *Meta) {
	a.load.problem(m.Backup, archive.Path(resource, archive.Form{}, m.Namespace, m.Name), fieldError{field, errMissing}.Error())
}

// withoutCluster reports an object that names no cluster.
func (a *assembly) withoutCluster(resource string, m *Meta) { a.lacks("spec.clusterName", resource, m) }

// unseen reports whether the controller had not seen the last change. KubeadmControlPlane writes which
// generation it has seen once a reconcile has succeeded, and counts what is up to date before that
// (controlplane/kubeadm/internal/controllers/controller.go v1.13.0).
func (c *controlPlaneFields) unseen() bool {
	if c.Observed.Known || c.Kind != kubeadm {
		return c.Observed.Known && c.Observed.N < c.Generation.N
	}
	return c.Generation.N > 1 || c.Generation.Known && !c.Updated.Known
}

func (a *assembly) readControlPlanes() {
	s := a.snapshot
	for _, k := range a.load.controlPlanes {
		t := k.In(s)
		s.ControlPlanes = slices.Grow(s.ControlPlanes, t.Len())
		for r := range t.All() {
			id, ok := a.ownedBy[key(&r.Meta, r.Data.Kind, r.Name)]
			if !ok {
				id = namesakeOf(&r.Meta)
			}
			s.ControlPlanes = append(s.ControlPlanes, ControlPlane{
				Meta: r.Meta, Kind: r.Data.Kind, Cluster: id,
				Desired: replicas(r.Data.Desired, r.Data.Kind, ""), Replicas: r.Data.Replicas, NamingTemplate: r.Data.NamingTemplate,
				ExternalEtcd: r.Data.ExternalEtcd, Infrastructure: r.Data.Infrastructure.in(r.Namespace),
				Version: r.Data.Version, RolloutAfter: moment(r.Data.RolloutAfter), CertificateDays: r.Data.CertificateDays, Updated: r.Data.Updated,
				Rolling:  r.Data.UpToDate.complaint(),
				Unseen:   r.Data.unseen(),
				Strategy: r.Data.Strategy, MaxRetry: r.Data.MaxRetry, MinHealthy: healthyPeriod(r.Data.MinHealthy),
			})
		}
		delete(s.tables, k)
	}
	sorting.By(s.ControlPlanes, func(x, y ControlPlane) int {
		return cmp.Or(compareNames(&x.Meta, &y.Meta), strings.Compare(x.Kind, y.Kind))
	})
}

// groupRecord is a record that a Group is made of.
type groupRecord struct {
	*Record[groupFields]
	kind, cluster string
}

func (a *assembly) readGroups() {
	groups := 0
	for _, g := range groupKinds {
		groups += g.kind.In(a.snapshot).Len()
	}
	all := make([]groupRecord, 0, groups)
	for _, g := range groupKinds {
		for r := range g.kind.In(a.snapshot).All() {
			if name := clusterName(&r.Meta, r.Data.Cluster); name != "" {
				all = append(all, groupRecord{r, g.name, name})
			} else {
				a.withoutCluster(g.kind.resource, &r.Meta)
			}
		}
	}
	sorting.By(all, func(x, y groupRecord) int {
		if c := compareNames(&x.Meta, &y.Meta); c != 0 { // as of most: the rest is not compared
			return c
		}
		return cmp.Or(strings.Compare(x.kind, y.kind), strings.Compare(x.UID, y.UID))
	})
	a.snapshot.Groups = make([]Group, len(all))
	var none rareGroupFields
	for i, r := range all {
		rare := cmp.Or(r.Data.rare, &none)
		g := &a.snapshot.Groups[i]
		*g = Group{
			Meta: r.Meta, Kind: r.kind, Cluster: ClusterID{r.Backup, r.Namespace, r.cluster},
			Desired: replicas(r.Data.Desired, r.kind, rare.Least), Replicas: r.Data.Replicas, NamingTemplate: rare.NamingTemplate,
			Infrastructure: r.Data.Infrastructure.in(r.Namespace),
			Labels:         r.Data.Labels, TemplateLabels: r.Data.TemplateLabels, Selector: r.Data.Selector,
			ReplicasManagedBy: r.Data.managedBy(rare), Autoscaled: r.Data.Autoscaled, AppliedBy: r.Data.appliedBy(rare),
			Version: r.Data.Version, FailureDomain: r.Data.FailureDomain, Members: rare.Members,
			Bootstrap: r.Data.Bootstrap.in(r.Namespace), BootstrapSecret: rare.BootstrapSecret,
			Halted: r.Data.Halted, OnDelete: r.Data.Strategy == onDelete, RolloutAfter: moment(rare.RolloutAfter),
			Recent: r.Data.Recent, NoCreate: r.Data.NoCreate == "true", SkippedChecks: rare.SkippedChecks, NoRemediation: rare.MaxInFlight == "0" || rare.MaxInFlight == `"0%"`,
		}
		if r.kind == "MachineSet" {
			g.Deployment = ownerNamed(&r.Meta, "MachineDeployment", r.Data.Deployment)
		}
	}
}

// ownerNamed returns the name of the owner of a kind, by ownerReference, else by the
// label that names it. The hash of a name says nothing here.
func ownerNamed(m *Meta, kind, label string) string {
	for _, o := range m.Owners {
		if o.Kind == kind {
			return o.Name
		}
	}
	if naming.Hashed(label) {
		return ""
	}
	return label
}

func (a *assembly) readMachines() {
	s, t, configs := a.snapshot, machineKind.In(a.snapshot), configKind.In(a.snapshot)
	s.Machines = make([]Machine, 0, t.Len())
	var none rareFields
	for r := range t.All() {
		name := clusterName(&r.Meta, r.Data.Cluster)
		if name == "" {
			a.withoutCluster(machineKind.resource, &r.Meta)
			continue
		}
		if r.Data.Infrastructure.Kind == "" || r.Data.Infrastructure.Name == "" {
			a.lacks("spec.infrastructureRef", machineKind.resource, &r.Meta)
			continue
		}
		rare := cmp.Or(r.Data.rare, &none)
		s.Machines = s.Machines[:len(s.Machines)+1]
		m := &s.Machines[len(s.Machines)-1]
		*m = Machine{
			Meta: r.Meta, Created: r.Data.Created, Cluster: ClusterID{r.Backup, r.Namespace, name}, ControlPlane: r.Data.ControlPlane,
			Deployment:     ownerNamed(&r.Meta, "MachineDeployment", r.Data.Deployment),
			Set:            ownerNamed(&r.Meta, "MachineSet", r.Data.Set),
			Pool:           ownerNamed(&r.Meta, "MachinePool", rare.Pool),
			Infrastructure: r.Data.Infrastructure.in(r.Namespace), Bootstrap: r.Data.Bootstrap.in(r.Namespace),
			BootstrapSecret: r.Data.BootstrapSecret,
			ProviderID:      r.Data.ProviderID, Node: r.Data.Node, SystemUUID: r.Data.SystemUUID, Phase: r.Data.Phase, FailureDomain: r.Data.FailureDomain,
			Labels: r.Data.Labels, SkipRemediation: r.Data.SkipRemediation,
			Version: r.Data.Version, Remediate: r.Data.Remediate,
			Hooks: rare.Hooks, Remediated: rare.Remediated, InPlace: r.Data.InPlace, K0sConfig: r.Data.K0sConfig,
		}
		var config configFields // of those of which somebody asks for it
		if (m.ControlPlane || m.ProviderID == "" || m.BootstrapSecret == "") && m.Bootstrap.Kind == "KubeadmConfig" {
			if c := configs.Named(m.Backup, m.Bootstrap.Namespace, m.Bootstrap.Name); c != nil {
				config = c.Data
				m.Bootstrapped = true
				m.ConfigUnlabelled, m.ConfigPaused = m.ControlPlane && !config.ControlPlane, c.Paused
			}
		}
		m.JoinsByToken = config.Token && (m.ControlPlane || m.ProviderID == "")
		m.Bootstrapped = m.Bootstrapped || m.BootstrapSecret != ""
		m.CertificatesExpire = moment(cmp.Or(rare.CertificatesExpire, config.CertificatesExpire, rare.CertificatesExpired))
		if c := rare.InfraReady; c != nil {
			m.InfraMessage = c.Message
		}
		m.Outdated = rare.UpToDate.complaint()
		a.own(m, rare.ControlPlaneName)
		if !m.ControlPlane {
			m.ControlPlane = strings.HasSuffix(m.Owner.Kind, "ControlPlane")
			m.Unlabelled = m.ControlPlane
		}
		if m.Deployment == "" {
			if g := s.Group(m.Backup, m.Namespace, "MachineSet", m.Set); g != nil {
				m.Deployment = g.Deployment
			}
		}
	}
}

// own fills the owner: the controller among the ownerReferences; when a restore
// has taken those away, what the labels name.
func (a *assembly) own(m *Machine, plane string) {
	for _, o := range m.Owners {
		if o.Controller {
			m.Owner = o
			return
		}
	}
	switch {
	case m.ControlPlane:
		m.Owner = a.controlPlaneOwner(m, plane)
	case m.Set != "":
		m.Owner = a.groupOwner(m, "MachineSet", m.Set)
	case m.Pool != "":
		m.Owner = a.groupOwner(m, "MachinePool", m.Pool)
	}
}

func (a *assembly) groupOwner(m *Machine, kind, name string) Owner {
	o := Owner{Kind: kind, Name: name, Controller: true}
	if g := a.snapshot.Group(m.Backup, m.Namespace, kind, name); g != nil {
		o.UID = g.UID
	}
	return o
}

// controlPlaneOwner returns the control plane that a label means, or that of the
// machine's Cluster where there is no label. The backup may lack both.
func (a *assembly) controlPlaneOwner(m *Machine, label string) Owner {
	var ref Ref
	if i, ok := a.clusters[m.Cluster]; ok {
		ref = a.snapshot.Clusters[i].ControlPlane
	}
	if c := a.controlPlanes.Named(m.Cluster, "", cmp.Or(label, ref.Name)); c != nil {
		return Owner{Kind: c.Kind, Name: c.Name, UID: c.UID, Controller: true}
	}
	name := label
	if name == "" || naming.Hashed(name) && len(a.controlPlanes[m.Cluster]) == 0 {
		name = ref.Name
	}
	if name == "" || naming.Hashed(name) {
		return Owner{}
	}
	return Owner{Kind: cmp.Or(ref.Kind, kubeadm), Name: name, Controller: true}
}
