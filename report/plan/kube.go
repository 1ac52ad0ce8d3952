package plan

import (
	"cmp"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// pausePatch pauses a Cluster.
const pausePatch = `--patch={"spec":{"paused":true}}`

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
	return kubectlAt(context).With(words...)
}

func kubectlAt(context string) shell.Command {
	return shell.Line(shell.Raw("kubectl --context"), shell.Variable(context))
}

var managed = kubectlAt(management)

// manage addresses a namespace of the restored management cluster.
func manage(namespace string, words ...any) shell.Command {
	return managed.With("--namespace=" + namespace).With(words...)
}

// manage does what the function does. Machines come namespace by namespace.
func (pl *planner) manage(namespace string, words ...any) shell.Command {
	if last := &pl.managed; last.Command.IsZero() || last.namespace != namespace {
		last.namespace, last.Command = namespace, manage(namespace)
	}
	return pl.managed.With(words...)
}

// workload addresses the workload cluster itself.
func (pl *planner) workload(c *report.Cluster, words ...any) shell.Command {
	return pl.linesOf(c).kubectl.With(words...)
}

// linesOf returns those of a cluster. Machines come cluster by cluster.
func (pl *planner) linesOf(c *report.Cluster) *sharedLines {
	if pl.lines.cluster != c {
		at := kubectlAt(pl.contexts[c])
		pl.lines = sharedLines{c, at, at.With("get", "nodes", asJSON), at.With("get", "volumeattachments.storage.k8s.io",
			"--output=custom-columns=NODE:.spec.nodeName,VOLUME:.spec.source.persistentVolumeName,ATTACHED:.status.attached"), listMachines(c)}
	}
	return &pl.lines
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
	return pl.linesOf(c).attachments
}

// asJSON is how kubectl prints what recheck reads.
const asJSON = "--output=json"

// nodes prints the Nodes of a cluster for recheck.
func (pl *planner) nodes(c *report.Cluster) shell.Command {
	return pl.linesOf(c).nodes
}

// isNode stops unless the Node runs on the instance, by the id that the Node itself
// records: the cluster of another context may have a Node of that name.
func (pl *planner) isNode(c *report.Cluster, node any, id string) shell.Command {
	return pl.nodes(c).Pipe(recheck("runs-on", node, id))
}

var allMachines = kubectl(management, "get", "machines.cluster.x-k8s.io", "--all-namespaces", asJSON)

// noMachine stops when a Machine of the new management cluster has the instance by now.
func (pl *planner) noMachine(id string) shell.Command {
	return allMachines.Pipe(recheck("no-machine", id, "--restore", shell.Variable(restoreName)))
}

// isGhost stops when the Node of a Ghost runs on another instance, or a Machine has it by now.
func (pl *planner) isGhost(c *report.Cluster, m *report.Machine) shell.Command {
	return pl.noMachine(m.Instance.ID).Then(pl.isNode(c, nodeWord(m), m.Instance.ID))
}

// isCluster stops unless the Nodes that a context leads to include that of a machine
// which certainly is of the cluster: there has to be one, see living.
func (pl *planner) isCluster(c *report.Cluster) shell.Command {
	return pl.nodes(c).Pipe(recheck("is", shell.Pieces{"cluster/", c.Namespace, "/", c.Name}))
}

// notReady stops at another cluster, and when a Node of the Machine is Ready.
func (pl *planner) notReady(c *report.Cluster, m *report.Machine) shell.Command {
	return pl.nodes(c).Pipe(recheck("not-ready", machineOf(m)))
}

// recognised reports whether the Nodes of a cluster show which it is: one is of a machine that is
// Healthy, be it off.
func (pl *planner) recognised(c *report.Cluster) bool {
	for _, m := range pl.machinesOf(c) {
		if m.Status == code.Healthy && m.Instance != nil && pl.identifies(m.Instance.ID) {
			return true
		}
	}
	return false
}

// restored stops unless the object, a resource and a name, is one that this restore made.
func restored(namespace, object string) shell.Command {
	resource, name, _ := strings.Cut(object, "/")
	return manage(namespace, "get", object, asJSON).
		Pipe(recheck("restored", shell.Pieces{resource + "/", namespace, "/", name}, "--restore", shell.Variable(restoreName)))
}

// living returns a machine of the cluster that is known to run, one whose Node is known
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

// askNode leads through the Node list to a Node whose name is not known.
func (pl *planner) askNode(c *report.Cluster, m *report.Machine) []shell.Command {
	if m.Node != "" {
		return nil
	}
	return []shell.Command{pl.nodesByID(c), shell.Ask("NODE", "the Node whose id ends in "+m.Instance.ID)}
}

func nodeName(m *report.Machine) string {
	if m.Node != "" {
		return m.Node
	}
	return m.Name
}

// nodeWord returns the Node of a Ghost for kubectl.
func nodeWord(m *report.Machine) any {
	if m.Node != "" {
		return node + m.Node
	}
	return shell.Raw(`"node/${NODE:?}"`)
}
