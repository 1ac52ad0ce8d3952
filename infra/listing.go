package infra

import (
	"time"

	"drift-detector/backup"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Fault is what went wrong, for people and for scripts.
type Fault = report.Fault

// Listing is what a provider found at a Target.
type Listing struct {
	IDs      []string `json:"ids"`
	Provider string   `json:"provider"`
	Endpoint string   `json:"endpoint"`
	Location string   `json:"location,omitempty"`
	Account  string   `json:"account,omitempty"`
	// Identity is the id by which the scope identifies itself: a vCenter's
	// about.instanceUuid, the number of an AWS account. Empty when it did not say.
	Identity    string             `json:"identity,omitempty"`
	Clusters    []backup.ClusterID `json:"clusters,omitempty"`
	State       code.ScopeState    `json:"state"`
	Fault       *Fault             `json:"fault,omitempty"`
	Warnings    []string           `json:"warnings,omitempty"`
	ListedAt    time.Time          `json:"listedAt"`
	ProbesFound []Key              `json:"landmarks,omitempty"` // those of Target.Probes that were found
	// Asked are all of Target.Probes, so that one that nobody looked for is
	// not taken for absent. The Registry fills it in. Inventories that were saved
	// before it was kept lack it: then only ProbesFound were surely asked for.
	Asked []Key `json:"asked,omitempty"`
	// Ambiguous are those of Target.Probes that more than one thing answers. A controller
	// that takes the one of a name takes none of these.
	Ambiguous []Key `json:"ambiguous,omitempty"`
	// Unread are the kinds of probes that could not be looked up (no
	// permission), so that a missing one proves nothing.
	Unread []KeyKind `json:"unread,omitempty"`
	// Facts are properties of the place that steps of the walk ask for. A fact that is
	// absent was not seen; FactsUnread names those that were refused, with the reason.
	Facts       Facts      `json:"facts,omitempty"`
	FactsUnread Facts      `json:"factsUnread,omitempty"`
	PoolSizes   []PoolSize `json:"poolSizes,omitempty"` // of the pools among ProbesFound, as far as they are known
	Instances   []Instance `json:"instances,omitempty"`
	// Unrelated are the instances that Target.IsRelated did not accept. They are as much
	// part of the listing as the others; WriteInventory saves them among those.
	Unrelated Unrelated `json:"-"`
	Nodes     []Node    `json:"nodes,omitempty"`
	// NodeState is set on listings of Nodes: read, skipped, noKubeconfig,
	// unreachable or denied. Such a listing is evidence, not a scope.
	NodeState string `json:"nodeState,omitempty"`
}

// File adds an instance to the listing of the target: to Unrelated, unless
// Target.IsRelated accepts it. A provider of scopes that may hold any number of
// instances adds them so as they come in.
func (l *Listing) File(t *Target, i Instance) {
	if t.IsRelated == nil || t.IsRelated(&i) {
		l.Instances = append(l.Instances, i)
	} else {
		l.Unrelated.Add(i)
	}
}

// Count returns how many instances the listing holds.
func (l *Listing) Count() int { return len(l.Instances) + l.Unrelated.Len() }
