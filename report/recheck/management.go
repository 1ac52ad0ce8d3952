package recheck

import (
	"fmt"
	"slices"
	"time"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// management sees that a context leads to the old management cluster, or to another one, by the
// uid of its namespace kube-system. Where the backup does not have that, it is a person who
// compares, and gives the uid of what he has seen.
func (a *asking) management() (string, error) {
	old := a.Names[0] == "old"
	if !old && a.Names[0] != "new" {
		return "", fmt.Errorf("%q is no management cluster; it is old or new", a.Names[0])
	}
	o, err := readObject(a.Objects)
	if err != nil {
		return "", err
	}
	if err := o.is("Namespace", "", "kube-system"); err != nil {
		return "", err
	}
	uid := o.Metadata.UID
	is, known := a.IsOld(uid, o.Metadata.Created)
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
		return "it is another management cluster than the old one, kube-system " + uid, nil
	case a.ID == "":
		return "", unseen("compare its Clusters and Nodes with the report by hand, and only if it is the "+a.Names[0]+" management cluster: --id "+uid, "the backup does not have the uid of kube-system, so that nothing shows which management cluster this is")
	case a.ID != uid:
		return "", refuse(set, "kube-system has uid %s, and --id gives %s: it is another cluster than the one that was compared by hand", uid, a.ID)
	}
	return "it is the " + a.Names[0] + " management cluster by your word, kube-system " + uid, nil
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
	what := fmt.Sprintf("Backup %s, which ran %s to %s,", v.Name, clock(v.Started), clock(v.Ended))
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
		if !v.IsOf(b) {
			continue
		}
		if fits := b.Among(of); len(fits) > 1 {
			return "", unseen(byHand, "%s of Velero ran when %s was written, so that nothing shows which one it is", english.Count(len(fits), "Backup"), b.Path)
		}
		return what + " is that of the report, by its times", nil
	}
	written := ""
	for k := range a.Backups {
		written += fmt.Sprintf("; %s was written %s to %s", a.Backups[k].Path, clock(a.Backups[k].WrittenFrom), clock(a.Backups[k].WrittenTo))
	}
	return "", refuse(other+"; if you have packed the tarball again, "+byHand, "%s is not that of the report%s", what, written)
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (o *object) asBackup() report.VeleroBackup {
	return report.VeleroBackup{Name: o.Metadata.Name, UID: o.Metadata.UID, Phase: o.Status.Phase, Started: o.Status.Started, Ended: o.Status.Ended}
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
