package plan

import (
	"strings"

	"drift-detector/infra/shell"
	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// moveFolder is the variable of the folder that clusterctl restores.
const moveFolder = backupFile

// restoreMoved returns the restore of a folder of 'clusterctl move'. Nothing can be done between it and
// the moment when the controllers act.
func (pl *planner) restoreMoved() Chapter {
	var d draft
	if text, look := pl.byHand(management, "another one", managementUID); text != "" {
		d.before("See that MGMT leads to the new management cluster."+text, look)
	}
	pl.install(&d)
	for i := range pl.Clusters {
		if c := &pl.Clusters[i]; !c.Self {
			pl.beforeMove(&d, c)
		}
	}
	text := "Restore the folder of the report, all of it: clusterctl unpauses every Cluster at its end. It skips what exists already, and stops at the first object that is refused, with all Clusters paused: what it has not restored by then it does when it is run again. It does nothing at the old management cluster, at a cluster of the report, or where a Cluster exists."
	if len(pl.goneClusters()) > 0 {
		text += " To leave a cluster out give it a copy of the folder without the file Cluster_NAMESPACE_NAME.yaml of that: it leaves out what has an owner that it lacks (getMoveSequence in cmd/clusterctl/client/cluster/mover.go v1.13.4); see in the new cluster that nothing of it came back."
	}
	d.before(text, pl.isNew().Then(shell.Line(shell.Raw("clusterctl move --from-directory"), shell.Variable(moveFolder), shell.Raw("--to-kubeconfig-context"), shell.Variable(management))))
	d.before("If it stopped half-way: see what it lacks, mend that, and run it again without the check before it. `drift-detector verify` compares what comes of it with the report, as soon as it ended.",
		kubectl(management, "get", "clusters.cluster.x-k8s.io,machines.cluster.x-k8s.io", "--all-namespaces"))
	return Chapter{Title: "Restore it with clusterctl, which unpauses all Clusters", What: "restore it with clusterctl", Steps: d.steps}
}

// beforeMove says what is to be resolved of a cluster before it is restored.
func (pl *planner) beforeMove(d *draft, c *report.Cluster) {
	for _, reason := range pl.reasons(c) {
		if code.Of(reason.Code).Plan == "" {
			continue
		}
		d.before("Of " + key(c) + " decide before the restore, since it can't be kept paused: " + strings.TrimSuffix(reason.Message, ".") + ": " + english.First(shown, reason.objects) + ". What may not happen is resolved now, or the cluster is restored from a Velero backup instead.").about = reason.objects
	}
}

// afterMove cleans up behind it.
func (pl *planner) afterMove() []Chapter {
	var out []Chapter
	own, workers := pl.findings(report.AfterRestore)
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		ch := chapter(c, nil)
		for _, b := range own[c] {
			if !ch.remember(&b) {
				ch.Batches = append(ch.Batches, b)
			}
		}
		if len(ch.Notes)+len(ch.Batches) > 0 && !c.Self {
			out = append(out, ch)
		}
	}
	if len(workers) > 0 {
		out = append(out, Chapter{Title: "Workers of all clusters: first what is Stale, then Ghosts", Batches: workers})
	}
	return out
}

// keptBack says how controllers are kept from a cluster: one that clusterctl restores is unpaused.
func (pl *planner) keptBack(cluster string) string {
	if pl.IsMoved() {
		return "do not restore " + cluster
	}
	return "keep " + cluster + " paused"
}
