package verify

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

const testdata = "../../testdata/"

// change is a line of the log of a real restore (CAPO v0.14.7, Cluster API 1.13.4): what an object
// became, or nothing when it was gone.
type change struct {
	at              time.Time
	kind, namespace string
	name            string // of a server its id
	is              *state
}

type state struct {
	IID, St, Phase, Node string
	Cond                 map[string][3]string
	Dele                 string
	Name, Status         string // of a server
}

// day is that of the log. The controllers were started at its start, and nobody touched anything for
// 785 seconds from then.
var (
	day       = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	started   = day.Add(2*time.Hour + 40*time.Minute + 15*time.Second)
	untouched = 785
)

func readChanges(t testing.TB) []change {
	t.Helper()
	file, err := os.Open(testdata + "openstack/changes.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []change
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		at, err := time.Parse(time.TimeOnly, words[0])
		if err != nil {
			t.Fatal(err)
		}
		c := change{at: day.Add(at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))), kind: words[1]}
		doc := words[3]
		if c.kind == "server" {
			c.name, doc, _ = strings.Cut(doc, " ")
		} else {
			c.namespace, c.name, _ = strings.Cut(words[2], "/")
		}
		if err := json.Unmarshal([]byte(doc), &c.is); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// fleet is the oracle of the restore.
type fleet struct {
	Machines []struct {
		Namespace, Cluster, Name, Role, Verdict, Outcome, RecordedID string
	}
	Ghosts []struct{ Name, ID, Cluster, Code string }
}

// tellsOf are the outcomes that a report foretells for the words of the oracle.
var tellsOf = map[string]code.Outcome{
	"Adopted": code.Adopted, "AdoptedNotReady": code.Adopted, "AdoptedByName": code.AdoptedByName, "AdoptedForeignByName": code.OtherInstanceTaken,
	"BlockedByDuplicateName": code.Halted, "CreateFailedPortInUse": code.Halted, "StuckErrorState": code.Halted,
	"NewServerCreated": code.NewInstanceNeverJoins, "OrphanedAndReplaced": code.OrphanedAndReplaced,
	"ReplacedByMachineHealthCheck": code.ReplacedByMachineHealthCheck, "StuckNetworkGone": code.Stuck, "StuckStopped": code.Stuck,
}

// groupOf returns the group of a machine of the lab, by the name that it was given.
func groupOf(cluster, machine string) string {
	if parts := strings.Split(strings.TrimPrefix(machine, cluster+"-"), "-"); parts[0] != "control" {
		return cluster + "-" + strings.Join(parts[:len(parts)-2], "-")
	}
	return cluster + "-control-plane"
}

// reportOf makes the report that foretells what came.
func reportOf(t testing.TB, log []change) *report.Report {
	t.Helper()
	var oracle fleet
	data, err := os.ReadFile(testdata + "openstack/outcomes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &oracle); err != nil {
		t.Fatal(err)
	}
	servers := map[string]*state{}
	for _, c := range log {
		if c.kind == "server" && !c.at.After(started.Add(time.Second)) {
			servers[c.name] = c.is
		}
	}
	instance := func(id string) *report.Instance {
		if s := servers[id]; s != nil {
			return &report.Instance{Provider: "openstack", Scope: "openstack cloud", ID: id, Name: s.Name, State: s.Status}
		}
		return nil
	}
	b := newReport(started.Add(-5 * time.Minute))
	for _, m := range oracle.Machines {
		one := report.Machine{
			Namespace: m.Namespace, Name: m.Name, UID: "old-" + m.Name, Role: report.Role(m.Role), Status: code.Status(m.Verdict),
			Instance: instance(m.RecordedID), Forecast: &report.MachineForecast{Outcome: tellsOf[m.Outcome]},
			Infrastructure: &report.ObjectName{Kind: "OpenStackMachine", Namespace: m.Namespace, Name: m.Name},
		}
		if m.RecordedID != "" {
			one.ProviderID = "openstack:///" + m.RecordedID
		}
		switch m.Outcome {
		case "AdoptedByName":
			one.Instance = instance("e502d868-bfcd-48b3-a3b4-1cfa92484b81")
		case "OrphanedAndReplaced":
			one.Warnings = []report.Warning{{Reason: code.MachineMissing}}
		case "ReplacedByMachineHealthCheck":
			one.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 120}
		}
		b.add("openstack", m.Namespace, m.Cluster, groupOf(m.Cluster, m.Name), one)
	}
	for _, g := range oracle.Ghosts {
		if g.Code == "" || g.Cluster == "" || g.Code == "AdoptedByNameAsMachine" || g.Cluster == "fresh" {
			b.InfraMachines = append(b.InfraMachines, report.InfraMachine{Instance: *instance(g.ID)})
			continue
		}
		one := report.Machine{Namespace: "tenant-os-a", Name: g.Name, Role: report.RoleWorker, Status: code.Ghost, Instance: instance(g.ID), Forecast: &report.MachineForecast{Outcome: code.Outcome(g.Code)}}
		if strings.Contains(g.Name, "control-plane") {
			one.Role = report.RoleControlPlane
		}
		if g.Cluster == "data" {
			one.Namespace = "tenant-os-b"
		}
		b.add("openstack", one.Namespace, g.Cluster, groupOf(g.Cluster, g.Name), one)
	}
	b.groups["data-md-0"].Forecast.Replicas.Created = 1 // beside data-md-0-csvkw-zz7d6
	return b.done()
}

// seenAt returns what was to be seen at a time.
func seenAt(log []change, at time.Time) *Observation {
	now, first := map[[3]string]*change{}, map[string]time.Time{}
	for i := range log {
		c := &log[i]
		if c.at.After(at) {
			break
		}
		if _, known := first[c.kind+c.name]; !known {
			first[c.kind+c.name] = c.at
		}
		now[[3]string{c.kind, c.namespace, c.name}] = c
	}
	out := &Observation{At: at, Server: "lab", KubeSystemUID: "new", Scopes: []report.Scope{{Provider: "openstack", Endpoint: "cloud", State: code.ScopeComplete}}}
	clusters := map[string]string{"web-prod": "tenant-os-a", "web-old": "tenant-os-a", "data": "tenant-os-b"}
	for name, namespace := range clusters {
		out.Clusters = append(out.Clusters, Cluster{Namespace: namespace, Name: name, Created: started, Conditions: []Condition{
			{Type: "ControlPlaneInitialized", Status: "True", Since: started.Add(49 * time.Second)},
		}})
	}
	for _, group := range []string{"web-old-md-0", "web-prod-md-0", "web-prod-md-1"} {
		out.Groups = append(out.Groups, Group{Kind: "MachineDeployment", Namespace: "tenant-os-a", Name: group})
	}
	for _, group := range []string{"data-batch", "data-gpu", "data-md-0"} {
		out.Groups = append(out.Groups, Group{Kind: "MachineDeployment", Namespace: "tenant-os-b", Name: group})
	}
	for name, namespace := range clusters {
		out.Groups = append(out.Groups, Group{Kind: "KubeadmControlPlane", Namespace: namespace, Name: name + "-control-plane"})
	}
	out.Checks = []Check{{"tenant-os-a", "web-prod-md-1", "web-prod"}}
	for key, c := range now {
		if c.is == nil {
			continue
		}
		made := first[c.kind+c.name]
		switch c.kind {
		case "server":
			v := report.Instance{Provider: "openstack", Scope: "openstack cloud", ID: c.name, Name: c.is.Name, State: c.is.Status}
			if made.After(started.Add(time.Second)) {
				v.Created = &made
			}
			out.Instances = append(out.Instances, v)
		case "Machine":
			cluster := "data"
			for name := range clusters {
				if strings.HasPrefix(c.name, name+"-") {
					cluster = name
				}
			}
			m := Machine{Namespace: key[1], Name: c.name, UID: "new-" + c.name, Cluster: cluster, Group: groupOf(cluster, c.name), Created: made, Phase: c.is.Phase, Node: c.is.Node, Conditions: c.is.conditions(), Deleting: c.is.deleting(c.at)}
			m.Owners = []Owner{{Kind: "MachineDeployment", Name: m.Group, Controller: true}} // which the log does not have
			if m.Group == cluster+"-control-plane" {
				m.Owners[0].Kind = "KubeadmControlPlane"
			}
			out.Machines = append(out.Machines, m)
		default:
			out.Objects = append(out.Objects, Object{ObjectName: report.ObjectName{Kind: c.kind, Namespace: key[1], Name: c.name}, ID: c.is.IID, State: c.is.St, Conditions: c.is.conditions(), Deleting: c.is.deleting(c.at)})
		}
	}
	return out
}

func (s *state) conditions() []Condition {
	var out []Condition
	for kind, c := range s.Cond {
		out = append(out, Condition{Type: kind, Status: c[0], Reason: c[1], Message: c[2]})
	}
	return out
}

func (s *state) deleting(at time.Time) time.Time {
	if s.Dele != "" || s.Phase == "Deleting" {
		return at
	}
	return time.Time{}
}

// At no time of a restore that nobody touched is there a false alarm, and what was foretold comes true.
func TestReplayWithoutAFalseAlarm(t *testing.T) {
	log := readChanges(t)
	r := reportOf(t, log)
	last := 0
	for after := 1; after <= untouched; after += 3 {
		d := judged(t, r, seenAt(log, started.Add(time.Duration(after)*time.Second)))
		if d.State == SomeNot {
			t.Errorf("after %d s: %+v, %+v, %+v", after, notAs(d), d.Made, d.Gone)
		}
		if after < 10 && d.Summary.AsForetold > 4 { // Ghosts are there from the beginning
			t.Errorf("after %d s: %d as foretold", after, d.Summary.AsForetold)
		}
		last = d.Summary.AsForetold
		if d.Summary.NotYet == 4 { // and nothing else is awaited
			for _, g := range d.Groups {
				if g.alone != As {
					t.Errorf("after %d s: %+v", after, g)
				}
			}
		}
	}
	if want := 23 - 4 + 4; last != want { // the Machines of four were not woken, and four are Ghosts
		t.Errorf("%d as foretold at the end, want %d", last, want)
	}
}

// Of what an operator did afterwards all is found, and nothing else.
func TestReplayFindsWhatAnOperatorTouched(t *testing.T) {
	log := readChanges(t)
	d := judged(t, reportOf(t, log), seenAt(log, started.Add(1185*time.Second)))
	var names []string
	for _, m := range notAs(d) {
		names = append(names, m.Name)
	}
	want := []string{"data-batch-zp9t4-4rtln", "data-md-0-csvkw-728sx", "web-prod-md-0-46mng-jnwnx", "web-prod-md-0-46mng-m7vxh"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("%+v, want %q", notAs(d), want)
	}
}

// No outcome that did not come is ever as foretold, at no time.
func TestReplayOfWrongForecasts(t *testing.T) {
	log := readChanges(t)
	r := reportOf(t, log)
	for _, after := range []int{20, 65, 120, 300, untouched} {
		seen := seenAt(log, started.Add(time.Duration(after)*time.Second))
		neverAsForetold(t, r, seen)
	}
}

// The report that detect wrote of this fleet is judged likewise, with its own counts of replicas.
func TestReplayOfARealReport(t *testing.T) {
	log := readChanges(t)
	file, err := os.Open(testdata + "openstack/report.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	r.GeneratedAt = started.Add(-5 * time.Minute)
	see := func(after int) *Document {
		seen := seenAt(log, started.Add(time.Duration(after)*time.Second))
		seen.Scopes = r.Scopes
		for i := range seen.Instances {
			seen.Instances[i].Scope = report.ScopeName(r.Scopes[0].Provider, r.Scopes[0].Endpoint, r.Scopes[0].Location)
		}
		return judged(t, r, seen)
	}
	for after := 1; after <= untouched; after += 7 {
		if d := see(after); d.State != Waiting {
			t.Fatalf("after %d s: %s, %+v, %+v, %+v", after, d.State, notAs(d), d.Made, d.Gone)
		}
	}
	if got, want := see(untouched).Summary, (Summary{AsForetold: 23, NotYet: 4, NotJudged: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := see(1185).Summary, (Summary{AsForetold: 23, NotAsForetold: 4, NotJudged: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
