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

// azureChange is a line of the log of a restore with CAPZ v1.26.0 and Cluster API 1.13.4
// (testdata/azure/changes.log.gz), of which the second half made the AzureMachines that the webhooks had
// refused: what a Machine or AzureMachine became, or nothing when it was gone.
type azureChange struct {
	at                    time.Time
	kind, namespace, name string
	is                    *azureState
}

type azureState struct {
	Deleting                            bool
	Phase, ProviderID, NodeRef, VMState string
	Owners, Cond                        []string
}

// azureDay is that of the log; the Clusters came back at azureStart.
var (
	azureDay   = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	azureStart = azureDay.Add(12*time.Hour + 38*time.Minute + 42*time.Second)
	azureEnd   = azureDay.Add(12*time.Hour + 45*time.Minute + 10*time.Second)
)

func readAzureChanges(t testing.TB) (out []azureChange) {
	t.Helper()
	file, err := os.Open(testdata + "azure/changes.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		at, err := time.Parse(time.TimeOnly, words[0])
		if err != nil {
			t.Fatal(err)
		}
		if words[1] != "machines" && words[1] != "azuremachines" && words[1] != "machinesets" {
			continue
		}
		c := azureChange{at: azureDay.Add(at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))), kind: words[1]}
		c.namespace, c.name, _ = strings.Cut(words[2], "/")
		if words[3] != "GONE" {
			if err := json.Unmarshal([]byte(words[3]), &c.is); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, c)
	}
	return out
}

// azureMachine is a machine of the oracle of that restore.
type azureMachine struct {
	Namespace, Cluster, Name, Role, Verdict, Edge, Outcome, PowerState string
	VMThere                                                            bool
	Deleted                                                            string `json:"vmDeletedAt"`
}

// foretold returns the outcome that the forecast has for what came (infra/azure/list/outcomes_test.go).
func (m *azureMachine) foretold() code.Outcome {
	switch {
	case m.Edge == "recreatedUnderItsName":
		return code.OtherInstanceTaken
	case m.Edge == "inCreationAtBackup", m.Outcome == "StuckPoolMember", m.Outcome == "InfraObjectGone":
		return code.Halted
	case m.Outcome == "MachineDeletedAndReplaced":
		return code.ReplacedByMachineHealthCheck
	case m.Outcome == "Adopted" && m.PowerState == "running":
		return code.Adopted
	}
	return code.Stuck
}

func (m *azureMachine) group() string {
	if strings.HasPrefix(m.Name, "train-uni") || strings.HasPrefix(m.Name, "train-flex") {
		return strings.Join(strings.Split(m.Name, "-")[:2], "-")
	}
	return groupOf(m.Cluster, m.Name)
}

type azureFleet struct {
	log      []azureChange
	machines []azureMachine
	ids      map[string]string // ARM ids of VMs, by machine
}

func readAzureFleet(t testing.TB) *azureFleet {
	t.Helper()
	data, err := os.ReadFile(testdata + "azure/outcomes.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct{ Machines []azureMachine }
	if err := json.Unmarshal(data, &oracle); err != nil || len(oracle.Machines) != 27 {
		t.Fatalf("%d machines: %v", len(oracle.Machines), err)
	}
	f := &azureFleet{log: readAzureChanges(t), machines: oracle.Machines, ids: map[string]string{}}
	for _, c := range f.log {
		if c.is != nil && c.is.ProviderID != "" {
			f.ids[c.name] = strings.TrimPrefix(c.is.ProviderID, "azure://")
		}
	}
	return f
}

// vm returns the VM of a machine, as it was before the restore.
func (f *azureFleet) vm(m *azureMachine) report.Instance {
	state := m.PowerState
	if state == "" {
		state = "deallocated" // of those that were deleted for that
	}
	id := f.ids[m.Name]
	if id == "" {
		id = "/subscriptions/s/virtualmachines/" + m.Name
	}
	return report.Instance{Provider: "azure", Scope: "azure here", ID: id, Name: m.Name, State: state, Created: &earlier}
}

func (f *azureFleet) report() *report.Report {
	b := newReport(azureDay.Add(12 * time.Hour))
	for i := range f.machines {
		m := &f.machines[i]
		one := report.Machine{
			Namespace: m.Namespace, Name: m.Name, UID: "old", Role: report.Role(m.Role), Status: code.Status(m.Verdict), Forecast: &report.MachineForecast{Outcome: m.foretold()},
			Infrastructure: &report.ObjectName{Kind: "AzureMachine", Namespace: m.Namespace, Name: m.Name},
		}
		if id := f.ids[m.Name]; id != "" && m.Edge != "inCreationAtBackup" {
			one.ProviderID = "azure://" + id
		}
		if m.VMThere || m.Verdict == "Healthy" {
			v := f.vm(m)
			one.Instance = &v
			if v.State != "running" {
				one.Warnings = []report.Warning{{Reason: code.PoweredOff}}
			}
		}
		if strings.HasPrefix(m.group(), "train-uni") || strings.HasPrefix(m.group(), "train-flex") {
			one.Infrastructure.Kind = "AzureMachinePoolMachine"
		}
		if one.Forecast.Outcome == code.ReplacedByMachineHealthCheck {
			one.Forecast.ExpectedBy = report.ExpectedBy{Event: report.NodeStartup, Seconds: 60}
		}
		b.add("azure", m.Namespace, m.Cluster, m.group(), one)
	}
	for name, g := range b.groups {
		if strings.HasPrefix(name, "train-uni") || strings.HasPrefix(name, "train-flex") {
			g.Kind = "MachinePool"
		}
	}
	return b.done()
}

// conditionsOf returns those of a line, "Ready=False/Reason: message". Of a Machine the log has no
// NodeHealthy, which Ready repeats where it is not True.
func conditionsOf(is *azureState) (out []Condition) {
	node := Condition{Type: "NodeHealthy", Status: "True"}
	for _, text := range is.Cond {
		kind, rest, _ := strings.Cut(text, "=")
		rest, message, _ := strings.Cut(rest, ": ")
		status, reason, _ := strings.Cut(rest, "/")
		out = append(out, Condition{Type: kind, Status: status, Reason: reason, Message: message})
		if kind == "Ready" && (strings.Contains(message, "NodeHealthy") || is.NodeRef == "") {
			node.Status = "Unknown"
		}
	}
	if is.Phase != "" && len(is.Cond) > 0 {
		out = append(out, node)
	}
	return out
}

func (s *azureState) owners() (out []Owner) {
	for _, o := range s.Owners {
		kind, name, _ := strings.Cut(o, "/")
		out = append(out, Owner{Kind: kind, Name: name, Controller: true})
	}
	return out
}

func (f *azureFleet) seenAt(at time.Time) *Observation {
	now, first := map[[3]string]*azureChange{}, map[[3]string]time.Time{}
	for i := range f.log {
		c := &f.log[i]
		if c.at.After(at) {
			break
		}
		key := [3]string{c.kind, c.namespace, c.name}
		if _, known := first[key]; !known {
			first[key] = c.at
		}
		now[key] = c
	}
	out := &Observation{At: at, Server: "lab", KubeSystemUID: "new", Scopes: []report.Scope{{Provider: "azure", Endpoint: "here", State: code.ScopeComplete}}, Checks: []Check{{"retail", "shop-mhc", "shop"}}}
	groups := map[string]bool{}
	for i := range f.machines {
		m := &f.machines[i]
		if !groups[m.group()] {
			groups[m.group()] = true
			kind := map[bool]string{true: "KubeadmControlPlane", false: "MachineDeployment"}[m.Role == "control-plane"]
			if strings.HasPrefix(m.group(), "train-uni") || strings.HasPrefix(m.group(), "train-flex") {
				kind = "MachinePool"
			}
			out.Groups = append(out.Groups, Group{Kind: kind, Namespace: m.Namespace, Name: m.group(), Cluster: m.Cluster})
			if !slices.ContainsFunc(out.Clusters, func(c Cluster) bool { return c.Name == m.Cluster }) {
				out.Clusters = append(out.Clusters, Cluster{Namespace: m.Namespace, Name: m.Cluster, Created: azureStart, Conditions: []Condition{{Type: "ControlPlaneInitialized", Status: "True", Since: azureStart}}})
			}
		}
		deleted, err := time.Parse(time.TimeOnly, m.Deleted)
		if m.VMThere || m.Verdict == "Healthy" && (err != nil || at.Before(azureDay.Add(deleted.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))))) {
			out.Instances = append(out.Instances, f.vm(m))
		}
	}
	for key, c := range now {
		if c.is == nil {
			continue
		}
		var deleting time.Time
		if c.is.Deleting {
			deleting = c.at
		}
		if c.kind == "azuremachines" {
			o := Object{ObjectName: report.ObjectName{Kind: "AzureMachine", Namespace: c.namespace, Name: c.name}, ID: c.is.ProviderID, State: c.is.VMState, Conditions: conditionsOf(c.is), Deleting: deleting}
			out.Objects = append(out.Objects, o)
			continue
		}
		if c.kind == "machinesets" {
			out.Groups = append(out.Groups, Group{Kind: "MachineSet", Namespace: c.namespace, Name: c.name, Owners: c.is.owners()})
			continue
		}
		of := azureMachine{Cluster: strings.Split(c.name, "-")[0], Name: c.name}
		if of.Cluster == "edge" {
			of.Cluster = "edge-7"
		}
		out.Machines = append(out.Machines, Machine{
			Namespace: c.namespace, Name: c.name, UID: "new-" + c.name, Cluster: of.Cluster, Group: of.group(), Created: first[key], Owners: c.is.owners(),
			Phase: c.is.Phase, Node: c.is.NodeRef, Conditions: conditionsOf(c.is), Deleting: deleting,
		})
	}
	return out
}

// At no time of a restore of CAPZ that nobody touched is there a false alarm, and at its end each
// machine that is judged is as foretold.
func TestAzureReplayWithoutAFalseAlarm(t *testing.T) {
	f := readAzureFleet(t)
	r := f.report()
	var d *Document
	for at := azureStart; !at.After(azureEnd); at = at.Add(time.Second) {
		d = judged(t, r, f.seenAt(at))
		if d.State == SomeNot {
			t.Fatalf("%s: %+v, made %+v, gone %+v", at.Format(time.TimeOnly), notAs(d), d.Made, d.Gone)
		}
	}
	n := map[Verdict]int{}
	for i := range d.Machines {
		n[d.Machines[i].Verdict]++
	}
	// Of what stays stuck it shows only after ten minutes that it does, where a health check watches the
	// cluster; members of pools are not judged.
	if n[As] != 13 || n[NotYet] != 8 || n[NotJudged] != 6 {
		t.Errorf("%v", n)
	}
}

// What was foretold wrongly is never as foretold.
func TestAzureReplayOfWrongForecasts(t *testing.T) {
	f := readAzureFleet(t)
	seen, judgedOnes := f.seenAt(azureEnd), 0
	for i := range f.machines {
		for _, wrong := range []code.Outcome{code.Adopted, code.Stuck, code.Halted, code.ReplacedByMachineHealthCheck, code.DeletedByOwner, code.NewInstanceCreated, code.UntouchedPaused} {
			m := &f.machines[i]
			right := m.foretold()
			if wrong == right || right == code.OtherInstanceTaken && wrong == code.Adopted { // one id has both VMs
				continue
			}
			r := f.report()
			for j := range r.Clusters {
				for _, g := range setsOf(&r.Clusters[j]) {
					for k := range g.machines {
						if g.machines[k].Name == m.Name {
							g.machines[k].Forecast.Outcome = wrong
						}
					}
				}
			}
			d := judged(t, r, seen)
			for k := range d.Machines {
				if v := &d.Machines[k]; v.Name == m.Name && v.Verdict == As {
					t.Errorf("%s: %s, and %s came: %s", m.Name, wrong, right, v.Seen)
				} else if v.Name == m.Name && v.Verdict != NotJudged {
					judgedOnes++
				}
			}
		}
	}
	if judgedOnes < 100 {
		t.Errorf("%d are judged", judgedOnes)
	}
}
