package infra_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// tiny is a provider of a test package: it shows that one more provider needs
// nothing but the interface.
type tiny struct {
	name     string
	expected infra.Expected
	spec     infra.Spec
	list     func(context.Context, infra.Target) infra.Listing
}

func (p tiny) Spec() infra.Spec {
	spec := p.spec
	spec.Name, spec.Keys = p.name, func(id string) []infra.Key {
		if v, ok := strings.CutPrefix(id, p.name+"://"); ok {
			return []infra.Key{{Kind: infra.KeyKindOf(p.name), Value: v}}
		}
		return nil
	}
	return spec
}

func (p tiny) Targets(*backup.Snapshot, *backup.Secrets, infra.Access) []infra.Target {
	return []infra.Target{{IDs: []string{p.name + "/here"}, Provider: p.name, Endpoint: p.name + ".example:443"}}
}
func (p tiny) Expected(*backup.Snapshot) infra.Expected { return p.expected }

func (p tiny) List(ctx context.Context, t infra.Target) infra.Listing { return p.list(ctx, t) }

func TestRegistryRefusesTwoProvidersOfOneName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two providers of one name were accepted")
		}
	}()
	infra.NewRegistry(tiny{name: "a"}, tiny{name: "a"})
}

func TestRegistryGivesEveryMachineAClaim(t *testing.T) {
	s := &backup.Snapshot{Machines: []backup.Machine{
		{Infrastructure: backup.Ref{Kind: "AMachine"}},
		{Infrastructure: backup.Ref{Kind: "Metal3Machine"}},
	}}
	r := infra.NewRegistry(tiny{name: "a", expected: infra.Expected{Machines: []infra.ExpectedMachine{{Machine: 0, Provider: "a"}}}})
	got := r.Expected(s).Machines
	want := []infra.ExpectedMachine{{Machine: 0, Provider: "a"}, {Machine: 1, Source: "Metal3Machine"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("claims = %+v, want %+v", got, want)
	}
}

// What the detector needs of the Specs is in what is expected.
func TestRegistryPassesOnWhatSpecsSay(t *testing.T) {
	words := map[string]string{"serial": "serial number"}
	r := infra.NewRegistry(
		tiny{name: "a", spec: infra.Spec{Words: words, ManagedPlanes: []infra.Kind{{Kind: "AControlPlane"}}}},
		tiny{name: "b", spec: infra.Spec{ManagedPlanes: []infra.Kind{{Kind: "BControlPlane"}, {Kind: "CControlPlane"}}}},
	)
	got := r.Expected(&backup.Snapshot{})
	if want := map[string]bool{"AControlPlane": true, "BControlPlane": true, "CControlPlane": true}; !reflect.DeepEqual(got.ManagedPlanes, want) {
		t.Errorf("control planes %v, want %v", got.ManagedPlanes, want)
	}
	if !reflect.DeepEqual(got.Words["a"], words) || got.Words["b"] != nil {
		t.Errorf("words %v", got.Words)
	}
}

func TestRegistryAsksEachProviderForKeys(t *testing.T) {
	r := infra.NewRegistry(tiny{name: "a"}, tiny{name: "b"})
	if got := r.Keys("b://1"); !reflect.DeepEqual(got, []infra.Key{{Kind: infra.KeyKindOf("b"), Value: "1"}}) {
		t.Errorf("keys of b://1 = %v", got)
	}
	if got := r.Keys("c://1"); got != nil {
		t.Errorf("keys of an unknown provider id = %v, want none", got)
	}
}

func TestCollectNeverListsARefusedTarget(t *testing.T) {
	r := infra.NewRegistry(tiny{name: "a", list: func(context.Context, infra.Target) infra.Listing {
		t.Error("a refused target was listed")
		return infra.Listing{State: code.ScopeComplete}
	}})
	fault := &infra.Fault{Reason: "NoCredential", Message: "none in the backup"}
	inv := r.Collect(context.Background(), []infra.Target{{IDs: []string{"x"}, Provider: "a", Refused: fault, NodeState: "denied"}}, nil)
	l := inv.Listings[0]
	if l.State != code.ScopeFailed || l.Fault != fault || l.NodeState != "denied" || l.IDs[0] != "x" {
		t.Errorf("listing of a refused target = %+v", l)
	}
}

func TestCollectTurnsAFaultOfAProviderIntoAFailedListing(t *testing.T) {
	r := infra.NewRegistry(
		tiny{name: "bad", list: func(context.Context, infra.Target) infra.Listing { panic("password") }},
		tiny{name: "good", list: func(context.Context, infra.Target) infra.Listing { return infra.Listing{State: code.ScopeComplete} }},
	)
	calls := 0
	inv := r.Collect(context.Background(), r.Targets(&backup.Snapshot{}, nil, infra.Access{}), &infra.Watch{Found: func(_, _ int) {}, Done: func(int, infra.Listing) { calls++ }})
	if s := []code.ScopeState{inv.Listings[0].State, inv.Listings[1].State}; !reflect.DeepEqual(s, []code.ScopeState{code.ScopeFailed, code.ScopeComplete}) {
		t.Errorf("states = %v, want the one failed and the other complete", s)
	}
	if l := inv.Listings[0]; l.Fault == nil || strings.Contains(l.Fault.Message, "password") {
		t.Errorf("fault = %+v, want one without the panic's value", l.Fault)
	}
	if calls != 2 {
		t.Errorf("done was called %d times, want 2", calls)
	}
}

// Targets are listed beside each other, and never more than 200 at a time: each
// waits here for as many as may run.
func TestCollectListsAtOnce(t *testing.T) {
	const limit, all = 200, 450
	var running, most, waves atomic.Int32
	full := make(chan struct{})
	r := infra.NewRegistry(tiny{name: "a", list: func(context.Context, infra.Target) infra.Listing {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == limit && waves.Add(1) == 1 {
			close(full)
		}
		select {
		case <-full:
		case <-time.After(30 * time.Second):
			t.Error("targets wait for each other")
		}
		return infra.Listing{State: code.ScopeComplete}
	}})
	targets := make([]infra.Target, all)
	for i := range targets {
		targets[i] = infra.Target{IDs: []string{"x"}, Provider: "a"}
	}
	inv := r.Collect(t.Context(), targets, nil)
	if len(inv.Listings) != all || most.Load() != limit {
		t.Errorf("%d listings, %d at once", len(inv.Listings), most.Load())
	}
}

// A listing keeps all that it was asked for, found or not, so that a saved one
// does not make absent what another backup asks for.
func TestListingsKeepWhatTheyWereAskedFor(t *testing.T) {
	asked := []infra.Key{{Kind: infra.KeyKindOf("folder"), Value: "here"}, {Kind: infra.KeyKindOf("folder"), Value: "gone"}}
	r := infra.NewRegistry(
		tiny{name: "a", list: func(context.Context, infra.Target) infra.Listing {
			return infra.Listing{State: code.ScopeComplete, ProbesFound: asked[:1]}
		}},
		tiny{name: "bad", list: func(context.Context, infra.Target) infra.Listing { panic("x") }},
	)
	inv := r.Collect(context.Background(), []infra.Target{
		{IDs: []string{"x"}, Provider: "a", Probes: asked}, {IDs: []string{"y"}, Provider: "a"}, {IDs: []string{"z"}, Provider: "bad", Probes: asked},
	}, nil)
	var buf bytes.Buffer
	if err := infra.WriteInventory(&buf, inv); err != nil {
		t.Fatal(err)
	}
	saved, err := infra.ReadInventory(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]infra.Key{asked, nil, asked} {
		if got := saved.Listings[i].Asked; !reflect.DeepEqual(got, want) {
			t.Errorf("listing %d was asked for %v, want %v", i, got, want)
		}
	}
}

func TestInventoryRoundTrip(t *testing.T) {
	inv := infra.Inventory{Version: infra.InventoryVersion, Listings: []infra.Listing{{
		IDs: []string{"a/here"}, Provider: "a", State: code.ScopePartial, Fault: &infra.Fault{Reason: "R", Message: "m", Hint: "h"},
		ListedAt:    time.Date(2026, 11, 21, 3, 4, 5, 0, time.UTC),
		ProbesFound: []infra.Key{{Kind: infra.KeyKindOf("folder"), Value: "/DC0/vm/<x>"}},
		Asked:       []infra.Key{{Kind: infra.KeyKindOf("folder"), Value: "/DC0/vm/<x>"}, {Kind: infra.KeyKindOf("folder"), Value: "/DC0/vm/y"}},
		Instances:   []infra.Instance{{Identity: "i", Keys: []infra.Key{{Kind: infra.KeyKindOf("k"), Value: "v"}}, Host: infra.Key{Kind: infra.KeyKindOf("host"), Value: "h"}}},
		Nodes:       []infra.Node{{Name: "n", Cluster: backup.ClusterID{Backup: 1, Namespace: "ns", Name: "c"}}},
	}}}
	var buf bytes.Buffer
	if err := infra.WriteInventory(&buf, inv); err != nil {
		t.Fatal(err)
	}
	whole := buf.String()
	got, err := infra.ReadInventory(strings.NewReader(whole))
	if err != nil || !reflect.DeepEqual(got, inv) {
		t.Fatalf("read back %+v, %v; want %+v", got, err, inv)
	}
	for n := 0; n < len(strings.TrimSpace(whole)); n += 7 {
		if _, err := infra.ReadInventory(strings.NewReader(whole[:n])); err == nil {
			t.Fatalf("an inventory cut off at byte %d was accepted", n)
		}
	}
	for name, text := range map[string]string{
		"a report":        `{"schemaVersion":"1"}`,
		"another version": strings.Replace(whole, `"inventoryVersion": "1"`, `"inventoryVersion": "2"`, 1),
		"a tail":          whole + "{}",
		"no JSON":         "\x1f\x8b",
	} {
		if _, err := infra.ReadInventory(strings.NewReader(text)); err == nil {
			t.Errorf("%s was read as an inventory", name)
		}
	}
}
