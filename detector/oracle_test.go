package detector

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// The oracle gives the same as Detect, slowly: it asks every question again with
// loops over everything, and shares nothing with Detect but the types. Its
// answer is a sorted list of lines, see describe for the same of a Result.
type oracle struct {
	snap     *backup.Snapshot
	expected infra.Expected
	inv      infra.Inventory
	vms      []*oracleVM
	all      []*oracleMachine
	unread   bool // something may be a machine, and could not be read
	missed   bool // a Node list that was asked for, and is needed
}

type oracleVM struct {
	infra.Instance
	listings []int
	owner    *oracleMachine
}

type oracleMachine struct {
	infra.ExpectedMachine
	m                *backup.Machine
	cluster          backup.ClusterID
	ns, name, uid    string
	cp               bool
	status           code.Status
	reason           string
	warnings         []string
	vm               *oracleVM
	set, deployment  string
	ownerKind, owner string
}

type oracleLink struct {
	cluster   backup.ClusterID
	kind, own string
	cp        bool
	weight    int
	node      bool
	byName    bool
}

func (o *oracle) has(v *oracleVM, k infra.Key) bool { return k != (infra.Key{}) && v.HasKey(k) }

func (o *oracle) hasKind(v *oracleVM, kind infra.KeyKind) bool {
	return slices.ContainsFunc(v.Keys, func(k infra.Key) bool { return k.Kind == kind })
}

func askOracle(s *backup.Snapshot, c infra.Expected, inv infra.Inventory) []string {
	o := &oracle{snap: s, expected: c, inv: inv}
	o.meet()
	o.read()
	for _, c := range o.all {
		o.decide(c)
	}
	for _, c := range o.all {
		if c.vm != nil && !(c.m == nil && (c.status == code.Stale || c.reason == "PoolMember")) {
			c.vm.owner = c
		}
	}
	return o.tell()
}

// meet merges what several listings show of one instance.
func (o *oracle) meet() {
	for i, l := range o.inv.Listings {
		for _, inst := range l.Instances {
			var v *oracleVM
			for _, have := range o.vms {
				if have.Identity == inst.Identity {
					v = have
				}
			}
			if v == nil {
				v = &oracleVM{Instance: inst}
				v.Keys, v.Warnings = slices.Clone(inst.Keys), slices.Clone(inst.Warnings)
				o.vms = append(o.vms, v)
			} else {
				v.Keys, v.Warnings = append(v.Keys, inst.Keys...), append(v.Warnings, inst.Warnings...)
				v.Unreadable = v.Unreadable && inst.Unreadable
				v.Gone = v.Gone || inst.Gone
				if v.Host.IsZero() {
					v.Host = inst.Host
				}
				if v.Exclude == "" {
					v.Exclude = inst.Exclude
				}
				if inst.Created.After(v.Created) {
					v.Created = inst.Created
				}
			}
			v.listings = append(v.listings, i)
		}
	}
	for _, v := range o.vms {
		if !v.Host.IsZero() && !v.HasKey(v.Host) {
			v.Keys = append(v.Keys, v.Host)
		}
		causes := []string{}
		for _, x := range o.expected.Exclude {
			if v.HasKey(x.Key) {
				causes = append(causes, x.Cause)
			}
		}
		if sort.Strings(causes); v.Exclude == "" && len(causes) > 0 {
			v.Exclude = causes[0]
		}
	}
}

// read gives every machine and orphan one expected machine.
func (o *oracle) read() {
	for i := range o.snap.Machines {
		m := &o.snap.Machines[i]
		c := &oracleMachine{m: m, cluster: m.Cluster, ns: m.Namespace, name: m.Name, uid: m.UID, cp: m.ControlPlane}
		for _, have := range o.expected.Machines {
			if have.Machine == i {
				c.ExpectedMachine = have
			}
		}
		c.ownerKind, c.owner, c.set, c.deployment = m.Owner.Kind, m.Owner.Name, m.Set, m.Deployment
		o.all = append(o.all, c)
	}
	for _, have := range o.expected.Machines {
		if x := have.Orphan; x != nil {
			c := &oracleMachine{ExpectedMachine: have, cluster: x.Cluster, ns: x.Namespace, name: x.Name, uid: x.UID, cp: x.ControlPlane}
			c.ownerKind, c.owner = x.Owner.Kind, x.Owner.Name
			o.all = append(o.all, c)
		}
	}
	sort.SliceStable(o.all, func(i, j int) bool { return o.order(o.all[i]) < o.order(o.all[j]) })
	for _, c := range o.all {
		if c.cp {
			continue
		}
		switch c.ownerKind {
		case "MachineSet":
			c.set = c.owner
		case "MachineDeployment":
			c.deployment = c.owner
		}
		if c.deployment == "" && c.set != "" {
			c.deployment = o.deploymentOfSet(c.cluster, c.set)
		}
	}
}

func (o *oracle) order(c *oracleMachine) string {
	return strings.Join([]string{c.cluster.Namespace, c.cluster.Name, fmt.Sprint(c.cluster.Backup), c.ns, c.name, c.uid}, "\x00")
}

var suffixExpression = regexp.MustCompile("^[bcdfghjklmnpqrstvwxz2456789]{5,16}$")

func (o *oracle) deploymentOfSet(id backup.ClusterID, set string) string {
	for _, g := range o.snap.Groups {
		if g.Cluster == id && g.Kind == "MachineSet" && g.Name == set {
			return g.Deployment
		}
	}
	best := ""
	for _, g := range o.snap.Groups {
		if g.Cluster != id || g.Kind != "MachineDeployment" || len(g.Name) <= len(best) {
			continue
		}
		if rest, ok := strings.CutPrefix(set, g.Name+"-"); ok && suffixExpression.MatchString(rest) {
			best = g.Name
		}
	}
	return best
}

func (o *oracle) seenBy(v *oracleVM, target string) bool {
	for _, i := range v.listings {
		if slices.Contains(o.inv.Listings[i].IDs, target) {
			return true
		}
	}
	return false
}

func (o *oracle) atHome(c *oracleMachine, v *oracleVM) bool {
	return o.seenBy(v, c.Home.Target) && (c.Home.Within.IsZero() || v.HasKey(c.Home.Within))
}

func (o *oracle) maybeHome(c *oracleMachine, v *oracleVM) bool {
	return o.atHome(c, v) || o.seenBy(v, c.Home.Target) && !o.hasKind(v, c.Home.Within.Kind)
}

// oraclePlace is one cluster's view of one target, or of a part of it.
type oraclePlace struct {
	cluster        backup.ClusterID
	target, folder string
}

// absenceCounts says whether what was not seen at a home is not there, and what
// the scope's fault is when not.
func (o *oracle) absenceCounts(at oraclePlace) (bool, string) {
	id, target := at.cluster, at.target
	covered := false
	for _, l := range o.inv.Listings {
		if l.NodeState == "" && slices.Contains(l.IDs, target) {
			covered = true
			if l.State != code.ScopeComplete {
				return false, "listing"
			}
		}
	}
	if !covered {
		return false, "NotListed"
	}
	if o.contradictedAt(target) {
		return false, "VisibilityUnproven"
	}
	proofs := 0
	for _, p := range o.expected.Proofs {
		if p.Cluster != id || p.Target != target || at.folder != "" && p.Folder != "" && p.Folder != at.folder {
			continue
		}
		if at.folder == "" || p.Folder != "" {
			proofs++
		}
		if !o.holds(p) {
			return false, "VisibilityUnproven"
		}
	}
	if proofs == 0 {
		return false, "VisibilityUnproven"
	}
	return true, ""
}

// holds reports whether the listings of a proof's target show what it asks for.
func (o *oracle) holds(p infra.VisibilityProof) bool {
	found := func(k infra.Key) bool {
		for _, l := range o.inv.Listings {
			if slices.Contains(l.IDs, p.Target) && slices.Contains(l.ProbesFound, k) {
				return true
			}
		}
		return false
	}
	seen := func(k infra.Key) bool {
		return o.any(o.vms, func(v *oracleVM) bool { return v.HasKey(k) && o.seenBy(v, p.Target) })
	}
	if p.Stated != "" {
		return true
	}
	if len(p.All) > 0 {
		return !slices.ContainsFunc(p.All, func(k infra.Key) bool { return !found(k) })
	}
	for _, l := range o.inv.Listings {
		for _, n := range l.Nodes {
			trusted := slices.ContainsFunc(o.expected.Proofs, func(q infra.VisibilityProof) bool { return q.Nodes && q.Cluster == n.Cluster && q.Target == p.Target })
			if p.Nodes && trusted && o.nodeAgrees(n) && slices.ContainsFunc(n.Keys, seen) {
				return true
			}
		}
	}
	return slices.ContainsFunc(p.Any, func(k infra.Key) bool { return found(k) || seen(k) })
}

func (o *oracle) find(test func(*oracleVM) bool) []*oracleVM {
	var out []*oracleVM
	for _, v := range o.vms {
		if test(v) {
			out = append(out, v)
		}
	}
	return out
}

func (o *oracle) set(c *oracleMachine, s code.Status, reason string, v *oracleVM) {
	if c.status, c.reason, c.vm, c.warnings = s, reason, v, nil; v != nil {
		c.warnings = words(v.Warnings)
	}
}
