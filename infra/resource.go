package infra

import (
	"drift-detector/backup"
	"drift-detector/report/code"
)

// Pool is machines that the infrastructure makes and heals by itself (an
// autoscaling group, an EKS node group): they are compared as a set, never one
// by one.
type Pool struct {
	Cluster   backup.ClusterID
	Kind      string // of the group in the Snapshot: "MachinePool"
	Name      string
	Target    string
	Key       Key    // instances that are members now have it
	Probe     Key    // found when the pool itself exists; it must be among the Target's Probes
	Guessed   string // why Probe may be that of another, so that its absence proves nothing; empty: it is not
	Members   []Key  // members that the backup records
	Desired   backup.Number
	ManagedBy string // who owns the replicas, when not Cluster API, see backup.Group.ReplicasManagedBy
	Paused    string // its infrastructure object, if that is paused by itself: "AWSMachinePool a"
	// Min and Max are bounds that its controller sets whoever owns the replicas, and
	// that move the pool's size where it is outside of them.
	Min, Max backup.Number
}

// UnreadPool is a MachinePool whose infrastructure no provider reads, with the members that
// its object lists.
type UnreadPool struct {
	Cluster backup.ClusterID
	Name    string
	Members []Key
}

// PoolSize is how many members a pool is set to have where it is, by the Probe of
// its Pool. A controller that finds another number there than Pool.Desired sets it
// back, and members end or are made.
//
// Living is how many of the members run or come to; nil when that was not seen. Where fewer
// do than are desired, setting the pool to fewer ends none of those that are not there.
type PoolSize struct {
	Probe   Key    `json:"landmark"`
	Desired int64  `json:"desired"`
	Living  *int64 `json:"living,omitempty"`
}

// Resource is something beside instances that a restore depends on: a VPC, a
// folder, a template. It is present when a complete listing of Target found one
// of Keys among its probes, absent when it was asked for all of them and found
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
	WhenGone    code.WhenGone
	Consequence string
	// Holds says that all others of the cluster are in it: a controller that lacks it asks
	// for none of them.
	Holds bool
}

// LoadBalancer is what is before the API server of a cluster.
type LoadBalancer struct {
	Type string // as the provider's controller calls it; empty: its default
	Name string
	ARN  string // empty where it has none, or none is recorded
}
