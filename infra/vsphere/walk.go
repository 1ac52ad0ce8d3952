package vsphere

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// walked are what CAPV's controllers ask after a restore, in the order in which they do.
var walked = slices.Concat(identityRows, clusterRows, machineRows, vmRows, foundRows, cloneRows)

func walkRows() []walk.Row {
	all := make([]walk.Row, len(walked))
	for i, r := range walked {
		all[i] = *r
	}
	return all
}

// questions are those of a backup.
type questions struct {
	infra.Questions
	objs *objects
}

// steps returns those that the backup alone answers, and those of clusters that a listing
// answers.
func (objs *objects) steps(needed []infra.Resource) []infra.Step {
	q := &questions{objs: objs, Questions: infra.Questions{Steps: make([]infra.Step, 0, 2*len(objs.snapshot.Clusters)+len(walked))}} // most clusters have two, and a row that passes has one
	for i := range objs.snapshot.Clusters {
		id := objs.snapshot.Clusters[i].ID()
		if c := objs.vsphereCluster(id); c != nil {
			q.askCluster(id, c)
		}
	}
	q.askTags()
	q.askThings(needed)
	q.askPools()
	objs.sessions()
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.machine != nil {
			q.askMachine(m)
		}
	}
	return q.Steps
}

// note keeps an answer of a cluster.
func (q *questions) note(r *walk.Row, id backup.ClusterID, a walk.Answer) { q.Note(r, id, a) }

// noteMachine keeps an answer of a machine.
func (q *questions) noteMachine(r *walk.Row, m *member, a walk.Answer) {
	if q.Keeps(r, a) {
		q.Steps = append(q.Steps, infra.Step{Step: walk.Step{Row: r, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index, Answer: a}})
	}
}

// look keeps a step of a cluster that a listing answers.
func (q *questions) look(r *walk.Row, id backup.ClusterID, look func(*infra.Inventory) walk.Answer) {
	q.Look(r, id, clusterTitle(id), look)
}

func clusterTitle(id backup.ClusterID) string {
	return infra.ClusterTitle(id)
}

func (objs *objects) titleOf(m *member) string {
	machine := &objs.snapshot.Machines[m.index]
	return fmt.Sprintf("Machine %s/%s", machine.Namespace, machine.Name)
}

// pass is the answer to a question that passes.
var pass = walk.Answer{Found: walk.Passed}

func answer(found walk.Found, object, why, until string) walk.Answer {
	return walk.Answer{Found: found, Why: why, Until: object + " " + until, Objects: []string{object}}
}
