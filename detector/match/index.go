package match

import (
	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Index joins what the backup expects with what was listed. Once it is built, the
// decision tables only look at facts taken from it.
type Index struct {
	Machines    []*Machine // one per machine and per orphan, in order
	Owners      *Owners
	Pools       []Pool
	UnreadPools map[infra.OwnerID]Membership // of kinds that no provider reads

	snap    *backup.Snapshot
	subject code.Subject // of sentences
	vms     []VM         // merged sightings, in order
	byKey   postings
	// unreadable and unclaimed are the postings of instances that cannot be read, and of
	// those that no machine finds by its strong key.
	unreadable, unclaimed postings
	scopes                scopes
	nodes                 nodes
	hints                 hintIndex
	// poolState is whether each pool exists, by the key of its members.
	poolState map[clusterKey]code.Presence

	sharedLists sharedLists
	sharers     map[sharersOf]*sharers
	unnamed     map[infra.OwnerID]*Machine // by owner: a machine for which the backup has neither id nor name of its instance
	ownTags     map[infra.Key]bool         // ownership tags of the backup's clusters
	placed      map[backup.ClusterID]bool  // clusters whose machines have a place of their own
	ids         []*idCount                 // by listing
	second      *secondKeys                // nil: not counted yet
	names       []infra.Key                // reused by nameFacts
	asked       askedLists
	proofs      []*infra.VisibilityProof // of whole targets, by cluster
	nodesAt     map[string][]*Node       // that prove a target

	inBackup    map[[2]string]bool          // clusters by namespace and name; nil: not looked yet
	kindsUnread map[infra.Reading]string    // see infra.Expected.Unread
	made        map[backup.ClusterID]string // see infra.Expected.Made
	unvisited   map[string]string           // by provider: the first target of machines that was not listed
}

// sharers are the living instances with one id, and the clusters that any of them is
// tied to by more than its place: nil, as long as nobody asked.
type sharers struct {
	all      []*VM
	clusters []backup.ClusterID
}

// sharersOf is the key of Index.sharers; provider is set for ids of instances.
type sharersOf struct {
	key      infra.Key
	provider string
}
