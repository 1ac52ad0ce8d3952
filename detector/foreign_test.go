package detector

import (
	"testing"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// An instance that another management cluster's tags claim is said to be that
// cluster's: with its name where it is among ours, counted by name elsewhere.
func TestForeignOwnershipTags(t *testing.T) {
	ours := backup.ClusterID{Namespace: "prod", Name: "web"}
	vpc := infra.Key{Kind: infra.KeyKindOf("vpc"), Value: "vpc-1"}
	tag := func(name string) infra.Key { return infra.Key{Kind: infra.OwnerTag, Value: name} }
	instance := func(id string, keys ...infra.Key) infra.Instance {
		return infra.Instance{Identity: id, ID: id, Name: id, Keys: keys}
	}
	snapshot := &backup.Snapshot{Clusters: []backup.Cluster{{Meta: backup.Meta{Namespace: "prod", Name: "web"}}}}
	expected := infra.Expected{
		OwnershipHints: []infra.OwnershipHint{{Grade: infra.LocationOnly, Key: vpc, Owner: &infra.OwnerID{Cluster: ours}}},
		Proofs:         []infra.VisibilityProof{{Cluster: ours, Target: "here", Any: []infra.Key{vpc}}},
		OwnerTags:      []infra.Key{tag("web")},
	}
	inventory := infra.Inventory{Listings: []infra.Listing{{
		IDs: []string{"here"}, Provider: "aws", State: code.ScopeComplete, Clusters: []backup.ClusterID{ours},
		Instances: []infra.Instance{
			instance("among-ours", vpc, tag("other")),
			instance("own-tag", vpc, tag("web")),
			instance("elsewhere-1", tag("other")),
			instance("elsewhere-2", tag("other")),
			instance("untagged"),
		},
	}}}
	r := Detect(snapshot, expected, inventory, Options{})
	foreign := map[string]string{}
	for _, u := range r.Unattributed {
		foreign[u.Instance.ID] = u.Foreign
	}
	if len(foreign) != 2 || foreign["among-ours"] != "other" || foreign["own-tag"] != "" {
		t.Errorf("foreign clusters of instances to confirm: %v", foreign)
	}
	if r.OutOfScope != 3 || len(r.ForeignTags) != 1 || r.ForeignTags["other"] != 2 {
		t.Errorf("out of scope: %d, by foreign tag %v", r.OutOfScope, r.ForeignTags)
	}
}

// The Node list of another cluster, which has the address of one now, contradicts nothing
// on the machines of that one as long as its own control plane runs.
func TestANodeListOfAnotherCluster(t *testing.T) {
	for _, c := range []struct {
		name   string
		listed func(*scene)
		want   code.Reason
	}{
		{"of another cluster alone", func(*scene) {}, code.NodeListUnread},
		{"with a Node that names none", func(s *scene) { s.node(prod, bios("b-2"), "").Name = "joined-by-hand" }, code.NodeListUnread},
		{"with a Node of its own", func(s *scene) { s.node(prod, bios("b-cp-0"), "cp-0") }, code.InstanceNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			s.machine(prod, "cp-0", true)
			s.snap.Machines[0].Node = "cp-0"
			s.vmOf("cp-0")
			s.worker("m")
			s.node(prod, bios("b-1"), "x").ClusterName = "dev"
			c.listed(s)
			if m, _ := find(s.detect(), "m"); m.reason != c.want {
				t.Errorf("m is %s %s, want %s", m.status, m.reason, c.want)
			}
		})
	}
}

// A Node list without a time of its own is held against the clock of the run.
func TestHeartbeatWithoutListingTime(t *testing.T) {
	for age, status := range map[time.Duration]code.Status{9 * time.Minute: code.Unknown, 11 * time.Minute: code.Stale} {
		s := newScene()
		s.worker("m")
		s.node(prod, bios("b-m"), "m").Heartbeat = noon.Add(-age)
		s.listings[1].ListedAt = time.Time{}
		if got, _ := find(s.detect(), "m"); got.status != status {
			t.Errorf("%v: %s, want %s", age, got.status, status)
		}
	}
}
