package runbook

import (
	"strings"

	"drift-detector/report"
)

// Resources, by the kinds that own machines.
var scalable = map[string]string{
	"MachineDeployment":   "machinedeployments.cluster.x-k8s.io/",
	"MachineSet":          "machinesets.cluster.x-k8s.io/",
	"KubeadmControlPlane": "kubeadmcontrolplanes.controlplane.cluster.x-k8s.io/",
}

// Resources of objects. The name follows in the same word, so that one with a
// leading dash is no option.
const (
	clusters = "clusters.cluster.x-k8s.io/"
	machines = "machines.cluster.x-k8s.io/"
	node     = "node/"
)

// kubectl addresses a cluster by a variable that holds its context.
func kubectl(context string, words ...any) command {
	return line(append([]any{raw("kubectl --context"), variable(context)}, words...)...)
}

// manage addresses a namespace of the restored management cluster.
func manage(namespace string, words ...any) command {
	return kubectl(management, append([]any{"--namespace=" + namespace}, words...)...)
}

// workload addresses the workload cluster itself.
func (b *book) workload(c *report.Cluster, words ...any) command {
	return kubectl(b.contexts[c], words...)
}

// listMachines shows what has become of a cluster's Machines.
func listMachines(c *report.Cluster) command {
	return manage(c.Namespace, "get", "machines.cluster.x-k8s.io", "--selector=cluster.x-k8s.io/cluster-name="+c.Name)
}

// nodesByID shows which Node runs on which instance.
func (b *book) nodesByID(c *report.Cluster) command {
	return b.workload(c, "get", "nodes", "--output=custom-columns=NAME:.metadata.name,ID:.spec.providerID,"+
		`MACHINE:.metadata.annotations.cluster\.x-k8s\.io/machine`)
}

// attachments shows which volumes are attached to which Node.
func (b *book) attachments(c *report.Cluster) command {
	return b.workload(c, "get", "volumeattachments.storage.k8s.io",
		"--output=custom-columns=NODE:.spec.nodeName,VOLUME:.spec.source.persistentVolumeName,ATTACHED:.status.attached")
}

// etcdctl runs in an etcd pod that kubeadm made, with the certificates where
// kubeadm puts them (kubeadm cmd/kubeadm/app/constants v1.35).
func (b *book) etcdctl(c *report.Cluster, words ...any) command {
	if m := running(c); m != nil {
		return b.etcdctlIn(c, "pod/etcd-"+m.Node, words)
	}
	return b.etcdctlIn(c, raw("pod/"+variable(etcdPod)), words)
}

// running is a control-plane machine of the backup on whose Node etcd runs, or nil.
func running(c *report.Cluster) *report.Machine {
	for i := range c.ControlPlane.Machines {
		m := &c.ControlPlane.Machines[i]
		if _, ok := Quote(m.Node); ok && m.Status == report.Healthy && m.Node != "" && !warned(m, "PoweredOff") {
			return m
		}
	}
	return nil
}

// unlisted counts the control-plane machines that are Healthy and not in the
// report's list, as with --ignore-healthy-resources. They run: one that is
// powered off carries a warning, and is listed.
func unlisted(c *report.Cluster) int {
	n := c.ControlPlane.Counts.Healthy
	for i := range c.ControlPlane.Machines {
		if c.ControlPlane.Machines[i].Status == report.Healthy {
			n--
		}
	}
	return max(0, n)
}

// etcdAt says so when no Node is known on which etcd runs.
func (b *book) etcdAt(c *report.Cluster) string {
	if running(c) != nil {
		return ""
	}
	if n := unlisted(c); n > 0 {
		return " The report leaves out " + count(n, "control-plane machine") + " that it counts as Healthy: " + etcdPod + " has to name the etcd pod of such a one."
	}
	for i := range c.ControlPlane.Machines {
		if m := &c.ControlPlane.Machines[i]; m.Status == report.Healthy && warned(m, "PoweredOff") {
			return " Machine " + m.Name + " is powered off, and none of the backup is known to run: " + etcdPod + " has to name the etcd pod of a Node that does, and a Ghost's may be the only one. Start what is powered off before you remove any."
		}
	}
	return " No control-plane Node of the backup is known to run: " + etcdPod + " has to name the etcd pod of one that does."
}

func (b *book) etcdctlIn(c *report.Cluster, pod any, words []any) command {
	return b.workload(c, append([]any{
		"--namespace=kube-system", "exec", pod, raw("--"), "etcdctl", "--endpoints=https://127.0.0.1:2379",
		"--cacert=/etc/kubernetes/pki/etcd/ca.crt", "--cert=/etc/kubernetes/pki/etcd/server.crt", "--key=/etc/kubernetes/pki/etcd/server.key",
	}, words...)...)
}

// quorum shows the members of etcd and whether each answers.
func (b *book) quorum(c *report.Cluster) []command {
	return []command{b.etcdctl(c, "member", "list", "--write-out=table"), b.etcdctl(c, "endpoint", "health", "--cluster")}
}

// snapshotFile is on the Node and in the pod alike: kubeadm mounts the folder
// (kubeadm cmd/kubeadm/app/phases/etcd/local.go v1.35).
const snapshotFile = "/var/lib/etcd/before-restore.db"

// What is said of the snapshot, at its first and at every further mention in a cluster.
const (
	snapshotText = "Take a snapshot of etcd, and copy it off the Node. Any image that has cat and cksum will do; where none can be pulled, take " + snapshotFile + " from the Node over SSH. It holds the cluster's Secrets: keep the copy to yourself, and when all is done remove it, and " + snapshotFile + " on the Node."
	snapshotOnce = "Take a snapshot of etcd, as said above of this cluster. If you have it, that one is enough."
)

// snapshot saves etcd off its Node. Its image has neither cat nor tar, so that a
// pod of the Node's own, which sees the Node's files below /host, reads the file.
// That it arrived whole is compared, because kubectl does not say so. Only who
// copies it may read it: every Secret of the cluster is in it.
func (b *book) snapshot(d *draft, c *report.Cluster) {
	system := func(words ...any) command {
		return b.workload(c, append([]any{"--namespace=kube-system"}, words...)...)
	}
	on := any(raw(`"node/${` + etcdPod + `#etcd-}"`))
	if m := running(c); m != nil {
		on = node + m.Node
	}
	pod, copied := raw(`"pod/${DEBUG_POD:?}"`), raw(`"$COPY"`)
	sum := system("exec", pod, raw("--"), "cksum", "/host"+snapshotFile)
	d.before(snapshotText,
		b.etcdctl(c, "snapshot", "save", snapshotFile),
		system("debug", on, "--image=busybox", raw("--"), "sleep", "3600"),
		ask("DEBUG_POD", "name of the pod that this printed, node-debugger-…"),
		line(raw(`COPY="etcd-`+strings.TrimPrefix(b.contexts[c], "CTX_")+`-$(date +%Y%m%dT%H%M%S).db"`)),
		system("exec", pod, raw("--"), "cat", "/host"+snapshotFile, raw(">"+copied)).private(),
		compare(command{sum.text + " | cut -d ' ' -f 1,2", sum.refused}, raw(`"$(cksum <`+copied+`)"`)).stop("stop: the copy is partial. Remove it, and copy again"),
		system("delete", pod))
}

// takenOnce tells of the snapshot once for all batches of a cluster.
func takenOnce(batches []Batch) {
	taken := false
	for i := range batches {
		for n := range batches[i].Steps {
			s := &batches[i].Steps[n]
			if s.Text != snapshotText {
				continue
			}
			if taken {
				batches[i].drop(n, snapshotOnce)
			}
			taken = true
		}
	}
}
