package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"drift-detector/backup"
	"drift-detector/internal/sorting"
	"drift-detector/report/code"
)

// Finding is one thing that is to be known before the backup is restored.
type Finding struct {
	Severity code.Severity
	Code     code.Reason // what kind of finding it is, one word: "ClusterNotPaused"
	Backup   int         // index into Snapshot.Backups
	Object   string      // what it is about, "Cluster tenant-alpha/alpha-prod"
	Message  string      // what was found
	Brief    string      // the message without what And added
	Mended   bool        // nothing is left of it once the plan's step about it is done
	Why      string      // why it matters at the restore
	Do       string      // what to do
	// What the rule says instead of a management cluster that runs; empty: the same.
	liveWhy, liveDo string
	// Clusters are those that it concerns, in order; none: the backup as a whole.
	Clusters []backup.ClusterID
	// Absent is set when Object is not in the backup: a filter of Velero may
	// explain that.
	Absent Absent
}

// Absent is where an absent object would lie in the backup.
type Absent struct {
	Resource  string // as in the paths of a backup; empty when nothing is absent
	Namespace string // empty for cluster-scoped objects
}

// Rule is one kind of finding: all that does not depend on the object.
type Rule code.Row

// On returns the rule's finding on an object; the message is formatted.
func (r Rule) On(backup int, object, format string, args ...any) Finding {
	message := fmt.Sprintf(format, args...)
	return Finding{
		Severity: r.Severity, Code: r.Code, Mended: r.Mended, Backup: backup, Object: object,
		Message: message, Brief: message, Why: r.Why, Do: r.Do, liveWhy: r.LiveWhy, liveDo: r.LiveDo,
	}
}

// And adds to the message what is not needed where room is short.
func (f Finding) And(more string) Finding {
	f.Message += "; " + more
	return f
}

// Of says which clusters the finding concerns.
func (f Finding) Of(clusters ...backup.ClusterID) Finding {
	f.Clusters = append(slices.Clone(f.Clusters), clusters...)
	sorting.By(f.Clusters, compareClusters)
	f.Clusters = slices.Compact(f.Clusters)
	return f
}

func compareClusters(a, b backup.ClusterID) int {
	return cmp.Or(cmp.Compare(a.Backup, b.Backup), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// At says that the object of the finding is what the backup lacks.
func (f Finding) At(resource, namespace string) Finding {
	f.Absent = Absent{resource, namespace}
	return f
}

// Options are what Check depends on beside the backup.
type Options struct {
	Now time.Time // the clock
	// MaxAge is after how long a backup is old; zero is 26 hours, a day with room.
	MaxAge time.Duration
	// Velero is what Velero says about each backup, in the order of
	// Snapshot.Backups; nil where that is not known.
	Velero []*VeleroBackup
	// Unread says, in the same order, why Velero's description of a backup can't be read, which
	// then is nil in Velero; empty for others.
	Unread []string
	// Newer is the newest backup of the same store that can be restored and is younger,
	// for each backup; nil where there is none, or none is known.
	Newer []*NewerBackup
	// Absent is what providers miss, beside Snapshot.Absent.
	Absent []backup.Absence
	// Findings are those of providers, to be listed with the others.
	Findings []Finding
	// Controllers say what the infrastructure controller of a cluster does, where
	// one is known.
	Controllers map[backup.ClusterID]Controller
	// Only leaves out what concerns none of the clusters for which it is true. What
	// concerns the backup as a whole stays. Nil leaves out nothing.
	Only func(backup.ClusterID) bool
}

// Controller is an infrastructure controller in the words of findings.
type Controller struct {
	Name  string // "CAPV"
	Makes string // how it makes a machine: "clones a VM"
}

// checks are all there are. Each is independent of the others.
var checks = []func(*examination) []Finding{
	absentObjects, ownersAbsent, machinesMissing,
	pausing, hosts, clustersLeftOut, certificates, secretsAbsent, classes,
	provisioning, healthChecks, overlaps,
	versions, ages, newer, windows, unreadable, descriptions, filtered,
}

// ofVelero are findings that are of its restores alone: clusterctl pauses each Cluster until all is
// there, and names the owner of each object again, so that no other adopts it.
var ofVelero = map[code.Reason]bool{ruleNotPaused.Code: true, ruleOverlap.Code: true, ruleUndescribed.Code: true}

// ofBackup are findings about a backup that was taken, when, and what Velero says of that: of a
// management cluster that runs there is none.
var ofBackup = []code.Reason{
	ruleAge.Code, ruleOld.Code, RuleNewer.Code, ruleFuture.Code, ruleUndated.Code, ruleWindow.Code,
	ruleUndescribed.Code, ruleOther.Code, ruleIncomplete.Code, ruleElsewhere.Code, ruleUnfinished.Code, RuleUnattributed.Code, ruleWarned.Code, ruleExpired.Code,
}

// Check lists what is to be known before the backups are restored: by severity,
// worst first, then by code, backup and object. The Snapshot and the Secrets
// must have been loaded with [Want].
func Check(s *backup.Snapshot, secrets *backup.Secrets, o Options) []Finding {
	e := examine(s, secrets, o)
	found := [][]Finding{o.Findings}
	for _, find := range checks {
		found = append(found, find(e))
	}
	all := slices.Concat(found...)
	if s.Moved(0) {
		all = slices.DeleteFunc(all, func(f Finding) bool { return ofVelero[f.Code] })
	}
	if s.Subject() == code.ManagementCluster {
		all = slices.DeleteFunc(all, func(f Finding) bool { return slices.Contains(ofBackup, f.Code) })
		for i := range all {
			f := &all[i]
			f.Why, f.Do = cmp.Or(f.liveWhy, f.Why), cmp.Or(f.liveDo, f.Do)
		}
	}
	all = slices.DeleteFunc(all, e.foldedSecret)
	all = slices.DeleteFunc(all, e.unsure)
	all = narrow(all, o.Only)
	for i := range all {
		e.explain(&all[i])
	}
	sorting.By(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(code.Severities(), a.Severity), slices.Index(code.Severities(), b.Severity)),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Backup, b.Backup),
			strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(all, func(a, b Finding) bool {
		return a.Severity == b.Severity && a.Code == b.Code && a.Backup == b.Backup && a.Object == b.Object && a.Message == b.Message
	})
}

// narrow keeps what concerns a cluster that is asked for, or the backup as a whole,
// and of the clusters those that are asked for.
func narrow(all []Finding, only func(backup.ClusterID) bool) []Finding {
	if only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(f Finding) bool {
		return len(f.Clusters) > 0 && !slices.ContainsFunc(f.Clusters, only)
	})
}

// name returns how findings call an object.
func name(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
