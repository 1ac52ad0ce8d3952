package infra

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/internal/mutate"
	"drift-detector/report/code"
)

// What ReadInventory accepts is written so that it reads the same, also when all of it
// is packed in between.
func FuzzInventory(f *testing.F) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cluster := backup.ClusterID{Namespace: "a", Name: "b"}
	var sample bytes.Buffer
	if err := WriteInventory(&sample, Inventory{Version: InventoryVersion, Listings: []Listing{
		{
			IDs: []string{"vsphere vc:443"}, Provider: "vsphere", Endpoint: "vc:443", Account: "svc", Identity: "u", Clusters: []backup.ClusterID{cluster}, State: code.ScopePartial,
			Fault: &Fault{Reason: "NoPermission", Message: "m", Hint: "h"}, Warnings: []string{"w"}, ListedAt: noon, Asked: []Key{{KeyKindOf("folder"), "f"}}, ProbesFound: []Key{{KeyKindOf("folder"), "f"}},
			Unread: []KeyKind{KeyKindOf("folder")}, PoolSizes: []PoolSize{{}}, Instances: []Instance{unrelatedVM(1), {Keys: []Key{}}},
		},
		{Provider: "nodes", Endpoint: "a:6443", State: code.ScopeComplete, NodeState: "read", Nodes: []Node{{Cluster: cluster, Name: "n", ProviderID: "vsphere://1", Keys: []Key{{KeyKindOf("biosUUID"), "1"}}, Ready: true, Heartbeat: noon}}},
	}}); err != nil {
		f.Fatal(err)
	}
	f.Add(sample.Bytes(), []byte{})
	f.Add(sample.Bytes(), []byte("\x00\x05\x70\x00\x20\x00\x21\x02\x00\x00"))
	f.Add([]byte(`{"inventoryVersion":"1","listings":null}`), []byte{0, 1, 14, 0, 0})
	f.Add([]byte(`{"inventoryVersion":"2"}`), []byte{})
	f.Add([]byte(`{"inventoryVersion":"1"}{}`), []byte{})
	f.Fuzz(func(t *testing.T, text, edits []byte) {
		inv, err := ReadInventory(bytes.NewReader(mutate.JSON(text, edits)))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		first := written(t, inv)
		again, err := ReadInventory(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, first)
		}
		for i := range again.Listings {
			l := &again.Listings[i]
			for _, instance := range l.Instances {
				l.Unrelated.Add(instance)
			}
			l.Instances = nil
		}
		if second := written(t, again); !bytes.Equal(first, second) {
			t.Errorf("it is written as\n%s\nand, read back and packed, as\n%s", first, second)
		}
	})
}

func written(t *testing.T, inv Inventory) []byte {
	var out bytes.Buffer
	if err := WriteInventory(&out, inv); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
