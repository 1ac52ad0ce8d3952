package azure

import (
	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// questions are those of a backup.
type questions struct {
	infra.Questions
	objs *objects
}

// look keeps a step of a subject that a listing of the cluster's place answers. Where that was
// not listed, others say so.
func (q *questions) look(s walk.Step, look func(*infra.Lookup) walk.Answer) {
	target := q.objs.locations[s.Cluster].target
	q.Steps = append(q.Steps, infra.Step{Step: s, Look: func(inv *infra.Inventory) walk.Answer {
		l := inv.Named(target)
		if l == nil || l.State == code.ScopeFailed {
			return walk.Answer{}
		}
		return look(inv.Lookup(l))
	}})
}

// of returns a step of no single machine.
func of(r *walk.Row, id backup.ClusterID, subject string) walk.Step {
	return walk.Step{Row: r, Cluster: id, Subject: subject, Machine: -1}
}

// pass is the answer to a question that passes.
var pass = walk.Answer{Found: walk.Passed}

func answer(found walk.Found, object, why, until string) walk.Answer {
	return walk.Answer{Found: found, Why: why, Until: object + " " + until, Objects: []string{object}}
}

func unseen(objects ...string) walk.Answer {
	return walk.Answer{Found: walk.Unseen, Objects: objects}
}

// resourceKey returns the probe of something beside VMs.
func resourceKey(id string) infra.Key { return infra.Key{Kind: KeyResource, Value: id} }

// noteUnseen notes what nobody sees of a cluster, where it has any of it.
func (q *questions) noteUnseen(r *walk.Row, id backup.ClusterID, has bool) {
	if has {
		q.Note(r, id, unseen(infra.ClusterTitle(id)))
	} else {
		q.Note(r, id, pass)
	}
}

// leftAlone reports whether CAPZ does nothing for the AzureCluster of a cluster: it is paused, or
// something else manages it.
func (objs *objects) leftAlone(id backup.ClusterID, l *location) bool {
	c := objs.known[id]
	return l.record.Paused || c != nil && c.LeftAlone != ""
}
