package rehearsal

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"drift-detector/backup"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// patchesRow is asked of the ClusterClass of a topology.
var patchesRow = row[*cluster]{walk.Row{
	ID: "core.T8", Of: "topology",
	Asks:      "what its patches read of objects, from which it computes the templates again: a restore gives the Cluster another uid, and Velero adds labels to all objects",
	Differs:   walk.Does{Effect: walk.Replaces, Code: code.SpecUnseen, What: "it computes other templates than there are, and rolls all machines of those"},
	Condition: code.ClassesUnchanged,
	Source:    "Global, ControlPlane, MachineDeployment: internal/controllers/topology/cluster/patches/variables/variables.go v1.9.0 to v1.14.0; reconcileReferencedTemplate: topology/cluster/reconcile_state.go",
}, patchesRead}

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

// patchesRead asks core.T8.
func patchesRead(c *cluster) walk.Answer {
	switch t := c.topology; {
	case t == nil || t.class == nil:
		return notAsked
	case t.class.patches.reads != "":
		p := &t.class.patches
		return differs("patch "+p.name+" of "+t.classTitle(c)+" reads "+p.reads, "", c.title(), t.classTitle(c))
	case t.class.patches.external != "":
		return unseen(t.classTitle(c) + " of " + c.title() + " (patch " + t.class.patches.external + ")")
	}
	return passed
}

// editedTemplate returns a template of a cluster's topology, or in the namespace of its ClusterClass,
// that was edited after it was created, or "". The controllers of neither watch templates (SetupWithManager:
// internal/controllers/topology/cluster, clusterclass v1.9.0 to v1.13.6).
func (c *cluster) editedTemplate(namespace string) string {
	w := c.world
	if w.edited == nil {
		w.edited = map[backup.ClusterID]string{}
		for _, name := range slices.Sorted(maps.Keys(topologyKinds)) {
			kind, _, _ := strings.Cut(name, ".")
			if !strings.HasSuffix(kind, clusterv1.TemplateSuffix) {
				continue
			}
			for r := range topologyKinds[name].In(w.in.Snapshot).All() {
				of := backup.ClusterID{Backup: r.Backup, Namespace: r.Namespace}
				if r.Data.Owned {
					of.Name = r.ClusterName
				}
				if r.Data.Generation.N > 1 && w.edited[of] == "" {
					w.edited[of] = named(kind, r.Namespace, r.Name)
				}
			}
		}
	}
	return cmp.Or(w.edited[c.ID], w.edited[backup.ClusterID{Backup: c.ID.Backup, Namespace: namespace}])
}
