package detector

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"drift-detector/backup"
)

// describe says a Result in the oracle's words.
func describe(r Result) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	cid := func(id backup.ClusterID) string { return fmt.Sprintf("%s/%s#%d", id.Namespace, id.Name, id.Backup) }
	for _, c := range r.Clusters {
		set := func(name string, s Set) {
			say("set %s %s %s %s", cid(c.ID), name, s.Status, s.Reason)
			if p := s.Pool; p != nil {
				say("pool %s %s %s %v %v", cid(c.ID), name, p.State, p.Then, p.Now)
			}
			for _, v := range s.Machines {
				var warnings []string
				for _, w := range v.Warnings {
					warnings = append(warnings, string(w.Reason))
				}
				sort.Strings(warnings)
				id := "-"
				if v.Instance != nil {
					id = v.Instance.Identity
				}
				say("machine %s %s %s/%s %s %s %v %s", cid(c.ID), name, v.Namespace, v.Name, v.Status, v.Reason, slices.Compact(warnings), id)
			}
		}
		set("plane", c.ControlPlane)
		for _, g := range c.WorkerGroups {
			set(g.Kind+"/"+g.Name, g)
		}
		say("workers %s %s", cid(c.ID), c.Workers)
		for _, r := range c.Resources {
			say("resource %s %s %s", cid(c.ID), r.Name, r.State)
		}
	}
	for _, u := range r.Unattributed {
		cluster := "-"
		if len(u.Clusters) == 1 {
			cluster = cid(u.Clusters[0])
		}
		say("unattributed %s %s %s", u.Instance.Identity, u.Reason, cluster)
	}
	// Excluded and out of scope are only counted: the oracle's lines for those
	// are set against the counts by the caller.
	for _, sc := range r.Scopes {
		say("scope %s %s %s", sc.Endpoint, sc.Account, sc.State)
	}
	say("summary %s %v", r.Status, r.Complete)
	sort.Strings(lines)
	return lines
}

// counted replaces the oracle's lines on excluded instances and those out of
// scope by counts.
func counted(lines []string) (rest []string, excluded map[string]int, outOfScope int) {
	excluded = map[string]int{}
	for _, l := range lines {
		switch f := strings.Fields(l); f[0] {
		case "excluded":
			excluded[f[1]]++
		case "out":
			outOfScope++
		default:
			rest = append(rest, l)
		}
	}
	return rest, excluded, outOfScope
}
