package verify

import (
	"testing"
	"time"

	"drift-detector/report"
	"drift-detector/report/code"
)

// reporting makes a report of machines.
type reporting struct {
	*report.Report
	clusters map[string]int
	groups   map[string]*report.Group
	order    map[string][]*report.Group
}

func newReport(at time.Time) *reporting {
	return &reporting{
		Report:   &report.Report{SchemaVersion: report.SchemaVersion, GeneratedAt: at, Summary: report.Summary{Forecast: &report.GeneralForecast{}}},
		clusters: map[string]int{}, groups: map[string]*report.Group{}, order: map[string][]*report.Group{},
	}
}

func (b *reporting) add(provider, namespace, cluster, in string, m report.Machine) {
	i, known := b.clusters[cluster]
	if !known {
		i = len(b.Clusters)
		b.clusters[cluster] = i
		b.Clusters = append(b.Clusters, report.Cluster{Namespace: namespace, Name: cluster, Provider: provider, Nodes: report.Nodes{State: report.NodesRead}, ControlPlane: report.ControlPlane{
			Kind: "KubeadmControlPlane", Name: cluster + "-control-plane", Forecast: &report.ControlPlaneForecast{},
		}})
	}
	c := &b.Clusters[i]
	if m.Role == report.RoleControlPlane || in == c.ControlPlane.Name {
		c.ControlPlane.Machines = append(c.ControlPlane.Machines, m)
		return
	}
	if b.groups[in] == nil {
		b.groups[in] = &report.Group{Kind: "MachineDeployment", Name: in, Forecast: &report.GroupForecast{}}
		b.order[cluster] = append(b.order[cluster], b.groups[in])
	}
	b.groups[in].Machines = append(b.groups[in].Machines, m)
}

func (b *reporting) done() *report.Report {
	for i := range b.Clusters {
		n := recorded(b.Clusters[i].ControlPlane.Machines)
		b.Clusters[i].ControlPlane.Forecast.Replicas.Recorded, b.Clusters[i].ControlPlane.Desired = n, desired(n)
	}
	for cluster, groups := range b.order {
		for _, g := range groups {
			g.Forecast.Replicas.Recorded = recorded(g.Machines)
			g.Desired = desired(g.Forecast.Replicas.Recorded)
			b.Clusters[b.clusters[cluster]].Workers.Groups = append(b.Clusters[b.clusters[cluster]].Workers.Groups, *g)
		}
	}
	return b.Report
}

func desired(n int) *int64 { out := int64(n); return &out }

func recorded(machines []report.Machine) (n int) {
	for i := range machines {
		if hadMachine(&machines[i]) {
			n++
		}
	}
	return n
}

func judged(t testing.TB, r *report.Report, seen *Observation) *Document {
	t.Helper()
	d, err := Judge(r, seen)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func notAs(d *Document) (out []MachineVerdict) {
	for _, m := range d.Machines {
		if m.Verdict == Not {
			out = append(out, m)
		}
	}
	return out
}

// outcomes returns all that a report may foretell.
func outcomes() (out []code.Outcome) {
	for _, row := range code.Table {
		if row.Is(code.Forecast) {
			out = append(out, code.Outcome(row.Code))
		}
	}
	return out
}

// machinesIn returns the machines of a report.
func machinesIn(r *report.Report) (out []*report.Machine) {
	for i := range r.Clusters {
		for _, s := range r.Clusters[i].Sets() {
			for j := range s.Machines {
				out = append(out, &s.Machines[j])
			}
		}
	}
	return out
}

// neverAsForetold gives each machine of a report each outcome that is not its own.
func neverAsForetold(t testing.TB, r *report.Report, seen *Observation) {
	t.Helper()
	for _, m := range machinesIn(r) {
		own := m.Forecast
		for _, wrong := range outcomes() {
			if wrong == own.Outcome {
				continue
			}
			m.Forecast = &report.MachineForecast{Outcome: wrong, ExpectedBy: own.ExpectedBy}
			for _, v := range judged(t, r, seen).Machines {
				if v.Name == m.Name && v.Namespace == m.Namespace && v.Verdict == As {
					t.Errorf("%s: %s came, and %s is %+v", m.Name, own.Outcome, wrong, v)
				}
			}
		}
		m.Forecast = own
	}
}
