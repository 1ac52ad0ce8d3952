package infra

import (
	"bufio"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteInventory saves what was listed, all of it, as JSON. It holds no secret.
func WriteInventory(w io.Writer, inv Inventory) error {
	inv.Listings = slices.Clone(inv.Listings)
	for i := range inv.Listings {
		l := &inv.Listings[i]
		l.Instances = slices.AppendSeq(slices.Clip(l.Instances), l.Unrelated.All())
	}
	buf := bufio.NewWriter(w)
	enc := jsonv1.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(inv); err != nil {
		return err
	}
	return buf.Flush()
}

// ReadInventory reads what WriteInventory saved, as a stream. It fails on anything else, on
// another version, and on a file that was cut off.
func ReadInventory(r io.Reader) (Inventory, error) {
	var inv Inventory
	switch err := json.UnmarshalRead(r, &inv, json.WithUnmarshalers(json.JoinUnmarshalers(exactly[Key](), exactly[Instance](), exactly[Node]()))); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Inventory{}, errors.New("the inventory is cut off")
	case err != nil:
		return Inventory{}, fmt.Errorf("this is not an inventory: %w", err)
	case inv.Version == "":
		return Inventory{}, errors.New(`this is not an inventory: field "inventoryVersion" is missing`)
	case inv.Version != InventoryVersion:
		return Inventory{}, fmt.Errorf("the inventory has version %q, this drift-detector reads version %q", inv.Version, InventoryVersion)
	}
	return inv, nil
}

// exactly reads lists into room for exactly what they hold: room that doubles as it fills
// would be most of the memory of an inventory.
func exactly[T any]() *json.Unmarshalers {
	type list []T
	var last list
	return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *[]T) error {
		err := json.UnmarshalDecode(dec, &last)
		*into = slices.Clone(last)
		return err
	})
}

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`
}
