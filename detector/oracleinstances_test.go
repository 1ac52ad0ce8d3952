package detector

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"time"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/report/code"
)

// This file is the oracle on instances that no machine explains.

// referred returns what a machine says about an instance that is not its own.
func (o *oracle) referred(v *oracleVM) (reason string, by *oracleMachine) {
	best := 99
	consider := func(rank int, c *oracleMachine, r string) {
		if rank < best {
			best, reason, by = rank, r, c
		}
	}
	about := func(c *oracleMachine, otherwise string) string {
		switch c.reason {
		case "ClaimedTwice", "ConflictingIDs", "InstanceUnreadable", "AmbiguousMatch", "FoundElsewhere", "IdentityChanged":
			return c.reason
		case "ScopeIncomplete":
			if otherwise != "FoundElsewhere" {
				return "ScopeIncomplete"
			}
		}
		return otherwise
	}
	for _, c := range o.all {
		matched := slices.ContainsFunc(o.vms, func(v *oracleVM) bool { return v.owner == c })
		if o.has(v, c.Strong) {
			if matched {
				consider(0, c, "DuplicateID")
			} else {
				consider(1, c, about(c, "FoundElsewhere"))
			}
		}
		if slices.ContainsFunc(c.Doubted, v.HasKey) {
			consider(1, c, about(c, "ConflictingIDs"))
		}
		if o.has(v, c.Identity) {
			consider(2, c, about(c, "IdentityChanged"))
		}
		if !matched && slices.ContainsFunc(c.Witness, v.HasKey) {
			consider(3, c, about(c, "SameName"))
		}
		for _, k := range c.Weak {
			if c.Strong.IsZero() && v.HasKey(k) {
				consider(4, c, about(c, "SameName"))
			}
		}
		if o.mayBeIt(c, v) {
			consider(5, c, "InstanceUnreadable")
		}
		for _, n := range o.nodesOn(v) {
			if o.nodeAgrees(n) && n.Cluster == c.cluster && n.Machine == c.name && n.ClusterNamespace == c.ns {
				consider(6, c, "NodeOfMachine")
			}
		}
		for _, k := range c.Names {
			if v.HasKey(k) {
				consider(7, c, "SameName")
			}
		}
		for _, k := range c.Hosts {
			if v.HasKey(k) {
				consider(8, c, "CloneOf")
			}
		}
	}
	return reason, by
}

func (o *oracle) nodesOn(v *oracleVM) []infra.Node {
	var out []infra.Node
	for _, l := range o.inv.Listings {
		for _, n := range l.Nodes {
			if slices.ContainsFunc(n.Keys, func(k infra.Key) bool { return v.HasKey(k) }) {
				out = append(out, n)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return o.cid(a.Cluster)+"\x00"+a.Name < o.cid(b.Cluster)+"\x00"+b.Name
	})
	return out
}

func (o *oracle) nodeAgrees(n infra.Node) bool {
	return n.Machine != "" && n.ClusterName == n.Cluster.Name && n.ClusterNamespace == n.Cluster.Namespace
}

// links lists the evidence of one grade that ties an instance to clusters, of
// the highest weight only.
func (o *oracle) links(v *oracleVM, g infra.Grade) []oracleLink {
	var all []oracleLink
	for _, n := range o.nodesOn(v) {
		if g == infra.Strong && o.nodeSpeaks(n, v) {
			all = append(all, oracleLink{n.Cluster, n.OwnerKind, n.OwnerName, n.ControlPlane, math.MaxInt, true, false})
		}
	}
	for _, t := range o.expected.OwnershipHints {
		grade := t.Grade
		if grade == infra.Strong && v.Unreadable { // what it says of itself is no proof that it runs
			grade = infra.Medium
		}
		if o.fits(t, v) && grade == g {
			weight := t.Specificity
			if g == infra.LocationOnly {
				weight = 0
			}
			all = append(all, oracleLink{t.Owner.Cluster, t.Owner.Kind, t.Owner.Name, t.ControlPlane, weight, false, t.ByName})
		}
	}
	top := math.MinInt
	for _, b := range all {
		top = max(top, b.weight)
	}
	all = slices.DeleteFunc(all, func(b oracleLink) bool { return b.weight < top })
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return fmt.Sprint(o.cid(a.cluster), a.kind, "\x00", a.own) < fmt.Sprint(o.cid(b.cluster), b.kind, "\x00", b.own)
	})
	return all
}

// nodeSpeaks reports whether a Node makes an instance its cluster's.
func (o *oracle) nodeSpeaks(n infra.Node, v *oracleVM) bool {
	return o.nodeAgrees(n) && slices.ContainsFunc(o.expected.OwnershipHints, func(t infra.OwnershipHint) bool { return t.Owner.Cluster == n.Cluster && o.fits(t, v) })
}

// fits reports whether a tie is one of an instance.
func (o *oracle) fits(t infra.OwnershipHint, v *oracleVM) bool {
	for _, k := range t.Expect {
		met := slices.ContainsFunc(t.Expect, func(other infra.Key) bool { return other.Kind == k.Kind && v.HasKey(other) })
		if o.hasKind(v, k.Kind) && !met {
			return false
		}
	}
	if t.Grade != infra.Strong && t.Grade != infra.NameOnly && !o.nearby(v, t.Owner.Cluster) {
		return false
	}
	if !t.Key.IsZero() {
		return v.HasKey(t.Key)
	}
	p := t.Pattern
	return p != nil && regexp.MustCompile("^("+p.Name+")$").MatchString(v.Name) && (p.Within.IsZero() || v.HasKey(p.Within))
}

// nearby reports whether an instance is seen where machines of a cluster may be.
func (o *oracle) nearby(v *oracleVM, id backup.ClusterID) bool {
	return slices.ContainsFunc(v.listings, func(i int) bool { return o.scopeOf(o.inv.Listings[i], id) })
}

// scopeOf reports whether machines of a cluster may be where a listing was made.
func (o *oracle) scopeOf(l infra.Listing, id backup.ClusterID) bool {
	if slices.Contains(l.Clusters, id) {
		return true
	}
	for _, p := range o.expected.Proofs {
		if p.Cluster == id && slices.Contains(l.IDs, p.Target) {
			return true
		}
	}
	for _, c := range o.all {
		if c.cluster == id && slices.Contains(l.IDs, c.Home.Target) {
			return true
		}
	}
	return false
}

func (o *oracle) cid(id backup.ClusterID) string {
	return fmt.Sprintf("%s/%s#%d", id.Namespace, id.Name, id.Backup)
}

// sharing lists the instances that may be meant as well as this one, by its id
// and by each Node on it, this one among them.
func (o *oracle) sharing(v *oracleVM) [][]*oracleVM {
	out := [][]*oracleVM{o.find(func(w *oracleVM) bool { return !w.Gone && v.ID != "" && v.ID == w.ID })}
	for _, n := range o.nodesOn(v) {
		out = append(out, o.find(func(w *oracleVM) bool { return !w.Gone && slices.ContainsFunc(n.Keys, w.HasKey) }))
	}
	return out
}

// suspects returns the clusters that anything but their place ties instances of one
// id to, when there are several.
func (o *oracle) suspects(v *oracleVM) map[string]bool {
	clusters := map[string]bool{}
	for _, all := range o.sharing(v) {
		if len(all) < 2 {
			continue
		}
		for _, w := range all {
			if w.Exclude != "" {
				continue
			}
			for _, b := range append(o.links(w, infra.Strong), o.links(w, infra.Medium)...) {
				clusters[o.cid(b.cluster)] = true
			}
			for _, n := range o.nodesOn(w) {
				if !o.nodeSpeaks(n, w) {
					clusters[o.cid(n.Cluster)] = true
				}
			}
		}
	}
	return clusters
}

// located returns the table for instances in plain words.
func (o *oracle) located(v *oracleVM) (line string, id backup.ClusterID, set string, status code.Status) {
	loose := func(reason, cluster string) (string, backup.ClusterID, string, code.Status) {
		// Where only the place speaks for it, a name that is known says that it is none.
		nothingElse := len(o.links(v, infra.Medium))+len(o.links(v, infra.NameOnly)) == 0
		if _, by := o.referred(v); reason == "InstanceUnreadable" && !(by == nil && nothingElse && v.Name != "") {
			o.unread = true
		}
		return fmt.Sprintf("unattributed %s %s %s", v.Identity, reason, cluster), id, "", ""
	}
	isMember := slices.ContainsFunc(o.expected.Pools, func(p infra.Pool) bool { return o.isMember(p, v) })
	if (v.Exclude == infra.Template || v.Exclude == infra.Managed) && !v.Gone && !isMember {
		like := o.links(v, infra.Strong)
		if len(like) == 0 {
			like = append(o.links(v, infra.Medium), o.links(v, infra.NameOnly)...)
		}
		if len(like) > 0 {
			return loose("NameOnly", o.onlyCluster(like))
		}
	}
	if v.Exclude != "" {
		return "excluded " + v.Exclude + " " + v.Identity, id, "", ""
	}
	if v.Gone {
		return "excluded terminated " + v.Identity, id, "", ""
	}
	if isMember {
		return "excluded poolMember " + v.Identity, id, "", ""
	}
	reason, by := o.referred(v)
	if by != nil && reason != "CloneOf" {
		return loose(reason, o.cid(by.cluster))
	}
	for _, p := range o.poolsInOrder() {
		if slices.ContainsFunc(p.Members, v.HasKey) && o.poolState(p) != code.Undecided {
			return loose("LeftPool", o.cid(p.Cluster))
		}
	}
	if by != nil {
		return loose(reason, o.cid(by.cluster))
	}
	links, strong := o.links(v, infra.Strong), true
	if named := o.suspects(v); len(named) > 0 {
		if len(named) == 1 {
			return loose("DuplicateID", sortedKeys(named)[0])
		}
		return loose("DuplicateID", "-")
	}
	if all := append(slices.Clone(links), o.links(v, infra.Medium)...); len(all) > 0 && o.onContradicted(v) {
		return loose("ScopeIncomplete", o.onlyCluster(all))
	}
	if len(links) == 0 {
		foreign := map[string]bool{}
		for _, n := range o.nodesOn(v) {
			if !o.nodeSpeaks(n, v) {
				foreign[o.cid(n.Cluster)] = true
			}
		}
		if len(foreign) == 1 {
			return loose("ForeignNode", sortedKeys(foreign)[0])
		} else if len(foreign) > 1 {
			return loose("ForeignNode", "-")
		}
		links, strong = o.links(v, infra.Medium), false
		if named := o.links(v, infra.NameOnly); v.Unreadable && len(links)+len(named) > 0 {
			if len(links) == 0 {
				links = named
			}
			return loose("InstanceUnreadable", o.onlyCluster(links))
		}
		if len(links) > 0 && !slices.ContainsFunc(links, func(b oracleLink) bool { return o.provenFor(b.cluster, v) }) {
			return loose("ScopeIncomplete", o.onlyCluster(links))
		}
	}
	if len(links) == 0 {
		locations, reason := o.links(v, infra.LocationOnly), "InClusterFolder"
		if v.Unreadable {
			reason = "InstanceUnreadable"
		}
		if len(locations) == 0 && v.Unreadable && v.Path == "" {
			return loose(reason, "-")
		}
		if named := o.links(v, infra.NameOnly); len(locations) == 0 && len(named) > 0 {
			locations, reason = named, "NameOnly"
		}
		if len(locations) == 0 {
			return "out of scope " + v.Identity, id, "", ""
		}
		for _, p := range locations {
			o.missed = o.missed || reason != "InstanceUnreadable" && o.nodeListMissed(p.cluster)
		}
		return loose(reason, o.onlyCluster(locations))
	}
	b := links[0]
	for _, other := range links {
		if other.cluster != b.cluster {
			return loose("AmbiguousOwner", "-")
		}
	}
	status, lacking := code.Ghost, false
	for i := len(links) - 1; i >= 0; i-- {
		end := o.snap.Backups[b.cluster.Backup].WrittenTo
		kind, own := links[i].kind, links[i].own
		for _, p := range o.snap.ControlPlanes {
			if links[i].cp && kind == "" && p.Cluster == b.cluster { // the only one
				kind, own = p.Kind, p.Name
			}
		}
		if o.expected.Unread[infra.Reading{Backup: b.cluster.Backup, Provider: "vsphere"}] != "" || o.mayBeMember(v, b.cluster) || o.nameless(b.cluster, kind, own) || !v.Created.After(end.Add(5*time.Minute)) && !o.sufficient(b.cluster, kind, own) {
			status, b, lacking = code.Unknown, links[i], true
		}
	}
	if status == code.Ghost && !strong {
		if o.doubtful(v, links) {
			return loose("NameOnly", o.cid(b.cluster))
		}
		if o.nodeListMissed(b.cluster) {
			status = code.Unknown
		}
	}
	set, why := "plane", ""
	if isWorker := b.kind == "MachineSet" || b.kind == "MachineDeployment" || b.kind == ""; !b.cp && isWorker {
		set = o.shown(b.cluster, b.kind, b.own)
	}
	if status == code.Unknown {
		why = "MachineNotInBackup"
		if !strong && o.nodeListMissed(b.cluster) && !lacking {
			why = "NodeListUnread"
		}
	}
	warnings := words(v.Warnings)
	slices.Sort(warnings)
	return fmt.Sprintf("machine %s %s %s/%s %s %s %v %s", o.cid(b.cluster), set, b.cluster.Namespace, v.Name, status, why, slices.Compact(warnings), v.Identity), b.cluster, set, status
}

// nameless reports whether an owner has a machine of which neither an id nor the name
// of its instance is known, so that any instance of the owner may be its.
func (o *oracle) nameless(id backup.ClusterID, kind, own string) bool {
	set := own
	if kind == "MachineSet" && !slices.ContainsFunc(o.snap.Groups, func(g backup.Group) bool { return g.Cluster == id && g.Kind == kind && g.Name == own }) {
		kind, own = "MachineDeployment", o.deploymentOfSet(id, own)
	}
	return slices.ContainsFunc(o.all, func(c *oracleMachine) bool {
		if c.cluster != id || !c.Strong.IsZero() || !c.InfraMissing && c.Unnamed == "" || c.vm != nil && c.vm.owner == c {
			return false
		}
		switch {
		case kind == "":
			return true
		case kind == "MachineSet":
			return c.set == own
		case kind == "MachineDeployment":
			return own != "" && c.deployment == own || c.set == set
		}
		return c.cp
	})
}

// onlyCluster names the cluster of links when it is the only one.
func (o *oracle) onlyCluster(all []oracleLink) string {
	for _, b := range all {
		if b.cluster != all[0].cluster {
			return "-"
		}
	}
	return o.cid(all[0].cluster)
}

// doubtful reports whether medium evidence may be that of somebody else's.
func (o *oracle) doubtful(v *oracleVM, links []oracleLink) bool {
	id := links[0].cluster
	byName := !slices.ContainsFunc(links, func(b oracleLink) bool { return !b.byName })
	read := o.nodeState(id) == "read"
	return byName && !v.Created.After(o.snap.Backups[id.Backup].WrittenTo) || read && len(o.nodesOn(v)) == 0
}
