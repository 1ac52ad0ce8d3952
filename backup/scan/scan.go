package scan

import (
	"errors"
	"fmt"
)

// Bounds on one document: how deep JSON may nest, and how long an array may be
// of whose elements something is wanted. The longest of those are the members of
// machine pools, of which clouds allow some thousands.
const (
	maxDepth = 100
	maxElems = 10_000
)

// Form is the JSON type of a value that was captured.
type Form uint8

const (
	String  Form = iota // plain ASCII without escapes
	Escaped             // a string with escapes or other characters
	Number
	True
	False
	Object
	Array
)

// Value is one captured value. Raw is in the body that was scanned: the
// content of a string between its quotes, the text of a number, of an object or
// of an array.
type Value struct {
	Raw  []byte
	Elem int // index of the element of the innermost array on the path
	Form Form
}

// IsString reports whether the value is a string, with or without escapes.
func (v Value) IsString() bool { return v.Form == String || v.Form == Escaped }

// Capture is what a scan found, by slot of the plan. It is used again for the
// next object.
type Capture struct {
	plan   *Plan
	found  [][]Value // by the last scan: in room, or in a shape
	room   [][]Value
	elems  []int // elements seen, by array of the plan
	shapes shapes
}

// Found is what a scan met on one path.
type Found struct {
	Values []Value
	Elems  int // elements of the innermost array on the path
}

// Capture returns what scans by the plan fill, which from now on is complete. room has
// at least [Plan.Len] slots. Captures may share it, where what one scan found is read
// before the next.
func (p *Plan) Capture(room [][]Value) *Capture {
	room = room[:len(p.slots)]
	return &Capture{plan: p, found: room, room: room, elems: make([]int, p.arrays)}
}

// Path returns the path of a slot, as messages name it.
func (c *Capture) Path(slot int) string { return c.plan.slots[slot].path }

// At returns what a slot of the plan holds, and whether it holds any value.
func (c *Capture) At(slot int) (Found, bool) {
	f := Found{Values: c.found[slot]}
	if a := c.plan.slots[slot].array; a >= 0 {
		f.Elems = c.elems[a]
	}
	return f, len(f.Values) > 0
}

// syntaxError says where a body stops being JSON, and nothing of its content.
type syntaxError int

func (e syntaxError) Error() string { return fmt.Sprintf("invalid JSON at byte %d", int(e)) }

var (
	errDepth     = fmt.Errorf("JSON nests deeper than %d", maxDepth)
	errElems     = fmt.Errorf("an array has more than %d elements", maxElems)
	errDuplicate = errors.New("a member occurs twice in one object")
)

// typeError says that a member on a wanted path is no object or no array.
type typeError string

func (e typeError) Error() string { return "a member is not an " + string(e) }

// Scanner reads one JSON document in one pass. It checks all of the document's
// syntax, but builds nothing: values on the paths of a plan are noted in the
// capture, all else is passed over.
type Scanner struct {
	data    []byte
	capture *Capture
	scratch []byte
	depth   int
	repeats [512]repeat // see skipMember

	learnt int // bytes of all shapes
}

// Scan fills the capture from one document, which must be an object. It fails where the
// document is not JSON as RFC 8259 has it, breaks a bound of this package, has a wanted
// member twice in one object, or has another type than the plan wants on the way to one.
// What was found lies in data.
func (s *Scanner) Scan(c *Capture, data []byte) error {
	if c.shapes.differ() {
		return s.read(c, data)
	}
	if s.recall(c, data) {
		return nil
	}
	err := s.read(c, data)
	if err == nil {
		s.learn(c)
	}
	return err
}

// read fills the capture from a document of a new shape.
func (s *Scanner) read(c *Capture, data []byte) error {
	s.data, s.capture, s.depth = data, c, 0
	c.found = c.room
	for i := range c.found {
		c.found[i] = c.found[i][:0]
	}
	clear(c.elems)
	i := s.space(0)
	if s.byte(i) != '{' {
		if _, err := s.skip(i); err != nil {
			return err
		}
		return typeError("object")
	}
	i, err := s.members(i, c.plan.root, 0)
	if err != nil {
		return err
	}
	if i = s.space(i); i != len(data) {
		return syntaxError(i)
	}
	return nil
}

// byte returns the byte at i, or zero behind the end, which fits nothing in JSON.
func (s *Scanner) byte(i int) byte {
	if i < len(s.data) {
		return s.data[i]
	}
	return 0
}

func (s *Scanner) space(i int) int {
	for i < len(s.data) {
		switch s.data[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

// wanted reads a value that the plan has a node for. elem is the element of the
// innermost array around it.
func (s *Scanner) wanted(i int, n *node, elem int) (int, error) {
	var err error
	start, v := i, Value{Elem: elem}
	switch c := s.byte(i); {
	case c == '{':
		v.Form = Object
		if n.each != nil {
			return i, typeError("array")
		}
		if i, err = s.members(i, n, elem); err == nil {
			v.Raw = s.data[start:i]
		}
	case c == '[':
		v.Form = Array
		if len(n.kids) > 0 {
			return i, typeError("object")
		}
		if i, err = s.array(i, n); err == nil {
			v.Raw = s.data[start:i]
		}
	case c == '"':
		var plain bool
		i, plain, err = s.text(i + 1)
		v.Form = Escaped
		if plain {
			v.Form = String
		}
		if err == nil {
			v.Raw = s.data[start+1 : i-1]
		}
	case c == 'n':
		return s.literal(i, "null") // absent
	case c == 't':
		v.Form = True
		i, err = s.literal(i, "true")
	case c == 'f':
		v.Form = False
		i, err = s.literal(i, "false")
	default:
		v.Form = Number
		if i, err = s.number(i); err == nil {
			v.Raw = s.data[start:i]
		}
	}
	if err != nil {
		return i, err
	}
	if v.Form != Object && len(n.kids) > 0 {
		return i, typeError("object")
	}
	if v.Form != Array && n.each != nil {
		return i, typeError("array")
	}
	if n.slot >= 0 {
		s.capture.found[n.slot] = append(s.capture.found[n.slot], v)
	}
	return i, nil
}

// members reads the members of an object, at its opening brace. elem is the
// element of the innermost array around it.
func (s *Scanner) members(i int, n *node, elem int) (int, error) {
	if len(n.kids) == 0 {
		return s.skip(i)
	}
	if s.depth++; s.depth > maxDepth {
		return i, errDepth
	}
	if i = s.space(i + 1); s.byte(i) == '}' {
		s.depth--
		return i + 1, nil
	}
	var seen uint64
	for {
		if s.byte(i) != '"' {
			return i, syntaxError(i)
		}
		start := i + 1
		end, plain, err := s.text(start)
		if err != nil {
			return end, err
		}
		kid := s.match(n, s.data[start:end-1], plain)
		if i = s.space(end); s.byte(i) != ':' {
			return i, syntaxError(i)
		}
		i = s.space(i + 1)
		if kid < 0 {
			i, err = s.skip(i)
		} else if seen&(1<<kid) != 0 {
			return i, errDuplicate
		} else {
			seen |= 1 << kid
			i, err = s.wanted(i, n.kids[kid], elem)
		}
		if err != nil {
			return i, err
		}
		i = s.space(i)
		switch s.byte(i) {
		case ',':
			i = s.space(i + 1)
		case '}':
			s.depth--
			return i + 1, nil
		default:
			return i, syntaxError(i)
		}
	}
}

// match finds the member among the node's, or -1.
func (s *Scanner) match(n *node, name []byte, plain bool) int {
	if !plain {
		s.scratch = Unquote(s.scratch[:0], name)
		name = s.scratch
	}
	for k, want := range n.names {
		if string(name) == want {
			return k
		}
	}
	return -1
}

// array reads an array whose elements the plan may want, at its bracket.
func (s *Scanner) array(i int, n *node) (int, error) {
	if n.each == nil {
		return s.skip(i)
	}
	if s.depth++; s.depth > maxDepth {
		return i, errDepth
	}
	if i = s.space(i + 1); s.byte(i) == ']' {
		s.depth--
		return i + 1, nil
	}
	for {
		elem := s.capture.elems[n.array]
		if elem == maxElems {
			return i, errElems
		}
		s.capture.elems[n.array]++
		var err error
		if i, err = s.wanted(i, n.each, elem); err != nil {
			return i, err
		}
		i = s.space(i)
		switch s.byte(i) {
		case ',':
			i = s.space(i + 1)
		case ']':
			s.depth--
			return i + 1, nil
		default:
			return i, syntaxError(i)
		}
	}
}
