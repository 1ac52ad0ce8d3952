// Package infratest is what every provider must do alike, as one test suite: a
// provider's own test fills in a Harness and calls [Run].
//
// The suite proves the promises that the detector and the operator build on:
// nothing readable is lost, nothing broken looks whole, nothing secret gets
// out, no account is locked, no session is left behind.
package infratest

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// Condition is the state of the infrastructure that a World is started in.
type Condition string

// Conditions. A provider to which one can't apply leaves it out of its Harness.
const (
	Whole         Condition = "whole"          // all is well, and there is more than one page
	Broken        Condition = "broken"         // a page after the first one fails
	Unreadable    Condition = "unreadable"     // one instance can be seen and not read
	WrongPassword Condition = "wrong password" // no credential of the backup is accepted
	Down          Condition = "down"           // nobody listens
	Hanging       Condition = "hanging"        // somebody listens and never answers
	PlainHTTP     Condition = "plain http"     // the backup names http:// servers
)

// World is a backup and the infrastructure that it describes.
type World struct {
	// Load reads the backup. Each call returns a new Snapshot.
	Load   func() (*backup.Snapshot, *backup.Secrets)
	Access infra.Access
	// Count is how many instances and Nodes there are in all.
	Count int
	// Sessions returns how many sessions are open and how many logins failed.
	Sessions func() (open, failed int)
	// Contacts returns how many connections the infrastructure has seen. It is
	// needed for PlainHTTP.
	Contacts func() int
	// Markers are the secrets of the backup, in plain.
	Markers []string
}

// Harness is what the suite needs to know of a provider.
type Harness struct {
	New        func() infra.Provider
	Start      func(*testing.T, Condition) World
	Conditions []Condition // Whole must be among them
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	if !slices.Contains(h.Conditions, Whole) {
		t.Fatal("the harness does not offer the condition Whole")
	}
	tests := map[Condition]func(*testing.T, Harness, World){
		Whole: whole, Broken: broken, Unreadable: unreadable, WrongPassword: wrongPassword,
		Down: down, Hanging: hanging, PlainHTTP: plainHTTP,
	}
	for _, c := range h.Conditions {
		t.Run(string(c), func(t *testing.T) {
			w := h.Start(t, c)
			tests[c](t, h, w)
			if w.Sessions != nil {
				if open, _ := w.Sessions(); open != 0 {
					t.Errorf("%d sessions were left open", open)
				}
			}
		})
	}
}

// run is one use of a provider on a world.
type run struct {
	provider infra.Provider
	snapshot *backup.Snapshot
	targets  []infra.Target
}

func start(t *testing.T, h Harness, w World) *run {
	t.Helper()
	r := &run{provider: h.New()}
	s, secrets := w.Load()
	r.snapshot = s
	r.targets = r.provider.Targets(s, secrets, w.Access)
	if len(r.targets) == 0 {
		t.Fatal("the provider finds no target")
	}
	return r
}

func (r *run) list(ctx context.Context) []infra.Listing {
	var all []infra.Listing
	for _, t := range r.targets {
		l := r.provider.List(ctx, t)
		l.ListedAt = l.ListedAt.Truncate(0)
		all = append(all, l)
	}
	return all
}

func count(all []infra.Listing) (n int) {
	for _, l := range all {
		n += len(l.Instances) + len(l.Nodes)
	}
	return n
}

func whole(t *testing.T, h Harness, w World) {
	r := start(t, h, w)
	all := r.list(t.Context())
	for _, l := range all {
		if l.State != code.ScopeComplete || l.Fault != nil {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
	}
	if got := count(all); got != w.Count {
		t.Errorf("%d listed, there are %d", got, w.Count)
	}
	t.Run("identities are unique", func(t *testing.T) { uniqueIdentities(t, all) })
	t.Run("the order is stable", func(t *testing.T) {
		if again := start(t, h, w).list(t.Context()); !reflect.DeepEqual(timeless(all), timeless(again)) {
			t.Error("two listings of one infrastructure differ")
		}
	})
	t.Run("a saved inventory is the same", func(t *testing.T) { roundTrip(t, all) })
	t.Run("unrelated instances lack nothing", func(t *testing.T) { unrelatedWhole(t, start(t, h, w), all) })
	t.Run("secrets stay hidden", func(t *testing.T) { hidden(t, r, all, w) })
	t.Run("secrets that a server repeats are hidden", func(t *testing.T) { redacts(t, r, w) })
	t.Run("target ids need no Secrets", func(t *testing.T) { idsWithoutSecrets(t, h, w, r) })
	t.Run("what is expected has targets", func(t *testing.T) { expectedIsConsistent(t, r, all) })
	t.Run("the controller is described without contradictions", func(t *testing.T) {
		for _, p := range ControllerProblems(r.provider.Spec().Controller, r.provider.Expected(r.snapshot).Machines) {
			t.Error(p)
		}
	})
	t.Run("the Snapshot is not changed", func(t *testing.T) {
		fresh, _ := w.Load()
		if !reflect.DeepEqual(fresh, r.snapshot) {
			t.Error("the provider changed the Snapshot")
		}
	})
	t.Run("an ended context ends the listing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		endsPromptly(t, start(t, h, w), ctx)
	})
}

func timeless(all []infra.Listing) []infra.Listing {
	all = slices.Clone(all)
	for i := range all {
		all[i].ListedAt = time.Time{}
	}
	return all
}

func uniqueIdentities(t *testing.T, all []infra.Listing) {
	for _, l := range all {
		seen := map[string]bool{}
		for _, i := range l.Instances {
			if i.Identity == "" || seen[i.Identity] {
				t.Errorf("identity %q of %s is empty or taken", i.Identity, i.Name)
			}
			seen[i.Identity] = true
		}
	}
}

// unrelatedWhole lists with everything but what the provider itself needs packed:
// the listings must hold the same.
func unrelatedWhole(t *testing.T, r *run, all []infra.Listing) {
	for i := range r.targets {
		r.targets[i].IsRelated = func(*infra.Instance) bool { return false }
	}
	packed := timeless(r.list(t.Context()))
	for i := range packed {
		l := &packed[i]
		l.Instances = slices.AppendSeq(l.Instances, l.Unrelated.All())
		l.Unrelated = infra.Unrelated{}
		slices.SortFunc(l.Instances, func(a, b infra.Instance) int { return strings.Compare(a.Identity, b.Identity) })
	}
	got, err := json.Marshal(packed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(timeless(all))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("with unrelated instances packed the listings are\n%s\nwere\n%s", got, want)
	}
}

func roundTrip(t *testing.T, all []infra.Listing) {
	inv := infra.Inventory{Version: infra.InventoryVersion, Listings: all}
	var buf bytes.Buffer
	if err := infra.WriteInventory(&buf, inv); err != nil {
		t.Fatal(err)
	}
	back, err := infra.ReadInventory(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(inv, back) {
		t.Error("the inventory that was read is not the one that was written")
	}
}
