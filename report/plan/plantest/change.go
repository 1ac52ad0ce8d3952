package plantest

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"drift-detector/report"
	"drift-detector/report/code"
)

// AtRandom makes something else by chance of every machine of a sample.
func AtRandom(r *report.Report, seed uint64) *report.Report {
	dice := rand.New(rand.NewPCG(seed, 10))
	pick := func(all ...string) string { return all[dice.IntN(len(all))] }
	change := func(m *report.Machine) {
		m.Forecast = &report.MachineForecast{Outcome: code.Outcome(pick("Adopted", "Stuck", "StuckNodeLeft", "NewInstanceCreated", "ReplacedByMachineHealthCheck", "UntouchedPaused", "CannotKnow", "Halted", "RolledByOwner"))}
		if m.Instance != nil && dice.IntN(3) == 0 {
			other := *m.Instance
			other.Name, other.Path = "copy", "/DC/vm/copy"
			m.Warnings, m.Others = []report.Warning{{Reason: code.Reason(pick("DuplicateID", "PoweredOff", "SameNameElsewhere", "Moved"))}}, []report.Instance{other}
		}
		if m.Status == code.Unknown {
			m.Reason = code.Reason(pick("FoundElsewhere", "AmbiguousMatch", "IdentityChanged", "NodeListUnread", "InfraObjectMissing", "NotFoundByName"))
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.Nodes.State, c.Paused = pick("read", "read", "unreachable", "skipped"), dice.IntN(5) == 0
		for j := range c.ControlPlane.Machines {
			change(&c.ControlPlane.Machines[j])
		}
		for j := range c.Workers.Groups {
			g := &c.Workers.Groups[j]
			g.Desired = Number(int64(dice.IntN(5)))
			for k := range g.Machines {
				change(&g.Machines[k])
			}
		}
	}
	return r
}

// Threefold makes three of each finding of a sample: one is as the stand-ins of the
// programs know it.
func Threefold(r *report.Report) *report.Report {
	each := func(ms []report.Machine) []report.Machine {
		var out []report.Machine
		for _, m := range ms {
			for i := range 3 {
				other := m
				if i > 0 && m.Status != code.Healthy {
					other.Name = fmt.Sprintf("%s%d", m.Name, i)
					other.Node = other.Name
					if m.ProviderID != "" {
						other.ProviderID = m.ProviderID[:len(m.ProviderID)-1] + fmt.Sprint(i)
					}
					if m.Instance != nil {
						vm := *m.Instance
						vm.ID, vm.Name = vm.ID[:len(vm.ID)-1]+fmt.Sprint(i), other.Name
						if vm.Ref != "" {
							vm.Ref += fmt.Sprint(i)
						}
						other.Instance = &vm
					}
				}
				if i == 0 || m.Status != code.Healthy {
					out = append(out, other)
				}
			}
		}
		return out
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		c.ControlPlane.Machines = each(c.ControlPlane.Machines)
		for k := range c.Workers.Groups {
			c.Workers.Groups[k].Machines = each(c.Workers.Groups[k].Machines)
		}
	}
	return r
}

// Twice adds a second cluster to a sample of alpha that is like its first under another name and
// with other ids.
func Twice(t *testing.T, r *report.Report) *report.Report {
	t.Helper()
	data, err := json.Marshal(r.Clusters[0])
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "alpha", "beta")
	for _, id := range []string{LivingID, SecondID, PlaneID, CopyID, GhostID, StaleID} {
		text = strings.ReplaceAll(text, id[:8], "0"+id[1:4]+"beef")
	}
	var c report.Cluster
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	r.Clusters = append(r.Clusters, c)
	return r
}

// Lacking yields samples of which all machines of one status lack something that most have, or
// have what few have.
func Lacking(sample func() *report.Report) iter.Seq[*report.Report] {
	return func(yield func(*report.Report) bool) {
		for _, cut := range []func(*report.Machine){
			func(m *report.Machine) { m.Instance = nil }, func(m *report.Machine) { m.ProviderID = "" }, func(m *report.Machine) { m.Node = "" },
			func(m *report.Machine) { m.Instance = &report.Instance{} }, func(m *report.Machine) { m.Others = []report.Instance{{}} },
			func(m *report.Machine) {
				m.Warnings = []report.Warning{{Reason: code.DuplicateID}, {Reason: code.PoweredOff}, {Reason: code.MachineMissing}}
			},
			func(m *report.Machine) { m.Status = code.Unknown }, func(m *report.Machine) { m.Status = code.Stale }, func(m *report.Machine) { m.Status = code.Ghost },
		} {
			for _, of := range []code.Status{code.Healthy, code.Stale, code.Ghost, code.Unknown} {
				for _, state := range []string{"read", "skipped"} {
					if r := sample(); !yield(changed(r, of, state, cut)) {
						return
					}
				}
			}
		}
	}
}

// changed changes the machines of a status, and what is known of the Node lists.
func changed(r *report.Report, of code.Status, nodes string, change func(*report.Machine)) *report.Report {
	for i := range r.Clusters {
		r.Clusters[i].Nodes.State = nodes
		for _, s := range r.Clusters[i].Sets() {
			for j := range s.Machines {
				if m := &s.Machines[j]; m.Status == of {
					change(m)
				}
			}
		}
	}
	return r
}
