package detector

import (
	"slices"
	"time"

	"drift-detector/infra"
	"drift-detector/report/code"
)

// decide applies the table for machines in plain words.
func (o *oracle) decide(c *oracleMachine) {
	if c.Dying != nil || o.expected.Unread[infra.Reading{Backup: c.cluster.Backup, Provider: c.Provider}] != "" {
		reason := "BeingDeleted"
		if c.Dying == nil {
			reason = "KindUnread"
		}
		o.set(c, code.Unknown, reason, o.onlyOne(c))
		return
	}
	if c.Provider == "" {
		o.set(c, code.Unknown, "UnsupportedProvider", nil)
		return
	}
	for _, other := range o.all {
		if other != c && c.Strong == other.Strong && !c.Strong.IsZero() {
			o.set(c, code.Unknown, "ClaimedTwice", nil)
			return
		}
		for _, v := range o.vms {
			if other != c && o.has(v, c.Strong) && o.has(v, other.Strong) {
				o.set(c, code.Unknown, "ClaimedTwice", nil)
				return
			}
		}
	}
	if c.Conflict != "" {
		o.set(c, code.Unknown, "ConflictingIDs", nil)
		return
	}
	strongHere := o.find(func(v *oracleVM) bool { return o.has(v, c.Strong) && o.atHome(c, v) })
	strongAway := o.find(func(v *oracleVM) bool { return o.has(v, c.Strong) && !o.atHome(c, v) && !v.Gone })
	if living := slices.DeleteFunc(slices.Clone(strongHere), func(v *oracleVM) bool { return v.Gone }); len(living) > 0 {
		strongHere = living
	}
	complete, _ := o.absenceCounts(oraclePlace{c.cluster, c.Home.Target, c.Home.Folder})
	if len(strongHere) == 0 {
		for _, v := range o.vms {
			if o.mayBeIt(c, v) {
				o.set(c, code.Unknown, "InstanceUnreadable", nil)
				return
			}
		}
	}
	if len(strongHere) > 0 && !slices.ContainsFunc(strongHere, func(v *oracleVM) bool { return !v.Unreadable }) {
		o.set(c, code.Unknown, "InstanceUnreadable", nil)
		return
	}
	if len(strongHere) > 0 && o.contradictedAt(c.Home.Target) {
		o.set(c, code.Unknown, "ScopeIncomplete", nil)
		return
	}
	if len(strongHere) > 1 {
		var read []*oracleVM
		for _, v := range strongHere {
			if o.has(v, c.Identity) || o.has(v, c.Ref) {
				read = append(read, v)
			}
		}
		if len(read) != 1 {
			o.set(c, code.Unknown, "AmbiguousMatch", nil)
			return
		}
		if c.InfraMissing {
			o.set(c, code.Unknown, "InfraObjectMissing", read[0])
			return
		}
		o.match(c, read[0], len(strongHere)+len(strongAway) > 1, false)
		return
	}
	if len(strongHere) == 1 {
		v := strongHere[0]
		reidentified := o.reidentified(c, v)
		switch {
		case c.InfraMissing:
			o.set(c, code.Unknown, "InfraObjectMissing", v)
		case v.Gone && c.Pool != (infra.Key{}):
			o.set(c, o.memberGone(c), "PoolMember", v)
		case v.Gone && o.remade(c):
			o.set(c, code.Unknown, "IdentityChanged", nil)
		case v.Gone:
			o.set(c, code.Stale, "InstanceTerminated", v)
		case o.dropped(c, v):
			o.set(c, code.Unknown, "LeftPool", v)
		case reidentified && !complete:
			o.set(c, code.Unknown, "AmbiguousMatch", nil)
		default:
			o.match(c, v, len(strongAway) > 0, reidentified)
		}
		return
	}
	away := strongAway
	if c.Strong.IsZero() {
		away = o.find(func(v *oracleVM) bool { return o.has(v, c.Identity) && !v.Gone })
		if o.any(away, func(v *oracleVM) bool { return o.atHome(c, v) }) {
			away = nil
		}
	}
	if !o.contradictedAt(c.Home.Target) && o.any(away, func(v *oracleVM) bool { return o.seenBy(v, c.Home.Target) }) {
		o.set(c, code.Unknown, "FoundElsewhere", nil)
		return
	}
	if !complete {
		o.set(c, code.Unknown, "ScopeIncomplete", nil)
		return
	}
	o.decideAbsent(c, strongAway)
}

// onlyOne returns the one instance with the strong key of a machine that nobody else records, where
// there is one; an ended one only where none lives.
func (o *oracle) onlyOne(c *oracleMachine) *oracleVM {
	for _, other := range o.all {
		for _, v := range o.vms {
			if other != c && o.has(v, c.Strong) && o.has(v, other.Strong) {
				return nil
			}
		}
	}
	here := o.find(func(v *oracleVM) bool { return o.has(v, c.Strong) && o.atHome(c, v) })
	if living := slices.DeleteFunc(slices.Clone(here), func(v *oracleVM) bool { return v.Gone }); len(living) > 0 {
		here = living
	}
	if len(here) == 1 {
		return here[0]
	}
	return nil
}

// decideAbsent goes on where the strong key was not found at a complete home.
func (o *oracle) decideAbsent(c *oracleMachine, strongAway []*oracleVM) {
	same := o.find(func(v *oracleVM) bool { return o.has(v, c.Identity) && !v.Gone })
	sameHere := o.find(func(v *oracleVM) bool { return o.has(v, c.Identity) && !v.Gone && o.atHome(c, v) })
	wanted := func(v *oracleVM, weakToo bool) bool {
		for _, other := range o.all {
			if other == c {
				continue
			}
			if o.has(v, other.Strong) || o.has(v, other.Identity) {
				return true
			}
			for _, k := range other.Weak {
				if weakToo && other.Strong.IsZero() && v.HasKey(k) {
					return true
				}
			}
		}
		return false
	}
	if len(strongAway) > 0 {
		o.set(c, code.Unknown, "FoundElsewhere", nil)
		return
	}
	if !c.Strong.IsZero() {
		switch {
		case len(same) > 0:
			o.set(c, code.Unknown, "IdentityChanged", nil)
		case len(o.witnesses(c)) > 0:
			o.set(c, code.Unknown, "IdentityChanged", nil)
		case o.nodeAlive(c):
			o.set(c, code.Unknown, "NodeAlive", nil)
		case c.Pool != (infra.Key{}):
			o.set(c, o.memberGone(c), "PoolMember", nil)
		case o.nodeListMissed(c.cluster), o.nodeMute(c):
			o.set(c, code.Unknown, "NodeListUnread", nil)
		default:
			o.set(c, code.Stale, "InstanceNotFound", nil)
			if len(o.namesakes(c)) > 0 {
				c.warnings = append(c.warnings, "SameNameElsewhere")
			}
		}
		return
	}
	weak := o.find(func(v *oracleVM) bool {
		return !v.Gone && v.Exclude == "" && o.atHome(c, v) && slices.ContainsFunc(c.Weak, func(k infra.Key) bool { return v.HasKey(k) })
	})
	switch {
	case len(sameHere) == 0 && len(same) > 0:
		o.set(c, code.Unknown, "FoundElsewhere", nil)
	case len(sameHere) > 1 || len(sameHere) == 1 && wanted(sameHere[0], false):
		o.set(c, code.Unknown, "AmbiguousMatch", nil)
	case len(sameHere) == 1 && c.InfraMissing:
		o.set(c, code.Unknown, "InfraObjectMissing", sameHere[0])
	case len(sameHere) == 1:
		o.match(c, sameHere[0], false, false)
	case len(weak) > 1 || len(weak) == 1 && wanted(weak[0], true):
		o.set(c, code.Unknown, "AmbiguousMatch", nil)
	case len(weak) == 1 && c.InfraMissing:
		o.set(c, code.Unknown, "InfraObjectMissing", weak[0])
	case len(weak) == 1:
		o.match(c, weak[0], false, false)
	case o.nodeAlive(c):
		o.set(c, code.Unknown, "NodeAlive", nil)
	case c.Pool != (infra.Key{}):
		o.set(c, o.memberGone(c), "PoolMember", nil)
	case len(o.namesakes(c)) > 0:
		o.set(c, code.Unknown, "AmbiguousMatch", nil)
	case c.InfraMissing:
		o.set(c, code.Unknown, "InfraObjectMissing", nil)
	case c.Unnamed != "":
		o.set(c, code.Unknown, "AmbiguousMatch", nil)
	case o.nodeListMissed(c.cluster), o.nodeMute(c):
		o.set(c, code.Unknown, "NodeListUnread", nil)
	default:
		o.set(c, code.Stale, "NotProvisioned", nil)
	}
}

func (o *oracle) match(c *oracleMachine, v *oracleVM, duplicate, reidentified bool) {
	if reason := o.replacesIt(c, v); reason != "" {
		o.set(c, code.Unknown, reason, v)
		return
	}
	o.set(c, code.Healthy, "", v)
	if v.Exclude == infra.Template {
		c.warnings = append(c.warnings, "Template")
	}
	for _, x := range c.Expect {
		if !v.HasKey(x.Key) && o.hasKind(v, x.Key.Kind) {
			c.warnings = append(c.warnings, string(x.Warning))
		}
	}
	if duplicate {
		c.warnings = append(c.warnings, "DuplicateID")
	}
	if reidentified {
		c.warnings = append(c.warnings, "Reidentified")
	}
	if c.m == nil {
		c.warnings = append(c.warnings, "MachineMissing")
	}
}

func (o *oracle) nodeAlive(c *oracleMachine) bool {
	return o.hasNode(c, func(l infra.Listing, n infra.Node) bool {
		late := l.ListedAt.Sub(n.Heartbeat)
		return (n.Ready || n.Unready) && late < 10*time.Minute && late >= -10*time.Minute
	})
}

// nodeMute reports whether the machine has a Node of which the list does not say whether it
// lives, although it says so of others.
func (o *oracle) nodeMute(c *oracleMachine) bool {
	return o.hasNode(c, func(l infra.Listing, n infra.Node) bool {
		if n.NoReady || !n.Heartbeat.IsZero() || !n.Ready && !n.Unready {
			return n.NoReady
		}
		return slices.ContainsFunc(l.Nodes, func(other infra.Node) bool { return !other.Heartbeat.IsZero() })
	})
}

func (o *oracle) hasNode(c *oracleMachine, like func(infra.Listing, infra.Node) bool) bool {
	for _, l := range o.inv.Listings {
		for _, n := range l.Nodes {
			byKey := !c.Strong.IsZero() && slices.Contains(n.Keys, c.Strong)
			byName := n.Machine == c.name && n.ClusterNamespace == c.ns || n.Machine == "" && c.m != nil && c.m.Node != "" && c.m.Node == n.Name
			if n.Cluster == c.cluster && (byKey || byName) && like(l, n) {
				return true
			}
		}
	}
	return false
}

// nodeNames reports whether a Node on the instance says that it is the machine.
func (o *oracle) nodeNames(c *oracleMachine, v *oracleVM) bool {
	return slices.ContainsFunc(o.nodesOn(v), func(n infra.Node) bool {
		return o.nodeAgrees(n) && n.Cluster == c.cluster && n.Machine == c.name && n.ClusterNamespace == c.ns
	})
}

// remade reports whether a living instance has the machine's second key, or its name in
// its place without being another's.
func (o *oracle) remade(c *oracleMachine) bool {
	return len(o.find(func(v *oracleVM) bool {
		if v.Gone || !slices.ContainsFunc(c.Witness, v.HasKey) || v.Exclude != "" || !o.atHome(c, v) {
			return !v.Gone && o.has(v, c.Identity)
		}
		return o.has(v, c.Identity) || !slices.ContainsFunc(o.all, func(other *oracleMachine) bool {
			return other != c && (o.has(v, other.Strong) || o.has(v, other.Identity))
		})
	})) > 0
}

func words(reasons []code.Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, string(r))
	}
	return out
}
