package match

import (
	"cmp"
	"math"
	"slices"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/internal/sorting"
)

// Kinds of Cluster API that own machines beside control planes.
const (
	machineDeployment = "MachineDeployment"
	machineSet        = "MachineSet"
	machinePool       = "MachinePool"
)

// workerKinds own workers; every other kind that owns machines is a control plane.
var workerKinds = map[string]bool{machineDeployment: true, machineSet: true, machinePool: true}

// role returns whether an owner of this kind, or other evidence, makes an instance a
// control-plane machine, and whether that is known.
func role(controlPlane bool, ownerKind string) (plane, known bool) {
	return controlPlane || ownerKind != "" && !workerKinds[ownerKind], controlPlane || ownerKind != ""
}

// Link is one reason why an instance belongs to a cluster: an OwnershipHint, or a Node.
type Link struct {
	Node         *infra.Node          // where hint is nil
	hint         *infra.OwnershipHint // where Node is nil
	specificity  int
	ControlPlane bool // the instance is a machine of the control plane
	RoleKnown    bool
	byName       bool // what it rests on may be another cluster's, too
}

// Cluster returns the cluster that it may belong to.
func (b *Link) Cluster() backup.ClusterID {
	if b.Node != nil {
		return b.Node.Cluster
	}
	return b.hint.Owner.Cluster
}

// Owner returns what made it, as far as that is known; at least the cluster.
func (b *Link) Owner() infra.OwnerID {
	if b.Node != nil {
		return infra.OwnerID{Cluster: b.Node.Cluster, Kind: b.Node.OwnerKind, Name: b.Node.OwnerName}
	}
	return *b.hint.Owner
}

// Detail returns the evidence for people. It is made when it is asked for, which is seldom.
func (b *Link) Detail() string {
	if b.Node != nil {
		return "Node " + b.Node.Name + " of the cluster has its provider id and says it is machine " + b.Node.Machine
	}
	return b.hint.Evidence()
}

func linkOfHint(t *infra.OwnershipHint) Link {
	plane, known := role(t.ControlPlane, t.Owner.Kind)
	return Link{hint: t, specificity: t.Specificity, byName: t.ByName, ControlPlane: plane, RoleKnown: known}
}

// linkOfNode makes a link that is stronger than every OwnershipHint of its grade: the instance has joined.
func linkOfNode(n *Node) Link {
	plane, known := role(n.ControlPlane, n.OwnerKind)
	return Link{Node: n.Node, specificity: math.MaxInt, ControlPlane: plane, RoleKnown: known}
}

// strongest returns the links of the highest specificity, in order.
func strongest(all []Link) []Link {
	if len(all) == 0 {
		return nil
	}
	most := slices.MaxFunc(all, func(a, b Link) int { return cmp.Compare(a.specificity, b.specificity) }).specificity
	all = slices.DeleteFunc(all, func(b Link) bool { return b.specificity != most })
	sorting.By(all, compareLinks)
	return all
}

func compareLinks(a, b Link) int {
	owner, other := a.Owner(), b.Owner()
	c := cmp.Or(cmp.Compare(b.specificity, a.specificity), CompareClusters(owner.Cluster, other.Cluster),
		cmp.Compare(owner.Kind, other.Kind), cmp.Compare(owner.Name, other.Name),
		compareBool(a.ControlPlane, b.ControlPlane), compareBool(a.byName, b.byName))
	if c != 0 {
		return c
	}
	return cmp.Compare(a.Detail(), b.Detail())
}

// ClustersOf lists the clusters of links, each once, in order.
func ClustersOf(all []Link) []backup.ClusterID {
	out := make([]backup.ClusterID, len(all))
	for i := range all {
		out[i] = all[i].Cluster()
	}
	sorting.By(out, CompareClusters)
	return slices.Compact(out)
}

// tied are the hints of one grade that an instance has.
type tied struct {
	hints    []*infra.OwnershipHint
	links    []Link                    // of the most specific, in order
	clusters map[backup.ClusterID]bool // of all of them, where they are many
	common   *tied                     // what it has in common with many instances; may be nil
	all      []Link                    // of both together, once they were asked for
}

// untied is of the instances that have none.
var untied tied

// mostSpecific returns the links of its most specific hints, those of its own and those that
// it has in common with others.
func (t *tied) mostSpecific() (own, common []Link) {
	if t.common == nil || len(t.common.links) == 0 {
		return t.links, nil
	}
	if len(t.links) > 0 {
		switch c := cmp.Compare(t.links[0].specificity, t.common.links[0].specificity); {
		case c > 0:
			return t.links, nil
		case c == 0:
			return t.links, t.common.links
		}
	}
	return nil, t.common.links
}

// found reports whether an instance has any hint.
func (t *tied) found() bool { return len(t.links) > 0 || t.common != nil && len(t.common.links) > 0 }

// join returns the links of its most specific hints, in order. They must not be changed.
func (t *tied) join() []Link {
	if t.all == nil {
		own, common := t.mostSpecific()
		switch {
		case len(common) == 0:
			t.all = own
		case len(own) == 0:
			t.all = common
		default:
			t.all = strongest(slices.Concat(own, common))
		}
	}
	return t.all
}

// to reports whether any of the hints is of the cluster.
func (t *tied) to(id backup.ClusterID) bool {
	if t.common != nil && t.common.to(id) {
		return true
	}
	if t.clusters != nil {
		return t.clusters[id]
	}
	return slices.ContainsFunc(t.hints, func(hint *infra.OwnershipHint) bool { return hint.Owner.Cluster == id })
}

// Links are what ties an instance to clusters.
type Links struct {
	Strong   []Link // the most specific of the grade, of one or several clusters
	Medium   []Link
	Location []Link
	Foreign  []*Node // Nodes on it that alone tie it to no cluster
	// ForeignCluster is the cluster outside the backup that the Node names.
	ForeignCluster string

	names *tied // by a name alone
}

// Named reports whether the instance has a name of a cluster, wherever it is.
func (l *Links) Named() bool { return l.names.found() }

// ByName returns what its name ties the instance to. It must not be changed.
func (l *Links) ByName() []Link { return l.names.join() }

// clusters returns the clusters that the instance is tied to by more than its place.
func (l *Links) clusters() []backup.ClusterID {
	return slices.Concat(ClustersOf(l.Strong), ClustersOf(l.Medium), l.ForeignTo())
}

// ForeignTo returns the clusters whose Nodes run on the instance although Cluster
// API did not make them.
func (l *Links) ForeignTo() []backup.ClusterID {
	ids := make([]backup.ClusterID, len(l.Foreign))
	for i := range l.Foreign {
		ids[i] = l.Foreign[i].Cluster
	}
	return ids
}

// clockSkew is how far the clocks of an infrastructure and of the cluster that
// wrote the backup may be apart.
const clockSkew = 5 * time.Minute

// LinkedClusters are the clusters of links, and those of them whose Node lists were not read.
type LinkedClusters struct {
	Clusters, Unlisted []backup.ClusterID
	listed             bool      // the Node list of each was read
	written            time.Time // when the oldest backup of them ended; zero where that is not known
}

// OlderThan reports whether an instance that was created then was there when the backups of the
// clusters were written, all of whose Node lists were read: one that came since says that something was
// made in the cluster's place since.
func (l *LinkedClusters) OlderThan(created time.Time) bool {
	return l.listed && !created.IsZero() && created.Before(l.written.Add(-clockSkew))
}
