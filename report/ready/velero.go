package ready

import (
	"fmt"
	"slices"
	"strings"

	"drift-detector/internal/english"
	"drift-detector/report"
)

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
		if report.ArePausing(o.Data) {
			l.add(Item{Check: "modifiers", State: Holds, What: "ConfigMap " + report.ModifiersName + " pauses each Cluster"})
			return
		}
		l.add(Item{Check: "modifiers", State: Missing, What: "ConfigMap " + report.ModifiersName + " is another than the plan's", Why: "Velero would restore Clusters that are not paused", Next: "see who needs it, delete it, and create the plan's: " + l.step(l.restore), Step: l.restore})
		return
	}
	l.unseen("modifiers", "the ConfigMap that pauses Clusters", "no ConfigMap "+report.ModifiersName+" of Velero's namespace was piped in")
}

// providerLabel is on all that a provider's manifests have, however they were installed (Cluster
// API core/config/default/kustomization.yaml v1.14.2).
const providerLabel = "cluster.x-k8s.io/provider"

// controllers sees that those of Cluster API and of the infrastructure run: their webhooks are
// asked about each object that Velero creates, and where nobody answers it creates none.
func (l *looking) controllers(s *seen) {
	var stopped, lacking []string
	hooked, there := map[string]bool{}, map[string]bool{}
	for i := range s.objects {
		if o := &s.objects[i]; o.is("admissionregistration.k8s.io", "MutatingWebhookConfiguration") || o.is("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") {
			hooked[o.Metadata.Labels[providerLabel]] = true
		}
	}
	asked := false
	for _, o := range s.of("apps", "Deployment") {
		of := o.Metadata.Labels[providerLabel]
		if of == "" {
			continue
		}
		there[of] = true
		if o.Status.AvailableReplicas < 1 {
			stopped = append(stopped, o.title())
			asked = asked || hooked[of]
		}
	}
	for _, of := range l.providers() {
		if !there[of] && !slices.Contains(lacking, of) {
			lacking = append(lacking, of)
		}
	}
	const why = "where their webhooks are there and nobody answers, Velero can restore no Cluster, Machine or infrastructure machine"
	if len(stopped) > 0 {
		what := strings.TrimSuffix(about(stopped), ": ")
		if asked {
			l.add(Item{Check: "controllers", State: Missing, What: "no replica runs of " + what, Why: why, Next: "start them, or delete their webhook configurations: " + l.step(l.restore), Step: l.restore, Objects: stopped})
		} else {
			l.unseen("controllers", "whether the webhooks are gone of "+what+": no replica runs", why, "controllers")
		}
	}
	if len(lacking) > 0 {
		l.unseen("controllers", "that the controllers run of "+strings.TrimSuffix(about(lacking), ": "), "no Deployment with the label "+providerLabel+" of them was piped in", "controllers")
	}
	if len(stopped)+len(lacking) == 0 {
		l.add(Item{Check: "controllers", State: Holds, What: english.Count(len(there), "provider") + " with controllers that run"})
	}
}

// providers are the labels of those that the clusters of the report need.
func (l *looking) providers() []string {
	out := []string{"cluster-api"}
	for i := range l.Report.Clusters {
		c := &l.Report.Clusters[i]
		if c.Provider != "" && !c.Self {
			out = append(out, "infrastructure-"+c.Provider)
		}
		if c.ControlPlane.Kind == "KubeadmControlPlane" && !c.Self {
			out = append(out, "bootstrap-kubeadm", "control-plane-kubeadm")
		}
	}
	return out
}

// namespaces sees that none is being deleted: in those nothing can be created. A list without
// the namespaces that every cluster has is not whole.
func (l *looking) namespaces(s *seen) {
	var ending []string
	whole := map[string]bool{}
	for _, o := range s.of("", "Namespace") {
		whole[o.Metadata.Name] = true
		if o.Metadata.Deleted != nil || o.Status.Phase == "Terminating" {
			ending = append(ending, o.Metadata.Name)
		}
	}
	own := slices.DeleteFunc(slices.Clone(ending), func(n string) bool {
		return !slices.ContainsFunc(l.Report.Clusters, func(c report.Cluster) bool { return c.Namespace == n })
	})
	const why = "Velero can create nothing in a namespace that is being deleted"
	switch {
	case len(own) > 0:
		l.add(Item{Check: "namespaces", State: Missing, What: "Terminating: " + strings.TrimSuffix(about(own), ": "), Why: why, Next: "wait until it is gone, or see what keeps it, and look again", Objects: own, Step: l.restore})
	case !whole["default"] || !whole["kube-system"]:
		l.unseen("namespaces", "that no namespace is being deleted", "no whole list of namespaces was piped in")
	case len(ending) > 0:
		l.unseen("namespaces", "whether the backup has the Terminating "+strings.TrimSuffix(about(ending), ": "), why, "namespaces")
	default:
		l.add(Item{Check: "namespaces", State: Holds, What: "no namespace is being deleted"})
	}
}
