package openstack

import (
	"fmt"
	"slices"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// The row of tags. Those of networks, subnets, routers and floating IPs CAPO sets as it creates them, and never
// again.
var rowC18d = &walk.Row{
	ID: "openstack.C18d", Of: clusterKind,
	Asks:      "the tags of the security groups that it created, which are to be those of spec.tags; and from release 0.12 on those of the ports of machines that are to have any, and of their trunks",
	None:      walk.Halts.Says("gophercloud refuses to take the last tag away (Missing input for argument [Tags]), and CAPO never calls the cluster ready"),
	Differs:   walk.Does{Effect: walk.Writes, Code: code.ChangesUndone, What: "CAPO replaces all tags by those of spec"},
	Condition: code.InfrastructureUnasked,
	Source:    "ReconcileSecurityGroups: pkg/cloud/services/networking/securitygroups.go v0.10.0 to v0.15.0-beta.0; ensurePortTagsAndTrunk: port.go v0.12.0 to v0.15.0-beta.0; ReplaceAllOpts: openstack/networking/v2/extensions/attributestags of gophercloud v1.7.0, v2.8.0",
}

// FactTags names, with the kind and the value of a probe behind it, the tags of the thing, in JSON.
const FactTags = "tags"

// tagged is a thing with tags that CAPO replaces.
type tagged struct {
	probe  infra.Key // of the thing
	object string
	want   []string
}

// ofGroup returns the tagged one of a security group.
func (l *location) ofGroup(m *managed) tagged {
	return tagged{m.namedKey(), thingGroup + " " + m.name, l.record.Data.Tags}
}

// tagged returns those of a machine. Where no tags are wanted CAPO leaves them as they are.
func (objs *objects) tagged(m *member) (all []tagged) {
	l, w := objs.locations[m.cluster], m.resolved()
	if w == nil || !l.mayServe() {
		return nil
	}
	tags := w.Tags
	if m.server == nil && l.record != nil {
		tags = slices.Concat(tags, l.record.Data.Tags)
	}
	for i, k := range objs.twinPorts(m) {
		port := w.ports()[i]
		name, want := port.named(objs.serverName(m), i), slices.Concat(tags, port.Tags)
		if len(want) == 0 {
			continue
		}
		all = append(all, tagged{infra.Key{Kind: KeyTagged, Value: k.Value}, "port " + name, want})
		if port.isTrunk(w) {
			all = append(all, tagged{infra.Key{Kind: KeyTrunk, Value: ByName + name}, "trunk " + name, want})
		}
	}
	return all
}

// askTags asks C18d of security groups.
func (q *questions) askTags(id backup.ClusterID, l *location) {
	var asked bool
	for _, m := range l.managed(id) {
		if m.kind == KeySecurity.String() && l.release > byNameAlone {
			asked = true
			q.look(rowC18d, id, l.ofGroup(&m).answer)
		}
	}
	if !asked {
		q.Note(rowC18d, id, pass)
	}
}

// askPortTags asks C18d of the ports and trunks of a machine.
func (q *questions) askPortTags(m *member) {
	for _, t := range q.objs.tagged(m) {
		q.Steps = append(q.Steps, infra.Step{
			Step: walk.Step{Row: rowC18d, Cluster: m.cluster, Subject: q.objs.titleOf(m), Machine: m.index},
			Look: func(inv *infra.Inventory) walk.Answer {
				if p := q.place(inv, m.home); p != nil {
					return t.answer(p)
				}
				return walk.Answer{}
			},
		})
	}
}

// answer compares the tags of a thing; others say that it is not there.
func (t tagged) answer(p *place) walk.Answer {
	have, known := factOf[[]string](p, FactTags+"/"+t.probe.Kind.String()+"/"+t.probe.Value)
	why := fmt.Sprintf("%s has tags %s, and spec has %s", t.object, infra.Brief(fmt.Sprint(sorted(have))), infra.Brief(fmt.Sprint(sorted(t.want))))
	switch {
	case p.Lacks(t.probe):
		return walk.Answer{}
	case !known:
		return walk.Answer{Found: walk.Unseen, Objects: []string{t.object}}
	case slices.Equal(sorted(have), sorted(t.want)):
		return pass
	case len(t.want) == 0:
		return answer(walk.None, t.object, why, "has no tags, or spec.tags has them")
	}
	return answer(walk.Differs, t.object, why, "has the tags of spec")
}
