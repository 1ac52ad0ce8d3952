package detector

import (
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Options are what a decision depends on beside its inputs.
type Options struct {
	// Now is the clock, used only where a listing does not carry its own time.
	Now time.Time
	// Only narrows the result to the clusters for which it is true; nil is all.
	// Every machine of every cluster still takes part: a VM of a cluster that is
	// not shown is nobody's Ghost.
	Only func(backup.ClusterID) bool
}

func (o *Options) shows(id backup.ClusterID) bool { return o.Only == nil || o.Only(id) }

// Verdict is what was decided on one machine of the backup, or on one instance
// that belongs to a cluster and has no machine.
type Verdict struct {
	Status  code.Status
	Reason  code.Reason // refines Status; empty for a plain Healthy
	Message string

	Namespace, Name string
	UID             string
	ProviderID      string
	Node            string
	Infrastructure  *backup.Ref // the object of the infrastructure's controller; nil where none is referred to
	Instance        *infra.Instance
	Scope           string           // id of the target where Instance was seen
	Others          []infra.Instance // further instances that the verdict names, not more than 16
	OtherScopes     []string         // id of the target where each of Others was seen
	Evidence        []report.Evidence
	Warnings        []report.Warning
	Deleting        *time.Time // since when it is being deleted; nil: it is not
	Blocked         string     // why the machine's controller does nothing for it: an [infra.Blocker] that was found
	Unmakeable      string     // likewise, why it can make no instance for it
	MoreOthers      int        // how many more Others there are
	Finds           Finds      // what the machine's controller takes for its instance after the restore
	ControlPlane    bool
	RoleKnown       bool
	ByID            bool // the verdict is Healthy because Instance has the id that the backup records
}

// Finds is what a machine's controller takes for its instance after a restore. It is a
// fact about the controller's search, independent of the verdict.
type Finds uint8

// What a controller takes. FindsUnknown is for machines without a controller that looks:
// no provider, no Machine or no infrastructure object in the backup; and where the
// place in which it looks was not listed whole.
const (
	FindsUnknown Finds = iota
	FindsByID          // the id is recorded where the controller reads it: that instance or none
	FindsByName        // it searches by name, and finds the verdict's Instance alone
	FindsOther         // it searches by name, and finds another one
	FindsSeveral       // it searches by name, and finds several
	FindsNothing       // it searches by name, and finds none
)

// Set is machines with a roll-up: a control plane or a group of workers.
type Set struct {
	Kind, Name string
	Status     code.Status
	Reason     code.Reason // why the roll-up is worse than its machines: "ControlPlaneLost", "MachinesNotInBackup", …
	Desired    backup.Number
	Machines   []*Verdict // sorted by name
	Pool       *PoolState // of a MachinePool whose machines the infrastructure makes
}

// PoolState compares the members of a pool as a set: the infrastructure makes
// and replaces them by itself, so that none counts by itself.
type PoolState struct {
	State     code.Presence
	Then, Now []string // ids of its members in the backup, and of those that live; sorted
	Desired   backup.Number
	// DesiredNow is what the pool is set to where it is. A controller sets it to
	// Desired, unless ManagedBy names who sets it instead.
	DesiredNow backup.Number
	Living     backup.Number // how many of its members run or come to
	ManagedBy  string        // who sets the replicas, when not Cluster API
	Min, Max   backup.Number // bounds that its controller sets all the same
	Message    string        // how it changed; empty when nothing did
}

// Cluster is the outcome for one cluster of the backup.
type Cluster struct {
	ID           backup.ClusterID
	Provider     string
	Status       code.Status
	Derived      bool
	Self         bool
	Paused       bool
	Endpoint     string
	Nodes        report.Nodes
	ControlPlane Set
	// Applicable is false when the control plane has no machines by design.
	Applicable   bool
	Workers      code.Status
	WorkerGroups []Set
	Resources    []report.Resource // sorted by kind and name
	Halts        []infra.Halt      // why the controllers do nothing for it, beside what the backup lacks; sorted by object
}

// Unattributed is an instance that needs a person: it may or may not belong to
// a cluster of the backup.
type Unattributed struct {
	Instance infra.Instance
	Scope    string
	Clusters []backup.ClusterID // that it may belong to, sorted; none: it is not known
	Foreign  string             // name of a cluster that is not in the backup
	Reason   code.Reason
	Message  string
	Evidence []report.Evidence
	// Unread is true when it may be a machine and could not be read: the run has not
	// seen everything.
	Unread bool
	// Unlisted are the clusters whose Node lists were asked for and not read, and might
	// say that it is theirs.
	Unlisted []backup.ClusterID
	// Unlinked is true when nothing but its place is said for a cluster, it is older than the backup,
	// and no Node of the clusters there, whose lists were read, runs on it: no controller looks at it.
	Unlinked bool
}

// Error is something that went wrong during the run.
type Error struct {
	Scope, Object, Message, Hint string
	// Unread is true when Object is an item of the backup on which verdicts rest, so
	// that the result is not complete.
	Unread bool
}

// Result is everything that was decided. Its order does not depend on the
// order of the inputs. Its instances have no Keys.
type Result struct {
	Status       code.Status
	Complete     bool // every scope is complete, no credential was missing, and what may be a machine, in the backup too, could be read
	Clusters     []Cluster
	Unattributed []Unattributed
	Excluded     map[string]int // by cause
	OutOfScope   int
	ForeignTags  map[string]int // instances out of scope by the foreign cluster that tags them
	Scopes       []report.Scope
	Errors       []Error
}
