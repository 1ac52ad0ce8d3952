package detector

import (
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is the oracle on what contradicts a verdict: names that live, Nodes that
// were not read, ids that more names contradict.

func (o *oracle) any(of []*oracleVM, test func(*oracleVM) bool) bool {
	return slices.ContainsFunc(of, test)
}

// hasNoOtherOwner reports whether an instance may be the machine's, as far as other
// machines and Nodes are concerned.
func (o *oracle) hasNoOtherOwner(c *oracleMachine, v *oracleVM) bool {
	if v.Gone || v.HasKey(c.Strong) && !c.Strong.IsZero() || v.Exclude != "" && v.Exclude != infra.Template && v.Exclude != infra.Managed {
		return false
	}
	for _, other := range o.all {
		if other != c && (o.has(v, other.Strong) || o.has(v, other.Identity)) {
			return false
		}
	}
	return !slices.ContainsFunc(o.nodesOn(v), func(n infra.Node) bool {
		return o.nodeAgrees(n) && (n.Cluster != c.cluster || n.Machine != c.name || n.ClusterNamespace != c.ns)
	})
}

// namesakes makes VMs that have the machine's name, by themselves, in their metadata or by a Node.
func (o *oracle) namesakes(c *oracleMachine) []*oracleVM {
	return o.find(func(v *oracleVM) bool {
		named := slices.ContainsFunc(slices.Concat(c.Names, c.Witness), v.HasKey) || slices.Contains(c.Hosts, v.Host)
		return o.hasNoOtherOwner(c, v) && (named || c.Strong.IsZero() && o.nodeNames(c, v))
	})
}

func (o *oracle) witnesses(c *oracleMachine) []*oracleVM {
	return o.find(func(v *oracleVM) bool {
		return o.hasNoOtherOwner(c, v) && o.atHome(c, v) && slices.ContainsFunc(c.Witness, v.HasKey)
	})
}

// replacesIt returns the reason for which a match that does not run is not Healthy.
func (o *oracle) replacesIt(c *oracleMachine, v *oracleVM) string {
	if v.Runs() {
		return ""
	}
	others := append(o.namesakes(c), o.find(func(w *oracleVM) bool {
		return w != v && (o.has(w, c.Strong) || o.has(w, c.Identity) && (!c.Strong.IsZero() || o.atHome(c, w)))
	})...)
	switch {
	case o.nodeAlive(c):
		return "NodeAlive"
	case o.any(others, func(w *oracleVM) bool { return w != v && w.Runs() }):
		return "AmbiguousMatch"
	}
	if complete, _ := o.absenceCounts(oraclePlace{c.cluster, c.Home.Target, c.Home.Folder}); !complete {
		return "ScopeIncomplete"
	}
	if o.nodeListMissed(c.cluster) || o.nodeMute(c) {
		return "NodeListUnread"
	}
	return ""
}

// nodeState returns the state of a cluster's Node list, if it was asked for. One without
// a Node, or of another cluster, is none where a control-plane machine runs that had one.
func (o *oracle) nodeState(id backup.ClusterID) string {
	state, nodes := "", 0
	for _, l := range o.inv.Listings {
		if l.NodeState == "" || !slices.Contains(l.Clusters, id) {
			continue
		}
		others, ours := false, false
		state, nodes = l.NodeState, 0
		for _, n := range l.Nodes {
			if n.Cluster == id {
				nodes++
				same := n.ClusterName == id.Name && n.ClusterNamespace == id.Namespace
				ours, others = ours || same, others || !same && n.ClusterName != ""
			}
		}
		if others && !ours {
			nodes = 0
		}
	}
	for _, c := range o.all {
		if state != "read" || nodes > 0 || c.cluster != id || !c.cp || c.m == nil || c.m.Node == "" || c.Strong.IsZero() {
			continue
		}
		if slices.ContainsFunc(o.vms, func(v *oracleVM) bool { return v.Runs() && v.HasKey(c.Strong) }) {
			return "unreachable"
		}
	}
	return state
}

// nodeListMissed reports whether a Node list that somebody should have answered was
// asked for and not read.
func (o *oracle) nodeListMissed(id backup.ClusterID) bool {
	state := o.nodeState(id)
	if state == "" || state == "read" || state == "skipped" {
		return false
	}
	planes, recorded, machines, joined := 0, int64(0), 0, false
	for _, c := range o.all {
		if c.cluster != id {
			continue
		}
		if c.m != nil {
			machines++
			joined = joined || c.m.Node != "" || c.m.Phase != "Provisioned"
		}
		if c.cp {
			planes++
			if c.m != nil {
				recorded++
			}
		}
	}
	if machines > 0 && !joined {
		return false
	}
	return planes == 0 || o.mayServe(id, recorded)
}

func (o *oracle) mayServe(id backup.ClusterID, recorded int64) bool {
	for _, c := range o.all {
		if c.cluster != id || !c.cp {
			continue
		}
		for _, v := range o.vms {
			weak := c.Strong.IsZero() && slices.ContainsFunc(c.Weak, v.HasKey)
			if o.mayBeIt(c, v) || (v.Runs() || v.Unreadable) && (weak || o.has(v, c.Strong) || o.has(v, c.Identity) || slices.ContainsFunc(slices.Concat(c.Doubted, c.Witness), v.HasKey)) {
				return true
			}
		}
		if complete, _ := o.absenceCounts(oraclePlace{c.cluster, c.Home.Target, c.Home.Folder}); c.Provider == "" || !complete {
			return true
		}
	}
	for _, p := range o.snap.ControlPlanes {
		if p.Cluster == id && (p.Kind == "AWSManagedControlPlane" || p.Replicas.Known && p.Replicas.N > recorded) {
			return true
		}
	}
	for _, l := range o.inv.Listings {
		if l.NodeState == "" && l.State != code.ScopeComplete && o.scopeOf(l, id) {
			return true
		}
	}
	return o.any(o.vms, func(v *oracleVM) bool {
		recorded := slices.ContainsFunc(o.all, func(c *oracleMachine) bool { return o.has(v, c.Strong) })
		links := slices.Concat(o.links(v, infra.Strong), o.links(v, infra.Medium), o.links(v, infra.NameOnly))
		return v.Runs() && !recorded && o.nearby(v, id) && slices.ContainsFunc(links, func(b oracleLink) bool {
			return b.cluster == id && (b.cp || b.kind == plane)
		})
	})
}

// counts returns the recorded ids that are seen at an endpoint, and the machines that are
// not and whose name has another id there.
func (o *oracle) counts(endpoint string) (seen, contradicted int) {
	at := func(v *oracleVM) bool {
		return !v.Gone && slices.ContainsFunc(v.listings, func(i int) bool { return o.inv.Listings[i].Endpoint == endpoint })
	}
	copied := func(target string) bool {
		return slices.ContainsFunc(o.expected.Proofs, func(p infra.VisibilityProof) bool { return p.Target == target && p.Copied })
	}
	for _, c := range o.all {
		home := slices.ContainsFunc(o.inv.Listings, func(l infra.Listing) bool {
			return l.Endpoint == endpoint && l.NodeState == "" && slices.Contains(l.IDs, c.Home.Target)
		})
		if !home || c.Provider == "" || c.Strong.IsZero() {
			continue
		}
		here := func(v *oracleVM) bool {
			return at(v) && slices.ContainsFunc(v.listings, func(i int) bool { return slices.Contains(o.inv.Listings[i].IDs, c.Home.Target) })
		}
		switch {
		case o.any(o.vms, func(v *oracleVM) bool { return here(v) && v.HasKey(c.Strong) }):
			seen++
		case copied(c.Home.Target) && o.any(o.vms, func(v *oracleVM) bool {
			others := slices.ContainsFunc(o.all, func(other *oracleMachine) bool { return other != c && o.has(v, other.Strong) })
			return here(v) && slices.ContainsFunc(c.Names, v.HasKey) && (v.Unreadable || o.hasKind(v, c.Strong.Kind)) && !others
		}):
			contradicted++
		}
	}
	return seen, contradicted
}

func (o *oracle) contradictedAt(target string) bool {
	return slices.ContainsFunc(o.inv.Listings, func(l infra.Listing) bool {
		seen, contradicted := o.counts(l.Endpoint)
		return l.NodeState == "" && slices.Contains(l.IDs, target) && contradicted > seen
	})
}

func (o *oracle) onContradicted(v *oracleVM) bool {
	return slices.ContainsFunc(v.listings, func(i int) bool {
		seen, contradicted := o.counts(o.inv.Listings[i].Endpoint)
		return contradicted > seen
	})
}

// provenFor reports whether ids show that an instance is where a cluster's machines are.
func (o *oracle) provenFor(id backup.ClusterID, v *oracleVM) bool {
	asked := false
	for _, p := range o.expected.Proofs {
		if p.Cluster == id && p.Folder == "" && o.seenBy(v, p.Target) {
			asked = true
			partial := slices.ContainsFunc(o.inv.Listings, func(l infra.Listing) bool {
				return l.NodeState == "" && slices.Contains(l.IDs, p.Target) && l.State != code.ScopeComplete
			})
			if o.holds(p) && !(p.Copied && partial) {
				return true
			}
		}
	}
	return !asked && slices.ContainsFunc(v.listings, func(i int) bool {
		seen, _ := o.counts(o.inv.Listings[i].Endpoint)
		return seen > 0
	})
}

// reidentified reports whether both second keys of a match are others than recorded,
// and one of them means anything.
func (o *oracle) reidentified(c *oracleMachine, v *oracleVM) bool {
	differs := func(v *oracleVM, k infra.Key) bool { return !k.IsZero() && !v.HasKey(k) && o.hasKind(v, k.Kind) }
	if !differs(v, c.Identity) || !differs(v, c.Ref) {
		return false
	}
	tally := func(like func(*oracleMachine) bool) (confirms bool, same, other int) {
		for _, d := range o.all {
			for _, w := range o.vms {
				if !like(d) || !o.has(w, d.Strong) {
					continue
				}
				confirms = confirms || o.has(w, d.Identity)
				if o.has(w, d.Ref) {
					same++
				} else if differs(w, d.Ref) {
					other++
				}
			}
		}
		return confirms, same, other
	}
	confirms, same, other := tally(func(d *oracleMachine) bool { return d.cluster == c.cluster })
	if same+other < 2 {
		_, same, other = tally(func(d *oracleMachine) bool { return d.Home.Target == c.Home.Target })
	}
	return confirms || same > other || same+other < 2
}

// mayBeIt reports whether an instance that could not be read may be the machine.
func (o *oracle) mayBeIt(c *oracleMachine, v *oracleVM) bool {
	return v.Unreadable && (slices.ContainsFunc(c.Blind, v.HasKey) && o.maybeHome(c, v) || slices.ContainsFunc(c.Names, v.HasKey))
}
