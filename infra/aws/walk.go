package aws

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// walked are what CAPA's controllers ask after a restore, in the order in which they do.
var walked = slices.Concat([]*walk.Row{rowW1}, sessionRows, networkRows, groupRows, balancerRows, machineRows, poolRows, planeRows, eksRows, nodegroupRows, []*walk.Row{rowW3})

func walkRows() []walk.Row {
	all := make([]walk.Row, len(walked))
	for i, r := range walked {
		all[i] = *r
	}
	return all
}

// conditionAsked is the condition of what an inventory does not say, because it was saved
// before it was asked for.
const conditionAsked = code.InfrastructureUnasked

// questions are those of a backup.
type questions struct {
	infra.Questions
	objs        *objects
	untemplated map[backup.ClusterID]*backup.Group
	releases    map[int]*version.Version // of CAPA, by backup; nil where it is not known
}

// steps returns those that the backup alone answers, and those that a listing answers.
func (objs *objects) steps() []infra.Step {
	q := &questions{objs: objs, untemplated: objs.untemplated(), releases: releases(objs.snapshot)}
	q.askROSA()
	q.askTemplates()
	for _, id := range objs.order() {
		s := objs.locations[id]
		q.askSession(id, s)
		if s.record == nil {
			continue
		}
		q.askCreated(id, s)
		q.askNetwork(id, s)
		q.askGroups(id, s)
		if s.kind == planeKind {
			q.askPlane(id, s)
			q.askEKS(id, s)
		} else {
			q.askBalancers(id, s)
		}
	}
	for i := range objs.pools {
		q.askPool(&objs.pools[i])
	}
	for _, f := range objs.fargateProfiles() {
		q.askProfile(f)
	}
	for i := range objs.members {
		if m := &objs.members[i]; m.index >= 0 && m.machine != nil {
			q.askMachine(m)
		}
	}
	return q.Steps
}

// look keeps a step of a subject that a listing of the cluster's place answers.
func (q *questions) look(r *walk.Row, id backup.ClusterID, subject string, look func(*place) walk.Answer) {
	target := q.objs.locations[id].target
	q.Look(r, id, subject, func(inv *infra.Inventory) walk.Answer {
		l := inv.Named(target)
		if l == nil || l.State == code.ScopeFailed {
			return walk.Answer{} // that it was not listed says it
		}
		return look(&place{inv.Lookup(l)})
	})
}

// title names the object that says where the cluster is.
func (s *clusterLocation) title() string {
	return fmt.Sprintf("%s %s/%s", s.kind, s.record.Namespace, s.record.Name)
}

// pass is the answer to a question that passes.
var pass = walk.Answer{Found: walk.Passed}

func answer(found walk.Found, object, why, until string) walk.Answer {
	return walk.Answer{Found: found, Why: why, Until: object + " " + until, Objects: []string{object}}
}

// place is a listing that answers questions.
type place struct{ *infra.Lookup }

// read returns a Fact, which is JSON. Where there is none, the answer says why, if it was
// to be read: it was refused, or the inventory does not say. kind is the name of all Facts
// of its kind in Listing.FactsUnread, and of the Fact that says that they were read.
func read[T any](p *place, kind, name, object string) (of T, there bool, open walk.Answer) {
	if text, seen := p.Fact(kind + ":" + name); seen && json.Unmarshal([]byte(text), &of) == nil {
		return of, true, walk.Answer{}
	}
	if why, unread := p.FactsUnread.Get(kind); unread {
		return of, false, walk.Answer{Found: walk.Unread, Why: object + ": " + why, Objects: []string{object}}
	}
	if text, _ := p.Fact(kind); text == "" {
		return of, false, walk.Answer{Found: walk.Unseen, Objects: []string{object}}
	}
	return of, false, walk.Answer{}
}
