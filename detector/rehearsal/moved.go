package rehearsal

import (
	"fmt"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// What 'clusterctl move --from-directory' restores comes back with its owners and
// without status, Clusters first and paused; at its end it unpauses all Clusters and
// ClusterClasses (fromDirectory, restoreTargetObject, buildOwnerChain in
// cmd/clusterctl/client/cluster/mover.go v1.13.4). What exists already it leaves as it is.

// moved reports whether the restore is clusterctl's.
func (w *world) moved() bool { return w.in.Snapshot.Moved(0) }

// pausedObject returns the first object of a machine that is paused by itself; empty where none is.
func (f *machine) pausedObject() string {
	switch {
	case f.Machine == nil:
	case f.Machine.Paused:
		return f.title()
	case f.restore != nil:
		return f.restore.Paused
	}
	return ""
}

// byClusterctl returns what to know of such a restore.
func (w *world) byClusterctl() []report.Note {
	out := []report.Note{{Code: code.RestoredByClusterctl, Message: "Restored by 'clusterctl move --from-directory': all objects get their owners back and lose their status, Clusters come first and paused, and all of them are unpaused at once at its end: no one of them can be kept back"}}
	if all := w.in.Snapshot.Revived; len(all) > 0 {
		out = append(out, report.Note{Code: code.DeletionForgotten, Objects: all, Message: fmt.Sprintf("%s being deleted when the folder was written, and %s back as if nothing were; Machines count as replicas. Delete again after the restore what is still to go: %s",
			plural(len(all), "object was", "objects were"), verb(len(all), "comes", "come"), english.First(10, all))})
	}
	return out
}

// movedWhole is the order that the forecast of such a restore assumes.
const movedWhole = "clusterctl restores the folder to its end, without an error, into a management cluster that holds none of these objects, with the webhooks of all providers answering: it skips what exists, and stops half-way at what is refused, with all Clusters paused"
