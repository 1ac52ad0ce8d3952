package rehearsal

import (
	"context"
	"slices"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/backup/backuptest"
	"drift-detector/report"
	"drift-detector/report/code"
)

func codes(notes []report.Note) string {
	var out []string
	for _, n := range notes {
		out = append(out, string(n.Code))
	}
	return strings.Join(out, " ")
}

func TestNotesOnAClusterAndItsText(t *testing.T) {
	for name, c := range map[string]struct {
		arrange     func(*story)
		notes, text string
	}{
		"well":     {func(s *story) { s.plane("a", found); s.worker("b", found) }, "", "2 adopted"},
		"empty":    {func(s *story) {}, "", "no machines"},
		"paused":   {func(s *story) { s.cluster.Paused = true; s.worker("b", found) }, string(code.ClusterPaused), "paused: nothing happens until it is unpaused"},
		"halted":   {func(s *story) { halt(s); s.worker("b", gone) }, string(code.IdentityAbsent), "is not reconciled until VSphereClusterIdentity shared exists; then 1 broken until you act"},
		"derived":  {func(s *story) { s.cluster.Derived = true; s.worker("b", never) }, string(code.ClusterObjectAbsent), "1 re-created"},
		"deleted":  {func(s *story) { s.plane("a", gone); s.worker("b", gone) }, string(code.ControlPlaneGone), "2 broken until you act"},
		"shrinks":  {func(s *story) { s.plane("a", found); s.ghostPlane("b") }, string(code.EtcdShrinks), "1 adopted, 1 ghost taken out of etcd and left unmanaged"},
		"doubled":  {func(s *story) { s.worker("b", warned(found, code.DuplicateID)) }, string(code.DuplicateID), "1 adopted"},
		"hosted":   {func(s *story) { s.cluster.ControlPlane.Reason = code.HostedInManagementCluster }, string(code.HostedInManagementCluster), "no machines"},
		"scaled":   {func(s *story) { s.snapshot.Groups[0].Autoscaled = true; s.worker("b", found) }, string(code.ReplicasManaged), "1 adopted"},
		"managed":  {func(s *story) { s.snapshot.Groups[0].ReplicasManagedBy = "karpenter"; s.ghostWorker("b") }, string(code.ReplicasManaged), "1 ghost left unmanaged"},
		"orphaned": {func(s *story) { want(s, 1); s.orphan("b"); s.worker("c", unknown("x")); want(s, 2) }, string(code.MachinesMade), "1 orphaned and replaced, 1 not known"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			got := s.end().Clusters[0]
			if codes(got.Notes) != c.notes || got.Text != c.text {
				t.Errorf("%q %q, want %q %q", codes(got.Notes), got.Text, c.notes, c.text)
			}
		})
	}
}

func TestNotesOnTheEstate(t *testing.T) {
	s := newStory(t)
	s.worker("a", gone)
	s.worker("b", warned(found, "Renamed"))
	s.worker("c", never)
	f := s.end()
	if got, want := codes(f.Notes), "AssumedOrder WebhooksDuringRestore OldManagementCluster UnpausedClusters NotHealing"; got != want {
		t.Errorf("%s", got)
	}
	if !strings.Contains(f.Notes[0].Message, "up to 1 Stale machine under the old name; for up to 1 renamed or moved VM, beside") {
		t.Errorf("%s", f.Notes[0].Message)
	}
	if f.NotHealing != 1 || f.Clusters[0].NotHealing != 1 || !strings.HasPrefix(f.Notes[4].Message, "1 Stale machine will not heal by itself") {
		t.Errorf("%d do not heal: %s", f.NotHealing, f.Notes[4].Message)
	}
	s.cluster.Paused = true
	if got, want := codes(s.end().Notes), "AssumedOrder WebhooksDuringRestore OldManagementCluster NotHealing"; got != want {
		t.Errorf("%s", got)
	}
}

// The management cluster's own machines are forecast, and count for nothing.
func TestSelfIsNotCounted(t *testing.T) {
	s := newStory(t)
	s.worker("a", gone)
	s.cluster.Self = true
	f := s.end()
	if f.NotHealing != 0 || len(f.Outcomes) != 0 || s.outcome(f, "a").Outcome != code.Stuck || strings.Contains(codes(f.Notes), string(code.UnpausedClusters)+" "+string(code.NotHealing)) {
		t.Errorf("%+v", f)
	}
}

func TestWebhooksInTheBackup(t *testing.T) {
	of := func(namespace string) *backuptest.Tarball {
		return backuptest.New().Add("clusters.cluster.x-k8s.io", fields{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": fields{"namespace": namespace, "name": "prod"},
		})
	}
	b, other := of("ns"), of("other") // two parts of one management cluster
	for _, name := range []string{"capi-validating-webhook-configuration", "capv-mutating-webhook-configuration", "cert-manager-webhook", "capsule-webhook-configuration"} {
		for _, kind := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
			if (kind[0] == 'm') == strings.Contains(name, "mutating") {
				for _, part := range []*backuptest.Tarball{b, other} {
					part.Add(kind+".admissionregistration.k8s.io", fields{
						"apiVersion": "admissionregistration.k8s.io/v1", "kind": "WebhookConfiguration", "metadata": fields{"name": name, "uid": name},
					})
				}
			}
		}
	}
	s, _, err := backup.Load(context.Background(), []backup.Source{backuptest.Source("b", b.Bytes()), backuptest.Source("other", other.Bytes())}, Want())
	if err != nil {
		t.Fatal(err)
	}
	if got := (&world{in: &Inputs{Snapshot: s}}).webhooks(); !strings.Contains(got, "The backup holds 2 of them") {
		t.Error(got)
	}
	if got := (&world{in: &Inputs{Snapshot: newStory(t).snapshot}}).webhooks(); !strings.Contains(got, "The backup holds none") {
		t.Error(got)
	}
}

// What a note is about and what a cluster waits for are beside the sentences.
func TestNotesNameObjects(t *testing.T) {
	s := newStory(t)
	for _, name := range []string{"own", "shared"} {
		s.absent = append(s.absent, backup.Absence{Kind: "VSphereClusterIdentity", Name: name, Halts: []backup.ClusterID{prod}})
	}
	s.absent = append(s.absent, backup.Absence{Kind: "IdentityProvider", Name: "x", Halts: []backup.ClusterID{prod}})
	f := s.end()
	notes, effects := f.Clusters[0].Notes, f.Clusters[0].Effects
	if codes(notes) != "IdentityAbsent ClusterHalted" || !slices.Equal(notes[0].Objects, []string{"VSphereClusterIdentity own", "VSphereClusterIdentity shared"}) {
		t.Errorf("%+v", notes)
	}
	var until []string
	for _, e := range effects {
		until = append(until, e.Until)
	}
	if !slices.Equal(until, []string{"VSphereClusterIdentity own", "VSphereClusterIdentity shared", "IdentityProvider x"}) || !slices.Equal(notes[1].Objects, effects[2].Objects) {
		t.Errorf("%+v", effects)
	}
	s = newStory(t)
	s.cluster.Paused = true
	for _, n := range s.end().Conditions {
		if want := []string{"Cluster " + prod.Namespace + "/" + prod.Name}; n.Code == code.ClustersPaused != slices.Equal(n.Objects, want) {
			t.Errorf("%+v", n)
		}
	}
}

// How many VMs would be cloned is only said when everything was looked at; an
// Unknown machine may be one of them.
func TestWhatClonesWouldBeMade(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*story)
		says    string
		not     string
	}{
		"Stale and moved": {func(s *story) { s.worker("a", gone); s.worker("b", gone); s.worker("c", warned(found, "Moved")) }, "for up to 2 Stale machines under the old names; for up to 1 renamed or moved VM, beside the running one", "Unknown"},
		"Unknown":         {func(s *story) { s.worker("a", unknown(code.AmbiguousMatch)) }, "for up to 1 Unknown machine, if it has no VM under its name", "Stale machine"},
		"not complete": {func(s *story) {
			s.partial = true
			s.worker("a", gone)
			s.worker("b", unknown(code.ScopeIncomplete))
		}, "For how many is not known", "up to"},
		"nothing":          {func(s *story) { s.worker("a", found); s.worker("b", never); s.ghostWorker("c") }, "by folder and name alone", "up to"},
		"paused":           {func(s *story) { s.cluster.Paused = true; s.worker("a", gone) }, "by folder and name alone", "up to"},
		"none of CAPV's":   {func(s *story) { s.cluster.Provider = aws; s.worker("a", gone) }, "terminate every running worker", "CAPV"},
		"the cluster Self": {func(s *story) { s.cluster.Self = true; s.worker("a", gone) }, "terminate every running worker", "CAPV"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			c.arrange(s)
			if got := s.end().Notes[0].Message; !strings.Contains(got, c.says) || strings.Contains(got, c.not) {
				t.Errorf("%q, want %q and not %q", got, c.says, c.not)
			}
		})
	}
}

// Notes are printed in lists: each is a sentence by itself.
func TestNotesAreSentences(t *testing.T) {
	s := newStory(t)
	s.cluster.Derived = true
	s.snapshot.Groups[0].Autoscaled = true
	s.absent = append(s.absent, backup.Absence{Kind: "VSphereClusterIdentity", Name: "shared", Halts: []backup.ClusterID{prod}})
	s.worker("md-old-a", gone)
	s.ghostWorker("md-new-a")
	s.worker("md-old-b", warned(gone, code.DuplicateID))
	s.ghostWorker("md-new-b")
	for _, arrange := range []func(*story){
		func(s *story) { s.plane("a", found); s.ghostPlane("g") },
		func(s *story) { s.cluster.Provider = aws; s.plane("c", asleep(found)) },
		func(s *story) {
			s.cluster.ControlPlane.Reason, s.cluster.Paused = code.HostedInManagementCluster, true
		},
	} {
		arrange(s)
		f := s.end()
		for _, n := range append(f.Notes, f.Clusters[0].Notes...) {
			if first := n.Message[0]; first >= 'a' && first <= 'z' || strings.HasSuffix(n.Message, ".") {
				t.Errorf("%s: %q", n.Code, n.Message)
			}
			if strings.Contains(n.Message, "1 ghosts") || strings.Contains(n.Message, "its machines") || strings.Contains(n.Message, "1 Stale machines") {
				t.Errorf("%s: %q", n.Code, n.Message)
			}
		}
	}
}
