package rehearsal

import (
	"maps"
	"strings"
	"testing"

	"drift-detector/backup"
	"drift-detector/detector"
	"drift-detector/infra"
	"drift-detector/infra/infratest"
	"drift-detector/report/code"
)

// Controllers that no provider of this version has, as their own code acts at the
// versions given.
const (
	capo14 = "openstack-0.14" // cluster-api-provider-openstack 0.10 to 0.14.7
	capo15 = "openstack-0.15" // v0.15.0-beta.0, which records a new id
	capo9  = "openstack-0.9"
	capg   = "gcp"     // cluster-api-provider-gcp v1.12.0
	capx   = "nutanix" // cluster-api-provider-nutanix v1.10.3
	capmox = "proxmox" // cluster-api-provider-proxmox v0.9.0
	capk   = "kubevirt"
	caph   = "hetzner" // cluster-api-provider-hetzner v1.1.8
	capz   = "azure"   // cluster-api-provider-azure v1.26.0
)

func withSynthetic(all map[string]infra.Controller) map[string]infra.Controller {
	all = maps.Clone(all)
	port := "the port of the old name belongs to it, and Nova refuses it for a second server"
	refused := "the webhook of OpenStackMachines refuses to change a provider id"
	two := "the query for the name fails (DuplicateServerNames) and is tried again and again"
	again := "CAPO does not look at such a server again: clear status.instanceState of the OpenStackServer"
	late := "perhaps ready only after 20 minutes: kubectl annotate openstackmachine wakes it"
	capo := infra.Controller{Name: "CAPO", ID: infra.IDInStatus, Makes: "creates a server", Late: late, Obstacles: map[infra.Obstacle]string{
		infra.Renamed: port, infra.SharedName: two, infra.OtherID: refused, infra.ErrorState: again,
	}}
	all[capo14] = capo
	capo.Obstacles = map[infra.Obstacle]string{infra.Renamed: port, infra.SharedName: two, infra.ErrorState: again}
	all[capo15] = capo
	capo.ID, capo.Late = infra.IDNowhere, ""
	capo.Obstacles = map[infra.Obstacle]string{infra.SharedName: two, infra.OtherID: refused}
	all[capo9] = capo
	all[capg] = infra.Controller{Name: "CAPG", ID: infra.IDNowhere, Makes: "inserts an instance"}
	all[capk] = infra.Controller{Name: "CAPK", ID: infra.IDNowhere, Makes: "creates a VirtualMachine"}
	all[capx] = infra.Controller{Name: "CAPX", ID: infra.IDInStatus, Makes: "creates a VM", Obstacles: map[infra.Obstacle]string{
		infra.SharedName: "it finds more than one and fails",
	}}
	all[capmox] = infra.Controller{Name: "CAPMOX", ID: infra.IDInSpec, Makes: "clones a VM", PowersOn: true, Obstacles: map[infra.Obstacle]string{
		infra.Renamed: "expected VM name to match",
	}}
	all[caph] = infra.Controller{Name: "CAPH", ID: infra.IDInSpec, Makes: "creates a server", PowersOn: true}
	all[capz] = infra.Controller{Name: "CAPZ", ID: infra.IDNowhere, NameIsID: true, Makes: "creates a VM"}
	all["unplaced"] = infra.Controller{Name: "CAPU"} // does not say where its id is
	return all
}

func TestControllersAreConsistent(t *testing.T) {
	for name, c := range controllers {
		if p := infratest.ControllerProblems(c, nil); p != nil && name != "unplaced" {
			t.Errorf("%s: %q", name, p)
		}
	}
}

// What the detector says of one machine in each of the cases, for a controller that has
// the id after a restore and for one that looks by name.
type machineCase struct{ byID, byName detector.Verdict }

var machineCases = map[string]machineCase{
	"living":        {found, finding(found, detector.FindsByName)},
	"gone":          {gone, finding(gone, detector.FindsNothing)},
	"renamed":       {warned(found, "Renamed"), finding(warned(found, "Renamed"), detector.FindsNothing)},
	"two of one":    {found, finding(found, detector.FindsSeveral)},
	"created again": {gone, finding(gone, detector.FindsOther)}, // by hand, under the name
	"off":           {halted(found), finding(halted(found), detector.FindsByName)},
	"error":         {warned(found, "ErrorState"), finding(warned(found, "ErrorState"), detector.FindsByName)},
	"never made":    {never, finding(never, detector.FindsNothing)},
	"made since":    {finding(byName, detector.FindsByName), finding(byName, detector.FindsByName)},
}

// cell is what a controller makes of a machine in one case.
type cell struct {
	outcome code.Outcome
	says    string // in the message or the condition
	effect  string // its code; empty: none
}

// Each controller does with each machine what its own code does.
func TestWhatControllersDo(t *testing.T) {
	adopted := cell{code.Adopted, "found by the recorded id", ""}
	byName := cell{code.Adopted, "found by its name", ""}
	stuck := cell{code.Stuck, "never creates a new instance", string(code.MachinesBroken)}
	made := cell{code.NewInstanceCreated, "finds none and creates a new one", string(code.MachinesMade)}
	second := cell{code.NewInstanceCreated, "creates a second one beside it", string(code.SecondInstance)}
	off := cell{code.Stuck, "never starts one", string(code.InstancesStopped)}
	on := cell{code.AdoptedPoweredOn, "powers it on", string(code.InstancesStarted)}
	unclear := cell{code.CannotKnow, "may take another instance", string(code.OutcomeUnknown)}
	port := cell{code.Halted, "another name: the port of the old name", string(code.MachinesHalted)}
	shared := cell{code.Halted, "several instances have its name: ", string(code.MachinesHalted)}
	neverJoins := cell{code.NewInstanceNeverJoins, "cannot be recorded: the webhook", string(code.InstancesNeverJoin)}
	taken := cell{code.OtherInstanceTaken, "takes over another instance", string(code.OtherInstance)}
	broken := cell{code.Halted, "an error state: CAPO does not look at such a server again", string(code.MachinesHalted)}
	byFirstName := cell{code.AdoptedByName, "found by its name", string(code.FoundByNameOnly)}
	first := cell{code.NewInstanceCreated, "a new one is created", string(code.MachinesMade)}
	for controller, cells := range map[string]map[string]cell{
		vsphere: {"living": adopted, "gone": stuck, "renamed": adopted, "two of one": adopted, "created again": stuck, "off": on, "error": adopted},
		aws:     {"living": adopted, "gone": stuck, "renamed": adopted, "two of one": adopted, "created again": stuck, "off": off, "error": adopted},
		capz:    {"living": byName, "gone": stuck, "created again": taken, "off": off, "error": byName},
		caph:    {"living": adopted, "gone": stuck, "renamed": adopted},
		capmox:  {"living": adopted, "gone": stuck, "renamed": {code.Halted, "another name: expected VM name to match", string(code.MachinesHalted)}, "off": on},
		capo14: {
			"living": {code.Adopted, "perhaps ready only after 20 minutes", ""}, "gone": neverJoins, "renamed": port, "two of one": shared,
			"created again": {code.OtherInstanceTaken, "cannot be recorded: the webhook", string(code.OtherInstance)}, "off": off, "error": broken,
		},
		capo15: {"living": byName, "gone": made, "renamed": port, "two of one": shared, "created again": taken, "off": off, "error": broken},
		capo9: {
			"living": {code.Adopted, "CAPO looks by name alone", ""}, "gone": neverJoins, "renamed": {code.NewInstanceNeverJoins, "second one beside it, whose id", string(code.SecondInstance)},
			"two of one": shared, "created again": taken, "off": off, "error": byName,
		},
		capg: {"living": byName, "gone": made, "off": off},
		capk: {"living": byName, "gone": made, "two of one": unclear},
		capx: {"living": {code.Adopted, "CAPX reads the id in a status, which a restore drops", ""}, "gone": made, "renamed": second, "two of one": shared, "created again": taken},
	} {
		cells["never made"], cells["made since"] = first, byFirstName
		for name, want := range cells {
			t.Run(controller+", "+name, func(t *testing.T) {
				s := newStory(t)
				s.cluster.Provider = controller
				v := machineCases[name].byName
				if controllers[controller].ID == infra.IDInSpec {
					v = machineCases[name].byID
				}
				s.worker("m", v)
				f := s.end()
				got := s.outcome(f, "m")
				if got.Outcome != want.outcome || !strings.Contains(got.Message+got.Condition, want.says) {
					t.Errorf("%+v, want %+v", got, want)
				}
				if codes := effectsOf(f); codes != want.effect {
					t.Errorf("effects %q, want %q", codes, want.effect)
				}
			})
		}
	}
}

// effectsOf returns the codes of the effects on the only cluster.
func effectsOf(f Forecast) string {
	var out []string
	for _, e := range f.Clusters[0].Effects {
		out = append(out, string(e.Code))
	}
	return strings.Join(out, " ")
}

// A cluster's own controller comes before its provider's.
func TestControllerOfAnotherVersion(t *testing.T) {
	s := newStory(t)
	s.cluster.Provider = capo14
	s.expected.Controllers = map[backup.ClusterID]infra.Controller{prod: controllers[capo15], {Name: "other"}: controllers[capo9]}
	s.worker("m", finding(gone, detector.FindsNothing))
	if got := s.outcome(s.end(), "m"); got.Outcome != code.NewInstanceCreated {
		t.Errorf("%+v", got)
	}
}

// A health check has a machine replaced whose new instance never joins, and whatever its
// controller took for it goes with it.
func TestHealthChecksAndControllersThatLookByName(t *testing.T) {
	for name, c := range map[string]struct {
		verdict detector.Verdict
		node    bool // registered, and not Ready
		says    string
		effects string
	}{
		"gone":          {finding(gone, detector.FindsNothing), false, "creates a new one, which is deleted with the Machine", string(code.StaleReplaced)},
		"created again": {finding(gone, detector.FindsOther), false, "and that instance is deleted with the Machine", string(code.StaleReplaced) + " " + string(code.OtherInstance)},
		"off":           {finding(halted(found), detector.FindsByName), true, "its instance is deleted", string(code.LivingReplaced)},
		"error":         {finding(warned(found, "ErrorState"), detector.FindsByName), true, "its instance is deleted", string(code.LivingReplaced)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, checkSpec(workers))
			s.cluster.Provider = capo14
			s.plane("a", finding(found, detector.FindsByName))
			s.worker("m", c.verdict)
			s.node("a", true)
			if c.node {
				s.node("m", false)
			}
			f := s.end()
			got := s.outcome(f, "m")
			if got.Outcome != code.ReplacedByMachineHealthCheck || !strings.Contains(got.Message, c.says) {
				t.Errorf("%+v, want %q", got, c.says)
			}
			if codes := effectsOf(f); codes != c.effects {
				t.Errorf("effects %q, want %q", codes, c.effects)
			}
		})
	}
}

// A Machine whose name several instances have cannot be deleted either, so that a health
// check changes nothing.
func TestSharedNameKeepsHealthChecksAway(t *testing.T) {
	s := newStory(t, checkSpec(workers))
	s.cluster.Provider = capo14
	s.plane("a", finding(found, detector.FindsByName))
	s.worker("m", finding(gone, detector.FindsSeveral))
	if got := s.outcome(s.end(), "m"); got.Outcome != code.Halted || got.Condition == "" {
		t.Errorf("%+v", got)
	}
}

// A Machine without its own Node counts as one that no controller heals, and its new
// instance as one that runs.
func TestNewInstancesThatNeverJoin(t *testing.T) {
	s := newStory(t)
	s.cluster.Provider = capo14
	s.plane("a", finding(found, detector.FindsByName))
	s.plane("b", finding(gone, detector.FindsNothing))
	s.ghostPlane("g")
	f := s.end()
	if r := f.Clusters[0].ControlPlane.Replicas; r.Working != 1 || r.Running != 3 || f.NotHealing != 1 {
		t.Errorf("%+v, %d not healing", r, f.NotHealing)
	}
	if got := s.outcome(f, "g"); got.Outcome != code.GhostEtcdMemberKept {
		t.Errorf("the ghost: %+v", got)
	}
	if text := f.Clusters[0].Text; !strings.Contains(text, "1 given a new instance that never joins") {
		t.Error(text)
	}
}

// What cannot be found says nothing of a machine that is looked for by name.
func TestWhatIsLookedForByNameAndNotListed(t *testing.T) {
	for name, v := range map[string]detector.Verdict{
		"living": finding(found, detector.FindsUnknown), "gone": finding(gone, detector.FindsUnknown),
		"another id": finding(unknown(code.IdentityChanged), detector.FindsOther), "elsewhere": finding(unknown(code.FoundElsewhere), detector.FindsUnknown),
	} {
		s := newStory(t)
		s.cluster.Provider = capo14
		s.worker("m", v)
		if got := s.outcome(s.end(), "m"); got.Outcome != code.CannotKnow {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An instance is not made with what is gone: of CAPO a network that is made again has
// another id than the OpenStackServers of the backup name.
func TestInstancesThatCannotBeMadeWithoutANeed(t *testing.T) {
	for name, c := range map[string]struct {
		provider string
		verdict  detector.Verdict
		state    code.Presence
		want     code.Outcome
	}{
		"gone":                   {capo14, finding(gone, detector.FindsNothing), code.Absent, code.Stuck},
		"gone, the need is not":  {capo14, finding(gone, detector.FindsNothing), code.Present, code.NewInstanceNeverJoins},
		"never made":             {capo14, never, code.Absent, code.Stuck},
		"never made, by an id":   {vsphere, never, code.Absent, code.Stuck},
		"the id is found anyway": {vsphere, found, code.Absent, code.Adopted},
	} {
		s := newStory(t)
		s.cluster.Provider = c.provider
		s.worker("m", c.verdict)
		s.resource("network", "net-1", c.state, "")
		s.expected.Recipes = []infra.Recipe{{Cluster: prod, Machine: 0, Object: "OpenStackMachine ns/m", Needs: []infra.Need{{Kind: "network", Name: "net-1"}}}}
		if got := s.outcome(s.end(), "m"); got.Outcome != c.want || got.Outcome == code.Stuck && !strings.Contains(got.Message, "network net-1 is gone") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The infrastructure of a machine that is in its controller's way is not ready, and
// a health check may mind that.
func TestHealthChecksThatMindTheMachine(t *testing.T) {
	minds := checkSpec(workers)
	minds["checks"].(fields)["unhealthyMachineConditions"] = []any{fields{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 60}}
	for name, c := range map[string]struct {
		verdict detector.Verdict
		want    code.Outcome
	}{
		"living":  {finding(found, detector.FindsByName), code.Adopted},
		"renamed": {finding(warned(found, "Renamed"), detector.FindsNothing), code.ReplacedByMachineHealthCheck},
		"other":   {finding(found, detector.FindsOther), code.ReplacedByMachineHealthCheck},
	} {
		s := newStory(t, minds)
		s.cluster.Provider = capo14
		s.plane("a", finding(found, detector.FindsByName))
		s.worker("m", c.verdict)
		s.node("a", true)
		s.node("m", true)
		if got := s.outcome(s.end(), "m"); got.Outcome != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Whoever has a Machine deleted ends what its controller took for it: another instance
// of the machine's name, where it looks by name alone.
func TestWhateverDeletesAMachineEndsTheOtherInstance(t *testing.T) {
	for name, c := range map[string]struct {
		checks []fields
		tell   func(*story)
		want   code.Outcome
	}{
		"rollout":              {nil, (*story).newTemplate, code.RolledByOwner},
		"owner goes":           {nil, (*story).removed, code.DeletedByOwner},
		"check, none replaces": {coveredBy(workers), (*story).noTemplate, code.DeletedByMachineHealthCheck},
	} {
		for kind, v := range map[string]detector.Verdict{"gone": gone, "living": found} {
			s := newStory(t, c.checks...)
			s.cluster.Provider = capg
			s.plane("a", finding(found, detector.FindsByName))
			s.worker("m", finding(v, detector.FindsOther))
			s.node("a", true)
			s.node("m", false)
			c.tell(s)
			f := s.end()
			got := s.outcome(f, "m")
			if got.Outcome != c.want || !strings.Contains(got.Message, "takes over another instance that has its name") {
				t.Errorf("%s, %s: %+v, want %s", name, kind, got, c.want)
			}
			if codes := effectsOf(f); !strings.Contains(codes, string(code.OtherInstance)) {
				t.Errorf("%s, %s: effects %q", name, kind, codes)
			}
		}
	}
}

// Of several instances of one name nobody knows which one goes with the Machine.
func TestWhateverDeletesAMachineMayEndAnyOfSeveral(t *testing.T) {
	s := newStory(t)
	s.cluster.Provider = capk
	s.worker("m", finding(gone, detector.FindsSeveral))
	s.newTemplate()
	f := s.end()
	if got := s.outcome(f, "m"); got.Outcome != code.RolledByOwner || !strings.Contains(got.Message, "any may be deleted with the Machine") {
		t.Errorf("%+v", got)
	}
	if codes := effectsOf(f); !strings.Contains(codes, string(code.OutcomeUnknown)) {
		t.Errorf("effects %q", codes)
	}
}

// An instance that its controller does not find runs on when the Machine is deleted: it
// is a second one that ends.
func TestWhateverDeletesAMachineMissesARenamedInstance(t *testing.T) {
	for name, c := range map[string]struct {
		checks []fields
		tell   func(*story)
	}{
		"rollout": {nil, (*story).newTemplate}, "owner goes": {nil, (*story).removed},
		"health check": {coveredBy(workers), func(*story) {}},
	} {
		s := newStory(t, c.checks...)
		s.cluster.Provider = capo9
		s.plane("a", finding(found, detector.FindsByName))
		s.worker("m", finding(warned(found, "Renamed"), detector.FindsNothing))
		s.node("a", true)
		s.node("m", false)
		c.tell(s)
		f := s.end()
		if got := s.outcome(f, "m"); !strings.Contains(got.Message, "creates a second one beside it") {
			t.Errorf("%s: %+v", name, got)
		}
		if codes := effectsOf(f); !strings.Contains(codes, string(code.SecondInstance)) {
			t.Errorf("%s: effects %q", name, codes)
		}
	}
}

// That the recorded instance is a template now stops no controller that does not find it.
func TestTemplatesAndControllersThatLookByName(t *testing.T) {
	for finds, want := range map[detector.Finds]code.Outcome{
		detector.FindsByName: code.Stuck, detector.FindsNothing: code.NewInstanceCreated, detector.FindsOther: code.OtherInstanceTaken,
	} {
		s := newStory(t)
		s.cluster.Provider = capx
		s.worker("m", finding(warned(found, "Template"), finds))
		if got := s.outcome(s.end(), "m"); got.Outcome != want {
			t.Errorf("finds %d: %+v, want %s", finds, got, want)
		}
	}
}

// An instance that has ended is in nobody's way, whatever it was called.
func TestEndedInstancesAndControllersThatLookByName(t *testing.T) {
	ended := gone
	ended.Reason, ended.Instance = code.InstanceTerminated, found.Instance
	for controller, want := range map[string]code.Outcome{capo14: code.NewInstanceNeverJoins, capo15: code.NewInstanceCreated, capx: code.NewInstanceCreated} {
		s := newStory(t)
		s.cluster.Provider = controller
		s.worker("m", finding(ended, detector.FindsNothing))
		if got := s.outcome(s.end(), "m"); got.Outcome != want || strings.Contains(got.Message, "beside") {
			t.Errorf("%s: %+v, want %s", controller, got, want)
		}
	}
}

// Where an id is made of the name, what was created again under it is taken, although nobody knows
// whether it is the machine; a control plane that consists of it is not called gone.
func TestWhatHasTheNameHasTheID(t *testing.T) {
	s := newStory(t)
	s.cluster.Provider = capz
	s.plane("m", finding(unknown(code.IdentityChanged), detector.FindsOther))
	f := s.end()
	if got := s.outcome(f, "m"); got.Outcome != code.OtherInstanceTaken {
		t.Errorf("%+v", got)
	}
	if codes := effectsOf(f); !strings.Contains(codes, string(code.OtherInstance)) || strings.Contains(codes, string(code.ControlPlaneDown)) {
		t.Errorf("effects %q", codes)
	}
}
