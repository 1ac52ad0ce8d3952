package infra

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"drift-detector/report/code"
)

// unrelatedVM returns an instance of which every field is set.
func unrelatedVM(n int) Instance {
	id := fmt.Sprintf("i-%017x", n*7919)
	return Instance{
		Identity: "123456789012/" + id, ID: id, Ref: fmt.Sprint("vm-", n), Name: fmt.Sprint("web-", n), Path: "us-east-1a/vpc-999/subnet-3/" + id,
		State: "running", Created: time.Unix(1_700_000_000+int64(n)*61, 0).UTC(), Addresses: []string{fmt.Sprintf("10.0.%d.%d", n>>8&255, n&255)},
		Tags: []Tag{{"Name", fmt.Sprint("web-", n)}, {"team", "shop"}, {"cost-center", fmt.Sprint(n % 37)}, {"not ASCII", "\u2028ü\x00<"}},
		Keys: []Key{{KeyKindOf("instanceID"), id}, {KeyKindOf("vpc"), "vpc-999"}, {KeyKindOf("name"), fmt.Sprint("web-", n)}}, Host: Key{KeyKindOf("host"), "web"},
		Exclude: "bastion", Unreadable: true, Gone: true, Warnings: []code.Reason{"PoweredOff"},
		Facts: Facts{{"hardwareVersion", "vmx-19"}}, Size: Size{VCPUs: 1 + n%64, MemoryMiB: 1024, DiskGiB: 25, Type: "m5.large"},
	}
}

// pile returns n of them.
func pile(n int) (*Unrelated, []Instance) {
	s, all := &Unrelated{}, make([]Instance, n)
	for i := range all {
		all[i] = unrelatedVM(i)
		s.Add(all[i])
	}
	return s, all
}

func TestUnrelatedAreKeptWhole(t *testing.T) {
	filled := reflect.ValueOf(unrelatedVM(1))
	for i := range filled.NumField() {
		if filled.Field(i).IsZero() {
			t.Fatalf("field %s of the sample is not set", filled.Type().Field(i).Name)
		}
	}
	for _, n := range []int{0, 1, blockLen - 1, blockLen, blockLen + 1, 3*blockLen + 7} {
		s, all := pile(n)
		if got := slices.Collect(s.All()); s.Len() != n || len(got) != n || n > 0 && !reflect.DeepEqual(got, all) {
			t.Errorf("of %d there are %d, %d and not the same", n, s.Len(), len(got))
		}
		for range s.All() {
			break // must not go on
		}
	}
}

func TestTakeUnrelated(t *testing.T) {
	const n = 2*blockLen + 9
	third := func(i *Instance) bool { return (i.Created.Unix()-1_700_000_000)/61%3 == 0 }
	for name, test := range map[string]func(*Instance) bool{
		"all": func(*Instance) bool { return true }, "none": func(*Instance) bool { return false }, "a third": third,
		"the first": func(i *Instance) bool { return i.Ref == "vm-0" },
		"the last":  func(i *Instance) bool { return i.Ref == fmt.Sprint("vm-", n-1) },
	} {
		s, all := pile(n)
		before := *s
		taken := s.Take(test)
		left := slices.Collect(s.All())
		var wantTaken, wantLeft []Instance
		for _, i := range all {
			if test(&i) {
				wantTaken = append(wantTaken, i)
			} else {
				wantLeft = append(wantLeft, i)
			}
		}
		if !reflect.DeepEqual(taken, wantTaken) || !reflect.DeepEqual(left, wantLeft) || s.Len() != len(wantLeft) {
			t.Errorf("%s: %d taken, %d left of %d", name, len(taken), len(left), n)
		}
		if got := slices.Collect(before.All()); !reflect.DeepEqual(got, all) {
			t.Errorf("%s: a copy that was created before has %d of %d", name, len(got), n)
		}
	}
}

// A saved inventory holds the unrelated instances as it holds all others.
func TestUnrelatedAreSaved(t *testing.T) {
	all := []Instance{unrelatedVM(1), unrelatedVM(2), unrelatedVM(3)}
	for i := range all {
		all[i].Tags = all[i].Tags[:3]
	}
	target := Target{IsRelated: func(i *Instance) bool { return i.Ref == "vm-2" }}
	var l Listing
	for _, i := range all {
		l.File(&target, i)
	}
	if len(l.Instances) != 1 || l.Unrelated.Len() != 2 || l.Count() != 3 {
		t.Fatalf("%d instances, %d unrelated VMs, %d in all", len(l.Instances), l.Unrelated.Len(), l.Count())
	}
	var out bytes.Buffer
	if err := WriteInventory(&out, Inventory{Version: InventoryVersion, Listings: []Listing{l}}); err != nil {
		t.Fatal(err)
	}
	inv, err := ReadInventory(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got := inv.Listings[0].Instances; !reflect.DeepEqual(got, []Instance{all[1], all[0], all[2]}) {
		t.Errorf("the inventory holds %+v", got)
	}
	if len(l.Instances) != 1 || l.Unrelated.Len() != 2 {
		t.Error("saving changed the listing")
	}
}
