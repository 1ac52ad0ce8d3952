package plan

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// afterRestore lets one cluster after the other go, and cleans up behind them: what is
// Stale before what is a Ghost, so that there is room for its load.
func (pl *planner) afterRestore() []Chapter {
	if pl.IsMoved() {
		return pl.afterMove()
	}
	out := make([]Chapter, 0, len(pl.Clusters)+2)
	own, workers := pl.findings(report.AfterRestore)
	of := map[string]int{} // the first chapter of a cluster
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if c.Self {
			continue
		}
		ch := chapter(c, nil)
		for _, b := range own[c] {
			if !ch.remember(&b) {
				ch.Batches = append(ch.Batches, b)
			}
		}
		d := draft{bare: pl.texts}
		pl.identities(&d, c)
		ch.What = pl.release(&d, c)
		ch.Steps = d.steps
		if _, twice := of[ch.Cluster]; !twice {
			of[ch.Cluster] = len(out)
		}
		out = append(out, ch)
	}
	workers = slices.DeleteFunc(workers, func(b Batch) bool {
		i, found := of[b.Cluster]
		return found && out[i].remember(&b)
	})
	if len(workers) > 0 {
		out = append(out, Chapter{Title: "Workers of all clusters: first what is Stale, then Ghosts", Notes: []string{workersLast}, Batches: workers})
	}
	var d draft
	pl.restoreCreators(&d)
	d.after("When all is done, let Velero write again: until then it takes no backup. It deletes those that have expired as soon as it may; save the one that you restored first if you still need it.", pl.writableAgain())
	return append(out, Chapter{Title: "At the end", What: "let Velero write again", Steps: d.steps})
}

// remember takes a reminder among the notes, which are read before anything of the cluster
// is done, and reports whether the batch was one.
func (ch *Chapter) remember(b *Batch) bool {
	if len(b.Steps) != 1 || b.Steps[0].kind != reminder {
		return false
	}
	names := make([]string, len(b.Items))
	for i := range b.Items {
		names[i] = b.Items[i].Name
	}
	ch.Notes = append(ch.Notes, b.Title+" ("+english.First(shown, names)+"). "+b.Steps[0].Text)
	return true
}

// workersLast says when workers are dealt with.
const workersLast = "Begin with those of a cluster when it is unpaused and its other Machines are Running. Leave those of a cluster that stays paused."

// identities has identities applied again when their Secret is there, and the
// infrastructure cluster is touched: CAPV's retries come ever later.
func (pl *planner) identities(d *draft, c *report.Cluster) {
	for _, m := range pl.identitiesOf(c) {
		lines := []shell.Command{pl.manifest(c, m), kubectl(management, "get", pl.identityKinds[m.Kind]+m.Name)}
		if object := pl.providers[c.Provider].clusterResource(c); object != "" {
			lines = append(lines, manage(c.Namespace, "annotate", object, "--selector=cluster.x-k8s.io/cluster-name="+c.Name, "--overwrite", shell.Raw(`drift-detector/retry="$(date +%s)"`)))
			lines[len(lines)-1] = pl.isFilled().Then(lines[len(lines)-1])
		}
		step := d.after(fmt.Sprintf("The cluster is not reconciled until %s %s exists. See that the Secret is there which it names, if it names one, apply its manifest, which extract wrote, then change an annotation of the infrastructure cluster, because its controller backs off.", m.Kind, m.Name), lines...)
		step.about = []string{m.Kind + " " + strings.TrimPrefix(m.Namespace+"/"+m.Name, "/")}
		if len(step.Commands) == len(lines) { // else one was refused
			step.settles = of("", step.about...)
		}
	}
}

// memberGhosts counts Ghosts whose etcd members KubeadmControlPlane would remove.
func (pl *planner) memberGhosts(c *report.Cluster) int {
	s := pl.sets(c)[0]
	if !s.stackedEtcd() {
		return 0
	}
	return s.counts.Ghost
}

// release unpauses a cluster that was not paused in the backup. It returns what that
// comes down to.
func (pl *planner) release(d *draft, c *report.Cluster) string {
	switch {
	case c.Confirmed != nil && !pl.tells(c):
		d.after("It is given up, "+c.Confirmed.OnTheWord()+". The restore brings it back, because no selector leaves out that alone: leave it paused.", listMachines(c))
		return "it is given up: leave it paused"
	case c.Confirmed != nil:
		d.after("It is given up, "+c.Confirmed.OnTheWord()+". Where its Cluster came back all the same, leave it paused.", listMachines(c))
		return "it is given up: leave it out, or paused"
	case pl.gone(c):
		d.after("If you left it out, there is nothing to do. If it was restored, leave it paused until it is decided what becomes of it.", listMachines(c))
		return "leave it paused, or out of the restore"
	case lostControlPlane(c):
		d.afterWith(func() (string, []shell.Command) {
			return "Leave it paused until it is decided what becomes of its control plane.", []shell.Command{listMachines(c)}
		})
		return "leave it paused: its control plane is lost"
	}
	pl.settleErrors(d, c)
	pl.warnOfEviction(d, c)
	pl.keepPoolSizes(d, c)
	pl.freeKubeconfig(d, c)
	lead, what := "Unpause it", "unpause it"
	if len(d.steps) > 0 {
		what = "resolve what blocks it, then unpause it"
	}
	if pl.settle(d, c) {
		lead, what = "Only when all of the above is resolved, or left so on purpose: unpause it", "resolve what blocks it, then unpause it"
	}
	unpause := func() []shell.Command {
		return []shell.Command{restored(c.Namespace, clusters+c.Name).Then(manage(c.Namespace, "patch", clusters+c.Name, "--type=merge", `--patch={"spec":{"paused":false}}`))}
	}
	switch {
	case c.Paused:
		d.afterWith(func() (string, []shell.Command) {
			return "It was paused in the backup. Leave it so until you know who paused it and why; what follows holds from when it is unpaused.", unpause()
		})
		return "leave it paused, as it was in the backup"
	case c.Derived:
		d.after("Its Cluster object was not in the backup. Have it created again (ClusterDeployment, GitOps), paused at first, and only now that its Machines are back; then see what becomes of them.", listMachines(c))
		return "create its Cluster object again"
	default:
		d.afterWith(func() (string, []shell.Command) {
			return lead + ", and wait until its Machines have been adopted: Running, with a Node each, except those below. `drift-detector verify` compares it with the report.", append(unpause(), listMachines(c))
		})
		return what
	}
}

// keepPoolSizes comes before a cluster is unpaused: its controller sets each pool to
// what its MachinePool wants, and ends living members where that is less.
func (pl *planner) keepPoolSizes(d *draft, c *report.Cluster) {
	for i := range c.Workers.Groups {
		g := &c.Workers.Groups[i]
		p := g.Pool
		if g.Kind != "MachinePool" || p == nil || p.Desired == nil || p.ManagedBy != "" || g.Forecast != nil && g.Forecast.ManagedBy != "" || p.State != code.Present {
			continue
		}
		now := int64(len(p.Now))
		if p.DesiredNow != nil {
			now = *p.DesiredNow
		}
		if now == *p.Desired {
			continue
		}
		does := fmt.Sprintf("terminates %s", english.Count(int(now-*p.Desired), "running member"))
		if now < *p.Desired {
			does = fmt.Sprintf("creates %d more", *p.Desired-now)
		}
		text := fmt.Sprintf("Before it is unpaused: MachinePool %s has %s and the group has %d, so that %s %s. Set its replicas to the size of the group; where the infrastructure object has bounds of its own, it has to be within them.", g.Name, english.Count(int(*p.Desired), "replica"), now, pl.controllerOf(c), does)
		about := []string{g.Kind + " " + c.Namespace + "/" + g.Name}
		check, ok := pl.poolSize(c, p, now)
		if !ok {
			d.after(text+" No line does that: the report does not name a member by which the group could be looked up again. Compare with the group itself first.", manage(c.Namespace, "get", pools+g.Name)).about = about
			continue
		}
		object := pools + g.Name
		step := d.after(text+" The line looks first whether the group still has that number.",
			shell.All(check, restored(c.Namespace, object), manage(c.Namespace, "scale", object, fmt.Sprintf("--current-replicas=%d", *p.Desired), fmt.Sprintf("--replicas=%d", now))))
		if step.about = about; len(step.Commands) > 0 {
			step.settles = append(of(code.PoolScaledBack, about...), of(code.PoolGrown, about...)...)
		}
	}
}

// poolSize stops unless the group that a pool's member is in is set to a size.
func (pl *planner) poolSize(c *report.Cluster, p *report.Pool, size int64) (shell.Command, bool) {
	scopes := pl.clusterScopes(c, &report.Machine{})
	if len(scopes) != 1 || !scopes[0].proven() || len(p.Now) == 0 {
		return shell.Command{}, false
	}
	return scopes[0].recheck("pool", p.Now[0], fmt.Sprint(size)), scopes[0].Identifies(p.Now[0])
}

// freeKubeconfig lets a controller make the kubeconfig of its own kind of control
// plane: it refuses one that it does not own, and a restore takes ownership away (CAPA
// pkg/cloud/services/eks/config.go v2.11.1).
func (pl *planner) freeKubeconfig(d *draft, c *report.Cluster) {
	owner := pl.kubeconfigOwner(c.ControlPlane.Kind)
	if owner == "" {
		return
	}
	secret := "secrets/" + c.Name + code.KubeconfigSecret
	d.after("Before it is unpaused: delete the kubeconfig that was restored. "+owner+" refuses one that it does not own, and creates it when there is none.",
		restored(c.Namespace, secret).Then(manage(c.Namespace, "delete", secret)))
}

// warnOfEviction comes before whatever lets KubeadmControlPlane act: it removes
// the members of Ghosts within seconds.
func (pl *planner) warnOfEviction(d *draft, c *report.Cluster) {
	ghosts := pl.memberGhosts(c)
	if ghosts == 0 {
		return
	}
	var names []string
	for i := range c.ControlPlane.Machines {
		if m := &c.ControlPlane.Machines[i]; m.Status == code.Ghost {
			names = append(names, m.Name)
		}
	}
	step := d.afterWith(func() (string, []shell.Command) {
		return fmt.Sprintf("Before it is unpaused: KubeadmControlPlane removes the etcd members of Ghosts without asking, as soon as all its Machines have Nodes, and early releases remove all at once. Ghosts with a member: %d (%s). See that every member answers. If one that is to stay does not, leave the cluster paused, and repair that member or take a newer backup: when the Ghosts' members go, etcd has no majority. Only if the silent one is a Ghost's, all that are to stay answer, and so does a majority of all: remove the members of the Ghosts by hand now, the silent one first, one at a time, as below.", ghosts, english.First(shown, names)) + pl.etcdAt(c), pl.quorum(c)
	})
	for _, r := range pl.reasons(c) {
		if r.Code == code.EtcdMembersRemoved {
			step.about = r.objects
		}
	}
}
