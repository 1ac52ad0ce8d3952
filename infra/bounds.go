package infra

import (
	"encoding/json"
	"fmt"
	"io"
)

// Bounds are what an answer may hold. Its bytes say little of the memory that a decoder
// takes for it: seven of them are an element, of which a decoder makes a struct of a
// kilobyte, or one more level on its stack.
type Bounds struct {
	// Items is how many elements of XML there may be, or how many names and values of JSON.
	Items int
	// Upper are lower bounds on those in the first levels, where the things are that a list
	// is of. The root is the first level.
	Upper []Level
	// Part bounds each of those things: what is below so many levels, until it ends.
	Part Part
}

// Level is how many items may be in the first so many levels of an answer.
type Level struct{ Levels, Items int }

// Part is how many items and bytes each part of an answer may have that is below so many
// levels; 0 is as many as the answer.
type Part struct {
	Levels, Items int
	Bytes         int
}

// Bounds of all answers, whatever is asked.
const (
	MaxDepth      = 100
	MaxAttributes = 1000    // of one element
	MaxText       = 4 << 20 // bytes of a text, without an element between
)

// BoundError says which of its bounds an answer has broken. It does not pass: the same
// question has the same answer.
type BoundError struct{ what string }

func (e *BoundError) Error() string { return "the answer " + e.what }

func tooLong(limit int64) error {
	return &BoundError{fmt.Sprintf("is longer than %d MiB", limit>>20)}
}

// XML returns a body that refuses to read on where a document of XML breaks the bounds,
// before a decoder has seen it. What is no XML is for the decoder to say: the two agree on
// each document, as far as a decoder reads it.
func (b Bounds) XML(body io.ReadCloser) io.ReadCloser {
	return &guarded{ReadCloser: body, look: &xmlScan{counter: counter{bounds: b}}}
}

// JSON returns the same for a document of JSON.
func (b Bounds) JSON(body io.ReadCloser) io.ReadCloser {
	return &guarded{ReadCloser: body, look: &jsonScan{counter: counter{bounds: b}}}
}

// guarded is a body that is looked at before it is read.
type guarded struct {
	io.ReadCloser
	look interface{ scan([]byte) error }
	err  error
}

func (g *guarded) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.ReadCloser.Read(p)
	if g.err = g.look.scan(p[:n]); g.err != nil {
		return 0, g.err
	}
	return n, err
}

// SkipJSON passes over the next value, of which nothing is kept.
func SkipJSON(dec *json.Decoder) error {
	for depth := 0; ; {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// counter counts what was begun in a document.
type counter struct {
	bounds      Bounds
	depth       int // of what is open
	items, text int // text: bytes since the last item
	upper       [2]int
	part        Part // what the part that is open has
}

// item counts one in what is open.
func (c *counter) item() error {
	c.items++
	c.text = 0
	if c.items > c.bounds.Items {
		return &BoundError{fmt.Sprintf("has more than %d elements or values", c.bounds.Items)}
	}
	for i, u := range c.bounds.Upper {
		if c.depth >= u.Levels {
			continue
		}
		if c.upper[i]++; c.upper[i] > u.Items {
			return &BoundError{fmt.Sprintf("has more than %d elements or values in its first %d levels", u.Items, u.Levels)}
		}
	}
	p := c.bounds.Part
	if c.depth < p.Levels {
		c.part = Part{}
	}
	if c.part.Items++; p.Items > 0 && c.part.Items > p.Items {
		return &BoundError{fmt.Sprintf("has more than %d elements or values in one part", p.Items)}
	}
	return nil
}

// open goes into the item that was counted last.
func (c *counter) open() error {
	if c.depth++; c.depth > MaxDepth {
		return &BoundError{fmt.Sprintf("is nested in more than %d levels", MaxDepth)}
	}
	return nil
}

func (c *counter) close() {
	c.text = 0
	c.depth = max(c.depth-1, 0)
}

func (c *counter) passed(n int) error {
	if c.text += n; c.text > MaxText {
		return &BoundError{fmt.Sprintf("has a text of more than %d MiB", MaxText>>20)}
	}
	p := c.bounds.Part
	if c.depth < p.Levels {
		c.part = Part{}
	}
	if c.part.Bytes += n; p.Bytes > 0 && c.part.Bytes > p.Bytes {
		return &BoundError{fmt.Sprintf("has a part of more than %d MiB", p.Bytes>>20)}
	}
	return nil
}
