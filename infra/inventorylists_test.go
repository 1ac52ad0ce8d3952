package infra

import (
	"slices"
	"strings"
	"testing"
)

// Keys are read the same however they are written, and as parts of one text.
func TestKeysOfAnInventory(t *testing.T) {
	want := []Key{{KeyKindOf("path"), "vc/f/web-1"}, {KeyKindOf("name"), "web-1"}, {KeyKindOf("path+vmRef"), "vc/f/web-1 vm-7"}, {KeyKindOf("odd"), ""}}
	for name, keys := range map[string]string{
		"as written": `[{"kind":"path","value":"vc/f/web-1"},{"kind":"name","value":"web-1"},{"kind":"path+vmRef","value":"vc/f/web-1 vm-7"},{"kind":"odd","value":""}]`,
		"indented":   "[ {\n\t\"kind\": \"path\", \"value\": \"vc/f/web-1\" }, {\"kind\": \"name\",\"value\": \"web-1\"}, {\"kind\":\"path+vmRef\",\"value\":\"vc/f/web-1 vm-7\"}\r\n,{\"kind\":\"odd\",\"value\":\"\"}]",
		"escaped":    `[{"kind":"path","value":"vc\/f/web-1"},{"kind":"name","value":"\u0077eb-1"},{"kind":"path+vmRef","value":"vc/f/web-1 vm-7"},{"kind":"odd","value":""}]`,
		"otherwise":  `[{"value":"vc/f/web-1","kind":"path"},{"kind":"name","more":[{"a":"}"}],"value":"web-1"},{"kind" :"path+vmRef","value" :"vc/f/web-1 vm-7"},{"kind":"odd","value":null}]`,
	} {
		inv, err := ReadInventory(strings.NewReader(`{"inventoryVersion":"1","listings":[{"instances":[{"identity":"a","name":"web-1","keys":` + keys + `}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if i := inv.Listings[0].Instances[0]; !slices.Equal(i.Keys, want) || i.Name != "web-1" || i.Identity != "a" {
			t.Errorf("%s: %+v", name, i)
		}
	}
	for keys, none := range map[string]bool{"null": true, "[]": false} {
		inv, err := ReadInventory(strings.NewReader(`{"inventoryVersion":"1","listings":[{"asked":` + keys + `}]}`))
		if asked := inv.Listings[0].Asked; err != nil || len(asked) > 0 || (asked == nil) != none {
			t.Errorf("%s is read as %#v, %v", keys, asked, err)
		}
	}
	for keys, says := range map[string]string{
		`[{"kind":"a","value":1}]}]}`: `"/listings/0/asked/0/value"`, `[1]}]}`: `"/listings/0/asked/0"`, `{}}]}`: `"/listings/0/asked"`,
		`[{"kind":"a","kind":"a","value":""}]}]}`: "duplicate", `[{"kind":"a","value":"b"`: "cut off",
	} {
		if _, err := ReadInventory(strings.NewReader(`{"inventoryVersion":"1","listings":[{"asked":` + keys)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", keys, err, says)
		}
	}
}

// Evidence is put together once: a name that looks like a placeholder is left as it is.
func TestEvidence(t *testing.T) {
	owner := &OwnerID{Kind: "MachineSet", Name: "{place}"}
	owner.Cluster.Namespace, owner.Cluster.Name = "a", "{owner}"
	for want, h := range map[string]OwnershipHint{
		"MachineSet {place} of a/{owner}, in folder {cluster}": {Owner: owner, Detail: "{owner} of {cluster}, in {place}", Place: "folder {cluster}"},
		"it is {owner}": {Owner: owner, Detail: "it is {owner}"},
	} {
		if got := h.Evidence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
