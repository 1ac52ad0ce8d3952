package report

import (
	"strings"

	"drift-detector/report/code"
)

// Set is a control plane or a group of workers, in the one form that readers
// of a whole cluster need.
type Set struct {
	Title    string // "KubeadmControlPlane alpha-prod"
	Status   code.Status
	Reason   code.Reason
	Desired  *int64
	Pool     *Pool
	Counts   MachineCounts
	Rollout  *Rollout
	Machines []Machine // not more than Counts when Options.IgnoreHealthy is set
}

// Sets returns the control plane, then the groups of workers.
func (c *Cluster) Sets() []Set {
	cp := &c.ControlPlane
	out := append(make([]Set, 0, 1+len(c.Workers.Groups)),
		Set{setTitle(cp.Kind, cp.Name, "control plane"), cp.Status, cp.Reason, cp.Desired, nil, cp.Counts, cp.Forecast.rollout(), cp.Machines})
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		out = append(out, Set{setTitle(g.Kind, g.Name, "workers of no known group"), g.Status, g.Reason, g.Desired, g.Pool, g.Counts, g.Forecast.rollout(), g.Machines})
	}
	return out
}

func setTitle(kind, name, otherwise string) string {
	if kind == "" && name == "" {
		return otherwise
	}
	return strings.TrimSpace(kind + " " + name)
}

// MachinesOf returns the machines of one of the Sets, by its index.
func (c *Cluster) MachinesOf(set int) []Machine {
	if set == 0 {
		return c.ControlPlane.Machines
	}
	return c.Workers.Groups[set-1].Machines
}

// Title returns namespace/name.
func (c *Cluster) Title() string { return c.Namespace + "/" + c.Name }

// Unsupported reports whether nothing is known of the machine, for a reason that
// is its provider's and not its own.
func (m *Machine) Unsupported() bool {
	return m.Status == code.Unknown && m.Reason == code.UnsupportedProvider
}

// Unsupported counts such machines of the cluster.
func (c *Cluster) Unsupported() int {
	n := 0
	for _, s := range c.Sets() {
		for i := range s.Machines {
			n += one(s.Machines[i].Unsupported())
		}
	}
	return n
}
