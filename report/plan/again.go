package plan

import (
	"slices"

	"drift-detector/infra/shell"
	"drift-detector/report"
	"drift-detector/report/code"
)

// restoredAgain is what the name of the second restore ends in.
const restoredAgain = "-again"

// again restores the backup a second time, where webhooks refuse at first what comes before its
// Cluster, and returns the name of the restore that has to complete. Velero leaves alone what is
// there already (restoreItem in pkg/restore/restore.go v1.18.3). Seen with CAPZ 1.26.0: the second
// restore of a fleet brought all that the first one was refused.
func (pl *planner) again(d *draft, given, out []*report.Cluster, decided bool) shell.Pieces {
	var refused, clusters []string
	for i := range pl.Clusters {
		c := &pl.Clusters[i]
		if p := pl.providers[c.Provider]; p != nil && p.RefusedAtFirst != "" && !c.Self {
			clusters = append(clusters, "Cluster "+c.Title())
			if what := p.Controller + " refuse " + p.RefusedAtFirst; !slices.Contains(refused, what) {
				refused = append(refused, what)
			}
		}
	}
	if refused == nil {
		return shell.Pieces{shell.Variable(restoreName)}
	}
	name := shell.Pieces{shell.Variable(restoreName), restoredAgain}
	text := "That restore ends PartiallyFailed: the webhooks of " + listed(refused) + " as long as their Clusters are not there, which come last, each after 5 to 10 seconds. Other errors than those are to be resolved. With the Clusters paused nobody acts on what is missing yet. Restore the same Backup a second time: it brings what was refused, and keeps what is there. The line does nothing where a Cluster is not paused. Do not let Clusters come first instead: that rolls every worker."
	if decided {
		given = out
	} else if len(out) > 0 {
		text += " If you left clusters out, take the second line, which leaves out the same."
	}
	lines := []shell.Command{pl.restoringAgain(name, given)}
	if len(out) > 0 && !decided {
		lines = append(lines, pl.restoringAgain(name, out))
	}
	step := d.before(text, lines...)
	if step.about = append([]string{string(code.RefusedAtFirst)}, clusters...); len(step.Commands) == len(lines) { // else one was refused
		step.settles = of(code.RefusedAtFirst, clusters...)
	}
	return name
}

// restoringAgain returns the second restore. It stops where a Cluster is not paused: its controllers
// act on Machines whose infrastructure is not yet back.
func (pl *planner) restoringAgain(name any, without []*report.Cluster) shell.Command {
	unpaused := kubectl(management, "get", "clusters.cluster.x-k8s.io", "--all-namespaces", "--output=go-template={{range .items}}{{if not .spec.paused}}{{.metadata.namespace}}/{{.metadata.name}} {{end}}{{end}}")
	return shell.All(pl.isFilled(), pl.takesBackup(), unpaused.Keep("UNPAUSED"),
		shell.Empty("UNPAUSED").OrStop("these are not paused:", shell.Raw(`"$UNPAUSED"`)), pl.creates(name, without))
}
