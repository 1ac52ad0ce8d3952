package backups

import (
	"fmt"
	"maps"
	"slices"

	"drift-detector/internal/english"
)

// ManagementCluster is one of several whose backups are in one place.
type ManagementCluster struct {
	KubeSystemUID string   `json:"kubeSystemUID,omitempty"` // empty for the backups that do not say it
	Backups       []string `json:"backups"`                 // their names, the newest first
	Holds         []string `json:"holds"`                   // its clusters, as namespace/name in order
	Choice
}

const noKubeSystem = "without Namespace kube-system nothing says which management cluster they are from"

// Tell notes the uids of what the API server of its management cluster made: Clusters, control
// planes and MachineDeployments.
func (c *Compared) Tell(uids map[string]bool) { c.uids = uids }

// kin are backups that are known to be of one management cluster.
type kin struct {
	uid  string // of Namespace kube-system; empty where none has it
	rows []*Compared
}

// shares reports whether an object is in one of them and in a backup, by its uid. Velero and
// clusterctl move make objects anew, so that both are of one management cluster.
func (k *kin) shares(b *Compared) bool {
	return slices.ContainsFunc(k.rows, func(row *Compared) bool {
		for uid := range b.uids {
			if row.uids[uid] {
				return true
			}
		}
		return false
	})
}

// sortByOrigin sorts backups by the uid of Namespace kube-system, and those that lack it by what
// they have in common. silent are those that have nothing which would tell, or too much.
func sortByOrigin(compared []*Compared) (all []*kin, silent []*Compared) {
	var without []*Compared
	for _, b := range compared {
		i := slices.IndexFunc(all, func(k *kin) bool { return k.uid == b.KubeSystemUID })
		switch {
		case b.Error != "" || b.Empty:
		case b.KubeSystemUID == "":
			without = append(without, b)
		case i < 0:
			all = append(all, &kin{b.KubeSystemUID, []*Compared{b}})
		default:
			all[i].rows = append(all[i].rows, b)
		}
	}
	for _, b := range without {
		one := &kin{rows: []*Compared{b}}
		var rest []*kin
		contradicts := len(b.uids) == 0
		for _, k := range all {
			switch {
			case !k.shares(b):
				rest = append(rest, k)
			case k.uid != "" && one.uid != "":
				contradicts = true
			default:
				one.rows = append(one.rows, k.rows...)
				one.uid += k.uid
			}
		}
		if contradicts {
			silent = append(silent, b)
			continue
		}
		all = append(rest, one)
	}
	return all, silent
}

// managementClusters sorts backups by the management cluster that they are of, and chooses
// one of each. It returns nothing where they are not known to be of several, or of parts of one
// that have nothing in common. known reports whether each says which it is of.
func managementClusters(compared []*Compared, of string) (out []ManagementCluster, known bool) {
	all, silent := sortByOrigin(compared)
	if len(all) < 2 {
		return nil, true
	}
	at := map[*Compared]int{}
	for i, b := range compared {
		at[b] = i
	}
	if len(silent) > 0 {
		all = append(all, &kin{rows: silent})
	}
	for _, k := range all {
		slices.SortFunc(k.rows, func(a, b *Compared) int { return at[a] - at[b] })
	}
	slices.SortFunc(all, func(a, b *kin) int { return at[a.rows[0]] - at[b.rows[0]] })
	known = true
	for _, k := range all {
		m := ManagementCluster{KubeSystemUID: k.uid, Choice: Choice{Why: noKubeSystem, Clusters: []ClusterChoice{}}}
		if len(silent) == 0 || k.rows[0] != silent[0] {
			m.Choice = choose(k.rows, of)
			known = known && k.uid != ""
		}
		names := map[string]bool{}
		for _, b := range k.rows {
			m.Backups = append(m.Backups, b.Name)
			for name := range b.clusters {
				names[name] = true
			}
		}
		m.Holds = append([]string{}, slices.Sorted(maps.Keys(names))...)
		out = append(out, m)
	}
	return out, known
}

// several says of what more than one management cluster is known, or that it may be.
func several(n int, known bool) string {
	what := english.Count(n, "management cluster")
	if known {
		return fmt.Sprintf("these are of %s, by the uid of Namespace kube-system; choose the one that is lost", what)
	}
	return fmt.Sprintf("these are of %s, or of parts of one: no object is in two of them, by its uid, and Namespace kube-system is not in all; choose the one that is lost", what)
}
