package infra

import (
	"bufio"
	"bytes"
	"cmp"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

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
	switch start, err := in.Peek(2); {
	case len(start) == 0 && err == io.EOF:
		return Inventory{}, notInventory("the file is empty")
	case string(start) == "\x1f\x8b":
		return Inventory{}, notInventory("it is compressed, as a backup is")
	}
	var doc struct {
		Inventory
		Schema jsontext.Value `json:"schemaVersion"`
		Tool   jsontext.Value `json:"tool"`
	}
	var unread *fs.PathError
	err := json.UnmarshalRead(in, &doc, json.WithUnmarshalers(unmarshalers()))
	switch isOurs := doc.Schema != nil && bytes.Contains(doc.Tool, []byte(`"drift-detector"`)); {
	case doc.Version != "" && doc.Version != InventoryVersion:
		return Inventory{}, fmt.Errorf("the inventory has version %q, this drift-detector reads version %q", doc.Version, InventoryVersion)
	case errors.As(err, &unread):
		return Inventory{}, unread
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Inventory{}, errors.New("the inventory is cut off")
	case doc.Version == "" && isOurs:
		return Inventory{}, notInventory("it is a report that drift-detector wrote")
	case err != nil:
		return Inventory{}, notInventory(misfit(err))
	case doc.Version == "":
		return Inventory{}, notInventory(`field "inventoryVersion" is missing`)
	}
	return doc.Inventory, nil
}

func notInventory(why string) error {
	return fmt.Errorf("this is not an inventory: %s; give what 'drift-detector inventory' writes", why)
}

// misfit says in words of JSON why a document is none that is read here.
func misfit(err error) string {
	var wrong *json.SemanticError
	var broken *jsontext.SyntacticError
	switch {
	case errors.As(err, &wrong) && wrong.Err != nil:
		return fmt.Sprintf("%q: %v", wrong.JSONPointer, wrong.Err)
	case errors.As(err, &wrong):
		what := "it"
		if wrong.JSONPointer != "" {
			what = strconv.Quote(string(wrong.JSONPointer))
		}
		return fmt.Sprintf("%s is a JSON %s, not %s", what, kindWords.Replace(wrong.JSONKind.String()), kindOf(wrong.GoType))
	case errors.As(err, &broken):
		return fmt.Sprintf("byte %d is not JSON: %v", broken.ByteOffset+1, broken.Err)
	}
	return err.Error()
}

// kindOf names the kind of JSON that a value of a type is read from.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array"
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	}
	return "a number"
}

var kindWords = strings.NewReplacer("[", "array", "{", "object", "true", "boolean", "false", "boolean")

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`

	named   map[string]*Listing // by their IDs, see Named
	lookups Lookups             // see Lookup
}
