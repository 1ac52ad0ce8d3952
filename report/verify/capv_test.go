package verify

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// vsphereFleet is the oracle of a restore with CAPV v1.16.1 (testdata/restore/outcomes.json): what
// became of each machine. There is no log of it; what was seen when is what was written down of it:
// taken over 12 s after the controllers' start, refused within 20 s, deleted by the health check
// after 124 s and replaced 2 s later, the orphan's group one Machine short until 17 s.
type vsphereFleet struct {
	Machines []struct {
		Namespace, Cluster, Name, Role, Verdict, Outcome string
		Covered                                          bool `json:"coveredByMachineHealthCheck"`
	}
	Ghosts  []struct{ Name, Cluster, Code string }
	Created []struct{ Cluster, Machine string }
}

func readVSphereFleet(t testing.TB) *vsphereFleet {
	t.Helper()
	data, err := os.ReadFile(testdata + "restore/outcomes.json")
	if err != nil {
		t.Fatal(err)
	}
	out := new(vsphereFleet)
	if err := json.Unmarshal(data, out); err != nil || len(out.Machines) != 50 {
		t.Fatalf("%d machines: %v", len(out.Machines), err)
	}
	return out
}

// set returns the name of the group of a machine: here its MachineSet.
func (f *vsphereFleet) set(cluster, role, machine string) string {
	if role == "control-plane" {
		return cluster + "-control-plane"
	}
	return setOfName(machine)
}

// instance is the VM of a machine that had one.
func vsphereVM(name, state string) report.Instance {
	return report.Instance{Provider: "vsphere", Scope: "vsphere vc", ID: "id-" + name, Name: name, State: state, Created: &earlier}
}

func (f *vsphereFleet) report() *report.Report {
	b := newReport(reported)
	namespaces := map[string]string{}
	for _, m := range f.Machines {
		namespaces[m.Cluster] = m.Namespace
		one := report.Machine{
			Namespace: m.Namespace, Name: m.Name, UID: "old", Role: report.Role(m.Role), Status: code.Status(m.Verdict), ProviderID: "vsphere://id-" + m.Name,
			Forecast:       &report.MachineForecast{Outcome: code.Outcome(m.Outcome)},
			Infrastructure: &report.ObjectName{Kind: "VSphereMachine", Namespace: m.Namespace, Name: m.Name},
		}
		if one.Status == code.Healthy || m.Outcome == "AdoptedByName" {
			v := vsphereVM(m.Name, "poweredOn")
			one.Instance = &v
		}
		switch one.Forecast.Outcome {
		case code.AdoptedPoweredOn:
			one.Instance.State, one.Warnings = "poweredOff", []report.Warning{{Reason: code.PoweredOff}}
		case code.AdoptedByName:
			one.ProviderID = ""
		case code.OrphanedAndReplaced:
			one.Warnings = []report.Warning{{Reason: code.MachineMissing}}
		case code.ReplacedByMachineHealthCheck:
			one.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 120}
		}
		set := f.set(m.Cluster, m.Role, m.Name)
		b.add("vsphere", m.Namespace, m.Cluster, set, one)
		if one.Forecast.Outcome == code.OrphanedAndReplaced {
			b.groups[set].Forecast.Replicas.Created++
		}
	}
	for _, g := range f.Ghosts {
		v := vsphereVM(g.Name, "poweredOn")
		one := report.Machine{Namespace: namespaces[g.Cluster], Name: g.Name, Status: code.Ghost, Role: report.RoleWorker, Instance: &v, Forecast: &report.MachineForecast{Outcome: code.Outcome(g.Code)}}
		if !strings.Contains(g.Name, "-md-") {
			one.Role = report.RoleControlPlane
		}
		b.add("vsphere", one.Namespace, g.Cluster, f.set(g.Cluster, string(one.Role), g.Name), one)
	}
	return b.done()
}

// at returns what was seen some seconds after the controllers' start.
func (f *vsphereFleet) at(r *report.Report, after int) *Observation {
	out := &Observation{
		At: unpaused.Add(time.Duration(after) * time.Second), KubeSystemUID: "new", Scopes: []report.Scope{{Provider: "vsphere", Endpoint: "vc", State: code.ScopeComplete}},
		Checks: []Check{{"tenant-alpha", "alpha-prod-md-0", "alpha-prod"}},
	}
	for _, c := range r.Clusters {
		out.Clusters = append(out.Clusters, Cluster{Namespace: c.Namespace, Name: c.Name, Created: unpaused, Paused: c.Name == "beta-new", Conditions: []Condition{
			{Type: "ControlPlaneInitialized", Status: "True", Since: unpaused.Add(3 * time.Second)},
		}})
		for _, g := range setsOf(&c) {
			out.Groups = append(out.Groups, Group{Kind: g.kind, Namespace: c.Namespace, Name: g.name, Cluster: c.Name})
		}
	}
	owner := map[string][]Owner{} // by group: its controller takes its Machines as soon as it runs
	for _, g := range out.Groups {
		if after >= 3 {
			owner[g.Name] = []Owner{{Kind: g.Kind, Name: g.Name, Controller: true}}
		}
	}
	namespaces := map[string]string{}
	for _, m := range f.Machines {
		namespaces[m.Cluster] = m.Namespace
		machine := Machine{Namespace: m.Namespace, Name: m.Name, UID: "new", Cluster: m.Cluster, Group: f.set(m.Cluster, m.Role, m.Name), Created: unpaused.Add(-10 * time.Second), Phase: "Provisioned"}
		machine.Owners = owner[machine.Group]
		vm := Object{ObjectName: report.ObjectName{Kind: "VSphereVM", Namespace: m.Namespace, Name: m.Name}, ID: "id-" + m.Name}
		machine.Conditions = []Condition{{Type: "InfrastructureReady", Status: "False", Reason: "NotReady"}, {Type: "NodeHealthy", Status: "Unknown"}}
		gone := false
		switch outcome := code.Outcome(m.Outcome); {
		case outcome == code.UntouchedPaused:
			machine.Phase, machine.Conditions, machine.Owners = "", []Condition{{Type: "Paused", Status: "True"}}, nil
		case outcome == code.OrphanedAndReplaced:
			gone = true
		case m.Verdict == "Healthy" && after >= 12, outcome == code.AdoptedByName && after >= 62:
			machine.Phase = "Running"
			machine.Conditions = []Condition{{Type: "InfrastructureReady", Status: "True"}, {Type: "NodeHealthy", Status: "True"}}
			vm.Conditions = []Condition{{Type: "VirtualMachineProvisioned", Status: "True"}}
		case m.Verdict == "Stale" && outcome != code.AdoptedByName && after >= 20:
			vm.Conditions = []Condition{{Type: "VirtualMachineProvisioned", Status: "False", Reason: "NotFoundByBIOSUUID"}}
		}
		if outcome := code.Outcome(m.Outcome); outcome == code.StuckNodeLeft {
			machine.Conditions[1].Status = "True"
		} else if outcome == code.ReplacedByMachineHealthCheck && after >= 124 {
			machine.Deleting = unpaused.Add(124 * time.Second)
			if gone = after >= 126; gone {
				continue
			}
		}
		if m.Covered {
			machine.Conditions = append(machine.Conditions, Condition{Type: "HealthCheckSucceeded", Status: "True"})
		}
		if !gone {
			out.Machines = append(out.Machines, machine)
		}
		out.Objects = append(out.Objects, vm, Object{ObjectName: report.ObjectName{Kind: "VSphereMachine", Namespace: m.Namespace, Name: m.Name}})
		if m.Verdict == "Healthy" || m.Outcome == "AdoptedByName" {
			state := "poweredOn"
			if m.Outcome == "AdoptedPoweredOn" && after < 12 {
				state = "poweredOff"
			}
			out.Instances = append(out.Instances, vsphereVM(m.Name, state))
		}
	}
	for _, g := range f.Ghosts {
		out.Instances = append(out.Instances, vsphereVM(g.Name, "poweredOn"))
	}
	for _, c := range f.Created {
		if due := map[string]int{"gamma-edge": 17, "alpha-prod": 126}[c.Cluster]; after >= due {
			made := unpaused.Add(time.Duration(due) * time.Second)
			out.Machines = append(out.Machines, Machine{Namespace: namespaces[c.Cluster], Name: c.Machine, UID: "young", Cluster: c.Cluster, Group: setOfName(c.Machine), Created: made})
			v := vsphereVM(c.Machine, "poweredOn")
			v.Created = &made
			out.Instances = append(out.Instances, v)
		}
	}
	return out
}

// The restore of a vSphere fleet gives no false alarm at any time, and in the end all is judged that
// can be: etcd is not asked here.
func TestVSphereRestore(t *testing.T) {
	f := readVSphereFleet(t)
	r := f.report()
	for after := 1; after < 700; after++ {
		if d := judged(t, r, f.at(r, after)); d.State == SomeNot {
			t.Fatalf("after %d s: %+v, %+v, %+v", after, notAs(d), d.Made, d.Gone)
		}
	}
	if d := judged(t, r, f.at(r, 5)); d.Summary.AsForetold > 3+8 { // what is paused, and Ghosts
		t.Errorf("after 5 s: %+v", d.Summary)
	}
	d := judged(t, r, f.at(r, 699))
	etcd := 0
	for _, g := range f.Ghosts {
		if strings.HasPrefix(g.Code, "GhostEtcd") {
			etcd++
		}
	}
	if want := (Summary{AsForetold: 50 + 11 - etcd, NotJudged: etcd}); d.Summary != want || d.State != AllAsForetold {
		for _, m := range d.Machines {
			if m.Verdict != As {
				t.Logf("%+v", m)
			}
		}
		t.Errorf("%s, %+v, want %+v", d.State, d.Summary, want)
	}
}

func TestVSphereRestoreOfWrongForecasts(t *testing.T) {
	f := readVSphereFleet(t)
	r := f.report()
	for _, after := range []int{5, 60, 130, 357, 700} {
		neverAsForetold(t, r, f.at(r, after))
	}
}
