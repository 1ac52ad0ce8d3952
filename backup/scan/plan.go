package scan

import (
	"errors"
	"strings"
)

// Plan is the trie of the members that are wanted of documents of one kind. A scan follows
// it and skips all that is not in it.
type Plan struct {
	root   *node
	slots  []slot
	arrays int // number of arrays in the trie
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

// NewPlan returns a plan that wants nothing yet.
func NewPlan() *Plan { return &Plan{root: newNode()} }

func newNode() *node { return &node{slot: -1} }

// Len returns the number of slots.
func (p *Plan) Len() int { return len(p.slots) }

var (
	errEmptyMember = errors.New("empty member")
	errObjectArray = errors.New("the same member as object and as array")
	errManyMembers = errors.New("more than 64 members of one object")
)

// Add makes room for a path, which is its members, each array followed by "[]", and returns
// its slot; equal paths share one. It fails where a member is empty, is an array in one path
// and an object in another, or is one of more than 64 of its object.
func (p *Plan) Add(members ...string) (int, error) {
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
