package detector

import (
	"slices"
	"strings"
	"testing"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// A wish is what a case wants to see of one name: a machine, or an instance.
type wish struct {
	name     string
	status   code.Status // empty: the instance is unattributed
	reason   code.Reason
	warnings string // reasons, joined by a space
	set      string // where it is listed: "cp", or "kind/name" of a worker group; empty: anywhere
}

// find returns what became of a name.
func find(r Result, name string) (wish, bool) {
	for _, c := range r.Clusters {
		for _, s := range append([]Set{c.ControlPlane}, c.WorkerGroups...) {
			for _, v := range s.Machines {
				if v.Name != name {
					continue
				}
				w := wish{name: name, status: v.Status, reason: v.Reason, set: s.Kind + "/" + s.Name}
				var reasons []string
				for _, x := range v.Warnings {
					reasons = append(reasons, string(x.Reason))
				}
				w.warnings = strings.Join(reasons, " ")
				return w, true
			}
		}
	}
	for _, u := range r.Unattributed {
		if u.Instance.Name == name {
			return wish{name: name, reason: u.Reason}, true
		}
	}
	return wish{}, false
}

func expect(t *testing.T, r Result, wishes ...wish) {
	t.Helper()
	for _, w := range wishes {
		got, ok := find(r, w.name)
		if w.set == "" {
			got.set = ""
		}
		if !ok || got != w {
			t.Errorf("got %+v (found %v), want %+v", got, ok, w)
		}
	}
}

// An orphan that is gone as well leaves nothing to tell. It may have been one of its
// owner's replicas, or one that was left out of the backup was.
func TestGoneOrphanIsNotListed(t *testing.T) {
	s := newScene()
	s.orphan("o")
	s.hint(infra.Medium, key("stem", "md-bcdfg"), ownedBy(machineSet, "md-bcdfg"), 8)
	s.vm("new", key("stem", "md-bcdfg"))
	r := s.detect()
	if w, ok := find(r, "o"); ok {
		t.Errorf("the orphan is listed: %+v", w)
	}
	expect(t, r, wish{name: "new", status: code.Unknown, reason: code.MachineNotInBackup})
	if r.Clusters[0].WorkerGroups[0].Reason != "" {
		t.Errorf("the group lacks machines: %s", r.Clusters[0].WorkerGroups[0].Reason)
	}
}

// A terminated instance that nobody misses is nothing to look after.
func TestEndedInstances(t *testing.T) {
	s := newScene()
	s.orphan("o")
	s.vmOf("o").Gone = true
	s.vm("old", bios("b-1")).Gone = true
	s.node(prod, bios("b-1"), "later")
	r := s.detect()
	if r.Excluded[terminated] != 2 || len(r.Unattributed) != 0 || r.Status != code.Healthy {
		t.Errorf("excluded %v, unattributed %v, status %s", r.Excluded, r.Unattributed, r.Status)
	}
}

// Messages are for the person at 3 a.m.: they name what was looked for and where.
func TestMessages(t *testing.T) {
	s := newScene()
	s.worker("m")
	s.worker("n").Home.Target = "vc2/user"
	s.vm("other")
	r := s.detect()
	want := map[string]string{
		"m": "no VM with BIOS UUID b-m in vc/user; 1 VM listed",
		"n": `not found, but absence cannot be concluded: "vc2/user" was not listed`,
	}
	for _, v := range verdictsOf(r.Clusters[0]) {
		if v.Message != want[v.Name] {
			t.Errorf("%s: %q, want %q", v.Name, v.Message, want[v.Name])
		}
	}
	if i := slices.IndexFunc(r.Scopes, func(sc Scope) bool { return sc.Endpoint == "vc2/user" }); i < 0 || r.Scopes[i].State != infra.Failed || r.Complete {
		t.Errorf("a home that nobody listed is no failed scope: %+v, complete %v", r.Scopes, r.Complete)
	}
}

// Lists are in the order of names, whatever the infrastructure calls its instances.
func TestOrderOfInstances(t *testing.T) {
	s := newScene()
	s.worker("m")
	for i, name := range []string{"c", "a", "b"} {
		s.vm(name, bios("b-m")).Identity = string(rune('1' + i))
	}
	r := s.detect()
	var got []string
	for _, o := range r.Clusters[0].WorkerGroups[0].Machines[0].Others {
		got = append(got, o.Name)
	}
	for _, u := range r.Unattributed {
		got = append(got, u.Instance.Name)
	}
	if want := []string{"a", "b", "c", "a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
