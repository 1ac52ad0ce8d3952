package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// Expected is one machine of an oracle.
type Expected struct {
	Namespace, Cluster, Name, Role, Status, Verdict, Reason string
	Warnings                                                []string
}

// Oracle is what drift-detector must say about the lab: testdata/verdicts.json
// and testdata/restore/outcomes.json, which were made from what really happened
// to each machine and VM.
type Oracle struct {
	Machines []Expected
	VMs      []struct {
		Path, BiosUUID, Cluster string
		Placement               []string
	}
	Ghosts []struct{ Name, Cluster, Path, BiosUUID string }
}

// ReadOracle reads the truth of a fleet of the lab.
func ReadOracle(t *testing.T, path string) (o Oracle) {
	t.Helper()
	ReadJSON(t, path, &o)
	if len(o.Machines) == 0 {
		t.Fatalf("%s names no machine", path)
	}
	return o
}

// ReadJSON reads a file of JSON.
func ReadJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// AWSOracle is the same for cluster aws-prod: testdata/aws/verdicts.json.
type AWSOracle struct {
	Namespace string
	Machines  []Expected
	Pool      struct {
		Now []string `json:"members now"`
	}
	Instances []struct{ ID, Placement, Cluster, Strength string }
}

// ReadAWSOracle reads the truth of the lab's cluster on AWS.
func ReadAWSOracle(t *testing.T) (o AWSOracle) {
	t.Helper()
	ReadJSON(t, Testdata+"aws/verdicts.json", &o)
	o.Namespace = "tenant-aws"
	if len(o.Machines) == 0 || len(o.Pool.Now) == 0 || len(o.Instances) == 0 {
		t.Fatal("the oracle of AWS lacks machines, pool members or instances")
	}
	return o
}

// Misses compares a report with the oracle and returns each difference.
func (o AWSOracle) Misses(r *report.Report) []string {
	p := PlacementsOf(r)
	miss := p.MachineMisses(o.Machines, func(key string) bool { return strings.HasPrefix(key, o.Namespace+"/") })
	for _, id := range o.Pool.Now {
		if where, _, _ := PlacementOfID(r, id); where == "Ghost" || where == "Stale" || where == "infraMachines" {
			miss = append(miss, fmt.Sprintf("pool member %s is %s", id, where))
		}
	}
	for _, want := range o.Instances {
		where, cluster, strength := PlacementOfID(r, want.ID)
		if where != want.Placement || where == "Ghost" && (cluster != o.Namespace+"/"+want.Cluster || string(strength) != want.Strength) {
			miss = append(miss, fmt.Sprintf("instance %s is %s of %q, %s; want %s of %q, %s", want.ID, where, cluster, strength, want.Placement, o.Namespace+"/"+want.Cluster, want.Strength))
		}
	}
	return miss
}

// PlacementOfID says where a report puts an instance, under which cluster
// (namespace/name), and how strong the evidence is that it rests on.
func PlacementOfID(r *report.Report, id string) (where, cluster string, strength code.Strength) {
	for _, i := range r.InfraMachines {
		if i.Instance.ID == id {
			return "infraMachines", i.Cluster, ""
		}
	}
	for _, c := range r.Clusters {
		for _, m := range MachinesOf(c) {
			if m.Instance != nil && m.Instance.ID == id {
				for _, e := range m.Evidence {
					strength = e.Strength
				}
				return string(m.Status), c.Namespace + "/" + c.Name, strength
			}
		}
	}
	return "nowhere", "", ""
}

// located is where a report puts one machine or VM.
type located struct {
	cluster string
	Machine report.Machine
}

// Placements is a report by machine and by VM.
type Placements struct {
	Machines map[string]located   // by namespace/name, Ghosts apart
	Vms      map[string][]located // by path: the machine that has it, Ghost or not
	Infra    map[string]report.InfraMachine
}

// PlacementsOf returns where a report has each machine and instance.
func PlacementsOf(r *report.Report) Placements {
	p := Placements{map[string]located{}, map[string][]located{}, map[string]report.InfraMachine{}}
	for _, c := range r.Clusters {
		for _, m := range MachinesOf(c) {
			at := located{c.Name, m}
			if m.Instance != nil {
				p.Vms[m.Instance.Path] = append(p.Vms[m.Instance.Path], at)
			}
			if m.Status != "Ghost" && m.Reason != "MachineNotInBackup" {
				p.Machines[m.Namespace+"/"+m.Name] = at
			}
		}
	}
	for _, i := range r.InfraMachines {
		p.Infra[i.Instance.Path] = i
	}
	return p
}

// MachinesOf returns the machines of a cluster: of control plane and workers.
func MachinesOf(c report.Cluster) []report.Machine {
	all := slices.Clone(c.ControlPlane.Machines)
	for _, g := range c.Workers.Groups {
		all = append(all, g.Machines...)
	}
	return all
}

// Misses compares a report with the oracle and returns each difference.
func (o Oracle) Misses(r *report.Report) []string {
	p := PlacementsOf(r)
	miss := p.MachineMisses(o.Machines, func(key string) bool { return !strings.HasPrefix(key, "tenant-aws/") })
	for _, want := range o.VMs {
		where, cluster := p.placement(want.Path)
		if !slices.Contains(want.Placement, where) && (where != "nowhere" || !slices.Contains(want.Placement, "excluded") && !slices.Contains(want.Placement, "outOfScope")) {
			miss = append(miss, fmt.Sprintf("VM %s is %s, want %s", want.Path, where, strings.Join(want.Placement, " or ")))
		}
		if where == "Ghost" && want.Cluster != "" && cluster != want.Cluster {
			miss = append(miss, fmt.Sprintf("VM %s is a Ghost of %s, want %s", want.Path, cluster, want.Cluster))
		}
	}
	for _, want := range o.Ghosts {
		if where, cluster := p.placement(want.Path); where != "Ghost" || cluster != want.Cluster {
			miss = append(miss, fmt.Sprintf("VM %s is %s of %q, want a Ghost of %s", want.Path, where, cluster, want.Cluster))
		}
	}
	slices.Sort(miss)
	return miss
}

// MachineMisses compares the machines with those that an oracle wants. What it
// does not know must not be there, where ours says that it covers it.
func (p Placements) MachineMisses(wanted []Expected, ours func(key string) bool) []string {
	var miss []string
	known := map[string]bool{}
	for _, want := range wanted {
		key := want.Namespace + "/" + want.Name
		known[key] = true
		got, ok := p.Machines[key]
		status := want.Status + want.Verdict // either oracle has one of them
		switch {
		case !ok:
			miss = append(miss, fmt.Sprintf("machine %s is not in the report", key))
			continue
		case string(got.Machine.Status) != status:
			miss = append(miss, fmt.Sprintf("machine %s is %s (%s: %s), want %s", key, got.Machine.Status, got.Machine.Reason, got.Machine.Message, status))
		case want.Reason != "" && string(got.Machine.Reason) != want.Reason:
			miss = append(miss, fmt.Sprintf("machine %s has reason %s, want %s", key, got.Machine.Reason, want.Reason))
		}
		if got.cluster != want.Cluster {
			miss = append(miss, fmt.Sprintf("machine %s is under cluster %s, want %s", key, got.cluster, want.Cluster))
		}
		if want.Role != "" && string(got.Machine.Role) != want.Role {
			miss = append(miss, fmt.Sprintf("machine %s has role %s, want %s", key, got.Machine.Role, want.Role))
		}
		for _, w := range want.Warnings {
			if !slices.ContainsFunc(got.Machine.Warnings, func(have report.Warning) bool { return string(have.Reason) == w }) {
				miss = append(miss, fmt.Sprintf("machine %s lacks warning %s", key, w))
			}
		}
	}
	for key, got := range p.Machines {
		orphan := slices.ContainsFunc(got.Machine.Warnings, func(w report.Warning) bool { return w.Reason == "MachineMissing" })
		if !known[key] && !orphan && ours(key) {
			miss = append(miss, fmt.Sprintf("machine %s (%s) is not in the oracle", key, got.Machine.Status))
		}
	}
	return miss
}

// placement says where the VM of a path ended up, and under which cluster.
func (p Placements) placement(path string) (where, cluster string) {
	switch at := p.Vms[path]; {
	case len(at) > 1:
		return "in two places", ""
	case len(at) == 1:
		return string(at[0].Machine.Status), at[0].cluster
	}
	if _, ok := p.Infra[path]; ok {
		return "infraMachines", ""
	}
	return "nowhere", ""
}

// Ghosts returns the paths of the VMs that a report calls Ghosts.
func (p Placements) Ghosts() []string {
	var paths []string
	for path, at := range p.Vms {
		if at[0].Machine.Status == "Ghost" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// ByStatus returns the machines of a report with a status, by cluster and name.
func ByStatus(r *report.Report, status string) map[string]report.Machine {
	all := map[string]report.Machine{}
	for _, c := range r.Clusters {
		for _, m := range MachinesOf(c) {
			if string(m.Status) == status {
				all[c.Name+"/"+m.Name] = m
			}
		}
	}
	return all
}

// NothingNew holds the first law: what went wrong may turn verdicts into Unknown,
// and nothing else.
func NothingNew(t *testing.T, before, after *report.Report) {
	t.Helper()
	stale, ghosts := ByStatus(before, "Stale"), ByStatus(before, "Ghost")
	for name, m := range ByStatus(after, "Stale") {
		if _, was := stale[name]; !was {
			t.Errorf("%s became Stale (%s: %s)", name, m.Reason, m.Message)
		}
	}
	for name, m := range ByStatus(after, "Ghost") {
		if _, was := ghosts[name]; !was {
			t.Errorf("%s became a Ghost (%s: %s)", name, m.Reason, m.Message)
		}
	}
}

// NoWorse demands what nothingNew does, of a run that must say that it could not see everything.
func NoWorse(t *testing.T, before, after *report.Report) {
	t.Helper()
	NothingNew(t, before, after)
	if after.Summary.Complete {
		t.Error("the summary claims to be complete")
	}
	if after.Summary.Status == "Healthy" || after.Summary.Status == "ManualRemediationNotRequired" {
		t.Errorf("the summary is %s", after.Summary.Status)
	}
}
