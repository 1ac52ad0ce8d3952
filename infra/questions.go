package infra

import (
	"drift-detector/backup"
	"drift-detector/infra/walk"
)

// Questions gathers the steps that a provider asks of a backup. Of the steps of a row that
// pass only the first is kept. The zero value has none.
type Questions struct {
	Steps  []Step
	passed map[*walk.Row]bool
}

// Keeps reports whether an answer is worth keeping: one that was given, unless the row has passed
// before as it does now.
func (q *Questions) Keeps(r *walk.Row, a walk.Answer) bool {
	switch {
	case a.Found == "" || a.Found == walk.Passed && q.passed[r]:
		return false
	case a.Found == walk.Passed:
		if q.passed == nil {
			q.passed = map[*walk.Row]bool{}
		}
		q.passed[r] = true
	}
	return true
}

// Keep keeps a step that the backup answers.
func (q *Questions) Keep(s walk.Step) {
	if q.Keeps(s.Row, s.Answer) {
		q.Steps = append(q.Steps, Step{Step: s})
	}
}

// Note keeps an answer of a cluster.
func (q *Questions) Note(r *walk.Row, id backup.ClusterID, a walk.Answer) {
	if q.Keeps(r, a) {
		q.Steps = append(q.Steps, Step{Step: walk.Step{Row: r, Cluster: id, Subject: ClusterTitle(id), Machine: -1, Answer: a}})
	}
}

// Look keeps a step that look answers once all is listed.
func (q *Questions) Look(r *walk.Row, id backup.ClusterID, subject string, look func(*Inventory) walk.Answer) {
	q.Steps = append(q.Steps, Step{Step: walk.Step{Row: r, Cluster: id, Subject: subject, Machine: -1}, Look: look})
}

// ClusterTitle names a cluster: "Cluster tenant/prod".
func ClusterTitle(id backup.ClusterID) string {
	return "Cluster " + id.Namespace + "/" + id.Name
}
