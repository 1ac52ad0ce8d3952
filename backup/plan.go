package backup

import (
	"errors"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// plan is the trie of the members that are wanted of one kind. A scan follows
// it and skips all that is not in it.
type plan struct {
	root   *node
	slots  []slot
	arrays int // number of arrays in the trie
}

// scan is a plan with room for what a scan by it finds.
type scan struct {
	plan    *plan
	capture *capture
}

// slot is where the values of one path end up in a capture.
type slot struct {
	path  string
	array int // innermost array on the path, or -1
}

// node is one value of the trie.
type node struct {
	slot  int // -1 when the value itself is not wanted
	names []string
	kids  []*node
	each  *node // the elements, when the value is to be an array
	array int   // number of this array, when each is set
}

// Slots of the metadata that every plan starts with.
const (
	slotAPIVersion = iota
	slotKind
	slotNamespace
	slotName
	slotUID
	slotCreated
	slotClusterName
	slotPaused
	slotDeleting
	slotOwnerKind
	slotOwnerName
	slotOwnerUID
	slotOwnerController
)

// metaPaths are the paths of those slots, in their order.
var metaPaths = [...]string{
	slotAPIVersion:      "apiVersion",
	slotKind:            "kind",
	slotNamespace:       "metadata.namespace",
	slotName:            "metadata.name",
	slotUID:             "metadata.uid",
	slotCreated:         "metadata.creationTimestamp",
	slotClusterName:     "label:" + clusterv1.ClusterNameLabel,
	slotPaused:          "annotation:" + clusterv1.PausedAnnotation,
	slotDeleting:        "metadata.deletionTimestamp",
	slotOwnerKind:       "metadata.ownerReferences[].kind",
	slotOwnerName:       "metadata.ownerReferences[].name",
	slotOwnerUID:        "metadata.ownerReferences[].uid",
	slotOwnerController: "metadata.ownerReferences[].controller",
}

func newPlan() *plan {
	p := &plan{root: newNode()}
	for _, path := range metaPaths {
		if _, err := p.add(splitPath(path)); err != nil {
			panic(path + ": " + err.Error())
		}
	}
	return p
}

func newNode() *node { return &node{slot: -1} }

// splitPath turns a path as Field documents it into its members. An array is
// its member followed by "[]".
func splitPath(path string) []string {
	if key, ok := strings.CutPrefix(path, "label:"); ok {
		return []string{"metadata", "labels", key}
	}
	if key, ok := strings.CutPrefix(path, "annotation:"); ok {
		return []string{"metadata", "annotations", key}
	}
	var members []string
	for m := range strings.SplitSeq(path, ".") {
		name, isArray := strings.CutSuffix(m, "[]")
		members = append(members, name)
		if isArray {
			members = append(members, "[]")
		}
	}
	return members
}

var (
	errEmptyMember = errors.New("empty member")
	errObjectArray = errors.New("the same member as object and as array")
	errManyMembers = errors.New("more than 64 members of one object")
)

// add makes room for a path and returns its slot; equal paths share one.
func (p *plan) add(members []string) (int, error) {
	n, array := p.root, -1
	for _, m := range members {
		switch {
		case m == "":
			return 0, errEmptyMember
		case m == "[]":
			if len(n.kids) > 0 {
				return 0, errObjectArray
			}
			if n.each == nil {
				n.each, n.array = newNode(), p.arrays
				p.arrays++
			}
			n, array = n.each, n.array
		default:
			if n.each != nil {
				return 0, errObjectArray
			}
			kid, err := n.kid(m)
			if err != nil {
				return 0, err
			}
			n = kid
		}
	}
	if n.slot < 0 {
		n.slot = len(p.slots)
		p.slots = append(p.slots, slot{strings.ReplaceAll(strings.Join(members, "."), ".[]", "[]"), array})
	}
	return n.slot, nil
}

// kid finds or makes the node of a member. A scan tells repeated members by one
// bit each, which bounds their number.
func (n *node) kid(name string) (*node, error) {
	for i, have := range n.names {
		if have == name {
			return n.kids[i], nil
		}
	}
	if len(n.names) == 64 {
		return nil, errManyMembers
	}
	kid := newNode()
	n.names, n.kids = append(n.names, name), append(n.kids, kid)
	return kid, nil
}
