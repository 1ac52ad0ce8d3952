package infra

import (
	"bytes"
	"fmt"
)

// xmlScan follows a document of XML byte by byte, no further than is needed to tell
// elements from what looks like them (encoding/xml, Go 1.26: Decoder.rawToken). In strict
// mode, in which all read here, quotes are in a tag only around the values of attributes,
// which hold no '<', and a slash in a tag is right before its end.
type xmlScan struct {
	counter
	state      xmlState
	quote      byte
	end        string // of what is passed over
	seen       []byte // of the bytes that may be it, or of what a '!' begins
	brackets   int    // open in a directive
	attributes int
	slash      bool // the last byte of a tag was one
}

type xmlState byte

const (
	xmlText      xmlState = iota
	xmlLess               // after '<'
	xmlStart              // in a start tag
	xmlValue              // in the value of an attribute
	xmlEnd                // in an end tag
	xmlBang               // after "<!"
	xmlPassed             // in a comment, a section of text or an instruction, until end
	xmlDirective          // in <!DOCTYPE …> or the like
	xmlQuoted             // in a quoted text of it
	xmlInner              // in a comment of it
)

func (x *xmlScan) scan(p []byte) error {
	for len(p) > 0 {
		n := 1
		switch x.state {
		case xmlText:
			if n = bytes.IndexByte(p, '<') + 1; n == 0 {
				n = len(p)
			} else {
				x.state = xmlLess
			}
		case xmlValue, xmlQuoted:
			n = x.value(p)
		default:
			if err := x.step(p[0]); err != nil {
				return err
			}
		}
		if err := x.passed(n); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// value passes over a text in quotes, and returns how many bytes.
func (x *xmlScan) value(p []byte) int {
	n := bytes.IndexByte(p, x.quote) + 1
	if n == 0 {
		return len(p)
	}
	if x.state == xmlValue {
		x.state = xmlStart
	} else {
		x.state = xmlDirective
	}
	return n
}

func (x *xmlScan) step(c byte) error {
	switch x.state {
	case xmlLess:
		return x.begin(c)
	case xmlStart:
		return x.start(c)
	case xmlEnd:
		if c == '>' {
			x.close()
			x.state = xmlText
		}
	case xmlBang:
		x.bang(c)
	case xmlPassed, xmlInner:
		x.pass(c)
	case xmlDirective:
		x.directive(c)
	}
	return nil
}

// begin decides what a '<' begins.
func (x *xmlScan) begin(c byte) error {
	switch c {
	case '/':
		x.state = xmlEnd
	case '?':
		x.passUntil("?>", xmlPassed)
	case '!':
		x.state, x.seen = xmlBang, x.seen[:0]
	default:
		x.state, x.attributes, x.slash = xmlStart, 0, false
		return x.item()
	}
	return nil
}

func (x *xmlScan) start(c byte) error {
	slash := x.slash
	x.slash = c == '/'
	switch c {
	case '"', '\'':
		x.state, x.quote = xmlValue, c
		if x.attributes++; x.attributes > MaxAttributes {
			return &BoundError{fmt.Sprintf("has an element of more than %d attributes", MaxAttributes)}
		}
	case '>':
		x.state = xmlText
		if slash {
			return nil
		}
		return x.open()
	}
	return nil
}

// bang decides what "<!" begins.
func (x *xmlScan) bang(c byte) {
	x.seen = append(x.seen, c)
	switch {
	case string(x.seen) == "--":
		x.passUntil("-->", xmlPassed)
	case string(x.seen) == "[CDATA[":
		x.passUntil("]]>", xmlPassed)
	case x.seen[0] != '-' && x.seen[0] != '[':
		x.state, x.brackets, x.seen = xmlDirective, 0, x.seen[:0] // whatever this byte is
	}
	// What begins like a comment or a section and is none, no decoder reads on after.
	if len(x.seen) > len("[CDATA[") {
		x.seen = x.seen[:len("[CDATA[")]
	}
}

func (x *xmlScan) passUntil(end string, state xmlState) {
	x.state, x.end, x.seen = state, end, x.seen[:0]
}

// pass passes over what ends with a text, whose bytes but the last are alike.
func (x *xmlScan) pass(c byte) {
	last := len(x.end) - 1
	switch {
	case c == x.end[last] && len(x.seen) == last:
		if x.state == xmlInner {
			x.state = xmlDirective
		} else {
			x.state = xmlText
		}
		x.seen = x.seen[:0]
	case c != x.end[0]:
		x.seen = x.seen[:0]
	case len(x.seen) < last:
		x.seen = append(x.seen, c)
	}
}

// directive passes over a directive, which may hold others, quotes and comments.
func (x *xmlScan) directive(c byte) {
	if c == "<!--"[len(x.seen)] {
		if x.seen = append(x.seen, c); len(x.seen) == 1 {
			x.brackets++
		} else if string(x.seen) == "<!--" {
			x.brackets--
			x.passUntil("-->", xmlInner)
		}
		return
	}
	x.seen = x.seen[:0]
	switch c {
	case '<':
		x.brackets++
		x.seen = append(x.seen, c)
	case '"', '\'':
		x.state, x.quote = xmlQuoted, c
	case '>':
		if x.brackets--; x.brackets < 0 {
			x.state = xmlText
		}
	}
}
