package check

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/report/code"
)

const doNewer = "take a newer backup without that filter, or an older one that holds it; else create it by hand after the restore, before its cluster is unpaused"

const doCreate = "if the old management cluster still answers, back up once more with --include-cluster-resources=true; else find its manifest in your sources or in another backup, and create it by hand before the cluster is unpaused"

// absentRule is what it means that an object is absent, for those that it fits.
type absentRule struct {
	fits func(*backup.Absence) bool
	rule Rule
}

// absentRules are asked in this order; the last fits all.
var absentRules = []absentRule{
	{func(a *backup.Absence) bool { return a.HaltsTopology && a.Kind == "ExtensionConfig" }, Rule{
		Code: "ExtensionAbsent", Severity: code.CheckError,
		Happens: "The backup lacks a runtime extension that a class calls.",
		Why:     "Its patches fail, and with them the whole topology of its clusters: no scaling, no upgrade, no health check of it until it exists again and its server answers.",
		Do:      doCreate,
	}},
	{func(a *backup.Absence) bool { return a.HaltsTopology }, Rule{
		Code: "TemplateAbsent", Severity: code.CheckError,
		Happens: "The backup lacks a template that machines or a class are created from.",
		Why:     "The topology of its clusters can't be reconciled: no scaling, no upgrade, no health check of it until the template exists again.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return strings.HasSuffix(a.Kind, "Template") }, Rule{
		Code: "TemplateAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks a template that machines or a class are created from.",
		Why:     "No new machine can be made from it: the next replacement, scale-up or rollout fails.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool {
		return strings.HasSuffix(a.Kind, "Config")
	}, Rule{
		Code: "BootstrapConfigAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks the bootstrap object of a Machine.",
		Why:     "Its Machine waits for it and does not report Ready again, although its VM runs on. While a Machine of a control plane lacks its own, KubeadmControlPlane does nothing for any of them.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return strings.HasSuffix(a.Kind, "ControlPlane") }, Rule{
		Code: "ControlPlaneAbsent", Severity: code.CheckError,
		Happens: "The backup lacks the control plane object of a Cluster.",
		Why:     "Nobody manages the control plane machines: they are restored ownerless, and the Cluster never becomes ready.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "clusters") }, Rule{
		Code: "InfraClusterAbsent", Severity: code.CheckError,
		Happens: "The backup lacks the infrastructure cluster of a Cluster.",
		Why:     "The Cluster can't reach its infrastructure: none of its machines is reconciled.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "machines") }, Rule{
		Code: "InfraMachineAbsent", Severity: code.CheckError,
		Happens: "The backup lacks the infrastructure machine of a Machine.",
		Why:     "The link from the Machine to its VM is lost: the Machine stays without infrastructure, and deleting it leaves the VM behind.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return isInfrastructure(a.Resource, "machinepools") }, Rule{
		Code: "InfraPoolAbsent", Severity: code.CheckError,
		Happens: "The backup lacks the infrastructure object of a MachinePool.",
		Why:     "The MachinePool can't reach its infrastructure: nobody scales, upgrades or deletes its machines.",
		Do:      doNewer,
	}},
	{func(a *backup.Absence) bool { return len(a.Halts) > 0 }, Rule{
		Code: code.IdentityAbsent, Severity: code.CheckError,
		Happens: "The backup lacks an identity that a cluster logs in with.",
		Why:     "It is the only way of its clusters to the infrastructure: after the restore their controllers do nothing, health checks included, until it exists again.",
		Do:      "if the old management cluster still answers, back up once more with --include-cluster-resources=true; else find its manifest in your sources or in another backup, create it by hand after its Secret has been restored, then touch the infrastructure cluster (an annotation will do) so that its controller looks again at once",
	}},
	{func(a *backup.Absence) bool { return a.HaltsMachines && strings.HasSuffix(a.Kind, "Identity") }, Rule{
		Code: code.IdentityAbsent, Severity: code.CheckError,
		Happens: "The backup lacks an identity that a cluster logs in with.",
		Why:     "", // who misses it says what follows
		Do:      doCreate,
	}},
	{func(a *backup.Absence) bool { return a.HaltsMachines }, Rule{
		Code: "PlacementAbsent", Severity: code.CheckError,
		Happens: "The backup lacks an object that says where machines are placed.",
		Why:     "", // who misses it says what follows
		Do:      doCreate,
	}},
	{func(*backup.Absence) bool { return true }, Rule{
		Code: "ObjectAbsent", Severity: code.CheckWarning,
		Happens: "The backup lacks an object that another one refers to.",
		Why:     "", // who misses it says what follows
		Do:      doNewer,
	}},
}

func isInfrastructure(resource, plural string) bool {
	kind, group, _ := strings.Cut(resource, ".")
	return strings.HasSuffix(kind, plural) && strings.HasSuffix(group, infrastructureGroup)
}

// absentObjects are those that others refer to.
func absentObjects(e *examination) []Finding {
	var found []Finding
	for _, a := range slices.Concat(e.Absent, e.options.Absent) {
		i := slices.IndexFunc(absentRules, func(r absentRule) bool { return r.fits(&a) })
		what := name(a.Kind, a.Namespace, a.Name)
		message := "not in the backup"
		if a.Name == "*" {
			what, message = "every "+a.Kind, "none is in the backup"
		}
		f := absentRules[i].rule.On(a.Backup, what, "%s", message).And("referred to by " + a.ReferredBy)
		f.Why = cmp.Or(f.Why, a.Why)
		found = append(found, f.At(cmp.Or(a.Resource, strings.ToLower(a.Kind)), namespaceOf(&a)).Of(a.Clusters...))
	}
	return found
}

// namespaceOf is where the object would lie. When a whole kind is absent, any
// namespace stands for all.
func namespaceOf(a *backup.Absence) string {
	if a.Name == "*" {
		return anyNamespace
	}
	return a.Namespace
}

var (
	ruleOwner = Rule{
		Code: "OwnerAbsent", Severity: code.CheckError,
		Happens: "The backup lacks the owner of machines.",
		Why:     "Its machines are restored ownerless: nobody scales, upgrades or replaces them, and what is above the absent object re-creates it, with new VMs beside the old ones.",
		Do:      doNewer,
	}
	ruleMachines = Rule{
		Code: code.MachinesMissing, Severity: code.CheckWarning,
		Happens: "The backup holds fewer Machines of an owner than its status counts.",
		Why:     "The owner counts what is restored and makes surplus machines for the others, while their VMs run on. Velero leaves out what is being deleted.",
		Do:      "see whether the VMs of the missing machines are still there (drift-detector detect lists them) and remove them after the restore",
	}
)

// ownersAbsent are MachineSets that machines, and MachineDeployments that
// MachineSets, name as their owners. An absent control plane is found by its Cluster.
func ownersAbsent(e *examination) []Finding {
	var found []Finding
	for by, of := range e.made {
		if by.kind == "MachineSet" && e.lacksGroup(by) {
			found = append(found, ruleOwner.On(by.backup, name(by.kind, by.namespace, by.name),
				"not in the backup").And("owns "+count(of.machines, "machine")+" there").
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
			"not in the backup").And("owns "+count(len(owned), "MachineSet")+" there").
			At("machinedeployments."+coreGroup, by.namespace).Of(owned[0].Cluster))
	}
	return found
}

// machinesMissing are owners with fewer machines in the backup than they had.
func machinesMissing(e *examination) []Finding {
	var found []Finding
	look := func(m *backup.Meta, kind string, cluster backup.ClusterID, replicas backup.Number) {
		have := 0
		if of := e.made[owner{kind, objectOf(m)}]; of != nil {
			have = of.machines
		}
		if replicas.Known && int64(have) < replicas.N {
			found = append(found, ruleMachines.On(m.Backup, name(kind, m.Namespace, m.Name),
				"it had %s, and the backup holds %d", count(int(replicas.N), "machine"), have).
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
