package backups

import (
	"fmt"

	"drift-detector/internal/english"
	"drift-detector/report"
)

// clusterState is one cluster in one backup.
type clusterState struct {
	counts report.MachineCounts
	runs   bool // something of it was seen: a VM, a Node or an instance of a pool
	// unplaced are VMs that with another backup are the cluster's, and with this one
	// nobody's: a backup that lacks machines knows of no Ghost, either.
	unplaced int
	broken   bool // an error in the backup itself keeps it from working
}

// mayRun reports whether it is not known that all of the cluster is gone.
func (s clusterState) mayRun() bool { return s.runs || s.counts.Unknown > 0 }

func stateOf(k *report.Cluster) clusterState {
	s := clusterState{counts: k.Counts, runs: k.Counts.Healthy+k.Counts.Ghost+k.Nodes.Count > 0}
	for i := range k.Workers.Groups {
		if p := k.Workers.Groups[i].Pool; p != nil && len(p.Now) > 0 {
			s.runs = true
		}
	}
	return s
}

// cluster returns a cluster of the backup; nil when it has none of the name.
func (c *Compared) cluster(name string) *clusterState {
	if s, ok := c.clusters[name]; ok {
		return &s
	}
	return nil
}

// betterThan reports whether a restore of the cluster leaves less to do. A cluster that
// is gone is in no backup better than in none.
func (s *clusterState) betterThan(o *clusterState) bool {
	switch {
	case s == nil || !s.mayRun():
		return false
	case o == nil:
		return true
	}
	if s.broken != o.broken {
		return o.broken
	}
	for _, pair := range [][2]int{
		{s.counts.Unknown + s.unplaced, o.counts.Unknown + o.unplaced},
		{s.counts.Ghost, o.counts.Ghost},
		{s.counts.Stale, o.counts.Stale},
	} {
		if pair[0] != pair[1] {
			return pair[0] < pair[1]
		}
	}
	return false
}

func (s *clusterState) text() string {
	if s == nil {
		return "nothing of it"
	}
	if s.broken {
		return "an error that keeps it from working"
	}
	text := fmt.Sprintf("%d Ghost, %d Stale and %d Unknown of %s", s.counts.Ghost, s.counts.Stale, s.counts.Unknown, english.Count(s.counts.Total, "machine"))
	if s.unplaced > 0 {
		text += fmt.Sprintf(" (%d running, but not in it)", s.unplaced)
	}
	return text
}
