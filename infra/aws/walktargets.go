package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
	"drift-detector/report/code"
)

// Rows of what is behind the load balancers of an API server.
var (
	rowA26 = &walk.Row{
		ID: "aws.A26", Of: clusterKind,
		Asks:      "a target group for each port of a load balancer that it created and that is not classic, by the prefix of its name, and a listener that leads to it",
		None:      walk.Does{Effect: walk.Writes, What: "CAPA creates the target group or the listener, and registers the control plane", Code: code.ResourceMade},
		Differs:   walk.Halts.Says("CAPA creates another target group, AWS refuses a second listener on its port, and CAPA does nothing more for the cluster"),
		Refused:   "target groups, listeners and tags of load balancers",
		Condition: conditionAsked,
		Versions:  "v2.6 and later",
		Source:    "reconcileTargetGroupsAndListeners, isSDKTargetGroupEqualToTargetGroup: pkg/cloud/services/elb/loadbalancer.go v2.6.0 to v2.13.0",
	}
	rowM13 = &walk.Row{
		ID: "aws.M13", Of: machineKind,
		Asks:      "the instance of a control-plane machine among the targets of each load balancer",
		Differs:   walk.Does{Effect: walk.Writes, What: "CAPA registers it again, or goes no further with the machine where a classic load balancer has no subnet in its zone", Code: code.ChangesUndone},
		Condition: conditionAsked,
		Source:    "reconcileLBAttachment: controllers/awsmachine_controller.go; RegisterInstanceWithAPIServerELB: pkg/cloud/services/elb/loadbalancer.go v2.0.0 to v2.13.0",
	}
)

// apiPort is the port of the API server's listener, whatever the endpoint is (DefaultAPIServerPort
// in api/v1beta2/network_types.go v2.13.0).
const apiPort = 6443

// wantedListener is one that CAPA wants, and the prefix of its target group's name.
type wantedListener struct {
	prefix, Protocol string
	Port             int64
}

// wantedListeners returns those of a load balancer (getAPIServerLBSpec in
// pkg/cloud/services/elb/loadbalancer.go v2.13.0).
func wantedListeners(additional string) []wantedListener {
	var more []wantedListener
	_ = json.Unmarshal([]byte(additional), &more)
	for i := range more {
		more[i].prefix = "additional-listener-"
	}
	return append([]wantedListener{{"apiserver-target-", "TCP", apiPort}}, more...)
}

// askTargets asks A26 of a load balancer.
func (q *questions) askTargets(id backup.ClusterID, s *clusterLocation, lb *dependency, additional string) {
	if lb.key.Kind == KeyClassicLB {
		q.Note(rowA26, id, pass)
		return
	}
	object := "load balancer " + lb.name
	q.look(rowA26, id, infra.ClusterTitle(id), func(p *place) walk.Answer {
		if !p.sees(lb.key.Kind, lb.key.Value) {
			return walk.Answer{} // the resource says it
		}
		f, there, open := read[TargetsFact](p, FactTargets, "v2/"+NameIn(lb.key), object)
		switch {
		case !there:
			return open
		case !slices.Contains(f.Owners, id.Name):
			return pass // CAPA takes it for another's, and leaves what is behind it alone
		}
		for _, want := range wantedListeners(additional) {
			if a := f.leads(want, object); a.Found != walk.Passed {
				return a
			}
		}
		return pass
	})
}

// leads asks A26 of one listener.
func (f *TargetsFact) leads(want wantedListener, object string) walk.Answer {
	i := slices.IndexFunc(f.Groups, func(g TargetGroup) bool {
		return strings.HasPrefix(g.Name, want.prefix) && g.Port == want.Port && strings.EqualFold(g.Protocol, want.Protocol)
	})
	if i >= 0 && slices.ContainsFunc(f.Listeners, func(n ListenerFact) bool { return n.Group == f.Groups[i].Name }) {
		return pass
	}
	why := fmt.Sprintf("%s has no target group %s… of %s %d with a listener", object, want.prefix, want.Protocol, want.Port)
	if slices.ContainsFunc(f.Listeners, func(n ListenerFact) bool { return n.Port == want.Port }) {
		return answer(walk.Differs, object, why+", and a listener on that port", "has no listener on that port, or one that leads to such a group")
	}
	return answer(walk.None, object, why, "has them")
}

// registered asks M13.
func (x *inspection) registered(m *member, at infra.Sight) walk.Answer {
	s := x.objs.locations[m.cluster]
	if s.record == nil || s.kind != clusterKind || s.record.Data.Endpoint == "" || !x.objs.snapshot.Machines[m.index].ControlPlane || at.Instance.State != "running" {
		return walk.Answer{}
	}
	found := walk.Answer{}
	p := &place{x.listings.Of(at.Listing)}
	for _, lb := range s.balancers(m.cluster) {
		object, name := "instance "+at.Instance.ID, "v2/"+NameIn(lb.key)
		if lb.key.Kind == KeyClassicLB {
			name = "classic/" + NameIn(lb.key)
		}
		f, there, open := read[TargetsFact](p, FactTargets, name, object)
		switch {
		case open.Found == walk.Unseen && lb.key.Kind == KeyClassicLB:
			return open
		case !there:
			return walk.Answer{} // A26, A23 or the resource says it
		case !slices.Contains(f.Members, at.Instance.ID):
			return answer(walk.Differs, object, fmt.Sprintf("%s is no target of load balancer %s", object, lb.name), "is one")
		}
		found = pass
	}
	return found
}
