package detector

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// An inventory that is older than the backup proves no absence, and what it
// shows may be gone with its machine since. One made afterwards decides.
func TestInventoryOlderThanTheBackup(t *testing.T) {
	written := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	id := backup.ClusterID{Namespace: "prod", Name: "web"}
	set := backup.Owner{Kind: "MachineSet", Name: "web-md", Controller: true}
	machine := func(name string) backup.Machine {
		return backup.Machine{Meta: backup.Meta{Namespace: "prod", Name: name, UID: name}, Cluster: id, Owner: set, Set: "web-md"}
	}
	snapshot := &backup.Snapshot{
		Backups:  []backup.Info{{WrittenTo: written}},
		Clusters: []backup.Cluster{{Meta: backup.Meta{Namespace: "prod", Name: "web"}}},
		Groups: []backup.Group{{
			Meta: backup.Meta{Namespace: "prod", Name: "web-md"}, Kind: "MachineSet", Cluster: id,
			Replicas: backup.Number{N: 2, Known: true},
		}},
		Machines: []backup.Machine{machine("here"), machine("gone")},
	}
	key := func(v string) infra.Key { return infra.Key{Kind: infra.KeyKindOf("id"), Value: v} }
	folder := infra.Key{Kind: infra.KeyKindOf("folder"), Value: "f"}
	expected := infra.Expected{
		Proofs: []infra.VisibilityProof{{Cluster: id, Target: "vc", All: []infra.Key{folder}}},
		OwnershipHints: []infra.OwnershipHint{{
			Grade: infra.Medium, Key: infra.Key{Kind: infra.KeyKindOf("stem"), Value: "web-md"},
			Owner: &infra.OwnerID{Cluster: id, Kind: "MachineSet", Name: "web-md"},
		}},
	}
	for i := range snapshot.Machines {
		expected.Machines = append(expected.Machines, infra.ExpectedMachine{Machine: i, Provider: "p", Strong: key(snapshot.Machines[i].Name), Home: infra.HomeScope{Target: "vc"}})
	}
	for _, c := range []struct {
		listed   time.Time
		verdicts map[string]code.Status
		complete bool
	}{
		{written.Add(-time.Minute), map[string]code.Status{"here": code.Healthy, "gone": code.Unknown, "new": code.Unknown}, false},
		{written.Add(time.Minute), map[string]code.Status{"here": code.Healthy, "gone": code.Stale, "new": code.Ghost}, true},
	} {
		r := Detect(snapshot, expected, infra.Inventory{Listings: []infra.Listing{{
			IDs: []string{"vc"}, Provider: "p", Endpoint: "vc:443", State: infra.Complete, ListedAt: c.listed,
			Clusters: []backup.ClusterID{id}, ProbesFound: []infra.Key{folder},
			Instances: []infra.Instance{
				{Identity: "1", ID: "here", Name: "here", Keys: []infra.Key{key("here")}},
				{Identity: "2", ID: "new", Name: "new", Keys: []infra.Key{key("new"), {Kind: infra.KeyKindOf("stem"), Value: "web-md"}}},
			},
		}}}, Options{})
		seen := 0
		for _, g := range r.Clusters[0].WorkerGroups {
			for _, m := range g.Machines {
				if seen++; m.Status != c.verdicts[m.Name] {
					t.Errorf("listed at %s: %s is %s (%s), want %s", c.listed, m.Name, m.Status, m.Reason, c.verdicts[m.Name])
				}
			}
		}
		if seen != len(c.verdicts) || r.Complete != c.complete {
			t.Errorf("listed at %s: %d verdicts, complete %v: %+v", c.listed, seen, r.Complete, r.Scopes)
		}
	}
}
