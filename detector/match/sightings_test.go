package match

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func key(kind, value string) infra.Key {
	return infra.Key{Kind: infra.KeyKindOf(kind), Value: value}
}
func bios(v string) infra.Key { return key("biosUUID", v) }
func ref(v string) infra.Key  { return key("vmRef", v) }

// What any sighting of an instance knows counts.
func TestMergeOfSightings(t *testing.T) {
	dim := infra.Instance{
		Identity: "vc#1", Name: "vm", Keys: []infra.Key{ref("r"), key("a", "1"), key("b", "1"), key("c", "1")}, Unreadable: true,
		Gone: true, Exclude: "template", Created: noon, Host: key("host", "h"), Warnings: []code.Reason{"PoweredOff"},
	}
	clear := infra.Instance{Identity: "vc#1", Name: "vm", Path: "/DC0/vm/vm", Keys: []infra.Key{ref("r"), bios("b")}, Warnings: []code.Reason{"Disconnected"}}
	want := infra.Instance{
		Identity: "vc#1", Name: "vm", Path: "/DC0/vm/vm", Keys: []infra.Key{key("a", "1"), key("b", "1"), bios("b"), key("c", "1"), ref("r")},
		Gone: true, Exclude: "template", Created: noon, Host: key("host", "h"), Warnings: []code.Reason{"Disconnected", "PoweredOff"},
	}
	for _, order := range [][]infra.Instance{{dim, clear}, {clear, dim}} {
		got := mergeSightings([]infra.Listing{{Provider: "vsphere", Instances: order[:1]}, {Provider: "vsphere", Instances: order[1:]}})
		if len(got) != 1 || !reflect.DeepEqual(*got[0].Instance, want) || !slices.Equal(got[0].seen, []int32{0, 1}) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if dim.Keys[0] != ref("r") || len(clear.Keys) != 2 {
		t.Error("the input was changed")
	}
}

// Only Identity makes two sightings one instance, and only within a provider.
func TestDifferentInstancesAreNotMerged(t *testing.T) {
	got := mergeSightings([]infra.Listing{
		{Provider: "vsphere", Instances: []infra.Instance{{Name: "a"}, {Name: "a"}, {Identity: "1"}}},
		{Provider: "aws", Instances: []infra.Instance{{Identity: "1"}}},
	})
	if len(got) != 4 {
		t.Errorf("%d instances, want 4", len(got))
	}
}
