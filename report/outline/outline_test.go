package outline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/build/buildtest"
	"drift-detector/report/code"
)

// Groups of checks keep the order and lose nothing.
func TestChecksOfOneCodeAreOneItem(t *testing.T) {
	r := buildtest.Readiness()
	var back []string
	sizes := []int{}
	for _, it := range Checks(r.Checks, r.Backups).Items {
		sizes = append(sizes, len(it.Likes))
		for _, l := range it.Likes {
			back = append(back, it.Status+it.Code+l.Name+l.Text)
		}
	}
	var want []string
	for _, c := range r.Checks {
		want = append(want, string(c.Severity)+string(c.Code)+c.Object+c.Message)
	}
	if !reflect.DeepEqual(back, want) || !slices.Equal(sizes, []int{2, 1, 1}) {
		t.Errorf("sizes %v, %q", sizes, back)
	}
}

// A report that was changed by hand may name a backup that it does not hold.
func TestChecksOfNoBackup(t *testing.T) {
	from := []report.Backup{{Path: "a"}, {Path: "b"}}
	for n, want := range map[int]int{-1: 0, 0: 1, 1: 1, 2: 0} {
		s := Checks([]report.Check{{Code: "c", Object: "o", Backup: n}}, from)
		if got := s.Items[0].Likes[0].Facts; len(got) != want {
			t.Errorf("backup %d: %+v", n, got)
		}
	}
}

func stale(name, id, why string) Item {
	return machineItem(&report.Cluster{Namespace: "a", Name: "b"}, "MachineDeployment md", &report.Machine{
		Name: name, Status: code.Stale, Reason: "InstanceNotFound", Message: "no VM with id " + id + " for " + name + why, ProviderID: "vsphere://" + id,
	})
}

// Fold puts together what is alike but for names and ids, and nothing else, and
// keeps each name and id.
func TestFold(t *testing.T) {
	all := []Item{stale("md-aaaaa", "4201", ""), stale("md-bbbbb", "4202", ", sometimes"), stale("md-ccccc", "4203", ""), stale("md-ddddd", "4204", "")}
	got := Fold(all, 2)
	if len(got) != 2 || len(got[0].Likes) != 3 || got[1].Name != "md-bbbbb" {
		t.Fatalf("folded to %+v", got)
	}
	if want := "no VM with id … for …"; got[0].Text != want || got[0].Name != "" || got[0].Findings() != 3 {
		t.Errorf("it says %q of %q", got[0].Text, got[0].Name)
	}
	for i, want := range []string{"md-aaaaa vsphere://4201", "md-ccccc vsphere://4203", "md-ddddd vsphere://4204"} {
		l := got[0].Likes[i]
		if have := l.Name + " " + l.Facts[0].Values[0].Text; have != want || l.Facts[0].Detail {
			t.Errorf("like %d is %s, want %s, which the general text does not say", i, have, want)
		}
	}
	if got := Fold(all, 4); len(got) != 4 || len(got[0].Likes) != 0 {
		t.Errorf("three are folded where four are the least: %+v", got)
	}
}

// Every fact of a machine keeps two of them apart.
func TestFoldKeepsApartWhatDiffers(t *testing.T) {
	for name, change := range map[string]func(*report.Machine){
		"status":   func(m *report.Machine) { m.Status = code.Unknown },
		"reason":   func(m *report.Machine) { m.Reason = "NotProvisioned" },
		"message":  func(m *report.Machine) { m.Message = "another" },
		"warning":  func(m *report.Machine) { m.Warnings = []report.Warning{{Reason: "Moved"}} },
		"forecast": func(m *report.Machine) { m.Forecast = &report.MachineForecast{Outcome: code.Stuck} },
		"step":     func(m *report.Machine) { m.Remediation = []report.Step{{Text: "look"}} },
	} {
		c := &report.Cluster{}
		one := report.Machine{Name: "md-aaaaa", Status: code.Stale, Message: "gone"}
		two := one
		change(&two)
		if got := Fold([]Item{machineItem(c, "s", &one), machineItem(c, "s", &two)}, 2); len(got) != 2 {
			t.Errorf("a machine with another %s is folded", name)
		}
	}
}

// Clusters, sets and machines come by urgency; the management cluster itself is last.
func TestTheWorstComesFirst(t *testing.T) {
	r := &report.Report{Clusters: []report.Cluster{
		{Name: "own", Self: true, Status: code.ManualRemediationRequired},
		{Name: "fine", Status: code.Healthy},
		{Name: "bad", Status: code.ManualRemediationRequired, Workers: report.Workers{Groups: []report.Group{
			{Name: "well", Machines: []report.Machine{{Name: "h", Status: code.Healthy}}},
			{Name: "ill", Machines: []report.Machine{{Name: "s", Status: code.Stale}, {Name: "i", Status: code.Ghost, Ignored: &report.Ignored{}}, {Name: "g", Status: code.Ghost}}},
		}}},
		{Name: "unsure", Status: code.NeedFurtherConfirmation},
	}}
	var got []string
	for c := range Clusters(r) {
		got = append(got, c.Of.Name)
		for _, s := range c.Sets {
			for _, m := range s.Machines {
				got = append(got, m.Name)
			}
		}
	}
	if want := "bad g s i h unsure fine own"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
}

// Of many places those that failed come first, three by name, and the others are counted.
func TestManyPlacesAreCounted(t *testing.T) {
	r := &report.Report{}
	for i := range 320 {
		s := report.Scope{Provider: "vsphere", Endpoint: fmt.Sprintf("vc%d", i), State: report.ScopeFailed}
		if i < 4 {
			s.State, s.Instances = report.ScopeComplete, 7
		}
		r.Scopes = append(r.Scopes, s)
	}
	got := strings.Join(places(r), "\n")
	want := "vsphere vc4: failed, 0 VMs\nvsphere vc5: failed, 0 VMs\nvsphere vc6: failed, 0 VMs\n317 more: 4 complete, 313 failed"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Scopes = r.Scopes[:5]
	if got := places(r); len(got) != 5 || got[0] != "vsphere vc0: complete, 7 VMs" {
		t.Errorf("of five: %q", got)
	}
}
