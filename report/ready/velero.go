package ready

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/internal/lazyregexp"
	"drift-detector/report"
)

// firstModifiers is the first minor release of Velero 1 that pauses Clusters as they are
// restored: an older one skips what it does not know (internal/resourcemodifiers v1.12.0).
const firstModifiers = 12

// isVelero reports whether a container is the server of Velero, however its Deployment is called:
// 'velero install' and OADP call that velero, Helm after the release.
func (c *container) isVelero() bool {
	repository, _, _ := strings.Cut(path.Base(c.Image), ":")
	repository, _, _ = strings.Cut(repository, "@")
	words := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
	return strings.Contains(words, "velero server") || repository == "velero" && strings.Contains(words, "server")
}

// servers returns the Deployments of Velero's server: those that have one of the storage locations in
// their namespace, and those elsewhere. Without an image that says so the name is enough. One that
// is off counts only where no other has a location beside it.
func (s *seen) servers() (beside, elsewhere []*object) {
	for _, o := range s.of("apps", "Deployment") {
		if o.Metadata.Name != "velero" && !slices.ContainsFunc(o.Spec.Template.Spec.Containers, func(c container) bool { return c.isVelero() }) {
			continue
		}
		if slices.ContainsFunc(s.of(veleroGroup, "BackupStorageLocation"), func(l *object) bool { return l.Metadata.Namespace == o.Metadata.Namespace }) {
			beside = append(beside, o)
		} else {
			elsewhere = append(elsewhere, o)
		}
	}
	if len(beside) == 0 {
		beside, elsewhere = elsewhere, nil
	}
	if on := slices.DeleteFunc(slices.Clone(beside), (*object).off); len(on) > 0 {
		beside = on
	}
	return beside, slices.DeleteFunc(elsewhere, (*object).off)
}

// velero sees that Velero runs as the line of the plan needs it, with locations that nobody writes.
func (l *looking) velero(s *seen) {
	l.idle(s)
	all, elsewhere := s.servers()
	if len(all) != 1 {
		why := "no Deployment that runs 'velero server' was piped in: kubectl get deployments -A shows it; set VELERO_NAMESPACE to its namespace"
		if len(all) > 1 {
			why = "there are several: Deployments " + strings.TrimSuffix(about(titles(all)), ": ") + "; scale all to 0 but that of VELERO_NAMESPACE"
		}
		l.unseen("velero", "its Velero", why)
		l.unseen("location", "its storage locations", why)
		l.unseen("backup", "the Backup of Velero", why)
		l.unseen("modifiers", "the ConfigMap that pauses Clusters", why)
		return
	}
	if len(elsewhere) > 0 {
		l.add(Item{
			Check: "otherVelero", State: Unseen, What: "not looked at: a second Velero: Deployment " + strings.TrimSuffix(about(titles(elsewhere)), ": "), Why: "it deletes expired backups from locations that it may write to, and restores what its schedules and people ask it for",
			Next: "scale it to 0 replicas until all is restored; or once its locations are read-only, and it restores nothing: --done otherVelero", Step: l.restore, Objects: titles(elsewhere),
		}, "otherVelero")
	}
	v := all[0]
	image, words := "", []string{}
	for _, c := range v.Spec.Template.Spec.Containers {
		if c.Image != "" && (image == "" || c.isVelero()) {
			image = c.Image
		}
		words = append(append(words, c.Command...), c.Args...)
	}
	item := Item{Check: "velero", State: Missing, What: "Velero in namespace " + name(v.Metadata.Namespace), Next: l.step(l.restore), Step: l.restore}
	release := minor.FindStringSubmatch(image)
	ofMinor := 0
	if release != nil {
		ofMinor, _ = strconv.Atoi(release[1])
	}
	switch {
	case !v.runs():
		item.What += " does not run"
		item.Why = v.why()
		l.add(item)
	case slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "--restore-resource-priorities") }):
		item.What += " has an order of its own"
		item.Why = "--restore-resource-priorities may put Clusters before their Machines"
		l.add(item)
	case release == nil:
		l.unseen("velero", "the release of Velero", "its image does not say it: "+name(image), "velero")
	case ofMinor < firstModifiers:
		item.What += " is " + name(image)
		item.Why = fmt.Sprintf("older than v1.%d, which is the first that restores Clusters paused", firstModifiers)
		l.add(item)
	default:
		item.State, item.What = Holds, item.What+" runs: "+name(image)
		l.add(item)
	}
	l.locations(s, v.Metadata.Namespace)
	l.backups(s, v.Metadata.Namespace)
	l.modifiers(s, v.Metadata.Namespace)
}

var minor = lazyregexp.New(`:v1\.([0-9]{1,3})\.[0-9]+(?:[-.+@].*)?$`)

// ended are the phases of a Restore that Velero does nothing more for (pkg/apis/velero/v1/
// restore_types.go v1.18.3).
var ended = []string{"Completed", "PartiallyFailed", "Failed", "FailedValidation"}

// idle sees that no other Restore is under way, of any Velero: it may restore Clusters that are not
// paused. One that has ended may have left Machines and infrastructure objects without their
// Clusters; Velero then restores none of that name (pkg/restore/restore.go v1.18.3), and whether
// they are gone a person sees.
func (l *looking) idle(s *seen) {
	var running, before []string
	for _, o := range s.of(veleroGroup, "Restore") {
		switch {
		case !slices.Contains(ended, o.Status.Phase):
			running = append(running, o.title())
		case o.Status.Phase != "FailedValidation" && !l.isOfReport(o):
			before = append(before, o.title()+" ("+o.Status.Phase+")")
		}
	}
	if len(before) > 0 {
		l.add(Item{
			Check: "restores", State: Unseen, What: "not looked at: what earlier Restores have left: " + strings.TrimSuffix(about(before), ": "), Why: "Velero leaves what is there as it is, and controllers act on it",
			Next: "see that no object of Cluster API is left of them; then --done restores", Step: l.restore, Objects: before,
		}, "restores")
	}
	switch {
	case len(running) > 0:
		l.add(Item{Check: "restores", State: Missing, What: "another Restore is under way: " + strings.TrimSuffix(about(running), ": "), Why: "it may bring Clusters back that are not paused", Next: "wait until it is done, see what it has made, and look again: " + l.step(l.restore), Step: l.restore, Objects: running})
	case !s.lists["Restore"]:
		l.unseen("restores", "that no other Restore is under way", "no RestoreList was piped in; an empty list of kubectl get does not say of what")
	default:
		l.add(Item{Check: "restores", State: Holds, What: "no other Restore is under way"})
	}
}

// isOfReport reports whether it is a restore of one of several backups of the report, which leaves
// what it has made for the next.
func (l *looking) isOfReport(o *object) bool {
	return len(l.Report.Backups) > 1 && o.Status.Phase == "Completed" && slices.ContainsFunc(l.Report.Backups, func(b report.Backup) bool {
		return b.Velero != nil && b.Velero.Name != "" && b.Velero.Name == o.Spec.Backup
	})
}

// locations sees that one is there, and that no Velero deletes backups from any.
func (l *looking) locations(s *seen, namespace string) {
	var writable []string
	all, available := 0, 0
	for _, o := range s.of(veleroGroup, "BackupStorageLocation") {
		if o.Metadata.Namespace != namespace {
			continue
		}
		all++
		if o.Status.Phase == "Available" && o.Metadata.Deleted == nil {
			available++
		}
		if o.Spec.AccessMode != "ReadOnly" {
			writable = append(writable, o.Metadata.Name)
		}
	}
	item := Item{Check: "location", State: Missing, Next: l.step(l.restore), Step: l.restore}
	switch {
	case all == 0:
		l.unseen("location", "its storage locations", "no BackupStorageLocation of that Velero was piped in")
		return
	case len(writable) > 0:
		item.What, item.Why, item.Objects = "Velero may write to "+strings.TrimSuffix(about(writable), ": "), "it deletes each backup there that has expired", writable
	case available == 0:
		item.What, item.Why = "no storage location of Velero is Available", "it cannot read the backup"
	default:
		item.State, item.What = Holds, english.Count(all, "storage location")+" of Velero, read-only, one at least Available"
	}
	l.add(item)
}

// backups sees that Velero has the Backup of each tarball of the report, and from a location
// that it can read: of its name may be another one.
func (l *looking) backups(s *seen, namespace string) {
	var all []report.VeleroBackup
	locations := map[string]string{} // by Backup
	for _, o := range s.of(veleroGroup, "Backup") {
		if v := (report.VeleroBackup{Name: o.Metadata.Name, UID: o.Metadata.UID, Phase: o.Status.Phase, Started: o.Status.Started, Ended: o.Status.Ended, Items: o.Status.Progress.Items}); o.Metadata.Namespace == namespace && o.Metadata.Deleted == nil {
			all, locations[v.Name] = append(all, v), o.Spec.Location
		}
	}
	phases := map[string]string{} // of locations
	for _, o := range s.of(veleroGroup, "BackupStorageLocation") {
		if o.Metadata.Namespace == namespace {
			phases[o.Metadata.Name] = o.Status.Phase
			if o.Metadata.Deleted != nil {
				phases[o.Metadata.Name] = "being deleted"
			}
		}
	}
	if len(all) == 0 {
		l.unseen("backup", "the Backup of Velero", "no Backup of that Velero was piped in: it creates them from its storage locations within minutes")
		return
	}
	if len(l.Report.Backups) == 0 {
		l.unseen("backup", "which Backup is that of the report", "the report does not say it", "backup")
	}
	for i := range l.Report.Backups {
		b := &l.Report.Backups[i]
		fits, how := b.Best(all)
		names := make([]string, len(fits))
		for k := range fits {
			names[k] = fits[k].Name
		}
		switch {
		case len(fits) == 0:
			l.unseen("backup", "which Backup of Velero is that of the report", fmt.Sprintf("none of %s ran when %s was written, with its name and number of items", english.Count(len(all), "Backup"), name(b.Path)), "backup")
		case len(fits) > 1:
			l.unseen("backup", "which Backup of Velero is that of the report", "several may be that of "+name(b.Path)+": "+strings.TrimSuffix(about(names), ": "), "backup")
		case !fits[0].Restorable():
			l.add(Item{Check: "backup", State: Missing, What: "Velero does not restore Backup " + name(names[0]), Why: "its phase is " + name(fits[0].Phase), Next: "take another backup: " + l.Program + " backups PLACE --compare", Step: l.restore, Objects: names})
		case phases[locations[names[0]]] == "":
			l.unseen("backup", "whether Velero can read Backup "+name(names[0]), "its storage location "+name(locations[names[0]])+" was not piped in, or does not say whether it is Available")
		case phases[locations[names[0]]] != "Available":
			l.add(Item{Check: "backup", State: Missing, What: "Velero can't read Backup " + name(names[0]), Why: "its storage location " + name(locations[names[0]]) + " is not Available", Next: l.step(l.restore), Step: l.restore, Objects: names})
		case how != report.Same:
			l.unseen("backup", "whether Backup "+name(names[0])+" is that of the report", "it ran when "+name(b.Path)+" was written, as that of any cluster with the same schedule; compare: velero backup describe --details", "backup")
		default:
			l.add(Item{Check: "backup", State: Holds, What: "Backup " + name(names[0]) + " of Velero is that of the report, by its name, times and number of items", Objects: names})
		}
	}
}

// modifiers sees that the ConfigMap by which Velero pauses Clusters is that of the plan.
func (l *looking) modifiers(s *seen, namespace string) {
	for _, o := range s.of("", "ConfigMap") {
		if o.Metadata.Namespace != namespace || o.Metadata.Name != report.ModifiersName {
			continue
		}
		if o.Metadata.Deleted != nil {
			l.add(Item{Check: "modifiers", State: Missing, What: "ConfigMap " + report.ModifiersName + " is being deleted", Why: "Velero restores nothing without it", Next: "wait until it is gone, and create the plan's: " + l.step(l.restore), Step: l.restore})
			return
		}
		if report.ArePausing(o.Data) {
			l.add(Item{Check: "modifiers", State: Holds, What: "ConfigMap " + report.ModifiersName + " pauses each Cluster"})
			return
		}
		l.add(Item{Check: "modifiers", State: Missing, What: "ConfigMap " + report.ModifiersName + " is another than the plan's", Why: "Velero would restore Clusters that are not paused", Next: "see who needs it, delete it, and create the plan's: " + l.step(l.restore), Step: l.restore})
		return
	}
	l.unseen("modifiers", "the ConfigMap that pauses Clusters", "no ConfigMap "+report.ModifiersName+" of Velero's namespace was piped in")
}
