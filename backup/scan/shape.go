package scan

import (
	"cmp"
	"encoding/binary"
	"math/bits"

	"drift-detector/internal/sorting"
)

// shape is a document that was scanned by one plan. Objects of a kind are alike: what has
// the same shape has the same members in the same order, and differs in the content of
// strings and in numbers only. So the same values are found in it, and comparing with the
// shape finds them in less time than reading.
type shape struct {
	text []byte
	// after says for each byte of the text that is content of a string, or ends one, and for
	// the first of a number, where the text goes on behind. It is 0 for all other bytes,
	// inside of an escape, and in the names of members, which have to be the same.
	after  []uint16
	found  [][]Value // by slot, what it holds or the document that was compared with it last
	bounds []bound   // where those begin and end in the text, in order
	elems  []int     // as in the capture
}

// bound is where a value of a shape begins or ends in its text.
type bound struct {
	at    int
	value *Value
	form  Form // in the text
	end   bool
}

// Bounds on what is kept: shapes of a plan, bytes of a text, and of all texts.
const (
	maxShapes    = 8
	maxShape     = 32 << 10
	maxAllShapes = 2 << 20
)

// shapes are those of the documents that one plan met last.
type shapes struct {
	known        []*shape
	hits, misses int
}

// differ reports whether documents seldom have a shape that was met before, so that
// comparing costs more than it saves.
func (s *shapes) differ() bool { return s.misses > 256 && s.misses > s.hits }

// recall fills the capture with what is in the data, if that has the shape of a document
// that was scanned.
func (s *Scanner) recall(c *Capture, data []byte) bool {
	known := c.shapes.known
	for k, h := range known {
		if !s.compare(h, data) {
			continue
		}
		known[0], known[k] = h, known[0] // the next is most likely like this one
		c.found = h.found
		copy(c.elems, h.elems)
		c.shapes.hits++
		return true
	}
	return false
}

// compare reports whether data has a shape, and fills in what is found in it.
func (s *Scanner) compare(h *shape, data []byte) bool {
	s.data = data
	text, bounds := h.text, h.bounds
	at, i := 0, 0
	for {
		n := alike(text[at:], data[i:])
		at, i = at+n, i+n
		// The end of a string that is cut off here comes with its rest.
		for len(bounds) > 0 && (bounds[0].at < at || bounds[0].at == at && !bounds[0].end) {
			b := &bounds[0]
			if rest := data[b.at+i-at:]; b.end {
				b.value.Raw = b.value.Raw[:len(b.value.Raw)-len(rest)]
			} else {
				b.value.Raw, b.value.Form = rest, b.form
			}
			bounds = bounds[1:]
		}
		if at == len(text) || i == len(data) {
			return at == len(text) && i == len(data)
		}
		next, err := int(h.after[at]), error(nil)
		switch {
		case next == 0:
			return false
		case text[next-1] == '"':
			var plain bool
			if i, plain, err = s.text(i); !plain && len(bounds) > 0 && bounds[0].at == next-1 {
				bounds[0].value.Form = Escaped
			}
		default:
			i, err = s.number(i)
		}
		if at = next; err != nil {
			return false
		}
	}
}

// alike returns how many bytes two texts begin with alike.
func alike(a, b []byte) (n int) {
	for len(a)-n >= 32 && len(b)-n >= 32 {
		x, y := a[n:n+32], b[n:n+32]
		if binary.LittleEndian.Uint64(x) != binary.LittleEndian.Uint64(y) ||
			binary.LittleEndian.Uint64(x[8:]) != binary.LittleEndian.Uint64(y[8:]) ||
			binary.LittleEndian.Uint64(x[16:]) != binary.LittleEndian.Uint64(y[16:]) ||
			binary.LittleEndian.Uint64(x[24:]) != binary.LittleEndian.Uint64(y[24:]) {
			break
		}
		n += 32
	}
	for len(a)-n >= 8 && len(b)-n >= 8 {
		if differ := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); differ != 0 {
			return n + bits.TrailingZeros64(differ)>>3
		}
		n += 8
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// learn keeps the shape of the document that was scanned last, for recall. Where there is
// no more room, it takes that of a shape that nothing had lately.
func (s *Scanner) learn(c *Capture) {
	own := &c.shapes
	own.misses++
	if len(s.data) > maxShape {
		return
	}
	var h *shape
	if len(own.known) < maxShapes && s.learnt+len(s.data) <= maxAllShapes {
		h = new(shape)
		own.known = append(own.known, h)
	} else if len(own.known) > 0 {
		h = own.known[len(own.known)-1]
	} else {
		return
	}
	copy(own.known[1:], own.known)
	own.known[0] = h
	s.learnt += len(s.data) - len(h.text)
	h.text, h.elems = append(h.text[:0], s.data...), append(h.elems[:0], c.elems...)
	if h.found == nil {
		h.found = make([][]Value, len(c.found))
	}
	h.bounds = h.bounds[:0]
	for slot, values := range c.found {
		h.found[slot] = append(h.found[slot][:0], values...)
		for i := range h.found[slot] {
			if v := &h.found[slot][i]; v.Form != True && v.Form != False {
				start := cap(s.data) - cap(v.Raw)
				h.bounds = append(h.bounds, bound{start, v, v.Form, false}, bound{start + len(v.Raw), v, v.Form, true})
			}
		}
	}
	sorting.StableBy(h.bounds, func(a, b bound) int { return cmp.Compare(a.at, b.at) })
	s.learnText(h)
}

// learnText fills after. The name of a member may differ behind a quote in it, as names of
// elements do that Kubernetes notes with the managers of fields: it is none that is wanted.
func (s *Scanner) learnText(h *shape) {
	h.after = append(h.after[:0], make([]uint16, len(h.text))...)
	for i := 0; i < len(h.text); i++ {
		switch c := h.text[i]; {
		case c == '"':
			end, _, _ := s.text(i + 1) // it is JSON
			differs := s.byte(s.space(end)) != ':'
			for i++; i < end; i++ {
				if differs {
					h.after[i] = uint16(end)
				}
				if h.text[i] == '\\' {
					differs = differs || h.text[i+1] == '"'
					next, _ := s.escape(i)
					i = next - 1
				}
			}
			i--
		case c == '-' || '0' <= c && c <= '9':
			end, _ := s.number(i)
			h.after[i] = uint16(end)
			i = end - 1
		}
	}
}
