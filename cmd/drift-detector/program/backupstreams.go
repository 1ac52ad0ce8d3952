package program

import (
	"cmp"
	"slices"

	"drift-detector/infra/store"
	backupreport "drift-detector/report/backups"
)

// A stream are the backups of a place that follow each other. The uid of Namespace kube-system is
// in none of the files that Velero writes beside the tarballs: velero-backup.json is the Backup
// object, without anything of the cluster but its version (Velero
// pkg/controller/backup_controller.go:prepareBackupRequest v1.18.3).
type stream = backupreport.Stream

// clusterName is a cluster of a prefix, as namespace/name.
type clusterName struct{ root, name string }

// streamOf returns the stream of a backup. Without a description its name tells the schedule.
func (c *choices) streamOf(b *store.Stored) stream {
	s := stream{Root: rootOf(b), Schedule: store.ScheduleIn(b.Name), Cluster: c.managementClusterOf(b)}
	if d := b.Description; d != nil {
		s.Velero, s.Location, s.Schedule = d.Namespace, d.Location, d.Schedule
	}
	return s
}

// managementClusterOf returns what stands for the management cluster of a backup: the first of
// its clusters, and of those that are in a list of objects together with one of them. Two that
// differ are of two management clusters, or hold parts of one. It is "" where no list of the
// backup's objects was read.
func (c *choices) managementClusterOf(b *store.Stored) string {
	contents := c.read[b]
	if contents == nil || len(contents.Clusters) == 0 {
		return ""
	}
	return c.firstOf(clusterName{b.Root, contents.Clusters[0]}).name
}

func (c *choices) firstOf(of clusterName) clusterName {
	at := of
	for {
		up, linked := c.first[at]
		if !linked || up == at.name {
			break
		}
		at.name = up
	}
	for of != at { // the next time it is one step
		up := c.first[of]
		c.first[of] = at.name
		of.name = up
	}
	return at
}

// link notes that clusters were seen together.
func (c *choices) link(root string, clusters []string) {
	for _, name := range clusters {
		a, b := c.firstOf(clusterName{root, clusters[0]}), c.firstOf(clusterName{root, name})
		if a.name > b.name {
			a, b = b, a
		}
		c.first[b] = a.name
	}
}

// dated is a stream, or what has a wrong date of it: by its age nothing is left out.
type dated struct {
	stream
	misdated bool
}

func (c *choices) datedStream(b *store.Stored) dated {
	return dated{c.streamOf(b), c.misdated(b) != ""}
}

// streamed is a stream with its backups, in order.
type streamed struct {
	dated
	backups []*store.Stored
}

// streams sorts backups by stream, in the order of their first.
func (c *choices) streams(some []*store.Stored) []*streamed {
	var all []*streamed
	for _, b := range some {
		s := c.datedStream(b)
		i := slices.IndexFunc(all, func(have *streamed) bool { return have.dated == s })
		if i < 0 {
			i, all = len(all), append(all, &streamed{dated: s})
		}
		all[i].backups = append(all[i].backups, b)
	}
	return all
}

// inOrder puts the newest first, and what has a wrong date last.
func (c *choices) inOrder(a, b *store.Stored) int {
	dated := func(b *store.Stored) int { return min(len(c.misdated(b)), 1) }
	return cmp.Or(dated(a)-dated(b), b.Started().Compare(a.Started()), cmp.Compare(a.Place, b.Place))
}
