package aws

import (
	"fmt"
	"strings"

	"drift-detector/backup"
	"drift-detector/infra"
	"drift-detector/infra/walk"
)

// Rows of the load balancers of an API server, and of the bucket for bootstrap data. Whether each exists in the cluster's VPC is a
// resource of the report. That CAPA's pod can resolve the DNS name of the first one, for which it waits up to v2.6 and
// in v2.13 (reconcileLoadBalancer in controllers/awscluster_controller.go), is no row: AWS publishes the
// name, of an internal one too, and it is the name by which the management cluster reaches the API server,
// which is a condition already.
var (
	rowA21 = &walk.Row{
		ID: "aws.A21", Of: clusterKind,
		Asks:   "host and port of spec.controlPlaneEndpoint, where spec.controlPlaneLoadBalancer.loadBalancerType is disabled",
		None:   walk.Halts.Says("CAPA waits until they are written"),
		Source: "checkForExternalControlPlaneLoadBalancer: controllers/awscluster_controller.go v2.4.0 to v2.13.0",
	}
	rowA23 = &walk.Row{
		ID: "aws.A23", Of: clusterKind,
		Asks:      "the scheme of each load balancer, which is to be that of spec.controlPlaneLoadBalancer or spec.secondaryControlPlaneLoadBalancer",
		Differs:   walk.Halts.Says("CAPA takes it for another load balancer of the name, and does nothing more for the cluster"),
		Refused:   "load balancers",
		Condition: conditionAsked,
		Source:    "describeLB, describeClassicELB: pkg/cloud/services/elb/loadbalancer.go v2.0.0 to v2.13.0",
	}
	rowA24 = &walk.Row{
		ID: "aws.A24", Of: clusterKind,
		Asks:      "the subnets that spec.controlPlaneLoadBalancer.subnets names by id",
		None:      walk.Halts.Says("CAPA cannot compare the load balancer, and does nothing more for the cluster"),
		Refused:   "subnets",
		Condition: conditionAsked,
		Source:    "getAPIServerLBSpec: pkg/cloud/services/elb/loadbalancer.go v2.0.0 to v2.13.0",
	}
	rowA25 = &walk.Row{
		ID: "aws.A25", Of: clusterKind,
		Asks:    "state active of a load balancer that is not classic",
		Differs: walk.Halts.Says("CAPA waits for it in vain, and does nothing more for the cluster"),
		Source:  "reconcileV2LB: pkg/cloud/services/elb/loadbalancer.go v2.1.0 to v2.13.0",
	}
	rowA29 = &walk.Row{
		ID: "aws.A29", Of: clusterKind,
		Asks:    "the DNS name of the load balancer, which it writes into spec.controlPlaneEndpoint",
		Differs: walk.Halts.Says("another load balancer has the name, so that nothing answers at the recorded endpoint, and CAPA's webhook refuses to change that"),
		Source:  "reconcileLoadBalancer: controllers/awscluster_controller.go; ValidateUpdate: webhooks/awscluster_webhook.go v2.0.0 to v2.13.0",
	}
	balancerRows = []*walk.Row{rowA21, rowA23, rowA24, rowA25, rowA26, rowA29}
)

// askBalancers asks for the load balancers of a cluster that has its own control plane.
func (q *questions) askBalancers(id backup.ClusterID, s *clusterLocation) {
	d := &s.record.Data
	if d.LB.Type == disabledType {
		if d.Endpoint == "" || d.Port.Known && d.Port.N == 0 {
			q.Note(rowA21, id, answer(walk.None, s.title(), s.title()+" names none", "names them"))
		} else {
			q.Note(rowA21, id, pass)
		}
		return
	}
	for i, lb := range s.balancers(id) {
		if lb.key.IsZero() || d.Endpoint == "" {
			continue
		}
		first := i == 0
		name, object := "v2/"+NameIn(lb.key), "load balancer "+lb.name
		if lb.key.Kind == KeyClassicLB {
			name = "classic/" + NameIn(lb.key)
		}
		of := func(ask func(*BalancerFact) walk.Answer, open bool) func(*place) walk.Answer {
			return func(p *place) walk.Answer {
				fact, there, unread := read[BalancerFact](p, FactBalancer, name, object)
				switch {
				case unread.Found != "" && !open, unread.Found == "" && !there, p.undecided(lb.key.Kind):
					return walk.Answer{} // A23, or the resource, says it
				case unread.Found != "":
					return unread
				}
				return ask(&fact)
			}
		}
		q.look(rowA23, id, infra.ClusterTitle(id), of(func(f *BalancerFact) walk.Answer { return s.schemed(f, object, first) }, true))
		if strings.HasPrefix(name, "v2/") {
			q.look(rowA25, id, infra.ClusterTitle(id), of(func(f *BalancerFact) walk.Answer {
				if f.State == "failed" {
					return answer(walk.Differs, object, object+" is in state "+f.State, "is active")
				}
				return pass
			}, false))
		}
		q.askTargets(id, s, &lb, [...]string{d.Listeners, d.SecondListeners}[min(i, 1)])
		if first {
			q.look(rowA29, id, infra.ClusterTitle(id), of(func(f *BalancerFact) walk.Answer { return s.pointed(f, object) }, false))
		}
	}
	if len(d.LBSubnets) > 0 {
		q.look(rowA24, id, infra.ClusterTitle(id), func(p *place) walk.Answer { return p.placed(s) })
	}
}

// schemed asks A23. Without a scheme in spec CAPA takes any.
func (s *clusterLocation) schemed(f *BalancerFact, object string, first bool) walk.Answer {
	want := s.record.Data.Scheme
	if !first {
		want = s.record.Data.SecondScheme
	}
	if want == "" || f.Scheme == "" {
		return pass
	}
	// Before v2.0 the one scheme was written with a capital letter: SchemeToSDKScheme.
	if !strings.EqualFold(want, f.Scheme) {
		return answer(walk.Differs, object, fmt.Sprintf("%s is %s, and %s specifies it %s", object, f.Scheme, s.title(), want), "is "+want)
	}
	return pass
}

// pointed asks A29.
func (s *clusterLocation) pointed(f *BalancerFact, object string) walk.Answer {
	host := HostOf(s.record.Data.Endpoint)
	if f.DNS == "" || !strings.Contains(host, ".elb.") || strings.EqualFold(HostOf(f.DNS), host) {
		return pass
	}
	return answer(walk.Differs, object, fmt.Sprintf("%s is called %s, and the recorded endpoint is %s", object, f.DNS, host), "is the one that "+s.title()+" records")
}

// placed asks A24 of subnets in the cluster's VPC; CAPA names others by their ids too.
func (p *place) placed(s *clusterLocation) walk.Answer {
	subnets, _, open := read[[]SubnetFact](p, FactSubnets, s.vpc, "VPC "+s.vpc)
	if open.Found != "" {
		return open
	}
	for _, id := range s.record.Data.LBSubnets {
		there := !strings.HasPrefix(id, "subnet-")
		for _, n := range subnets {
			there = there || n.ID == id
		}
		if !there {
			return answer(walk.None, "subnet "+id, "subnet "+id+" is not in VPC "+s.vpc, "exists")
		}
	}
	return pass
}
