package plan

import (
	"cmp"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
)

// kubeadmControlPlane is the one kind of control plane whose etcd is known here.
const kubeadmControlPlane = "KubeadmControlPlane"

// Resources, by the kinds that own machines.
var scalable = map[string]string{
	"MachineDeployment": "machinedeployments.cluster.x-k8s.io/",
	"MachineSet":        "machinesets.cluster.x-k8s.io/",
	kubeadmControlPlane: "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/",
}

// Resources of objects. The name follows in the same word, so that one with a
// leading dash is no option.
const (
	clusters = "clusters.cluster.x-k8s.io/"
	machines = "machines.cluster.x-k8s.io/"
	pools    = "machinepools.cluster.x-k8s.io/"
	node     = "node/"
)

// kubectl addresses a cluster by a variable that holds its context.
func kubectl(context string, words ...any) shell.Command {
	return shell.Line(shell.Raw("kubectl --context"), shell.Variable(context)).With(words...)
}

// manage addresses a namespace of the restored management cluster.
func manage(namespace string, words ...any) shell.Command {
	return kubectl(management, "--namespace="+namespace).With(words...)
}

// workload addresses the workload cluster itself.
func (pl *planner) workload(c *report.Cluster, words ...any) shell.Command {
	return kubectl(pl.contexts[c], words...)
}

// listMachines shows what has become of a cluster's Machines.
func listMachines(c *report.Cluster) shell.Command {
	return manage(c.Namespace, "get", "machines.cluster.x-k8s.io", "--selector=cluster.x-k8s.io/cluster-name="+c.Name)
}

// nodesByID shows which Node runs on which instance.
func (pl *planner) nodesByID(c *report.Cluster) shell.Command {
	return pl.workload(c, "get", "nodes", "--output=custom-columns=NAME:.metadata.name,ID:.spec.providerID,"+
		`MACHINE:.metadata.annotations.cluster\.x-k8s\.io/machine`)
}

// attachments shows which volumes are attached to which Node.
func (pl *planner) attachments(c *report.Cluster) shell.Command {
	return pl.workload(c, "get", "volumeattachments.storage.k8s.io",
		"--output=custom-columns=NODE:.spec.nodeName,VOLUME:.spec.source.persistentVolumeName,ATTACHED:.status.attached")
}

// providerID is where an object records the id of its instance.
const providerID = "--output=jsonpath={.spec.providerID}"

// isNode stops unless the Node runs on the instance, by the id that the Node itself
// records: the cluster of another context may have a Node of that name.
func (pl *planner) isNode(c *report.Cluster, name any, id string) shell.Command {
	return pl.workload(c, "get", name, providerID).Keep("ID").Then(shell.Line(shell.Raw(`test "${ID##*/}" =`), strings.ToLower(id))).
		OrStop("the Node of that name is of another machine, or the context of another cluster")
}

// infrastructureName keeps the name of a Machine's infrastructure object as NAME, which
// is its instance's.
func infrastructureName(m *report.Machine) shell.Command {
	return manage(m.Namespace, "get", machines+m.Name, "--output=jsonpath={.spec.infrastructureRef.name}").Keep("NAME")
}

// isMachine stops unless the Machine records the id of the report: another
// management cluster may have a Machine of that name.
func isMachine(m *report.Machine) shell.Command {
	return manage(m.Namespace, "get", machines+m.Name, providerID).Prints(m.ProviderID).
		OrStop("the Machine of that name is not the one of the report, or the context of another management cluster")
}

// restored stops unless the object is one that this restore made. Velero labels all
// that it restores (pkg/restore/restore.go v1.18.1).
func restored(namespace, object string) shell.Command {
	return manage(namespace, "get", object, `--output=jsonpath={.metadata.labels.velero\.io/restore-name}`).Prints(shell.Variable(restoreName)).
		OrStop("this restore did not make the object, or the context is of another management cluster")
}

// nodeReady lists the ids of all Nodes, each with whether it is Ready.
const nodeReady = `--output=jsonpath={range .items[*]}{.spec.providerID}{" "}{.status.conditions[?(@.type=="Ready")].status}{" "}{end}`

// isCluster stops unless the Nodes that a context leads to include that of a machine
// which certainly is of the cluster: there has to be one, see living. NODES then holds them.
func (pl *planner) isCluster(c *report.Cluster) shell.Command {
	m := pl.living(c)
	return pl.workload(c, "get", "nodes", nodeReady).Keep("NODES").
		Then(shell.Has("NODES", "/"+strings.ToLower(m.Instance.ID)+" ").OrStop("the context is of another cluster: it has no Node of " + m.Name))
}

// noNode stops when the Node of an instance is Ready.
func (pl *planner) noNode(c *report.Cluster, id string) shell.Command {
	return pl.isCluster(c).Then(shell.Lacks("NODES", "/"+strings.ToLower(id), shell.Raw(`" True"`)).OrStop("its Node is alive, so that the machine exists somewhere"))
}

// living is a machine of the cluster that is known to run, one whose Node is known
// and of the control plane first, or nil.
func (pl *planner) living(c *report.Cluster) *report.Machine {
	m, known := pl.alive[c]
	if !known {
		m = pl.findLiving(c)
		pl.alive[c] = m
	}
	return m
}

func (pl *planner) findLiving(c *report.Cluster) *report.Machine {
	var second *report.Machine
	for _, m := range pl.machinesOf(c) {
		if !runs(m) || m.Instance == nil || !pl.identifies(m.Instance.ID) {
			continue
		}
		if m.Node != "" {
			return m
		}
		second = cmp.Or(second, m)
	}
	return second
}
