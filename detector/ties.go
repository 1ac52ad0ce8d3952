package detector

import (
	"cmp"
	"math"
	"regexp"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
)

// tieIndex finds the ties of an instance.
type tieIndex struct {
	byKey    map[infra.Key][]*infra.Tie
	patterns []patternTie
	places   map[backup.ClusterID]map[int32]bool // listings that show where a cluster's machines may be
	shared   map[clusterKey]bool
}

// clusterKey is a key as far as one cluster has to do with it.
type clusterKey struct {
	cluster backup.ClusterID
	infra.Key
}

// findShared finds the keys of the kinds that ties ask for on the living instances of
// recorded machines.
func (ix *index) findShared(ties []infra.Tie) {
	kinds := map[string]bool{}
	for i := range ties {
		if kind := ties[i].Shares; kind != "" {
			kinds[kind] = true
		}
	}
	if len(kinds) == 0 {
		return
	}
	ix.ties.shared = map[clusterKey]bool{}
	for _, c := range ix.claims {
		for _, v := range keep(ix.withKeys(c.Strong), func(v *vm) bool { return alive(v) && ix.atHome(c, v) }) {
			for _, k := range v.Keys {
				if kinds[k.Kind] {
					ix.ties.shared[clusterKey{c.cluster, k}] = true
				}
			}
		}
	}
}

// shares reports whether an instance has what the tie asks for beside its key.
func (t *tieIndex) shares(tie *infra.Tie, v *vm) bool {
	return tie.Shares == "" || slices.ContainsFunc(v.Keys, func(k infra.Key) bool {
		return k.Kind == tie.Shares && t.shared[clusterKey{tie.Cluster, k}]
	})
}

type patternTie struct {
	*infra.Tie
	pattern *regexp.Regexp
}

func newTieIndex(c infra.Claims, claims []*claim, listings []infra.Listing) tieIndex {
	t := tieIndex{byKey: map[infra.Key][]*infra.Tie{}, places: map[backup.ClusterID]map[int32]bool{}}
	for i := range c.Ties {
		tie := &c.Ties[i]
		if !tie.Key.IsZero() {
			t.byKey[tie.Key] = append(t.byKey[tie.Key], tie)
			continue
		}
		if re := tie.Named(); re != nil {
			t.patterns = append(t.patterns, patternTie{tie, re})
		}
	}
	t.findPlaces(c.Proofs, claims, listings)
	return t
}

// findPlaces takes from claims, proofs and listings where a cluster's machines may be.
// A name or a folder proves nothing in another vCenter.
func (t *tieIndex) findPlaces(proofs []infra.Proof, claims []*claim, listings []infra.Listing) {
	targets := map[string][]int32{}
	for i := range listings {
		for _, id := range listings[i].IDs {
			targets[id] = append(targets[id], int32(i))
		}
		for _, id := range listings[i].Clusters {
			t.addPlaces(id, int32(i))
		}
	}
	for _, c := range claims {
		t.addPlaces(c.cluster, targets[c.Home.Target]...)
	}
	for _, p := range proofs {
		t.addPlaces(p.Cluster, targets[p.Target]...)
	}
}

func (t *tieIndex) addPlaces(id backup.ClusterID, listings ...int32) {
	if t.places[id] == nil {
		t.places[id] = map[int32]bool{}
	}
	for _, l := range listings {
		t.places[id][l] = true
	}
}

// fitting lists the ties of an instance.
func (t *tieIndex) fitting(v *vm) []*infra.Tie {
	var out []*infra.Tie
	for _, k := range v.Keys {
		out = append(out, t.byKey[k]...)
	}
	for _, p := range t.patterns {
		if (p.Within.IsZero() || v.HasKey(p.Within)) && p.pattern.MatchString(v.Name) {
			out = append(out, p.Tie)
		}
	}
	return slices.DeleteFunc(out, func(tie *infra.Tie) bool {
		anywhere := tie.Grade == infra.Strong || tie.Grade == infra.Named
		return contradicts(v, tie.Expect) || !anywhere && !t.inPlace(tie.Cluster, v) || !t.shares(tie, v)
	})
}

// contradicts reports whether an instance has keys of a kind that is expected, and
// none of those that are.
func contradicts(v *vm, expected []infra.Key) bool {
	return slices.ContainsFunc(expected, func(k infra.Key) bool {
		return hasOtherKey(v, k) && !slices.ContainsFunc(expected, func(other infra.Key) bool { return other.Kind == k.Kind && v.HasKey(other) })
	})
}

func (t *tieIndex) inPlace(id backup.ClusterID, v *vm) bool {
	return slices.ContainsFunc(v.seen, func(l int32) bool { return t.places[id][l] })
}

// bond is one reason why an instance belongs to a cluster: a Tie, or a Node.
type bond struct {
	cluster      backup.ClusterID
	owner        infra.OwnerID
	controlPlane bool
	roleKnown    bool
	specificity  int
	byName       bool // what it rests on may be somebody else's, too
	node         *infra.Node
	detail       string
}

// workerKinds own workers; every other kind that owns machines is a control plane.
var workerKinds = map[string]bool{machineDeployment: true, machineSet: true, machinePool: true}

// role returns whether an owner of this kind, or other evidence, makes an instance a
// control-plane machine, and whether that is known.
func role(controlPlane bool, ownerKind string) (plane, known bool) {
	return controlPlane || ownerKind != "" && !workerKinds[ownerKind], controlPlane || ownerKind != ""
}

func bondOfTie(t *infra.Tie) bond {
	owner := t.Owner
	owner.Cluster = t.Cluster
	plane, known := role(t.ControlPlane, owner.Kind)
	return bond{cluster: t.Cluster, owner: owner, specificity: t.Specificity, byName: t.ByName, detail: t.Detail, controlPlane: plane, roleKnown: known}
}

// bondOfNode is stronger than every Tie of its grade: the instance has joined.
func bondOfNode(n *node) bond {
	plane, known := role(n.ControlPlane, n.OwnerKind)
	return bond{
		cluster: n.Cluster, owner: infra.OwnerID{Cluster: n.Cluster, Kind: n.OwnerKind, Name: n.OwnerName},
		controlPlane: plane, roleKnown: known, specificity: math.MaxInt, node: n.Node,
		detail: "Node " + n.Name + " of the cluster has its provider id and says it is machine " + n.Machine,
	}
}

// strongest returns the bonds of the highest specificity, in order.
func strongest(all []bond) []bond {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, compareBonds)
	end := slices.IndexFunc(all, func(b bond) bool { return b.specificity != all[0].specificity })
	if end < 0 {
		end = len(all)
	}
	return all[:end]
}

func compareBonds(a, b bond) int {
	return cmp.Or(cmp.Compare(b.specificity, a.specificity), compareClusters(a.cluster, b.cluster),
		cmp.Compare(a.owner.Kind, b.owner.Kind), cmp.Compare(a.owner.Name, b.owner.Name),
		compareBool(a.controlPlane, b.controlPlane), compareBool(a.byName, b.byName), cmp.Compare(a.detail, b.detail))
}

// clustersOf lists the clusters of bonds, each once, in order.
func clustersOf(all []bond) []backup.ClusterID {
	out := make([]backup.ClusterID, len(all))
	for i := range all {
		out[i] = all[i].cluster
	}
	slices.SortFunc(out, compareClusters)
	return slices.Compact(out)
}
