package backup

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup/archive"
	"drift-detector/report/code"
)

// Snapshot is what one or several backups say about the fleet. It is
// read-only once Load has returned it, and holds no secret.
type Snapshot struct {
	Backups       []Info
	Clusters      []Cluster      // sorted by backup, namespace, name
	ControlPlanes []ControlPlane // sorted likewise
	Groups        []Group        // MachineDeployments, MachineSets and MachinePools, sorted likewise
	Machines      []Machine      // sorted likewise
	Absent        []Absence      // what objects refer to and the backup lacks
	Problems      []Problem      // items that could not be read
	Revived       []string       // objects that come back although they were being deleted, sorted
	// Restored are the objects of Cluster API, sorted, whose status Velero brings back for annotation
	// velero.io/restore-status, and whose controllers go by it.
	Restored []string

	tables   map[AnyKind]any        // *Table[T] by kind, see Kind.In
	deleting map[objectKey]deletion // see Deleting; the kind is a plural
}

// Info describes one tarball that was read.
type Info struct {
	Path          string // as the operator gave it
	SHA256        string // of the compressed file, hex
	FormatVersion string // Velero's format version, "1" or "1.1.0"
	// WrittenFrom and WrittenTo are the first and last modification time of an
	// entry: the tarball carries no other time (Velero pkg/backup/item_backupper.go v1.18.1).
	// WrittenTo is never before an object in it was created, if that is not ahead of today.
	WrittenFrom, WrittenTo time.Time
	// Undated says that objects in it are younger than all entries: somebody has
	// packed it again, or a clock was wrong. WrittenTo is then the earliest time at
	// which it can have been written, and nothing is known to be younger than it.
	Undated bool
	Items   int // distinct objects, each counted once
	// KubeSystemUID is the uid of Namespace kube-system, which is as good as one of the
	// management cluster; empty where the backup does not hold that Namespace.
	KubeSystemUID string
	// Live says that it is no tarball, but a management cluster that runs, read from
	// WrittenFrom to WrittenTo by its own clock.
	Live bool
	// Mode is what it is restored with; empty of a management cluster that runs.
	Mode archive.Mode
	// Unread are the resources that it could not be asked for, and why: nothing is known of
	// their objects.
	Unread map[string]string
}

// Subject returns what the Snapshot is of, for sentences about it: a management cluster that runs is
// read alone.
func (s *Snapshot) Subject() code.Subject {
	return code.Subject(slices.ContainsFunc(s.Backups, func(b Info) bool { return b.Live }))
}

// IsUnread reports whether objects of one of the kinds could not be read.
func (s *Snapshot) IsUnread(backup int, kinds ...string) bool {
	if backup < 0 || backup >= len(s.Backups) {
		return false
	}
	for resource := range s.Backups[backup].Unread {
		if of, _, _ := strings.Cut(resource, "."); slices.ContainsFunc(kinds, func(kind string) bool { return plural(kind) == of }) {
			return true
		}
	}
	return false
}

// Lacks says of an object that was not found, and that objects of these kinds would have shown, that
// it is not in the backup, or that it could not be read.
func (s *Snapshot) Lacks(backup int, kinds ...string) string {
	if s.IsUnread(backup, kinds...) {
		return "could not be read"
	}
	return "is not in " + s.Subject().The()
}

// ClusterID names a cluster of a Snapshot. Backup is the index into
// Snapshot.Backups: two backups may hold different clusters of one name.
type ClusterID struct {
	Backup    int    `json:"backup"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Meta is the part of an object's metadata that every record keeps.
type Meta struct {
	Backup          int
	Namespace, Name string
	UID             string
	ClusterName     string // label cluster.x-k8s.io/cluster-name
	Owners          []Owner
	Paused          bool // annotation cluster.x-k8s.io/paused is present
}

// Owner is one ownerReference.
type Owner struct {
	Kind, Name, UID string
	Controller      bool
}

// Ref is a reference to an object, in the form that all API versions share:
// the group without a version. Namespace is the referrer's when the reference
// names none.
type Ref struct {
	Group, Kind, Namespace, Name string
}

// IsZero reports whether nothing is referred to.
func (r Ref) IsZero() bool { return r.Kind == "" && r.Name == "" }

// Number is a count that may be absent, which is not the same as zero.
type Number struct {
	N     int64
	Known bool
}

// Cluster is a workload cluster (or the management cluster itself).
type Cluster struct {
	Meta
	Derived        bool   // no Cluster object: built from Machines and the infrastructure cluster
	Self           bool   // the management cluster itself
	Paused         bool   // spec.paused; the annotation, Meta.Paused, stops only the controller of Cluster itself
	Endpoint       string // control plane endpoint, host:port; empty when unknown
	Labels         Labels // none for a derived one
	ControlPlane   Ref
	Infrastructure Ref
	// LeftAlone is the annotation for which the controller of the infrastructure cluster
	// does nothing for it; empty when it has none.
	LeftAlone string
}

// ID returns the key by which other values name the cluster.
func (c *Cluster) ID() ClusterID { return ClusterID{c.Backup, c.Namespace, c.Meta.Name} }

// ControlPlane is the object that a controlPlaneRef names (KubeadmControlPlane
// and kinds that follow the same contract).
type ControlPlane struct {
	Meta
	Kind           string
	Cluster        ClusterID
	Desired        Number // spec.replicas
	Replicas       Number // status.replicas
	NamingTemplate string // spec.machineNaming.template (v1beta1 machineNamingStrategy.template)
	ExternalEtcd   bool   // spec.kubeadmConfigSpec.clusterConfiguration.etcd.external is present
	Infrastructure Ref    // template of its infrastructure machines: spec.machineTemplate.spec.infrastructureRef
	Version        string // spec.version
	// RolloutAfter is when its machines are to be replaced, spec.rollout.after; zero
	// when no time is set.
	RolloutAfter time.Time
	// CertificateDays is how many days before their certificates expire its machines
	// are replaced: spec.rollout.before.certificatesExpiryDays.
	CertificateDays Number
	// Updated is how many of its machines its controller called up to date when the
	// backup was taken: status.upToDateReplicas (before v1beta2 updatedReplicas).
	Updated Number
	// Rolling is what condition MachinesSpecUpToDate said of machines that were to be replaced when
	// the backup was taken; empty where none were, or nothing said so.
	Rolling string
	// Unseen reports whether its controller had not yet seen the last change of its
	// spec when the backup was taken: status.observedGeneration is behind, or nothing
	// shows that KubeadmControlPlane has seen it.
	Unseen bool
	// Strategy is how its machines are brought to a new version, in the words of its kind:
	// spec.updateStrategy (K0sControlPlane), spec.rollout.strategy.type (KubeadmControlPlane; up to
	// v1beta1, and of TalosControlPlane, spec.rolloutStrategy.type), spec.upgradeStrategy
	// (MicroK8sControlPlane).
	Strategy string
	// MaxRetry is how often it replaces a machine that is unhealthy again within MinHealthy
	// of the last time: spec.remediation (before v1beta2 remediationStrategy).
	MaxRetry   Number
	MinHealthy time.Duration
}

// ControlPlanes are the control planes of a Snapshot by their clusters.
type ControlPlanes map[ClusterID][]*ControlPlane

// Group is a MachineDeployment, MachineSet or MachinePool.
type Group struct {
	Meta
	Kind           string
	Cluster        ClusterID
	Deployment     string // of a MachineSet: the MachineDeployment that owns it, or empty
	Desired        Number // spec.replicas
	Replicas       Number // status.replicas
	NamingTemplate string // spec.machineNaming.template
	Infrastructure Ref    // spec.template.spec.infrastructureRef
	Labels         Labels
	TemplateLabels Labels // spec.template.metadata.labels, which its machines get
	Selector       string // spec.selector, a label selector in JSON; empty when absent
	// ReplicasManagedBy is from annotation cluster.x-k8s.io/replicas-managed-by: who
	// sets the replicas instead of the operator.
	ReplicasManagedBy string
	// AppliedBy is the tool that sets the object to its manifest again: Argo CD, Flux, Helm.
	AppliedBy string
	// What a MachineSet and its MachineDeployment are compared by (Cluster API
	// core/reconcilers/machinedeployment/mdutil v1.14.0), all of spec.template.spec.
	Version         string
	FailureDomain   string
	Bootstrap       Ref    // bootstrap.configRef
	BootstrapSecret string // bootstrap.dataSecretName

	Members []string // spec.providerIDList of a MachinePool

	RolloutAfter time.Time // when its machines are to be replaced, spec.rollout.after; zero when no time is set
	// SkippedChecks are the preflight checks that a MachineSet skips before it makes a
	// machine: annotation machineset.cluster.x-k8s.io/skip-preflight-checks.
	SkippedChecks string
	Autoscaled    bool // the cluster autoscaler's annotations of minimum or maximum are present
	Halted        bool // spec.paused of a MachineDeployment: it is scaled, and not rolled out
	OnDelete      bool // its strategy replaces a machine only when somebody deletes it
	Recent        bool // written by Cluster API v1.9.0 or later, as its members tell
	NoCreate      bool // annotation cluster.x-k8s.io/disable-machine-create is "true"
	// NoRemediation reports that spec.remediation.maxInFlight of a MachineDeployment lets
	// no unhealthy machine be replaced.
	NoRemediation bool
}

// SameTemplate reports whether two groups make the same machines, so that neither
// is rolled out to become the other.
func (g *Group) SameTemplate(o *Group) bool {
	return g.Version == o.Version && g.FailureDomain == o.FailureDomain && g.Infrastructure == o.Infrastructure &&
		g.Bootstrap == o.Bootstrap && g.BootstrapSecret == o.BootstrapSecret
}

// Topology returns the name of a MachineDeployment in spec.topology of its Cluster,
// which sets its replicas; empty when it is of no managed topology.
func (g *Group) Topology() string {
	if _, owned := g.Labels.Lookup(clusterv1.ClusterTopologyOwnedLabel); !owned {
		return ""
	}
	return g.Labels.Get(clusterv1.ClusterTopologyMachineDeploymentNameLabel)
}

// Machine is a Machine of Cluster API, v1alpha3 to v1beta2.
type Machine struct {
	Meta
	Created      time.Time
	Cluster      ClusterID
	ControlPlane bool // label cluster.x-k8s.io/control-plane is present, else by owner kind
	Unlabelled   bool // it is of the control plane by its owner alone, and lacks that label
	K0sConfig    bool // annotation k0s.controlplane.cluster.x-k8s.io/k0s-config is present: what its K0sControllerConfig was created of
	InPlace      bool // annotation in-place-updates.internal.cluster.x-k8s.io/update-in-progress is present
	// SkipRemediation says that annotation cluster.x-k8s.io/skip-remediation is
	// present: no MachineHealthCheck touches the machine.
	SkipRemediation bool
	// Remediate reports whether annotation cluster.x-k8s.io/remediate-machine is
	// present: a MachineHealthCheck that covers the machine has it replaced at once.
	Remediate bool
	// JoinsByToken reports of a machine without a provider id that its KubeadmConfig has a
	// bootstrap token.
	JoinsByToken bool
	// Bootstrapped reports that the machine names its bootstrap data, or that the backup has the
	// KubeadmConfig of which data is made again, with a new token (reconcile in
	// bootstrap/kubeadm/internal/controllers v1.13.6): whoever waits for data goes on.
	Bootstrapped bool
	// ConfigUnlabelled reports of a machine of a control plane that its KubeadmConfig, which the
	// backup holds, lacks label cluster.x-k8s.io/control-plane.
	ConfigUnlabelled bool
	// ConfigPaused reports of a machine that names no bootstrap data that its KubeadmConfig has
	// annotation cluster.x-k8s.io/paused.
	ConfigPaused   bool
	Owner          Owner // controller; derived from labels when ownerReferences are gone
	Deployment     string
	Set            string
	Pool           string
	Infrastructure Ref
	ProviderID     string
	Node           string // status.nodeRef.name
	SystemUUID     string // status.nodeInfo.systemUUID: that of its VM's firmware, as its kubelet read it
	Phase          string
	FailureDomain  string
	Bootstrap      Ref // spec.bootstrap.configRef; zero when the operator gave the data
	// BootstrapSecret is the Secret with the bootstrap data in the machine's
	// namespace: spec.bootstrap.dataSecretName.
	BootstrapSecret string
	// Labels are shared by the machines of one owner and kept once: a selector
	// (k8s.io/apimachinery labels.Set(m.Labels.Map())) is best evaluated once
	// per distinct text.
	Labels Labels
	// InfraMessage is what condition InfrastructureReady said while it did not
	// hold when the backup was taken; empty when it held or is absent.
	InfraMessage string
	Version      string // spec.version
	// Outdated is what condition UpToDate said while it was False when the backup was
	// taken: why the machine's owner replaces it. It is empty when the condition held
	// or is absent.
	Outdated string
	// CertificatesExpire is when the certificates on a control-plane machine expire, by its
	// annotation, else that of its KubeadmConfig (Cluster API reconcileCertificateExpiry in
	// internal/controllers/machine v1.13.6), else its status; zero when the backup does not say.
	CertificatesExpire time.Time
	// Hooks are the annotations for which its deletion waits, separated by commas: whoever
	// set them takes them away.
	Hooks string
	// Remediated is which machine KubeadmControlPlane made it in place of, when, and how often
	// it had done so before: annotation controlplane.cluster.x-k8s.io/remediation-for, JSON.
	Remediated string
}

// Absence is something that an object refers to and that the backup lacks.
type Absence struct {
	Backup                int
	Kind, Namespace, Name string
	Resource              string // of Kind, as in the paths of a backup
	ReferredBy            string // "VSphereCluster tenant-beta/beta-prod"
	Why                   string // what usually leaves it out, and what follows
	// Clusters are those whose objects refer to it, in order.
	Clusters []ClusterID
	// Halts are the clusters that no controller touches after a restore until
	// the object exists again: an identity is their only way to the infrastructure.
	Halts []ClusterID
	// HaltsMachines says that machines of Clusters are not reconciled until the object
	// exists again: their place is derived from it.
	HaltsMachines bool
	// HaltsTopology says that it is a template or an extension of a ClusterClass: the
	// topology of Clusters decides nothing until the object exists again.
	HaltsTopology bool
}

// Problem is one item that could not be read, or was left out.
type Problem struct {
	Backup int
	Item   string // path in the tarball
	Reason string // what is wrong with it
	// Decisive says that verdicts and forecasts rest on objects of its kind: whoever
	// decides from the Snapshot has not seen everything.
	Decisive bool
}

// Cluster returns the cluster of that id, or nil.
func (s *Snapshot) Cluster(id ClusterID) *Cluster {
	want := Meta{Backup: id.Backup, Namespace: id.Namespace, Name: id.Name}
	i, ok := sort.Find(len(s.Clusters), func(i int) int { return compareNames(&want, &s.Clusters[i].Meta) })
	if !ok {
		return nil
	}
	return &s.Clusters[i]
}

// Group returns the group of that kind and name, or nil.
func (s *Snapshot) Group(backup int, namespace, kind, name string) *Group {
	want := Meta{Backup: backup, Namespace: namespace, Name: name}
	i, ok := sort.Find(len(s.Groups), func(i int) int {
		g := &s.Groups[i]
		return cmp.Or(compareNames(&want, &g.Meta), strings.Compare(kind, g.Kind))
	})
	if !ok {
		return nil
	}
	return &s.Groups[i]
}

// Moved reports whether a backup is a folder of 'clusterctl move', which pauses each Cluster and
// ClusterClass to write it, gives all objects their owners again as it restores them, and
// unpauses all at its end (fromDirectory in cmd/clusterctl/client/cluster/mover.go v1.13.4).
func (s *Snapshot) Moved(backup int) bool {
	return backup >= 0 && backup < len(s.Backups) && s.Backups[backup].Mode == archive.ByClusterctl
}
