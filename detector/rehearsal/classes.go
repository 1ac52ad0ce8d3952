package rehearsal

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"k8s.io/apimachinery/pkg/labels"

	"drift-detector/backup"
)

// A managed topology has its health checks in its ClusterClass, and may change
// or switch them in the Cluster. Cluster API makes MachineHealthChecks of them
// (exp/topology/desiredstate/desired_state.go v1.14.0), which are in the backup
// too as a rule. Where they are not, the restored controllers make them again.

// topology is what the topology of a Cluster wants.
type topology struct {
	*clusterObject
	class                   *class         // nil when it is not in the backup
	lacks                   string         // a template or an extension of it that the backup lacks
	names, poolNames        map[string]int // where each is in Names and in PoolNames
	deferred, poolsDeferred []bool         // of each, whether an upgrade passes it by
}

// works reports whether the topology decides anything after a restore: without its
// ClusterClass, or a template or an extension of it, its controller fails before it compares,
// and also while that is paused: a restore drops its status, and only its own controller says
// again that it has seen it (Cluster API
// internal/controllers/topology/cluster/cluster_controller.go v1.9.0 to v1.13.1).
func (t *topology) works() bool {
	return t != nil && t.class != nil && t.lacks == "" && !t.class.paused
}

// lacking names what the backup lacks of the ClusterClass of a cluster's topology; it is empty
// when that is whole. Without the class itself the cluster is halted, see core.C1 of the rehearsal.
func (t *topology) lacking(c *cluster) string {
	if t == nil || t.lacks == "" {
		return ""
	}
	return t.lacks + " of " + t.classTitle(c)
}

// classTitle names the ClusterClass of a cluster's topology.
func (t *topology) classTitle(c *cluster) string {
	return "ClusterClass " + cmp.Or(t.ClassNamespace, c.ID.Namespace) + "/" + t.Class
}

func (t *topology) plane() backup.Number { return t.ControlPlaneReplicas }

// replicas returns how many machines the topology wants of its MachineDeployment i; unknown
// when it leaves them to the MachineDeployment.
func (t *topology) replicas(i int) backup.Number { return count(at(t.Replicas, i)) }

// poolReplicas returns the same of its MachinePool i.
func (t *topology) poolReplicas(i int) backup.Number { return count(at(t.PoolReplicas, i)) }

// deferred reports for each of so many entries of a list whether it keeps its Kubernetes version when
// that of the topology changes: its annotations say so, or those of an earlier one hold all
// that follow (Cluster API isMachineDeploymentDeferred and isMachinePoolDeferred in
// exp/topology/desiredstate/desired_state.go v1.10.0 to v1.14.0).
func deferred(annotations []string, entries int) []bool {
	out, held := make([]bool, entries), false
	for i := range out {
		var all map[string]string
		_ = json.Unmarshal([]byte(at(annotations, i)), &all) // of an entry without annotations there is no text
		_, holds := all[clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation]
		_, out[i] = all[clusterv1.ClusterTopologyDeferUpgradeAnnotation]
		held = held || holds
		out[i] = out[i] || held
	}
	return out
}

// count returns a number in JSON.
func count(text string) backup.Number {
	n, err := strconv.ParseInt(text, 10, 32)
	return backup.Number{N: n, Known: err == nil}
}

// topologyPool returns the name of a MachinePool in the topology of its Cluster, or empty.
func topologyPool(g *backup.Group) string {
	if g == nil {
		return ""
	}
	if _, owned := g.Labels.Lookup(clusterv1.ClusterTopologyOwnedLabel); !owned {
		return ""
	}
	return g.Labels.Get(clusterv1.ClusterTopologyMachinePoolNameLabel)
}

// managedTopologies returns the topologies of the clusters that have one.
func managedTopologies(s *backup.Snapshot) map[backup.ClusterID]*topology {
	type name struct {
		backup          int
		namespace, name string
	}
	known := map[name]*class{}
	for r := range classKinds.In(s).All() {
		c := &class{&r.Data, r.Paused && !s.Moved(r.Backup), make(map[string]string, len(r.Data.Classes)), patchesIn(r.Data.Patches, s.Moved(r.Backup))}
		for i, name := range c.Classes {
			c.inherited[name] = at(c.Deployments, i)
		}
		known[name{r.Backup, r.Namespace, r.Name}] = c
	}
	out := map[backup.ClusterID]*topology{}
	for r := range clusterKinds.In(s).All() {
		if r.Data.Class == "" {
			continue
		}
		t := &topology{clusterObject: &r.Data}
		t.names, t.poolNames = places(t.Names), places(t.PoolNames)
		t.deferred, t.poolsDeferred = deferred(t.Notes, len(t.Names)), deferred(t.PoolNotes, len(t.PoolNames))
		t.class = known[name{r.Backup, cmp.Or(t.ClassNamespace, r.Namespace), t.Class}]
		out[backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace, Name: r.Name}] = t
	}
	for _, a := range s.Absent {
		for _, id := range a.Clusters {
			if t := out[id]; t != nil && a.HaltsTopology {
				t.lacks = a.Kind
				if a.Name != "*" {
					t.lacks += " " + strings.TrimPrefix(a.Namespace+"/"+a.Name, "/")
				}
			}
		}
	}
	return out
}

// class is a ClusterClass.
type class struct {
	*classObject
	paused    bool
	inherited map[string]string // the health checks of Deployments by Classes
	patches   patches
}

// addTopologyChecks adds to the checks of each cluster those that its topology makes,
// behind those that are in the backup. One that is there and paused stays so.
func addTopologyChecks(managed map[backup.ClusterID]*topology, paused map[pausedCheck]bool, into map[backup.ClusterID][]*check) {
	for id, t := range managed {
		of := t.class
		if !t.works() {
			continue
		}
		add := func(what, mine, inherited string, selector labels.Set) {
			name := "of " + what + " of its topology"
			switch h, err := topologyCheckOf(mine, inherited); {
			case err != nil:
				into[id] = append(into[id], unreadCheck(name))
			case h != nil:
				selector[clusterv1.ClusterTopologyOwnedLabel] = ""
				if paused[pausedCheck{id, selector.AsSelector().String()}] {
					return
				}
				into[id] = append(into[id], newCheck(name, h, selector.AsSelector()))
			}
		}
		add("the control plane", t.ControlPlane, of.ControlPlane, labels.Set{clusterv1.MachineControlPlaneLabel: ""})
		for i, deployment := range t.Names {
			add("MachineDeployment "+deployment, at(t.Deployments, i), of.inherited[at(t.Classes, i)], labels.Set{clusterv1.ClusterTopologyMachineDeploymentNameLabel: deployment})
		}
	}
}

// places returns where texts are in a list; of one that is there twice, the first.
func places(list []string) map[string]int {
	out := make(map[string]int, len(list))
	for i, text := range slices.Backward(list) {
		out[text] = i
	}
	return out
}

// at returns an entry of a list that is shorter when its members are absent.
func at[T any](list []T, i int) (none T) {
	if i >= 0 && i < len(list) {
		return list[i]
	}
	return none
}

// topologyCheckOf returns the health check that a topology makes: its own, else that
// of its class, or nil when it is switched off.
func topologyCheckOf(mine, inherited string) (*clusterv1.MachineHealthCheckSpec, error) {
	var own, class *clusterv1.MachineHealthCheckSpec
	var on struct{ Enable, Enabled *bool } // v1beta1 and v1beta2
	var err error
	if mine != "" {
		own, err = decodeCheck(mine)
		err = errors.Join(err, json.Unmarshal([]byte(mine), &on))
	}
	if inherited != "" && err == nil {
		class, err = decodeCheck(inherited)
	}
	switch {
	case err != nil:
		return nil, err
	case on.Enable != nil && !*on.Enable, on.Enabled != nil && !*on.Enabled:
		return nil, nil
	case own != nil && !reflect.ValueOf(*own).IsZero():
		return own, nil
	}
	return class, nil
}

// patches is what the patches of a ClusterClass read that a restore changes.
type patches struct {
	name, reads string // of the first patch that does
	external    string // one that an extension computes
}

// builtin matches a variable that Cluster API gives to patches, in a template or by name, and text behind
// it, by which a template takes one member.
var builtin = regexp.MustCompile(`[."]builtin((?:\.\w+)*)([-\w]| +\\?["` + "`" + `])?`)

// patchesIn reads the patches of a ClusterClass.
func patchesIn(text string, moved bool) (p patches) {
	var all []struct {
		Name                   string
		EnabledIf, Definitions json.RawMessage
		External               json.RawMessage
	}
	_ = json.Unmarshal([]byte(text), &all) // what is no list of patches is refused by the API server
	for _, one := range all {
		if one.External != nil && p.external == "" {
			p.external = one.Name
		}
		for _, use := range builtin.FindAllSubmatch(append(one.EnabledIf, one.Definitions...), -1) {
			if path := string(use[1]); p.reads == "" && remade(path, string(use[2]), moved) {
				p.name, p.reads = one.Name, "builtin"+path
			}
		}
	}
	return p
}

// remade reports whether a restore changes what a path below builtin holds; behind is text after it.
func remade(path, behind string, moved bool) bool {
	of, rest, _ := strings.Cut(strings.TrimPrefix(path, "."), ".")
	switch {
	case of == "":
		return behind == "" || strings.HasPrefix(behind, " ")
	case of == "cluster" && (rest == "" || rest == "uid"):
		return true
	case moved || behind != "": // clusterctl adds no label, and a label by its name is another's
		return false
	}
	return rest == "" || rest == "metadata" || rest == "metadata.labels"
}
