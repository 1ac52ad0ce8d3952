package infra

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
)

// Provider lists one kind of infrastructure.
type Provider interface {
	// Spec says what the provider reads from a backup and which machines are its own.
	Spec() Spec
	// Targets says where to look and with which credential. It contacts
	// nothing. A place without a usable credential is a Target too, with the
	// reason in Target.Refused.
	Targets(*backup.Snapshot, *backup.Secrets, Access) []Target
	// Claims says what the backup expects to exist. It is pure: no secrets, no I/O.
	Expected(*backup.Snapshot) Expected
	// List says what there is at a Target. It is the only method that does
	// I/O. It never fails: it returns what it has, and a State and Fault that
	// say what is missing, so that nobody concludes absence from it. It
	// returns soon after the context ends.
	List(context.Context, Target) Listing
}

// Spec is what a provider declares about itself.
type Spec struct {
	Name  string      // "vsphere", "aws"; also the provider's name in the report
	Kinds []GroupKind // kinds of infrastructure machines that are its own
	Want  backup.Want
	// Keys turns a provider id as Nodes and Machines carry it into the keys
	// that the provider's instances have. It returns nil for ids of others.
	Keys func(providerID string) []Key
	// Controller is what makes and deletes the instances, for forecasts of a restore.
	Controller Controller
}

// Controller says how a provider's infrastructure controller acts on what it finds
// after a restore. One with a Name keeps to what all known ones do: it looks for an
// instance by the id that is recorded, and where none is by the machine's name, and
// never makes a new one for an id that is recorded. Of one without a Name nothing is
// foretold.
type Controller struct {
	Name        string // "CAPV"
	Makes       string // how it makes a machine's instance: "clones a VM"
	PowersOn    bool   // it starts an instance that is off, unless it is suspended
	RunningOnly bool   // by name it looks among the instances that run
	// ClustersFirst is what it does when Cluster objects are restored before Machines,
	// if it loses the recorded ids then: "makes VSphereVMs without their ids".
	ClustersFirst string
	// DeletesCopies says that with a machine it destroys every instance that has
	// its id.
	DeletesCopies bool
	// OwnsKubeconfig is the kind of control plane whose kubeconfig Secret it makes by
	// itself, and refuses when the Secret is there and not its own.
	OwnsKubeconfig string
	// Defaults says that new infrastructure machines need what its webhooks fill in.
	Defaults bool
}

// GroupKind is an API group and kind, such as
// infrastructure.cluster.x-k8s.io VSphereMachine.
type GroupKind struct{ Group, Kind string }

// Key is one normalised identity: on instances and on claims alike, joined by
// equality. "A and B together" is one composed key that the provider makes on
// both sides.
type Key struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// IsZero says that there is no key.
func (k Key) IsZero() bool { return k == Key{} }

func (k Key) String() string { return k.Kind + " " + k.Value }

// OwnerTag is the kind of the Key that an instance has for the one cluster that
// its own tags name as its owner, whether or not the backup knows that cluster.
const OwnerTag = "ownerTag"

// Claims is what one provider, or all of them together, expect to exist.
type Expected struct {
	Machines       []ExpectedMachine
	OwnershipHints []OwnershipHint
	Proofs         []VisibilityProof
	Absent         []backup.Absence // what the provider misses in the backup
	Exclude        []Exclusion
	Pools          []Pool
	Resources      []Resource
	Recipes        []Recipe
	OwnerTags      []Key // of kind OwnerTag: those of the backup's own clusters
	Halts          []Halt
	// LoadBalancers are those before the API server of each cluster, as the backup
	// records them.
	LoadBalancers map[backup.ClusterID][]LoadBalancer
	// Providers names the provider of each cluster that one claims.
	Providers map[backup.ClusterID]string
}

// Claim is one machine and the keys by which its instance can be told.
type ExpectedMachine struct {
	Machine  int     // index into Snapshot.Machines; -1 when only Orphan tells
	Orphan   *Orphan // infrastructure machine whose Machine is not in the backup
	Provider string  // name of the provider; empty when none supports the kind

	Home     HomeScope // where the machine's controller looks
	Strong   Key       // the recorded id; zero when the backup records none
	Source   string    // where Strong was read: "VSphereVM.spec.biosUUID"
	Conflict string    // two sources of the strong key differ: which, and both values
	Doubted  []Key     // the ids beside Strong that sources record: an instance of one may be the machine
	Identity Key       // second key that finds by itself: vSphere instanceUuid == VSphereVM uid
	Ref      Key       // second key that only separates or confirms: vSphere managed object id
	Weak     []Key     // any one of these on exactly one instance is a weaker match: name + folder
	Names    []Key     // bearing one of these is a mere namesake
	// Witness are keys of a living instance under another id at the machine's place that
	// has the machine's name, as its own or in its metadata: the machine is not gone as
	// long as nobody knows that these are two.
	Witness []Key
	Unnamed string // why nobody knows what its instance is called, so that Names lack it; empty: they do not
	Hosts   []Key  // an instance whose own metadata has one of these is a copy of the machine
	Blind   []Key  // an unreadable instance that has one of these may be the machine
	Expect  []Expectation
	// Reads names the field of the backup from which the machine's controller takes
	// the instance's id after a restore: "VSphereVM.spec.biosUUID". ReadsID says that
	// an id is recorded there. Where none is, the controller takes the instance at
	// home that has one of Searches, any of several, and makes a new one where none
	// has. Only instances that the search finds have keys of Searches: where the
	// controller looks among running ones alone, those.
	Reads    string
	ReadsID  bool
	Searches []Key
	// InfraMissing says that the infrastructure object is not in the backup.
	InfraMissing bool
	Restore      *Restore // nil when there is nothing to say
	// Pool is the Key of the Pool that the machine is a member of. A pool makes
	// and replaces its members itself, so that one that is gone proves nothing.
	Pool Key
}

// Exclusion says that an instance with the key is known and nobody's machine: a
// bastion, a NAT instance.
type Exclusion struct {
	Key   Key
	Cause string // counted under this word: "bastion"
}

// Halt is why the controllers do nothing for a cluster after a restore, although the
// backup holds the objects that it refers to: an identity that the cluster's namespace
// may not use. What the backup lacks is an Absence with Halts instead.
type Halt struct {
	Cluster backup.ClusterID
	Object  string // that says so: "AWSClusterRoleIdentity team-a"
	Message string // why, in a sentence without its full stop
	Hint    string // what to do
}

// Pool is machines that the infrastructure makes and heals by itself (an
// autoscaling group, an EKS node group): they are compared as a set, never one
// by one.
type Pool struct {
	Cluster   backup.ClusterID
	Kind      string // of the group in the Snapshot: "MachinePool"
	Name      string
	Target    string
	Key       Key    // instances that are members now have it
	Probe     Key    // found when the pool itself exists; it must be among the Target's Landmarks
	Guessed   string // why Landmark may be that of another, so that its absence proves nothing; empty: it is not
	Members   []Key  // members that the backup records
	Desired   backup.Number
	ManagedBy string // who owns the replicas, when not Cluster API, see backup.Group.ReplicasManagedBy
	// Min and Max are bounds that its controller sets whoever owns the replicas, and
	// that move the pool's size where it is outside of them.
	Min, Max backup.Number
}

// PoolSize is how many members a pool is set to have where it is, by the Landmark of
// its Pool. A controller that finds another number there than Pool.Desired sets it
// back, and members end or are made.
type PoolSize struct {
	Probe   Key   `json:"landmark"`
	Desired int64 `json:"desired"`
}

// WhenGone is what the absence of a Resource means to the restored controllers.
type WhenGone string

// What the absence of a Resource means. The zero value means FailsReplacement.
const (
	FailsReplacement WhenGone = "failsReplacement" // machines run on, and a new one cannot be made
	HaltsCluster     WhenGone = "haltsCluster"     // the controllers do nothing for the cluster until it is back
	MadeAgain        WhenGone = "madeAgain"        // the controllers make a new one
	// Unwanted is the other way round: the controllers end it where it is there. It is
	// shown unless it is known not to be.
	Unwanted WhenGone = "unwanted"
)

// Resource is something beside instances that a restore depends on: a VPC, a
// folder, a template. It is present when a complete listing of Target found one
// of Keys among its Landmarks, absent when it was asked for all of them and found
// none, unknown else.
type Resource struct {
	Cluster backup.ClusterID
	Target  string
	Kind    string // "VPC", "folder"
	Name    string // as the backup writes it
	Keys    []Key
	UsedBy  string // the object of the backup that names it
	// WhenGone is what its absence means. Consequence says it in a sentence without its
	// full stop, where there is more to say than that.
	WhenGone    WhenGone
	Consequence string
}

// LoadBalancer is what stands before the API server of a cluster.
type LoadBalancer struct {
	Type string // as the provider's controller calls it; empty: its default
	Name string
	ARN  string // empty where it has none, or none is recorded
}

// Orphan is an infrastructure machine of the backup without its Machine: Velero
// skips objects that were being deleted (pkg/backup/item_backupper.go v1.18.1).
type Orphan struct {
	Kind, Namespace, Name, UID string
	Cluster                    backup.ClusterID
	ControlPlane               bool
	Owner                      OwnerID // the control plane or MachineSet that it belongs to, from its labels
	ProviderID                 string
}

// Home is where the controller of a machine looks for its instance.
type HomeScope struct {
	Target string // one of Target.IDs
	Within Key    // key that an instance at home has besides (its datacenter); zero: anywhere in the target
	Folder string // of the target, with Proofs of its own: a folder; empty: the target as a whole
}

// Expectation is a key that a matched instance should have; when it has
// another of that kind instead, the verdict carries the warning.
type Expectation struct {
	Key     Key
	Warning string // reason code: "Renamed", "Moved"
}

// Grade says how much a Tie proves.
type Grade int

// Grades of ties, weakest first.
const (
	// Named only says that an instance has a name like the machines of a cluster,
	// wherever it is.
	NameOnly Grade = iota + 1
	// Place only says that an instance lies where a cluster's machines lie.
	LocationOnly
	// Medium ties by name or by the cluster's endpoint.
	Medium
	// Strong ties by something that only the cluster's own controllers write.
	Strong
)

// OwnerID names what creates machines: a control plane, a MachineSet or a
// MachineDeployment. Kind and Name are empty for "the cluster as a whole".
type OwnerID struct {
	Cluster backup.ClusterID
	Kind    string
	Name    string
}

// Tie connects an instance that no machine claims with a cluster. An instance
// fits when it has Key, or, where Key is zero, when its name matches Pattern
// and it has Within.
type OwnershipHint struct {
	Cluster backup.ClusterID
	Grade   Grade
	Key     Key
	Pattern string // anchored RE2, for naming templates that no key can express
	Within  Key
	// Expect are what an instance of the owner has, where it has one of their
	// kind at all: other values than those of the kind contradict the tie, which then
	// ties nothing.
	Expect []Key
	// Shares is a kind of key. Where it is set, the instance has to have the same key of
	// the kind as a living instance whose id is recorded for a machine of the cluster:
	// that shows the place where the backup does not say it.
	Shares       string
	Owner        OwnerID // whose completeness decides whether the instance is a Ghost
	ControlPlane bool
	// ByName says that the tie rests on a name or an address: somebody else's
	// instances may have the same. A mark that only the cluster's controllers write
	// is none.
	ByName      bool
	Specificity int    // among ties of one grade the most specific wins; a draw decides nothing
	Detail      string // evidence for people: "name is MachineSet alpha-prod-md-0-cjzhw + 5 characters, in folder …"
}

// Named is Pattern as an expression for whole names. It is nil where there is none,
// and where it is no expression: such a tie ties nothing, as an empty one would tie
// everything.
func (t *OwnershipHint) NamePattern() *regexp.Regexp {
	if t.Pattern == "" {
		return nil
	}
	re, err := regexp.Compile(`^(?:` + t.Pattern + `)$`)
	if err != nil {
		return nil
	}
	return re
}

// Proof says when a complete listing may be trusted to be of the right place,
// for one cluster at one target. Without it the cluster's home is partial. One for
// a Part of the target counts for the claims that have their Home there, beside
// those for all of it; at least one has to. What is no claim's needs every one.
type VisibilityProof struct {
	Cluster backup.ClusterID
	Target  string
	Folder  string // as in Home; empty: all of the target
	All     []Key  // landmarks that must all have been found; when empty, Any decides
	Any     []Key  // keys of which at least one instance or landmark must have one
	Nodes   bool   // an instance that a Node of the cluster runs on proves it as well as Any
	// Copied says that what proves it may have come to another place with a copy of the
	// machines, as a BIOS UUID does to a stand-by site: it proves nothing where the names
	// of more machines have other ids.
	Copied bool
	Stated string // in which words the operator said so, which makes it hold; empty: nobody did
	Hint   string
}

// Target is one place to list, with the credential for it.
type Target struct {
	// IDs are the places that Claims and Proofs call home and that this
	// Target covers. They are made from the backup without its Secrets, so
	// that a saved inventory fits the same backup on another machine. Places
	// that turn out to share endpoint and credential are listed once.
	IDs       []string
	Provider  string
	Endpoint  string // as the backup calls it, host or host:port
	Dial      string // where to reach it instead (--endpoint); empty: Endpoint itself
	Location  string // region or the like; empty when the whole endpoint is listed
	Account   string // user name or account; never a secret
	Source    string // which object the credential comes from, by name
	Use       string // in a sentence, which credential goes where: for the operator, before it does
	Clusters  []backup.ClusterID
	Refused   *Fault          // why it can't be listed at all: no credential, bad endpoint
	NodeState string          // of a Target for Nodes: the NodeState of a Listing that holds none
	Warnings  []string        // for the operator, before listing: settings of the backup that are ignored
	Probes    []Key           // what List is to look for, so that Proofs can hold
	Progress  func(found int) `json:"-"` // told by Found; may be nil
	// Near says which instances the Listing is to keep as they are, see Claims.Near;
	// the others are kept packed. It may be nil: then all are.
	IsRelated  func(*Instance) bool `json:"-"`
	Credential any                  // the provider's own; it must print as redacted
	// Redaction hides the secrets in Credential, and those that List gets for it. Every
	// Target with a Credential has one, and List passes each text of a server that goes
	// into a Fault or a warning through it, before anything else.
	Redaction *Redaction `json:"-"`
	Detail    any        // the provider's own, without secrets
}

// Found tells whoever watches how many instances or Nodes a listing holds so far.
func (t *Target) Found(n int) {
	if t.Progress != nil {
		t.Progress(n)
	}
}

// Join adds another place that is listed with the same credential. The provider
// joins what is its own, Credential and Detail.
func (t *Target) Join(o Target) {
	t.IDs = append(t.IDs, o.IDs...)
	t.Clusters = append(t.Clusters, o.Clusters...)
	t.Probes = append(t.Probes, o.Probes...)
	t.Warnings = append(t.Warnings, o.Warnings...)
	if !slices.Contains(strings.Split(t.Source, ", "), o.Source) {
		t.Source += ", " + o.Source
	}
}

// State says how much of a target a listing holds.
type State string

// States of a listing.
const (
	Complete State = "complete"
	Partial  State = "partial"
	Failed   State = "failed"
)

// Fault is what went wrong, for people and for scripts.
type Fault struct {
	Reason  string `json:"reason"` // code: "Unreachable", "AuthenticationFailed", "UntrustedCertificate", "VisibilityUnproven", …
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do next
}

// Listing is what a provider found at a Target.
type Listing struct {
	IDs      []string `json:"ids"`
	Provider string   `json:"provider"`
	Endpoint string   `json:"endpoint"`
	Location string   `json:"location,omitempty"`
	Account  string   `json:"account,omitempty"`
	// Identity is the id by which the place itself tells who it is: a vCenter's
	// about.instanceUuid, the number of an AWS account. Empty when it did not say.
	Identity    string             `json:"identity,omitempty"`
	Clusters    []backup.ClusterID `json:"clusters,omitempty"`
	State       State              `json:"state"`
	Fault       *Fault             `json:"fault,omitempty"`
	Warnings    []string           `json:"warnings,omitempty"`
	ListedAt    time.Time          `json:"listedAt"`
	ProbesFound []Key              `json:"landmarks,omitempty"` // those of Target.Landmarks that were found
	// Asked are all of Target.Landmarks, so that one that nobody looked for is
	// not taken for absent. The Registry fills it in. Inventories that were saved
	// before it was kept lack it: then only Landmarks were surely asked for.
	Asked []Key `json:"asked,omitempty"`
	// Unread are the kinds of landmarks that could not be looked up (no
	// permission), so that a missing one proves nothing.
	Unread    []string   `json:"unread,omitempty"`
	PoolSizes []PoolSize `json:"poolSizes,omitempty"` // of the pools among Landmarks, as far as they are known
	Instances []Instance `json:"instances,omitempty"`
	// Unrelated are the instances that Target.Near did not accept. They are as much
	// part of the listing as the others; WriteInventory saves them among those.
	Unrelated Unrelated `json:"-"`
	Nodes     []Node    `json:"nodes,omitempty"`
	// NodeState is set on listings of Nodes: read, skipped, noKubeconfig,
	// unreachable or denied. Such a listing is evidence, not a scope.
	NodeState string `json:"nodeState,omitempty"`
}

// File adds an instance to the listing of the target, where Near says. A provider of
// places that may hold any number of instances files them by it as they come in.
func (l *Listing) File(t *Target, i Instance) {
	if t.IsRelated == nil || t.IsRelated(&i) {
		l.Instances = append(l.Instances, i)
	} else {
		l.Unrelated.Add(i)
	}
}

// Count is how many instances the listing holds.
func (l *Listing) Count() int { return len(l.Instances) + l.Unrelated.Len() }

// Instance is one VM as its infrastructure reports it.
type Instance struct {
	// Identity is equal exactly for two sightings of one VM, whoever saw it:
	// vCenter's own instanceUuid, the key of its certificate and the managed
	// object id; AWS account and instance id. No server may be able to give its
	// instances the identity of another's: what they say would count for both.
	Identity  string    `json:"identity"`
	ID        string    `json:"id,omitempty"`  // the strong key's value: BIOS UUID, instance id
	Ref       string    `json:"ref,omitempty"` // managed object id
	Name      string    `json:"name,omitempty"`
	Path      string    `json:"path,omitempty"` // inventory path, for people
	State     string    `json:"state,omitempty"`
	Created   time.Time `json:"created,omitzero"`
	Addresses []string  `json:"addresses,omitempty"`
	Tags      []Tag     `json:"tags,omitempty"` // by key; for people and their rules, no evidence
	Keys      []Key     `json:"keys"`
	Host      Key       `json:"host,omitzero"` // host name in its own metadata, read for candidates only
	// Exclude says why it can be nobody's machine: Template, Managed, "vCLS".
	Exclude string `json:"exclude,omitempty"`
	// Unreadable says that its properties could not be read, so that its
	// missing keys prove nothing.
	Unreadable bool `json:"unreadable,omitempty"`
	// Gone says that it is listed but ended: terminated, shutting down.
	Gone bool `json:"gone,omitempty"`
	// Warnings are conditions that go with a Healthy verdict: PoweredOff, "Disconnected".
	Warnings []string `json:"warnings,omitempty"`
}

// PoweredOff is the warning of an instance that exists and does not run.
const PoweredOff = "PoweredOff"

// Template is the cause to exclude an instance that is a template: it cannot run.
const Template = "template"

// Managed is the cause to exclude an instance that an extension of its infrastructure
// manages.
const Managed = "managedByExtension"

// Runs reports whether the instance exists and is not off.
func (i *Instance) Runs() bool {
	return !i.Gone && i.Exclude != Template && !slices.Contains(i.Warnings, PoweredOff)
}

// Tag is one tag that its infrastructure has on an instance.
type Tag struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// HasKey says whether the instance carries the key.
func (i *Instance) HasKey(k Key) bool {
	for _, have := range i.Keys {
		if have == k {
			return true
		}
	}
	return false
}

// Node is one Node of a workload cluster.
type Node struct {
	Cluster    backup.ClusterID `json:"cluster"`
	Name       string           `json:"name"`
	ProviderID string           `json:"providerID,omitempty"`
	// Keys are those that the provider of the id gives its instances.
	Keys  []Key `json:"keys,omitempty"`
	Ready bool  `json:"ready,omitempty"`
	// Unready says that its kubelet reports that it is not ready, which none does
	// whose machine is gone: of one that is not heard nothing is known.
	Unready      bool      `json:"unready,omitempty"`
	Heartbeat    time.Time `json:"heartbeat,omitzero"` // of condition Ready, by the API server's clock
	ControlPlane bool      `json:"controlPlane,omitempty"`
	// Machine, ClusterName, ClusterNamespace, OwnerKind and OwnerName are the
	// annotations that Cluster API puts on its Nodes.
	Machine          string `json:"machine,omitempty"`
	ClusterName      string `json:"clusterName,omitempty"`
	ClusterNamespace string `json:"clusterNamespace,omitempty"`
	OwnerKind        string `json:"ownerKind,omitempty"`
	OwnerName        string `json:"ownerName,omitempty"`
}

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`
}
