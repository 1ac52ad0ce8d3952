package detector

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"drift-detector/backup"
	"drift-detector/report/code"
)

// This file is the oracle on owners, and its lines with the roll-ups.

// sufficient reports whether all machines of an owner are in the backup.
func (o *oracle) sufficient(id backup.ClusterID, kind, name string) bool {
	for _, p := range o.snap.ControlPlanes {
		if p.Cluster == id && p.Kind == kind && p.Name == name {
			return p.Kind == "AWSManagedControlPlane" || o.equal(p.Replicas, p.Desired, o.countPlane(p), o.orphansOf(p.Cluster, p.Kind, p.Name, true))
		}
	}
	if o.pooled(id, kind, name) {
		return true
	}
	for _, g := range o.snap.Groups {
		if g.Cluster == id && g.Kind == kind && g.Name == name {
			return o.equal(g.Replicas, g.Desired, o.countGroup(g), o.orphansOf(g.Cluster, g.Kind, g.Name, true))
		}
	}
	if kind == "MachineSet" {
		if md := o.deploymentOfSet(id, name); md != "" {
			return o.sufficient(id, "MachineDeployment", md)
		}
	}
	return false
}

func (o *oracle) equal(replicas, desired backup.Number, have, found int64) bool {
	if !replicas.Known {
		return desired.Known && desired.N == 0 && have == 0
	}
	return have <= replicas.N && replicas.N <= have+found
}

func (o *oracle) countPlane(p backup.ControlPlane) (n int64) {
	for _, c := range o.all {
		if c.cluster == p.Cluster && c.cp && c.m != nil {
			n++
		}
	}
	return n
}

func (o *oracle) countGroup(g backup.Group) (n int64) {
	for _, c := range o.all {
		if c.cluster == g.Cluster && !c.cp && c.m != nil && (g.Kind == "MachineSet" && c.set == g.Name || g.Kind == "MachineDeployment" && c.deployment == g.Name) {
			n++
		}
	}
	return n
}

// orphansOf counts the orphans of an owner that record an id, or those of them whose
// instance was found.
func (o *oracle) orphansOf(id backup.ClusterID, kind, name string, found bool) (n int64) {
	for _, c := range o.all {
		owner := c.cp && kind != "MachineSet" && kind != "MachineDeployment" ||
			!c.cp && (kind == "MachineSet" && c.set == name || kind == "MachineDeployment" && c.deployment == name)
		if c.cluster == id && c.m == nil && owner && !c.Strong.IsZero() && (c.vm != nil && c.vm.owner == c || !found) {
			n++
		}
	}
	return n
}

// shown returns the worker group under which an owner's instances are listed.
func (o *oracle) shown(id backup.ClusterID, kind, name string) string {
	switch kind {
	case "MachineSet":
		if md := o.deploymentOfSet(id, name); md != "" {
			return "MachineDeployment/" + md
		}
		for _, g := range o.snap.Groups {
			if g.Cluster == id && g.Kind == kind && g.Name == name {
				return "MachineSet/" + name
			}
		}
		return "/"
	case "MachineDeployment", "MachinePool":
		return kind + "/" + name
	}
	return "/"
}

// tell makes the lines.
func (o *oracle) tell() []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	ratings := map[string][]code.Status{} // "cluster set" -> contributions
	add := func(id backup.ClusterID, set string, r ...code.Status) {
		k := o.cid(id) + " " + set
		ratings[k] = append(ratings[k], r...)
	}
	for _, c := range o.all {
		if c.m == nil && (c.status == code.Stale || c.reason == "PoolMember") {
			continue
		}
		set := "plane"
		if !c.cp {
			set = "/"
			if c.set != "" {
				set = "MachineSet/" + c.set
			}
			if c.deployment != "" {
				set = "MachineDeployment/" + c.deployment
			}
		}
		sort.Strings(c.warnings)
		c.warnings = slices.Compact(c.warnings)
		id := "-"
		if c.vm != nil {
			id = c.vm.Identity
		}
		o.missed = o.missed || c.reason == "NodeListUnread"
		say("machine %s %s %s/%s %s %s %v %s", o.cid(c.cluster), set, c.ns, c.name, c.status, c.reason, c.warnings, id)
		add(c.cluster, set, rating(c.status, c.warnings))
	}
	loose := 0
	for _, v := range o.vms {
		if v.owner != nil {
			continue
		}
		line, id, set, status := o.located(v)
		say("%s", line)
		o.missed = o.missed || strings.Contains(line, "NodeListUnread")
		if status != "" {
			add(id, set, rating(status, nil))
		} else if strings.HasPrefix(line, "unattributed") {
			loose++
		}
	}
	o.tellClusters(say, ratings, loose, o.unread)
	sort.Strings(lines)
	return lines
}

func rating(s code.Status, warnings []string) code.Status {
	for _, w := range warnings {
		if w == "MachineMissing" || w == "DuplicateID" || w == "Reidentified" || w == "Template" {
			return code.NeedFurtherConfirmation
		}
	}
	switch s {
	case code.Ghost:
		return code.ManualRemediationRequired
	case code.Unknown:
		return code.NeedFurtherConfirmation
	case code.Stale:
		return code.ManualRemediationNotRequired
	}
	return code.Healthy
}

func oracleWorst(all []code.Status) code.Status {
	for _, r := range []code.Status{code.ManualRemediationRequired, code.NeedFurtherConfirmation, code.NeedFurtherConfirmationInfraMachines, code.ManualRemediationNotRequired} {
		if slices.Contains(all, r) {
			return r
		}
	}
	return code.Healthy
}

// tellClusters says the roll-ups.
func (o *oracle) tellClusters(say func(string, ...any), ratings map[string][]code.Status, loose int, unread bool) {
	var summary []code.Status
	for _, c := range o.snap.Clusters {
		id, reasons := c.ID(), map[string]string{}
		groups := map[string]bool{}
		for _, g := range o.snap.Groups {
			if g.Cluster == id {
				set := o.shown(id, g.Kind, g.Name)
				groups[set] = true
				if g.Kind != "MachinePool" && g.Replicas.Known && o.countGroup(g)+o.orphansOf(id, g.Kind, g.Name, false) < g.Replicas.N {
					reasons[set] = "MachinesNotInBackup"
				}
				if g.Kind == "MachinePool" && !o.pooled(id, g.Kind, g.Name) {
					reasons[set] = "PoolUndecided"
					say("pool %s %s unknown [] []", o.cid(id), set)
				}
			}
		}
		o.tellPools(id, say, groups, reasons)
		for k := range ratings {
			if set, ok := strings.CutPrefix(k, o.cid(id)+" "); ok && set != "plane" {
				groups[set] = true
			}
		}
		reasons["plane"] = o.planeReason(id)
		var workers []code.Status
		for _, set := range append([]string{"plane"}, sortedKeys(groups)...) {
			all := ratings[o.cid(id)+" "+set]
			if reasons[set] != "" {
				all = append(all, code.NeedFurtherConfirmation)
			}
			say("set %s %s %s %s", o.cid(id), set, oracleWorst(all), reasons[set])
			if set != "plane" {
				workers = append(workers, oracleWorst(all))
			} else if !c.Self {
				summary = append(summary, oracleWorst(all))
			}
		}
		say("workers %s %s", o.cid(id), oracleWorst(workers))
		if !c.Self {
			summary = append(summary, workers...)
		}
	}
	complete := o.tellScopes(say) && !unread && !o.missed
	if !complete || len(o.snap.Problems) > 0 {
		summary = append(summary, code.NeedFurtherConfirmation)
	}
	if loose > 0 {
		summary = append(summary, code.NeedFurtherConfirmationInfraMachines)
	}
	say("summary %s %v", oracleWorst(summary), complete)
}

func (o *oracle) planeReason(id backup.ClusterID) string {
	recorded, gone := 0, 0
	for _, c := range o.all {
		if c.cluster == id && c.cp && c.m != nil {
			recorded++
			if c.status == code.Stale {
				gone++
			}
		}
	}
	if recorded > 0 && recorded-gone <= recorded/2 {
		return "ControlPlaneLost"
	}
	for _, p := range o.snap.ControlPlanes {
		if p.Cluster == id && p.Replicas.Known && o.countPlane(p)+o.orphansOf(id, p.Kind, p.Name, false) < p.Replicas.N && p.Kind != "AWSManagedControlPlane" {
			return "MachinesNotInBackup"
		}
	}
	return ""
}

// tellScopes says the states of the scopes, and whether all are complete.
func (o *oracle) tellScopes(say func(string, ...any)) bool {
	complete := true
	missing := map[string]bool{}
	for at := range o.deciding() {
		if _, why := o.absenceCounts(at); why == "NotListed" {
			missing[at.target] = true
		}
	}
	for _, l := range o.inv.Listings {
		if l.NodeState != "" {
			continue
		}
		state := l.State
		for at := range o.deciding() {
			_, why := o.absenceCounts(at)
			if why == "VisibilityUnproven" && slices.Contains(l.IDs, at.target) && state == code.ScopeComplete {
				state = code.ScopePartial
			}
		}
		for _, p := range o.expected.Pools {
			if whole, _ := o.absenceCounts(oraclePlace{p.Cluster, p.Target, ""}); whole && slices.Contains(l.IDs, p.Target) && o.unasked(p.Target, p.Probe) {
				state = code.ScopePartial
			}
		}
		complete = complete && state == code.ScopeComplete
		say("scope %s %s %s", l.Endpoint, l.Account, state)
	}
	for _, target := range sortedKeys(missing) {
		complete = false
		say("scope %s  failed", target)
	}
	return complete
}

func sortedKeys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
