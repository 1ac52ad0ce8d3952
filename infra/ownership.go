package infra

import (
	"strings"

	"drift-detector/backup"
)

// Grade is how much an OwnershipHint proves.
type Grade int8

// Grades of hints, weakest first.
const (
	// NameOnly is for an instance with a name like the machines of a cluster, wherever
	// it is.
	NameOnly Grade = iota + 1
	// LocationOnly is for an instance that is where a cluster's machines are.
	LocationOnly
	// Medium is for a name in its place, or the cluster's endpoint.
	Medium
	// Strong is for something that only the cluster's own controllers write.
	Strong
)

// OwnerID names what creates machines: a control plane, a MachineSet or a
// MachineDeployment. Kind and Name are empty for "the cluster as a whole".
type OwnerID struct {
	Cluster backup.ClusterID
	Kind    string
	Name    string
}

// OwnershipHint connects an instance that is no machine's with a cluster, that of Owner. It
// is for instances that have Key, or, where Key is zero, those of Pattern. Hints are many:
// what they share is not repeated, and what few of them have has a place of its own.
type OwnershipHint struct {
	Owner        *OwnerID // whose completeness decides whether the instance is a Ghost
	Key          Key
	Pattern      *NamePattern
	Grade        Grade
	ControlPlane bool
	// ByName says that the hint is a name or an address, which somebody else's instances
	// may have as well.
	ByName bool
	// Shares is a kind of key. Where it is set, the instance has to have the same key of
	// the kind as a living instance whose id is recorded for a machine of the cluster:
	// that shows the place where the backup does not say it.
	Shares      KeyKind
	Specificity int // among hints of one grade the most specific wins; a draw decides nothing
	// Expect are what an instance of the owner has, where it has one of their
	// kind at all: other values than those of the kind contradict the hint, which then
	// counts for nothing.
	Expect []Key
	// Detail is the evidence for people: "its name is {owner} + 5 characters, in {place}",
	// see Evidence.
	Detail string
	Place  string // where such an instance is: "folder /DC0/vm/prod"; may be empty
}

// NamePattern is for names that no key can express.
type NamePattern struct {
	Name   string // anchored RE2
	Within Key    // that the instance has to have, too; zero: none
}

// Evidence returns Detail. Where there is a Place, {place} is replaced by it, {owner} by the
// kind and name of Owner, and {cluster} by the namespace and name of its cluster.
func (t *OwnershipHint) Evidence() string {
	if t.Place == "" {
		return t.Detail
	}
	var b strings.Builder
	id := t.Owner
	b.Grow(len(t.Detail) + len(t.Place) + len(id.Kind) + len(id.Name) + len(id.Cluster.Namespace) + len(id.Cluster.Name))
	for rest := t.Detail; ; {
		text, behind, found := strings.Cut(rest, "{")
		b.WriteString(text)
		if !found {
			return b.String()
		}
		word, left, _ := strings.Cut(behind, "}")
		switch rest = left; word {
		case "place":
			b.WriteString(t.Place)
		case "owner":
			b.WriteString(id.Kind)
			b.WriteByte(' ')
			b.WriteString(id.Name)
		case "cluster":
			b.WriteString(id.Cluster.Namespace)
			b.WriteByte('/')
			b.WriteString(id.Cluster.Name)
		default:
			b.WriteByte('{')
			rest = behind
		}
	}
}

// VisibilityProof is what a complete listing must show before it is trusted to be of
// the right place, for one cluster at one target. Without it the cluster's home is
// partial. One for a Folder of the target counts for the machines that have their home
// there, beside those for all of it; at least one has to hold. What is no machine's
// needs every one.
type VisibilityProof struct {
	Cluster backup.ClusterID
	Target  string
	Folder  string // as in HomeScope; empty: all of the target
	All     []Key  // probes that must all have been found; when empty, Any decides
	Any     []Key  // keys of which at least one instance or probe must have one
	Nodes   bool   // an instance that a Node of the cluster runs on proves it as well as Any
	// Copied says that what proves it may have come to another place with a copy of the
	// machines, as a BIOS UUID does to a stand-by site: it proves nothing where the names
	// of more machines have other ids.
	Copied bool
	Stated string // in which words the operator said so, which makes it hold; empty: nobody did
	Hint   string
}
