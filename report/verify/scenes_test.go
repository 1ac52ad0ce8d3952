package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// scene is one machine of a report with what is seen of it, twenty minutes after the controllers
// could act. Its group has another machine, which was taken over.
type scene struct {
	provider string
	of       report.Machine
	group    string
	kind     string
	created  int // Machines that its group was to create
	deleted  int
	members  []string // of a pool
	seen     Observation
}

var (
	reported = time.Date(2026, 11, 25, 2, 0, 0, 0, time.UTC)
	unpaused = reported.Add(time.Hour)
	now      = unpaused.Add(20 * time.Minute)
	earlier  = reported.Add(-24 * time.Hour)
	later    = unpaused.Add(time.Minute)
)

// forms are the objects and words of a provider.
var forms = map[string]struct {
	prefix, machine, own, condition, notFound, on, off string
}{
	"vsphere":   {"vsphere://", "VSphereMachine", "VSphereVM", "VirtualMachineProvisioned", "NotFoundByBIOSUUID", "poweredOn", "poweredOff"},
	"openstack": {"openstack:///", "OpenStackMachine", "OpenStackServer", "InstanceReady", "InstanceNotFound", "ACTIVE", "SHUTOFF"},
	"aws":       {"aws:///eu-1a/", "AWSMachine", "", "InstanceReady", "InstanceTerminated", "running", "stopped"},
	"azure":     {"azure:///", "AzureMachine", "", "VMRunning", "Failed", "running", "deallocated"},
}

func newScene(provider string) *scene {
	form := forms[provider]
	s := &scene{provider: provider, group: "md-0", kind: "MachineDeployment"}
	s.of = report.Machine{
		Namespace: "ns", Name: "md-0-abcde-fghij", UID: "old", Role: report.RoleWorker, Status: code.Healthy, ProviderID: form.prefix + "id-1",
		Instance:       &report.Instance{Provider: provider, Scope: provider + " here", ID: "id-1", Name: "md-0-abcde-fghij", State: form.on},
		Infrastructure: &report.ObjectName{Kind: form.machine, Namespace: "ns", Name: "infra-1"},
		Forecast:       &report.MachineForecast{},
	}
	s.seen = Observation{
		At: now, KubeSystemUID: "new", Created: reported,
		Clusters:  []Cluster{{Namespace: "ns", Name: "c", Created: unpaused, Conditions: []Condition{{Type: "ControlPlaneInitialized", Status: "True", Since: unpaused}}}},
		Machines:  []Machine{{Namespace: "ns", Name: s.of.Name, UID: "new", Cluster: "c", Group: "md-0", Created: unpaused, Owners: []Owner{{Kind: "MachineSet", Name: "md-0-abcde", Controller: true}}}},
		Objects:   []Object{{ObjectName: report.ObjectName{Kind: form.machine, Namespace: "ns", Name: "infra-1"}}},
		Groups:    []Group{{Kind: "MachineDeployment", Namespace: "ns", Name: "md-0", Cluster: "c"}, {Kind: "MachineSet", Namespace: "ns", Name: "md-0-abcde", Cluster: "c"}},
		Instances: []report.Instance{{Provider: provider, Scope: provider + " here", ID: "ID-1", Name: s.of.Name, State: form.on, Created: &earlier}},
		Scopes:    []report.Scope{{Provider: provider, Endpoint: "here", State: code.ScopeComplete}},
	}
	if form.own != "" {
		s.seen.Objects = append(s.seen.Objects, Object{ObjectName: report.ObjectName{Kind: form.own, Namespace: "ns", Name: "own-1"}, Owners: []Owner{{Kind: form.machine, Name: "infra-1"}}})
	}
	return s
}

func (s *scene) machine() *Machine { return &s.seen.Machines[0] }

// says has the object that knows most say of its instance what a condition does.
func (s *scene) says(status, reason, id string) *scene {
	o := &s.seen.Objects[len(s.seen.Objects)-1]
	o.ID, o.Conditions = id, []Condition{{Type: forms[s.provider].condition, Status: status, Reason: reason, Since: later}}
	return s
}

// is sets the Machine's phase and its conditions InfrastructureReady and NodeHealthy.
func (s *scene) is(phase, infrastructure, node string) *scene {
	m := s.machine()
	m.Phase, m.Conditions = phase, []Condition{{Type: "InfrastructureReady", Status: infrastructure}, {Type: "NodeHealthy", Status: node}}
	return s
}

func (s *scene) running(id string) *scene {
	return s.says("True", "", id).is("Running", "True", "True")
}
func (s *scene) waits() *scene { return s.is("Provisioned", "False", "Unknown") }

// lost takes the VM away, from the report too.
func (s *scene) lost() *scene {
	s.of.Status, s.of.Instance, s.seen.Instances = code.Stale, nil, nil
	return s
}

// off has the VM off when the report was made.
func (s *scene) off() *scene {
	s.of.Warnings, s.of.Instance.State = []report.Warning{{Reason: code.PoweredOff}}, forms[s.provider].off
	return s
}

// gone has Machine, infrastructure objects and VM deleted.
func (s *scene) gone() *scene {
	s.seen.Machines, s.seen.Objects, s.seen.Instances = nil, nil, nil
	return s
}

func (s *scene) newVM(id string, at time.Time) *scene {
	s.seen.Instances = append(s.seen.Instances, report.Instance{Provider: s.provider, Scope: s.provider + " here", ID: id, Name: s.of.Name, State: forms[s.provider].on, Created: &at})
	return s
}

func (s *scene) another(name, replaces string) *scene {
	s.seen.Machines = append(s.seen.Machines, Machine{Namespace: "ns", Name: name, UID: "young", Cluster: "c", Group: s.group, Created: later, RemediationFor: replaces})
	return s
}

// within makes it a machine of a pool, or of the control plane.
func (s *scene) within(kind string) *scene {
	s.kind, s.group = kind, "g"
	if kind == "KubeadmControlPlane" {
		s.of.Role = report.RoleControlPlane
	}
	s.seen.Groups[0].Kind, s.seen.Groups[0].Name = kind, "g"
	for i := range s.seen.Machines {
		s.seen.Machines[i].Group, s.seen.Machines[i].Owners = "g", []Owner{{Kind: kind, Name: "g", Controller: true}}
	}
	return s
}

func (s *scene) with(change func(*scene)) *scene { change(s); return s }

// report has the machine with an outcome.
func (s *scene) report(foretold code.Outcome) *report.Report {
	b := newReport(reported)
	m := s.of
	m.Forecast = &report.MachineForecast{Outcome: foretold, ByPlan: s.of.Forecast.ByPlan, ExpectedBy: s.of.Forecast.ExpectedBy}
	b.add(s.provider, "ns", "c", s.group, m)
	if g := b.groups[s.group]; g != nil {
		g.Kind, g.Forecast.Replicas.Created = s.kind, s.created
		if s.members != nil {
			g.Kind, g.Pool, g.Forecast.Replicas.Deleted = "MachinePool", &report.Pool{State: code.Present, Now: s.members}, s.deleted
		}
	}
	r := b.done()
	if m.Role == report.RoleControlPlane {
		r.Clusters[0].ControlPlane.Name = s.group
	}
	return r
}

// came returns the scenes in which an outcome came, of each provider that has it.
func came(provider string) map[code.Outcome][]*scene {
	form := forms[provider]
	fresh := func() *scene { return newScene(provider) }
	ghost := func() *scene {
		return fresh().with(func(s *scene) {
			s.of.Status, s.of.Infrastructure, s.of.ProviderID, s.of.UID = code.Ghost, nil, "", ""
			s.seen.Machines, s.seen.Objects = nil, nil
		})
	}
	orphan := func() *scene {
		return fresh().with(func(s *scene) {
			s.of.Warnings, s.created = []report.Warning{{Reason: code.MachineMissing}}, 1
			s.seen.Machines = nil
			for i := range s.seen.Objects {
				s.seen.Objects[i].Owners = nil
				s.seen.Objects[i].Name = "infra-1"
			}
		})
	}
	unnamed := func(s *scene) { s.of.ProviderID = "" }
	out := map[code.Outcome][]*scene{
		code.Adopted:       {fresh().running("id-1")},
		code.AdoptedByName: {fresh().running("id-1").with(unnamed)},
		code.Stuck:         {fresh().lost().says("False", form.notFound, "").waits(), fresh().lost().waits()},
		code.StuckNodeLeft: {fresh().lost().says("False", form.notFound, "").is("Provisioned", "False", "True")},
		code.Halted:        {fresh().waits()},
		code.UntouchedPaused: {fresh().with(func(s *scene) {
			s.seen.Clusters[0].Paused, s.machine().Owners = true, nil
			s.machine().Conditions = []Condition{{Type: "Paused", Status: "True"}}
		})},
		code.NewInstanceCreated: {fresh().lost().newVM("id-2", later).running("id-2")},
		code.OtherInstanceTaken: {fresh().lost().newVM("id-3", earlier).says("True", "", "id-3").waits()},
		code.ReplacedByMachineHealthCheck: {
			fresh().lost().gone().another("md-0-abcde-young", ""), fresh().gone().another("md-0-abcde-young", ""),
			fresh().gone().within("KubeadmControlPlane").another("c-young", "md-0-abcde-fghij"),
		},
		code.RolledByOwner: {fresh().gone().another("md-0-zzzzz-young", ""), fresh().gone().within("KubeadmControlPlane").another("c-young", "")},
		code.DeletedByOwner: {
			fresh().gone().with(func(s *scene) { s.seen.Groups = nil }), fresh().within("MachinePool").gone(),
		},
		code.DeletedByMachineHealthCheck: {fresh().gone().with(func(s *scene) {
			s.of.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 60}
		})},
		code.MemberGone:          {fresh().within("MachinePool").lost().gone()},
		code.OrphanedAndReplaced: {orphan().another("md-0-abcde-young", "")},
		code.GhostKeepsRunning:   {ghost(), orphan().with(func(s *scene) { s.created = 0 })},
	}
	if provider == "vsphere" {
		out[code.AdoptedPoweredOn] = []*scene{fresh().off().running("id-1")}
	}
	if provider == "openstack" {
		out[code.NewInstanceNeverJoins] = []*scene{fresh().lost().newVM("id-2", later).says("True", "", "id-2").waits()}
		out[code.Halted] = append(out[code.Halted], fresh().says("False", "InstanceStateError", "id-1").waits())
		out[code.Stuck] = append(out[code.Stuck], fresh().off().with(func(s *scene) {
			s.seen.Instances[0].State, s.seen.Objects[1].State = "SHUTOFF", "SHUTOFF"
			s.says("Unknown", "InstanceNotReady", "id-1").waits()
		}))
	}
	return out
}

// one returns the verdict of the scene's machine.
func (s *scene) one(t testing.TB, foretold code.Outcome) MachineVerdict {
	t.Helper()
	d := judged(t, s.report(foretold), &s.seen)
	if len(d.Machines) != 1 {
		t.Fatalf("%d machines", len(d.Machines))
	}
	return d.Machines[0]
}

// What came is as foretold, and nothing else is: over all pairs of outcomes.
func TestOnlyWhatCameIsAsForetold(t *testing.T) {
	for provider := range forms {
		scenes := came(provider)
		for _, truth := range outcomes() {
			for i, s := range scenes[truth] {
				t.Run(fmt.Sprintf("%s/%s/%d", provider, truth, i), func(t *testing.T) {
					if v := s.one(t, truth); v.Verdict != As {
						t.Errorf("it came, and is %+v", v)
					}
					for _, wrong := range outcomes() {
						if wrong != truth {
							if v := s.one(t, wrong); v.Verdict == As {
								t.Errorf("%s is %+v", wrong, v)
							}
						}
					}
				})
			}
		}
	}
}

// Each outcome that can be seen has a scene, and what a rule is there for is known.
func TestEachOutcomeHasARule(t *testing.T) {
	seen := map[code.Outcome]bool{code.GhostEtcdMemberKept: true, code.GhostEtcdMemberRemoved: true, code.CannotKnow: true}
	for provider := range forms {
		for o := range came(provider) {
			seen[o] = true
		}
	}
	for _, o := range outcomes() {
		if (rules[o] == nil) != (o == code.CannotKnow) || !seen[o] {
			t.Errorf("%s: rule %t, scene %t", o, rules[o] != nil, seen[o])
		}
	}
}

// Where something was not seen, nothing that rests on it is as foretold.
func TestWhatIsNotSeenIsNeverAsForetold(t *testing.T) {
	for provider := range forms {
		unread := []string{"Machine", "Cluster"}
		unread = append(unread, Kinds(provider)...)
		for truth, scenes := range came(provider) {
			for i, s := range scenes {
				changes := map[string]func(*Observation){
					"no Cluster": func(o *Observation) { o.Clusters = nil },
					"no status": func(o *Observation) {
						for j := range o.Machines {
							o.Machines[j].Conditions, o.Machines[j].Phase = nil, ""
						}
						for j := range o.Objects {
							o.Objects[j].Conditions = nil
						}
						o.Clusters[0].Paused = false
					},
				}
				for _, kind := range unread {
					changes[kind] = func(o *Observation) { o.Unread = []Unread{{Kind: kind, Why: "403"}} }
				}
				for what, change := range changes {
					ghost := s.of.Status == code.Ghost || len(s.seen.Machines) == 0 || s.seen.Machines[0].UID == "young" // their VM, or their absence, is what is seen
					if ghost && (what == "no Cluster" || what == "no status") {
						continue
					}
					with := *s
					with.seen.Clusters = slices.Clone(s.seen.Clusters)
					with.seen.Machines, with.seen.Objects = slices.Clone(s.seen.Machines), slices.Clone(s.seen.Objects)
					change(&with.seen)
					if v := with.one(t, truth); v.Verdict == As || v.Verdict == Not && what != "no status" {
						t.Errorf("%s/%s/%d without %s: %+v", provider, truth, i, what, v)
					}
				}
			}
		}
	}
}

// An incomplete place proves no absence.
func TestAnIncompletePlaceProvesNoAbsence(t *testing.T) {
	for provider := range forms {
		for truth, scenes := range came(provider) {
			for i, s := range scenes {
				s.seen.Instances, s.seen.Scopes[0].State = nil, code.ScopePartial
				d := judged(t, s.report(truth), &s.seen)
				if d.State == SomeNot || len(d.Gone) > 0 || d.State == AllAsForetold {
					t.Errorf("%s/%s/%d: %s, %+v", provider, truth, i, d.State, d)
				}
			}
		}
	}
}

func TestDangersAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		scene    *scene
		foretold code.Outcome
		seen     string
	}{
		"deleting": {newScene("vsphere").running("id-1").with(func(s *scene) { s.machine().Deleting = later }), code.Adopted, "is Deleting"},
		"deleting while paused": {newScene("vsphere").with(func(s *scene) {
			s.machine().Deleting, s.seen.Clusters[0].Paused = later, true
		}), code.Adopted, "is Deleting"},
		"called unhealthy": {newScene("vsphere").running("id-1").with(func(s *scene) {
			s.machine().Conditions = append(s.machine().Conditions, Condition{Type: "HealthCheckSucceeded", Status: "False", Reason: "UnhealthyNode"})
		}), code.Adopted, "a MachineHealthCheck calls it unhealthy: UnhealthyNode"},
		"Machine gone":                {newScene("aws").gone(), code.Adopted, "its Machine is gone"},
		"VM gone":                     {newScene("aws").waits().with(func(s *scene) { s.seen.Instances = nil }), code.Adopted, "its VM is gone"},
		"another VM":                  {newScene("vsphere").running("id-2"), code.Adopted, "has taken instance id-2"},
		"a second VM":                 {newScene("vsphere").newVM("id-2", later).running("id-1"), code.Adopted, "instance id-2 of its name"},
		"started":                     {newScene("vsphere").off().running("id-1"), code.Adopted, "it was started"},
		"refused":                     {newScene("vsphere").says("False", "NotFoundByBIOSUUID", "id-1").waits(), code.Adopted, "NotFoundByBIOSUUID"},
		"a VM came back":              {newScene("vsphere").running("id-1"), code.Stuck, "is Running"},
		"acted while paused":          {newScene("vsphere").running("id-1").with(func(s *scene) { s.seen.Clusters[0].Paused = true }), code.UntouchedPaused, "a controller has acted"},
		"not deleted, long after due": {newScene("vsphere").running("id-1").with(func(s *scene) { s.of.Forecast.ExpectedBy = report.ExpectedBy{Event: report.ControllersStart} }), code.ReplacedByMachineHealthCheck, "nobody has deleted it"},
		"a Ghost is off": {newScene("vsphere").with(func(s *scene) {
			s.of.Status, s.seen.Machines, s.seen.Instances[0].State = code.Ghost, nil, "poweredOff"
		}), code.GhostKeepsRunning, "its VM is off"},
	} {
		t.Run(name, func(t *testing.T) {
			v := c.scene.one(t, c.foretold)
			if v.Verdict != Not || !strings.Contains(v.Seen, c.seen) {
				t.Errorf("%+v, want %q", v, c.seen)
			}
			if paused := c.scene.seen.Clusters[0].Paused; (v.Do == "") != paused {
				t.Errorf("to do: %q", v.Do)
			}
		})
	}
}

// By the plan another outcome may be foretold, which is held as strictly; what the plan's steps delete
// and create is not.
func TestByThePlan(t *testing.T) {
	steps := []report.Step{{Text: "delete it"}}
	for name, c := range map[string]struct {
		scene            *scene
		foretold, byPlan code.Outcome
		steps            []report.Step
		want             Verdict
	}{
		"taken over":                        {newScene("vsphere").running("id-1"), code.Halted, code.Adopted, steps, As},
		"taken over, unlike by default":     {newScene("vsphere").running("id-1"), code.Halted, "", nil, As},
		"taken over has another VM":         {newScene("vsphere").running("id-2"), code.Halted, code.Adopted, steps, Not},
		"taken over is deleted":             {newScene("vsphere").running("id-1").with(func(s *scene) { s.machine().Deleting = later }), code.Halted, code.Adopted, steps, Not},
		"taken over waits":                  {newScene("vsphere").waits(), code.Halted, code.Adopted, steps, NotYet},
		"stuck is deleted by a step":        {newScene("vsphere").lost().waits().with(func(s *scene) { s.machine().Deleting = later }), code.Stuck, "", steps, NotJudged},
		"stuck is deleted without any step": {newScene("vsphere").lost().waits().with(func(s *scene) { s.machine().Deleting = later }), code.Stuck, "", nil, Not},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.scene
			s.of.Forecast.ByPlan, s.of.Remediation, s.seen.ByPlan = c.byPlan, c.steps, true
			if v := s.one(t, c.foretold); v.Verdict != c.want || v.Foretold == c.foretold != (c.byPlan == "") {
				t.Errorf("%+v, want %s", v, c.want)
			}
		})
	}
}

// Who deletes a machine is named, and the command pauses its Cluster.
func TestAnAlarmSaysWhoAndWhatToDo(t *testing.T) {
	s := newScene("vsphere").running("id-1")
	s.machine().Deleting = later
	v := s.one(t, code.AdoptedPoweredOn)
	if want := `kubectl patch clusters.cluster.x-k8s.io c -n ns --type merge -p '{"spec":{"paused":true}}'`; v.Do != want || v.Who != "MachineSet md-0-abcde" || v.Since == nil || !v.Since.Equal(later) {
		t.Errorf("%+v, want %s", v, want)
	}
	s.machine().Conditions = append(s.machine().Conditions, Condition{Type: "HealthCheckSucceeded", Status: "False"})
	s.seen.Checks = []Check{{"ns", "mhc", "c"}, {"other", "mhc-2", "c"}}
	if v := s.one(t, code.Adopted); v.Who != "MachineHealthCheck mhc" {
		t.Errorf("%+v", v)
	}
}

// What is awaited has a time, and a command where one helps.
func TestWhatIsAwaitedHasATime(t *testing.T) {
	s := newScene("openstack").says("True", "", "id-1").waits()
	s.seen.At = unpaused.Add(5 * time.Minute)
	v := s.one(t, code.Adopted)
	if v.Verdict != NotYet || v.Until == nil || !v.Until.Equal(unpaused.Add(20*time.Minute)) || !strings.HasPrefix(v.Do, "kubectl annotate openstackmachines.infrastructure.cluster.x-k8s.io infra-1 -n ns poke=") {
		t.Errorf("%+v", v)
	}
	s = newScene("vsphere").lost().waits()
	s.of.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 600}
	s.seen.Clusters[0].Conditions[0].Since = unpaused.Add(3 * time.Minute)
	if v := s.one(t, code.ReplacedByMachineHealthCheck); v.Verdict != NotYet || v.Until == nil || !v.Until.Equal(unpaused.Add(13*time.Minute)) {
		t.Errorf("%+v", v)
	}
	s.seen.Clusters[0].Conditions = nil // it spares workers until the control plane is initialized
	if v := s.one(t, code.ReplacedByMachineHealthCheck); v.Verdict != NotYet || v.Until != nil {
		t.Errorf("%+v", v)
	}
}

func TestRefusals(t *testing.T) {
	for name, change := range map[string]func(*scene, *report.Report){
		"the old management cluster": func(s *scene, r *report.Report) {
			r.Backups, s.seen.KubeSystemUID = []report.Backup{{KubeSystemUID: "uid"}}, "uid"
		},
		"by the uid of a Machine": func(s *scene, _ *report.Report) { s.machine().UID = "old" },
		"another fleet":           func(s *scene, _ *report.Report) { s.seen.Clusters[0].Name = "other" },
		"healthy ones left out":   func(_ *scene, r *report.Report) { r.Options.IgnoreHealthy = true },
		"of some statuses": func(_ *scene, r *report.Report) {
			r.Options.Filter = &report.Filter{Statuses: []code.Status{code.Stale}}
		},
		"no forecast": func(_ *scene, r *report.Report) { r.Summary.Forecast = nil },
	} {
		s := newScene("vsphere").running("id-1")
		r := s.report(code.Adopted)
		change(s, r)
		if d, err := Judge(r, &s.seen); d != nil || !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The state of all decides the exit status; what is paused or not judged does not.
func TestStates(t *testing.T) {
	ok, wait := newScene("vsphere").running("id-1"), newScene("vsphere").waits()
	paused := newScene("vsphere").with(func(s *scene) { s.seen.Clusters[0].Paused = true })
	bad := newScene("vsphere").running("id-2")
	unread := newScene("vsphere").running("id-1").with(func(s *scene) { s.seen.Unread = []Unread{{"Secret", "403"}} })
	for name, c := range map[string]struct {
		scene    *scene
		foretold code.Outcome
		want     State
		exit     int
		decided  bool
	}{
		"as foretold": {ok, code.Adopted, AllAsForetold, 0, true},
		"not yet":     {wait, code.Adopted, Waiting, 4, false},
		"paused":      {paused, code.Adopted, Waiting, 4, false},
		"not judged":  {ok, code.CannotKnow, Waiting, 4, false},
		"not":         {bad, code.Adopted, SomeNot, 1, true},
		"unread":      {unread, code.Adopted, Incomplete, 3, false},
	} {
		d := judged(t, c.scene.report(c.foretold), &c.scene.seen)
		if d.State != c.want || d.State.ExitStatus() != c.exit || d.Decided() != c.decided {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A group that is short of a Machine is awaited, though each machine is as foretold; not while its
// Cluster is paused.
func TestAGroupIsShort(t *testing.T) {
	s := newScene("vsphere").running("id-1")
	s.created = 1
	d := judged(t, s.report(code.Adopted), &s.seen)
	if d.State != Waiting || d.Groups[1].Verdict != NotYet || *d.Groups[1].Foretold != 2 || !strings.Contains(written(t, "text", d), "has 1 Machine; foretold: 2") {
		t.Errorf("%s, %+v\n%s", d.State, d.Groups, written(t, "text", d))
	}
	s.another("md-0-abcde-young", "")
	if d := judged(t, s.report(code.Adopted), &s.seen); d.State != AllAsForetold {
		t.Errorf("%+v", d)
	}
	gone := came("vsphere")[code.DeletedByOwner][0]
	if d := judged(t, gone.report(code.DeletedByOwner), &gone.seen); d.State != AllAsForetold {
		t.Errorf("%+v", d)
	}
}

// CAPZ calls a Machine Running whose VM is off, and leaves it off; that its VM was deleted is in the
// state of the AzureMachine.
func TestAzureLeavesWhatIsOff(t *testing.T) {
	left := newScene("azure").off().says("True", "", "id-1").is("Running", "True", "Unknown").with(func(s *scene) { s.seen.Instances[0].State = "deallocated" })
	if v := left.one(t, code.Stuck); v.Verdict != As {
		t.Errorf("off: %+v", v)
	}
	if v := newScene("azure").off().running("id-1").one(t, code.Stuck); v.Verdict != Not {
		t.Errorf("started: %+v", v)
	}
	gone := newScene("azure").lost().says("False", "Failed", "id-1").waits().with(func(s *scene) { s.seen.Objects[0].State = "Deleted" })
	if v := gone.one(t, code.Stuck); v.Verdict != As || v.Facts.ID != "" {
		t.Errorf("deleted: %+v", v)
	}
}

// Members of a pool are counted: as many are to go as were foretold, and no more.
func TestMembersOfAPool(t *testing.T) {
	deleted := func(n int) func(*scene) { return func(s *scene) { s.deleted = n } }
	members := func(gone, foretold int) *scene {
		s := newScene("aws").running("id-1").with(deleted(foretold))
		s.members = []string{"aws:///eu-1a/i-1", "aws:///eu-1a/i-2", "aws:///eu-1a/i-3"}
		for _, id := range s.members[gone:] {
			s.seen.Instances = append(s.seen.Instances, report.Instance{Provider: "aws", Scope: "aws here", ID: report.InstanceID(id), State: "running"})
		}
		return s
	}
	for name, c := range map[string]struct {
		scene *scene
		want  State
		says  string
	}{
		"all stay":                     {members(0, 0), AllAsForetold, ""},
		"one goes":                     {members(1, 1), AllAsForetold, ""},
		"one is to go":                 {members(0, 1), Waiting, "has lost 0 of 3 members; foretold: 1"},
		"one is to go by default":      {members(0, 1).with(func(s *scene) { s.seen.ByPlan = true }), AllAsForetold, ""},
		"one goes that was to stay":    {members(1, 0), SomeNot, "has lost 1 of 3 members; foretold: 0"},
		"two go, by the plan as well":  {members(2, 1).with(func(s *scene) { s.seen.ByPlan = true }), SomeNot, "has lost 2 of 3 members; foretold: 1"},
		"the place was not listed all": {members(1, 0).with(func(s *scene) { s.seen.Scopes[0].State = code.ScopeFailed }), Incomplete, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := judged(t, c.scene.report(code.Adopted), &c.scene.seen)
			if d.State != c.want || !strings.Contains(written(t, "text", d), c.says) || !strings.Contains(written(t, "html", d), c.says) || !strings.Contains(written(t, "junit", d), c.says) {
				t.Errorf("%s, want %s: %+v\n%s", d.State, c.want, d.Groups, written(t, "text", d))
			}
		})
	}
}

// New Machines are foretold as far as their group was to create some; a VM of a new Machine is as
// its Machine is. VMs of others are not listed.
func TestWhatWasMadeSince(t *testing.T) {
	s := newScene("vsphere").running("id-1").another("md-0-abcde-aaaaa", "").another("md-0-abcde-bbbbb", "")
	s.created = 1
	for _, v := range []string{"md-0-abcde-aaaaa", "md-0-abcde-bbbbb", "jenkins"} {
		s.seen.Instances = append(s.seen.Instances, report.Instance{Provider: "vsphere", Scope: "vsphere here", ID: "of-" + v, Name: v, Created: &later})
	}
	d := judged(t, s.report(code.Adopted), &s.seen)
	var got []string
	for _, m := range d.Made {
		got = append(got, m.Kind+" "+m.Name+" "+string(m.Verdict))
	}
	want := []string{"Machine md-0-abcde-aaaaa asForetold", "Machine md-0-abcde-bbbbb notAsForetold", "VM md-0-abcde-aaaaa asForetold", "VM md-0-abcde-bbbbb notAsForetold"}
	if !slices.Equal(got, want) || d.State != SomeNot {
		t.Errorf("%q, want %q", got, want)
	}
	if g := d.Groups[1]; g.Seen != 3 || g.Verdict != Not || g.alone != NotYet {
		t.Errorf("%+v", g)
	}
}

// Half of what was foretold is not yet as foretold, and each part of it is looked at.
func TestEachPartIsAskedFor(t *testing.T) {
	fresh := func() *scene { return newScene("vsphere") }
	early := func(s *scene) { s.seen.At = unpaused.Add(5 * time.Minute) }
	watched := func(s *scene) { early(s); s.seen.Checks = []Check{{"ns", "mhc", "c"}} }
	due := func(s *scene) {
		s.of.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 60}
	}
	stuck := func() *scene { return fresh().lost().says("False", "NotFoundByBIOSUUID", "").waits() }
	for name, c := range map[string]struct {
		scene    *scene
		foretold code.Outcome
		want     Verdict
		seen     string
	}{
		"replaced, its VM is left":            {fresh().with(func(s *scene) { s.seen.Machines, s.seen.Objects = nil, nil }).another("md-0-abcde-young", ""), code.ReplacedByMachineHealthCheck, NotYet, "its VM is still there"},
		"replaced, its object is left":        {fresh().lost().with(func(s *scene) { s.seen.Machines = nil }).another("md-0-abcde-young", ""), code.ReplacedByMachineHealthCheck, NotYet, "its infrastructure object is"},
		"replaced, none in its place":         {fresh().gone(), code.ReplacedByMachineHealthCheck, NotYet, "no other is created"},
		"replaced, Deleting":                  {fresh().with(func(s *scene) { s.machine().Deleting = later }), code.ReplacedByMachineHealthCheck, NotYet, "is Deleting"},
		"deleted by a check, before its time": {fresh().gone().with(due).with(func(s *scene) { s.seen.At = unpaused.Add(3 * time.Minute) }), code.DeletedByMachineHealthCheck, NotYet, "shows later"},
		"deleted by a check, and another":     {fresh().gone().with(due).another("md-0-abcde-young", ""), code.DeletedByMachineHealthCheck, Not, "md-0-abcde-young was created"},
		"never joins, and its Node is well":   {fresh().lost().newVM("id-2", later).says("True", "", "id-2").is("Provisioned", "False", "True"), code.NewInstanceNeverJoins, Not, "is Running"},
		"never joins, a young VM":             {fresh().lost().newVM("id-2", now.Add(-time.Minute)).says("True", "", "id-2").waits(), code.NewInstanceNeverJoins, NotYet, "shows later"},
		"stuck":                               {stuck().with(early), code.Stuck, As, "NotFoundByBIOSUUID"},
		"stuck, and watched":                  {stuck().with(watched), code.Stuck, NotYet, "shows later"},
		"stuck, and taken over":               {fresh().says("True", "", "id-1").waits(), code.Stuck, Not, "taken over"},
		"stuck, its VM runs":                  {fresh().waits(), code.Stuck, NotYet, "its VM runs"},
		"stuck, and left alone":               {newScene("openstack").says("False", "InstanceStateError", "id-1").waits(), code.Stuck, Not, "leaves it alone"},
		"a Ghost's object is gone":            {fresh().with(func(s *scene) { s.seen.Machines, s.seen.Objects = nil, nil }), code.GhostKeepsRunning, Not, "infrastructure object is gone"},
		"by name, and its id is recorded":     {fresh().running("id-1"), code.AdoptedByName, NotJudged, "whose id is recorded"},
		"by name, another":                    {fresh().with(func(s *scene) { s.of.ProviderID = "" }).running("id-9"), code.AdoptedByName, Not, "another than was foretold"},
		"another kind":                        {fresh().running("id-1").with(func(s *scene) { s.of.Infrastructure.Kind = "AWSMachinePoolMachine" }), code.Adopted, NotJudged, "AWSMachinePoolMachine"},
		"halted, by controllers that have just started": {fresh().waits().with(func(s *scene) {
			for i := range s.machine().Conditions {
				s.machine().Conditions[i].Since = now.Add(-time.Minute)
			}
		}), code.Halted, NotYet, "has not acted so far"},
		"other provider":            {fresh().running("id-1").with(func(s *scene) { s.provider = "tinkerbell" }), code.Adopted, NotJudged, "provider tinkerbell"},
		"a word of a later release": {fresh().running("id-1"), "Teleported", NotJudged, "is Running"},
	} {
		t.Run(name, func(t *testing.T) {
			if v := c.scene.one(t, c.foretold); v.Verdict != c.want || !strings.Contains(v.Seen, c.seen) {
				t.Errorf("%+v, want %s, %q", v, c.want, c.seen)
			}
		})
	}
}

// Of two that are gone with one in their place none is as foretold: nobody can see whose it is.
func TestOneInThePlaceOfTwo(t *testing.T) {
	s := newScene("vsphere").lost().gone().another("md-0-abcde-young", "")
	r := s.report(code.ReplacedByMachineHealthCheck)
	second := s.of
	second.Name, second.Forecast = "md-0-abcde-zzzzz", &report.MachineForecast{Outcome: code.ReplacedByMachineHealthCheck}
	g := &r.Clusters[0].Workers.Groups[0]
	g.Machines = append(g.Machines, second)
	for _, m := range judged(t, r, &s.seen).Machines {
		if m.Verdict != NotYet {
			t.Errorf("%+v", m)
		}
	}
	s.another("md-0-abcde-other", "")
	for _, m := range judged(t, r, &s.seen).Machines {
		if m.Verdict != As {
			t.Errorf("%+v", m)
		}
	}
}

// A VM that ran when the report was made, and is listed as off, was not to be stopped, of workers and
// control planes: its controller may call it Running for long.
func TestAVMThatWentOff(t *testing.T) {
	for provider, form := range forms {
		for _, kind := range []string{machineDeployment, "KubeadmControlPlane"} {
			s := newScene(provider).running("id-1")
			if kind != machineDeployment {
				s.within(kind)
			}
			s.seen.Instances[0].State = form.off
			if v := s.one(t, code.Adopted); v.Verdict != Not || !strings.Contains(v.Seen, "its VM "+s.of.Name+" is off") || v.Do == "" {
				t.Errorf("%s, %s: %+v", provider, kind, v)
			}
			byName := s.copied().with(func(s *scene) { s.of.ProviderID = "" })
			if v := byName.one(t, code.AdoptedByName); v.Verdict != Not {
				t.Errorf("%s, %s: %+v", provider, kind, v)
			}
			s.off()
			if v := s.one(t, code.Adopted); v.Verdict != Not || strings.Contains(v.Seen, "was on") {
				t.Errorf("%s, %s, off before: %+v", provider, kind, v)
			}
			s.seen.Scopes[0].State = code.ScopePartial // of what is listed nothing is less true
			if v := s.one(t, code.AdoptedPoweredOn); v.Verdict == Not && provider == "vsphere" {
				t.Errorf("%s, %s, to be started: %+v", provider, kind, v)
			}
		}
	}
}

// Of two VMs with one id the machine's is that which the report has, and its state counts. One
// that was registered again has another reference.
func TestInstancesThatShareAnID(t *testing.T) {
	copied := func(places ...int) (d *Document) { // which VMs are listed: 1 is the machine's, -1 is that and off, 2 is the copy, which is off
		s := newScene("vsphere").running("id-1")
		s.of.Instance.Ref = "vm-1"
		listed := s.seen.Instances[0]
		s.seen.Instances = nil
		for _, at := range places {
			v := listed
			v.Ref = fmt.Sprint("vm-", max(at, -at))
			if at != 1 {
				v.State = "poweredOff"
			}
			s.seen.Instances = append(s.seen.Instances, v)
		}
		r := s.report(code.Adopted)
		if !slices.Contains(places, 3) {
			r.InfraMachines = []report.InfraMachine{{Instance: report.Instance{Provider: "vsphere", Scope: listed.Scope, ID: "id-1", Ref: "vm-2"}}}
		}
		return judged(t, r, &s.seen)
	}
	for want, places := range map[Verdict][][]int{As: {{1, 2}, {2, 1}, {1}}, Not: {{-1, 2}, {2, -1}, {3}}} {
		for _, at := range places {
			if got := copied(at...).Machines[0]; got.Verdict != want {
				t.Errorf("of %v it is %s: %s", at, got.Verdict, got.Seen)
			}
		}
	}
	for gone, places := range map[int][]int{0: {1, 2}, 1: {1}, 2: {}} {
		if d := copied(places...); len(d.Gone) != gone {
			t.Errorf("of %v these are gone: %+v", places, d.Gone)
		}
	}
	if d := copied(3); len(d.Gone) != 0 {
		t.Errorf("registered again: %+v", d.Gone)
	}
}

// Without the Machines, or the infrastructure's objects, nobody knows whose a new VM is, and how many
// Machines a group has.
func TestWhatWasMadeIsNotJudgedUnread(t *testing.T) {
	for provider := range forms {
		for _, kind := range append([]string{"Machine"}, Kinds(provider)...) {
			s := newScene(provider).running("id-1").newVM("id-2", later)
			s.created = 1
			for i := range s.seen.Objects {
				s.seen.Objects[i].ID = "id-2" // or what is left of them
			}
			s.seen.Unread = []Unread{{kind, "403"}}
			if kind == "Machine" {
				s.seen.Machines = nil
				s.another("md-0-abcde-young", "").another("md-0-abcde-other", "")
			}
			d := judged(t, s.report(code.Adopted), &s.seen)
			if len(d.Made) == 0 || d.State != Incomplete {
				t.Errorf("%s without %s: %s, made %+v", provider, kind, d.State, d.Made)
			}
			for _, m := range d.Made {
				if m.Verdict == Not {
					t.Errorf("%s without %s: %+v", provider, kind, m)
				}
			}
			for _, g := range d.Groups {
				if kind == "Machine" && g.Verdict != NotJudged {
					t.Errorf("%s without %s: %+v", provider, kind, g)
				}
			}
		}
	}
}

// A VM that a Machine of a Cluster has which the report does not have is nobody's forecast; it is
// counted apart.
func TestVMsOfOtherClusters(t *testing.T) {
	for _, provider := range []string{"vsphere", "aws"} {
		form := forms[provider]
		for name, c := range map[string]struct {
			change func(*scene)
			want   Verdict
		}{
			"by its name":    {func(s *scene) { s.seen.Objects = s.seen.Objects[:len(s.seen.Objects)-1] }, NotJudged},
			"by its Machine": {func(s *scene) {}, NotJudged},
			"by its label": {func(s *scene) {
				s.seen.Objects[len(s.seen.Objects)-1].Cluster, s.seen.Machines[1].Infrastructure.Name = "other", ""
			}, NotJudged},
			"of the report's": {func(s *scene) { s.seen.Machines[1].Cluster, s.seen.Machines[1].Group = "c", "md-0" }, Not},
			"of one, as nobody can see": {func(s *scene) {
				s.seen.Machines, s.seen.Objects[len(s.seen.Objects)-1].Owners = s.seen.Machines[:1], nil
			}, Not},
		} {
			s := newScene(provider).running("id-1")
			s.seen.Machines = append(s.seen.Machines, Machine{Namespace: "ns", Name: "other-abcde", Cluster: "other", Created: later, Infrastructure: report.ObjectName{Kind: form.machine, Name: "other-infra"}})
			s.seen.Objects = append(s.seen.Objects, Object{ObjectName: report.ObjectName{Kind: Kinds(provider)[len(Kinds(provider))-1], Namespace: "ns", Name: "other-own"}, ID: "id-9", Owners: []Owner{{Kind: form.machine, Name: "other-infra"}}})
			s.seen.Instances = append(s.seen.Instances, report.Instance{Provider: provider, Scope: provider + " here", ID: "id-9", Name: "other-abcde", State: form.on, Created: &later})
			c.change(s)
			d := judged(t, s.report(code.Adopted), &s.seen)
			vm := d.Made[len(d.Made)-1]
			if vm.Kind != "VM" || vm.Verdict != c.want || (d.State == AllAsForetold) != (c.want == NotJudged) {
				t.Errorf("%s, %s: %s, %+v", provider, name, d.State, d.Made)
			}
			if says := strings.Contains(written(t, "text", d), "1 VM; 0 foretold, 1 of other Clusters"); says != (c.want == NotJudged) {
				t.Errorf("%s, %s:\n%s", provider, name, written(t, "text", d))
			}
		}
	}
}

// What was made and not foretold makes its group and its Cluster not as foretold; Clusters that were not
// read are not absent; a server that is lost leaves nothing awaited.
func TestTheDocumentAgreesWithItself(t *testing.T) {
	s := newScene("vsphere").running("id-1").another("md-0-abcde-young", "")
	d := judged(t, s.report(code.Adopted), &s.seen)
	if d.Groups[1].Verdict != Not || d.Clusters[0].Verdict != Not || d.Groups[0].Verdict == Not {
		t.Errorf("%+v, %+v", d.Clusters, d.Groups)
	}
	s = newScene("vsphere").running("id-1")
	s.seen.Clusters, s.seen.Unread = nil, []Unread{{"Cluster", "500"}}
	if d := judged(t, s.report(code.Adopted), &s.seen); d.Clusters[0].Presence != "unread" || d.State != Incomplete {
		t.Errorf("%s, %+v", d.State, d.Clusters)
	}
	s = newScene("vsphere").waits()
	d = judged(t, s.report(code.Adopted), &s.seen)
	before := d.Summary
	if d.Lost("it does not answer"); d.State != Incomplete || d.Summary != before || d.Unread[0].Why != "it does not answer" {
		t.Errorf("%s, %+v, %+v", d.State, d.Summary, d.Unread)
	}
}

// What is not judged is said in the first line, and a place that was not listed is something unread.
func TestMostlyNotJudged(t *testing.T) {
	s := newScene("vsphere").running("id-1")
	r := s.report(code.Adopted)
	g := &r.Clusters[0].Workers.Groups[0]
	for i, outcome := range []code.Outcome{code.CannotKnow, "Teleported", code.GhostEtcdMemberKept} {
		m := s.of
		m.Name, m.Forecast = fmt.Sprintf("md-0-abcde-%05d", i), &report.MachineForecast{Outcome: outcome}
		if i == 2 {
			m.Status = code.Ghost
		}
		g.Machines = append(g.Machines, m)
	}
	g.Forecast.Replicas.Recorded = 1
	d := judged(t, r, &s.seen)
	if got := written(t, "text", d); d.State != AllAsForetold || !strings.HasPrefix(got, "as foretold, as far as judged: 1 of 4") || !strings.Contains(strings.Join(strings.Fields(got), " "), "not judged 3 (2 have no outcome that could be)") {
		t.Errorf("%s\n%s", d.State, got)
	}
	elsewhere := *s.of.Instance
	elsewhere.ID, elsewhere.Scope = "id-9", "vsphere there" // which nothing names
	g.Machines[3].Instance = &elsewhere
	d = judged(t, r, &s.seen)
	if d.State != Incomplete || len(d.Unread) != 1 || !strings.Contains(d.Unread[0].Why, "1 machine not judged") {
		t.Errorf("%s, %+v", d.State, d.Unread)
	}
}

// A sentence about a machine reads well, whether it begins with its controller or not.
func TestJUnitReadsWell(t *testing.T) {
	s := newScene("vsphere").lost().says("False", "NotFoundByBIOSUUID", "").waits()
	got := written(t, "junit", judged(t, s.report(code.Stuck), &s.seen))
	if !strings.Contains(got, "foretold Stuck; seen: its controller finds no VM") || strings.Contains(got, "it its") {
		t.Error(got)
	}
}
