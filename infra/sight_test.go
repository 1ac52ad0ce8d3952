package infra_test

import (
	"strings"
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
)

// A Machine that has gone since is dying, one that has come since is known to its cluster, and
// where nobody knows nothing is certain of any provider.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	machine := func(name, uid string) backup.Machine {
		return backup.Machine{Meta: backup.Meta{Namespace: "a", Name: name, UID: uid}, Cluster: backup.ClusterID{Namespace: "a", Name: "prod"}}
	}
	before := &backup.Snapshot{Backups: []backup.Info{{WrittenTo: time.Now()}}, Machines: []backup.Machine{machine("stays", "1"), machine("goes", "2"), machine("again", "3")}}
	after := &backup.Snapshot{Backups: before.Backups, Machines: []backup.Machine{machine("stays", "1"), machine("again", "4"), machine("comes", "5")}}
	expected := func() infra.Expected {
		return infra.Expected{Words: map[string]map[string]string{"vsphere": nil}, Machines: []infra.ExpectedMachine{{Machine: 0}, {Machine: 1}, {Machine: 2}, {Machine: -1, Orphan: &infra.Orphan{}}}}
	}
	e := expected()
	e.Meanwhile(0, before, after, "")
	for i, want := range []string{"", "a/goes was deleted", "a/again was deleted", ""} {
		got := ""
		if d := e.Machines[i].Dying; d != nil {
			got = d.Text
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("machine %d: %q", i, got)
		}
	}
	if got := e.Made[backup.ClusterID{Namespace: "a", Name: "prod"}]; got != "a/comes" || len(e.Made) != 1 || len(e.Unread) > 0 {
		t.Errorf("made %v, unread %v", e.Made, e.Unread)
	}
	e = expected()
	made := machine("late", "6")
	made.Infrastructure = backup.Ref{Kind: "VSphereMachine", Namespace: "a", Name: "late"}
	after.Machines = append(after.Machines, made)
	for _, name := range []string{"late", "left"} {
		e.Machines = append(e.Machines, infra.ExpectedMachine{Machine: -1, Orphan: &infra.Orphan{Kind: "VSphereMachine", Namespace: "a", Name: name}})
	}
	e.Meanwhile(0, before, after, "")
	if n := len(e.Machines); n != 5 || e.Machines[4].Orphan.Name != "left" {
		t.Errorf("%d machines: that of a Machine which was made since is no orphan", n)
	}
	if why := e.Machineless(0, before); why != "" {
		t.Error(why)
	}
	if why := e.Machineless(0, &backup.Snapshot{Backups: before.Backups}); !strings.Contains(why, "its list is empty") || e.Unread[infra.Reading{Provider: "vsphere"}] != why {
		t.Errorf("%q %v", why, e.Unread)
	}
	e = expected()
	e.Meanwhile(0, before, nil, "forbidden")
	for _, provider := range []string{"vsphere", ""} {
		if !strings.Contains(e.Unread[infra.Reading{Provider: provider}], "forbidden") {
			t.Errorf("of %q: %v", provider, e.Unread)
		}
	}
}
