package plan

import (
	"cmp"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// etcdctl runs in an etcd pod that kubeadm made, with the certificates where
// kubeadm puts them (kubeadm cmd/kubeadm/app/constants v1.35).
func (pl *planner) etcdctl(c *report.Cluster, words ...any) shell.Command {
	if m := pl.members(c).named; m != nil {
		return pl.etcdctlIn(c, "pod/etcd-"+m.Node, words)
	}
	return pl.etcdctlIn(c, shell.Pieces{"pod/", shell.Variable(etcdPod)}, words)
}

// members are the control-plane machines of the backup that etcd runs on.
type members struct {
	named    *report.Machine // one that runs and whose Node the backup names, or nil
	runs     *report.Machine // one that runs, or nil
	off      *report.Machine // a Healthy one that does not run, or nil
	unlisted int             // Healthy ones that the report leaves out, as with --ignore-healthy-resources
	running  int             // those that are known to run, with those that are left out
}

// members goes through a control plane once: each of its machines asks for it.
func (pl *planner) members(c *report.Cluster) *members {
	out := pl.membersOf[c]
	if out != nil {
		return out
	}
	out = &members{unlisted: c.ControlPlane.Counts.Healthy}
	pl.membersOf[c] = out
	for i := range c.ControlPlane.Machines {
		m := &c.ControlPlane.Machines[i]
		if m.Status == code.Healthy {
			out.unlisted--
		}
		switch {
		case runs(m):
			out.running++
			out.runs = cmp.Or(out.runs, m)
			if _, ok := shell.Quote(m.Node); ok && m.Node != "" {
				out.named = cmp.Or(out.named, m)
			}
		case m.Status == code.Healthy:
			out.off = cmp.Or(out.off, m)
		}
	}
	// Those that are left out run: one that is powered off carries a warning, and is listed.
	out.unlisted = max(0, out.unlisted)
	out.running += out.unlisted
	return out
}

// majority returns how many machines a control plane has to have for etcd to decide
// anything, by what the backup records of it.
func (s *set) majority() int {
	recorded := s.counts.Healthy + s.counts.Stale + s.counts.Unknown
	if s.desired != nil {
		recorded = max(recorded, int(*s.desired))
	}
	return recorded/2 + 1
}

// etcdAt says so when no Node is known on which etcd runs.
func (pl *planner) etcdAt(c *report.Cluster) string {
	switch m := pl.members(c); {
	case m.named != nil:
		return ""
	case m.unlisted > 0:
		return " The report leaves out " + english.Count(m.unlisted, "control-plane machine") + " that it counts as Healthy: " + etcdPod + " has to name the etcd pod of such a one."
	case m.runs != nil:
		return " Machine " + m.runs.Name + " runs, and the backup does not name its Node: " + etcdPod + " has to name the etcd pod there, which is etcd- and the name of the Node."
	case m.off != nil:
		return " Machine " + m.off.Name + " does not run, and no other of the backup is known to: " + etcdPod + " has to name the etcd pod of a Node that does, and a Ghost's may be the only one. Start what is off before you remove any."
	}
	return " No control-plane machine of the backup is known to run: " + etcdPod + " has to name the etcd pod of a Node that does."
}

func (pl *planner) etcdctlIn(c *report.Cluster, pod any, words []any) shell.Command {
	return pl.workload(c, append([]any{
		"--namespace=kube-system", "exec", pod, shell.Raw("--"), "etcdctl", "--endpoints=https://127.0.0.1:2379",
		"--cacert=/etc/kubernetes/pki/etcd/ca.crt", "--cert=/etc/kubernetes/pki/etcd/server.crt", "--key=/etc/kubernetes/pki/etcd/server.key",
	}, words...)...)
}

// quorum shows the members of etcd and whether each answers.
func (pl *planner) quorum(c *report.Cluster) []shell.Command {
	return []shell.Command{pl.etcdctl(c, "member", "list", "--write-out=table"), pl.etcdctl(c, "endpoint", "health", "--cluster")}
}

// answers returns the check that etcd has a majority: the member that is asked has to
// agree on a read with most of the others.
func (pl *planner) answers(c *report.Cluster) shell.Command {
	return pl.etcdctl(c, "endpoint", "health")
}

// allAnswer returns the check that every member of etcd answers: if one does not, another one
// less may cost the majority.
func (pl *planner) allAnswer(c *report.Cluster) shell.Command {
	return pl.etcdctl(c, "endpoint", "health", "--cluster")
}

// memberList prints the members of etcd for recheck.
func (pl *planner) memberList(c *report.Cluster) shell.Command {
	return pl.etcdctl(c, "member", "list", "--write-out=json")
}

// evict removes the member of a Ghost, if it is that one and all members answer.
func (pl *planner) evict(c *report.Cluster, m *report.Machine) []shell.Command {
	return append(pl.askNode(c, m),
		shell.Ask("MEMBER_ID", "the id beside "+nodeName(m)+" in that list"),
		shell.All(pl.isGhost(c, m), pl.memberList(c).Pipe(recheck("member", nodeWord(m), shell.Variable("MEMBER_ID"))),
			pl.allAnswer(c), pl.etcdctl(c, "member", "remove", shell.Variable("MEMBER_ID"))))
}

// evicted returns the check that a Ghost is no member of etcd any more, and that all that
// are left answer. Its Node is deleted by then, so that another shows the cluster.
func (pl *planner) evicted(c *report.Cluster, m *report.Machine) shell.Command {
	return shell.All(pl.isCluster(c), pl.memberList(c).Pipe(recheck("no-member", nodeWord(m))), pl.allAnswer(c))
}

// snapshotFile is on the Node and in the pod alike: kubeadm mounts the folder
// (kubeadm cmd/kubeadm/app/phases/etcd/local.go v1.35).
const snapshotFile = "/var/lib/etcd/before-restore.db"

const (
	majorityText = "See that etcd has a majority, before anything changes."
	snapshotText = "Take a snapshot of etcd, and copy it off the Node. Any image that has cat and cksum will do; where none can be pulled, take " + snapshotFile + " from the Node over SSH. It holds the cluster's Secrets: keep the copy to yourself, and when all is done remove it, and " + snapshotFile + " on the Node."
)

// etcdFirst gives what is done once for the etcd of a machine's cluster to a batch for
// clusters, and returns the other steps.
func (pl *planner) etcdFirst(g *gathering, c *report.Cluster, m *report.Machine, steps []Step) []Step {
	if !slices.ContainsFunc(steps, func(s Step) bool { return s.kind == forEtcd }) {
		return steps
	}
	var etcd, others []Step
	for _, s := range steps {
		if s.kind == forEtcd {
			etcd = append(etcd, s)
		} else {
			others = append(others, s)
		}
	}
	if p := g.of[c]; p != nil {
		i := slices.Index(p.clusters, c)
		p.items[i].Detail += ", " + m.Name
		p.items[i].machines = append(p.items[i].machines, m.Name)
		return others
	}
	item := Item{Name: key(c), Detail: "because of " + m.Name, machines: []string{m.Name}, Clusters: []string{key(c)}, Words: map[string]string{"NAMESPACE": c.Namespace, "CLUSTER": c.Name}}
	if on := pl.members(c).named; on != nil {
		item.Words["NODE"], item.Words["POD"] = on.Node, "etcd-"+on.Node
	}
	p := g.add(likeness{}, etcd, item, "etcd", "× control plane (majority, snapshot)")
	p.clusters, p.serial, g.of[c] = append(p.clusters, c), true, p
	return others
}

// saveEtcd sees that etcd has a majority, and saves it off its Node. Its image has neither cat nor tar, so that a
// pod of the Node's own, which sees the Node's files below /host, reads the file.
// That it arrived whole is compared, because kubectl does not say so. Only who
// copies it may read it: every Secret of the cluster is in it.
func (pl *planner) saveEtcd(d *draft, c *report.Cluster) {
	system := func(words ...any) shell.Command {
		return pl.workload(c, append([]any{"--namespace=kube-system"}, words...)...)
	}
	on := any(shell.Raw(`"node/${` + etcdPod + `#etcd-}"`))
	if m := pl.members(c).named; m != nil {
		on = node + m.Node
	}
	pod, copied := shell.Raw(`"pod/${DEBUG_POD:?}"`), shell.Raw(`"${COPY:?}"`)
	sum := system("exec", pod, shell.Raw("--"), "cksum", "/host"+snapshotFile)
	save := pl.etcdctl(c, "snapshot", "save", snapshotFile)
	if pl.living(c) != nil {
		save = pl.isCluster(c).Then(save)
	}
	d.before(majorityText+pl.etcdAt(c), pl.quorum(c)...).kind = forEtcd
	d.before(snapshotText, save,
		system("debug", on, "--image=busybox", shell.Raw("--"), "sleep", "3600"),
		shell.Ask("DEBUG_POD", "name of the pod that this printed, node-debugger-…"),
		shell.Line(shell.Pieces{"COPY=etcd-" + strings.TrimPrefix(pl.contexts[c], contextPrefix), shell.Raw(`"$(date +-%Y%m%dT%H%M%S.db)"`)}),
		system("exec", pod, shell.Raw("--"), "cat", "/host"+snapshotFile, shell.Raw(">"+copied)).Private(),
		sum.Keep("SUM").Then(shell.Line(shell.Raw(`test "${SUM% *}" = "$(cksum <`+copied+`)"`)).OrStop("the copy is partial. Remove it, and copy again")),
		system("delete", pod)).kind = forEtcd
}
