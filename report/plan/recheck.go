package plan

import (
	"slices"

	"drift-detector/infra/shell"
	"drift-detector/internal/lazyregexp"
	"drift-detector/report"
)

// recheck returns a line that looks once more: what follows it runs only when what it looks at is
// as in the report.
func recheck(words ...any) shell.Command {
	return rechecks.With(words...)
}

var rechecks = shell.Line(shell.Raw("drift-detector recheck"), shell.Variable(reportFile))

// kubeSystem prints what tells one management cluster from another.
func kubeSystem(context string, output string) shell.Command {
	return kubectl(context, "get", "namespaces/kube-system", output)
}

// isOld stops at any other cluster than the management cluster of the backup.
func (pl *planner) isOld() shell.Command {
	return kubeSystem(oldManagement, asJSON).Pipe(pl.isManagement("old", oldUID))
}

// isNew stops at the management cluster of the backup, at a cluster of the report, and at one that
// holds a Cluster: it is for lines before the restore.
func (pl *planner) isNew() shell.Command {
	return pl.printsNew().Pipe(pl.isManagement("new", managementUID))
}

// isFilled does what isNew does, for lines after the restore: it stops where no Cluster is, or one that the
// report does not name.
func (pl *planner) isFilled() shell.Command {
	return pl.printsNew().Pipe(pl.isManagement("filled", managementUID))
}

func (pl *planner) isManagement(which, uid string) shell.Command {
	look := recheck("management", which)
	if !pl.recognisesOld() {
		look = look.With("--id", shell.Variable(uid))
	}
	return look
}

// printsNew prints what tells a new management cluster from others. Where Cluster API is not
// installed yet, the list of API groups shows that there are no Clusters.
func (pl *planner) printsNew() shell.Command {
	return shell.All(kubectl(management, "get", "namespaces,nodes", asJSON),
		allClusters().Or(kubectl(management, "get", "--raw", "/apis"))).Wrap("{ ", "; }")
}

// allClusters asks for Clusters without kubectl's own list: only that of the API server says of what
// it is where it is empty. Later releases of Cluster API serve v1beta2 alone.
func allClusters() shell.Command {
	list := func(version string) shell.Command {
		return kubectl(management, "get", "--raw", "/apis/cluster.x-k8s.io/"+version+"/clusters")
	}
	return list("v1beta2").Or(list("v1beta1"))
}

// recognisesOld reports whether each backup has the uid of kube-system.
func (pl *planner) recognisesOld() bool {
	without := func(b report.Backup) bool { return b.KubeSystemUID == "" }
	return len(pl.Backups) > 0 && !slices.ContainsFunc(pl.Backups, without)
}

// byHand returns what a person has to compare where the backup does not have the uid, with the line
// that prints it.
func (pl *planner) byHand(context, which, uid string) (text string, look shell.Command) {
	if pl.recognisesOld() {
		return "", shell.Command{}
	}
	return " The backup does not have the uid of namespace kube-system, by which the lines would recognise the old management cluster: compare the Clusters and Nodes behind " + context + " with the report by hand, and only if it is " + which + ", set " + uid + " to the uid that the first line prints.",
		kubeSystem(context, "--output=custom-columns=UID:.metadata.uid,CREATED:.metadata.creationTimestamp")
}

// isBackup stops at any other Backup than that of the report.
func (pl *planner) isBackup() shell.Command {
	look := recheck("backup", shell.Pieces{"backup/", shell.Variable(backupName)})
	if !pl.recognisesBackup() {
		look = look.With("--id", shell.Variable(backupUID))
	}
	return look
}

// recognisesBackup reports whether Velero says of each backup what tells it from others.
func (pl *planner) recognisesBackup() bool {
	return len(pl.Backups) > 0 && !slices.ContainsFunc(pl.Backups, func(b report.Backup) bool { return b.Velero == nil })
}

// backupByHand is what a person has to compare where it does not.
const backupByHand = " Neither the tarball nor velero-backup.json beside it says which Backup of Velero it is of, and its times are those of any cluster with the same schedule: compare what is in the Backup with the report by hand (velero backup describe --details), and only if it is that one, set " + backupUID + " to the uid that the first line prints."

// showsBackup prints the Backup that is restored.
func (pl *planner) showsBackup() shell.Command {
	if pl.recognisesBackup() {
		return velero("backup", "get", shell.Variable(backupName))
	}
	return inVelero("get", shell.Pieces{"backups.velero.io/", shell.Variable(backupName)}, "--output=custom-columns=UID:.metadata.uid,STARTED:.status.startTimestamp,ENDED:.status.completionTimestamp,ITEMS:.status.progress.itemsBackedUp")
}

var backupForm = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// backupOf returns the name of the Backup where the report is of one, and Velero says it.
func backupOf(r *report.Report) string {
	if len(r.Backups) != 1 || r.Backups[0].Velero == nil {
		return ""
	}
	name := r.Backups[0].Velero.Name
	if len(name) > 253 || !backupForm.MatchString(name) { // as Kubernetes names objects
		return ""
	}
	return name
}

// machineOf returns what recheck calls a Machine. The kind comes first, so that no name of foreign
// origin is an option.
func machineOf(m *report.Machine) any { return shell.Pieces{"machine/", m.Namespace, "/", m.Name} }

// recheck looks at the scope as its tool does: at what leads the tool there.
func (p *scope) recheck(words ...any) shell.Command {
	return p.there(recheck(words...))
}

// there has a look be at the scope.
func (p *scope) there(look shell.Command) shell.Command {
	look = look.With("--at", shell.Variable(p.Variable))
	if p.Region != "" {
		look = look.With("--region=" + p.Region)
	}
	return look
}

// is stops at any other place than the scope.
func (p *scope) is() shell.Command { return p.recheck("place", p.Identity) }

// free stops when anything has an id. A search that fails is no absence.
func (p *scope) free(id string) shell.Command { return p.recheck("free", id) }

// Whether an instance runs.
const (
	off = "--state=off"
	on  = "--state=on"
)

// is stops unless the instance is there, at the scope of the report, with the id of the
// report, and as options say. It is empty where that can't be seen.
func (v *vm) is(options ...any) shell.Command {
	if !v.proven() {
		return shell.Command{}
	}
	look := recheck("vm", v.ID)
	if v.Ref != "" {
		look = recheck("vm", v.ID, v.Ref)
	}
	return v.there(look.With(options...))
}

// guarded runs a command only after the instance was looked at again.
func (v *vm) guarded(c shell.Command, options ...any) shell.Command {
	if !v.proven() {
		return shell.Command{}
	}
	return v.is(options...).Then(c)
}
