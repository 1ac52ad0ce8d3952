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
	dec := json.NewDecoder(bufio.NewReader(r))
	var inv Inventory
	if err := dec.Decode(&inv); err != nil {
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

// InventoryVersion is the version of the saved form of an Inventory.
const InventoryVersion = "1"

// Inventory is all that was listed. It is a plain value without secrets that
// can be saved and read back.
type Inventory struct {
	Version  string    `json:"inventoryVersion"`
	Listings []Listing `json:"listings"`
}
