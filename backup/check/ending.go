package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
)

// Ending is how the making of a backup ended, by its phase.
type Ending string

// The endings. Velero stores the tarball together with the first description; in the phases of
// Unfinished only what asynchronous operations change, of volumes, is still to be added
// (backup_controller.go:runBackup, backup_finalizer_controller.go v1.18.3).
const (
	Ended      Ending = "ended"      // Velero offers it for restores
	Unfinished Ending = "unfinished" // Velero does not, and the tarball has all objects
	Deleting   Ending = "deleting"
	Failed     Ending = "failed"
	Running    Ending = "running" // or of a phase that is not known
)

// Ending returns how the backup ended.
func (o *Outline) Ending() Ending {
	switch o.Phase {
	case velerov1.BackupPhaseCompleted, velerov1.BackupPhasePartiallyFailed:
		return Ended
	case velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseFinalizingPartiallyFailed,
		velerov1.BackupPhaseWaitingForPluginOperations, velerov1.BackupPhaseWaitingForPluginOperationsPartiallyFailed:
		return Unfinished
	case velerov1.BackupPhaseDeleting:
		return Deleting
	case velerov1.BackupPhaseFailed, velerov1.BackupPhaseFailedValidation:
		return Failed
	}
	return Running
}

// IsWhole reports whether the phase says that all objects were taken up without an error. Of
// another backup [VeleroBackup.Says] is to be given what the files beside the tarball say.
func (o *Outline) IsWhole() bool {
	switch o.Phase {
	case velerov1.BackupPhaseCompleted, velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseWaitingForPluginOperations, velerov1.BackupPhaseDeleting:
		return o.Errors == 0
	}
	return false
}

// ending returns the findings on how the making of a backup ended. What it lacks decides, not its
// phase: Velero counts an error of a hook and of a volume, too.
func (e *examination) ending(i int, v *VeleroBackup) []Finding {
	what := e.tarball(i)
	says := fmt.Sprintf("phase of backup %s is %s, with %s and %s", v.Name, cmp.Or(v.Phase, "not recorded"), count(v.Errors, "error"), count(v.Warnings, "warning"))
	var found []Finding
	switch v.Ending() {
	case Unfinished, Deleting:
		found = append(found, ruleUnfinished.On(i, what, "phase of backup %s is %s: Velero does not offer it", v.Name, v.Phase))
	case Failed, Running:
		if v.Phase != "" {
			return append(found, ruleIncomplete.On(i, what, "%s", says))
		}
	}
	switch {
	case !v.IsWhole():
		found = append(found, e.errors(i, v, says))
	case v.Warnings > 0:
		found = append(found, ruleWarned.On(i, what, "backup %s completed with %s", v.Name, count(v.Warnings, "warning")))
	}
	return found
}

// errors returns the finding on the errors of a backup: whether they are about what a cluster needs.
func (e *examination) errors(i int, v *VeleroBackup, says string) Finding {
	what := e.tarball(i)
	r := v.Results
	if r == nil {
		r = &Results{Unread: v.Name + ResultsSuffix + ", which says what they are about, is not beside the description"}
	}
	in := e.namespacesOf(i, v)
	var gone, unclear []string
	near := map[string]bool{} // namespaces of what is lost
	for _, f := range r.Faults {
		switch of, about := e.concern(i, v, f.about, in); of {
		case lost:
			gone = append(gone, about)
			for k := range f.about {
				near[f.about[k].namespace] = true
			}
		case undecided:
			unclear = append(unclear, f.Message)
		}
	}
	slices.Sort(gone)
	if gone = slices.Compact(gone); len(gone) > 0 {
		f := ruleIncomplete.On(i, what, "%s; lost: %s", says, some(gone))
		for k := range e.Clusters {
			if c := &e.Clusters[k]; c.Backup == i && near[c.Namespace] && !near[""] {
				f = f.Of(c.ID())
			}
		}
		return f
	}
	switch {
	case r.Unread != "":
		return RuleUnattributed.On(i, what, "%s: %s", says, r.Unread)
	case len(unclear) > 0:
		return RuleUnattributed.On(i, what, "%s: %d of them, first %q", says, len(unclear), unclear[0])
	case v.Errors > len(r.Faults), len(r.Faults) == 0:
		return RuleUnattributed.On(i, what, "%s: of %d of them no file beside the tarball says what they are about", says, max(v.Errors-len(r.Faults), 0))
	}
	return ruleElsewhere.On(i, what, "%s: all are about other objects, first %q", says, r.Faults[0].Message)
}

// namespacesOf returns those in which a backup has, or should have, objects of Cluster API.
func (e *examination) namespacesOf(i int, v *VeleroBackup) map[string]bool {
	in := map[string]bool{}
	for k := range e.Clusters {
		if c := &e.Clusters[k]; c.Backup == i {
			in[c.Namespace] = true
		}
	}
	for k := range e.Machines {
		if m := &e.Machines[k]; m.Backup == i {
			in[m.Namespace] = true
		}
	}
	if v.Contents != nil {
		for _, namespace := range v.Contents.Namespaces {
			in[namespace] = true
		}
	}
	return in
}

// A concern is what an error means for the clusters.
const (
	elsewhere = iota // it is about what no cluster needs
	undecided        // it may be about what one needs
	lost
)

// concern returns the worst that one of the objects would mean that an error may be about, and
// how to call that object. in are the namespaces of clusters.
func (e *examination) concern(n int, v *VeleroBackup, about []item, in map[string]bool) (of int, object string) {
	if len(about) == 0 {
		return undecided, ""
	}
	for _, i := range about {
		is := i.concern(in)
		if i.data() != "" {
			is = e.loss(n, v, &i, in)
		}
		if is > of {
			of, object = is, i.text()
		}
	}
	return of, object
}

func (i *item) text() string {
	kind := cmp.Or(i.kind, i.resource)
	switch {
	case i.name == "":
		return "every object of " + kind
	case i.namespace == "":
		return kind + " " + i.name
	}
	return kind + " " + i.namespace + "/" + i.name
}

// ownKinds are cluster-scoped kinds of Kubernetes and Velero on which no controller of a cluster
// depends after a restore.
var ownKinds = []string{
	"persistentvolume", "persistentvolumes", "storageclass", "storageclasses", "volumesnapshotcontent", "volumesnapshotcontents",
	"volumesnapshotclass", "volumesnapshotclasses", "node", "nodes", "csinode", "csinodes", "volumeattachment", "volumeattachments",
}

// concern returns what it means that an object failed that is no Secret or ConfigMap. In a namespace
// of clusters it may be of use: a control plane may run there. The kinds of Cluster API come with
// its controllers.
func (i *item) concern(in map[string]bool) int {
	kind := strings.ToLower(cmp.Or(i.kind, i.resource))
	switch {
	case ofClusters(i.group):
		return lost
	case strings.HasPrefix(kind, "customresourcedefinition") && ofClusters(afterDot(i.name)):
		return undecided
	case slices.Contains(ownKinds, kind):
		return elsewhere
	case in[i.namespace], i.name == "":
		return undecided
	case kind == "" && controllersIn.MatchString(i.namespace):
		return undecided
	case i.namespace != "":
		return elsewhere
	}
	return undecided
}
