package plan

import (
	"iter"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// kubeadmControlPlane is the one kind of control plane whose etcd is known here.
const kubeadmControlPlane = "KubeadmControlPlane"

// set is a control plane or a group of workers.
type set struct {
	cluster    *report.Cluster
	in         []string // the name of the cluster
	kind, name string
	reason     code.Reason
	desired    *int64
	counts     report.MachineCounts
	machines   []report.Machine
	plane      bool
	managedBy  string                    // who sets the replicas instead of the operator
	topology   string                    // its name in spec.topology of its Cluster, where its replicas are set
	etcd       *report.Etcd              // nil without a forecast
	rollout    *report.Rollout           // nil when there was none
	scopes     map[*report.Machine]int64 // of nth
	restored   shell.Command             // of scale, once it is made
}

// setID tells a set from all others.
type setID struct {
	cluster    *report.Cluster
	kind, name string
	plane      bool
}

func (s *set) id() setID { return setID{s.cluster, s.kind, s.name, s.plane} }

// sets returns those of a cluster, which are made once.
func (pl *planner) sets(c *report.Cluster) []*set {
	known := pl.setsOf[c]
	if known == nil {
		known = sets(c)
		pl.setsOf[c] = known
	}
	return known
}

// sets returns the control plane of a cluster, then its groups.
func sets(c *report.Cluster) []*set {
	p := &c.ControlPlane
	all := make([]set, 1+len(c.Workers.Groups))
	out, plane, in := make([]*set, len(all)), &all[0], []string{key(c)}
	*plane = set{cluster: c, in: in, kind: p.Kind, name: p.Name, reason: p.Reason, desired: p.Desired, counts: p.Counts, machines: p.Machines, plane: true}
	if p.Forecast != nil {
		plane.etcd, plane.rollout = p.Forecast.Etcd, p.Forecast.Rollout
	}
	for i := range c.Workers.Groups {
		g, group := &c.Workers.Groups[i], &all[i+1]
		*group = set{cluster: c, in: in, kind: g.Kind, name: g.Name, reason: g.Reason, desired: g.Desired, topology: g.Topology, counts: g.Counts, machines: g.Machines}
		if g.Forecast != nil {
			group.managedBy, group.rollout = g.Forecast.ManagedBy, g.Forecast.Rollout
		}
	}
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

// machinesOf yields each machine of a cluster with its set, the control plane first.
func (pl *planner) machinesOf(c *report.Cluster) iter.Seq2[*set, *report.Machine] {
	return func(yield func(*set, *report.Machine) bool) {
		for _, s := range pl.sets(c) {
			for i := range s.machines {
				if !yield(s, &s.machines[i]) {
					return
				}
			}
		}
	}
}

// machines yields each machine of the report with its set.
func (pl *planner) machines() iter.Seq2[*set, *report.Machine] {
	return func(yield func(*set, *report.Machine) bool) {
		for i := range pl.Clusters {
			for s, m := range pl.machinesOf(&pl.Clusters[i]) {
				if !yield(s, m) {
					return
				}
			}
		}
	}
}

// stackedEtcd reports whether etcd runs on the machines of the set, as it does where
// the forecast says nothing else.
func (s *set) stackedEtcd() bool {
	return s.plane && s.kind == kubeadmControlPlane && !s.externalEtcd()
}

// externalEtcd reports whether the forecast found no etcd on the machines.
func (s *set) externalEtcd() bool {
	return s.etcd != nil && s.etcd.Quorum == code.QuorumNotApplicable
}

// title names the set for a heading.
func (s *set) title() string {
	switch {
	case s.kind == "" && s.plane:
		return "Control plane"
	case s.kind == "":
		return "Machines of no known owner"
	default:
		return strings.TrimSpace(s.kind + " " + s.name)
	}
}

// listed counts machines that are no plain Healthy, in the lists and in the counts.
func (pl *planner) listed() (listed, counted int) {
	for i := range pl.Clusters {
		for _, s := range pl.sets(&pl.Clusters[i]) {
			counted += s.counts.Stale + s.counts.Ghost + s.counts.Unknown
			for j := range s.machines {
				if s.machines[j].Status != code.Healthy {
					listed++
				}
			}
		}
	}
	return listed, counted + max(0, pl.Summary.InfraMachines-len(pl.InfraMachines))
}
