package verify

import (
	"fmt"

	"drift-detector/internal/english"
	"drift-detector/report"
	"drift-detector/report/code"
)

// Pool is what became of the members that a pool had when the report was made, which the
// infrastructure makes and terminates, so that not one of them has an outcome of its own.
type Pool struct {
	Alive    int `json:"alive"`    // when the report was made
	Foretold int `json:"foretold"` // of them, how many are to be terminated
	Gone     int `json:"gone"`     // of them, how many are not listed any more
}

// judgePool counts the members that are gone. Nothing is said where the report could not look the
// pool up, or where the place of a member was not listed whole now.
func (w *world) judgePool(c *report.Cluster, g *group) (*Pool, Verdict) {
	if g.members == nil || g.members.State != code.Present || g.replicas == nil {
		return nil, As
	}
	out := &Pool{Alive: len(g.members.Now), Foretold: g.replicas.Deleted}
	for _, id := range g.members.Now {
		if w.get(report.InstanceID(id)).instances == nil {
			out.Gone++
		}
	}
	switch at := w.get(c.Namespace, c.Name).cluster; {
	case !w.complete(c.Provider, nil):
		return nil, NotJudged
	case out.Gone > out.Foretold:
		return out, Not
	case out.Gone < out.Foretold && (at == nil || !at.Paused) && !w.seen.ByPlan: // by the plan it is given its size
		return out, NotYet
	}
	return out, As
}

// says returns what of the group itself is not as foretold, or awaited.
func (g *GroupVerdict) says() string {
	title := fmt.Sprintf("%s/%s: %s %s ", g.Namespace, g.Cluster, g.Kind, g.Name)
	if p := g.Pool; p != nil {
		return title + fmt.Sprintf("has lost %d of %s; foretold: %d", p.Gone, english.Count(p.Alive, "member"), p.Foretold)
	}
	return title + fmt.Sprintf("has %s; foretold: %d", english.Count(g.Seen, "Machine"), *g.Foretold)
}
