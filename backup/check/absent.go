package check

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
)

// absentRule is what it means that an object is absent, for those that it fits.
type absentRule struct {
	fits func(*backup.Absence) bool
	rule Rule
}

// absentRules are asked in this order; the last fits all.
var absentRules = []absentRule{
	{func(a *backup.Absence) bool { return a.HaltsTopology && a.Kind == "ExtensionConfig" }, rule("extension absent")},
	{func(a *backup.Absence) bool { return a.HaltsTopology }, rule("template absent")},
	{func(a *backup.Absence) bool { return strings.HasSuffix(a.Kind, "Template") }, rule("template of machines absent")},
	{func(a *backup.Absence) bool {
		return strings.HasSuffix(a.Kind, "Config")
	}, rule("bootstrap config absent")},
	{func(a *backup.Absence) bool { return strings.HasSuffix(a.Kind, "ControlPlane") }, rule("control plane absent")},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "clusters") }, rule("infra cluster absent")},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "machines") }, rule("infra machine absent")},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "machinepools") }, rule("infra pool absent")},
	{func(a *backup.Absence) bool { return len(a.Halts) > 0 }, rule("identity absent")},
	{func(a *backup.Absence) bool { return a.HaltsMachines && strings.HasSuffix(a.Kind, "Identity") }, rule("identity of machines absent")},
	{func(a *backup.Absence) bool { return a.HaltsMachines }, rule("placement absent")},
	{func(*backup.Absence) bool { return true }, rule("object absent")},
}

func isInfrastructure(resource, plural string) bool {
	kind, group, _ := strings.Cut(resource, ".")
	return strings.HasSuffix(kind, plural) && strings.HasSuffix(group, infrastructureGroup)
}

// absentObjects returns those that others refer to.
func absentObjects(e *examination) []Finding {
	var found []Finding
	for _, a := range slices.Concat(e.Absent, e.options.Absent) {
		i := slices.IndexFunc(absentRules, func(r absentRule) bool { return r.fits(&a) })
		what := name(a.Kind, a.Namespace, a.Name)
		message := "not in " + e.Subject().The()
		if a.Name == "*" {
			what, message = "every "+a.Kind, "none is in "+e.Subject().The()
		}
		f := absentRules[i].rule.On(a.Backup, what, "%s", message).And("referred to by " + a.ReferredBy)
		f.Why = cmp.Or(f.Why, a.Why)
		found = append(found, f.At(cmp.Or(a.Resource, strings.ToLower(a.Kind)), namespaceOf(&a)).Of(a.Clusters...))
	}
	return found
}

// namespaceOf returns where the object would lie. When a whole kind is absent, any
// namespace stands for all.
func namespaceOf(a *backup.Absence) string {
	if a.Name == "*" {
		return anyNamespace
	}
	return a.Namespace
}

var (
	ruleOwner    = rule("owner")
	ruleMachines = rule("machines")
)

// ownersAbsent reports MachineSets that machines, and MachineDeployments that
// MachineSets, name as their owners. An absent control plane is found by its Cluster.
func ownersAbsent(e *examination) []Finding {
	var found []Finding
	for by, of := range e.made {
		if by.kind == "MachineSet" && e.lacksGroup(by) {
			found = append(found, ruleOwner.On(by.backup, name(by.kind, by.namespace, by.name),
				"not in %s", e.Subject().The()).And("owns "+count(of.machines, "machine")+" there").
				At("machinesets."+coreGroup, by.namespace).Of(of.first.Cluster))
		}
	}
	sets := map[owner][]*backup.Group{}
	for i := range e.Groups {
		if g := &e.Groups[i]; g.Kind == "MachineSet" && g.Deployment != "" {
			if by := (owner{"MachineDeployment", object{g.Backup, g.Namespace, g.Deployment}}); e.lacksGroup(by) {
				sets[by] = append(sets[by], g)
			}
		}
	}
	for by, owned := range sets {
		found = append(found, ruleOwner.On(by.backup, name(by.kind, by.namespace, by.name),
			"not in %s", e.Subject().The()).And("owns "+count(len(owned), "MachineSet")+" there").
			At("machinedeployments."+coreGroup, by.namespace).Of(owned[0].Cluster))
	}
	return found
}

// machinesMissing reports owners with fewer machines in the backup than they had.
func machinesMissing(e *examination) []Finding {
	var found []Finding
	look := func(m *backup.Meta, kind string, cluster backup.ClusterID, replicas backup.Number) {
		have := 0
		if of := e.made[owner{kind, objectOf(m)}]; of != nil {
			have = of.machines
		}
		if replicas.Known && int64(have) < replicas.N {
			found = append(found, ruleMachines.On(m.Backup, name(kind, m.Namespace, m.Name),
				"it had %s, and %s holds %d", count(int(replicas.N), "machine"), e.Subject().The(), have).
				At("machines."+coreGroup, m.Namespace).Of(cluster))
		}
	}
	for i := range e.Groups {
		if g := &e.Groups[i]; g.Kind == "MachineSet" {
			look(&g.Meta, g.Kind, g.Cluster, g.Replicas)
		}
	}
	for i := range e.ControlPlanes {
		if c := &e.ControlPlanes[i]; c.Kind == "KubeadmControlPlane" {
			look(&c.Meta, c.Kind, c.Cluster, c.Replicas)
		}
	}
	return found
}
