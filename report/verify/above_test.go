package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// hangingOn has a scene's Cluster with its infrastructure's object and its namespace.
func (s *scene) hangingOn() *scene {
	kind := providers[s.provider].clusters[0]
	s.seen.Namespaces = []Namespace{{Name: "ns"}}
	s.seen.Clusters[0].Infrastructure = report.ObjectName{Kind: kind, Name: "c"}
	s.seen.Infrastructures = []Infrastructure{{ObjectName: report.ObjectName{Kind: kind, Namespace: "ns", Name: "c"}}}
	return s
}

// deletions mark each of the things on which a scene's machine hangs as being deleted.
func (s *scene) deletions() map[string]func(*Observation) {
	out := map[string]func(*Observation){
		"Namespace ns":                        func(o *Observation) { o.Namespaces[0].Deleting = later },
		"Cluster c":                           func(o *Observation) { o.Clusters[0].Deleting = later },
		s.seen.Infrastructures[0].Kind + " c": func(o *Observation) { o.Infrastructures[0].Deleting = later },
	}
	for i, g := range s.seen.Groups {
		if s.kind == machineDeployment || g.Kind != "MachineSet" {
			out[g.Kind+" "+g.Name] = func(o *Observation) { o.Groups[i].Deleting = later }
		}
	}
	for i, one := range s.seen.Objects {
		out[one.Kind+" "+one.Name] = func(o *Observation) { o.Objects[i].Deleting = later }
	}
	return out
}

// copied returns a scene whose things may be changed.
func (s *scene) copied() *scene {
	out, o := *s, &s.seen
	out.seen.Namespaces, out.seen.Clusters, out.seen.Infrastructures = slices.Clone(o.Namespaces), slices.Clone(o.Clusters), slices.Clone(o.Infrastructures)
	out.seen.Groups, out.seen.Machines, out.seen.Objects = slices.Clone(o.Groups), slices.Clone(o.Machines), slices.Clone(o.Objects)
	return &out
}

// What is to stay is not as foretold while anything on which it hangs is being deleted, of each
// provider, for workers and control planes, by the plan and not, paused and not.
func TestWhatIsDeletedWithSomethingElse(t *testing.T) {
	for provider := range forms {
		for truth, scenes := range came(provider) {
			for _, s := range scenes {
				if !slices.Contains(keeps, truth) {
					continue
				}
				plane := s.copied().hangingOn().within("KubeadmControlPlane")
				for _, s := range []*scene{s.copied().hangingOn(), plane} {
					for what, change := range s.deletions() {
						own := strings.HasPrefix(what, "MachineSet") || strings.HasSuffix(what, "-1") // which a step of a plan may delete
						for _, how := range []string{"", "by plan", "paused"} {
							with := s.copied()
							change(&with.seen)
							with.seen.ByPlan, with.seen.Clusters[0].Paused = how == "by plan", how == "paused" || s.seen.Clusters[0].Paused
							with.of.Remediation = []report.Step{{Text: "a step"}}
							want := Not
							if with.seen.ByPlan && own && !slices.Contains(takenOver, truth) {
								want = NotJudged
							}
							v := with.one(t, truth)
							if v.Verdict != want || !strings.HasPrefix(v.Seen, what+" is being deleted") || (v.Do != "") != (want == Not && !with.seen.Clusters[0].Paused) {
								t.Errorf("%s/%s, %s is being deleted, %s: %+v", provider, truth, what, how, v)
							}
						}
					}
				}
			}
		}
	}
}

// Of what is replaced its cluster and group are to stay, of an orphan its cluster; nothing else is
// asked of what is to go.
func TestWhatIsDeletedBesideWhatGoes(t *testing.T) {
	for _, c := range []struct {
		foretold code.Outcome
		what     string
		want     Verdict
	}{
		{code.ReplacedByMachineHealthCheck, "Cluster c", Not},
		{code.ReplacedByMachineHealthCheck, "MachineDeployment md-0", Not},
		{code.ReplacedByMachineHealthCheck, "MachineSet md-0-abcde", As},
		{code.RolledByOwner, "Namespace ns", Not},
		{code.RolledByOwner, "VSphereCluster c", Not},
		{code.RolledByOwner, "MachineSet md-0-abcde", As},
		{code.OrphanedAndReplaced, "Cluster c", Not},
		{code.OrphanedAndReplaced, "VSphereVM infra-1", Not},
		{code.GhostKeepsRunning, "Cluster c", As},
	} {
		s := came("vsphere")[c.foretold][0].hangingOn()
		s.deletions()[c.what](&s.seen)
		if v := s.one(t, c.foretold); v.Verdict != c.want {
			t.Errorf("%s, %s is being deleted: %+v", c.foretold, c.what, v)
		}
	}
}

// Whatever provider it has, a cluster that is being deleted keeps nothing.
func TestADeletedClusterOfAnyProvider(t *testing.T) {
	s := newScene("aws").running("id-1")
	s.provider, s.seen.Clusters[0].Deleting = "tinkerbell", later
	if v := s.one(t, code.Adopted); v.Verdict != Not || v.Since == nil || !v.Since.Equal(later) {
		t.Errorf("%+v", v)
	}
	s.seen.Clusters[0].Deleting, s.machine().Deleting = time.Time{}, later
	if v := s.one(t, code.Adopted); v.Verdict != Not || v.Seen != "is Deleting" {
		t.Errorf("%+v", v)
	}
}

// What was not read may be being deleted.
func TestWhatIsAboveWasNotRead(t *testing.T) {
	for _, kind := range []string{"Namespace", "MachineDeployment", "MachineSet", "VSphereCluster", "MachineHealthCheck"} {
		s := newScene("vsphere").running("id-1").hangingOn()
		s.seen.Unread = []Unread{{kind, "403"}}
		want := NotJudged
		if kind == "MachineHealthCheck" {
			want = As
		}
		d := judged(t, s.report(code.Adopted), &s.seen)
		if v := d.Machines[0]; v.Verdict != want || d.State != Incomplete {
			t.Errorf("without %s: %s, %+v", kind, d.State, v)
		}
	}
}

// Deletions are read of each kind, of Namespaces too.
func TestDeletionsAreRead(t *testing.T) {
	var o Observation
	for _, kind := range []string{"Namespace", "Cluster", "KubeadmControlPlane", "RKE2ControlPlane", "MachineDeployment", "MachineSet", "VSphereCluster", "AWSManagedCluster", "OpenStackCluster", "AzureCluster", "VSphereMachine", "OpenStackServer"} {
		doc := `{"kind":"` + kind + `","metadata":{"namespace":"ns","name":"n","uid":"u","deletionTimestamp":"2026-11-25T03:00:00Z","ownerReferences":[{"kind":"K","name":"o","uid":"u","controller":true}]},"spec":{"infrastructureRef":{"kind":"VSphereCluster","name":"i"}}}`
		if err := o.Add(kind, []byte(doc)); err != nil {
			t.Fatal(err)
		}
		namespace := "ns"
		if kind == "Namespace" {
			namespace = ""
		}
		w := &world{seen: &o, things: map[string]*thing{}}
		w.gather()
		if is := w.thing(kind, namespace, "n"); is == nil || is.deleting.IsZero() {
			t.Errorf("%s: %+v", kind, is)
		}
	}
	if o.Clusters[0].Infrastructure.Name != "i" || !o.Groups[0].Owners[0].Controller || o.Groups[0].Owners[0].UID != "u" {
		t.Errorf("%+v", o)
	}
	for _, resource := range []string{"vsphereclusters", "awsmanagedclusters", "openstackclusters", "azureclusters"} {
		if Kind(resource+".infrastructure.cluster.x-k8s.io") == "" {
			t.Errorf("%s is not read", resource)
		}
	}
}
