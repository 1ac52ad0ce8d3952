package detector

import (
	"testing"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// A new instance of an owner is a Ghost only when the owner's machines are all
// in the backup.
func TestCompletenessOfOwners(t *testing.T) {
	none := backup.Number{}
	for _, tc := range []struct {
		name    string
		owner   infra.OwnerID
		arrange func(*scene)
		ghost   bool
	}{
		{"counted and there", ownedBy(machineSet, "md-bcdfg"), func(*scene) {}, true},
		{"one short", ownedBy(machineSet, "md-bcdfg"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(3) }, false},
		{"one more than counted: the status is of another moment", ownedBy(machineSet, "md-bcdfg"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(1) }, false},
		{"not counted", ownedBy(machineSet, "md-bcdfg"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = none }, false},
		{"a zero that is left out", ownedBy(machineSet, "empty"), func(s *scene) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Name: "empty"}, Kind: machineSet, Cluster: prod, Desired: known(0)})
		}, true},
		{"not counted, and three wanted", ownedBy(machineSet, "empty"), func(s *scene) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Name: "empty"}, Kind: machineSet, Cluster: prod, Desired: known(3)})
		}, false},
		{"only its MachineDeployment is short", ownedBy(machineSet, "md-bcdfg"), func(s *scene) { s.group(prod, "md").Replicas = known(3) }, true},
		{"orphans count", ownedBy(machineSet, "md-bcdfg"), func(s *scene) { s.orphan("o"); s.vmOf("o") }, true},
		{"orphans count for the MachineDeployment", ownedBy(machineDeployment, "md"), func(s *scene) { s.orphan("o"); s.vmOf("o") }, true},
		{"control plane", ownedBy(plane, "cp"), func(*scene) {}, true},
		{"control plane one short", ownedBy(plane, "cp"), func(s *scene) { s.plane(prod).Replicas = known(2) }, false},
		{"unknown MachineSet of a known MachineDeployment", ownedBy(machineSet, "md-zzzzz"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, true},
		{"the same by the older names", ownedBy(machineSet, "md-5d9c7b8f6x"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, true},
		{"unknown MachineDeployment named like a MachineSet", ownedBy(machineDeployment, "md-zzzzz"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, false},
		{"the same by the names of Cluster API 1.4 and 1.5", ownedBy(machineSet, "md-5d9c7b8f6xzzzzzz"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, true},
		{"too long for a suffix", ownedBy(machineSet, "md-5d9c7b8f6xzzzzzzz"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, false},
		{"too short for a suffix", ownedBy(machineSet, "md-zzzz"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, false},
		{"vowels are in no suffix", ownedBy(machineSet, "md-alpha"), func(s *scene) { s.group(prod, "md-bcdfg").Replicas = known(9) }, false},
		{"unknown MachineSet whose MachineDeployment is short", ownedBy(machineSet, "md-zzzzz"), func(s *scene) { s.group(prod, "md").Replicas = known(9) }, false},
		{"the longest MachineDeployment is the right one", ownedBy(machineSet, "md-zzzzz-zzzzz"), func(s *scene) {
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Name: "md-zzzzz"}, Kind: machineDeployment, Cluster: prod, Replicas: known(5)})
		}, false},
		{"the whole cluster: it may have an owner that the backup lacks", ownedBy("", ""), func(*scene) {}, false},
		{"an owner of a kind that nobody knows", ownedBy("Karpenter", "x"), func(*scene) {}, false},
		{"machines of another cluster do not count", ownedBy(machineSet, "md-bcdfg"), func(s *scene) {
			id := backup.ClusterID{Namespace: "tenant", Name: "second"}
			s.cluster(id)
			s.machine(id, "n", false)
			s.group(prod, "md-bcdfg").Replicas.N++
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			s.machine(prod, "a", true)
			s.worker("m")
			s.worker("m2")
			s.hint(infra.Medium, key("tied", "x"), tc.owner, 1)
			tc.arrange(s)
			s.vm("new", key("tied", "x"))
			want := wish{name: "new", status: code.Ghost}
			if !tc.ghost {
				want = wish{name: "new", status: code.Unknown, reason: code.MachineNotInBackup}
			}
			expect(t, s.detect(), want)
		})
	}
}

// A control-plane instance is the only control plane's, whatever else says so.
func TestControlPlaneByTheEvidenceAlone(t *testing.T) {
	s := newScene()
	s.hint(infra.Medium, key("tied", "x"), ownedBy("", ""), 1).ControlPlane = true
	s.vm("new", key("tied", "x"))
	expect(t, s.detect(), wish{name: "new", status: code.Ghost})
	s.plane(prod).Replicas = known(1)
	expect(t, s.detect(), wish{name: "new", status: code.Unknown, reason: code.MachineNotInBackup})
}

// Where an instance without a machine is listed.
func TestPlaceOfGhosts(t *testing.T) {
	for _, tc := range []struct {
		name         string
		owner        infra.OwnerID
		controlPlane bool
		set          string
		plane, known bool
	}{
		{"control plane by its kind", ownedBy(plane, "cp"), false, plane + "/cp", true, true},
		{"control plane by the evidence", ownedBy("", ""), true, plane + "/cp", true, true},
		{"MachineSet of a MachineDeployment", ownedBy(machineSet, "md-bcdfg"), false, "MachineDeployment/md", false, true},
		{"MachineSet made later", ownedBy(machineSet, "md-zzzzz"), false, "MachineDeployment/md", false, true},
		{"MachineSet alone", ownedBy(machineSet, "alone"), false, "MachineSet/alone", false, true},
		{"MachineSet that nothing is known of", ownedBy(machineSet, "other"), false, "/", false, true},
		{"the cluster as a whole", ownedBy("", ""), false, "/", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene()
			s.snap.Groups = append(s.snap.Groups, backup.Group{Meta: backup.Meta{Name: "alone"}, Kind: machineSet, Cluster: prod, Replicas: known(0)})
			s.hint(infra.Strong, key("tied", "x"), tc.owner, 1).ControlPlane = tc.controlPlane
			s.vm("new", key("tied", "x")).Created = noon
			r := s.detect()
			expect(t, r, wish{name: "new", status: code.Ghost, set: tc.set})
			for _, v := range verdictsOf(r.Clusters[0]) {
				if v.ControlPlane != tc.plane || v.RoleKnown != tc.known || v.Namespace != "tenant" || v.Instance == nil || v.Scope != vc {
					t.Errorf("got %+v", v)
				}
				if len(v.Evidence) != 1 || v.Evidence[0].Strength != StrengthStrong {
					t.Errorf("evidence %+v", v.Evidence)
				}
			}
		})
	}
}

// A pattern ties whole names only, and one that is no expression ties nothing.
func TestPatterns(t *testing.T) {
	for pattern, fits := range map[string]bool{
		"vm-[a-z]+": true, "vm": false, "vm|x": false, "m-new": false, "a|vm-new": true, "vm-(": false, "": false,
	} {
		s, owner := newScene(), ownedBy(plane, "cp")
		s.expected.OwnershipHints = []infra.OwnershipHint{{Grade: infra.Medium, Pattern: &infra.NamePattern{Name: pattern, Within: key("folder", "f")}, Owner: &owner}}
		s.vm("vm-new", key("folder", "f"))
		s.vm("vm-elsewhere", key("folder", "g"))
		r := s.detect()
		if _, ok := find(r, "vm-new"); ok != fits {
			t.Errorf("pattern %q fits: %v, want %v", pattern, ok, fits)
		}
		if _, ok := find(r, "vm-elsewhere"); ok {
			t.Errorf("pattern %q fits in another folder", pattern)
		}
	}
}

// A name says nothing in a vCenter where the cluster has no machines; a strong
// tie says it anywhere.
func TestTiesHoldWhereTheClusterIs(t *testing.T) {
	for grade, want := range map[infra.Grade]int{infra.Strong: 0, infra.Medium: 1, infra.LocationOnly: 1} {
		s := newScene()
		s.hint(grade, key("tied", "x"), ownedBy(machineSet, "md-bcdfg"), 1)
		s.list("replica/user").Clusters = nil
		s.vmIn(1, "far", key("tied", "x"))
		if got := s.detect().OutOfScope; got != want {
			t.Errorf("grade %d: %d out of scope, want %d", grade, got, want)
		}
	}
}
