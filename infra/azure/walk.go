package azure

import (
	"slices"

	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// walked are what the controllers of CAPZ and Azure Service Operator (ASO) ask after a restore,
// in the order in which they do; Velero asks first.
var walked = slices.Concat(restoreRows, sessionRows, asoRows, servedRows, clusterRows, networkRows, machineRows, poolRows, setRows, tagRows, planeRows)

func walkRows() []walk.Row {
	all := make([]walk.Row, len(walked))
	for i, r := range walked {
		all[i] = *r
	}
	return all
}

// steps returns those that the backup alone does not pass, and those that a listing answers.
func (objs *objects) steps() []infra.Step {
	q := &questions{objs: objs}
	refused := objs.refused()
	for _, id := range objs.order() {
		l := objs.locations[id]
		q.askRefused(id, refused[id])
		q.askManaged(id, l)
		q.askSession(id, l)
		if l.record == nil || l.kind != clusterKind {
			continue
		}
		q.askWritten(id, l)
		if !objs.leftAlone(id, l) {
			q.askASO(id, l)
			q.askBalancer(id, l)
			q.askNetwork(id, l)
		}
	}
	for i := range objs.pools {
		q.askPool(&objs.pools[i])
	}
	q.askServed()
	q.askSizes()
	for i := range objs.members {
		q.askMember(&objs.members[i])
	}
	return q.Steps
}
