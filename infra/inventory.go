package infra

import (
	"bufio"
	"bytes"
	"cmp"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteInventory saves what was listed, all of it, as JSON, in which no string holds a
// newline. It holds no secret, and is written as a stream: what is packed is unpacked in
// parts.
func WriteInventory(w io.Writer, inv Inventory) error {
	out := saving{enc: jsontext.NewEncoder(w, jsontext.WithIndent(" "))}
	out.token(jsontext.BeginObject)
	out.token(jsontext.String("inventoryVersion"))
	out.token(jsontext.String(inv.Version))
	out.token(jsontext.String("listings"))
	out.token(jsontext.BeginArray)
	for i := range inv.Listings {
		out.listing(&inv.Listings[i])
	}
	out.token(jsontext.EndArray)
	out.token(jsontext.EndObject)
	return out.err
}

// saving writes an inventory until the first error.
type saving struct {
	enc *jsontext.Encoder
	err error
}

func (s *saving) token(t jsontext.Token) {
	if s.err == nil {
		s.err = s.enc.WriteToken(t)
	}
}

// listing writes the lists that may be long last, and one by one.
func (s *saving) listing(l *Listing) {
	short := *l
	short.Instances, short.Nodes = nil, nil
	text, err := jsonv1.Marshal(short)
	s.err = cmp.Or(s.err, err)
	s.token(jsontext.BeginObject)
	members := jsontext.NewDecoder(bytes.NewReader(text))
	_, _ = members.ReadToken() // its brace
	for s.err == nil && members.PeekKind() != '}' {
		part, err := members.ReadValue() // a name or a value
		s.err = cmp.Or(err, s.enc.WriteValue(part))
	}
	if l.Count() > 0 {
		each(s, "instances", slices.Values(l.Instances), l.Unrelated.All())
	}
	if len(l.Nodes) > 0 {
		each(s, "nodes", slices.Values(l.Nodes))
	}
	s.token(jsontext.EndObject)
}

func each[T any](s *saving, name string, lists ...iter.Seq[T]) {
	s.token(jsontext.String(name))
	s.token(jsontext.BeginArray)
	for _, list := range lists {
		for one := range list {
			text, err := jsonv1.Marshal(one)
			if s.err = cmp.Or(s.err, err); s.err != nil {
				return
			}
			s.err = s.enc.WriteValue(text)
		}
	}
	s.token(jsontext.EndArray)
}

// ReadInventory reads what WriteInventory saved, as a stream. It fails on anything else, on
// another version, and on a file that was cut off.
func ReadInventory(r io.Reader) (Inventory, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	// What editors of Windows put before a text in UTF-8.
	if start, _ := in.Peek(3); string(start) == "\xef\xbb\xbf" {
		_, _ = in.Discard(len(start))
	}
	var inv Inventory
	switch err := json.UnmarshalRead(in, &inv, json.WithUnmarshalers(unmarshalers())); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Inventory{}, errors.New("the inventory is cut off")
	case err != nil:
		return Inventory{}, fmt.Errorf("this is not an inventory: %w; give what drift-detector inventory writes", err)
	case inv.Version == "":
		return Inventory{}, errors.New(`this is not an inventory: field "inventoryVersion" is missing; give what drift-detector inventory writes`)
	case inv.Version != InventoryVersion:
		return Inventory{}, fmt.Errorf("the inventory has version %q, this drift-detector reads version %q", inv.Version, InventoryVersion)
	}
	return inv, nil
}

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`
}
