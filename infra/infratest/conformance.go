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
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
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

// promptly is how long a listing may take once its context has ended.
const promptly = 15 * time.Second

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
		if l.State != infra.Complete || l.Fault != nil {
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

// hidden prints all that a provider hands out in every way Go can print it.
func hidden(t *testing.T, r *run, all []infra.Listing, w World) {
	if len(w.Markers) == 0 {
		t.Fatal("the world names no secrets to look for")
	}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, target := range r.targets {
			fmt.Fprintf(&out, verb, target)
			fmt.Fprintf(&out, verb, &target)
			fmt.Fprintf(&out, verb, target.Credential)
			fmt.Fprintf(&out, verb, target.Detail)
		}
		fmt.Fprintf(&out, verb, all)
		fmt.Fprintf(&out, verb, r.provider.Expected(r.snapshot))
	}
	for _, v := range []any{r.targets, all, r.provider.Expected(r.snapshot).Machines} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Errorf("it can't be marshalled: %v", err)
		}
		out.Write(data)
	}
	for _, target := range r.targets {
		data, err := json.Marshal(target.Credential)
		if err != nil {
			t.Errorf("a credential can't be marshalled: %v", err)
		}
		out.Write(data)
	}
	for _, m := range w.Markers {
		for _, form := range []string{m, fmt.Sprintf("%x", m)} {
			if at := strings.Index(out.String(), form); at >= 0 {
				t.Errorf("a secret is printed behind %q", tail(out.String()[:at], 80))
			}
		}
	}
}

// redacts holds that each Target hides what it logs in with from what its server says.
func redacts(t *testing.T, r *run, w World) {
	for _, target := range r.targets {
		if target.Credential != nil && target.Redaction == nil {
			t.Errorf("%v has a credential, and hides none of it", target.IDs)
		}
	}
	for i, m := range w.Markers {
		if !slices.ContainsFunc(r.targets, func(target infra.Target) bool { return !strings.Contains(target.Redaction.Text("it is "+m), m) }) {
			t.Errorf("no target hides secret %d", i)
		}
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func idsWithoutSecrets(t *testing.T, h Harness, w World, r *run) {
	ids := func(targets []infra.Target) []string {
		var all []string
		for _, target := range targets {
			all = append(all, target.IDs...)
		}
		slices.Sort(all)
		return all
	}
	s, _ := w.Load()
	if bare := h.New().Targets(s, nil, infra.Access{}); !slices.Equal(ids(bare), ids(r.targets)) {
		t.Errorf("with Secrets the ids are %v, without %v", ids(r.targets), ids(bare))
	}
}

// orphans are the expected machines without a Machine.
func orphans(c infra.Expected) (all []infra.Orphan) {
	for _, m := range c.Machines {
		if m.Orphan != nil {
			all = append(all, *m.Orphan)
		}
	}
	return all
}

func expectedIsConsistent(t *testing.T, r *run, all []infra.Listing) {
	probes := map[string][]infra.Key{}
	for _, target := range r.targets {
		for _, id := range target.IDs {
			probes[id] = target.Probes
		}
	}
	c := r.provider.Expected(r.snapshot)
	if again := r.provider.Expected(r.snapshot); !reflect.DeepEqual(c, again) {
		t.Error("two calls of Expected differ")
	}
	if fast, ok := r.provider.(infra.Surveyor); ok {
		brief := fast.Survey(r.snapshot)
		if !reflect.DeepEqual([]any{brief.Providers, brief.Absent, orphans(brief)}, []any{c.Providers, c.Absent, orphans(c)}) {
			t.Errorf("Survey says %+v, Expected another", brief)
		}
	}
	asked := func(target, what string, keys ...infra.Key) {
		for _, k := range keys {
			if !k.IsZero() && !slices.Contains(probes[target], k) {
				t.Errorf("nobody looks at %q for landmark %s of %s", target, k, what)
			}
		}
	}
	for _, m := range c.Machines {
		if _, ok := probes[m.Home.Target]; !ok {
			t.Errorf("machine %d calls %q home, which is no target", m.Machine, m.Home.Target)
		}
		if m.Home.Folder != "" && !slices.ContainsFunc(c.Proofs, func(p infra.VisibilityProof) bool { return p.Target == m.Home.Target && p.Folder == m.Home.Folder }) {
			t.Errorf("nothing can prove part %q of %q, the home of machine %d", m.Home.Folder, m.Home.Target, m.Machine)
		}
	}
	for _, p := range c.Pools {
		asked(p.Target, p.Kind+" "+p.Name, p.Probe)
	}
	for _, r := range c.Resources {
		asked(r.Target, r.Kind+" "+r.Name, r.Keys...)
	}
	for _, p := range c.Proofs {
		marks, ok := probes[p.Target]
		if !ok {
			t.Errorf("the proof for %v is about %q, which is no target", p.Cluster, p.Target)
		}
		for _, k := range p.All {
			if !slices.Contains(marks, k) {
				t.Errorf("nobody looks for landmark %s of %v", k, p.Cluster)
			}
		}
	}
	if len(c.Machines) > 0 && !anyFound(c, all) {
		t.Error("not one claim finds an instance by its strong key")
	}
}

func anyFound(c infra.Expected, all []infra.Listing) bool {
	have := map[infra.Key]bool{}
	for _, l := range all {
		for _, i := range l.Instances {
			for _, k := range i.Keys {
				have[k] = true
			}
		}
	}
	return slices.ContainsFunc(c.Machines, func(m infra.ExpectedMachine) bool { return have[m.Strong] })
}

func broken(t *testing.T, h Harness, w World) {
	all := start(t, h, w).list(t.Context())
	whole := true
	for _, l := range all {
		whole = whole && l.State == infra.Complete
		if l.State != infra.Complete && l.Fault == nil {
			t.Errorf("%v is %s and does not say why", l.IDs, l.State)
		}
	}
	if whole {
		t.Error("a broken listing calls itself complete")
	}
	if n := count(all); n == 0 || n >= w.Count {
		t.Errorf("%d of %d were kept", n, w.Count)
	}
}

func unreadable(t *testing.T, h Harness, w World) {
	all := start(t, h, w).list(t.Context())
	blind := 0
	for _, l := range all {
		if l.State != infra.Complete {
			t.Errorf("one unreadable instance makes %v %s: %+v", l.IDs, l.State, l.Fault)
		}
		for _, i := range l.Instances {
			if i.Unreadable {
				blind++
			}
		}
	}
	if n := count(all); n != w.Count || blind != 1 {
		t.Errorf("%d of %d are listed, %d as unreadable", n, w.Count, blind)
	}
}

func wrongPassword(t *testing.T, h Harness, w World) {
	r := start(t, h, w)
	for _, l := range append(r.list(t.Context()), r.list(t.Context())...) {
		if l.State != infra.Failed || l.Fault == nil || l.Fault.Hint == "" {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
		if l.Fault != nil && l.Fault.Reason != "AuthenticationFailed" {
			t.Errorf("the reason is %s: %s", l.Fault.Reason, l.Fault.Message)
		}
		shown := fmt.Sprintf("%+v", l.Fault)
		for _, m := range w.Markers {
			if strings.Contains(shown, m) {
				t.Error("the fault holds a secret")
			}
		}
	}
	if _, failed := w.Sessions(); failed == 0 || failed > 2 {
		t.Errorf("%d logins failed, at most two may", failed)
	}
}

func down(t *testing.T, h Harness, w World) {
	for _, l := range start(t, h, w).list(t.Context()) {
		if l.State != infra.Failed || l.Fault == nil || l.Fault.Hint == "" {
			t.Errorf("%v is %s: %+v", l.IDs, l.State, l.Fault)
		}
	}
}

func hanging(t *testing.T, h Harness, w World) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	endsPromptly(t, start(t, h, w), ctx)
}

func endsPromptly(t *testing.T, r *run, ctx context.Context) {
	t.Helper()
	began := time.Now()
	for _, l := range r.list(ctx) {
		if l.State == infra.Complete {
			t.Errorf("%v calls itself complete", l.IDs)
		}
	}
	if took := time.Since(began); took > promptly {
		t.Errorf("it took %s after the end", took)
	}
}

func plainHTTP(t *testing.T, h Harness, w World) {
	r := start(t, h, w)
	for _, target := range r.targets {
		if target.Refused == nil {
			t.Errorf("%v is not refused", target.IDs)
		}
	}
	for _, l := range r.list(t.Context()) {
		if l.State != infra.Failed {
			t.Errorf("%v is %s", l.IDs, l.State)
		}
	}
	if n := w.Contacts(); n != 0 {
		t.Errorf("it was contacted %d times", n)
	}
	hidden(t, r, nil, w)
}
