package infra

import (
	"regexp"

	"drift-detector/backup"
)

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
