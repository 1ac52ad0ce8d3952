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

// asked gathers the steps of a backup. Steps that pass are kept once for each row.
type questions struct {
	objs   *objects
	list   []infra.Step
	passed map[*walk.Row]bool
	pins   map[*place][]string // of the sessions that CAPV has for VMs
}

// steps are those that the backup alone answers, and those of clusters that a listing
// answers.
func (objs *objects) steps(needed []infra.Resource) []infra.Step {
	q := &questions{objs: objs, passed: map[*walk.Row]bool{}}
	for i := range objs.snapshot.Clusters {
		id := objs.snapshot.Clusters[i].ID()
		if c := objs.vsphereCluster(id); c != nil {
			q.askCluster(id, c)
		}
	}
	q.askThings(needed)
	q.askPools()
	q.pins = objs.sessions()
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.machine != nil {
			q.askMachine(m)
		}
	}
	return q.list
}

// note keeps an answer of a cluster.
func (q *questions) note(r *walk.Row, id backup.ClusterID, a walk.Answer) {
	q.keep(walk.Step{Row: r, Cluster: id, Subject: clusterTitle(id), Machine: -1, Answer: a})
}

// noteMachine keeps an answer of a machine.
func (q *questions) noteMachine(r *walk.Row, m *member, a walk.Answer) {
	if a.Found == "" || a.Found == walk.Passed && q.passed[r] {
		return
	}
	q.keep(walk.Step{Row: r, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index, Answer: a})
}

func (q *questions) keep(s walk.Step) {
	switch {
	case s.Found == "" || s.Found == walk.Passed && q.passed[s.Row]:
		return
	case s.Found == walk.Passed:
		q.passed[s.Row] = true
	}
	q.list = append(q.list, infra.Step{Step: s})
}

// look keeps a step of a cluster that a listing answers.
func (q *questions) look(r *walk.Row, id backup.ClusterID, look func(*infra.Inventory) walk.Answer) {
	q.list = append(q.list, infra.Step{Step: walk.Step{Row: r, Cluster: id, Subject: clusterTitle(id), Machine: -1}, Look: look})
}

func clusterTitle(id backup.ClusterID) string {
	return fmt.Sprintf("Cluster %s/%s", id.Namespace, id.Name)
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
