package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report/code"
)

// without takes an object or a group of a kind away.
func (s *scene) without(kind string) *scene {
	s.seen.Groups = slices.DeleteFunc(s.seen.Groups, func(g Group) bool { return g.Kind == kind })
	s.seen.Objects = slices.DeleteFunc(s.seen.Objects, func(o Object) bool { return o.Kind == kind })
	return s
}

// Of what is to stay nothing is as foretold when what keeps it is gone, of each provider.
func TestWhatKeepsItIsGone(t *testing.T) {
	for provider, form := range forms {
		for truth, scenes := range came(provider) {
			for _, s := range scenes {
				if !slices.Contains(keeps, truth) {
					continue
				}
				gone := []string{form.machine, machineDeployment, "MachineSet"}
				if form.own != "" {
					gone = append(gone, form.own)
				}
				for _, kind := range gone {
					with := s.copied().without(kind)
					with.seen.Serves = map[string]bool{form.own: true, form.machine: true}
					if kind == "MachineSet" && truth == code.UntouchedPaused {
						continue // its Machine does not say of which it is
					}
					v := with.one(t, truth)
					if v.Verdict == As || kind != form.own && kind != form.machine && (v.Verdict != Not || !strings.Contains(v.Seen, "is gone")) {
						t.Errorf("%s/%s without %s: %+v", provider, truth, kind, v)
					}
				}
			}
		}
	}
}

func TestOwnersAndObjects(t *testing.T) {
	fresh := func() *scene { return newScene("vsphere").running("id-1") }
	early := func(s *scene) { s.seen.At = unpaused.Add(time.Minute) }
	for name, c := range map[string]struct {
		scene *scene
		want  Verdict
		seen  string
	}{
		"all are there":              {fresh(), As, "is Running"},
		"its infrastructure machine": {fresh().without("VSphereMachine"), Not, "owner VSphereMachine infra-1 is gone"},
		"its VSphereVM":              {fresh().without("VSphereVM").with(func(s *scene) { s.seen.Serves = map[string]bool{"VSphereVM": true, "VSphereMachine": true} }), Not, "its VSphereVM is gone"},
		"its VSphereVM may come":     {fresh().waits().without("VSphereVM"), NotYet, "has not found its VM"},
		"its OpenStackServer": {newScene("openstack").running("id-1").with(func(s *scene) {
			s.seen.Objects[0].Conditions, s.seen.Objects[0].ID = s.seen.Objects[1].Conditions, "id-1"
		}).without("OpenStackServer").with(func(s *scene) { s.seen.Serves = map[string]bool{"OpenStackServer": true} }), Not, "its OpenStackServer is gone"},
		"a release without OpenStackServer": {newScene("openstack").running("id-1").with(func(s *scene) {
			s.seen.Objects[0].Conditions, s.seen.Objects[0].ID = s.seen.Objects[1].Conditions, "id-1"
		}).without("OpenStackServer"), As, "is Running"},
		"its control plane":                {fresh().within("KubeadmControlPlane").without("KubeadmControlPlane"), Not, "KubeadmControlPlane g is gone"},
		"its MachineSet":                   {fresh().without("MachineSet"), Not, "its Machine's owner MachineSet md-0-abcde is gone"},
		"its MachineSet, which may come":   {fresh().without("MachineSet").with(early), NotYet, "MachineSet md-0-abcde is not there yet"},
		"its MachineDeployment":            {fresh().without("MachineDeployment"), Not, "MachineDeployment md-0 is gone"},
		"its MachineDeployment, by a plan": {fresh().without("MachineDeployment").with(func(s *scene) { s.seen.ByPlan = true }), NotJudged, "which a plan may leave out"},
		"MachineSets, and they are unread": {fresh().without("MachineSet").with(func(s *scene) { s.seen.Unread = []Unread{{"MachineSet", "403"}} }), NotJudged, "MachineSet could not be read"},
		"its ownerReference":               {fresh().with(func(s *scene) { s.machine().Owners = nil }), NotYet, "no controller owns its Machine yet"},
		"its controller":                   {fresh().with(func(s *scene) { s.machine().Owners[0].Controller = false }), NotYet, "no controller owns its Machine yet"},
		"its owner is another": {fresh().with(func(s *scene) {
			s.machine().Owners[0].UID, s.seen.Groups[1].UID = "old", "new"
		}), Not, "its Machine's owner MachineSet md-0-abcde is not the one that is there"},
		"its owner is that":           {fresh().with(func(s *scene) { s.machine().Owners[0].UID, s.seen.Groups[1].UID = "new", "new" }), As, "is Running"},
		"an owner of an unknown kind": {fresh().with(func(s *scene) { s.machine().Owners[0].Kind = "Fleet" }), As, "is Running"},
		"its controller is another, and another owner is there": {fresh().with(func(s *scene) {
			s.machine().Owners[0].UID, s.seen.Groups[1].UID = "old", "new"
			s.machine().Owners = append(s.machine().Owners, Owner{Kind: "Cluster", Name: "c"})
		}), NotYet, "no controller owns its Machine yet"},
		"its MachineSet's owner is another": {fresh().with(func(s *scene) {
			s.seen.Groups[0].UID, s.seen.Groups[1].Owners = "new", []Owner{{Kind: machineDeployment, Name: "md-0", UID: "old", Controller: true}}
		}), Not, "MachineSet md-0-abcde's owner MachineDeployment md-0 is not the one"},
		"its object's owner is another": {fresh().with(func(s *scene) {
			s.seen.Objects[0].Owners = []Owner{{Kind: "Machine", Name: s.of.Name, UID: "old"}}
		}), Not, "VSphereMachine infra-1's owner Machine md-0-abcde-fghij is not the one"},
		"while things are restored": {fresh().without("MachineSet").with(func(s *scene) { s.machine().Created = now.Add(-time.Minute) }), NotYet, "is not there yet"},
	} {
		t.Run(name, func(t *testing.T) {
			if v := c.scene.one(t, code.Adopted); v.Verdict != c.want || !strings.Contains(v.Seen, c.seen) {
				t.Errorf("%+v, want %s, %q", v, c.want, c.seen)
			}
		})
	}
}

// A Machine whose owner the backup lacks stays without one.
func TestAMachineWithoutAnOwnerInTheBackup(t *testing.T) {
	s := newScene("vsphere").running("id-1").without(machineDeployment).without("MachineSet")
	s.machine().Owners = nil
	r := s.report(code.Adopted)
	r.Clusters[0].Workers.Groups[0].Desired = nil
	if v := judged(t, r, &s.seen).Machines[0]; v.Verdict != As {
		t.Errorf("%+v", v)
	}
}

// An infrastructure's object of another group of the API is not read, and so not gone.
func TestAnObjectOfAnotherGroupOfTheAPI(t *testing.T) {
	s := newScene("vsphere").running("id-1").without("VSphereMachine").without("VSphereVM")
	s.seen.Serves = map[string]bool{"Machine": true}
	if v := s.one(t, code.Adopted); v.Verdict != NotYet || !strings.Contains(v.Seen, "has not found its VM") {
		t.Errorf("%+v", v)
	}
	s.seen.Serves["VSphereMachine"] = true
	if v := s.one(t, code.Adopted); v.Verdict != Not {
		t.Errorf("%+v", v)
	}
}
