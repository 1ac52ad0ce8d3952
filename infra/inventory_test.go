package infra

import (
	"strings"
	"testing"
)

// A file that is no inventory is named for what it is, without a name of a Go type.
func TestOtherDocumentsAreNoInventory(t *testing.T) {
	const next = "; give what 'drift-detector inventory' writes"
	for doc, want := range map[string]string{
		"":                                      "this is not an inventory: the file is empty" + next,
		"\xef\xbb\xbf":                          "this is not an inventory: the file is empty" + next,
		"[]":                                    "this is not an inventory: it is a JSON array, not an object" + next,
		`"x"`:                                   "this is not an inventory: it is a JSON string, not an object" + next,
		"true":                                  "this is not an inventory: it is a JSON boolean, not an object" + next,
		"null":                                  `this is not an inventory: field "inventoryVersion" is missing` + next,
		`{"name":"x","version":"1"}`:            `this is not an inventory: field "inventoryVersion" is missing` + next,
		`{"listings":{}}`:                       `this is not an inventory: "/listings" is a JSON object, not an array` + next,
		`{"inventoryVersion":1}`:                `this is not an inventory: "/inventoryVersion" is a JSON number, not a string` + next,
		`{"inventoryVersion":"2","listings":7}`: `the inventory has version "2", this drift-detector reads version "1"`,
		`{"inventoryVersion":"1","listings":[`:  "the inventory is cut off",
		`{"inventoryVersion":"1","listings":[{"instances":[{"keys":7}]}]}`:        `this is not an inventory: "/listings/0/instances/0/keys" is a JSON number, not an array` + next,
		`{"inventoryVersion":"1","listings":[{"instances":[{"created":"now"}]}]}`: `"/listings/0/instances/0/created": `,
		`{"inventoryVersion":"1","listings":[]}x`:                                 "this is not an inventory: byte 39 is not JSON: invalid character 'x' after top-level value" + next,
		"\x1f\x8b\x08": "this is not an inventory: it is compressed, as a backup is" + next,
		`{"schemaVersion":"1","tool":{"name":"drift-detector"},"clusters":[]}`: "this is not an inventory: it is a report that drift-detector wrote" + next,
		`{"schemaVersion":"1","tool":{"name":"other"}}`:                        `field "inventoryVersion" is missing`,
	} {
		_, err := ReadInventory(strings.NewReader(doc))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", doc, err, want)
			continue
		}
		for _, word := range []string{"Go ", "infra.", "json:", "jsontext", "unmarshal"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
}
