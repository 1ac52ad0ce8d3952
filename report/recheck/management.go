package recheck

import (
	"fmt"
	"slices"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// Which management cluster a line is for.
const (
	isOld    = "old"
	isNew    = "new"    // before the restore: it holds no Cluster
	isFilled = "filled" // it holds Clusters, of the report only
)

// management sees that a context leads to the old management cluster, or to another one, by the
// uid of its namespace kube-system. Where the backup does not have that, it is a person who
// compares, and gives the uid of what he has seen. Of another one it also sees that it is no
// cluster of the report, nor a management cluster of others.
func (a *asking) management() (string, error) {
	which := a.Names[0]
	if which != isOld && which != isNew && which != isFilled {
		return "", fmt.Errorf("%q is no management cluster; it is old, new or filled", which)
	}
	old := which == isOld
	p, err := readManagement(a.Objects)
	if err != nil {
		return "", err
	}
	uid := p.space.Metadata.UID
	is, known := a.IsOld(uid, p.space.Metadata.Created)
	const set = "set the variable of the context, and look with kubectl config get-contexts where it leads"
	switch {
	case uid == "":
		return "", unseen("have kubectl get print the namespace with --output=json", "could not look: what kubectl printed has no uid of kube-system")
	case known && is != old && old:
		return "", refuse(set, "this is not the old management cluster: kube-system has uid %s, and in the backup another", uid)
	case known && is != old:
		return "", refuse(set, "this is the OLD management cluster: kube-system has the uid of the backup, %s", uid)
	case known && old:
		return "it is the old management cluster, by the uid of kube-system " + uid, nil
	case known:
	case a.ID == "":
		return "", unseen("compare its Clusters and Nodes with the report by hand, and only if it is the "+word(old)+" management cluster: --id "+uid, "the backup does not have the uid of kube-system, so that nothing shows which management cluster this is")
	case a.ID != uid:
		return "", refuse(set, "kube-system has uid %s, and --id gives %s: it is another cluster than the one that was compared by hand", uid, a.ID)
	}
	if !old {
		if err := a.isAnother(p, which, set); err != nil {
			return "", err
		}
	}
	if known {
		return fmt.Sprintf("it is another management cluster than the old one, kube-system %s, with %s and %s", uid, english.Count(len(p.nodes), "Node"), english.Count(len(p.clusters), "Cluster")), nil
	}
	return "it is the " + word(old) + " management cluster by your word, kube-system " + uid, nil
}

func word(old bool) string {
	if old {
		return isOld
	}
	return isNew
}

// isAnother sees that it is no cluster of the report, and holds no Clusters of others: before the
// restore none, later those of the report.
func (a *asking) isAnother(p *printed, which, set string) error {
	const next = "run the line of the plan as it is: it prints namespaces, Nodes and Clusters"
	if len(p.nodes) == 0 {
		return unseen(next, "could not look: kubectl printed no Node, so that nothing shows which cluster this is")
	}
	if of, why := a.ClusterOf(p.nodes); of != "" {
		return refuse(set, "this is cluster %s of the report, and no new management cluster: %s", of, why)
	}
	if !p.whole {
		return unseen(next, "could not look: kubectl printed no whole ClusterList, so that it is not known which Clusters it holds")
	}
	ours, others := a.Held(p.clusters)
	switch {
	case len(others) > 0 && a.Options.Filter != nil:
		return unseen("run detect on all clusters, and go on with the plan of that report", "it holds %s, and the report is only of some clusters of the backup", english.First(3, others))
	case len(others) > 0:
		return refuse(set+"; restore into a cluster that holds no Clusters", "it holds Clusters that the report does not name, and may be the running management cluster of others: %s", english.First(3, others))
	case len(ours) > 0 && which == isNew:
		return refuse("turn off what made them, and pause them with the line of the plan; restore into a cluster that holds none", "it holds Clusters of the report already: %s", english.First(3, ours))
	case len(a.Before(p.clusters)) > 0 && which == isFilled:
		return refuse(set, "its Clusters were created before the backup was written, and no restore of it has made them: it is another management cluster, that lives, or the old one: %s", english.First(3, a.Before(p.clusters)))
	case len(p.clusters) == 0 && which == isFilled:
		return refuse(set, "it holds none of the Clusters of the report: the restore was done elsewhere, or not yet")
	}
	return nil
}

// backup sees that a Backup of Velero is the one that the report is of: of that name may be
// another one, which Velero has created from another folder, or since.
func (a *asking) backup() (string, error) {
	all, err := readList(a.Objects, "Backup")
	if err != nil {
		return "", err
	}
	const other = "take the name of the Backup that ran when the backup of the report was written: velero backup get"
	var of []report.VeleroBackup
	for i := range all {
		of = append(of, all[i].asBackup())
	}
	i := slices.IndexFunc(of, func(v report.VeleroBackup) bool { return v.Name == a.Names[0] })
	if i < 0 {
		return "", refuse("wait until Velero has created it from its storage location, or see that the location is Available", "Velero has no Backup %s", a.Names[0])
	}
	v := &of[i]
	if all[i].Metadata.Deleted != nil || !v.Restorable() {
		return "", refuse(other, "Backup %s is none that Velero restores: its phase is %q", v.Name, v.Phase)
	}
	what := fmt.Sprintf("Backup %s, which ran %s to %s with %s,", v.Name, clock(v.Started), clock(v.Ended), english.Count(v.Items, "item"))
	if a.ID != "" {
		if a.ID != v.UID {
			return "", refuse("compare again", "Backup %s has uid %q, and --id gives %s: it is another one than was compared by hand", v.Name, v.UID, a.ID)
		}
		// A tarball that was packed again has later times than the Backup, and never earlier ones.
		if !slices.ContainsFunc(a.Backups, func(b report.Backup) bool {
			return b.WrittenTo.IsZero() || v.Started.IsZero() || !v.Started.After(b.WrittenTo.Add(time.Minute))
		}) {
			return "", refuse(other, "Backup %s began %s, after the last object of the report was written (%s): it is another one, and no word makes it that", v.Name, clock(v.Started), clock(a.Backups[0].WrittenTo))
		}
		text := what + " is that of the report by your word"
		for k := range a.Backups {
			text += fmt.Sprintf("; %s was written %s to %s", a.Backups[k].Path, clock(a.Backups[k].WrittenFrom), clock(a.Backups[k].WrittenTo))
		}
		return text, nil
	}
	byHand := "compare what is in it with the report by hand (velero backup describe " + v.Name + " --details), and only if it is that one: --id " + v.UID
	for k := range a.Backups {
		b := &a.Backups[k]
		switch v.Is(b) {
		case report.Other:
			continue
		case report.Possible:
			return "", unseen(byHand, "%s may be that of %s by its times, as a Backup of any cluster with the same schedule: nothing shows that it is", what, b.Path)
		}
		return what + " is that of the report, by its name, its times and its number of items", nil
	}
	written := ""
	for k := range a.Backups {
		b := &a.Backups[k]
		written += fmt.Sprintf("; %s was written %s to %s, with %s", b.Path, clock(b.WrittenFrom), clock(b.WrittenTo), english.Count(b.Items, "item"))
		if d := b.Velero; d != nil {
			written += fmt.Sprintf(", by Backup %s of %s", d.Name, clock(d.Started))
		}
	}
	return "", refuse(other+"; if you have packed the tarball again, "+byHand, "%s is not that of the report%s", what, written)
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (o *object) asBackup() report.VeleroBackup {
	return report.VeleroBackup{Name: o.Metadata.Name, UID: o.Metadata.UID, Phase: o.Status.Phase, Started: o.Status.Started, Ended: o.Status.Ended, Items: o.Status.Progress.Items}
}

// pauses sees that a ConfigMap makes Velero pause the Clusters: one of that name that was there
// already may do something else.
func (a *asking) pauses() (string, error) {
	o, err := readObject(a.Objects)
	if err != nil {
		return "", err
	}
	if o.Kind != "ConfigMap" || o.Metadata.Name != a.Names[0] {
		return "", refuse("see that the line asks kubectl for the ConfigMap that Velero is given", "kubectl printed %s %s, and ConfigMap %s was asked for", o.Kind, o.Metadata.Name, a.Names[0])
	}
	if !report.ArePausing(o.Data) {
		return "", refuse("see who needs it, delete it, and create it with the line of the plan", "ConfigMap %s/%s is another than the plan's: Velero would restore Clusters that are not paused", o.Metadata.Namespace, o.Metadata.Name)
	}
	return fmt.Sprintf("ConfigMap %s/%s pauses each Cluster that Velero restores", o.Metadata.Namespace, o.Metadata.Name), nil
}
