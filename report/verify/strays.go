package verify

import (
	"path"
	"strings"

	"drift-detector/report"
)

// This file has the VMs that nobody in the new management cluster made: the old one may still run.

// strayVM returns a new VM without a Machine that has the name or the marks of a cluster of the report; nil
// where it has none. A name alone is somebody's only where the cluster's own VMs are.
func (w *world) strayVM(v *report.Instance) *Made {
	for i := range w.report.Clusters {
		c := &w.report.Clusters[i]
		if c.Self || c.Provider != v.Provider {
			continue
		}
		out := Made{Kind: "VM", Namespace: c.Namespace, Name: v.Name, ID: v.ID, Cluster: c.Name, Created: moment(*v.Created), Verdict: Not}
		g, marked := groupNamed(c, v.Name), isMarked(c, v)
		switch {
		case g != nil:
			out.Group, out.Seen = g.name, "has no Machine, and is named as those of "+g.kind+" "+g.name+" are"
		case marked:
			out.Seen = "has no Machine, and the tags of this cluster's machines"
		default:
			continue
		}
		switch {
		case w.unreadMachines(c.Provider) != "":
			out.Verdict = NotJudged
		case w.seen.At.Sub(*v.Created) < soon: // its Machine may not have its id yet
			out.Verdict = NotYet
		case !marked && !isBeside(c, v), marked && g == nil && hasPool(c):
			out.Verdict = NotJudged
		}
		return &out
	}
	return nil
}

// groupNamed returns the group of a cluster whose Machines are named so: as a MachineSet of the report
// names them, or with the letters that Cluster API takes for random ones. nil: none.
func groupNamed(c *report.Cluster, name string) *group {
	all := setsOf(c)
	for i := range all {
		g := &all[i]
		if g.name == "" || g.pool {
			continue
		}
		for j := range g.machines {
			if set := setOfName(g.machines[j].Name); strings.HasPrefix(set, g.name) && setOfName(name) == set && len(name) == len(set)+6 {
				return g
			}
		}
		rest, is := strings.CutPrefix(name, g.name+"-")
		parts := strings.Split(rest, "-")
		if is && isRandom(parts[len(parts)-1]) && (len(parts) == 1 && g.plane || len(parts) == 2 && !g.plane && len(parts[0]) >= 5) {
			return g
		}
	}
	return nil
}

// isRandom reports whether a word is one of five letters of those that k8s.io/apimachinery takes for
// random names, which has no vowels.
func isRandom(word string) bool {
	return len(word) == 5 && strings.Trim(word, "bcdfghjklmnpqrstvwxz2456789") == ""
}

// isMarked reports whether an instance has the tag that the controllers of a cluster's infrastructure
// give its machines: sigs.k8s.io/cluster-api-provider-aws/cluster/NAME. A bastion has it, too.
func isMarked(c *report.Cluster, v *report.Instance) bool {
	role := ""
	is := false
	for tag, value := range v.Tags {
		is = is || strings.HasPrefix(tag, "sigs.k8s.io") && (strings.HasSuffix(tag, "/cluster/"+c.Name) || strings.HasSuffix(tag, "_cluster_"+c.Name))
		if strings.HasPrefix(tag, "sigs.k8s.io") && (strings.HasSuffix(tag, "/role") || strings.HasSuffix(tag, "_role")) {
			role = value
		}
	}
	return is && role != "bastion"
}

// isBeside reports whether an instance is in the place and folder of one of a cluster's machines.
func isBeside(c *report.Cluster, v *report.Instance) bool {
	for _, s := range c.Sets() {
		for i := range s.Machines {
			if have := s.Machines[i].Instance; have != nil && have.Scope == v.Scope && path.Dir(have.Path) == path.Dir(v.Path) {
				return true
			}
		}
	}
	return false
}

// hasPool reports whether a cluster has a pool, whose members have no Machine of their own everywhere.
func hasPool(c *report.Cluster) bool {
	for _, g := range setsOf(c) {
		if g.pool {
			return true
		}
	}
	return false
}
