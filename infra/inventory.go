package infra

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// WriteInventory saves what was listed, all of it, as JSON. It holds no secret.
func WriteInventory(w io.Writer, inv Inventory) error {
	inv.Listings = slices.Clone(inv.Listings)
	for i := range inv.Listings {
		l := &inv.Listings[i]
		l.Instances = slices.AppendSeq(slices.Clip(l.Instances), l.Unrelated.All())
	}
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(inv); err != nil {
		return err
	}
	return buf.Flush()
}

// ReadInventory reads what WriteInventory saved. It fails on anything else, on
// another version, and on a file that was cut off.
func ReadInventory(r io.Reader) (Inventory, error) {
	in := bufio.NewReader(r)
	// What editors of Windows put before a text in UTF-8.
	if start, _ := in.Peek(3); string(start) == "\xef\xbb\xbf" {
		_, _ = in.Discard(len(start))
	}
	dec := json.NewDecoder(in)
	var inv Inventory
	if err := inv.decode(dec); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return Inventory{}, errors.New("the inventory is cut off")
		}
		return Inventory{}, fmt.Errorf("this is not an inventory: %w", err)
	}
	if inv.Version == "" {
		return Inventory{}, errors.New(`this is not an inventory: field "inventoryVersion" is missing`)
	}
	if inv.Version != InventoryVersion {
		return Inventory{}, fmt.Errorf("the inventory has version %q, this drift-detector reads version %q", inv.Version, InventoryVersion)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Inventory{}, errors.New("something follows the inventory in the file")
	}
	return inv, nil
}

// decode reads one instance at a time, so that no more than the longest value is held as
// text.
func (inv *Inventory) decode(dec *json.Decoder) error {
	return object(dec, inv, map[string]func() error{
		"listings": func() error {
			return array(dec, func() error {
				var l Listing
				err := object(dec, &l, map[string]func() error{
					"instances": func() error { return list(dec, &l.Instances) },
					"nodes":     func() error { return list(dec, &l.Nodes) },
				})
				inv.Listings = append(inv.Listings, l)
				return err
			})
		},
	})
}

// object reads a JSON object into the struct that it is, except for large members, which
// functions read.
func object(dec *json.Decoder, into any, large map[string]func() error) error {
	rest := map[string]json.RawMessage{}
	if err := delimiter(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := name.(string) // in an object every other token is one
		if read := large[key]; read != nil {
			err = read()
		} else {
			var value json.RawMessage
			err = dec.Decode(&value)
			rest[key] = value
		}
		if err != nil {
			return err
		}
	}
	if err := delimiter(dec, '}'); err != nil {
		return err
	}
	small, err := json.Marshal(rest)
	if err != nil {
		return err
	}
	return json.Unmarshal(small, into)
}

// list reads an array element by element.
func list[T any](dec *json.Decoder, into *[]T) error {
	return array(dec, func() error {
		var one T
		err := dec.Decode(&one)
		*into = append(*into, one)
		return err
	})
}

// array reads an array, or null for an empty one.
func array(dec *json.Decoder, element func() error) error {
	switch t, err := dec.Token(); {
	case err != nil || t == nil:
		return err
	case t != json.Delim('['):
		return fmt.Errorf("at byte %d there is no list", dec.InputOffset())
	}
	for dec.More() {
		if err := element(); err != nil {
			return err
		}
	}
	return delimiter(dec, ']')
}

func delimiter(dec *json.Decoder, want json.Delim) error {
	if t, err := dec.Token(); err != nil || t == want {
		return err
	}
	return fmt.Errorf("at byte %d there is no %v", dec.InputOffset(), want)
}

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`
}
