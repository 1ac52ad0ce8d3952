package infra

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/flate"
)

// Unrelated are instances that have no key of the backup. An account may hold any
// number of them: they are kept packed, in about 100 bytes each, so that the memory
// of a run is a matter of the backup. The zero value is empty and ready to use.
type Unrelated struct {
	packed []block
	open   []Instance // of the last block, not packed yet
}

// block is some instances as JSON, deflated. It is never changed, so
// that copies of an Unrelated may share it.
type block struct {
	data []byte
	n    int
}

// blockLen is how many instances are packed, and unpacked, at a time.
const blockLen = 256

// Add adds one.
func (s *Unrelated) Add(i Instance) {
	s.open = append(s.open, i)
	if len(s.open) == blockLen {
		s.packed = append(s.packed, pack(s.open))
		clear(s.open)
		s.open = s.open[:0]
	}
}

// Len returns how many there are.
func (s *Unrelated) Len() int {
	n := len(s.open)
	for i := range s.packed {
		n += s.packed[i].n
	}
	return n
}

// All unpacks them, one block at a time. What it yields is the caller's to keep.
func (s *Unrelated) All() iter.Seq[Instance] {
	return func(yield func(Instance) bool) {
		for _, b := range s.packed {
			for _, i := range b.unpack() {
				if !yield(i) {
					return
				}
			}
		}
		for _, i := range s.open {
			if !yield(i) {
				return
			}
		}
	}
}

// Take removes those that the test accepts, and returns them.
func (s *Unrelated) Take(test func(*Instance) bool) []Instance {
	var taken []Instance
	split := func(all []Instance) []Instance {
		return slices.DeleteFunc(all, func(i Instance) bool {
			take := test(&i)
			if take {
				taken = append(taken, i)
			}
			return take
		})
	}
	packed := make([]block, 0, len(s.packed))
	for _, b := range s.packed {
		switch left := split(b.unpack()); {
		case len(left) == b.n:
			packed = append(packed, b)
		case len(left) > 0:
			packed = append(packed, pack(left))
		}
	}
	open := split(slices.Clone(s.open))
	if len(taken) > 0 {
		s.packed, s.open = packed, open
	}
	return taken
}

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// asTheyAre keeps a nil slice nil. Text is UTF-8: what decodes XML refuses other bytes, and
// what decodes JSON replaces them, as this would.
var asTheyAre = json.JoinOptions(json.FormatNilSliceAsNull(true), jsontext.AllowInvalidUTF8(true))

func pack(all []Instance) block {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	if err := errors.Join(json.MarshalWrite(w, all, asTheyAre), w.Close()); err != nil {
		panic(fmt.Sprintf("infra: packing plain values into memory: %v", err))
	}
	return block{bytes.Clone(out.Bytes()), len(all)}
}

func (b block) unpack() []Instance {
	var out []Instance
	if err := json.UnmarshalRead(flate.NewReader(bytes.NewReader(b.data)), &out, asTheyAre); err != nil {
		panic(fmt.Sprintf("infra: unpacking what this process packed: %v", err))
	}
	return out
}
